"""URLs made to take long: each is judged in a fraction of a second, where a careless pattern takes hours."""

import pytest

from sieve.urls import UrlError, authority, canonicalize

HOSTILE = {
    "labels that may be punycode": "http://" + "xn--a." * 50_000 + "!/",
    "a host of many letters": "http://" + "".join(chr(0x4E00 + n % 20_000) for n in range(100_000)) + "/",
    "the same, escaped": "http://" + "".join(f"%E4%{0x80 + n % 64:X}%{0x80 + n // 64 % 64:X}" for n in range(30_000)),
}


@pytest.mark.parametrize("url", HOSTILE.values(), ids=HOSTILE)
def test_has_no_canonical_form(url: str) -> None:
    with pytest.raises(UrlError):
        canonicalize(url)
    with pytest.raises(UrlError):
        authority(url)


def test_unknown_punycode_is_taken_as_it_is() -> None:
    assert canonicalize("HTTP://A.b.XN--zzzzz.xn--.C:80/x") == "http://a.b.xn--zzzzz.xn--.c/x"
