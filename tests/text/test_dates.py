"""A question's time is read as people mean it, and nothing else is taken for a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helix.text.times.dates import EARLIEST, LATEST, time_range

NOW = datetime(2023, 6, 15, 10, 30, tzinfo=UTC)  # a Thursday


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did we decide yesterday?", "2023-06-14", "2023-06-15"),
        ("what broke the day before yesterday", "2023-06-13", "2023-06-14"),
        ("what failed last night", "2023-06-14T18:00", "2023-06-15T06:00"),
        ("What happened this morning?", "2023-06-15T05:00", "2023-06-15T12:00"),
        ("the deploy of yesterday evening", "2023-06-14T18:00", "2023-06-15"),
        ("Which tests failed last week?", "2023-06-05", "2023-06-12"),
        ("what did I do this week", "2023-06-12", "2023-06-19"),
        ("What game did I beat last weekend?", "2023-06-10", "2023-06-12"),
        ("what did I cook over the weekend", "2023-06-10", "2023-06-12"),
        ("last month's outage", "2023-05-01", "2023-06-01"),
        ("last quarter", "2023-01-01", "2023-04-01"),
        ("Where did John travel last year?", "2022-01-01", "2023-01-01"),
        ("in the last month", "2023-05-15", "2023-06-16"),
        ("the past two weeks", "2023-06-01", "2023-06-16"),
        ("over the last few days", "2023-06-08", "2023-06-16"),
        ("3 days ago", "2023-06-12", "2023-06-13"),
        ("two weeks ago", "2023-05-29", "2023-06-05"),
        ("a couple of weeks ago", "2023-05-29", "2023-06-05"),
        ("an hour ago", "2023-06-15T09:00", "2023-06-15T10:00"),
    ],
)
def test_relative_times_are_counted_from_now(question: str, start: str, end: str) -> None:
    assert time_range(question, NOW) == (day(start), day(end))


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("on Tuesday", "2023-06-13", "2023-06-14"),
        ("on Thursday", "2023-06-15", "2023-06-16"),
        ("last Thursday", "2023-06-08", "2023-06-09"),
        ("next Friday", "2023-06-16", "2023-06-17"),
        ("what did she say Monday?", "2023-06-12", "2023-06-13"),
        ("on Monday morning", "2023-06-12T05:00", "2023-06-12T12:00"),
        ("on Monday, 8 May 2023", "2023-05-08", "2023-05-09"),
        ("on 7 May", "2023-05-07", "2023-05-08"),
        ("on July 4th", "2022-07-04", "2022-07-05"),
        ("on 29 February", "2020-02-29", "2020-03-01"),
        ("on the 3rd of March, 2021", "2021-03-03", "2021-03-04"),
        ("on October 13, 2023", "2023-10-13", "2023-10-14"),
        ("the release of October 19, 1864", "1864-10-19", "1864-10-20"),
        ("2023-05-08", "2023-05-08", "2023-05-09"),
        ("since then, at 2023-05-08T13:56:00Z, it fails", "2023-05-08", "2023-05-09"),
        ("on 13/5/2023", "2023-05-13", "2023-05-14"),
        ("am 08.05.2023", "2023-05-08", "2023-05-09"),
        ("May 3-7, 2023", "2023-05-03", "2023-05-08"),
    ],
)
def test_days_are_read_in_every_common_writing(question: str, start: str, end: str) -> None:
    assert time_range(question, NOW) == (day(start), day(end))


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("what did melanie do in may?", "2023-05-01", "2023-06-01"),
        ("in July", "2022-07-01", "2022-08-01"),
        ("last June", "2022-06-01", "2022-07-01"),
        ("in 2021", "2021-01-01", "2022-01-01"),
        ("Q2 2024", "2024-04-01", "2024-07-01"),
        ("in Q4", "2022-10-01", "2023-01-01"),
        ("the second half of 2022", "2022-07-01", "2023-01-01"),
        ("in the summer of 2022", "2022-06-01", "2022-09-01"),
        ("last winter", "2022-12-01", "2023-03-01"),
        ("in the 1990s", "1990-01-01", "2000-01-01"),
        ("the end of May", "2023-05-21T16:00", "2023-06-01"),
        ("between June and August 2023", "2023-06-01", "2023-09-01"),
        ("between November and January 2023", "2022-11-01", "2023-02-01"),
        ("from June to August", "2022-06-01", "2022-09-01"),
        ("from May 2022 to August", "2022-05-01", "2022-09-01"),
        ("from 2019 to 2021", "2019-01-01", "2022-01-01"),
        ("in 2019-2021", "2019-01-01", "2022-01-01"),
        ("the photos from last week", "2023-06-05", "2023-06-12"),
    ],
)
def test_longer_times_are_whole_calendar_units(question: str, start: str, end: str) -> None:
    assert time_range(question, NOW) == (day(start), day(end))


def test_bounds_leave_the_other_end_open() -> None:
    assert time_range("what changed since March", NOW) == (day("2023-03-01"), LATEST)
    assert time_range("since early 2022", NOW) == (day("2022-01-01"), LATEST)
    assert time_range("everything from May on", NOW) == (day("2023-05-01"), LATEST)
    assert time_range("after 7 May 2023", NOW) == (day("2023-05-08"), LATEST)
    assert time_range("decisions before 2022", NOW) == (EARLIEST, day("2022-01-01"))
    assert time_range("until last week", NOW) == (EARLIEST, day("2023-06-12"))


def test_a_time_before_the_earliest_still_has_a_start_before_its_end() -> None:
    assert time_range("before 1960", NOW) == (datetime.min.replace(tzinfo=UTC), day("1960-01-01"))


@pytest.mark.parametrize(
    "question",
    [
        "you may fix it",
        "May I merge this?",
        "this may contribute to the leak",
        "it may 7 times out of ten",
        "the ants march on",
        "In March on Washington",
        "a talk by June Lockhart",
        "convert hex to dec 10",
        "the second attempt took a second",
        "fall back to polling",
        "in the fall back path",
        "Spring Boot",
        "upgrade to 1.2.3",
        "v2022.1 and 2022.1.3",
        "issue #2022",
        "closes #2022 and GH-2021",
        "allocates 2048 bytes",
        "fails in 2000 lines",
        "1500 out of 2000",
        "limit of 2048",
        "listens on port 2020",
        "CVE-2022-1234",
        "see foo_2022_bar and report2021.pdf",
        "logs/2022-01-02.txt",
        "in 3022",
        "on 31 June",
        "05/08/2023",
        "the Monday meeting notes",
        "half an hour ago",
        "",
    ],
)
def test_nothing_else_is_taken_for_a_time(question: str) -> None:
    assert time_range(question, NOW) is None


def test_the_more_precise_of_nested_times_counts() -> None:
    assert time_range("In 2023, what did she do on 7 May 2023?", NOW) == (day("2023-05-07"), day("2023-05-08"))


def test_days_begin_at_midnight_where_the_asker_is() -> None:
    asked = datetime(2023, 6, 15, 1, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    assert time_range("yesterday", asked) == (day("2023-06-13T22:00"), day("2023-06-14T22:00"))


def test_a_naive_now_is_utc() -> None:
    assert time_range("yesterday", NOW.replace(tzinfo=None)) == time_range("yesterday", NOW)


_VOCABULARY = (
    "on in since before after between and to from until by the of last next this past few couple a an 3 7 9999 "
    "2022 1969 Q2 H1 May may march June Feb 29 31 Monday tuesday day days week weeks weekend month year decade "
    "ago minute hours quarter second half early late mid end summer winter yesterday today tonight morning night "
    "2023-05-08 2024-02-30 31/12/2023 1990s"
)
_WORDS = st.sampled_from([*_VOCABULARY.split(), "-", ",", "?"])


@given(
    st.one_of(st.text(max_size=200), st.lists(_WORDS, max_size=12).map(" ".join)),
    st.datetimes(timezones=st.sampled_from([UTC, ZoneInfo("Asia/Kathmandu"), ZoneInfo("America/New_York")])),
)
@example("9999 decades ago", datetime.min.replace(tzinfo=UTC))
@example("next decade", datetime.max.replace(tzinfo=UTC))
@example("since tomorrow", datetime.max.replace(tzinfo=UTC))
@example("last w\u0131nter", NOW)
def test_any_text_at_any_time_gives_a_range_or_nothing(text: str, now: datetime) -> None:
    found = time_range(text, now)
    assert found == time_range(text, now)
    if found is not None:
        start, end = found
        assert start < end <= LATEST
        assert start.utcoffset() == end.utcoffset() == timedelta(0)
