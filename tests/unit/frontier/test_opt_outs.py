"""What the name that a site's owner gives stands for."""

from __future__ import annotations

import pytest

from frontier.opt_outs import opt_out_rules

BOTH = ["http://a.example", "https://a.example", "http://www.a.example", "https://www.a.example"]


@pytest.mark.parametrize(
    "name", ["a.example", "A.Example", "www.a.example", "WWW.A.EXAMPLE", "Www.a.example.", "a.example/"]
)
def test_a_bare_host_has_many_spellings(name: str) -> None:
    assert [host for host, path in opt_out_rules([name]) if path == ""] == BOTH


def test_a_name_is_taken_in_its_own_script() -> None:
    assert next(opt_out_rules(["Bücher.example:8080/Ä"])) == ("http://xn--bcher-kva.example:8080", "/%C3%84")


@pytest.mark.parametrize(
    "name", [".a.example", "a..example", "*.a.example", "http://", "a b.example", "ftp://a.example"]
)
def test_what_would_never_be_met_is_refused(name: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of the URL's parser, too
        list(opt_out_rules([name]))
