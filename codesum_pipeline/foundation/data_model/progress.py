"""How a long step says how far it is."""

from typing import Protocol


class Progress(Protocol):
    """Called now and then with what is being done and how much of it is done."""

    def __call__(self, doing: str, done: int, total: int) -> None: ...


def no_progress(doing: str, done: int, total: int) -> None:
    """For callers that nobody watches."""
