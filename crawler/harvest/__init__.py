"""What comes again: feeds, index pages and sitemaps as entries of the frontier, articles that are looked at anew."""
