"""What models cost each repository on a day, as all workers of a bucket see it.

The amount is in the object's name, so that one listing tells the sum. Within a
day it only rises.
"""

from datetime import date

from codesum_pipeline.store.objects import Objects

_SPENDING = "spending/"
_MICRO = 1_000_000


def note_spending(objects: Objects, key: str, *, day: date, usd: float) -> None:
    """Note what a repository came to so far on a day (UTC)."""
    objects.put(f"{_SPENDING}{day.isoformat()}/{key}/{round(usd * _MICRO):015}", b"")


def spending_of_all(objects: Objects, *, day: date) -> float:
    """US dollars of all repositories on a day, as their workers last noted them."""
    highest: dict[str, int] = {}
    for info in objects.infos(f"{_SPENDING}{day.isoformat()}/"):
        folder, _, amount = info.name.rpartition("/")
        highest[folder] = max(highest.get(folder, 0), int(amount))
    return sum(highest.values()) / _MICRO
