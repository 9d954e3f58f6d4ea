"""One bad item stops nobody: the one guard around the work on each file, symbol, document or question.

An unexpected error belongs to the item in which it happened: it is kept with its traceback, the item has no result, and
the others go on. Errors that concern more than one item pass: the package's own (except a refused text), those of the
system, and lack of memory.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Self, TypeVar

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.errors import CodesumError, RefusedText
from codesum_pipeline.foundation.data_model.printable import shorten_text

# A full disk, a broken store or too little memory would fail the next item, too.
PASSING = (CodesumError, OSError, MemoryError, SystemError)
_MOST_CHARACTERS = 300

Item = TypeVar("Item")
Result = TypeVar("Result")


class Failure(Struct, frozen=True):
    """An item that a step could not work on: its path or id, why, and where in the code (empty if not an error).

    One that `is_settled` fails again unless its content or a setting changes, so it is not tried before.
    """

    item: str
    reason: str
    traceback: str = ""
    is_settled: bool = False

    @classmethod
    def of(cls, item: str, error: BaseException) -> Self:
        """An unexpected error."""
        return cls(item, describe_error(error), _storable("".join(traceback.format_exception(error))))


def describe_error(error: BaseException) -> str:
    """An error in one line: its kind and what it says."""
    message = shorten_text(" ".join(str(error).split()), _MOST_CHARACTERS)
    return _storable(f"{type(error).__name__}: {message}" if message else type(error).__name__)


def _storable(text: str) -> str:
    """A message can hold what UTF-8 cannot."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class FailureGuard(Struct):
    """Keeps the failures of one step: of each item the first."""

    _by_item: dict[str, Failure] = field(default_factory=dict)

    @contextmanager
    def item(self, name: str) -> Iterator[None]:
        """What happens in the block is about this item alone; an unexpected error ends the block, and nothing else."""
        try:
            yield
        except RefusedText as error:
            self.add([Failure.of(name, error)])
        except PASSING:
            raise
        except Exception as error:
            self.add([Failure.of(name, error)])
        except BaseException as error:
            # Where a library in Rust met a fault of its own: such errors are no `Exception`.
            if type(error).__module__ != "pyo3_runtime":
                raise
            self.add([Failure.of(name, error)])

    def add(self, failures: Iterable[Failure]) -> None:
        """Take in failures that were met elsewhere."""
        for failure in failures:
            self._by_item.setdefault(failure.item, failure)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """All, in the order in which they were met."""
        return tuple(self._by_item.values())

    @property
    def failed(self) -> Set[str]:
        """The items that failed."""
        return self._by_item.keys()


def guard_item(guard: FailureGuard | None, name: str) -> AbstractContextManager[None]:
    """As `FailureGuard.item`; without a guard every error passes, for a caller that wants all or nothing."""
    return guard.item(name) if guard else nullcontext()


def work_in_halves(
    items: Sequence[Item],
    work: Callable[[Sequence[Item]], Result],
    *,
    guard: FailureGuard,
    name: Callable[[Item], str],
    after_error: Callable[[], object] = lambda: None,
) -> Iterator[tuple[Sequence[Item], Result]]:
    """The work on items that go together: on all, else on as large parts of them as it succeeds on.

    An item on which it fails alone is a failure and in none of the parts. `after_error` raises where an error is not
    about the items.
    """
    if not items:
        return
    attempt = FailureGuard()
    results: list[Result] = []
    with attempt.item(name(items[0])):
        results.append(work(items))
    if results:
        yield items, results[0]
        return
    after_error()
    if len(items) == 1:
        guard.add(attempt.failures)
        return
    middle = len(items) // 2
    for half in (items[:middle], items[middle:]):
        yield from work_in_halves(half, work, guard=guard, name=name, after_error=after_error)
