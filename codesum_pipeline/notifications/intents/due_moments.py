"""When an intent has its digest, in the time of its own zone, whatever its clocks do.

A schedule has one moment on each local day that it names. A time that the
clocks skip is moved by as much as they jump, within the same day; of one that
comes twice, the first counts. A day that a zone left out has no moment. Two
processes, and one whose clock went back, so find the same moments: who keeps
the last one that was served serves none twice.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from codesum_pipeline.foundation.data_model.standing_question import Cadence, IntentSchedule

# A week, twice: the one day of a week may be one that its zone left out. One more for the zones' difference.
_REACH_DAYS = 15


def last_due(schedule: IntentSchedule, now: datetime) -> datetime | None:
    """The latest moment of a schedule that is not after `now`, in UTC; None with each build.

    `now` has a zone. It never decreases while `now` does not.
    """
    return max((moment for moment in _moments(schedule, now) if moment <= now), default=None)


def next_due(schedule: IntentSchedule, now: datetime) -> datetime | None:
    """The first moment of a schedule after `now`, in UTC; None with each build."""
    return min((moment for moment in _moments(schedule, now) if moment > now), default=None)


def _moments(schedule: IntentSchedule, now: datetime) -> Iterator[datetime]:
    if now.tzinfo is None:
        raise ValueError(f"{now}: a moment has a zone")
    if schedule.cadence is Cadence.BUILD:
        return
    zone = ZoneInfo(schedule.timezone)
    today = now.astimezone(zone).date()
    for distance in range(-_REACH_DAYS, _REACH_DAYS + 1):
        day = today + timedelta(days=distance)
        if schedule.cadence is Cadence.DAILY or day.weekday() == schedule.weekday:
            moment = _moment_of(day, schedule.at, zone)
            if moment is not None:
                yield moment


def _moment_of(day: date, at: time, zone: ZoneInfo) -> datetime | None:
    """The one moment of a local day, in UTC; None if the zone left that day out."""
    written = datetime.combine(day, at, tzinfo=zone)
    # The first of two, and of none: as much after the jump as the clocks then jump.
    first = written.astimezone(UTC)
    if first.astimezone(zone).date() == day:
        return first
    # A jump over midnight: as much before it.
    before = written.replace(fold=1).astimezone(UTC)
    return before if before.astimezone(zone).date() == day else None
