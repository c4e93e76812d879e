"""URLs admitted exactly once."""
