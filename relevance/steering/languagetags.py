"""Languages as pages declare them."""

from __future__ import annotations

import re

from relevance.pages.page import Page
from relevance.steering.policy import PageContext

_PAIRS_TEXT = (
    "aar aa abk ab afr af aka ak amh am ara ar arg an asm as ava av ave ae aym ay aze az bak ba bam bm bel be ben bn "
    "bis bi bod bo bos bs bre br bul bg cat ca ces cs cha ch che ce chu cu chv cv cor kw cos co cre cr cym cy dan da "
    "deu de div dv dzo dz ell el eng en epo eo est et eus eu ewe ee fao fo fas fa fij fj fin fi fra fr fry fy ful ff "
    "gla gd gle ga glg gl glv gv grn gn guj gu hat ht hau ha hbs sh heb he her hz hin hi hmo ho hrv hr hun hu hye hy "
    "ibo ig ido io iii ii iku iu ile ie ina ia ind id ipk ik isl is ita it jav jv jpn ja kal kl kan kn kas ks kat ka "
    "kau kr kaz kk khm km kik ki kin rw kir ky kom kv kon kg kor ko kua kj kur ku lao lo lat la lav lv lim li lin ln "
    "lit lt ltz lb lub lu lug lg mah mh mal ml mar mr mkd mk mlg mg mlt mt mon mn mri mi msa ms mya my nau na nav nv "
    "nbl nr nde nd ndo ng nep ne nld nl nno nn nob nb nor no nya ny oci oc oji oj ori or orm om oss os pan pa pli pi "
    "pol pl por pt pus ps que qu roh rm ron ro run rn rus ru sag sg san sa sin si slk sk slv sl sme se smo sm sna sn "
    "snd sd som so sot st spa es sqi sq srd sc srp sr ssw ss sun su swa sw swe sv tah ty tam ta tat tt tel te tgk tg "
    "tgl tl tha th tir ti ton to tsn tn tso ts tuk tk tur tr twi tw uig ug ukr uk urd ur uzb uz ven ve vie vi vol vo "
    "wln wa wol wo xho xh yid yi yor yo zha za zho zh zul zu"
)
_PAIRS = _PAIRS_TEXT.split()
TAGS = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
"""ISO 639-3 -> the tag that HTML uses: ISO 639-1 where there is one, for any language that a crawl may want."""


NAMES = {
    "zul": ("zulu", "isizulu"), "xho": ("xhosa", "isixhosa"), "nbl": ("ndebele", "isindebele"),
    "ssw": ("swati", "siswati", "swazi"), "nde": ("ndebele", "sindebele"), "nso": ("sepedi", "pedi"),
    "sot": ("sotho", "sesotho"), "tsn": ("tswana", "setswana"), "tso": ("tsonga", "xitsonga"),
    "ven": ("venda", "tshivenda"), "afr": ("afrikaans",), "eng": ("english",), "swa": ("swahili", "kiswahili"),
    "sna": ("shona", "chishona"), "nya": ("chichewa", "chinyanja", "nyanja"), "kin": ("kinyarwanda", "ikinyarwanda"),
    "lug": ("luganda", "oluganda"), "lin": ("lingala",), "ita": ("italian", "italiano"), "nld": ("dutch", "nederlands"),
    "fra": ("french", "francais", "français"), "spa": ("spanish", "espanol", "español"),
    "por": ("portuguese", "portugues", "português"), "deu": ("german", "deutsch"),
    "ces": ("czech", "cesky", "česky", "čeština"), "slk": ("slovak", "slovensky", "slovenčina"),
}  # fmt: skip
"""The languages that the shipped model and seed files have, as links and URLs call them."""
_ALL_NAMES = frozenset(name for some in NAMES.values() for name in some)
_ENDS = re.compile(r"[\W\d_]")
_SAY_NOTHING = frozenset(("und", "mul", "mis", "zxx"))
"""Tags of no language in particular."""


def primary(tag: str) -> str:
    """The language of an HTML language tag, without region and the like, in lower case, or its name in place of a tag
    ("isiZulu"); empty where it says none, as "x-default", "mul" and what a template left ("{{ lang }}", "undefined").
    """
    first = _ENDS.split(tag.strip().lower(), maxsplit=1)[0]
    return first if (len(first) in (2, 3) and first not in _SAY_NOTHING) or first in _ALL_NAMES else ""


def is_tag_of(tag: str, language: str) -> bool:
    """Whether an HTML language tag means a language, whatever its region."""
    return primary(tag) in (language, TAGS.get(language, language), *NAMES.get(language, ()))


def declared(page: Page, context: PageContext, language: str) -> int:
    """1: the page declares the language (html lang, Content-Language, og:locale), -1: only others, 0: none."""
    said = (page.html_lang, page.content_language, context.content_language, page.og_locale)
    tags = [tag for some in said for tag in some.split(",") if primary(tag)]
    if any(is_tag_of(tag, language) for tag in tags):
        return 1
    return -1 if tags else 0
