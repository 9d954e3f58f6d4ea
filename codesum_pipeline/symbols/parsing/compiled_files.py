"""A parsed file beside what a compiler's index says about it, as JSON for the graph.

`{"keys", "packages", "defined", "calls", "others", "imports", "bases", "overrides"}`: `keys` are the symbols that are
named, and all else refers to them by number. A definition is `[key, id without path]`: the id is empty for the file
itself, null where we have no document. A call is `[number of its call place, keys]`, another one that no parser has
seen `[caller without path, key, count]`. An import is a key; a base `[id without path, key]`, as is what a method
overrides.

What the index defines and no parser has found, as what a macro makes, becomes a symbol of the file.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import CompilerFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy, hash_of
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.symbol import Symbol, SymbolType
from codesum_pipeline.symbols.parsing.compiled_symbols import Matches, match_definitions, symbols_lacking
from codesum_pipeline.symbols.parsing.text import NO_REFERENCES, ParsedFile
from codesum_pipeline.symbols.scip.comparing import IndexComparison, IndexReference, compare_with_text
from codesum_pipeline.symbols.scip.symbol_names import Suffix, is_module, parse_symbol

COMPILED_VERSION = 1

_CALLED = frozenset({Suffix.METHOD, Suffix.MACRO})
# What is defined, and has no document: an interface's methods, variables, fields.
_DOCUMENTED = frozenset({Suffix.METHOD, Suffix.MACRO, Suffix.TYPE, Suffix.TERM})
_ACCESSORS = frozenset({"property", "setter", "get", "set"})
_OVERLOAD = "overload"
_OPENING = {Suffix.METHOD: "(", Suffix.MACRO: "!"}
# More of them say no more about the file.
_MOST_MISNAMED = 200


class OfferedDocument(Struct, frozen=True):
    """What one index holds about a file; `tool` is what wrote it, with its version."""

    tool: str
    content: bytes


def with_compiler(
    parsed: ParsedFile, documents: Sequence[OfferedDocument], text: str, policy: HashPolicy, *, digest: str
) -> tuple[ParsedFile, CompilerFile]:
    """The file with the symbols that it lacks, and what the first document says that counts for its text."""
    found = [compare_with_text(document.content, text) for document in documents]
    for document, comparison in zip(documents, found, strict=True):
        if not comparison.problem:
            return _read(parsed, comparison, text, policy, digest=digest, tool=document.tool)
    problems = dict.fromkeys(comparison.problem for comparison in found)
    return parsed, CompilerFile(
        parsed.facts.file_path, digest, documents[0].tool, "; ".join(problems), found[0].occurrences, 0, (), "{}"
    )


def _read(
    parsed: ParsedFile, comparison: IndexComparison, text: str, policy: HashPolicy, *, digest: str, tool: str
) -> tuple[ParsedFile, CompilerFile]:
    matches = match_definitions(parsed.symbols, comparison.definitions)
    lacking, of_lacking = symbols_lacking(parsed, comparison, matches, text, policy)
    every = (*parsed.symbols, *lacking)
    symbols = tuple(sorted(every, key=lambda symbol: (symbol.start_line, -symbol.end_line, symbol.id)))
    file = replace(parsed, symbols=symbols)
    facts = _Facts(file, comparison, {**matches, **of_lacking}, text)
    misnamed = sorted({_key(symbol) for symbol in comparison.misnamed} - {""})[:_MOST_MISNAMED]
    return file, CompilerFile(
        file_path=parsed.facts.file_path,
        documents=digest,
        tool=tool,
        problem="",
        occurrences=comparison.occurrences,
        references=len(comparison.references),
        misnamed=tuple(misnamed),
        facts=json.dumps(facts.content(), ensure_ascii=False, separators=(",", ":")),
    )


def _key(symbol: str) -> str:
    name = parse_symbol(symbol)
    return name.key if name else ""


class _Facts:
    def __init__(self, file: ParsedFile, comparison: IndexComparison, matches: Matches, text: str) -> None:
        self._file = file
        self._prefix = f"{file.facts.file_path}{SEPARATOR}"
        self._comparison = comparison
        self._matches = matches
        self._lines = text.split("\n")
        self._numbers: dict[str, int] = {}
        # To read one calls it; a call of its name calls what it gives.
        self._implementations = _implementations(file.symbols)
        self._accessors = {one.id for one in file.symbols if not _ACCESSORS.isdisjoint(one.modifiers)}

    def content(self) -> dict[str, Any]:
        defined = list(self._defined())
        calls = self._calls()
        content: dict[str, Any] = {
            "defined": defined,
            "calls": [[number, keys] for number, keys in sorted(calls.items())],
            "others": list(self._others()),
            "imports": sorted({self._number(key) for key in self._imported()}),
            **self._related(),
        }
        return {"keys": list(self._numbers), **content}

    def _number(self, key: str) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _local(self, id_: str) -> str:
        return id_.removeprefix(self._prefix)

    def _defined(self) -> Iterator[list[Any]]:
        for number, definition in enumerate(self._comparison.definitions):
            named = definition.named
            id_ = self._matches.get(number)
            if is_module(named.name.last):
                yield [self._number(named.name.key), ""]
            elif id_ is not None or (named.name.last.suffix in _DOCUMENTED and not named.name.is_local):
                id_ = self._implementations.get(id_ or "", id_)
                document = None if id_ is None or id_ in self._accessors else self._local(id_)
                yield [self._number(named.name.key), document]

    def _calls(self) -> dict[int, list[int]]:
        """The symbols at each place where a parser has seen a call."""
        places = self._file.facts.call_places or ()
        at: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, place in enumerate(zip(places[::2], places[1::2], strict=True)):
            if place != (0, 0):
                at[place].append(number)
        called: dict[int, list[int]] = defaultdict(list)
        for one in self._comparison.references:
            for number in at.get((one.span.line, one.span.start), ()):
                key = self._number(_called_key(one))
                if key not in called[number]:
                    called[number].append(key)
        return called

    def _others(self) -> Iterator[list[Any]]:
        """The calls that no parser has seen: in what a macro is given, or in a language that none reads."""
        places = self._file.facts.call_places or ()
        seen = set(zip(places[::2], places[1::2], strict=True))
        is_parsed = self._file.facts.references != NO_REFERENCES
        counts: Counter[tuple[str, str]] = Counter()
        for one in self._comparison.references:
            suffix = one.name.last.suffix
            if suffix not in _CALLED or (one.span.line, one.span.start) in seen:
                continue
            if is_parsed:
                rest = self._lines[one.span.line - 1].encode()[one.span.end :].decode()
                if not rest.lstrip().startswith(_OPENING[suffix]):
                    continue
            counts[self._caller(one.span.line), _called_key(one)] += 1
        for (caller, key), count in sorted(counts.items()):
            yield [caller, self._number(key), count]

    def _caller(self, line: int) -> str:
        """The innermost symbol around a line, without the path; empty for the file itself."""
        around = [symbol for symbol in self._file.symbols if symbol.start_line <= line <= symbol.end_line]
        if not around:
            return ""
        return self._local(max(around, key=lambda symbol: (symbol.start_line, -symbol.end_line, symbol.id)).id)

    def _imported(self) -> Iterator[str]:
        """The modules that the file names; not such as it gives another name, and no relative ones of Python, whose
        indexer has them wrong."""
        for one in self._comparison.references:
            if not is_module(one.name.last):
                continue
            namespace = next(part.name for part in reversed(one.name.descriptors) if part.suffix is Suffix.NAMESPACE)
            if one.text[:1] in "'\"`" or one.text in (namespace, namespace.rpartition(".")[2]):
                yield one.name.key

    def _related(self) -> dict[str, list[list[Any]]]:
        """What classes derive from, and which methods of them override which."""
        found: dict[str, list[list[Any]]] = {"bases": [], "overrides": []}
        types = {symbol.id: symbol for symbol in self._file.symbols}
        for number, definition in enumerate(self._comparison.definitions):
            id_ = self._matches.get(number)
            if id_ is None:
                continue
            symbol = types[id_]
            kind = "bases" if symbol.type is SymbolType.CLASS else "overrides"
            for target in self._implemented(definition.named.symbol):
                if kind == "overrides" or not symbol.bases or self._is_written(target, symbol):
                    found[kind].append([self._local(id_), self._number(target)])
        return found

    def _implemented(self, symbol: str) -> Iterable[str]:
        information = self._comparison.information.get(symbol)
        related = information.relationships if information is not None else ()
        keys = (_key(one.symbol) for one in related if one.is_implementation and one.symbol != symbol)
        return dict.fromkeys(key for key in keys if key)

    def _is_written(self, key: str, symbol: Symbol) -> bool:
        """Whether a class names it in its head: some tools relate it to what its bases derive from as well."""
        name = parse_symbol(key)
        return name is not None and any(
            name.last.name in base.replace("[", ".").replace("<", ".").split(".") for base in symbol.bases
        )


def _implementations(symbols: Sequence[Symbol]) -> dict[str, str]:
    """What implements the functions that are written as overloads of it, which is what some tools name."""
    ids = {symbol.id for symbol in symbols}
    overloads = (symbol.id for symbol in symbols if _OVERLOAD in symbol.modifiers)
    return {id_: plain for id_ in overloads if (plain := without_suffix(id_)) in ids}


def _called_key(one: IndexReference) -> str:
    """What is called: of a constructor that is spelled as its class, the class."""
    *above, last = one.name.descriptors
    is_class = bool(above) and above[-1].suffix is Suffix.TYPE and one.text == above[-1].name != last.name
    return one.name.owner if is_class else one.name.key


def digest_of(documents: Sequence[tuple[str, str]]) -> str:
    """The hash of what all indexes hold about a file, by tool and the hash of each one's document."""
    return hash_of([COMPILED_VERSION, [list(document) for document in documents]])
