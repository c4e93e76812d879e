"""The version that the user agent, the WARC files and the package name."""

VERSION = "0.1.0"
