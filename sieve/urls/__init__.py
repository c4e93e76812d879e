"""What URLs are equal, whose they are, and whether they lie in scope: the only part of the sieve other rooms use."""

from sieve.urls.canonical import UrlError
from sieve.urls.hosts import SCOPES, authority, host_of, in_scope, registrable_domain
from sieve.urls.ports import BAD_PORTS, bad_port
from sieve.urls.resolve import as_parsed, canonicalize, canonicalize_many, resolve_many

__all__ = [
    "BAD_PORTS",
    "SCOPES",
    "UrlError",
    "as_parsed",
    "authority",
    "bad_port",
    "canonicalize",
    "canonicalize_many",
    "host_of",
    "in_scope",
    "registrable_domain",
    "resolve_many",
]
