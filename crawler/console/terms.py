"""The words that ``scrapy frontier`` and ``scrapy sieve`` print, each with its meaning: figures, and the results and
reasons of the outcome table (frontier/outcomes.py), of trap defence and of hosts that rest."""

from __future__ import annotations

COUNTS = {
    "queued": "URLs that wait for their host's turn",
    "due": "hosts that may be asked now",
    "leased": "URLs handed to workers, under way",
    "parked": "URLs set aside until a time, by reason below",
    "authorities": "hosts met (with scheme and port)",
    "pages": "pages answered, as budgets count them",
    "fetched_bytes": "bytes of all answers",
    "words": "words of the wanted language on pages",
}
"""Of ``status``, in its order."""

COLUMNS = {
    "host": "scheme, name and port",
    "queued": COUNTS["queued"],
    "parked": "URLs set aside until a time",
    "pages": COUNTS["pages"],
    "words": COUNTS["words"],
    "delay s": "seconds from an answer's end to the next request",
    "failures": "failures in a row, not forgiven yet: the host rests the longer",
    "state": "being fetched; waits (for its delay); rests (reason) until; parked until; paused; nothing: no URLs",
    "address": "IP address of the last request",
}
"""Of ``hosts``, in its order."""

SIEVE = {
    "kind": "where URLs wait to be decided: in Redis, whatever keeps the seen ones",
    "put": "URLs that workers sent to be decided, repeats included (but those each sent lately)",
    "decided": "of these, held against the seen ones; normal: all, or all but the last second's",
    "seen": "different URLs among them, each handed out once; normal: far fewer, since links repeat",
    "epoch": "rounds of deciding since the crawl began",
    "undecided": "URLs put and not decided; normal: 0 a second after; if it grows no worker decides",
    "waiting_elements": "batches (at most 1,000 URLs) not decided; normal: below 64, a round's worth",
    "waiting_bytes": "bytes of their fingerprints, 8 a URL",
    "texts_elements": "the same batches as text; normal: as many as waiting",
    "texts_bytes": "bytes of their URLs; with ready_bytes what a crawl that falls behind fills Redis with",
    "ready_elements": "two a batch of new URLs that the frontier has not taken; normal: 0 in seconds; if it grows "
    "no worker leases, or Redis is full",
    "ready_bytes": "bytes of these",
    "fresh_elements": "rounds whose new URLs are not sorted yet; normal: up to some hundreds",
    "fresh_bytes": "bytes of these, 8 a URL; normal: below 100,000, more where the seen ones are on a disk",
    "runs_elements": "sorted chunks of 8,176 seen URLs; 0 where they are on a disk",
    "runs_bytes": "bytes of these; normal: 8.2 a seen URL",
    "disk_folder": "of the seen URLs, where they are on this machine's disk",
    "disk_bytes": "bytes of all its files; normal: some 8 a seen URL, twice that while runs are merged",
    "disk_runs": "sorted files of seen URLs; normal: a few, one more each time the store doubles",
    "disk_stored": "URLs in them; normal: seen, less those of the last rounds, which Redis has",
    "disk_facts": "epoch: up to which round they are whole; normal: at or a little below epoch",
}
"""Of ``scrapy sieve stats``, in its order."""

WORDS = {
    "ok": "answered",
    "not_modified": "unchanged since the last fetch (304)",
    "redirect": "led to another URL",
    "http_404": "no such page",
    "http_410": "gone for good",
    "http_4xx": "refused by the server (other 4xx)",
    "http_other": "answered with another status",
    "unwanted": "answered, but no page (a picture, a PDF that cannot be read)",
    "requisite": "answered: what a kept page embeds (page_requisites)",
    "too_large": "answer beyond DOWNLOAD_MAXSIZE",
    "part": "a part that nobody asked for (206)",
    "http_429": "asked too often, says the host",
    "http_503": "host is overloaded",
    "http_5xx": "error of the server",
    "dns": "host's name not found",
    "connect": "no connection",
    "tls": "no trusted encryption",
    "timeout": "no answer in time",
    "cut": "connection cut off amid the answer",
    "protocol": "answer is no valid HTTP",
    "expired": "lease ran out: its worker died or hung",
    "aborted": "its worker was stopped before the answer had come",
    "robots_redirect": "led to another address",
    "robots_unreachable": "robots.txt cannot be had: nothing is fetched",
    "robots_wait": "robots.txt is redirected and not read yet",
    "robots_later": "robots.txt is redirected, and its server asked to wait",
    "robots_denied": "forbidden by robots.txt, not asked for",
    "refused_address": "address that must not be asked (private network, or the port of another service)",
    "refused:bad_port": "not even queued: the port of a service that is no web server",
    "refused:not_a_url": "not even queued: no URL of the web",
    "bad_url": "no URL that can be asked for",
    "replaced": "not asked for: a middleware of the project's asked for another URL instead",
    "opted_out": "host has opted out",
    "quota": "host's max_pages is reached",
    "quota_bytes": "host's max_bytes is reached",
    "again": "fetched, comes again (feeds, sitemaps, revisits)",
    "crawl_delay": "robots.txt asks for a longer delay than we wait",
    "other_crawl": "another crawl has its turn at the host",
    "trap_depth": "too many links from a seed",
    "trap_length": "URL too long",
    "trap_segments": "path too deep",
    "trap_repeated_segment": "path repeats itself",
    "trap_parameters": "too many parameters",
    "trap_repeated_parameter": "parameters repeat themselves",
    "trap_query_variants": "too many variants of one path",
    "trap_host_urls": "too many URLs of one host",
    "trap_equal_pages": "host gives equal pages again and again",
}

_BEGINNINGS = {
    "requisite:": "what a kept page embeds: ",
    "robots:": "robots.txt: ",
    "gave_up:": "given up, last: ",
    "dropped:": "not even parked: ",
}


_BEGUN = {
    "requisite:RESULT": "of what a kept page embeds: no page of budgets",
    "robots:RESULT": "of a request for robots.txt",
    "gave_up:RESULT": "not tried again: the last of its tries ended so",
    "dropped:RULE": "not even parked, since the host has many such URLs",
}


def meaning(word: str) -> str:
    """Of a result or reason, in a few words; "" of one that is unknown (a spider's own)."""
    for beginning, said in _BEGINNINGS.items():
        if word.startswith(beginning):
            return said + (meaning(word.removeprefix(beginning)) or word.removeprefix(beginning))
    return WORDS.get(word, "")


def glossary() -> str:
    """All words, a line each, for ``--help``."""
    parts = {"Counts of status:": COUNTS, "Columns of hosts:": COLUMNS, "Results and reasons:": {**WORDS, **_BEGUN}}
    lines = []
    for title, words in parts.items():
        width = max(map(len, words))
        lines += [title, *(f"  {word:<{width}}  {said}" for word, said in words.items())]
    return "\n".join(lines)
