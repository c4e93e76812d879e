"""Records of archives that other tools have written, to documents."""

import io

import pytest

from archive import Reader
from archive.messages.fields import record
from corpus.records import Read, read_record

ZULU = "UMnu. Café wathi “sawubona” kubo bonke abantu ababekhona emhlanganweni omkhulu wasedolobheni namuhla ekuseni."


def read_of(kind: str, url: str, text: str, media: str = "text/plain") -> Read:
    fields = [("WARC-Type", kind), ("WARC-Target-URI", url), *([("Content-Type", media)] if media else [])]
    [found] = Reader(io.BytesIO(record("1.0", fields, text.encode())))
    return read_record(found)


@pytest.mark.parametrize(
    "url",
    [
        "<metadata://gnu.org/software/wget/warc/wget.log>",
        "metadata://netarkivet.dk/crawl/logs/crawl.log?heritrixVersion=3.4.0",
        "urn:X-wpull:log",
        "whois://whois.example/a.example",
        "whois:192.0.2.1",
    ],
)
def test_the_log_of_a_crawler_is_no_document(url: str) -> None:
    assert read_of("resource", url, ZULU).reason == "record_type"


@pytest.mark.parametrize("mark", ["text:", "textFinal:", "text:20240101000000000/"])
def test_the_text_that_a_browser_showed_is_not_a_page_once_more(mark: str) -> None:
    assert read_of("resource", f"urn:{mark}https://a.example/", ZULU).reason == "rendered"


@pytest.mark.parametrize(
    "url", ["https://a.example/metadata:x", "https://a.example/urn:text:x", "ftp://a.example/x.txt", "urn:texts:x"]
)
def test_a_resource_is_a_document(url: str) -> None:
    assert read_of("resource", url, ZULU).document is not None


@pytest.mark.parametrize(
    "about", ["<meta charset=iso-8859-1>", '<meta http-equiv=content-type content="charset=big5">']
)
def test_a_text_about_markup_is_in_no_encoding_that_it_writes_of(about: str) -> None:
    document = read_of("conversion", "https://a.example/", f"{about} yinto yokuqala\n{ZULU}").document
    assert document is not None
    assert (document.charset, document.paragraphs[-1].text) == ("utf-8", ZULU)


@pytest.mark.parametrize(
    ("text", "binary"),
    [
        (f"{ZULU[:95]}{chr(2) * 5}", False),
        (f"{ZULU[:95]}{chr(2) * 6}", True),
        (f"{(ZULU + ' ') * 50}"[:4096] + chr(2) * 900, False),
    ],
)
def test_text_is_binary_when_more_than_a_twentieth_of_its_beginning_is(text: str, binary: bool) -> None:
    assert (read_of("resource", "https://a.example/", text).reason == "binary") == binary


def test_only_what_says_nothing_of_its_type_is_markup_where_it_looks_so() -> None:
    markup = f"<html><p>{ZULU}</p>"
    texts = []
    for media in ("", "text/plain"):
        document = read_of("resource", "https://a.example/", markup, media).document
        assert document is not None
        texts.append(document.text)
    assert texts == [ZULU, markup]
    assert read_of("resource", "https://a.example/", ZULU, "").reason == "media_type"
