"""Commands of ``scrapy`` that Ulwembu adds or sharpens."""
