"""Reads the files of a language that has a table in `languages/outlines`: its symbols, and the names for the graph.

The canonical source of a definition is its lines as they are written, without blanks at their ends and without empty
ones: a comment or an indent that changes is a change. A file's is its text. A file without a definition is a text.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from importlib.metadata import version
from itertools import accumulate
from textwrap import dedent
from typing import Any

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.symbol import Fact, Form, Symbol, SymbolFacts, SymbolType
from codesum_pipeline.foundation.settings.stage_settings import STEPS_PER_BYTE
from codesum_pipeline.languages.outlines.grammars import grammar_version
from codesum_pipeline.languages.outlines.outline_table import OutlineTable, outline_tables
from codesum_pipeline.symbols.parsing.bounded import WorkBudget
from codesum_pipeline.symbols.parsing.comment_kinds import is_section_title
from codesum_pipeline.symbols.parsing.comments import doc_text, is_directive
from codesum_pipeline.symbols.parsing.facts import MAX_FACTS, MAX_TEXT
from codesum_pipeline.symbols.parsing.outline_definitions import find_outline
from codesum_pipeline.symbols.parsing.outline_findings import FileFindings, NamedPlace, OutlineDefinition, Place
from codesum_pipeline.symbols.parsing.overloads import ids_of
from codesum_pipeline.symbols.parsing.text import ParsedFile, content_hash, parse_text, reading_version

_MOST_OF_SIGNATURE = 300
# What a signature may end with that belongs to the body.
_BODY_MARKS = re.compile(r"(?:\s*+(?::=|->|[{(=:]|\b(?:AS|as|begin|do|where|is|IS)\b))++\s*+$|;\s*+$")
# Of texts that document.
_TEXT_MARKS = re.compile(
    r'^\s*(?:%+\s*@doc\b|\(\*+|<#|(?:@doc\s+)?[a-z]*"""|"|(?:=(?:pod|encoding|for)\b.*\n\s*)*=head1\s+NAME\b)'
    r'|(?:(?<!\*)\*++\)|#>|"""|"|\n=cut)\s*$'
)
# What begins a part of them: a command of POD, a keyword of a help.
_PART_MARKS = re.compile(
    r"^[ \t]*(?:=[a-z]+\d?\b|\.(?:synopsis|description|parameter|example|inputs|outputs|notes|link|component)\b)[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_NAME = re.compile(r"[^\W\d]\w*")
# One that may have several parts.
_PATH = re.compile(r"[^\W\d][\w.$#@-]*")


class OutlineParser:
    """Reads the files of one language by its table."""

    def __init__(self, table: OutlineTable) -> None:
        self.table = table

    def version(self, hash_policy: HashPolicy, steps_per_byte: int = STEPS_PER_BYTE) -> str:
        """Everything besides a file's bytes that decides what is read from it."""
        packages = f"tree-sitter/{version('tree-sitter')} {grammar_version(self.table.grammar)}"
        read = reading_version(hash_policy, steps_per_byte)
        return f"{self.table.language}/outline/{self.table.hash} {packages} {read}"

    def parse(
        self, source: bytes, file_path: str, *, blob: str, hash_policy: HashPolicy, budget: WorkBudget, version: str
    ) -> ParsedFile:
        """The symbols and facts of one file; `source` is UTF-8 with `\\n` line ends.

        Raises `TooMuchWork` past the budget and `MissingGrammar` without the grammar.
        """
        table = self.table
        found = find_outline(table, source, budget)
        text = parse_text(
            source, file_path, language=table.language, blob=blob, hash_policy=hash_policy, parser=version
        )
        if not found.definitions:
            return replace(text, facts=replace(text.facts, syntax_errors=found.errors))
        return _FileOfOutline(table.language, file_path, source, hash_policy, found).parsed(text)


class _FileOfOutline:
    """What a query found in one file, as symbols and facts."""

    def __init__(self, language: str, path: str, source: bytes, hash_policy: HashPolicy, found: FileFindings) -> None:
        self._language, self._path, self._policy, self._found = language, path, hash_policy, found
        self._source = source
        self._row_starts = [0, *accumulate(len(row) + 1 for row in source.split(b"\n"))]
        self._calls: dict[int, list[NamedPlace]] = {}
        for call in found.calls:
            self._calls.setdefault(call.definition, []).append(call)

    def parsed(self, text: ParsedFile) -> ParsedFile:
        """The file, from what it is as a text."""
        definitions, found = self._found.definitions, self._found
        classes = {one.parts for one in definitions if one.type is SymbolType.CLASS}
        ids = ids_of(
            definitions,
            self._path,
            # A type keeps its id, whatever constructors are defined beside it.
            rank=lambda one: int(one.type is SymbolType.FUNCTION and one.parts in classes),
            signature=self._signature,
            source=lambda one: self._lines(one)[0],
        )
        symbols = tuple([self._symbol(number, ids) for number in range(len(definitions))])
        facts = replace(
            text.facts,
            docstring=self._docstring(found.comments, ""),
            globals=tuple(found.constants),
            references=self._references(symbols),
            syntax_errors=found.errors,
            call_places=tuple([number for call in found.calls for number in self._place(call.name_start)]),
        )
        return ParsedFile(facts, symbols)

    def _symbol(self, number: int, ids: Sequence[str]) -> Symbol:
        one, branches = self._found.definitions[number], self._found.branches
        source, line_map = self._lines(one)
        outer = [node for node in one.docs if node.start_byte < one.code_start]
        inner = [node for node in one.docs if node.start_byte >= one.code_start]
        doc_rows = sum(self._row(node.end_byte) - self._row(node.start_byte) + 1 for node in one.docs)
        docstring_end = inner[-1].end_byte - 1 if inner and not outer else one.start
        return Symbol(
            id=ids[number],
            type=one.type,
            qualified_name=".".join(one.parts),
            name=one.parts[-1],
            file_path=self._path,
            language=self._language,
            start_line=self._row(one.code_start),
            end_line=line_map[self._line_of(one.code_end - 1, line_map) - 1],
            signature=self._signature(one),
            docstring=self._docstring(one.docs, one.parts[-1]),
            modifiers=("private",) if one.is_private else (),
            bases=(),
            parent_id=None if one.parent is None else ids[one.parent],
            complexity=1 + bisect_left(branches, one.end) - bisect_left(branches, one.node_start),
            line_count=max(1, len(line_map) - doc_rows),
            is_public=not one.is_private,
            content_hash=content_hash(self._policy, source, self._source[one.start : one.end]),
            canonical_source=source,
            line_map=line_map,
            facts=SymbolFacts(
                calls=self._call_facts(number, line_map),
                fields=self._fields(one, line_map),
                signature_line=self._line_of(one.node_start, line_map),
                docstring_line=self._line_of(docstring_end, line_map),
            ),
            has_syntax_errors=one.has_error,
        )

    def _lines(self, one: OutlineDefinition) -> tuple[str, tuple[int, ...]]:
        """The canonical source of a definition, and the real line of each of its lines."""
        row = bisect_right(self._row_starts, one.start) - 1
        indent = self._source[self._row_starts[row] : one.start]
        before = indent.decode() if not indent.strip() else ""
        rows = dedent(before + self._source[one.start : one.end].decode(errors="replace")).split("\n")
        shown = [(line.rstrip(), row + 1 + number) for number, line in enumerate(rows) if line.strip()]
        return "\n".join(line for line, _ in shown), tuple([number for _, number in shown])

    def _signature(self, one: OutlineDefinition) -> str:
        """The head of a definition on one line: up to its body, or its first line."""
        end = one.end if one.body_start is None else max(one.body_start, one.node_start)
        inner = [node for node in one.docs if one.node_start <= node.start_byte and node.end_byte <= end]
        start = inner[-1].end_byte if inner and one.body_start is not None else one.node_start
        before = self._source[one.node_start : inner[0].start_byte] if start > one.node_start else b""
        text = (before + self._source[start : min(end, start + 4 * _MOST_OF_SIGNATURE)]).decode(errors="ignore")
        if one.body_start is None or end == one.node_start:
            text = text.strip().partition("\n")[0]
        signature = _BODY_MARKS.sub("", " ".join(text.split()))
        return signature if len(signature) <= _MOST_OF_SIGNATURE else f"{signature[: _MOST_OF_SIGNATURE - 1]}…"

    def _docstring(self, docs: Sequence[Place], name: str) -> str | None:
        """What comments or texts say of a definition, or without a name of the file."""
        # Marks are taken off where each byte is a character.
        written = [self._source[node.start_byte : node.end_byte].decode("latin-1").strip() for node in docs]
        # A text that the query shows has none.
        written = [text for text in written if text[:1].isalnum() or not is_directive(text)]
        while name and len(written) > 1 and self._is_title(written[:1], name):
            written = written[1:]
        return None if name and self._is_title(written, name) else self._said(written) or None

    def _is_title(self, written: Sequence[str], name: str) -> bool:
        texts = [text.encode("latin-1").decode(errors="replace") for text in written]
        return is_section_title(texts, self._said(written), name)

    def _said(self, written: Sequence[str]) -> str:
        said = doc_text([_PART_MARKS.sub("\n", _TEXT_MARKS.sub("", text)) for text in written])
        return dedent(said.encode("latin-1").decode(errors="replace")).strip()

    def _call_facts(self, number: int, line_map: Sequence[int]) -> tuple[Fact, ...]:
        """The distinct calls of a definition."""
        facts: dict[str, Fact] = {}
        for call in self._calls.get(number, ()):
            scope = "self" if call.is_own else call.scope
            text = f"{scope}.{call.name}" if scope else call.name
            if len(text) <= MAX_TEXT and len(facts) < MAX_FACTS:
                names = tuple(text.split(".")) if all(map(_NAME.fullmatch, text.split("."))) else (call.name,)
                line = self._line_of(call.start, line_map)
                facts.setdefault(text, Fact(text, line, names=names, form=Form.CALL))
        return tuple(facts.values())

    def _fields(self, one: OutlineDefinition, line_map: Sequence[int]) -> tuple[Fact, ...]:
        return tuple([
            Fact(name, self._line_of(start, line_map), names=(name,), form=Form.NAME)
            for name, start in [*one.fields.items()][:MAX_FACTS]
        ])  # fmt: skip

    def _row(self, place: int) -> int:
        """The 1-based line of a byte."""
        return bisect_right(self._row_starts, place)

    def _line_of(self, place: int, line_map: Sequence[int]) -> int:
        """The 1-based canonical line that shows a byte of a definition."""
        return max(1, bisect_right(line_map, self._row(place)))

    def _place(self, place: int) -> tuple[int, int]:
        """The 1-based line of a byte, and how many bytes are before it on that line."""
        row = self._row(place)
        return row, place - self._row_starts[row - 1]

    def _references(self, symbols: Sequence[Symbol]) -> str:
        """What the file says to the graph (`reference_facts` describes it): its calls, and the types that it names."""
        receivers: list[list[Any] | None] = []
        numbers: dict[str, int] = {}
        calls = []
        for call in self._found.calls:
            if call.scope not in numbers:
                numbers[call.scope] = len(receivers)
                receivers.append(_chain(call.scope))
            calls.append([call.definition, numbers[call.scope], call.name, 0])
        content: dict[str, Any] = {
            "language": self._language,
            "package": None,
            "exports": [],
            "symbols": [
                [symbol.id.removeprefix(f"{self._path}{SEPARATOR}"), symbol.type.value, list(one.parts), [], None]
                for symbol, one in zip(symbols, self._found.definitions, strict=True)
            ],
            "heads": [[list(symbol.modifiers), [], 0, -1] for symbol in symbols],
            "constants": list(self._found.constants),
            **{group: [] for group in ("extensions", "imports", "typed", "bound", "blocks", "around", "results")},
            "calls": calls,
            "counts": [-1] * len(calls),
            "receivers": receivers,
            "uses": self._uses(),
        }
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))

    def _uses(self) -> list[list[Any]]:
        """The types that definitions name, each with how often."""
        times: dict[tuple[int, str], int] = {}
        for place in self._found.types:
            path = " ".join(filter(None, (*place.scope.split("."), place.name)))
            if all(map(_PATH.fullmatch, path.split(" "))):
                times[place.definition, path] = times.get((place.definition, path), 0) + 1
        return [[definition, path, 0, -1, count] for (definition, path), count in times.items()]


def _chain(scope: str) -> list[Any] | None:
    """The receiver of a call as a chain of names; no steps where there is none, None for what is no chain."""
    names = scope.split(".") if scope else []
    return names if all(map(_NAME.fullmatch, names)) else None


OUTLINE_PARSERS = {name: OutlineParser(table) for name, table in outline_tables().items()}
