"""Signals of our own, sent and received as Scrapy's are."""

stopping = object()
"""The crawl was asked to stop and has waited long enough for answers under way."""
