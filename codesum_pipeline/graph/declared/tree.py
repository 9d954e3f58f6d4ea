"""All names of one family of languages, as a tree: packages or files, and what is defined in them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from codesum_pipeline.graph.scopes import Binding, Key, Scope, ScopedFile
from codesum_pipeline.languages.python.references.names import Bound
from codesum_pipeline.model.guard import FailureGuard

_RECEIVER_WORDS = ("this.", "self.", "@", "$this->")


class NameTree:
    """The definitions of a family by key and by name, and what is said of the fields of its classes."""

    def __init__(self, files: Mapping[str, ScopedFile], guard: FailureGuard) -> None:
        self.files = files
        self.entries: dict[Key, list[Scope]] = defaultdict(list)
        self.classes: set[Key] = set()
        # Those that say what they derive from.
        self.derived: dict[Key, list[Scope]] = defaultdict(list)
        self.by_name: dict[str, list[Scope]] = defaultdict(list)
        self.spaces: set[Key] = set()
        self.units: dict[Key, list[ScopedFile]] = defaultdict(list)
        self._fields: dict[tuple[Key, str], list[tuple[Scope, Binding]]] = defaultdict(list)
        for path in sorted(files):
            with guard.item(path):
                self._add(files[path])

    def _add(self, file: ScopedFile) -> None:
        self.units[file.unit].append(file)
        self._add_space(file.unit)
        for scope in file.scopes:
            scope.key = file.unit + scope.parts
        for definition in file.definitions:
            self.entries[definition.key].append(definition)
            if definition.is_class:
                self.classes.add(definition.key)
            if definition.bases:
                self.derived[definition.key].append(definition)
            self.by_name[definition.name].append(definition)
            self._add_space(definition.key[:-1])
            self._add_fields(definition)

    def _add_space(self, key: Key) -> None:
        while key not in self.spaces:
            self.spaces.add(key)
            key = key[:-1]

    def _add_fields(self, definition: Scope) -> None:
        owner = definition.key if definition.is_class else definition.key[:-1]
        for name, bindings in definition.names.items():
            own = name if definition.is_class else self.own_name(name)
            if own is not None:
                said = ((definition, one) for one in bindings if one[0] in (Bound.ANNOTATED, Bound.VALUE))
                self._fields[owner, own].extend(said)

    @staticmethod
    def own_name(name: str) -> str | None:
        """The field that `this.name` names."""
        return next((name[len(word) :] for word in _RECEIVER_WORDS if name.startswith(word)), None)

    def fields(self, key: Key, name: str) -> Sequence[tuple[Scope, Binding]]:
        """What a class says about one of its fields, and where."""
        return self._fields.get((key, name), ())

    def owner_key(self, definition: Scope) -> Key:
        """Where the class or object stands whose member a definition is in, also inside functions of it."""
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
