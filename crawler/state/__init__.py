"""A crawl's Redis, its own or the fleet's, and tables in it that are nobody else's."""
