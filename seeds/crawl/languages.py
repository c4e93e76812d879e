"""Which ISO 639-3 code is meant by what people write in its place: a code of ISO 639-1 ("zu"), one of the bibliographic
codes of ISO 639-2 ("cze"), a language tag ("zu-ZA"), or the name of a language of southern Africa or of a neighbour
of this project ("isizulu")."""

from __future__ import annotations

import re

_TWO_LETTERS = (
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
_BIBLIOGRAPHIC = (
    "sqi alb hye arm eus baq mya bur zho chi ces cze nld dut fra fre kat geo deu ger ell gre isl ice mkd mac mri mao "
    "msa may fas per ron rum slk slo bod tib cym wel"
)
_NAMES = (
    "zul zulu zul isizulu zul kwazulu ssw swati ssw siswati ssw swazi ssw siswazi xho xhosa xho isixhosa nbl ndebele "
    "nbl isindebele nbl southernndebele nde northernndebele sot sotho sot sesotho sot southernsotho nso pedi nso "
    "sepedi nso northernsotho nso sesothosaleboa tsn tswana tsn setswana tso tsonga tso xitsonga ven venda ven "
    "tshivenda afr afrikaans eng english sna shona sna chishona nya chewa nya chichewa nya nyanja swa swahili swa "
    "kiswahili ces czech slk slovak pol polish deu german fra french por portuguese"
)
_WORDS = f"{_TWO_LETTERS} {_BIBLIOGRAPHIC} {_NAMES}".split()
_MEANT = dict(zip(_WORDS[1::2], _WORDS[::2], strict=True))


def meant(written: str) -> str:
    """The ISO 639-3 code that is likely meant by a wrong spelling; "" when nobody knows."""
    letters = re.sub(r"[\s-]", "", written.lower())
    head = re.split(r"[-_\s]", written.strip().lower())[0]
    for word in (letters, head):
        if word in _MEANT:
            return _MEANT[word]
    return head if re.fullmatch("[a-z]{3}", head) and head != written else ""


def bibliographic(code: str) -> bool:
    """Whether it is one of the twenty codes of ISO 639-2 that ISO 639-3 has otherwise."""
    return code in _BIBLIOGRAPHIC.split()[1::2]
