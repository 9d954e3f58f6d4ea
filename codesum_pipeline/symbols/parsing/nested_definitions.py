"""The definitions of one file, nested as they are written, with what belongs to each."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from msgspec import Struct, field
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.hook_values import DefinitionHead
from codesum_pipeline.languages.declarations.node_code import raw_text
from codesum_pipeline.languages.declarations.spec import Mark
from codesum_pipeline.symbols.parsing.canonical import DEEPEST_INDENT, INDENT
from codesum_pipeline.symbols.parsing.comments import Comments
from codesum_pipeline.symbols.parsing.file_tokens import DefinitionNode, Tokens

# Deeper definitions belong to the one around them. CPython refuses deeper blocks; without a bound, the
# canonical sources of definitions nested in each other would grow with the square of a file.
MAX_NESTING = 100
# So do definitions inside of others once these are so many bytes in all, and so many more for each byte of the file:
# each has a canonical source, and a file that nests all that it has would have a hundred times itself.
FREE_INSIDE = 1_000_000
MOST_INSIDE = 20
_MAX_NAME = 200


class Definition(Struct):
    """One definition or scope.

    `start_byte` is that of its first documenting comment, `code_start` that of
    its first preamble; `nodes` are more than one where clauses follow each
    other. `marks` are the marked nodes directly in it. `section` is the access
    that it has as a member, `inner_section` that of the members read last. One
    that `is_unnamed` is found by what holds it (`held_functions`).
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
    section: str = ""
    inner_section: str = ""
    is_prototype: bool = False
    is_unnamed: bool = False
    clause: str = ""
    docstring: Node | None = None
    bodies: list[Node | None] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


class FileOutline(Struct):
    """A file's definitions in source order, and the marked nodes outside of any.

    `extensions` are the nodes that speak of types elsewhere, with the names around each.
    """

    definitions: list[Definition]
    outside: list[Mark]
    extensions: list[tuple[tuple[str, ...], Node]] = field(default_factory=list)


def find_definitions(tokens: Tokens, declaration: Declaration, comments: Comments) -> FileOutline:
    """Nest what the walk has found."""
    preambles = {
        comments.end_of(node): node
        for kind, _, node in tokens.marks
        if kind in declaration.preambles and declaration.is_preamble(node)
    }
    outline = FileOutline([], [])
    scopes: list[Definition] = []
    enclosing: list[int] = []
    sizes = _SourceSizes(tokens)
    inside, most_inside = 0, FREE_INSIDE + MOST_INSIDE * (tokens.offsets[-1] if tokens.offsets else 0)
    marks = tokens.marks if declaration.uncalled is None else _without_uncalled(tokens.marks, declaration)
    for event in _in_order(tokens.found, marks):
        start = event.node.start_byte if isinstance(event, DefinitionNode) else event[1]
        while enclosing and start >= scopes[enclosing[-1]].end_byte:
            enclosing.pop()
        if not isinstance(event, DefinitionNode):
            kind, _, node = event
            symbols = (scopes[number] for number in reversed(enclosing) if scopes[number].type is not None)
            around = next(symbols, None)
            (outline.outside if around is None else around.marks).append(event)
            if kind in declaration.extensions:
                outline.extensions.append((scopes[enclosing[-1]].parts if enclosing else (), node))
            if enclosing and kind in declaration.sections:
                label = raw_text(node)
                if not declaration.section_words or label in declaration.section_words:
                    scopes[enclosing[-1]].inner_section = label
        elif len(enclosing) < MAX_NESTING and (not enclosing or inside + sizes.of(event.node) <= most_inside):
            inside += sizes.of(event.node) if enclosing else 0
            parent = enclosing[-1] if enclosing else None
            definition = _definition(event, scopes, parent, comments, preambles, declaration)
            if not _counts(event.defined, definition, scopes):
                continue
            number = _continued(scopes, definition, declaration)
            if number is None:
                number = len(scopes)
                scopes.append(definition)
            else:
                scopes[number].nodes.extend(definition.nodes)
                scopes[number].bodies.extend(definition.bodies)
                scopes[number].end_byte = definition.end_byte
            enclosing.append(number)
    return _symbols_alone(scopes, outline)


class _SourceSizes:
    """How long the canonical sources of a file's parts are, nearly: their bytes, and the blanks before their lines."""

    def __init__(self, tokens: Tokens) -> None:
        self._starts = [tokens.offsets[token] for token in tokens.line_tokens if token < len(tokens.offsets)]
        indents = (len(INDENT) * min(depth, DEEPEST_INDENT) for depth in tokens.line_depths)
        self._blanks = [0, *accumulate(indents)]

    def of(self, node: Node) -> int:
        start, end = node.start_byte, node.end_byte
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return end - start + self._blanks[last] - self._blanks[first]


def _without_uncalled(marks: Sequence[Mark], declaration: Declaration) -> Iterator[Mark]:
    """The marks without those that look like calls where there are none."""
    start, end = 0, 0
    for mark in marks:
        kind, offset, node = mark
        if not (kind in declaration.calls and start <= offset < end):
            yield mark
            start, end = (declaration.uncalled and declaration.uncalled(node)) or (start, end)


def _in_order(found: Sequence[DefinitionNode], marks: Iterable[Mark]) -> Iterator[DefinitionNode | Mark]:
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
    found: DefinitionNode,
    scopes: Sequence[Definition],
    parent: int | None,
    comments: Comments,
    preambles: dict[int, Node],
    declaration: Declaration,
) -> Definition:
    defined: DefinitionHead = found.defined
    outer = found.wrapper or found.node
    inner: list[Node] = []
    if found.wrapper is not None and declaration.preambles:
        inner = [child for child in found.wrapper.named_children if child.type in declaration.preambles]
    before, docs = comments.before(outer.start_byte, preambles) if defined.type is not None else ((), ())
    code_start = before[0].start_byte if before else outer.start_byte
    return Definition(
        nodes=[found.node, defined.tail] if defined.tail else [found.node],
        wrapper=found.wrapper,
        type=defined.type,
        parts=(*(scopes[parent].parts if parent is not None else ()), *map(id_part, defined.parts)),
        body=defined.body,
        head=defined.head,
        parent=parent,
        preambles=(*before, *inner),
        docstring=declaration.docstrings.find(defined.body) if declaration.docstrings and defined.body else None,
        docs=docs,
        start_byte=min(docs[0].start_byte, code_start) if docs else code_start,
        code_start=code_start,
        end_byte=(defined.tail or found.node).end_byte,
        section=scopes[parent].inner_section if parent is not None and defined.is_sectioned else "",
        inner_section=defined.section,
        is_prototype=defined.is_prototype,
        clause=defined.clause,
        bodies=[None if defined.body == defined.tail else defined.body, None] if defined.tail else [defined.body],
    )


def _counts(defined: DefinitionHead, definition: Definition, scopes: Sequence[Definition]) -> bool:
    """Whether a possible definition is one in its context."""
    around = scopes[definition.parent].type if definition.parent is not None else None
    if defined.is_prototype:
        return around is SymbolType.CLASS or (around is None and bool(definition.docs))
    return not (defined.is_guess and around is SymbolType.FUNCTION)


def id_part(name: str) -> str:
    """A name, which may be any text where a language quotes names, as a part of an id."""
    part = name.replace(SEPARATOR, ":")
    return part if len(part) <= _MAX_NAME else part[: _MAX_NAME - 1] + "…"


def _continued(scopes: Sequence[Definition], new: Definition, declaration: Declaration) -> int | None:
    """The number of the previous definition, if the new one is another clause of it."""
    kind = new.nodes[0].type
    if not scopes or not (declaration.overload_heads or kind in declaration.clauses):
        return None
    first = 0 if new.parent is None else new.parent + 1
    siblings = (number for number in range(len(scopes) - 1, first - 1, -1) if scopes[number].parent == new.parent)
    number = next(siblings, None)
    if number is None or (scopes[number].parts, scopes[number].type) != (new.parts, new.type):
        return None
    last = scopes[number].nodes[-1].type
    is_clause = kind in declaration.clauses and kind == last and scopes[number].clause == new.clause
    return number if (is_clause and new.type is SymbolType.FUNCTION) or last in declaration.overload_heads else None


def _symbols_alone(scopes: Sequence[Definition], outline: FileOutline) -> FileOutline:
    """Leave out what is only a scope, or a prototype outside of classes that announces what follows; what has an owner
    in the file belongs to that."""
    numbers: dict[int, int] = {}
    owners: dict[tuple[str, ...], int] = {}
    defined = {scope.parts for scope in scopes if scope.type is SymbolType.FUNCTION and not scope.is_prototype}
    for number, scope in enumerate(scopes):
        is_member = scope.parent is not None and scopes[scope.parent].type is SymbolType.CLASS
        if scope.type is not None and not (scope.is_prototype and not is_member and scope.parts in defined):
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
