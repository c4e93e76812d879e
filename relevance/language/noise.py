"""What stands in a text and is no words of it: URLs, e-mail addresses, @names, #tags, what HTML and programs mark text
with; and letters that were written as something else.

Guarantees: only what the signs of a text allow is looked for, so text without any costs some comparisons; and each
pattern is tried once a run of signs and never goes back (++), so a page of a million of them takes no longer than one
of words.

Differs from cleaners of HTML: only marks of common elements go. What else stands in angle brackets is text, as in
quotations ("<<umuntu>>").
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from itertools import compress

from relevance.language.marks import MARK, SIGN

_PATH = re.compile(r"\.[a-zA-Z]{2,6}/")
"""The end of a host in a URL without a scheme."""
_URLS = (
    r"(?:[hH][tT][tT][pP][sS]?://|[wW][wW][wW]\.)[^\s<>]+"
    r"|(?<![\w.-])[\w-]++(?:\.[\w-]++)++/[^\s<>]*"
    r"|(?<!\w)https?(?![\w-])"
)
"""At last what is left of an address that was cut off, as in tweets ("https…")."""
_HOSTS = (
    r"(?<![\w.-])[\w-]++(?:\.[\w-]++)++"
    r"(?:(?<=\.com)|(?<=\.org)|(?<=\.co\.[a-z]{2})|(?<=\.com\.[a-z]{2})|(?<=\.org\.[a-z]{2}))"
)
"""Hosts alone ("isolezwe.co.za"), by ends that begin no sentence where the blank is missing: "info" and "net" are
words."""
_MAILS, _ENTITIES = r"(?<!\S)\S[^\s@]*+@\S[^\s.]*+\.\S+", r"&(?:(?:amp;)*+#?\w++;|(?:amp;)++)"
_NAME = rf"\w(?:\w|[{MARK}]|{SIGN})*+"
_TAGS = rf"(?<!\w)(?:(?:[rR][tT]:? )?@|#){_NAME}"
"""Also the RT (again) of a tweet: it stands before a name."""
ELEMENTS = (
    "a|abbr|article|aside|b|big|blockquote|body|br|button|caption|center|cite|code|col|dd|del|div|dl|dt|em|fieldset|"
    "figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|label|legend|li|link|main|"
    "mark|meta|nav|ol|option|p|picture|pre|q|s|script|section|select|small|source|span|strike|strong|style|sub|sup|"
    "svg|table|tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|ul|video|url|user"
)
"""And what collections of tweets have for an address and a name."""
_MARKUP = rf"<(?:/?(?ai:{ELEMENTS})(?:[\s/][^<>]*+)?|!--[^<>]*+)>"
_ESCAPES = r"(?<!\\)\\++(?:u[0-9a-fA-F]{4}|[nrt])"
"""Line ends and letters as JSON and programs write them."""
_NO_CHARACTER = re.compile(r"&#[0-9]{10,}+;?")
"""html.unescape makes an int of it, which Python refuses to do with thousands of digits."""
_TAG = re.compile(rf"(?<![\w/?&=-])#({_NAME})")
_NEXT_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where the next word of a tag begins, as in #NgiyabongaKakhulu."""

_BYTES = {bytes([byte]).decode("latin-1"): byte for byte in range(128, 256)} | {
    sign: byte for byte in range(128, 256) if (sign := bytes([byte]).decode("cp1252", "replace")) != "\ufffd"
}
_GOES_ON = "".join(sign for sign, byte in _BYTES.items() if byte < 0xC0)
_TWICE = re.compile(
    f"[ÂÃÄÅ][{_GOES_ON}]|á[¸-»][{_GOES_ON}]|â[€\x80][{_GOES_ON}\ufffd]?|ï»¿|ð[Ÿ\x9f][{_GOES_ON}]{{1,2}}"
)
"""What UTF-8 makes of marked letters, quotation marks, dashes and faces where it was read as windows-1252; of what can
be in it only what no language writes."""


@lru_cache(maxsize=128)
def _noise(*kinds: str) -> re.Pattern[str]:
    return re.compile("|".join(kinds))


def quiet(text: str) -> str:
    """The text without what is no words, and with letters that were written as something else."""
    if not text.isascii() and _may_be_read_twice(text):
        text = _TWICE.sub(_read_anew, text)
    slash, at, tag, entity, escape = "/" in text, "@" in text, "#" in text, "&" in text, "\\" in text
    www, hosts = "ww." in text, ".co" in text or ".org" in text
    if not (slash or at or tag or entity or escape or www or hosts or "<" in text or "…" in text):
        return text
    urls = www or (slash and ("://" in text or _PATH.search(text))) or ((slash or at or "…" in text) and "http" in text)
    kinds = {
        _MARKUP: "<" in text,
        _URLS: urls,
        _MAILS: at,
        _HOSTS: hosts,
        _TAGS: at or tag,
        _ENTITIES: entity,
        _ESCAPES: escape,
    }
    there = [*compress(kinds, kinds.values())]
    return _noise(*there).sub(_as_written if entity or escape else " ", text) if there else text


def _may_be_read_twice(text: str) -> bool:
    """One letter at a time is found soonest."""
    return (
        "Ã" in text
        or "Â" in text
        or "Å" in text
        or "Ä" in text
        or ("â" in text and ("€" in text or "\x80" in text))
        or ("á" in text and ("¸" in text or "¹" in text or "º" in text or "»" in text))
        or ("ï" in text and "»" in text)
        or ("ð" in text and ("Ÿ" in text or "\x9f" in text))
    )


def opened(text: str) -> str:
    """The text with its tags as words; nothing where it has none."""
    found, tags = _TAG.subn(lambda tag: f" {_NEXT_WORD.sub(' ', tag[1])}", text)
    return found if tags else ""


def unescaped(text: str) -> str:
    """The text with the characters that its references stand for, however long their numbers are."""
    return unescape(_NO_CHARACTER.sub("\ufffd", text))


def _as_written(noise: re.Match[str]) -> str:
    """The letter or mark that an entity or escape stands for, also one that was made an entity twice
    (`&amp;scaron;`)."""
    found = noise[0]
    if found[0] == "&":
        sign = unescaped(found.replace("amp;", ""))
        return sign if len(sign) == 1 else " "
    return chr(int(found[-4:], 16)) if found[0] == "\\" and found[-5:-4] == "u" else " "


def _read_anew(signs: re.Match[str]) -> str:
    return bytes(_BYTES.get(sign, 0) for sign in signs[0]).decode("utf-8", "replace")
