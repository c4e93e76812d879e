"""The canonical form of a page's 40 links beside w3lib."""

from __future__ import annotations

import timeit
from collections.abc import Callable

from w3lib.url import canonicalize_url

from sieve.urls import canonicalize_many

BASE = "https://www.isolezwe.co.za/izindaba/2024-05-06/indaba-enkulu/"
ABSOLUTE = [
    *(f"https://www.isolezwe.co.za/izindaba/2024-05-{day:02d}-isihloko-sendaba-{day * 7919}/" for day in range(1, 25)),
    *(f"https://www.isolezwe.co.za/ezemidlalo/?page={page}" for page in range(6)),
    *(f"https://www.isolezwe.co.za/search?q=iphepha&page={page}&utm_source=menu" for page in range(4)),
    "https://twitter.com/isolezwe",
    "https://www.facebook.com/sharer/sharer.php?u=https%3A%2F%2Fwww.isolezwe.co.za%2Fizindaba",
    "http://www.iol.co.za",
    "https://www.isolezwe.co.za/amazwi/umbono#izimvo",
    "https://www.isolezwe.co.za/izindaba/ub\u00fctho",
    "https://www.isolezwe.co.za/impilo/../ezokungcebeleka/",
]


def compare(repeat: int = 20) -> dict[str, float]:
    """Microseconds for all 40 links, best of several."""

    def best(call: Callable[[], object], number: int) -> float:
        return min(timeit.repeat(call, number=number, repeat=repeat)) / number * 1e6

    relative = [link.replace("https://www.isolezwe.co.za", "") for link in ABSOLUTE]
    w3lib = best(lambda: [canonicalize_url(link) for link in ABSOLUTE], 10)
    ours = best(lambda: canonicalize_many(ABSOLUTE, BASE), 50)
    ours_relative = best(lambda: canonicalize_many(relative, BASE), 50)
    return {"links": len(ABSOLUTE), "w3lib_us": w3lib, "ours_us": ours, "ours_relative_us": ours_relative}
