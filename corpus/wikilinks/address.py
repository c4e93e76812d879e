"""An address on the web -> the page of Wikipedia that it leads to.

Guarantees: any string gives a :class:`Target` or None, at the cost of its length; the address of a target has that
target. Titles are as MediaWiki has them (its manual, "Page title"; the code of its title parser): ``_`` and blanks are
one space, the first letter is a capital, NFC. Escapes are UTF-8, else windows-1252, as MediaWiki reads them.
An address is expected as the parser of a page gives it, with character references resolved (once).

Read are ``/wiki/T``, ``/w/index.php`` (``/wiki.phtml``, …) with ``title``, ``curid``, ``oldid``, ``diff``, ``action``,
paths of a variant (``/zh-tw/T``), hosts of mobile editions, and ``secure.wikimedia.org/wikipedia/en/…`` of old.
``www.wikipedia.org/wiki/T`` is English, as it leads there. Not read: copies in web archives, and proxies.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

_NAME = "wikipedia"
_EDITION = r"(?!ten\b|wap\b|www\b)(?:simple|[a-z]{2,3}(?:-[a-z]{1,10}){0,2})"
"""Any code of a language, so that editions to come are met; ``ten`` and ``wap`` are none."""
_HOST = re.compile(rf"(?:www\.)?(?:({_EDITION})\.)?(?:www\.)?((?:m|mobile|wap|zero)\.)?wikipedia\.org\Z")
_SECURE = re.compile(rf"/wikipedia/({_EDITION})(/.*)\Z", re.S)
_BARE = re.compile(rf"(?:{_EDITION}\.|www\.|m\.)*wikipedia\.org(?::\d+)?(?:[/?#]|\Z)", re.I)
_SCHEME = re.compile("https?://", re.I)
_SCRIPT = re.compile(r"/(?:(?:w|wiki)/?)?(?:(?:index\.php|index\.html|wiki\.phtml)(?:/(.*))?)?\Z", re.S)
_VARIANT = re.compile(r"/([a-z]{2,3}(?:-[a-z]{2,6})?)/(.+)\Z", re.S)
_DROPPED = re.compile(r"[\t\n\r]")
_BLANKS = re.compile("[ _\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e]")
_SIGNS = re.compile("[\x00-\x1f\x7f<>\\[\\]{}|\ufffd\ud800-\udfff]")
"""In no title: control characters, brackets, and what was no UTF-8."""
_ILLEGAL = re.compile(
    f"{_SIGNS.pattern}"
    r"|%[0-9A-Fa-f]{2}|&[A-Za-z0-9\x80-\U0010ffff]+;|~~~|(?:\A|/)\.\.?(?:/|\Z)"
)
_MOST_BYTES = 255
_DOTTED = frozenset(("az", "kaa", "tr"))
"""Editions whose capital i has a dot."""
_ANY_CASE = frozenset(("jbo",))
"""Editions whose titles may begin with a small letter."""


@dataclass(frozen=True, slots=True)
class Target:
    """A page of an edition (``zu``). ``title``: with its namespace, "" when the address has none, or a number instead:
    ``page_id`` (0: none). ``fragment``: as it is there. ``revision``: of which version (oldid, diff), "": the newest.
    ``action``: what is to be done but reading ("edit"), ``variant``: a script or spelling ("zh-tw")."""

    edition: str
    title: str = ""
    page_id: int = 0
    fragment: str = ""
    revision: str = ""
    action: str = ""
    variant: str = ""
    mobile: bool = False

    @property
    def address(self) -> str:
        """Its one address; legible, with escapes only where they are needed."""
        return address_of(self.edition, self.title)


def address_of(edition: str, title: str) -> str:
    written = title.replace(" ", "_").replace("%", "%25").replace("?", "%3F")
    return f"https://{edition}.wikipedia.org/wiki/{written}"


def target_of(href: str, base: str = "") -> Target | None:
    """What an address leads to; None when that is not on Wikipedia. ``base``: what a relative one is relative to. One
    that has its host, but no scheme, is taken for what is meant by it."""
    written = _DROPPED.sub("", href.strip("\x00\x0b\x0c\x1f \t\n\r"))
    if "%" not in written and _NAME not in written.lower() and _NAME not in base.lower():
        return None  # as most are; nothing has to be taken apart for it
    try:
        url = urlsplit(_absolute(written, base))
        host = unquote(url.hostname or "").lower().rstrip(".")
    except ValueError:
        return None
    if url.scheme not in ("http", "https"):
        return None
    if host == "secure.wikimedia.org" and (old := _SECURE.match(url.path)):
        return _target(old[1], False, old[2], url)
    known = _HOST.match(host)
    return _target(known[1] or "en", bool(known[2]), url.path or "/", url) if known else None


def _absolute(written: str, base: str) -> str:
    if _SCHEME.match(written):
        return written
    return f"https://{written}" if _BARE.match(written) else urljoin(base or "https:", written)


def _target(edition: str, mobile: bool, path: str, url: SplitResult) -> Target:
    asked = _query(url.query) if url.query else {}
    variant, found = asked.get("variant", ""), ""
    page_id = int(asked["curid"]) if re.fullmatch(r"0*[1-9][0-9]{0,11}", asked.get("curid", ""), re.A) else 0
    if page_id:
        pass  # counts for more than any title
    elif script := _SCRIPT.match(path):
        found = _unescaped(script[1]) if script[1] else asked.get("title", "")
    elif path.startswith("/wiki/"):
        found = _unescaped(path[6:])
    elif (other := _VARIANT.match(path)) and other[1].split("-")[0] == edition:
        variant, found = other[1], _unescaped(other[2])
    action = asked.get("action", "view")
    return Target(
        edition,
        title_of(found, edition),
        page_id,
        url.fragment,
        asked.get("oldid") or asked.get("diff") or "",
        action if action != "view" else "edit" if "veaction" in asked else "",
        variant,
        mobile,
    )


def _query(text: str) -> dict[str, str]:
    """Of a name that comes twice the last value, as the server takes it."""
    pairs = (pair.partition("=") for pair in text.split("&"))
    return {_unescaped(name): _unescaped(value.replace("+", " ")) for name, _, value in pairs}


def _unescaped(text: str) -> str:
    try:
        return unquote(text, "utf-8", "strict")
    except UnicodeDecodeError:
        return unquote(text, "cp1252", "replace")


def title_of(text: str, edition: str) -> str:
    """A title as its edition writes it; "" when no page can have it."""
    plain, _, _ = _MARKS.sub("", text).partition("#")
    title = _BLANKS.sub(" ", unicodedata.normalize("NFC", plain)).strip(" ")
    title = title.removeprefix(":").lstrip(" ")
    if not title or title.startswith(":") or len(title) > _MOST_BYTES or _ILLEGAL.search(title):
        return ""
    capital = title if edition in _ANY_CASE else _capital(title[0], edition) + title[1:]
    return capital if len(capital.encode()) <= _MOST_BYTES else ""


def may_be_title(text: str) -> bool:
    """Whether a line of a table of titles may be one, by its signs and length alone: tables have many."""
    return not _SIGNS.search(text) and len(text.encode()) <= _MOST_BYTES


def _capital(letter: str, edition: str) -> str:
    """Where a capital would be two letters, or is in no use (Georgian), MediaWiki leaves the small one."""
    if letter == "i" and edition in _DOTTED:
        return "İ"
    upper = letter.upper()
    return upper if len(upper) == 1 and not "\u10d0" <= letter <= "\u10ff" else letter
