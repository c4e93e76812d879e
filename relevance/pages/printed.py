"""What is printed above an article, for readers alone: the day when it was published, and by whom.

Read are the lines around the page's title, up to three before it, and behind it those up to the first paragraph or the
next heading: a line that is a date ("NgoMeyi 12, 2023", "12 May 2023 | News"), or says with it that this is when the
text was published ("Published on …", "Ishicilelwe …"), or whose it is ("By Thabo Mbeki on …"). A line that says so much
counts elsewhere on the page, too, when no other line says another day; "Posted …" does not, which comments say as well.

Nothing is guessed: no date in a sentence, of an event, a change ("Updated …"), a period, or of which one cannot say
what is the day and what the month (`5/6/2024`), nor the day of the capture before a title, which is that of the reader
(sites print it in their heads). A short line that is no link and no name of a person is taken for a label, and what
stands under it for that of what it names ("Closing date", "Wazalwa"), in any language; what stands under the title of
another text is that text's. Where two lines of the same kind say different days, neither counts.

Guarantee: lines of more than :data:`MOST_LETTERS` are not looked at, nor more than :data:`MOST_LINES` of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import chain, islice, pairwise

from relevance.pages.blocks import Block
from relevance.pages.instants import FIRST_YEAR, days_apart
from relevance.pages.months import month_of
from relevance.pages.titles import letters_of

MOST_LETTERS = 130
_MOST_BEFORE = 3
_MOST_BEHIND = 6
_MOST_TITLES = 3
MOST_LINES = 2000
_LONGEST_TITLE = 300
_LEAST_TITLE = 12
"""Letters of a title, or of a heading, from which one may be a part of the other."""
_ANY_YEAR = re.compile(r"(?:19|20)\d\d")
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_WORD = r"(?P<name>[^\W\d_][\w’'-]*[^\W\d_])\.?"
_DAY = r"(?P<day>\d{1,2})"
_DATES = [
    re.compile(form, re.I)
    for form in (
        rf"(?<![\w/.-]){_YEAR}\s?(?P<sign>[-/.])\s?(?P<month>\d\d?)\s?(?P=sign)\s?(?P<day>\d\d?)(?![\w/-])",
        rf"(?<![\d/.-])(?P<one>\d\d?)(?P<sign>[-/.])\s?(?P<two>\d\d?)(?P=sign)\s?{_YEAR}(?![/-])",
        rf"(?<![\d/.-]){_DAY}(?:st|nd|rd|th|er|º|\.)?[\s-](?:(?:of|de|ya|ka|ku|la)\s)?{_WORD},?[\s-](?:del?\s)?{_YEAR}",
        rf"(?<![\w/.-]){_WORD}\s{_DAY}(?:st|nd|rd|th|\.)?,?\s{_YEAR}",
    )
]
_SAYING = """
published publish posted posting publiziert publikation veröffentlicht veröffentlichung erschienen erstellt
publié publiée publicado publicada publicação publicación pubblicato pubblicata creado criado gepubliseer geplaas
gepubliceerd geplaatst opublikowano opublikowany dodano publikováno vydáno zveřejněno zverejnené ishicilelwe
kushicilelwe ishicilelwa ifakwe kufakwe ikhutshwe ipapashwe ipapashiwe ikhatiswe phatlaladitswe phasaladitswe
"""
"""Words that say that a text was published then."""
_BESIDE = """
first date datum data fecha written on at in the am vom den der um le à el em op dia dnia
ngo nge ngomhla mhla mhlaka ka nga hi le la ya il del alle mis en ligne uhr às klo erschien article artikel
min mins minute minutes read views likes shares comment comments kommentare reply replies
mon monday tue tues tuesday wed wednesday thu thurs thursday fri friday sat saturday sun sunday
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so
maandag dinsdag woensdag donderdag vrydag vrijdag saterdag zaterdag sondag zondag
lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo
lunedì martedì mercoledì giovedì venerdì sabato domenica segunda terça quarta quinta sexta feira
poniedziałek wtorek środa czwartek piątek sobota niedziela pondělí úterý středa čtvrtek pátek neděle
umsombuluko ngomsombuluko ulwesibili ngolwesibili ulwesithathu ngolwesithathu ulwesine ngolwesine ulwesihlanu
ngolwesihlanu umgqibelo ngomgqibelo isonto ngesonto umvulo ngomvulo ulwesibini ngolwesibini cawa icawa ngecawa
lesibili lesitsatfu lesine lesihlanu umgcibelo lisontfo ngalesibili ngalesitsatfu ngalesine ngalesihlanu
mantaha labobedi laboraro labone labohlano labotlhano moqebelo mokibelo matlhatso sontaha sontaga mosupologo mošupologo
musumbhunuku ravumbirhi ravunharhu ravumune ravuntlhanu mugqivela musumbuluwo ḽavhuvhili ḽavhuraru ḽavhuṋa ḽavhuṱanu
mugivhela swondaha
"""
"""Words that may stand beside a date without making it another's: weekdays, for instance."""
_PUBLISHING = frozenset(_SAYING.split())
_USUAL = _PUBLISHING.union(_BESIDE.split())
_OF_ANSWERS = re.compile(r"\bpost(?:ed|ing)\b|geplaa|creado|criado|erstellt|dodano", re.I)
"""What is also said of comments, and of what is embedded."""
_TITLE = Block("", "")
_WORDS = re.compile(r"[^\W\d_]+")
_MARKS = re.compile(r"\s(?:[–—/»›>-]|//|--)\s|\s?[|•·⋅]\s?")
_PLACE = r"(?:[^\W\d_]+\s)?\d{1,2}(?:st|nd|rd|th|\.)?"
_PERIOD = re.compile(
    rf"(?<![\w/.:-]){_PLACE}(?:\s[^\W\d_]+)?\s*"
    rf"(?:[-–—&+]|to|until|and|und|bis|en|au|al|tot|do)\s*{_PLACE}(?![\w/:.-])"
    r"|:\d\d(?:\s?[ap]\.?m\.?)?\s*(?:[-–—]|to|bis|tot)\s*\d{1,2}:\d\d",
    re.I,
)
"""From one day to another ("12 - 14 May"), or one hour."""
_CHANGED = re.compile(
    r"updat|modif|chang|revis|edited|aktuali|änder|stand\b|actuali|atuali|aggiorn|mis à jour|bijgewerk|bygewerk|gewysig"
    r"|opgedateer|buyekez|hlaziy|shintsh",
    re.I,
)
_OF_ELSE = re.compile(
    r"\b(?:last|since|until|due|deadline|clos\w+|expir\w+|valid|effective|starts?|begins?|ends?|born|died|heard|delivered|"
    r"released|release date|reviewed|checked|photo\w*|picture|image|foto|sluit\w*|gebore)\b",
    re.I,
)
"""What a short label has that names a date of something else, also where each of its words is a capital."""
_DATE_WORDS = frozenset(["date", "datum", "data", "fecha", "usuku", "umhla", "letsatsi", "letšatši", "siku"])
_OF_TEXTS = re.compile(r"\b(?:press|media|news|statement|opinion)\b", re.I)
"""What stands above the day of a text as its kind."""
_MOST_OF_LABEL = 4
"""Words of a line that names what stands under it."""
_TIME = re.compile(
    r"\d{1,2}[:.h]\d\d(?::\d\d)?(?:[.]\d+)?\s*(?:[ap]\.?m\b\.?)?(?:\s?[A-Z]{2,4}\b|\s?[+-]\d\d:?\d\d)?", re.I
)
_MOST_BESIDE = 40
_BY = re.compile(
    r"(?:(?:(?i:written|posted|published|geschrieben|skryf)\s)?(?:(?i:by|von|par|por|door|deur)|(?i:autor(?:in)?|auteur|author|"
    r"skrywer|umbhali)(?=:))|Ka|Nga)(?:\s*:\s*|\s+)(?=[^\W\d_a-z])|(?:(?i:ibhalwe|kubhalwe)\s)?[Nn]gu[-\s]?(?=[A-Z])"
)
_PERSON = re.compile(
    r"[^\W\d_a-z][\w’'.-]*(?:\s(?:van|von|der|den|de|du|la|le|da|dos|del|di|zu|bin|al|[^\W\d_a-z][\w’'.-]*)){1,4}"
)
_NO_PERSON = re.compile(
    r"\b(?:staff|newsroom|editors?|editorial|reporters?|correspondents?|redaktion|redacción|rédaction|redakcja|team|agency|"
    r"agencies|desk|services?|press|presse|media|news|online|admin|writer|contributor|redaksie|verslaggewer|author|guest|"
    r"the|of|for|and|or|this|our|ons|most|popular|using|clicking|name|price|city|department|ministry|government|"
    r"university|bank|house)\b",
    re.I,
)
_AND = re.compile(r"\s?[,;&]\s?(?:(?:and|und|et|y|e|en|no|ne)\s)?|\s(?:and|und|et|y|e|en|no|ne)\s")


def printed_day(blocks: Sequence[Block], title: str, captured: str = "") -> str:
    """The day that is printed, `YYYY-MM-DD`, "" where none is. `captured`: the day when the page was."""
    near = list(_told(_near(blocks, title, captured)))
    for found in (
        [day for day, said in near if said],
        [day for day, _ in near],
        [day for day, said in _told(_anywhere(blocks[:MOST_LINES])) if said],
    ):
        if found:
            return found[0] if len(set(found)) == 1 else ""
    return ""


def printed_authors(blocks: Sequence[Block], title: str) -> list[str]:
    """The names of the first line that says whose the text is."""
    for block in _near(blocks, title):
        parts = _MARKS.split(block.text) if len(block.text) <= MOST_LETTERS else []
        for part in parts:
            if names := _names(part.strip()):
                return names
    return []


def _anywhere(blocks: Sequence[Block]) -> Iterator[Block]:
    """Lines of a page that may say when its text was published: none under a heading, as teasers are, no entry of a
    list, as books are, and none that speaks as answers do."""
    for before, block in pairwise((_TITLE, *blocks)):
        may = before.kind != "heading" and block.kind in ("short", "nav")
        if may and not _OF_ANSWERS.search(block.text[:MOST_LETTERS]):
            yield block


def _near(blocks: Sequence[Block], title: str, captured: str = "") -> Iterator[Block]:
    """The lines around the title, an empty one in its place."""
    named = letters_of(title[:_LONGEST_TITLE])
    lines = enumerate(blocks[:MOST_LINES])
    headings = (place for place, block in lines if block.kind == "heading" and _is_of(block.text, named))
    for place in islice(headings, _MOST_TITLES):
        before = _before(blocks[max(0, place - _MOST_BEFORE) : place], named)
        yield from (block for block in before if not _is_today(block, captured))
        yield _TITLE
        yield from _behind(blocks[place + 1 : place + 1 + _MOST_BEHIND])


def _before(blocks: Sequence[Block], named: str) -> Iterator[Block]:
    """Lines before a title: none where they are another heading's, none under the title of something else."""
    if any(block.kind == "heading" and not _ANY_YEAR.search(block.text) for block in blocks):
        return
    for block in blocks:
        is_title = _is_sentence(block.text) or (" " in block.text and _is_label(block))
        if is_title and not _is_of(block.text, named):
            return
        yield block


def _behind(blocks: Sequence[Block]) -> Iterator[Block]:
    """Lines behind a title, up to one of something else; of paragraphs the days that they begin with."""
    in_text = False
    for behind, block in enumerate(blocks):
        if len(block.text) > MOST_LETTERS:
            in_text = True
            yield from (Block(part, "main") for part in _MARKS.split(block.text[:_MOST_BESIDE], 1)[:-1])
        elif block.kind == "links" and _is_sentence(block.text):
            return
        elif not in_text:
            yield block
        if block.kind == "heading" and behind:  # the first one may be the rest of the title
            return


def _is_today(line: Block, captured: str) -> bool:
    """Is it the day of the capture, as the heads of many sites have it?"""
    return bool(captured) and any(not said and days_apart(day, captured) <= 1 for day, said in _told([line]))


def _is_of(heading: str, title: str) -> bool:
    """Is it this title (as letters), or one a part of the other?"""
    letters = letters_of(heading) if len(heading) <= _LONGEST_TITLE else ""
    if len(letters) < _LEAST_TITLE or len(title) < _LEAST_TITLE:
        return bool(letters) and letters == title
    return letters in title or title in letters


def _told(lines: Iterable[Block]) -> Iterator[tuple[str, bool]]:
    """The days of lines, and whether it is said of each that the text was published then."""
    before = _TITLE
    for block in lines:
        line = block.text
        if len(line) <= MOST_LETTERS and _ANY_YEAR.search(line) and not _PERIOD.search(line):
            parts = _MARKS.split(line)
            for place, part in enumerate(parts):
                if _ANY_YEAR.search(part) and (told := _day_of(part)) is not None:
                    day, said = told
                    if said or not (any(map(_is_sentence, parts)) or _is_of_another(parts[:place], before)):
                        yield day, said
        before = block


def _is_sentence(text: str) -> bool:
    """Is it more than a label or a name, as titles of other texts are?"""
    text = text[:MOST_LETTERS]
    if len(_WORDS.findall(text)) <= _MOST_OF_LABEL:
        return False
    return not any(sign.search(text) for sign in (_BY, _ANY_YEAR, _MARKS))


def _is_label(block: Block) -> bool:
    """Does a line name what stands under it ("Closing date", "Wazalwa")? Names of people do not, and what is of the
    text (its section) mostly is a link."""
    text = block.text[:MOST_LETTERS]
    words = _WORDS.findall(text)
    if block.kind not in ("short", "list") or len(words) > _MOST_OF_LABEL or not _others(text) or text.endswith(","):
        return False
    if (len(words) > 1 and all(map(_is_capital, words))) or ":" in _TIME.sub("", text).strip()[:-1]:
        return False
    return not any(sign.search(text) for sign in (_BY, _ANY_YEAR, _MARKS, _OF_TEXTS))


def _is_of_another(beside: Sequence[str], before: Block) -> bool:
    """Does what stands before a date say that it is that of something else? `beside`: in its line; `before`: the line
    before."""
    if beside:
        return _names_a_date(beside[-1])
    return before.kind == "heading" or _is_label(before) or _names_a_date(before.text[:MOST_LETTERS])


def _names_a_date(label: str) -> bool:
    """Does it say that a date is that of a change, or of something that it names?"""
    if _CHANGED.search(label) is not None:
        return True
    words = [word.lower() for word in _WORDS.findall(label)]
    names = len(words) <= _MOST_OF_LABEL and (_OF_ELSE.search(label) is not None or not _DATE_WORDS.isdisjoint(words))
    return bool(_others(label)) and (names or label.endswith(":"))


def _day_of(part: str) -> tuple[str, bool] | None:
    """The day of a part of a line, when it is nothing else."""
    dates = sorted(chain.from_iterable(form.finditer(part) for form in _DATES), key=re.Match.start)
    days = set(map(_day, dates))
    if len(days) != 1 or not (day := days.pop()):
        return None
    said = _said(part[: dates[0].start()])
    if said is None or not _may_stand_behind(part[dates[-1].end() :], said):
        return None
    return day, said


def _said(before: str) -> bool | None:
    """Do words before a date say that a text was published then? None: they say something else."""
    words = _WORDS.findall(_TIME.sub(" ", before))
    said = any(word.lower() in _PUBLISHING for word in words)
    by = _BY.search(before)
    others = _others(_TIME.sub(" ", before[by.end() :] if by else before))
    is_name = by is not None and not _others(before[: by.start()]) and (said or all(map(_is_capital, others)))
    return said if not others or is_name else None


def _others(text: str) -> list[str]:
    """The words that do not go with any date."""
    return [word for word in _WORDS.findall(text) if word.lower() not in _USUAL]


def _is_capital(word: str) -> bool:
    return word[0].isupper()


def _may_stand_behind(behind: str, said: bool) -> bool:
    """May this stand behind a date that is no part of a sentence: a time, names? `said`: to be that of publishing."""
    if len(behind) > _MOST_BESIDE or behind.strip()[-1:] in tuple("?!:"):
        return False
    return said or _BY.search(behind) is not None or all(map(_is_capital, _others(_TIME.sub(" ", behind))))


def _day(match: re.Match[str]) -> str:
    parts = match.groupdict()
    year, month, day = int(parts["year"]), 0, 0
    if parts.get("one"):
        one, two = int(parts["one"]), int(parts["two"])
        if parts["sign"] == "." or one > 12 or one == two:
            day, month = one, two
        elif two > 12:
            day, month = two, one
    else:
        day, month = int(parts["day"]), month_of(parts["name"]) if parts.get("name") else int(parts["month"])
    try:
        return date(year, month, day).isoformat() if year >= FIRST_YEAR else ""
    except ValueError:
        return ""


def _names(part: str) -> list[str]:
    by = _BY.match(part)
    if by is None or by[0].lower().startswith("published"):
        return []  # who publishes a text need not have written it
    rest = part[by.end() :]
    dates = [match.start() for form in _DATES for match in form.finditer(rest)]
    rest = rest[: min(dates, default=len(rest))]
    names = []
    for name in _AND.split(rest):
        found = _PERSON.match(name.strip())
        if found is None or _NO_PERSON.search(name) or _is_of_date(found[0]):
            break
        if _others(name.strip()[found.end() :]):
            return []
        names.append(found[0])
    commas_alone = all(sign[0].strip() in (",", ";") for sign in _AND.finditer(rest))
    return names if len(names) < 2 or not commas_alone else []  # "By Thandi Dlamini, Cape Town"


def _is_of_date(name: str) -> bool:
    """Does it begin with a month or weekday ("Ka Labone …", on Thursday)?"""
    first = name.split()[0]
    return month_of(first) > 0 or not _others(first)
