"""The last resort: a method that only one class of a family has.

A name alone proves little, so all of this must hold: nothing is known about
the object; nothing else of the family is called so; the name has two words at
least; and the calling file is the method's own, or takes in its file.
"""

import re

from codesum_pipeline.graph.common_methods import COMMON_METHODS
from codesum_pipeline.graph.declared.definitions import Definition, Place
from codesum_pipeline.graph.declared.tree import NameTree
from codesum_pipeline.graph.declared.values import Defined
from codesum_pipeline.graph.reasons import Reason

_LEAST_LENGTH = 8
_TWO_WORDS = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")


class UniqueMethods:
    """The methods that can be told by their name; `imports` are the files that each takes in."""

    def __init__(self, tree: NameTree, imports: dict[str, set[str]]) -> None:
        self._tree = tree
        self._imports = imports

    def find(self, place: Place, name: str) -> Defined | None:
        """The only method that a call of an unknown object's method can mean."""
        if len(name) < _LEAST_LENGTH or not _TWO_WORDS.search(name) or name in COMMON_METHODS:
            return None
        found = self._tree.by_name.get(name, ())
        if len(found) != 1 or not self._is_method(found[0]):
            return None
        path = found[0].file.path
        is_near = path == place.file.path or path in self._imports.get(place.file.path, ())
        return Defined((found[0],), Reason.UNIQUE_NAME) if is_near else None

    def _is_method(self, definition: Definition) -> bool:
        return not definition.is_class and definition.key[:-1] in self._tree.classes
