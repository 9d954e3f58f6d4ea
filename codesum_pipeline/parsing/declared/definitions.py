"""The definitions of one file, nested as they are written, with what belongs to each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from codesum_pipeline.model.ids import number_occurrences, symbol_id
from codesum_pipeline.model.symbols import SymbolType
from codesum_pipeline.parsing.canonical import Found, Mark, Tokens
from codesum_pipeline.parsing.declared.comments import Comments
from codesum_pipeline.parsing.declared.declaration import Declaration, Defined
from codesum_pipeline.parsing.definitions import MAX_NESTING


@dataclass(slots=True)
class Definition:
    """One definition or scope.

    `start_byte` is that of its first documenting comment, `code_start` that of
    its first preamble; `nodes` are more than one where clauses follow each
    other. `marks` are the marked nodes directly in it.
    """

    nodes: list[Node]
    wrapper: Node | None
    type: SymbolType | None
    parts: tuple[str, ...]
    body: Node | None
    head: Node | None
    parent: int | None
    preambles: tuple[Node, ...]
    docs: tuple[Node, ...]
    start_byte: int
    code_start: int
    end_byte: int
    marks: list[Mark] = field(default_factory=list)


@dataclass(slots=True)
class Outline:
    """A file's definitions in source order, and the marked nodes outside of any."""

    definitions: list[Definition]
    outside: list[Mark]


def find_definitions(tokens: Tokens, declaration: Declaration, comments: Comments) -> Outline:
    """Nest what the walk has found."""
    preambles = {comments.end_of(node): node for kind, _, node in tokens.marks if kind in declaration.preambles}
    outline = Outline([], [])
    scopes: list[Definition] = []
    enclosing: list[int] = []
    for event in _in_order(tokens.found, tokens.marks):
        start = event.node.start_byte if isinstance(event, Found) else event[1]
        while enclosing and start >= scopes[enclosing[-1]].end_byte:
            enclosing.pop()
        if not isinstance(event, Found):
            _innermost_symbol(scopes, enclosing, outline).append(event)
        elif len(enclosing) < MAX_NESTING:
            parent = enclosing[-1] if enclosing else None
            definition = _definition(event, scopes, parent, comments, preambles)
            if _continues(scopes, definition, event, declaration):
                enclosing.append(_extend(scopes, definition))
            else:
                enclosing.append(len(scopes))
                scopes.append(definition)
    return _symbols_alone(scopes, outline)


def _in_order(found: Sequence[Found], marks: Sequence[Mark]) -> Iterator[Found | Mark]:
    """Both in document order; a node around another comes first."""
    waiting = list(reversed(found))
    for mark in marks:
        _, start, node = mark
        while waiting and (
            waiting[-1].node.start_byte < start
            or (waiting[-1].node.start_byte == start and waiting[-1].node.end_byte > node.end_byte)
        ):
            yield waiting.pop()
        yield mark
    yield from reversed(waiting)


def _definition(
    found: Found, scopes: Sequence[Definition], parent: int | None, comments: Comments, preambles: dict[int, Node]
) -> Definition:
    defined: Defined = found.defined
    outer = found.wrapper or found.node
    before, docs = comments.before(outer.start_byte, preambles)
    code_start = before[0].start_byte if before else outer.start_byte
    return Definition(
        nodes=[found.node],
        wrapper=found.wrapper,
        type=defined.type,
        parts=(*(scopes[parent].parts if parent is not None else ()), *defined.parts),
        body=defined.body,
        head=defined.head,
        parent=parent,
        preambles=before,
        docs=docs,
        start_byte=min(docs[0].start_byte, code_start) if docs else code_start,
        code_start=code_start,
        end_byte=found.node.end_byte,
    )


def _continues(scopes: Sequence[Definition], new: Definition, found: Found, declaration: Declaration) -> bool:
    """Whether a definition is one more clause of the one before it."""
    if found.node.type not in declaration.clauses or not scopes:
        return False
    before = _last_sibling(scopes, new.parent)
    return before is not None and before.parts == new.parts and before.nodes[0].type == found.node.type


def _last_sibling(scopes: Sequence[Definition], parent: int | None) -> Definition | None:
    return next((scope for scope in reversed(scopes) if scope.parent == parent), None)


def _extend(scopes: list[Definition], clause: Definition) -> int:
    number = max(index for index, scope in enumerate(scopes) if scope.parent == clause.parent)
    scopes[number].nodes.extend(clause.nodes)
    scopes[number].end_byte = clause.end_byte
    return number


def _innermost_symbol(scopes: Sequence[Definition], enclosing: Sequence[int], outline: Outline) -> list[Mark]:
    for number in reversed(enclosing):
        if scopes[number].type is not None:
            return scopes[number].marks
    return outline.outside


def _symbols_alone(scopes: Sequence[Definition], outline: Outline) -> Outline:
    """Leave out what is only a scope; what has an owner in the file belongs to that."""
    numbers: dict[int, int] = {}
    owners: dict[tuple[str, ...], int] = {}
    for number, scope in enumerate(scopes):
        if scope.type is not None:
            numbers[number] = len(outline.definitions)
            if scope.type is SymbolType.CLASS:
                owners.setdefault(scope.parts, len(outline.definitions))
            outline.definitions.append(scope)
    for definition in outline.definitions:
        around = definition.parent
        while around is not None and around not in numbers:
            around = scopes[around].parent
        enclosing = numbers[around] if around is not None else None
        owner = owners.get(definition.parts[:-1])
        if enclosing is not None and (owner is None or outline.definitions[enclosing].parts == definition.parts[:-1]):
            owner = enclosing
        definition.parent = owner
    return outline


def number_definitions(definitions: Sequence[Definition], file_path: str) -> list[str]:
    """The id of each definition: a name that stood before in the file gets `#2`, `#3`, … in source order."""
    bases = [symbol_id(file_path, definition.parts) for definition in definitions]
    return [
        symbol_id(file_path, definition.parts, occurrence=occurrence)
        for definition, occurrence in zip(definitions, number_occurrences(bases), strict=True)
    ]
