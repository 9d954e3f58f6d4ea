"""The last resort: a method that only one class of a family of languages has.

A name alone proves little, so all of this must hold: nothing is known about
the object; nothing else of the family is called so; the name is long enough and
of two words, and neither the languages' own library nor a well-known package has
such a method; and the calling file is the method's own, or imports it.
"""

import re
from collections.abc import Callable, Collection
from functools import cache

from msgspec import Struct

from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.graph.scopes import Scope, ScopedFile
from codesum_pipeline.graph.values import UNKNOWN, FunctionValue, Value


class TellingNames(Struct, frozen=True):
    """The names that one class alone is likely to have."""

    least_length: int
    two_words: re.Pattern[str]
    common: frozenset[str]

    def __contains__(self, name: str) -> bool:
        return len(name) >= self.least_length and name not in self.common and bool(self.two_words.search(name))


class UniqueNames:
    """`only_method` gives the method that is all that a name means, `imported` the files that a file takes in."""

    def __init__(
        self,
        telling: TellingNames,
        only_method: Callable[[str], Scope | None],
        imported: Callable[[ScopedFile], Collection[str]],
    ) -> None:
        self._telling = telling
        self._only_method = only_method
        self._imported = cache(imported)

    def find(self, file: ScopedFile, name: str) -> Value:
        """The only method that a call of an unknown object's method can mean."""
        method = self._only_method(name) if name in self._telling else None
        if method is None or not (method.file is file or method.file.path in self._imported(file)):
            return UNKNOWN
        return FunctionValue(method, Reason.UNIQUE_NAME)
