"""What the commands share: which crawl, its Redis, words and pictures as people see them."""
