"""A schedule has one moment on each local day it names, whatever the clocks of its zone do."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.standing_question import Cadence, IntentSchedule, Weekday
from codesum_pipeline.notifications.intents.due_moments import last_due, next_due

# Jumps of an hour, of half an hour and of a day; at midnight, before it, twice a year and by decree; odd offsets.
ZONES = [
    "UTC",
    "Africa/Casablanca",
    "America/Asuncion",
    "America/Caracas",
    "America/Havana",
    "America/Nuuk",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Dublin",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
]
SCHEDULES = st.builds(
    IntentSchedule,
    cadence=st.sampled_from([Cadence.DAILY, Cadence.WEEKLY]),
    at=st.times().map(lambda moment: moment.replace(second=0, microsecond=0)),
    weekday=st.sampled_from(Weekday),
    timezone=st.sampled_from(ZONES),
)
MOMENTS = st.datetimes(datetime(1969, 6, 1), datetime(2035, 1, 1), timezones=st.just(UTC))


def daily(at: str, timezone: str) -> IntentSchedule:
    return IntentSchedule(Cadence.DAILY, time.fromisoformat(at), timezone=timezone)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def moments(schedule: IntentSchedule, start: datetime, end: datetime) -> list[datetime]:
    """All that are due between two moments, as a process that looks every quarter of an hour finds them."""
    found = {
        last_due(schedule, start + timedelta(minutes=15 * step))
        for step in range(int((end - start) / timedelta(minutes=15)))
    }
    return sorted(moment for moment in found if moment and moment > start)


@pytest.mark.parametrize(
    ("schedule", "now", "due"),
    [
        (daily("07:00", "UTC"), "2026-03-01T07:00", "2026-03-01T07:00"),
        (daily("07:00", "UTC"), "2026-03-01T06:59:59", "2026-02-28T07:00"),
        (daily("07:00", "Europe/Berlin"), "2026-07-01T05:00", "2026-07-01T05:00"),
        (daily("07:00", "Europe/Berlin"), "2026-01-01T05:30", "2025-12-31T06:00"),
        (daily("07:00", "Asia/Kathmandu"), "2026-01-01T01:15", "2026-01-01T01:15"),
        (daily("23:59", "Pacific/Kiritimati"), "2026-01-01T10:00", "2026-01-01T09:59"),
        (IntentSchedule(Cadence.WEEKLY), "2026-03-01T12:00", "2026-02-23T07:00"),
        (IntentSchedule(Cadence.WEEKLY, weekday=Weekday.SUNDAY), "2026-03-01T12:00", "2026-03-01T07:00"),
        (
            IntentSchedule(Cadence.WEEKLY, time(0, 30), Weekday.MONDAY, "Pacific/Auckland"),
            "2026-03-01T11:30",
            "2026-03-01T11:30",
        ),
    ],
)
def test_the_latest_moment_is_in_the_time_of_its_zone(schedule: IntentSchedule, now: str, due: str) -> None:
    assert last_due(schedule, utc(now)) == utc(due)


@pytest.mark.parametrize(
    ("schedule", "day", "due"),
    [
        # 02:00 to 03:00 are skipped: half past two is half past three.
        (daily("02:30", "Europe/Berlin"), "2026-03-29", ["2026-03-29T01:30"]),
        # 02:00 to 03:00 come twice.
        (daily("02:30", "Europe/Berlin"), "2026-10-25", ["2026-10-25T00:30"]),
        # Half an hour is skipped, and comes twice.
        (daily("02:15", "Australia/Lord_Howe"), "2026-10-04", ["2026-10-03T15:45"]),
        (daily("01:45", "Australia/Lord_Howe"), "2026-04-05", ["2026-04-04T14:45"]),
        # Midnight itself is skipped.
        (daily("00:30", "Asia/Beirut"), "2026-03-29", ["2026-03-28T22:30"]),
        # The last hour of a day is skipped: half past eleven would be the next day, and is half past ten.
        (daily("23:30", "America/Nuuk"), "2024-03-30", ["2024-03-31T00:30"]),
        # The whole day is.
        (daily("07:00", "Pacific/Apia"), "2011-12-30", []),
        # Its last half hour is, by decree: a quarter to twelve is a quarter past eleven.
        (daily("23:45", "Asia/Pyongyang"), "2018-05-04", ["2018-05-04T14:45"]),
    ],
)
def test_a_time_that_is_skipped_or_comes_twice_has_one_digest(
    schedule: IntentSchedule, day: str, due: list[str]
) -> None:
    zone, noon = ZoneInfo(schedule.timezone), datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=UTC)

    found = moments(schedule, noon - timedelta(days=3), noon + timedelta(days=3))

    assert [moment for moment in found if moment.astimezone(zone).date() == date.fromisoformat(day)] == [
        utc(text) for text in due
    ]
    days = [moment.astimezone(zone).date() for moment in found]
    assert len(set(days)) == len(days)


def test_a_build_is_never_due_by_the_clock() -> None:
    assert last_due(IntentSchedule(), utc("2026-01-01T12:00")) is None
    assert next_due(IntentSchedule(), utc("2026-01-01T12:00")) is None


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="a moment has a zone"):
        last_due(daily("07:00", "UTC"), utc("2026-01-01").replace(tzinfo=None))


@given(SCHEDULES, MOMENTS, st.timedeltas(timedelta(0), timedelta(days=40)))
@settings(max_examples=150, deadline=None)
def test_it_never_goes_back_while_the_clock_does_not(schedule: IntentSchedule, now: datetime, later: timedelta) -> None:
    first, second = last_due(schedule, now), last_due(schedule, now + later)

    assert first is not None and second is not None
    assert first <= now and first <= second <= now + later
    assert last_due(schedule, first) == first


@given(SCHEDULES, MOMENTS)
@settings(max_examples=60, deadline=None)
def test_no_local_day_has_two_moments_and_only_its_own_weekdays_have_one(
    schedule: IntentSchedule, now: datetime
) -> None:
    zone, found = ZoneInfo(schedule.timezone), []
    for _ in range(20):
        following = next_due(schedule, now)
        assert following is not None and following > now
        assert last_due(schedule, following) == following
        found.append(now := following)

    days = [moment.astimezone(zone).date() for moment in found]
    assert len(set(days)) == len(days)
    if schedule.cadence is Cadence.WEEKLY:
        assert {day.weekday() for day in days} == {schedule.weekday}
        assert all((after - before).days in (7, 14) for before, after in pairwise(days))
    else:
        assert all((after - before).days in (1, 2) for before, after in pairwise(days))


@given(SCHEDULES, MOMENTS, st.timedeltas(timedelta(0), timedelta(hours=30)))
@settings(max_examples=60, deadline=None)
def test_a_clock_that_went_back_finds_nothing_new(schedule: IntentSchedule, now: datetime, by: timedelta) -> None:
    served = last_due(schedule, now)
    again = last_due(schedule, now - by)

    assert served is not None and again is not None and again <= served
