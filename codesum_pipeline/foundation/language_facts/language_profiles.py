"""What the whole program must know about a language: its names, its files, and how it differs from others.

Each language, or family of languages, has a table in this folder, and those that no grammar reads share one. Nothing
here needs a grammar, so that a search can ask.
"""

import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from fnmatch import translate
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.decoding import convert

# Linguist calls JavaScript and CSS minified from 110 characters a line on; hand-written ones reach 100 with long
# strings and URLs, so their tables say 160. Generous for all else: data tables and templates are written by people too.
LONGEST_LINE = 500


class Trait(StrEnum):
    """In which way a language is unlike others."""

    BUILT_IN_TYPES_ARE_CALLED = "built_in_types_are_called"
    CHAINS_CALL = "chains_call"  # a chain of names may be a call, without brackets
    CLASSES_ARE_CALLED = "classes_are_called"  # an object is made by calling its class
    CLASSES_ARE_TYPES = "classes_are_types"  # none is there only to nest others: that has a syntax of its own
    DECLARED_ENCODING = "declared_encoding"  # a file's first lines may say its encoding
    ENCODING_AMONG_DIRECTIVES = "encoding_among_directives"  # so may a later line of its first comment
    DERIVING = "deriving"  # what a type derives is written for it
    DOC_ELEMENTS = "doc_elements"  # documentation is XML: `name: text` was an element
    DOC_LISTS = "doc_lists"  # parameters are items of a list: `- Parameter name: text`
    DOC_NAMES_FIRST = "doc_names_first"  # `@param[name]`
    DOC_TYPES_BARE = "doc_types_bare"  # a type has no brackets
    DOC_TYPES_FIRST = "doc_types_first"  # a type comes first, without brackets
    DOC_TYPES_IN_BRACKETS = "doc_types_in_brackets"  # `[Type]`
    DOC_TYPES_LATER = "doc_types_later"  # a type may follow the name
    DOCSTRINGS = "docstrings"  # texts in bodies document
    FILES_ARE_MODULES = "files_are_modules"  # a file is imported by its path
    FREE_MAIN = "free_main"  # a program starts at a function `main` outside of all others
    HOLDS_PAGES = "holds_pages"  # a file may be a page with code in it, and either may say its encoding
    LAST_PART_TELLS = "last_part_tells"  # the last part of a module's name says most
    MACROS = "macros"  # a preprocessor replaces words of the code, and headers re-export what they include
    MAIN_GUARD = "main_guard"  # a program starts where a condition asks whether the module is run
    MARKED_MAIN = "marked_main"  # a program starts at what is marked so
    MARKED_OVERRIDES = "marked_overrides"  # a method overrides one of a class only if it says so
    METHOD_MAIN = "method_main"  # a program starts at a method `main` of some class
    NAMESPACED = "namespaced"  # an imported name without a namespace is no package
    OBJECT_MAIN = "object_main"  # a program is an object with such a base, or a function `main` anywhere
    ONLY_CLASSES = "only_classes"  # there are no other types than classes
    ONLY_HASH_COMMENTS = "only_hash_comments"  # no other line at the top of a file is a comment
    OVERLOADS = "overloads"  # functions of one name differ by their parameters
    PATHS_TO_PACKAGES = "paths_to_packages"  # an import is a path into a package
    SEMICOLONS = "semicolons"  # each statement ends with one, or with a brace
    TYPE_CLASSES = "type_classes"  # a class promises functions, which an instance implements
    TYPE_FOLLOWS_NAME = "type_follows_name"  # with a blank between
    TYPE_PREDICATES = "type_predicates"  # a result `x is T` is true or false
    UNNAMED_PARAMETERS = "unnamed_parameters"  # parameters are numbers
    VIRTUAL_METHODS = "virtual_methods"  # a method can be overridden only where a word says so


class LanguageKind(StrEnum):
    """The purpose of a language: `lang_allowlist` is about programs alone. A schema defines what programs use."""

    PROGRAM = "program"
    SCHEMA = "schema"
    PROSE = "prose"
    DATA = "data"


class LanguageProfile(Struct, frozen=True):
    """One language; `title` is its name as people write it, `family` the language whose libraries it shares,
    `longest_line` what a person writes at most, `line_comment` what begins a comment that ends with its line."""

    title: str
    family: str
    extensions: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    longest_line: int = LONGEST_LINE
    line_comment: str = "//"
    kind: LanguageKind = LanguageKind.PROGRAM
    traits: frozenset[Trait] = frozenset()
    # Endings of files that are of another language, or of none, unless the pattern finds something in the file.
    shared: Mapping[str, str] = field(default_factory=dict)
    # The files that say how imports of its programs are found; `*` is anything.
    project_files: tuple[str, ...] = ()
    # The names of methods that run when an object is made; `OF_CLASS` is the name of the class.
    constructors: frozenset[str] = frozenset()
    # The language that definitions in its files are written in, where it has none of its own.
    code: str = ""
    # How a line of a notebook begins that its kernel carries out itself.
    magics: str = r"[ \t]*%{1,2}[A-Za-z]"


_LISTS = ("extensions", "file_names", "interpreters", "traits", "project_files", "constructors")
OF_CLASS = "*"


@cache
def _tables() -> dict[str, dict[str, Any]]:
    """The entries of the tables in this folder, by language."""
    paths = sorted(Path(__file__).parent.glob("*.toml"))
    return {name: entry for path in paths for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items()}


@cache
def profiles() -> Mapping[str, LanguageProfile]:
    """Every language by its name."""
    found: dict[str, LanguageProfile] = {}
    for name, entry in _tables().items():
        lists = {kind: entry[kind].split() for kind in _LISTS if kind in entry}
        found[name] = convert({"title": name.capitalize(), "family": name, **entry, **lists}, LanguageProfile)
    return MappingProxyType(found)


@cache
def unread_languages() -> frozenset[str]:
    """The languages of programs that no grammar reads."""
    return frozenset(name for name in _names_in("others.toml") if profiles()[name].kind is LanguageKind.PROGRAM)


@cache
def outlined_languages() -> frozenset[str]:
    """The languages that are read by a table alone."""
    return frozenset(_names_in("outlined.toml"))


def _names_in(table: str) -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / table).read_text(encoding="utf-8"))


def profile_of(language: str) -> LanguageProfile:
    """The profile of a language; by default, a programming language without special traits."""
    return profiles().get(language) or LanguageProfile(language.capitalize(), language)


def language_of_code(language: str) -> str:
    """The language that definitions in files of a language are written in."""
    return profile_of(language).code or language


def has_trait(language: str, trait: Trait) -> bool:
    """Whether a language is unlike others in one way."""
    return trait in profile_of(language).traits


def languages_with(trait: Trait) -> list[str]:
    """The languages with a trait, by name."""
    return sorted(name for name, one in profiles().items() if trait in one.traits)


@cache
def library_names(language: str, kind: str) -> frozenset[str]:
    """Names that a language brings along, frozen: a graph must not depend on what is installed where it is drawn.

    `builtins` need no import; `modules` are those of the standard library. `methods` belong to the library or to the
    most used packages: a call of such a method on an unknown object is most often the library's.
    """
    return frozenset(_tables().get(language, {}).get("library", {}).get(kind, "").split())


@cache
def _project_files() -> re.Pattern[str]:
    """The patterns of their names as one."""
    return re.compile("|".join(translate(pattern) for one in profiles().values() for pattern in one.project_files))


def is_project_file(path: str) -> bool:
    """Whether a file says how imports are found."""
    return bool(_project_files().match(path.rpartition("/")[2]))
