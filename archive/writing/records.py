"""From one :class:`archive.writing.exchange.Exchange` to its group of WARC records.

Guarantees: a group is response (or revisit), request, metadata, in this order, where there is something to say; the
later ones carry WARC-Concurrent-To the first. Every record has a block digest; responses, revisits and resources a
payload digest, over the payload without transfer-coding. Sources: WARC 1.1 sections 5, 6 and annex; revisit profiles as
in 6.7.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from archive.messages.digests import digest
from archive.messages.fields import archived_head, clean, http_status, record, record_ids, target_uri, warc_date
from archive.messages.http import dechunk, parse_head
from archive.messages.sniff import payload_type
from archive.writing.exchange import Exchange, RevisitTarget

_PROFILE = "http://netpreserve.org/warc/{version}/revisit/{kind}"
_FIELDS_TYPE = "application/warc-fields"
_FRACTION = re.compile(r"\.[0-9]+")
_NO_TOKEN = re.compile(r"[^!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Style:
    """How records are written: WARC ``version`` "1.1" or "1.0", ``algorithm`` "sha1" or "sha256"."""

    version: str = "1.1"
    algorithm: str = "sha1"


@dataclass(frozen=True, slots=True)
class Built:
    """The records of one group, whole, and what later identical payloads may refer to (None: nothing)."""

    records: tuple[bytes, ...]
    payload_digest: str = ""
    target: RevisitTarget | None = None


def warc_fields(pairs: Mapping[str, object]) -> bytes:
    """A block of type application/warc-fields; str as it is, other values as JSON, one line each.

    What may not stand in a name becomes "-".
    """
    lines = []
    for name, value in pairs.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"{_NO_TOKEN.sub('-', clean(name))}: {clean(text)}\r\n")
    return "".join(lines).encode("utf-8", "surrogateescape")


def warcinfo(file_name: str, instant: datetime, pairs: Mapping[str, object], style: Style) -> bytes:
    """The first record of a file: software, configuration and policy in force."""
    block = warc_fields(pairs)
    fields = [
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", record_ids(1)[0]),
        ("WARC-Date", warc_date(instant, style.version)),
        ("WARC-Filename", clean(file_name)),
        ("WARC-Block-Digest", digest(style.algorithm, block)),
        ("Content-Type", _FIELDS_TYPE),
    ]
    return record(style.version, fields, block)


def resource(url: str, instant: datetime, media_type: str, payload: bytes, style: Style) -> bytes:
    """A resource record: content that was made or obtained without HTTP."""
    checksum = digest(style.algorithm, payload)
    fields = [
        ("WARC-Type", "resource"),
        ("WARC-Record-ID", record_ids(1)[0]),
        ("WARC-Date", warc_date(instant, style.version)),
        ("WARC-Target-URI", target_uri(url)),
        ("WARC-Payload-Digest", checksum),
        ("WARC-Block-Digest", checksum),
        ("Content-Type", clean(media_type) or "application/octet-stream"),
    ]
    return record(style.version, fields, payload)


def _capture_fields(exchange: Exchange, kind: str, record_id: str, style: Style) -> list[tuple[str, str]]:
    return [
        ("WARC-Type", kind),
        ("WARC-Record-ID", record_id),
        ("WARC-Date", warc_date(exchange.started, style.version)),
        ("WARC-Target-URI", target_uri(exchange.url)),
        ("WARC-IP-Address", clean(exchange.ip)),
    ]


def _wire_fields(exchange: Exchange) -> list[tuple[str, str]]:
    fields = [("WARC-Protocol", clean(value)) for value in exchange.protocol.split()]
    fields.append(("WARC-Cipher-Suite", clean(exchange.cipher)))
    return fields


def _revisit_fields(target: RevisitTarget, kind: str, style: Style) -> list[tuple[str, str]]:
    return [
        ("WARC-Profile", _PROFILE.format(version=style.version, kind=kind)),
        ("WARC-Refers-To", clean(target.record_id)),
        ("WARC-Refers-To-Target-URI", target_uri(target.url)),
        # An earlier crawl's may be more exact than 1.0 allows.
        (
            "WARC-Refers-To-Date",
            _FRACTION.sub("", clean(target.date)) if style.version == "1.0" else clean(target.date),
        ),
    ]


def _response(exchange: Exchange, record_id: str, seen: RevisitTarget | None, checksum: str, style: Style) -> bytes:
    not_modified = exchange.not_modified if seen is None else None
    target = seen or not_modified
    kind = "response" if target is None else "revisit"
    payload = b"" if target is not None else exchange.payload
    head = archived_head(
        exchange.response_head,
        len(exchange.payload),
        dechunked=exchange.dechunked,
        truncated=exchange.truncated is not None,
    )
    fields = _capture_fields(exchange, kind, record_id, style) + _wire_fields(exchange)
    if target is not None:
        fields += _revisit_fields(target, "server-not-modified" if not_modified else "identical-payload-digest", style)
    if not_modified is None:
        fields.append(("WARC-Payload-Digest", checksum))
    languages = exchange.metadata.get("languages", "")
    # A known payload that is left out is a truncation, too (6.7.2).
    truncated = "length" if seen is not None else exchange.truncated or ""
    fields += [
        ("WARC-Block-Digest", digest(style.algorithm, head, payload)),
        ("WARC-Truncated", clean(truncated)),
        ("WARC-Identified-Payload-Type", clean(exchange.payload_type) or payload_type(head, exchange.payload)),
        ("WARC-Identified-Content-Language", clean(languages) if isinstance(languages, str) else ""),
        ("Content-Type", "application/http;msgtype=response"),
    ]
    return record(style.version, fields, head, payload)


def entity(exchange: Exchange) -> bytes:
    """What digests of the payload are over: the body without chunks, also where it is archived with them."""
    head = None if exchange.dechunked else parse_head(exchange.response_head)
    if head is not None and head.is_chunked:
        return dechunk(exchange.payload)
    return exchange.payload


def _request(exchange: Exchange, record_id: str, response_id: str, style: Style) -> bytes:
    block = exchange.request_bytes
    fields = _capture_fields(exchange, "request", record_id, style) + _wire_fields(exchange)
    fields += [
        ("WARC-Concurrent-To", response_id),
        ("WARC-Block-Digest", digest(style.algorithm, block)),
        ("Content-Type", "application/http;msgtype=request"),
    ]
    return record(style.version, fields, block)


def _metadata(exchange: Exchange, record_id: str, response_id: str, style: Style) -> bytes:
    pairs: dict[str, object] = {"kind": exchange.kind, "fetchTimeMs": exchange.fetch_ms}
    pairs.update(exchange.metadata)
    block = warc_fields(pairs)
    fields = [
        ("WARC-Type", "metadata"),
        ("WARC-Record-ID", record_id),
        ("WARC-Date", warc_date(exchange.started, style.version)),
        ("WARC-Target-URI", target_uri(exchange.url)),
        ("WARC-Concurrent-To", response_id),
        ("WARC-Block-Digest", digest(style.algorithm, block)),
        ("Content-Type", _FIELDS_TYPE),
    ]
    return record(style.version, fields, block)


def build(exchange: Exchange, checksum: str, seen: RevisitTarget | None, style: Style) -> Built:
    """All records of one exchange. ``checksum``: of its :func:`entity`; ``seen``: write a revisit of that record."""
    ids = record_ids(3)
    answered = bool(exchange.response_head)
    records = []
    first = ids[0] if answered else ""
    if answered:
        records.append(_response(exchange, ids[0], seen, checksum, style))
    if exchange.request_bytes:
        records.append(_request(exchange, ids[1], first, style))
        first = first or ids[1]
    records.append(_metadata(exchange, ids[2], first, style))
    target = None
    if answered and seen is None and exchange.truncated is None and http_status(exchange.response_head) == 200:
        target = RevisitTarget(target_uri(exchange.url), warc_date(exchange.started, style.version), ids[0])
    return Built(tuple(records), checksum, target)
