"""The Scrapy project: the only room that imports scrapy and twisted."""
