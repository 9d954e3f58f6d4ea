"""What the query of a language's table finds in a tree: definitions, nested as they are written, calls and types.

Nothing here knows a language. A definition is what lies in the bytes of its node; a comment right above it, or a text
that the query shows, documents it.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from tree_sitter import Node, Parser, QueryCursor, Tree

from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.symbols.outlines.grammars import load_grammar
from codesum_pipeline.symbols.outlines.outline_table import (
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
from codesum_pipeline.symbols.parsing.bounded import NODE_STEPS, TooMuchWork, WorkBudget, parse_within_bounds
from codesum_pipeline.symbols.parsing.comments import is_note
from codesum_pipeline.symbols.parsing.nested_definitions import FREE_INSIDE, MAX_NESTING, MOST_INSIDE, id_part
from codesum_pipeline.symbols.parsing.outline_pieces import Statements, TextSpan, cut_in_pieces

# So many parts of one pattern may be open at a time, which bounds the time of a query; others of the pattern are lost.
MATCH_LIMIT = 1 << 10
_JOINTS = (":", "(", ")")
# A query counts in 16 bits how deep it is, and takes hours in a deeper tree.
DEEPEST_TREE = (1 << 16) - 2
_QUOTES = "\"'`"
_BLANKS = b" \t\r\n\f"
_SHOWN = re.compile(rb"[^ \t\r\n\f]")
Place = Node | TextSpan
Captures = Mapping[str, Sequence[Any]]


class OutlineDefinition(Struct):
    """One definition; `start` is the first byte of its documentation, `code_start` that of its marks or of itself,
    `code_end` where it ends without documentation below it, `body_start` where its signature ends."""

    type: SymbolType
    kind: str
    parts: tuple[str, ...]
    start: int
    code_start: int
    node_start: int
    end: int
    code_end: int
    body_start: int | None
    docs: list[Place]
    parent: int | None = None
    arity: int = -1
    is_private: bool = False
    has_error: bool = False
    fields: dict[str, int] = field(default_factory=dict)


class NamedPlace(Struct, frozen=True):
    """A call or a type that is named: what stands before its last name, that name, and where both begin."""

    scope: str
    name: str
    start: int
    name_start: int
    definition: int


class FileFindings(Struct):
    """All that a query found in a file, in the order of the source; `comments` are those that document the file."""

    definitions: list[OutlineDefinition]
    calls: list[NamedPlace]
    types: list[NamedPlace]
    constants: list[str]
    branches: list[int]
    comments: list[Place]
    errors: int


def find_outline(table: OutlineTable, source: bytes, budget: WorkBudget) -> FileFindings:
    """What a table finds in a source; raises `TooMuchWork` past the budget, `MissingGrammar` without the grammar."""
    finder = _Finder(table, source)
    if table.marks is not None:
        budget.spend(len(source))
        finder.add_pieces(cut_in_pieces(table.marks, source))
    else:
        tree = parse_within_bounds(Parser(load_grammar(table.grammar)), respelled_source(table, source), budget)
        budget.spend(NODE_STEPS * tree.root_node.descendant_count)
        if tree.root_node.descendant_count > DEEPEST_TREE and _depth_of(tree) > DEEPEST_TREE:
            raise TooMuchWork(f"too much work: nested more than {DEEPEST_TREE:,} deep")
        finder.add_tree(tree, QueryCursor(compiled_query(table), match_limit=MATCH_LIMIT))
    return finder.found()


def _depth_of(tree: Tree) -> int:
    """How many nodes are around the deepest one."""
    cursor = tree.walk()
    depth = deepest = 0
    while depth >= 0:
        if cursor.goto_first_child():
            depth += 1
            deepest = max(deepest, depth)
            continue
        while depth >= 0 and not cursor.goto_next_sibling():
            cursor.goto_parent()
            depth -= 1
    return deepest


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
        self._private = re.compile(table.hidden) if table.hidden else None
        # By the first byte of its name that is inside of it: the first pattern that fits decides what is defined there.
        self._defined: dict[int, _Match] = {}
        self._others: list[tuple[str, Captures]] = []
        self._by_end: dict[int, Place] = {}
        self._by_start: dict[int, Place] = {}
        self._preambles: dict[int, Place] = {}
        self._comments: list[Place] = []
        self._documenting: set[int] = set()
        self._after_marks = tuple(mark.encode() for mark in table.after_marks)
        self._branches: set[int] = set()
        self._exported: set[str] = set()
        self._exports_all = False
        self._errors = 0

    def add_tree(self, tree: Tree, cursor: QueryCursor) -> None:
        """Take what the query finds in a tree."""
        for pattern, captures in cursor.matches(tree.root_node):
            self._sort(pattern, captures)
        self._errors = self._errors or int(tree.root_node.has_error)

    def add_pieces(self, pieces: Statements) -> None:
        """Take what patterns find."""
        self._sort(0, {COMMENT: pieces.comments})
        for piece in pieces.found:
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
                self._comments += nodes
                self._by_end.update((self._shown_end(node.end_byte), node) for node in nodes)
                self._by_start.update((node.start_byte, node) for node in nodes)
            elif name == "preamble":
                self._preambles.update((self._shown_end(node.end_byte), node) for node in nodes)
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
        spans = [(one.node_start, one.end) for one in definitions]
        around = _Innermost(spans, [one.parent for one in definitions])
        places: dict[str, list[NamedPlace]] = {CALL: [], TYPE: []}
        constants: dict[str, None] = {}
        for kind, captures in self._others:
            if kind in (CALL, TYPE):
                named = self._named(captures, around)
                if named is not None and self._defined.keys().isdisjoint((named.start, named.name_start)):
                    places[kind].append(named)
                continue
            for node in captures.get("name", captures[kind]):
                if node.start_byte in self._defined:
                    continue
                holder = around.at(node.start_byte)
                if kind == CONSTANT and holder < 0:
                    constants[self._name(node)] = None
                elif kind == FIELD and holder >= 0 and node.start_byte not in self._defined:
                    definitions[holder].fields.setdefault(self._name(node), node.start_byte)
        return FileFindings(
            definitions,
            _without_repeated(places[CALL]),
            _without_repeated(places[TYPE]),
            [*constants],
            sorted(self._branches),
            self._of_file(definitions),
            self._errors,
        )

    def _named(self, captures: Captures, around: "_Innermost") -> NamedPlace | None:
        names = captures.get("name") or captures.get(CALL) or captures.get(TYPE) or ()
        name = self._joined(names)
        place = min((node.start_byte for node in names), default=0)
        if not name or place in self._defined:
            return None
        before = captures.get("scope", ())
        owners, name = self._owned(before, name)
        first = min(node.start_byte for node in (*before, *names))
        return NamedPlace(".".join(owners), name, first, place, around.at(place))

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
        return _with_owners(found)

    def _end(self, match: "_Match", starts: Mapping[str, Sequence[int]], limit: int) -> int:
        """Where a definition ends that ends at a byte at the latest."""
        node, bodies = match.node, match.captures.get("body", ())
        if node.type not in starts or bodies:
            last: int = max([node.end_byte, *(body.end_byte for body in bodies)])
            return min(limit, last)
        around = node.parent if isinstance(node, Node) else None
        limit = min(limit, around.end_byte if around else limit)
        same = starts[node.type]
        following = bisect_right(same, node.start_byte)
        return self._shown_end(min(limit, same[following]) if following < len(same) else limit)

    def _definition(
        self, match: "_Match", end: int, parent: int | None, found: Sequence[OutlineDefinition]
    ) -> OutlineDefinition | None:
        captures, start = match.captures, self._after_texts(match)
        name = self._joined(captures.get("name", ()))
        if not name:
            return None
        owners, name = self._owned(captures.get("scope", ()), name)
        around = found[parent].parts if parent is not None else ()
        code_start, node_start, docs = self._before(start)
        docs += captures.get("doc", ()) or (() if docs else self._after(match.node))
        self._documenting.update(node.start_byte for node in docs)
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

    def _before(self, start: int) -> tuple[int, int, list[Place]]:
        """Where the marks before a definition begin, where those on its own line do, and the comments right above them
        that document it."""
        docs: list[Place] = []
        position = code_start = line_start = start
        while True:
            end = self._shown_end(position)
            rows = self._source.count(b"\n", end, position)
            if (preamble := self._preambles.get(end)) is not None and not docs:
                line_start = preamble.start_byte if position == line_start and not rows else line_start
                position = code_start = preamble.start_byte
                continue
            comment = self._by_end.get(end)
            if comment is None or rows > 1 or comment.start_byte in self._documenting or not self._is_alone(comment):
                break
            docs.insert(0, comment)
            position = comment.start_byte
        marks = tuple(mark.encode() for mark in self._table.doc_marks)
        if marks:
            docs = [node for node in docs if self._source.startswith(marks, node.start_byte)]
        return code_start, line_start, docs

    def _after(self, node: Place) -> list[Place]:
        """The comment right below a definition, or beside one of one line, that documents it."""
        if not self._table.after_marks:
            return []
        end = self._shown_end(node.end_byte)
        shown = _SHOWN.search(self._source, end)
        comment = self._by_start.get(shown.start()) if shown else None
        if comment is None or not self._source.startswith(self._after_marks, comment.start_byte):
            return []
        has_lines = self._source.find(b"\n", node.start_byte, node.end_byte) >= 0
        belongs_to_last_part = has_lines and self._column(comment) > self._column(node)
        return [] if belongs_to_last_part or self._source.count(b"\n", end, comment.start_byte) > 1 else [comment]

    def _column(self, place: Place) -> int:
        return place.start_byte - self._source.rfind(b"\n", 0, place.start_byte) - 1

    def _is_alone(self, comment: Place) -> bool:
        """Whether nothing stands before a comment on its line."""
        start = comment.start_byte
        return not self._source[start - self._column(comment) : start].strip()

    def _of_file(self, definitions: Sequence[OutlineDefinition]) -> list[Place]:
        """The first run of comments, before any code, that documents no definition and is no licence."""
        taken = {node.start_byte for one in definitions for node in one.docs}
        runs: list[list[Place]] = []
        position = 0
        for node in sorted(self._comments, key=lambda node: node.start_byte):
            between = self._source[position : node.start_byte]
            if node.start_byte in taken or between.strip():
                break
            if not runs or between.count(b"\n") > 1:
                runs.append([])
            runs[-1].append(node)
            position = self._shown_end(node.end_byte)
        return next((run for run in runs if not is_note(self._written(run))), [])

    def _written(self, run: Sequence[Place]) -> str:
        return self._source[run[0].start_byte : run[-1].end_byte].decode("latin-1")

    def _shown_end(self, position: int) -> int:
        """The end of the last byte before a place that is not blank."""
        while position and self._source[position - 1] in _BLANKS:
            position -= 1
        return position

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
        """The text of a name on one line, without the quotes around it."""
        text = " ".join(self._source[node.start_byte : node.end_byte].decode(errors="replace").split())
        if len(text) > 2 and (text[0] + text[-1] == "[]" or (text[0] in _QUOTES and text[-1] == text[0])):
            text = text[1:-1]
        return text


class _Innermost:
    """Finds the innermost definition around a byte."""

    def __init__(self, spans: Sequence[tuple[int, int]], parents: Sequence[int | None]) -> None:
        self._spans, self._parents = spans, parents
        self._starts = [start for start, _ in spans]

    def at(self, place: int) -> int:
        """Its number; -1 for none."""
        number: int | None = bisect_right(self._starts, place) - 1
        while number is not None and number >= 0 and not self._spans[number][0] <= place < self._spans[number][1]:
            number = self._parents[number]
        return -1 if number is None else number


def _without_repeated(places: Sequence[NamedPlace]) -> list[NamedPlace]:
    """Each place once, where several patterns found it: with what stands before its name."""
    found: dict[int, NamedPlace] = {}
    for place in places:
        if place.name_start not in found or place.scope:
            found[place.name_start] = place
    return [found[start] for start in sorted(found)]


def _with_owners(found: list[OutlineDefinition]) -> list[OutlineDefinition]:
    """What names a class of the file before its own name belongs to that."""
    classes: dict[tuple[str, ...], int] = {}
    for number, one in enumerate(found):
        if one.type is SymbolType.CLASS:
            classes.setdefault(one.parts, number)
    for number, one in enumerate(found):
        owner = classes.get(one.parts[:-1])
        if one.parent is None and owner is not None and owner != number:
            one.parent = owner
    return found
