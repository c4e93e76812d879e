"""The version that the user agent and the WARC files name; pyproject.toml has the same."""

VERSION = "0.1.0"
