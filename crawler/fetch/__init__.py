"""Fetching: one request, one answer, exactly as sent and received, to an address that was allowed and granted."""
