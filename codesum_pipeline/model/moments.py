"""Moments as they are written down, such that their order is that of their letters."""

from datetime import UTC, datetime


def iso_moment(moment: datetime) -> str:
    """As ISO 8601 in UTC to the millisecond."""
    utc = moment.astimezone(UTC)
    return f"{utc.strftime('%Y-%m-%dT%H:%M:%S')}.{utc.microsecond // 1000:03d}Z"
