"""What may become seeds: lists from elsewhere, and sites looked at through a polite `Fetch`."""
