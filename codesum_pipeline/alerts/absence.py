"""That nobody looked for a while, as where the daemon was down: who comes back says so, once.

While nobody looks nobody can tell; only whoever watches the process from outside can.
"""

from datetime import datetime, timedelta

from codesum_pipeline.alerts.announcing import keep_notice
from codesum_pipeline.alerts.book import AlertBook
from codesum_pipeline.model.moments import iso_moment
from codesum_pipeline.settings.operation import AlertSettings

_MARK = "looked"


def note_absence(book: AlertBook, settings: AlertSettings) -> None:
    """Remember that somebody looks now, and have it said where the last look is longer ago than it may be.

    In one transaction: of several that come back at once one tells.
    """
    with book.together():
        last, now = book.marks(_MARK).get(_MARK), book.now()
        if last is not None and settings.away_hours:
            _tell(book, datetime.fromisoformat(last), now, allowed=timedelta(hours=settings.away_hours))
        book.set_marks({_MARK: iso_moment(now)})


def _tell(book: AlertBook, last: datetime, now: datetime, *, allowed: timedelta) -> None:
    hours = (now - last) / timedelta(hours=1)
    if now - last <= allowed:
        return
    keep_notice(
        book,
        f"The daemon was away for {hours:,.1f} h",
        f"From {last:%Y-%m-%d %H:%M} to {now:%Y-%m-%d %H:%M} UTC nobody looked at the repositories and nobody was told "
        "of anything: Dagster's daemon was down, or its sensor alerts was stopped. What became late or failed "
        "meanwhile is told now, as it is found; nothing has to be done for that.",
    )
