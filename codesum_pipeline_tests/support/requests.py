"""How often buckets are asked for something."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import obstore
import pytest

KINDS = ("get", "put", "list", "delete")


@contextmanager
def counted_requests() -> Iterator[Counter[str]]:
    """What all buckets of this process are asked for within the block, by kind."""
    found: Counter[str] = Counter()

    def counting(kind: str, ask: Callable[..., Any]) -> Callable[..., Any]:
        def ask_and_count(*arguments: Any, **keywords: Any) -> Any:
            found[kind] += 1
            return ask(*arguments, **keywords)

        return ask_and_count

    with pytest.MonkeyPatch.context() as patch:
        for kind in KINDS:
            patch.setattr(obstore, kind, counting(kind, getattr(obstore, kind)))
        yield found
