"""Now, and moments as they are written down: the order of their letters is that of time."""

from datetime import UTC, datetime

_LAST_SECOND = 253_402_300_799


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


def moment_of(seconds: str) -> str:
    """A commit's time, as git writes it, as ISO 8601 in UTC; one that no calendar has becomes the nearest that one
    has."""
    found = datetime.fromtimestamp(max(0, min(int(seconds or 0), _LAST_SECOND)), UTC)
    return found.strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_moment(moment: datetime) -> str:
    """As ISO 8601 in UTC to the millisecond."""
    utc = moment.astimezone(UTC)
    return f"{utc.strftime('%Y-%m-%dT%H:%M:%S')}.{utc.microsecond // 1000:03d}Z"
