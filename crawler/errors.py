"""Why a crawl does not start."""

from __future__ import annotations


class PreflightError(Exception):
    """The crawl cannot start; `str()` is for the person who started it."""
