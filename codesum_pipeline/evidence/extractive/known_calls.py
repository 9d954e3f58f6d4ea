"""Which calls of a language have which effect on the world: the tables in `effect_tables/`.

`effects.toml` lists all effects, the most telling first; a language's table lists what has them. An entry under
`calls` is one of

    os.remove            this chain of names, and no longer one; without a dot a call without a receiver
    .read_text           a method whose name alone is unmistakable, of anything
    lock|mutex~acquire   a method of what is named so: `self._file_lock.acquire`

and one under `words` is a pattern of what is no call, such as `os.environ["HOME"]`. `namespaces` are those that a chain
may begin with, `ambiguous` the calls that only a mark of the global scope makes certain, and a table `extends` another.
"""

import re
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product
from typing import Any

from msgspec import Struct

from codesum_pipeline.evidence.extractive.words import name_words
from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.symbol import Fact
from codesum_pipeline.foundation.language_facts.language_profiles import profile_of

Chain = tuple[str, ...]

_JOINT = re.compile(r"::|->|\?\.|!\.|&\.|[.:\\]")
_PLAIN = re.compile(r"[\w.:?!&>$@\\-]+")
# The method of what is no name: `", ".join`, `[a, b].join`.
_METHOD = re.compile(r"""[\]})"'`/]\s*(?:\?|&|!)?\.(\w{1,60}[?!]?)\Z""")
_SIGNS = "@$?&*"
# Longer chains are no calls of a library.
_MAX_CHARS = 120


class NamedBy(StrEnum):
    """What of a call fills in the phrase that has a place for a name."""

    TEXT = "text"
    SEPARATOR = "separator"
    JOINT = "joint"
    VALUES = "values"
    MESSAGE = "message"


class Effect(Struct, frozen=True):
    """What a function does besides returning (one of reads, writes, emits, raises or mutates) or what it computes, a
    phrase in the third person, and the canonical line that shows it. `brief` is the phrase for prose, which has no room
    for all of it."""

    kind: str
    text: str
    line: int
    brief: str


class EffectKind(Struct, frozen=True):
    """One effect: what it does (reads, writes, emits, mutates or computes), as a phrase for one call, for several, and
    with what `named_by` says of its call, followed by the field that a `keyed` one goes by. It goes unsaid beside those
    in `unless`, and without a phrase for one call where nothing is named. `joint` stands between two names."""

    kind: str
    one: str = ""
    many: str = ""
    named: str = ""
    named_by: NamedBy = NamedBy.TEXT
    keyed: bool = False
    unless: str = ""
    joint: str = ""


class KnownCalls(Struct, frozen=True):
    """The table of one language."""

    namespaces: tuple[Chain, ...]
    ambiguous: frozenset[str]
    chains: dict[Chain, str]
    methods: dict[str, str]
    of_receivers: dict[Chain, str]
    words: tuple[tuple[str, re.Pattern[str]], ...]
    fails: dict[Chain, str]
    are_commands: bool
    # What the type of a parameter has if an assignment to an attribute or an item of it reaches the caller; or `any`.
    field_marks: str
    item_marks: str
    # How an error of a class is said, and where its name alone is no proof, the forms that raise it.
    raises: str
    raise_forms: tuple[str, ...]

    def effect_of(self, call: Fact) -> str:
        """The name of the effect that a call has; "" of a call that is not known."""
        whole = chain_of(call, are_commands=self.are_commands)
        chain = self._without_namespace(whole)
        if not chain or (len(chain) == 1 and chain[0] in self.ambiguous and not call.text.startswith(("::", "std::"))):
            return ""
        forms = dict.fromkeys((*one[:-1], name) for one in (chain, whole) for name in (one[-1], one[-1].rstrip("!")))
        return next(filter(None, map(self._find, forms)), "")

    def is_whole_chain(self, call: Fact) -> bool:
        """Whether the table has all names of a call, of which a variable would make another call."""
        return self._without_namespace(chain_of(call, are_commands=self.are_commands)) in self.chains

    def failure_of(self, call: Fact) -> str:
        """How a function fails that makes such a call: `returns an error`; "" where it makes no error."""
        return self.fails.get(self._without_namespace(chain_of(call, are_commands=self.are_commands)), "")

    def _without_namespace(self, chain: Chain) -> Chain:
        """A chain without the longest namespace that it begins with."""
        found = (len(one) for one in self.namespaces if len(one) < len(chain) and chain[: len(one)] == one)
        return chain[max(found, default=0) :]

    def _find(self, chain: Chain) -> str:
        if found := self.chains.get(chain):
            return found
        if len(chain) == 1:
            return ""
        receiver = name_words(chain[-2])[-1:]
        return self.of_receivers.get((*receiver, chain[-1]), "") or self.methods.get(chain[-1], "")


def chain_of(call: Fact, *, are_commands: bool = False) -> Chain:
    """The names of a call as it is written, its receivers first: `std::fs::write` gives std, fs, write."""
    text = call.text.removeprefix("new ")
    if are_commands:
        return (text,) if _PLAIN.fullmatch(text) else ()
    if len(text) <= _MAX_CHARS and _PLAIN.fullmatch(text):
        return _split(text)
    method = _METHOD.search(text) if len(call.names) < 2 else None
    return ("", method[1]) if method else tuple(call.names)


@lru_cache(maxsize=16384)
def _split(text: str) -> Chain:
    return tuple([part for name in _JOINT.split(text) if (part := (name.strip(_SIGNS) or name).rstrip("?"))])


@cache
def effect_kinds() -> dict[str, EffectKind]:
    """All effects by their names, the most telling first."""
    return {name: convert(fields, EffectKind) for name, fields in _read("effects").items()}


@cache
def separator_words() -> dict[str, str]:
    """What separators are called, as code writes them: commas, line breaks."""
    return {text: words for words, texts in _read("separators")["separators"].items() for text in texts}


@cache
def ways_to_fail() -> dict[str, str]:
    """How a function fails, by the name that raises what is of no class."""
    return {name: how for how, names in _read("failures")["how"].items() for name in names.split()}


@cache
def field_words(name: str) -> frozenset[str]:
    """The words of a list about the names of fields."""
    return frozenset(_read("fields")["fields"][name].split())


@cache
def vague_operations() -> frozenset[str]:
    """What many functions compute on the way, as phrases."""
    return frozenset(_read("fields")["operations"]["vague"])


@cache
def known_calls(language: str) -> KnownCalls | None:
    """The table of a language; None of one that has none."""
    name = next((one for one in (language, profile_of(language).family) if _path(one).is_file()), "")
    tables = [*_with_extended(name)] if name else []
    if not tables:
        return None
    chains: dict[Chain, str] = {}
    methods: dict[str, str] = {}
    of_receivers: dict[Chain, str] = {}
    for effect, entry in ((effect, entry) for table in tables for effect, entry in _entries(table, "calls")):
        receivers, is_of_receiver, names = entry.partition("~")
        if is_of_receiver:
            for pair in product(receivers.lower().split("|"), names.split("|")):
                of_receivers.setdefault(pair, effect)
        elif entry.startswith(".") and entry.count(".") == 1 and entry != ".":
            methods.setdefault(entry[1:], effect)
        else:
            chains.setdefault((entry,) if tables[0].get("are_commands") else _split(entry), effect)
    return KnownCalls(
        namespaces=tuple(_split(name) for table in tables for name in table.get("namespaces", "").split()),
        ambiguous=frozenset(word for table in tables for word in table.get("ambiguous", "").split()),
        chains=chains,
        methods=methods,
        of_receivers=of_receivers,
        words=tuple(
            (effect, re.compile(pattern, re.M))
            for table in tables
            for effect, pattern in table.get("words", {}).items()
        ),
        fails={_split(entry): how for table in tables for how, entry in _entries(table, "fails")},
        are_commands=bool(tables[0].get("are_commands")),
        field_marks=tables[0].get("field_marks", ""),
        item_marks=tables[0].get("item_marks", ""),
        raises=tables[0].get("raises", "raises"),
        raise_forms=tuple(tables[0].get("raise_forms", ())),
    )


def _with_extended(name: str) -> Iterator[dict[str, Any]]:
    while name:
        table = _read(name)
        yield table
        name = table.get("extends", "")


def _entries(table: dict[str, Any], part: str) -> Iterator[tuple[str, str]]:
    return ((name, entry) for name, entries in table.get(part, {}).items() for entry in entries.split())


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(_path(name).read_text("utf-8"))


def _path(name: str) -> Any:
    return files(__package__) / "effect_tables" / f"{name}.toml"
