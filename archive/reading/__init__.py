"""From stored bytes to records of WARC and ARC files, each with its place, and what is damaged."""
