"""What the resolver must know about a family of languages besides its parsed files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.possible_values import (
    AMBIGUOUS,
    UNKNOWN,
    ClassValue,
    FunctionValue,
    ModuleValue,
    Reason,
    Value,
)
from codesum_pipeline.foundation.data_model.scopes import Binding, ImportRow, Key, Scope, ScopedFile, UseExpression
from codesum_pipeline.foundation.language_facts.language_profiles import library_names
from codesum_pipeline.languages.declarations.name_tree import NameTree
from codesum_pipeline.languages.declarations.projects import Projects

# So many functions of one name in one place are written by generators: each call would have to look at all of them.
MAX_NAMESAKES = 200


_TWO_WORDS = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]")


class Member(Struct, frozen=True):
    """A name in a module or package, which is looked up when it is used."""

    key: Key
    name: str


class Outside(Struct, frozen=True):
    """A package that the repository does not hold; `name` is what is taken from it."""

    package: str
    name: str


# None: neither in the repository nor known to be outside.
Target = ModuleValue | Member | Outside | None


class ResolvedImport(Struct, frozen=True):
    """What an import names, the name that it binds, and the files that it takes in."""

    target: Target
    name: str | None = None
    files: tuple[str, ...] = ()
    is_star: bool = False
    # Whether those who import this file get the name too.
    is_handed_on: bool = False


class TellingNames(Struct, frozen=True):
    """The names that one class alone is likely to have: long enough and of two words, and no method of the language's
    own library or of a well-known package is called so."""

    least_length: int
    two_words: re.Pattern[str]
    common: frozenset[str]

    def __contains__(self, name: str) -> bool:
        return len(name) >= self.least_length and name not in self.common and bool(self.two_words.search(name))


class Rules:
    """The defaults; each family says where it differs."""

    languages: frozenset[str] = frozenset()
    # Members of the class around are seen without a receiver.
    sees_members = False
    # One name may be defined in pieces: partial classes, reopened modules.
    is_merged = False
    # A class and an object beside it may have one name.
    has_companions = False
    # Functions of one name in one place are distinguished by their arguments.
    has_overloads = False
    # A file's own names are those outside of all its definitions and blocks.
    has_modules = False
    # A base is a field too, named as its type.
    has_embedded = False
    # A file is a class of its own.
    files_are_types = False
    # All files share one space of names.
    is_one_space = False
    # Whether imports name files by their paths: one more file of any language may then be meant.
    names_files = True
    separator = "."
    constructors: tuple[str, ...] = ()
    # The language whose table has the words below, where a family has several languages.
    library = ""

    def __init__(self, projects: Projects) -> None:
        self.projects = projects
        self.tree = NameTree({}, FailureGuard())
        # `transparent` types are used as what they hold.
        self.builtins, self.own_words, self.class_words, self.super_words, self.transparent, methods = (
            library_names(self.library or next(iter(self.languages)), kind)
            for kind in ("builtins", "own_words", "class_words", "super_words", "transparent", "methods")
        )
        self.telling = TellingNames(8, _TWO_WORDS, methods)
        self.words_for_owner = self.own_words | self.class_words | self.super_words

    def unit_of(self, file: ScopedFile) -> Key:
        """Where a file's top-level names belong: by default to the file."""
        return () if self.is_one_space else (file.path,)

    def files_of(self, key: Key) -> tuple[str, ...]:
        """The file of a class; a package's members are in many."""
        found = {entry.file.path for entry in self.tree.entries.get(key, ())}
        return tuple(found) if len(found) == 1 else ()

    def use_tree(self, tree: NameTree) -> None:
        """Keep the names of all files, and prepare what is looked up in them."""
        self.tree = tree

    def read_in_projects(self) -> Any:
        """What project files say of other names than those of imports and of `unit_of`, as JSON can hold it."""
        return None

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        """What an import names."""
        yield from ()

    def spaces_of(self, file: ScopedFile) -> Iterable[Key]:
        """The packages or files whose names a file sees without an import, the nearest first."""
        return (file.unit,)

    def inner_spaces(self, scope: Scope) -> Iterator[Key]:
        """The scopes inside of a file around a definition, from the inside out."""
        for size in range(len(scope.key), len(scope.file.unit), -1):
            yield scope.key[:size]

    def scope_of_bases(self, class_: Scope) -> Scope:
        """The scope in which the names of a class's bases are looked up."""
        return class_.parent or class_.file.top

    def visible_from(self, file: ScopedFile, definitions: Sequence[Scope]) -> Sequence[Scope]:
        """The definitions of one name that are visible in a file."""
        return definitions

    def members_of(self, owner: Scope, definitions: Sequence[Scope]) -> Sequence[Scope]:
        """Those of a class's members that are of this class and not of another of its name."""
        return definitions

    def owner_key(self, definition: Scope) -> Key:
        """The key of the class or object that has a definition as member."""
        return self.tree.owner_key(definition)

    def own_class(self, scope: Scope, key: Key) -> Scope | None:
        """The class of a key around a place, where it may be one of several that the file has of this name."""
        return None

    def is_of(self, owner: Scope, scope: Scope) -> bool:
        """Whether what a definition says of fields can be meant of a class of its key."""
        return True

    def has_variable(self, key: Key, name: str) -> bool:
        """Whether a module has a variable of a name, or a member of what it gives as a whole."""
        return False

    def member_name(self, key: Key, name: str) -> str:
        """A member of what a module gives as a whole, as the module writes it."""
        return name

    def importable_among(self, definitions: Sequence[Scope]) -> Sequence[Scope]:
        """The definitions of one name that other files can import."""
        return definitions

    def preferred_among(self, definitions: Sequence[Scope]) -> Sequence[Scope]:
        """The preferred ones among several definitions that fit a call."""
        return definitions

    def joined_among(self, classes: Sequence[Scope]) -> Sequence[Scope]:
        """Of several classes of one name, those that stand for what the language joins to one."""
        return classes

    def meant_by(self, scope: Scope, use: UseExpression, found: Scope) -> Scope | None:
        """The definition that a use means which leads to one of its name; None for one that is not seen from there."""
        return found

    def is_type_before_member(self, scope: Scope, name: str, meant: Scope, fields: Sequence[Binding]) -> bool:
        """Whether a name that fields of a class around have, too, is everywhere in a scope followed by what the type of
        that name alone can have."""
        return False

    def local_key(self, key: Key, name: str) -> Key:
        """The key of the definition that a module or package offers under a name."""
        return (*key, name)

    def callee_of(self, module: Key) -> Member | None:
        """What is called where a module itself is called."""
        return None

    def value_of_called(self, file: ScopedFile, name: str, count: int) -> Value:
        """The meaning of a called plain name that nothing else explains."""
        return UNKNOWN

    def value_of_root(self, scope: Scope, name: str) -> Value:
        """The meaning of a name that nothing else explains: the beginning of a path, a class that is always visible."""
        return UNKNOWN

    def value_of_full_name(self, names: Sequence[str]) -> Value:
        """The value of a type outside the repository, if its full name is written."""
        return UNKNOWN

    def external_name(self, *parts: str) -> str:
        """The name of something outside."""
        return self.separator.join(part for part in parts if part)

    def pick_value(self, file: ScopedFile | None, found: Sequence[Scope], why: Reason) -> Value:
        """Several definitions of one key as a value; AMBIGUOUS for too many functions."""
        if len(found) > MAX_NAMESAKES and not found[0].is_class:
            return AMBIGUOUS
        return self._picked(file, found, why)

    def _picked(self, file: ScopedFile | None, found: Sequence[Scope], why: Reason) -> Value:
        here = [definition for definition in found if definition.file is file]
        chosen = list(here or found)
        if here:
            why = Reason.SAME_FILE
        classes = [definition for definition in chosen if definition.is_class]
        if len(classes) > 1 and len(classes) == len(chosen):
            classes = chosen = list(self.joined_among(classes))
        is_companion = self.has_companions and len({(entry.file.path, entry.key) for entry in classes}) == 1
        if classes and (self.is_merged or is_companion or len(classes) == 1):
            first = min(classes, key=lambda entry: (entry.file.stem != entry.name, entry.file.path, entry.id))
            return ClassValue(first, why)
        if classes and len(chosen) > 1:
            return AMBIGUOUS
        files = {definition.file.path for definition in chosen}
        if len(files) > 1 and not self.has_overloads:
            return AMBIGUOUS
        return FunctionValue.of(chosen, why)
