"""The canonical form of a URL: the key by which the sieve knows it, never what is fetched.

Guarantees: total (a string or :class:`ValueError`), idempotent, pure ASCII. Two URLs have one canonical form exactly
when the steps below make them equal. Sources: WHATWG URL (parsing, by can_ada), RFC 3986 section 6.2.2 (escapes).

The steps, in order (:data:`STEPS`; parsing comes first):

0. parse: surrounding blanks, tabs and newlines, scheme and host case, IDNA, IPv4 and IPv6 spelling, default port,
   backslashes, dot segments, non-ASCII to UTF-8 escapes; the fragment is dropped;
1. the dot of a fully qualified host name is dropped;
2. escapes: what RFC 3986 does not allow bare is escaped, what is unreserved is not, hexadecimal digits upper-case;
3. session identifiers at the end of path segments (``;jsessionid=...``) are dropped, and the path segments that are
   ASP.NET's (``/(S(...))/``; as in the Internet Archive's ``surt``);
4. query: empty parts, session and tracking parameters (``tracking.txt``) are dropped, the rest sorted; an
   empty query loses its question mark.

Differs from w3lib.canonicalize_url: no fragment, ``a`` and ``a=`` stay two, ``+`` and ``%20`` stay two (form decoding
is the server's business), bytes that are not UTF-8 are kept. Differs from WHATWG: steps 1 to 4. ``'`` is always
escaped, because WHATWG escapes it in queries. Slashes are never merged and a path's last slash never added or removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files

import can_ada

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_BARE = r"A-Za-z0-9\-._~:/?@!$&()*+,;="
_TO_ESCAPE = re.compile(rf"%(?:[0-9A-Fa-f]{{2}})?|[^{_BARE}]")
_HEX = "0123456789abcdefABCDEF"
_ESCAPES = {"%": "%25"} | {
    f"%{high}{low}": chr(byte) if (byte := int(high + low, 16)) in _UNRESERVED else f"%{byte:02X}"
    for high in _HEX
    for low in _HEX
}

# A URL that needs no parsing is a plain origin and a plain rest. "/." is looked for apart.
# Of letters that are never changed and begin no query is a simple one: most links are, and no pattern finds out sooner.
_SIMPLE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/@!$&()*+,="
_LABEL = r"(?!xn--)[a-z0-9_-]++"
_ORIGIN = re.compile(rf"https?://(?:{_LABEL}\.)*(?!xn--)[a-z_][a-z0-9_-]*+")
_KEPT_ESCAPE = r"%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF])"
_PLAIN_REST = re.compile(
    rf"/[A-Za-z0-9\-._~:/@!$&()*+,=]*+(?:{_KEPT_ESCAPE}[A-Za-z0-9\-._~:/@!$&()*+,=]*+)*+"
    rf"(?:\?[A-Za-z0-9\-._~:/?@!$&()*+,;=]*+(?:{_KEPT_ESCAPE}[A-Za-z0-9\-._~:/?@!$&()*+,;=]*+)*+)?"
)

_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_UNKNOWN_PUNYCODE = re.compile(
    r"(?i)\s*(https?):[/\\]{2}((?:(?!xn--)[a-z0-9_-]++\.)*+xn--[a-z0-9_.-]*+)(:\d*+)?(?=[/\\?#]|\s*$)"
)
_SESSION_SEGMENT = re.compile(
    r"(?i)/\((?:[a-z]\([0-9a-z_-]{24,}\))++\)(?=/)|/\([0-9a-z]{24}\)(?=/(?:[^/]*+/)*+[^/]*\.as[pcmh]x\Z)"
)
_STAND_IN = "stand-in.invalid"
MAX_CHARS = 8192
"""Of a URL that is looked at. No server takes more (Apache: 8,190 bytes a request line), and a page of a few megabytes
could otherwise make thousands of links as long as itself."""
_MAX_HOST_CHARS = 512
"""Of a host and its port. A name has 253 octets (RFC 1035 2.3.4); converting longer ones costs the square."""
_HOST = re.compile(r"[^:]*+:[/\\]*+([^/\\?#]*+)")


class UrlError(ValueError):
    """`url` has no canonical form; `reason` says why."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{reason}: {url[:200]!r}")
        self.url = url
        self.reason = reason


def parse(url: str) -> str:
    """WHATWG serialisation of an absolute http or https URL, without fragment."""
    measured(url.partition("#")[0])
    found = _HOST.match(url)
    if found is not None and len(found[1].rpartition("@")[2]) > _MAX_HOST_CHARS:
        raise UrlError(url, f"a host name of more than {_MAX_HOST_CHARS} characters")
    try:
        href: str = can_ada.parse(url).href
    except TypeError:
        # A lone surrogate is no character: like a browser, take the replacement character for it.
        scalars = url.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if scalars == url:
            raise
        return parse(scalars)
    except (ValueError, UnicodeError):
        href = _parse_unknown_punycode(url)
    if not href.startswith(("https://", "http://")):
        raise UrlError(url, "neither http nor https")
    return measured(href.partition("#")[0])


def measured(url: str) -> str:
    """`url`; :class:`UrlError` when it is longer than :data:`MAX_CHARS`."""
    if len(url) > MAX_CHARS:
        raise UrlError(url, f"longer than {MAX_CHARS} characters")
    return url


def _parse_unknown_punycode(url: str) -> str:
    # A label that looks like punycode and is none: the name server does not care, so it stays as it is, lower-case.
    found = _UNKNOWN_PUNYCODE.match(url)
    if found is None:
        raise UrlError(url, "not a URL")
    scheme, host, port = found.groups("")
    try:
        href: str = can_ada.parse(f"{scheme}://{_STAND_IN}{port}{url[found.end() :]}").href
    except (ValueError, UnicodeError):
        raise UrlError(url, "not a URL") from None
    return href.replace(_STAND_IN, host.lower(), 1)


def _drop_root_dot(url: str) -> str:
    if "./" not in url and ".:" not in url:
        return url
    end = url.index("/", 8)
    host, colon, port = url[:end].rpartition(":")
    if not colon or not port.isdigit():
        host, colon, port = url[:end], "", ""
    if host.endswith(".") and not host.endswith(("/.", "..", "@.")):
        return f"{host[:-1]}{colon}{port}{url[end:]}"
    return url


def _drop_path_sessions(url: str) -> str:
    if ";" not in url and "/(" not in url:
        return url
    end = url.index("/", 8)
    path, mark, query = url[end:].partition("?")
    return url[:end] + _SESSION_SEGMENT.sub("", _PATH_SESSION.sub("", path)) + mark + query


def _normalise_escapes(url: str) -> str:
    end = url.index("/", 8)
    rest = url[end:]
    return url if not rest.encode().translate(None, _SIMPLE) else url[:end] + _TO_ESCAPE.sub(_escape, rest)


def _escape(found: re.Match[str]) -> str:
    text = found[0]
    return _ESCAPES.get(text) or "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


def _clean_query(url: str) -> str:
    path, mark, query = url.partition("?")
    if not mark:
        return url
    cleaned = clean_query(query)
    return f"{path}?{cleaned}" if cleaned else path


def clean_query(query: str) -> str:
    """A query (without ``?``, escapes normal) with its parts sorted; empty, session and tracking parts left out."""
    if "&" not in query:
        return "" if _labels_a_visit(query) else query
    parts = [part for part in query.split("&") if part and not _labels_a_visit(part)]
    parts.sort()
    return "&".join(parts)


def _labels_a_visit(part: str) -> bool:
    if part[:2].lower() not in _BEGINNINGS:
        return False
    name, _, value = part.partition("=")
    if not value:
        return False
    name = name.lower()
    pattern = _TRACKING.get(name)
    if pattern is None:
        return name.startswith(_TRACKING_PREFIXES)
    return pattern.fullmatch(value) is not None


STEPS: tuple[Callable[[str], str], ...] = (_drop_root_dot, _normalise_escapes, _drop_path_sessions, _clean_query)


def canonical(url: str) -> str:
    """Canonical form of an absolute URL; :class:`UrlError` when it is not an http or https URL. 0.5 to 4 us."""
    return canonical_quickly(url) or canonical_slowly(url)


def canonical_quickly(url: str) -> str | None:
    """What :func:`canonical` gives, when the origin is plain and nothing of the rest needs parsing."""
    end = url.find("/", 8)
    if end < 0:
        return f"{url}/" if plain_origin(url) else None
    return with_plain_origin(url, end) if plain_origin(url[:end]) else None


def with_plain_origin(url: str, end: int) -> str | None:
    """The canonical form of `url`, whose origin ends at `end` and is plain; ``None`` when the rest needs parsing."""
    if "/." in url or "/(" in url or len(url) > MAX_CHARS:
        return None
    try:
        odd = url.encode().translate(None, _SIMPLE)
    except UnicodeEncodeError:
        return None
    if not odd:
        return url
    if odd == b"?":
        return _clean_query(url)
    if not url.isascii():
        url = url[:end] + _NON_ASCII.sub(_escape, url[end:])
    found = _PLAIN_REST.fullmatch(url, end)
    return None if found is None or len(url) > MAX_CHARS else _clean_query(url)


def is_plain(url: str, end: int) -> bool:
    """Whether parsing would change nothing of `url`, whose origin ends at `end` and is plain."""
    return "/." not in url and len(url) <= MAX_CHARS and _PLAIN_REST.fullmatch(url, end) is not None


@lru_cache(maxsize=8192)
def plain_origin(origin: str) -> bool:
    """Whether parsing changes nothing of a scheme and host; an origin with a port counts as not plain."""
    return len(origin) <= _MAX_HOST_CHARS and _ORIGIN.fullmatch(origin) is not None


def canonical_slowly(url: str) -> str:
    """What :func:`canonical` gives, by the steps alone."""
    result = parse(url)
    for step in STEPS:
        result = step(result)
    return measured(result)


def _rules(text: str) -> tuple[dict[str, re.Pattern[str]], tuple[str, ...], re.Pattern[str]]:
    """Of the data file: patterns of values by name, prefixes of names, the pattern of sessions in paths."""
    names: dict[str, re.Pattern[str]] = {}
    prefixes: list[str] = []
    path: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        name, value = words[0].lstrip(";").lower(), words[1] if len(words) > 1 else ""
        if words[0].startswith(";"):
            path.append(re.escape(name).replace(r"\*", "[^=;/]*") + "=" + (value or "[^;/]+"))
        if name.endswith("*"):
            prefixes.append(name[:-1])
        else:
            names[name] = re.compile(value or ".+", re.IGNORECASE | re.DOTALL)
    sessions = re.compile(rf"(?<=[^/.]);(?:{'|'.join(path)})(?=[;/]|$)", re.IGNORECASE)
    return names, tuple(prefixes), sessions


_TRACKING, _TRACKING_PREFIXES, _PATH_SESSION = _rules((files("sieve.urls") / "tracking.txt").read_text("utf-8"))
# Most parameters begin unlike any that labels a visit (and a name without a value never does).
_BEGINNINGS = {text[:2] for text in (*(f"{name}=" for name in _TRACKING), *_TRACKING_PREFIXES)}
