"""robots.txt as RFC 9309 says: pure functions over bytes, no fetching.

Built on protego, which does the groups' rules, the longest match, the wildcards and the percent-escapes. What it gets
is not the file but its rules in plain form (:func:`_plain`), which mends its faults:

* a byte-order mark hides the first line (2.2: the file is UTF-8; a BOM is common); one of UTF-16 is believed, too:
  its owner's rules are plain, and read as UTF-8 there would be none;
* lines end with CR, LF or CRLF only (2.2, EOL); protego also splits at form feeds, U+2028 and the like;
* Crawl-delay or an unknown line between two User-agent lines must not part them (2.2.1 and 2.2.4: other records must
  not interfere with groups);
* a User-agent line names a product token: what follows it ("FOO BAR", "Foo/1.0") does not count, and it must be
  ours, not a part of ours (2.2.1);
* only the first 500 KiB count, and no half line at their end (2.5);
* a "$" at the end of a rule is no letter, too (2.2.3): by protego "Allow: /a$" also allows /a$b and /a%24b. That a
  Disallow forbids both stays as it is.

Crawl-delay is no part of the RFC. It is read as its users write it: it belongs to the User-agent lines before it,
back to the last rule or Crawl-delay. The largest counts when an agent has several, and thirty days at most."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cached_property

from protego import Protego

from frontier.outcomes import RETRY_AFTER_CAP_MS
from frontier.types import RobotsRecord

LONGEST_BYTES = 500 * 1024
LONGEST_DELAY_S = RETRY_AFTER_CAP_MS / 1000
"""A longer Crawl-delay counts as this one, as a Retry-After does: anybody may write what no instant can hold."""
MOST_ALLOWS = 100
_NOTHING_ALLOWED = b"User-agent: *\nDisallow: /\n"

_CRAWL_DELAY = "Crawl-delay"
_AGENT = frozenset({"user-agent", "useragent", "user agent"})
_ALLOW = frozenset({"allow"})
_DISALLOW = frozenset({"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"})
_DELAY = frozenset({"crawl-delay", "crawldelay", "crawl delay"})
_FIELDS = {
    **dict.fromkeys(_AGENT, "User-agent"),
    **dict.fromkeys(_ALLOW, "Allow"),
    **dict.fromkeys(_DISALLOW, "Disallow"),
    **dict.fromkeys(_DELAY, _CRAWL_DELAY),
}
_LINE_END = re.compile("\r\n|\r|\n")
# What str.splitlines takes for a line end and RFC 9309 does not.
_NO_LINE_END = re.compile("[\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_WITHOUT_COLON = re.compile(r"(user[- ]?agent|crawl[- ]delay|[\w-]+)\s+(.*)", re.IGNORECASE)
_NAME = re.compile(r"[^\s/]+")
_TOKEN = re.compile(r"[\w-]+")
_RULES = frozenset({"Allow", "Disallow"})
_US, _OTHERS = "us", "others"
_DOLLAR = re.compile(r"\$|%24")
_DOLLAR_IN_RULE = re.compile(r"\$(?!$)|%24", re.MULTILINE)
_NO_DOLLAR = "%00"
"""As long as an escaped "$", so that rules keep their order."""
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")


class Rules:
    """A robots.txt, parsed once for many questions of one crawler.

    `user_agent` is the crawler's product token ("ulwembu") or its whole User-Agent header, each word of which is tried.
    """

    def __init__(self, robots_txt: bytes, user_agent: str) -> None:
        self._lines = list(_lines(robots_txt))
        self._agent = _chosen(self._lines, user_agent)
        self._parsed = Protego.parse("\n".join(_plain(self._lines, self._agent)))

    @classmethod
    def of(cls, record: RobotsRecord, user_agent: str) -> Rules:
        """By what is known of a robots.txt: where it cannot be had nothing is allowed."""
        return cls({"rules": record.body, "allow": b""}.get(record.kind, _NOTHING_ALLOWED), user_agent)

    def allowed(self, url: str) -> bool:
        """Whether the crawler may fetch `url` (absolute, or a path with query)."""
        if not url.isascii():  # a lone surrogate is no character: as in a canonical URL
            url = url.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if not self._parsed.can_fetch(url, _US):
            return False
        if self._without_dollars is None or not _DOLLAR.search(url):
            return True
        return bool(self._without_dollars.can_fetch(_DOLLAR.sub(_NO_DOLLAR, url), _US))

    @cached_property
    def _without_dollars(self) -> Protego | None:
        """The rules, with another letter for each "$" that is one, so that what protego makes of an Allow with "$" at
        its end matches nothing; None when there is no such Allow."""
        if not any(field == "Allow" and value.endswith("$") for field, value in self._lines):
            return None
        rules = "\n".join(_plain(self._lines, self._agent))
        return Protego.parse(_DOLLAR_IN_RULE.sub(_NO_DOLLAR, rules))

    @cached_property
    def closed(self) -> bool:
        """Whether nothing at all may be fetched: neither what no rule speaks of nor what some Allow line of ours does.
        Never with more than :data:`MOST_ALLOWS` of these: each is held against all rules, and all wait meanwhile."""
        rules = _own(self._lines, self._agent, _RULES)
        spoken_of = {value.rstrip("$") for field, value in rules if field == "Allow" and value}
        urls = "/", "/that/no/rule/speaks/of", *spoken_of
        return len(spoken_of) <= MOST_ALLOWS and not any(map(self.allowed, urls))

    def crawl_delay(self) -> float | None:
        """Seconds between requests; None when the file does not say, or says no number."""
        return _delay(self._lines, self._agent)

    def line(self, url: str) -> str:
        """A rule that forbids or expressly allows `url` as the verdict goes, as the file says it; "" when no rule
        matches. Cost: one parse for each rule of the file, for people only."""
        wanted = "Allow" if self.allowed(url) else "Disallow"
        matching = [
            value
            for field, value in _own(self._lines, self._agent, _RULES)
            # a file of this rule alone, turned into a Disallow
            if field == wanted and not Protego.parse(f"User-agent: {_US}\nDisallow: {value}").can_fetch(url, _US)
        ]
        return f"{wanted}: {max(matching, key=len)}" if matching else ""


def allowed(robots_txt: bytes, user_agent: str, url: str) -> bool:
    """Whether `user_agent` may fetch `url` under `robots_txt`."""
    return Rules(robots_txt, user_agent).allowed(url)


def crawl_delay(robots_txt: bytes, user_agent: str) -> float | None:
    """Crawl-delay in seconds for `user_agent`; None when there is none."""
    letters = robots_txt.replace(b"\0", b"").lower()  # of UTF-16, too
    if b"delay" not in letters:
        return None
    return Rules(robots_txt, user_agent).crawl_delay()


def crawl_delay_ms(record: RobotsRecord, user_agent: str) -> int:
    """What is known of a robots.txt as the delay that it asks for, in milliseconds; 0 when it asks for none."""
    return round(1000 * (crawl_delay(record.body, user_agent) or 0.0)) if record.kind == "rules" else 0


def _lines(robots_txt: bytes) -> Iterator[tuple[str, str]]:
    """(field, value) of each line of a kind that we know, the field in one spelling."""
    utf_16 = robots_txt.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = robots_txt[:LONGEST_BYTES].decode("utf-16" if utf_16 else "utf-8-sig", "replace")
    lines = _LINE_END.split(text)
    if len(robots_txt) > LONGEST_BYTES:
        lines.pop()
    for line in lines:
        line = line.partition("#")[0].strip(" \t\x00")
        field, colon, value = line.partition(":")
        name = _FIELDS.get(field.strip().lower()) if colon else None
        if name is None and (found := _WITHOUT_COLON.fullmatch(line)):
            name, value = _FIELDS.get(found[1].lower()), found[2]
        if name:
            yield name, _NO_LINE_END.sub(lambda hit: _escaped(hit[0]), value).strip()


def _escaped(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _tokens(value: str) -> set[str]:
    return {word.lower() for word in _TOKEN.findall(value)}


def _named(value: str) -> str:
    """The product token of a User-agent line; wildcards in it are forgiven."""
    found = _NAME.match(value)
    name = found[0].lower() if found else ""
    return name if name == "*" else name.replace("*", "")


def _chosen(lines: list[tuple[str, str]], user_agent: str) -> str:
    """Name of the groups that count for `user_agent`: the longest of those named in the file, else "*"."""
    own = user_agent.strip().lower()
    ours = _tokens(own) | {_named(own)}
    named = {_named(value) for field, value in lines if field == "User-agent"}
    return max((name for name in named & ours if name), key=len, default="*")


def _plain(lines: list[tuple[str, str]], agent: str) -> Iterator[str]:
    """The rules alone; of the agents only "us" and "others" are left."""
    for field, value in lines:
        if field == "User-agent":
            yield f"User-agent: {_US if _named(value) == agent else _OTHERS}"
        elif field in _RULES:
            yield f"{field}: {value}"


def _own(lines: list[tuple[str, str]], agent: str, fields: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The lines of these fields, which belong to the User-agent lines before them, of the agent's groups."""
    ours = in_agents = False
    for field, value in lines:
        if field == "User-agent":
            ours = (ours and in_agents) or _named(value) == agent
            in_agents = True
        elif field in fields:
            in_agents = False
            if ours:
                yield field, value


def _delay(lines: list[tuple[str, str]], agent: str) -> float | None:
    own = _own(lines, agent, _RULES | {_CRAWL_DELAY})
    said = (float(value) for field, value in own if field == _CRAWL_DELAY and _NUMBER.fullmatch(value))
    return max((min(seconds, LONGEST_DELAY_S) for seconds in said), default=None)
