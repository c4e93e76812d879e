"""CDXJ lines and their SURT keys, and from a URL or a place to its record."""
