"""What the query of a language's table finds in a tree: definitions, nested as they are written, calls and types.

Nothing here knows a language. A definition is what lies in the bytes of its node; a comment right above it, or a text
that the query shows, documents it.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from tree_sitter import Node, Parser, QueryCursor, Tree

from codesum_pipeline.languages.declarations.spans import NestedRanges
from codesum_pipeline.languages.outlines.grammars import load_grammar
from codesum_pipeline.languages.outlines.outline_table import (
    CALL,
    COMMENT,
    CONSTANT,
    DEFINITION,
    ERROR,
    FIELD,
    KINDS,
    TYPE,
    OutlineTable,
    compiled_query,
    respelled_source,
)
from codesum_pipeline.symbols.parsing.bounded import NODE_STEPS, WorkBudget, parse_within_bounds
from codesum_pipeline.symbols.parsing.nested_definitions import FREE_INSIDE, MAX_NESTING, MOST_INSIDE, id_part
from codesum_pipeline.symbols.parsing.outline_comments import OutlineComments
from codesum_pipeline.symbols.parsing.outline_findings import (
    FileFindings,
    NamedPlace,
    OutlineDefinition,
    Place,
    with_owners,
    without_repeated,
)
from codesum_pipeline.symbols.parsing.outline_pieces import Statement, TextSpan, cut_in_pieces

# So many parts of one pattern may be open at a time, which bounds the time of a query; others of the pattern are lost.
MATCH_LIMIT = 1 << 10
# Patterns begin at most so deep in a tree: a query takes minutes in one that is tens of thousands deep, and hours where
# it is more than 65,534, as it counts in 16 bits how deep it is.
DEEPEST_START = 1000
_JOINTS = (":", "(", ")")
_QUOTES = "\"'`"
_BRACKETS = ("[]", "()")
Captures = Mapping[str, Sequence[Any]]


def find_outline(
    table: OutlineTable, source: bytes, budget: WorkBudget, *, match_limit: int = MATCH_LIMIT
) -> FileFindings:
    """What a table finds in a source; raises `TooMuchWork` past the budget, `MissingGrammar` without the grammar. Where
    a query met its limit, that is an error of the file."""
    finder = _Finder(table, source)
    if table.marks is not None:
        budget.spend(len(source))
        finder.add_pieces(*cut_in_pieces(table.marks, source))
    else:
        tree = parse_within_bounds(Parser(load_grammar(table.grammar)), respelled_source(table, source), budget)
        budget.spend(NODE_STEPS * tree.root_node.descendant_count)
        cursor = QueryCursor(compiled_query(table), match_limit=match_limit)
        cursor.set_max_start_depth(DEEPEST_START)
        finder.add_tree(tree, cursor)
    return finder.found()


class _Match(Struct, frozen=True):
    """One definition that a pattern found; `said` is which kind of definition."""

    pattern: int
    said: str
    node: Place
    captures: Captures


class _Finder:
    """Sorts the matches of one file."""

    def __init__(self, table: OutlineTable, source: bytes) -> None:
        self._table, self._source = table, source
        self._comments = OutlineComments(table, source)
        self._private = re.compile(table.hidden) if table.hidden else None
        # By the first byte of its name that is inside of it: the first pattern that fits decides what is defined there.
        self._defined: dict[int, _Match] = {}
        self._others: list[tuple[str, Captures]] = []
        self._branches: set[int] = set()
        self._exported: set[str] = set()
        self._exports_all = False
        self._errors = 0

    def add_tree(self, tree: Tree, cursor: QueryCursor) -> None:
        """Take what the query finds in a tree."""
        for pattern, captures in cursor.matches(tree.root_node):
            self._sort(pattern, captures)
        self._errors = self._errors or int(tree.root_node.has_error or cursor.did_exceed_match_limit)

    def add_pieces(self, pieces: Sequence[Statement], comments: Sequence[TextSpan]) -> None:
        """Take what patterns find."""
        self._sort(0, {COMMENT: comments})
        for piece in pieces:
            *scope, name = piece.names
            body = [TextSpan(piece.body, piece.body)] if piece.body >= 0 else []
            node = TextSpan(piece.start, piece.end, piece.kind)
            self._sort(0, {f"{DEFINITION}{piece.kind}": [node], "name": [name], "scope": scope, "body": body})
            self._sort(0, {FIELD: piece.fields})
            self._sort(0, {"branch": piece.branches})
            for capture, place in piece.uses:
                self._sort(0, {capture: [place]})

    def _sort(self, pattern: int, captures: Captures) -> None:
        for name, nodes in captures.items():
            if name == COMMENT:
                self._comments.add(nodes)
            elif name == "preamble":
                self._comments.add_preambles(nodes)
            elif name == "branch":
                self._branches.update(node.start_byte for node in nodes)
            elif name == "export":
                self._exported.update(map(self._name, nodes))
            elif name == "export.all":
                self._exports_all = True
            elif name == ERROR:
                self._errors += len(nodes)
            elif name in (CALL, TYPE, CONSTANT, FIELD):
                self._others.append((name, captures))
            elif name.startswith(DEFINITION):
                match = _Match(pattern, name.removeprefix(DEFINITION), nodes[0], captures)
                start = nodes[0].start_byte
                place = max(start, min((node.start_byte for node in captures.get("name", ())), default=start))
                if place not in self._defined or pattern < self._defined[place].pattern:
                    self._defined[place] = match

    def found(self) -> FileFindings:
        """Everything, in the order of the source."""
        definitions = self._nested()
        around = NestedRanges([(one.node_start, one.end, number) for number, one in enumerate(definitions)])
        places: dict[str, list[NamedPlace]] = {CALL: [], TYPE: []}
        constants: dict[str, None] = {}
        for kind, captures in self._others:
            if kind in (CALL, TYPE):
                named = self._named(captures, around)
                if named is not None:
                    places[kind].append(named)
                continue
            for node in captures.get("name", captures[kind]):
                if node.start_byte in self._defined:
                    continue
                holder = around.number_at(node.start_byte)
                if kind == CONSTANT and holder < 0:
                    constants[self._name(node)] = None
                elif kind == FIELD and holder >= 0:
                    definitions[holder].fields.setdefault(self._name(node), node.start_byte)
        return FileFindings(
            definitions,
            without_repeated(places[CALL]),
            without_repeated(places[TYPE]),
            [*constants],
            sorted(self._branches),
            self._comments.of_file(),
            self._errors,
        )

    def _named(self, captures: Captures, around: NestedRanges) -> NamedPlace | None:
        names = captures.get("name") or captures.get(CALL) or captures.get(TYPE) or ()
        name = self._joined(names)
        before = captures.get("scope", ())
        place = min((node.start_byte for node in names), default=0)
        first = min((node.start_byte for node in (*before, *names)), default=0)
        if not name or place in self._defined or first in self._defined:
            return None
        owners, name = self._owned(before, name)
        return NamedPlace(".".join(owners), name, first, place, around.number_at(place), "self" in captures)

    def _nested(self) -> list[OutlineDefinition]:
        """The definitions, each inside of the one around it."""
        found: list[OutlineDefinition] = []
        enclosing: list[int] = []
        inside, most_inside = 0, FREE_INSIDE + MOST_INSIDE * len(self._source)
        matches = sorted(self._defined.values(), key=lambda one: (one.node.start_byte, -one.node.end_byte))
        starts = {
            kind: [one.node.start_byte for one in matches if one.node.type == kind]
            for kind in self._table.until_next.split()
        }
        for match in matches:
            start = match.node.start_byte
            while enclosing and start >= found[enclosing[-1]].end:
                enclosing.pop()
            around = found[enclosing[-1]] if enclosing else None
            limit = around.end if around else len(self._source)
            end = self._end(match, starts, limit)
            if len(enclosing) >= MAX_NESTING or (around and inside + end - start > most_inside):
                continue
            definition = self._definition(match, end, enclosing[-1] if enclosing else None, found)
            if definition is None:
                continue
            definition.end = min(definition.end, limit)
            inside += end - start if around else 0
            number = self._continued(found, definition)
            if number is None:
                number = len(found)
                found.append(definition)
            else:
                found[number].end = found[number].code_end = end
                found[number].has_error |= definition.has_error
            enclosing.append(number)
        return with_owners(found)

    def _end(self, match: "_Match", starts: Mapping[str, Sequence[int]], limit: int) -> int:
        """Where a definition ends that ends at a byte at the latest."""
        node, bodies = match.node, match.captures.get("body", ())
        if node.type not in starts or bodies:
            last: int = max([node.end_byte, *(body.end_byte for body in bodies)])
            return self._comments.end_without_following(node, min(limit, last))
        around = node.parent if isinstance(node, Node) else None
        limit = min(limit, around.end_byte if around else limit)
        same = starts[node.type]
        following = bisect_right(same, node.start_byte)
        return self._comments.shown_end(min(limit, same[following]) if following < len(same) else limit)

    def _definition(
        self, match: "_Match", end: int, parent: int | None, found: Sequence[OutlineDefinition]
    ) -> OutlineDefinition | None:
        captures, start = match.captures, self._after_texts(match)
        name = self._joined(captures.get("name", ()))
        if not name:
            return None
        if self._table.separator and self._table.separator in name:
            parent = None
        owners, name = self._owned(captures.get("scope", ()), name)
        around = found[parent].parts if parent is not None else ()
        code_start, node_start, docs = self._comments.around(match.node, start, captures.get("doc", ()))
        parameters = captures.get("parameters")
        return OutlineDefinition(
            type=KINDS[match.said],
            kind=match.node.type,
            parts=(*around, *map(id_part, (*owners, name))),
            start=min([code_start, *(node.start_byte for node in docs)]),
            code_start=code_start,
            node_start=node_start,
            end=max([end, *(node.end_byte for node in docs)]),
            code_end=end,
            body_start=min((node.start_byte for node in captures.get("body", ())), default=None),
            docs=docs,
            parent=parent,
            arity=sum(node.named_child_count for node in parameters) if parameters else -1,
            is_private=self._is_private(name, captures),
            has_error=any(node.has_error for nodes in captures.values() for node in nodes),
        )

    def _after_texts(self, match: "_Match") -> int:
        """Where a definition begins, without the texts at its beginning that document it."""
        start = match.node.start_byte
        for node in match.captures.get("doc", ()):
            if node.start_byte == start:
                text = self._source[node.end_byte : match.node.end_byte]
                start = node.end_byte + len(text) - len(text.lstrip())
        return start

    def _is_private(self, name: str, captures: Captures) -> bool:
        """Whether nobody outside of what is around a definition may use it."""
        if "private" in captures or (self._private and self._private.search(name)):
            return True
        is_listed = self._exports_all or not self._exported or name in self._exported
        return "local" in captures and not is_listed

    def _continued(self, found: Sequence[OutlineDefinition], new: OutlineDefinition) -> int | None:
        """The number of the definition that a new one is a further clause of."""
        if not found or new.kind not in self._table.clauses.split():
            return None
        number = len(found) - 1
        while number >= 0 and found[number].parent != new.parent:
            number -= 1
        same = number >= 0 and (found[number].parts, found[number].kind, found[number].arity) == (
            new.parts,
            new.kind,
            new.arity,
        )
        return number if same else None

    def _joined(self, nodes: Sequence[Place]) -> str:
        """Several names as one, with dots between those that no mark between them joins."""
        parts = [*filter(None, map(self._name, sorted(nodes, key=lambda node: node.start_byte)))]
        words = dict(self._table.words) if len(parts) > 1 else {}
        joined = ""
        for name in (words.get(part, part) for part in parts):
            joined += name if not joined or name in _JOINTS or joined[-1] in _JOINTS else f".{name}"
        return joined

    def _owned(self, owners: Sequence[Place], name: str) -> tuple[list[str], str]:
        """What comes before a name, and the name without that."""
        mark = self._table.separator
        *before, last = name.split(mark) if mark else (name,)
        said = [part for node in owners for part in self._name(node).split(mark or ".")]
        return [part for part in (*said, *before) if part], last

    def _name(self, node: Place) -> str:
        """The text of a name on one line, without the quotes or brackets around it."""
        text = " ".join(self._source[node.start_byte : node.end_byte].decode(errors="replace").split())
        if len(text) > 2 and text[0] + text[-1] in _BRACKETS:
            text = text[1:-1].strip()
        if len(text) > 2 and text[0] in _QUOTES and text[-1] == text[0]:
            text = text.strip(text[0]) or text
        return text
