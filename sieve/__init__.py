"""URLs admitted exactly once.

Every URL that is put in comes out once, however often it was put in; the first one found comes out, in order of first
arrival. :func:`open_sieve` chooses among the kinds; :mod:`sieve.urls` says which URLs are the same.
"""

from sieve.errors import SieveError
from sieve.opening import open_sieve
from sieve.types import Entry, Item, Sieve

__all__ = ["Entry", "Item", "Sieve", "SieveError", "open_sieve"]
