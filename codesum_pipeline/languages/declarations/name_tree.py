"""All names of a family's files as tables: packages or files, and what is defined in them.

What the resolver reads of other files than the one that it resolves goes through these tables, or through `bindings`,
and is noted as a question (`graph/resolvers/rule_based_languages/declared_lookups.py` makes records of them). A row
stands for all that its scopes say but for the names that they bind.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from codesum_pipeline.foundation.data_model.bindings import Bound
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.scopes import Binding, Key, Scope, ScopedFile

_RECEIVER_WORDS = ("this.", "self.", "@", "$this->")
# The kind of a table, or `NAME` with a scope and a name; and a key.
Question = tuple[str, Any]
NAME = "name"
# Before the kind of a table: whether it has a key.
HAS = "has "

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Answer = TypeVar("Answer")


class Table(Generic[K, V]):
    """The `rows` of all files by key; `get` and `in` note what is asked. `rows` are for what is made before any file
    is resolved."""

    def __init__(self, tree: "NameTree", kind: str, rows: Any) -> None:
        self.rows: dict[K, V] = rows
        self._tree = tree
        self._kind, self._has = kind, f"{HAS}{kind}"

    def get(self, key: K, default: Any = None) -> Any:
        """The row of a key."""
        self._tree.asked.add((self._kind, key))
        return self.rows.get(key, default)

    def __contains__(self, key: object) -> bool:
        self._tree.asked.add((self._has, key))
        return key in self.rows


class AskedQuestions:
    """`asked` is what has been asked since the last `begin`, about others than the file that it began with."""

    def __init__(self) -> None:
        self.asked: set[Any] = set()
        self._own: ScopedFile | None = None

    def begin(self, file: ScopedFile) -> None:
        """Note what is asked from here on, but nothing about this file."""
        self._own, self.asked = file, set()

    def is_own(self, file: ScopedFile) -> bool:
        """Whether it is the file that it began with."""
        return file is self._own

    def once(self, kept: dict[Any, Any], key: Any, find: Callable[..., Answer], *about: Any) -> Answer:
        """An answer that is kept between files, together with what was asked for it."""
        if key not in kept:
            own, asked = self._own, self.asked
            self._own, self.asked = None, set()
            try:
                kept[key] = (find(*about), self.asked)
            finally:
                self._own, self.asked = own, asked
        answer: Answer = kept[key][0]
        self.asked |= kept[key][1]
        return answer


class NameTree(AskedQuestions):
    """The definitions of a family by key and by name, and what is said of the fields of its classes."""

    def __init__(self, files: Mapping[str, ScopedFile], guard: FailureGuard) -> None:
        super().__init__()
        self.files = files
        self.tables: dict[str, Table[Any, Any]] = {}
        self.entries: Table[Key, list[Scope]] = self.table("entries")
        self.classes: Table[Key, bool] = self.table("classes")
        # Those that say what they derive from.
        self.derived: Table[Key, list[Scope]] = self.table("derived")
        self.by_name: Table[str, list[Scope]] = self.table("by name")
        self.spaces: Table[Key, bool] = self.table("spaces")
        self.units: Table[Key, list[ScopedFile]] = self.table("units")
        self.known_files: Table[str, ScopedFile] = self.table("files")
        self._fields: Table[tuple[Key, str], list[tuple[Scope, Binding]]] = self.table("fields")
        for path in sorted(files):
            with guard.item(path):
                self._add(files[path])
        # Those that are the only meaning of their name.
        methods: Table[str, Scope] = self.table("methods")
        self.methods = methods
        for name, found in self.by_name.rows.items():
            if len(found) == 1 and not found[0].is_class and found[0].key[:-1] in self.classes.rows:
                methods.rows[name] = found[0]

    def table(self, kind: str, rows: Mapping[Any, Any] | None = None) -> Table[Any, Any]:
        """A further table; its `rows` may be found when they are asked for."""
        made = self.tables[kind] = Table[Any, Any](self, kind, {} if rows is None else rows)
        return made

    def bindings(self, scope: Scope, name: str) -> Sequence[Binding] | None:
        """What a name is bound to in a scope; None if it is not bound there."""
        if scope.file is not self._own:
            self.asked.add((NAME, (scope, name)))
        return scope.names.get(name)

    def bound(self, scope: Scope, name: str, *kinds: Bound) -> list[Any]:
        """What bindings of these kinds bind a name to."""
        return [binding[1] for binding in self.bindings(scope, name) or () if binding[0] in kinds]

    def _add(self, file: ScopedFile) -> None:
        self.known_files.rows[file.path] = file
        self.units.rows.setdefault(file.unit, []).append(file)
        self._add_space(file.unit)
        for scope in file.scopes:
            scope.key = file.unit + scope.parts
        for definition in file.definitions:
            self.entries.rows.setdefault(definition.key, []).append(definition)
            if definition.is_class:
                self.classes.rows[definition.key] = True
            if definition.bases:
                self.derived.rows.setdefault(definition.key, []).append(definition)
            self.by_name.rows.setdefault(definition.name, []).append(definition)
            self._add_space(definition.key[:-1])
            self._add_fields(definition)

    def _add_space(self, key: Key) -> None:
        while key not in self.spaces.rows:
            self.spaces.rows[key] = True
            key = key[:-1]

    def _add_fields(self, definition: Scope) -> None:
        owner = definition.key if definition.is_class else definition.key[:-1]
        for name, bindings in definition.names.items():
            own = name if definition.is_class else self.own_name(name)
            if own is not None:
                fields = ((definition, one) for one in bindings if one[0] in (Bound.ANNOTATED, Bound.VALUE))
                self._fields.rows.setdefault((owner, own), []).extend(fields)

    @staticmethod
    def own_name(name: str) -> str | None:
        """The field that `this.name` names."""
        return next((name[len(word) :] for word in _RECEIVER_WORDS if name.startswith(word)), None)

    def fields(self, key: Key, name: str) -> Sequence[tuple[Scope, Binding]]:
        """What a class says about one of its fields, and where."""
        found: Sequence[tuple[Scope, Binding]] = self._fields.get((key, name), ())
        return found

    def owner_key(self, definition: Scope) -> Key:
        """The key of the class or object that has a definition as member, also inside its functions."""
        key = definition.key if definition.is_class else definition.key[:-1]
        size = len(definition.file.unit)
        nearest = key
        while len(key) > size:
            if key in self.classes:
                return key
            is_held = key in self.entries
            key = key[:-1]
            if is_held:
                nearest = key
        return nearest
