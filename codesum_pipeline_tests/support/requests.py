"""How often buckets are asked for something, and how many bytes go there and come back."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import obstore
import pytest

KINDS = ("get", "put", "list", "delete")


class Requests(Counter[str]):
    """Requests by kind; the bytes of objects, or of parts of them, that were sent and fetched."""

    sent = 0
    fetched = 0

    def count(self, kind: str, arguments: tuple[Any, ...], answer: Any) -> None:
        """One request that was answered."""
        self[kind] += 1
        if kind == "put":
            self.sent += len(arguments[2])
        elif kind == "get":
            start, stop = answer.range
            self.fetched += stop - start


@contextmanager
def counted_requests() -> Iterator[Requests]:
    """What all buckets of this process are asked for within the block."""
    found = Requests()

    def counting(kind: str) -> Any:
        ask = getattr(obstore, kind)

        def ask_and_count(*arguments: Any, **keywords: Any) -> Any:
            try:
                answer = ask(*arguments, **keywords)
            except BaseException:
                found[kind] += 1
                raise
            found.count(kind, arguments, answer)
            return answer

        return ask_and_count

    with pytest.MonkeyPatch.context() as patch:
        for kind in KINDS:
            patch.setattr(obstore, kind, counting(kind))
        yield found
