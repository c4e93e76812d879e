"""A page whose server sends us to another spelling of the very same URL: without a tracking parameter or a session,
with its parameters in another order.

The sieve knows both spellings as one URL and would never let the second out. So the page's own entry comes again and is
fetched under the spelling that the server wants; that travels in its memo, as the older pages of a feed do, and with it
what the memo was before; of what a page embeds in front of it, since by that mark it is still leased when the budget of
pages is spent. Servers that send on and on are left after :data:`MOST` answers.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import NamedTuple

from frontier.payload import REQUISITE_MARK
from frontier.types import Kind, Lease
from sieve.urls import canonicalize_many

MOST = 5
# No memo of a link (at most 16 bytes) or of a revisit (its steps and changes are few) begins like this.
_MARK = b"\xff\xff@"
_FORM = struct.Struct(f"<{len(_MARK)}sBH")


class Detour(NamedTuple):
    """The spelling to fetch, and how many answers have sent us on so far."""

    url: str
    turns: int


def detour_memo(lease: Lease, asked: str, location: str, count: int) -> bytes | None:
    """The memo with which the page has to come again to be fetched as `location`; None when that is another URL, the
    one that was `asked`, or one detour too many."""
    here, there = canonicalize_many([lease.url, location])
    if lease.kind is not Kind.PAGE or there is None or here != there or location == asked or count >= MOST:
        return None
    mark, memo = _divided(lease.memo)
    return mark + _FORM.pack(_MARK, count + 1, len(memo)) + memo + location.encode()


def read_detour(lease: Lease) -> tuple[Lease, Detour]:
    """The lease with the memo that it had before any detour, and what to fetch on it; ValueError: no memo of ours."""
    mark, form = _divided(lease.memo)
    if lease.kind is not Kind.PAGE or not form.startswith(_MARK):
        return lease, Detour(lease.url, 0)
    if len(form) < _FORM.size:
        raise ValueError(f"the memo of {lease.url} is cut short")
    _, count, length = _FORM.unpack_from(form)
    memo, url = form[_FORM.size :][:length], form[_FORM.size + length :]
    return replace(lease, memo=mark + memo), Detour(url.decode(), count)


def _divided(memo: bytes) -> tuple[bytes, bytes]:
    """What says of a memo that a page embeds it, and the rest."""
    place = len(REQUISITE_MARK) + 1 if memo.startswith(REQUISITE_MARK) else 0
    return memo[:place], memo[place:]
