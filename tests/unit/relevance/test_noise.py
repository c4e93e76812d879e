"""What stands in text and is no words of it."""

import unicodedata

import pytest

import relevance
from relevance.language.alphabet import words, words_utf8

TEXT = "Ngiyabonga kakhulu, šibe ‘ṱhohoyanḓou’ – “sê”… Öö"
PLAIN = ["ngiyabonga", "kakhulu", "šibe", "ṱhohoyanḓou", "sê", "öö"]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize("end", ["", "\ufeff", " 😂", "\u00a0"])
def test_text_that_was_read_in_a_wrong_encoding_is_read_anew(encoding: str, end: str) -> None:
    raw = (end + TEXT).encode()
    wrong = "".join(bytes([byte]).decode(encoding, "replace") for byte in raw)
    if encoding == "cp1252":  # as browsers read it: what it lacks are controls
        wrong = "".join(chr(byte) if c == "\ufffd" else c for byte, c in zip(raw, wrong, strict=True))
    assert words(wrong) == PLAIN
    assert words_utf8(wrong) == [word.encode() for word in PLAIN]


@pytest.mark.parametrize("letter", "éêšëļḓṅẽỳ\u00a0\u2019\u201d\ufeff😂")
def test_one_such_letter_is_enough(letter: str) -> None:
    plain = words(f"umu{letter}ntu")
    for encoding in ("cp1252", "latin-1"):
        assert words(f"umu{letter.encode().decode(encoding, 'replace')}ntu") == plain


def test_a_sign_that_a_wrong_encoding_has_lost_is_no_letter() -> None:
    assert words("â€œNgiyabonga kakhuluâ€\ufffd wathi kaâ€") == ["ngiyabonga", "kakhulu", "wathi", "ka"]


@pytest.mark.parametrize(
    "text",
    ["São Paulo, IRMÃO", "„Spaß”, “HALLÅ”", "« À »\u00a0: â, olá»", "Ændring", "crème brûlée…", "naïve", "ÅÄÖ åäö"],
)
def test_text_of_those_letters_is_read_as_it_is(text: str) -> None:
    bare = "".join(c if c.isalpha() else " " for c in text.replace("Å”", "Å"))
    assert words(text.replace("Å”", "Å")) == bare.lower().split()


def test_marks_of_html_are_no_words() -> None:
    assert words('<p class="lead">Ngiya<b>bonga</b> <a href="https://a.b/c?d=e">lapha</a><br/>baba</p>') == [
        "ngiya",
        "bonga",
        "lapha",
        "baba",
    ]
    assert words("<!-- no text --><H1>Izindaba</H1><IMG SRC=x.png alt='y'> <user> sawubona <url>") == [
        "izindaba",
        "sawubona",
    ]
    assert words("see https://a.b/c</a>umuntu") == ["see", "umuntu"]
    # What is no mark of HTML is text.
    assert words("<<Ngiyabonga>>, a <b uma c>d, <umuntu>") == ["ngiyabonga", "a", "d", "umuntu"]
    assert words("a < b, ubuntu > umuntu, i<3") == ["a", "b", "ubuntu", "umuntu", "i"]


def test_ends_of_lines_and_letters_as_programs_write_them_are_none() -> None:
    assert words(r"Ngiyabonga\nkakhulu\r\n\u201cbaba\u201d\t\u0161ibe \\nami") == [
        "ngiyabonga",
        "kakhulu",
        "baba",
        "šibe",
        "ami",
    ]
    assert words(r"\ud83d\ude02 umuntu s\u030cibe") == ["umuntu", "šibe"]
    assert words(r"either\or a\b") == ["either", "or", "a", "b"]


def test_addresses_are_no_words_however_they_are_written() -> None:
    assert words("Bona ku isolezwe.co.za, news24.com nase-www.gov.za manje") == ["bona", "ku", "nase", "manje"]
    assert words("Www.Isolezwe.Co.Za HTTPS://T.CO/aB3 WWW.X.ORG bit.ly/A1 BIT.LY/A1 sawubona") == ["sawubona"]
    assert words("RT @name: yebo baba https… http") == ["yebo", "baba"]
    assert words("rt @name yebo RT: @name") == ["yebo"]
    assert words("Bona example.org") == ["bona"]
    assert words("Bona https…") == ["bona"]
    assert words("kwelinye.org.uk x.com.au a-b.c.co.bw umuntu") == ["umuntu"]
    assert words("Funda ku-isolezwe.co.za. Bona (news24.com).") == ["funda", "bona"]
    assert words("Bhala ku-a.co.za@b.org noma info.desk@isolezwe.co.za.") == ["bhala", "noma"]
    # A blank that is missing makes no host, nor does a name of the protocol that is part of a word.
    assert words("Ufike.Kodwa wahamba.info lona het.net nou co.za i-http-protocol") == [
        "ufike",
        "kodwa",
        "wahamba",
        "info",
        "lona",
        "het",
        "net",
        "nou",
        "co",
        "za",
        "i",
        "http",
        "protocol",
    ]


@pytest.mark.parametrize("text", ["š", "ọ̀rọ̀ šibe", "हिन्दी में", "தமிழ்", "ኢትዮጵያ", "ကျေး", "שלום"])
def test_letters_and_their_vowels_may_be_written_as_programs_and_html_do(text: str) -> None:
    plain = words(text)
    assert plain
    for form in ("&#{:d};", "&#x{:x};", "&amp;#{:d};", r"\u{:04x}"):
        assert words("".join(c if c == " " else form.format(ord(c)) for c in text)) == plain


def test_what_html_has_no_sign_for_is_no_word() -> None:
    assert words("&scaron;ibe &nosuch; &amp;nosuch; &amp; &#x110000; umuntu") == ["šibe", "umuntu"]


@pytest.mark.parametrize("text", ["İstanbul İl", "İstanbul İl ж", "İstanbul İl e\u0301"])
def test_a_letter_whose_small_form_is_two_signs_parts_no_word(text: str) -> None:
    assert words(text)[:2] == ["istanbul", "il"]
    assert all(len(word) == len(unicodedata.normalize("NFC", word)) for word in words(text))


@pytest.mark.parametrize(
    "signs", ["<a ", "<!--", "<", "\\" * 4, "\\u", "Ã", "â€", "ðŸ", "a.co.", ".co.za", "http", "…", "www."]
)
def test_a_million_signs_are_no_more_work_than_words(signs: str) -> None:
    assert words(f"{signs * 500_000} @ & # /> last")[-1] == "last"


def test_short_text_with_noise_is_in_its_language() -> None:
    texts = {"Ngiyakuthanda sthandwa sami": "zul", "Enkosi kakhulu bhuti": "xho", "Ke a leboga thata": "tsn"}
    for text, language in texts.items():
        noisy = [
            f'<div class="post-content">{text}&nbsp;</div>',
            f"<user> {text} <url>",
            f"{text}\\n\\u201c",
            f"“{text}” –".encode().decode("cp1252", "replace"),
            f"{text} isolezwe.co.za",
            f"rt @name: {text} https…",
        ]
        assert relevance.codes(noisy) == [language] * len(noisy)
