"""Dates as pages write them."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance.pages.instants import days_apart, instant, is_after


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("2024-05-31", "2024-05-31"),
        (" 2024/5/31 ", "2024-05-31"),
        ("20240531", "2024-05-31"),
        ("2024-05-31T10:20:30+02:00", "2024-05-31T10:20:30+02:00"),
        ("2024-05-31T10:20:30.123Z", "2024-05-31T10:20:30Z"),
        ("2024-05-31 10:20:30 -0500", "2024-05-31T10:20:30-05:00"),
        ("2024-05-31T10:20+02", "2024-05-31T10:20:00+02:00"),
        ("20240531T102030Z", "2024-05-31T10:20:30Z"),
        ("Fri, 31 May 2024 10:20:30 GMT", "2024-05-31T10:20:30Z"),
        ("Fri May 31 10:20:30 UTC 2024", "2024-05-31T10:20:30Z"),
        ("May 31st, 2024 at 1:05 pm UTC", "2024-05-31T13:05:00Z"),
        ("May 31, 2024 12:30 pm UTC", "2024-05-31T12:30:00Z"),
        ("May 31, 2024 12:05 am UTC", "2024-05-31T00:05:00Z"),
        ("2024/05/31 00:00:07 UTC", "2024-05-31T00:00:07Z"),
        ("2024-05-31T00:30:00Z", "2024-05-31T00:30:00Z"),
        ("31 May 2024", "2024-05-31"),
        ("31.5.2024", "2024-05-31"),
        ("5/31/2024", "2024-05-31"),
        ("5/13/2024", "2024-05-13"),
        ("31/5/2024", "2024-05-31"),
        ("5/5/2024", "2024-05-05"),
        ("31-05-2024", "2024-05-31"),
        ("05-31-2024 05:53", "2024-05-31"),
        ("5.6.2024", "2024-06-05"),
        ("1990-01-01", "1990-01-01"),
        ("2024-05-31T10:20:30+14:59", "2024-05-31T10:20:30+14:59"),
        ("2024/05/31 10:20:30 +14:59", "2024-05-31T10:20:30+14:59"),
    ],
)
def test_forms(written: str, told: str) -> None:
    assert instant(written) == told


@pytest.mark.parametrize(
    "written", ["2024-05-31T10:20:30", "2024-05-31 10:20:30 EST", "2024-05-31T00:00:00Z", "2024-05-31T00:00:00+02:00"]
)
def test_a_time_without_its_zone_and_midnight_are_a_day(written: str) -> None:
    assert instant(written) == "2024-05-31"


@pytest.mark.parametrize(
    "written",
    [
        *(
            "",
            "0000-00-00",
            "0000-00-00 00:00:00",
            "0001-01-01T00:00:00Z",
            "1970-01-01T01:00:00+01:00",
            "1989-12-31",
            "31.12.1989",
        ),
        *("5/6/2024", "5-6-2024", "12-12.2024", "2024-05-31T10:20:30+15:00", "2024/05/31 10:20:30 +15:00"),
        *("2024-02-30", "2024-13-01", "2024-05-31T25:00:00Z", "2024-05-31T10:20:30+99:00", "13:00 pm"),
        *(
            "2024",
            "2024-05",
            "1717144830",
            "yesterday",
            "31 Meyi 2024",
            "30 Marraskuu 2024",
            "2024-05-31 and more",
            "٢٠٢٤-٠٥-٣١",
        ),
        *("2024-05-31" + " " * 100, "9" * 5000, "31 May 2024 0:20 pm UTC"),
    ],
)
def test_no_dates(written: str) -> None:
    assert instant(written) == ""


@given(st.text(max_size=80) | st.from_regex(r"[0-9:/. TZ+-]{8,40}"))
def test_any_text_is_a_date_that_is_read_again_or_none(text: str) -> None:
    told = instant(text)
    assert not told or instant(told) == told


@given(st.dates(min_value=date(1990, 1, 1)))
def test_every_day_is_read(day: date) -> None:
    assert instant(day.isoformat()) == instant(f"{day:%d.%m.%Y}") == instant(f"{day:%a, %d %b %Y}") == day.isoformat()


def test_days_between() -> None:
    assert days_apart("2024-05-31T23:00:00Z", "2024-06-01") == 1
    assert not is_after("2024-06-01", "2024-05-31")
    assert is_after("2024-06-02", "2024-05-31")
