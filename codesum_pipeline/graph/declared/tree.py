"""All names of one family of languages, as a tree: packages or files, and what is defined in them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from codesum_pipeline.graph.declared.definitions import CodePlace, DeclaredFile, Key, ScopeDefinition
from codesum_pipeline.model.expressions import Chain, TypeName
from codesum_pipeline.model.guard import FailureGuard

_RECEIVER_WORDS = ("this.", "self.", "@", "$this->")


class Field(NamedTuple):
    """What is known of a field: its type, or what it is given, where no type is said; and where that is written."""

    place: CodePlace
    type: TypeName | None = None
    value: Chain | None = ()
    is_typed: bool = True


class NameTree:
    """The definitions of a family by key, by name and by the folders they stand in."""

    def __init__(self, files: Mapping[str, DeclaredFile], guard: FailureGuard) -> None:
        self.files = files
        self.entries: dict[Key, list[ScopeDefinition]] = defaultdict(list)
        self.entries_in: dict[tuple[str, Key], list[ScopeDefinition]] = defaultdict(list)
        self.classes: set[Key] = set()
        # Those that say what they derive from.
        self.derived: dict[Key, list[ScopeDefinition]] = defaultdict(list)
        self.by_name: dict[str, list[ScopeDefinition]] = defaultdict(list)
        self.spaces: set[Key] = set()
        self.units: dict[Key, list[DeclaredFile]] = defaultdict(list)
        self._fields: dict[Key, dict[str, list[Field]]] = defaultdict(dict)
        for path in sorted(files):
            with guard.item(path):
                self._add(files[path])

    def _add(self, file: DeclaredFile) -> None:
        self.units[file.unit].append(file)
        self._add_space(file.unit)
        for definition in file.definitions:
            definition.key = file.unit + definition.parts
            self.entries[definition.key].append(definition)
            self.entries_in[file.path, definition.key].append(definition)
            if definition.is_class:
                self.classes.add(definition.key)
            if definition.bases:
                self.derived[definition.key].append(definition)
            self.by_name[definition.name].append(definition)
            self._add_space(definition.key[:-1])
        for block in file.blocks:
            block.key = file.unit + block.parts
        for definition in file.definitions:
            self._add_fields(definition)

    def _add_space(self, key: Key) -> None:
        while key not in self.spaces:
            self.spaces.add(key)
            key = key[:-1]

    def _add_fields(self, definition: ScopeDefinition) -> None:
        place = CodePlace(definition.file, definition)
        for name, types in definition.typed.items():
            self._add_field(definition, name, (Field(place, type_) for type_ in types))
        for name, values in definition.bound.items():
            self._add_field(definition, name, (Field(place, None, value, is_typed=False) for value in values))

    def _add_field(self, definition: ScopeDefinition, name: str, said: Iterable[Field]) -> None:
        own = self.own_name(name) if not definition.is_class else name
        if own is not None:
            fields = self._fields[definition.key if definition.is_class else definition.key[:-1]]
            fields.setdefault(own, []).extend(said)

    @staticmethod
    def own_name(name: str) -> str | None:
        """The field that `this.name` names."""
        return next((name[len(word) :] for word in _RECEIVER_WORDS if name.startswith(word)), None)

    def fields(self, key: Key, name: str) -> Sequence[Field]:
        """What a class says about one of its fields; types count before values."""
        found = self._fields[key].get(name, ()) if key in self._fields else ()
        said = [field for field in found if field.is_typed]
        return said or [field for field in found if field.value != ()]

    def owner_key(self, definition: ScopeDefinition) -> Key:
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
