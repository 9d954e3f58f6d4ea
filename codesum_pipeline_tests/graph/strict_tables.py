"""Files of declared languages of which one may read only what it has asked for: anything else raises
`UnrecordedRead`."""

from collections.abc import Iterator, Set
from typing import Any

from codesum_pipeline.foundation.data_model.scopes import Scope
from codesum_pipeline.graph.resolvers.rule_based_languages.declared_resolver import DeclaredResolver
from codesum_pipeline.languages.declarations.name_tree import HAS, NAME, NameTree, Question, Table
from codesum_pipeline.languages.declarations.rules import TellingNames
from codesum_pipeline_tests.graph.strict_reading import UnrecordedRead

# What no other file may read of one.
_HIDDEN = (
    "imports", "_code", "other_names", "held", "constants", "private_constants", "extensions",
    "definitions",
)  # fmt: skip


class Poison:
    """What must not be read."""

    def __init__(self, what: str) -> None:
        self._what = what

    def _fail(self, *_: Any) -> Any:
        raise UnrecordedRead(self._what)

    __getattr__ = __getitem__ = __iter__ = __contains__ = __len__ = __bool__ = __sub__ = __rsub__ = _fail


class StrictRows(dict[Any, Any]):
    """The rows of a table, or the names of a scope."""

    def __init__(self, rows: Any, values: Set[Any], keys: Set[Any], what: str) -> None:
        super().__init__({key: rows[key] for key in values if key in rows})
        self._present = {key for key in keys if key in rows}
        self._values, self._keys, self._what = values, keys, what

    def get(self, key: Any, default: Any = None) -> Any:
        if key not in self._values:
            raise UnrecordedRead(f"{self._what}: {key}")
        return super().get(key, default)

    def __getitem__(self, key: Any) -> Any:
        self.get(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        if key not in self._keys and key not in self._values:
            raise UnrecordedRead(f"whether {self._what}: {key}")
        return super().__contains__(key) or key in self._present

    def __iter__(self) -> Iterator[Any]:
        raise UnrecordedRead(f"all of {self._what}")

    items = keys = values = __iter__  # type: ignore[assignment]


def poison(resolver: DeclaredResolver, own: str) -> None:
    """Leave nothing to be read but the file at `own` and what `resolver` has just asked for it."""
    tree, asked = resolver.tree, resolver.tree.asked
    for kind, table in tree.tables.items():
        values, keys = _keys(asked, kind), _keys(asked, f"{HAS}{kind}")
        table.rows = StrictRows(table.rows, values, keys, kind)
    names: dict[Scope, set[str]] = {}
    for scope, name in _keys(asked, NAME):
        names.setdefault(scope, set()).add(name)
    exported = _keys(asked, "exported")
    for path, file in resolver.files.items():
        if path == own:
            continue
        for scope in file.scopes:
            allowed = names.get(scope, set())
            scope.names = StrictRows(scope.names, allowed, allowed, f"names of {scope.id}")
        for field in (*_HIDDEN, *(() if file in exported else ("exports", "reexports"))):
            setattr(file, field, Poison(f"{field} of {path}"))
        resolver.names.imports[path] = Poison(f"imports of {path}")  # type: ignore[assignment]
        resolver.members.extended.pop(path, None)
    for kept in (resolver.names._members, resolver.names._shown, resolver.names._owners, resolver.members._own):
        kept.clear()
    rules = resolver.rules
    # What is made of project files: all imports are known by now.
    for name, value in vars(rules).items():
        if rules.read_in_projects() is None and not isinstance(value, (frozenset, NameTree, Table, TellingNames)):
            setattr(rules, name, Poison(f"{name} of rules"))
    tree.files = Poison("all files")  # type: ignore[assignment]


def _keys(asked: Set[Question], kind: str) -> set[Any]:
    return {key for of, key in asked if of == kind}
