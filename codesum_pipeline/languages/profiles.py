"""What the whole program must know of a language: its names, its files, and in which ways it is unlike the others.

Each module or package of a language has such a table beside it, and those that no grammar reads share one. Nothing here
needs a grammar, so that a search can ask.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType


class Trait(StrEnum):
    """In which way a language is unlike others."""

    CHAINS_CALL = "chains_call"  # a chain of names may be a call, without brackets
    CLASSES_ARE_CALLED = "classes_are_called"  # an object is made by calling its class
    DECLARED_ENCODING = "declared_encoding"  # a file's first lines may say its encoding
    DERIVING = "deriving"  # what a type derives is written for it
    DOC_LINKS = "doc_links"  # names in brackets in comments are links
    DOCSTRINGS = "docstrings"  # texts in bodies document
    FREE_MAIN = "free_main"  # a program starts at a function `main` outside of all others
    HASH_COMMENTS = "hash_comments"
    LAST_PART_TELLS = "last_part_tells"  # the last part of a module's name tells most
    MACROS = "macros"  # what a preprocessor replaces stands among code, and headers hand on what they include
    METHOD_MAIN = "method_main"  # a program starts at a method `main` of some class
    NAMESPACED = "namespaced"  # an imported name without a namespace is no package
    ONLY_HASH_COMMENTS = "only_hash_comments"  # no other line at the top of a file is a comment
    PATHS_TO_PACKAGES = "paths_to_packages"  # an import is a path into a package
    TYPE_FOLLOWS_NAME = "type_follows_name"  # with a blank between
    TYPE_PREDICATES = "type_predicates"  # a result `x is T` is true or false
    UNNAMED_PARAMETERS = "unnamed_parameters"  # parameters are numbers


class LanguageKind(StrEnum):
    """What people write in a language: `lang_allowlist` is about programs alone."""

    PROGRAM = "program"
    PROSE = "prose"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class LanguageProfile:
    """One language; `family` is the one whose libraries it shares, `longest_line` what a person writes at most."""

    title: str
    extensions: tuple[str, ...]
    file_names: tuple[str, ...]
    interpreters: tuple[str, ...]
    family: str
    longest_line: int
    kind: LanguageKind
    traits: frozenset[Trait]


@cache
def profiles() -> Mapping[str, LanguageProfile]:
    """Every language by its name."""
    found: dict[str, LanguageProfile] = {}
    for path in sorted(Path(__file__).parent.rglob("*.toml")):
        for name, said in tomllib.loads(path.read_text(encoding="utf-8")).items():
            lists = (tuple(said.get(key, "").split()) for key in ("extensions", "file_names", "interpreters"))
            found[name] = LanguageProfile(
                said.get("title", name.capitalize()),
                *lists,
                family=said.get("family", name),
                longest_line=said.get("longest_line", 500),
                kind=LanguageKind(said.get("kind", "program")),
                traits=frozenset(map(Trait, said.get("traits", "").split())),
            )
    return MappingProxyType(found)


def has(language: str, trait: Trait) -> bool:
    """Whether a language is unlike others in one way; one that nobody described is not."""
    profile = profiles().get(language)
    return profile is not None and trait in profile.traits


def title_of(language: str) -> str:
    """A language's name as people write it."""
    profile = profiles().get(language)
    return profile.title if profile else language.capitalize()


def family_of(language: str) -> str:
    """The language whose libraries it shares."""
    profile = profiles().get(language)
    return profile.family if profile else language
