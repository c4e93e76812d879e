"""What the archive says of a crawl: where records come from, what closed WARC files tell of a URL and of gaps."""
