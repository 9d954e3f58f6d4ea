"""Now, and moments as they are written down: the order of their letters is that of time."""

import time
from datetime import UTC, datetime

_LAST_SECOND = 253_402_300_799
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


def moment_of(seconds: str) -> str:
    """A commit's time, as git writes it, as ISO 8601 in UTC; one that no calendar has becomes the nearest."""
    return moment_at(max(0, min(int(seconds or 0), _LAST_SECOND)))


def moment_at(seconds: float) -> str:
    """A time in seconds since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def age_in_words(since: float) -> str:
    """How long ago, in its largest unit: `3 d`, `5 min`."""
    seconds = max(0.0, time.time() - since)
    length, unit = next((each for each in _UNITS if seconds >= each[0]), (1, "s"))
    return f"{int(seconds // length)} {unit}"


def iso_moment(moment: datetime) -> str:
    """As ISO 8601 in UTC to the millisecond."""
    utc = moment.astimezone(UTC)
    return f"{utc.strftime('%Y-%m-%dT%H:%M:%S')}.{utc.microsecond // 1000:03d}Z"
