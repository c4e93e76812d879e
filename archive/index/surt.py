"""Index keys: ``http://www.Example.com:80/A?b=1&a=2#x`` -> ``com,example)/a?a=2&b=1``.

The rules of the Internet Archive's canonicaliser, as its ``surt`` library (and through it pywb and the Common Crawl
index) has them: no scheme, user, ``www.``, default port, fragment or session id; host reversed; path and query in lower
case; query sorted. Other than there, an IPv4 address spelled as one number or in octal stays as it is, and what has no
host or no valid port has a key, too. Not a way to compare URLs for fetching: different pages may have one key.
"""

from __future__ import annotations

import re
from contextlib import suppress

_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://([^/?#]*)(.*)", re.DOTALL)
_LINE_WHITE = re.compile(r"[\t\n\r]")
_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Of surrogate pairs, as JSON may have them; those that stand for bytes are not among them."""
_WHITE = " \t\n\r\v\f"
_WWW = re.compile(r"^www\d*\.")
_ESCAPE = re.compile(rb"%([0-9a-fA-F]{2})")
_SLASHES = re.compile(r"/{2,}")
_PATH_SESSION = (
    re.compile(r"^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$", re.IGNORECASE),
    re.compile(r"^(.*/)(?:\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$", re.IGNORECASE),
)
_QUERY_SESSION = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(.*)(?:jsessionid=[0-9a-z]{32})(?:&(.*))?$",
        r"^(.*)(?:phpsessid=[0-9a-z]{32})(?:&(.*))?$",
        r"^(.*)(?:sid=[0-9a-z]{32})(?:&(.*))?$",
        r"^(.*)(?:aspsessionid[a-z]{8}=[a-z]{24})(?:&(.*))?$",
        r"^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$",
    )
)
_PORTS = {"http": "80", "https": "443"}
_KEPT = frozenset(range(0x21, 0x7F)) - frozenset(b"#%")
_MAX_UNESCAPE = 8
_LONGEST_SESSION = 8192
"""Letters of a path or query up to which session ids are looked for: no server takes more, and the patterns' cost grows
with the square."""


def _unescape(data: bytes) -> bytes:
    for _ in range(_MAX_UNESCAPE):
        plain = _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), data)
        if plain == data:
            break
        data = plain
    return data


def _is_plain(text: str) -> bool:
    """Has it nothing to be escaped or unescaped, as nearly always?"""
    return "%" not in text and text.isascii() and text.isprintable() and " " not in text


def _escape(text: str) -> str:
    """Unescaped as often as it goes, then escaped once, and no more than needed."""
    if _is_plain(text):
        return text
    return _escaped(_unescape(text.encode("utf-8", "surrogateescape")))


def _escaped(data: bytes) -> str:
    return "".join(chr(byte) if byte in _KEPT else f"%{byte:02x}" for byte in data)


def _name(host: str) -> str:
    """A host's letters: unescaped, a name of other letters than ASCII's in punycode, in lower case."""
    if _is_plain(host):
        return host.lower()
    data = _unescape(host.encode("utf-8", "surrogateescape"))
    if not data.isascii():
        with suppress(UnicodeError):
            data = data.decode("utf-8", "ignore").encode("idna")
    return _escaped(data).lower()


def _host(authority: str, scheme: str) -> str:
    host = authority.rpartition("@")[2]
    port = ""
    name, colon, digits = host.rpartition(":")
    if colon and (digits.isdigit() or not digits):
        host, port = name, digits.lstrip("0")
    host = _WWW.sub("", _name(host).strip("[]").replace("..", ".").strip("."))
    reversed_host = ",".join(reversed(host.split(".")))
    return reversed_host if not port or port == _PORTS.get(scheme) else f"{reversed_host}:{port}"


def _path(path: str) -> str:
    path = _escape(path)
    if "/." in path:
        kept: list[str] = []
        for part in path.split("/")[1:]:
            if part == ".." and kept:
                kept.pop()
            elif part != ".":
                kept.append(part)
        path = "/" + "/".join(kept)
    path = _SLASHES.sub("/", path)
    if len(path) <= _LONGEST_SESSION and "(" in path:
        for pattern in _PATH_SESSION:
            match = pattern.match(path)
            if match:
                path = match[1] + match[2]
    path = path.lower()
    return path.rstrip("/") or "/" if len(path) > 1 else "/"


def _query(query: str) -> str:
    query = _escape(query)
    for pattern in _QUERY_SESSION if len(query) <= _LONGEST_SESSION else ():
        match = pattern.match(query)
        if match:
            query = match[1] + (match[2] or "")
    query = query.lower()
    return "&".join(sorted(query.split("&"), key=lambda word: word.split("=", 1)))


def surt(url: str) -> str:
    """The key of a URL; of something that is no URL with ``//``, itself in lower case without white space."""
    text = _LINE_WHITE.sub("", url.strip(_WHITE))
    text = text if text.isascii() else _HALVES.sub("\ufffd", text)
    match = _URL.match(text)
    if match is None:
        return re.sub(r"\s", "%20", text.lower())
    scheme = match[1].lower()
    path, _, query = match[3].partition("#")[0].partition("?")
    query = _query(query) if query else ""
    host = _host(match[2], scheme)
    return f"{host + ')' if host else scheme + ':'}{_path(path)}{'?' + query if query else ''}"
