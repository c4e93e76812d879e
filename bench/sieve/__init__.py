"""Measurements of the sieve beside what others offer: ``python -m bench.sieve``."""
