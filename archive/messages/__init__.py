"""Header lines and digests of records, HTTP heads and bodies: read, and written."""
