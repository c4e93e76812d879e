"""Policies: which pages a crawl keeps, which links go first."""
