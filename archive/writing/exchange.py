"""One exchange with a server, as the fetch side saw it: the input of :class:`archive.writing.writer.WarcWriter`.

The fetch side fills in bytes as they went over the wire; nothing here interprets them. Sources: WARC 1.1
(ISO 28500:2017), the IIPC proposals for ``WARC-Protocol`` and ``WARC-Cipher-Suite``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

_HOST_ENDS = re.compile(r"[/?#]")


@dataclass(frozen=True, slots=True)
class RevisitTarget:
    """An earlier response record with the same payload. ``date`` is its WARC-Date, ``record_id`` with ``<>`` or ""."""

    url: str
    date: str
    record_id: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer.

    * ``started``: when the request was sent (aware, UTC, microseconds); becomes WARC-Date.
    * ``request_bytes``: request line and headers (and body) as sent; ``b""``: not known, no request record.
    * ``response_head``: status line and header lines as received up to and including the empty line; ``b""``: no
      answer came, only request and metadata records are written.
    * ``payload``: the body as transferred: content-coding kept; transfer-coding (chunks) removed when ``dechunked``.
    * ``protocol``: space-separated values for ``WARC-Protocol``: "http/1.1 tls/1.3"; ``cipher``: the IANA name.
    * ``truncated``: None, or why the payload is not whole: "length", "time", "disconnect" or "unspecified".
    * ``metadata``: fields of the metadata record, in order; str as it is, anything else as JSON. The key "languages"
      ("zul,eng": codes, best first) is also put on the response record and into the index.
    * ``kind``: "page", "robots", "feed", "sitemap", ...
    * ``payload_type``: identified media type; "" = look at the first bytes.
    * ``not_modified``: for a 304 answer: the record whose content is still valid; gives a revisit record.
    """

    url: str
    ip: str
    started: datetime
    request_bytes: bytes
    response_head: bytes
    payload: bytes
    protocol: str = ""
    cipher: str = ""
    truncated: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    fetch_ms: int = 0
    kind: str = "page"
    dechunked: bool = True
    payload_type: str = ""
    not_modified: RevisitTarget | None = None

    @property
    def host(self) -> str:
        """The host (with port) of the URL: the key by which records are grouped into packs."""
        return _HOST_ENDS.split(self.url.partition("://")[2], maxsplit=1)[0]
