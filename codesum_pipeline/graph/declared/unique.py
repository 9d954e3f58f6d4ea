"""The last resort: a method that only one class of a family has.

A name alone proves little, so all of this must hold: nothing is known about
the object; nothing else of the family is called so; the name has two words at
least, and the languages' own library has no such method; and the calling file is
the method's own, or takes in its file.
"""

import re
from collections.abc import Container

from codesum_pipeline.graph.declared.definitions import CodePlace, ScopeDefinition
from codesum_pipeline.graph.declared.tree import NameTree
from codesum_pipeline.graph.declared.values import NamedDefinitions
from codesum_pipeline.graph.reasons import Reason

_LEAST_LENGTH = 8
_TWO_WORDS = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")


class UniqueMethods:
    """The methods that can be told by their name; `imports` are the files that each takes in.

    `common` are the names that the library of the languages has too.
    """

    def __init__(self, tree: NameTree, imports: dict[str, set[str]], common: Container[str]) -> None:
        self._tree = tree
        self._imports = imports
        self._common = common

    def find(self, place: CodePlace, name: str) -> NamedDefinitions | None:
        """The only method that a call of an unknown object's method can mean."""
        if not is_telling(name) or name in self._common:
            return None
        found = self._tree.by_name.get(name, ())
        if len(found) != 1 or not self._is_method(found[0]):
            return None
        path = found[0].file.path
        is_near = path == place.file.path or path in self._imports.get(place.file.path, ())
        return NamedDefinitions((found[0],), Reason.UNIQUE_NAME) if is_near else None

    def _is_method(self, definition: ScopeDefinition) -> bool:
        return not definition.is_class and definition.key[:-1] in self._tree.classes


def is_telling(name: str) -> bool:
    """Whether a name is long enough, and of two words, as those are that one class alone is likely to have."""
    return len(name) >= _LEAST_LENGTH and _TWO_WORDS.search(name) is not None
