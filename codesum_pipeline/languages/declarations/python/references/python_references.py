"""What the graph needs to know about one Python file: scopes, the names bound in them, and calls.

The facts say what is written, never what it means: nothing here looks at
another file, and they contain no path, so a file whose blob did not change
carries them over. They are one JSON object:

- `scopes`: `[kind, parent scope, end of the symbol's id]`; scope 0 is the file itself. The end of an id is
  the id without the file's path, null if the parser has no symbol for the scope.
- `names`: per scope, `{name: [binding, …]}` in source order; the names `return` and `yield` hold what a function gives.
- `attributes`: per class scope, `{attribute: [[scope, binding], …]}`: what methods assign to their receiver.
- `functions`: per function scope, `[return annotation, decorators, is a generator]`.
- `classes`: per class scope, `[bases, decorators]`.
- `imports`: `[module, level, name]`, one for each imported name, in source order.
- `stars`: `[scope, module, level]`.
- `calls`: `[scope, callee, line]` in source order. A decorator is a call too, unless it adds to a property.
- `uses`: `[scope, scope of the function or class around, dotted name, how often]`, of names that are not called.

Callees and values are shapes of expressions, see `references.expressions`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import tree_sitter_python
from tree_sitter import Language, Node, Query, QueryCursor

from codesum_pipeline.foundation.data_model.bindings import Bound, ScopeKind
from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.languages.declarations.hook_values import NAMELESS, References, WordRow
from codesum_pipeline.languages.declarations.nodes import only_code_child
from codesum_pipeline.languages.declarations.python.references.python_definitions import DefinitionReader, read_imports
from codesum_pipeline.languages.declarations.python.references.python_scopes import (
    BoundAttribute,
    BoundName,
    NameScope,
    NameTable,
)
from codesum_pipeline.languages.declarations.python.references.python_statements import StatementReader, read_narrowings
from codesum_pipeline.languages.declarations.python.references.python_uses import UseReader
from codesum_pipeline.languages.declarations.python.references.reaching import ShapeReach

# An error of more nodes is a wide one, and a tree of more levels a deep one.
WIDE = 5_000
DEEP = 20_000
_QUERY = Query(Language(tree_sitter_python.language()), Path(__file__).with_suffix(".scm").read_text(encoding="utf-8"))


def extract_references(
    root: Node, source: bytes, file_path: str, symbols: Sequence[Symbol], words: Iterable[WordRow] = ()
) -> References:
    """The file's facts as compact JSON, with its callees; `symbols` give the ids of its definitions, `words` are its
    identifiers."""
    captures = _captures(root)
    table = NameTable(source)
    scopes = table.scopes
    DefinitionReader(
        table, {(symbol.name, symbol.start_line): symbol.id.removeprefix(file_path) for symbol in symbols}
    ).read(captures)
    imports = read_imports(table, captures)
    StatementReader(table).read(captures)
    arms = read_narrowings(table, captures.get("narrowing", ()))
    _place_names(table)
    _place_attributes(table)
    reaching = ShapeReach({**captures, "guarded": arms}, table)
    bound: list[BoundName | BoundAttribute] = [*table.names, *table.attributes]
    for one in bound:
        if one.binding[0] == Bound.VALUE:
            one.binding[1] = reaching.chosen(one.scope, one.binding[1], one.read_at)
    callees = sorted(captures.get("callee", ()), key=lambda node: (node.start_byte, -node.end_byte))
    last_names = tuple([_last_name(node) for node in callees])
    uses = UseReader(table, captures, source).read(words, frozenset(last_names), has_stars=bool(imports["stars"]))
    facts = {
        "scopes": [[scope.kind, scope.parent, scope.symbol] for scope in scopes],
        "names": [scope.names for scope in scopes],
        "attributes": {number: scope.attributes for number, scope in enumerate(scopes) if scope.attributes},
        "functions": {
            number: [scope.returns, scope.decorators, scope.is_generator]
            for number, scope in enumerate(scopes)
            if scope.kind is ScopeKind.FUNCTION
        },
        "classes": {
            number: [scope.bases, scope.decorators]
            for number, scope in enumerate(scopes)
            if scope.kind is ScopeKind.CLASS
        },
        **imports,
        "calls": [
            [scope, reaching.chosen(scope, table.expressions.shape(node), node.start_byte), node.start_point[0] + 1]
            for node in callees
            for scope in [table.scope_at(node)]
        ],
        "uses": uses,
    }
    written = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return References(written, last_names)


def _captures(root: Node) -> dict[str, list[Node]]:
    """What the query finds in a tree, in the order of the file.

    Its time grows with the square of the tokens of an error, and of the depth of a very deep tree: it is asked about
    parts of such trees.
    """
    found: dict[str, dict[int, Node]] = {}
    for part in _parts(root):
        cursor = QueryCursor(_QUERY)
        cursor.set_max_start_depth(DEEP)
        for name, nodes in cursor.captures(part).items():
            found.setdefault(name, {}).update((node.id, node) for node in nodes)
    return {
        name: sorted(nodes.values(), key=lambda node: (node.start_byte, -node.end_byte))
        for name, nodes in found.items()
    }


def _parts(root: Node) -> Iterator[Node]:
    """The tree; of one with wide errors, also what is in them, and of a deep one what is deeper."""
    if root.end_byte <= 2 * DEEP and not root.has_error:
        yield root
        return
    cursor, above, wide = root.walk(), [root], set[int]()
    deeper = []
    while (node := cursor.node) is not None:
        if node.is_error and node.child_count > WIDE:
            wide.update(one.id for one in (*above, node))
        if len(above) % DEEP == 0:
            deeper.append(node)
        if cursor.goto_first_child():
            above.append(node)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                break
            above.pop()
        else:
            continue
        break
    waiting = [root, *deeper]
    while waiting:
        node = waiting.pop()
        if node.id in wide:
            waiting += reversed(node.named_children)
        else:
            yield node


def _place_names(table: NameTable) -> None:
    """Give each scope its names, in source order, but for narrowings of names that the enclosing function or file does
    not bind itself."""
    scopes = table.scopes
    bound = [one for one in table.names if one.binding[0] != Bound.NARROWED]
    own = {(one.scope, one.name) for one in bound if scopes[one.scope].kind in (ScopeKind.FUNCTION, ScopeKind.MODULE)}
    own -= {(one.scope, one.name) for one in bound if one.binding[0] in (Bound.GLOBAL, Bound.NONLOCAL)}
    table.names = [one for one in table.names if one.binding[0] != Bound.NARROWED or (one.scope, one.name) in own]
    table.names.sort(key=lambda one: (one.position, one.holds_from))
    for one in table.names:
        scopes[one.scope].names.setdefault(one.name, []).append(one.binding)
    for number, scope in enumerate(scopes):
        outer = [names[0] for names in scope.names.values() if names[0][0] in (Bound.GLOBAL, Bound.NONLOCAL)]
        for kind, name in outer:
            _move_outward(scopes, number, name, is_global=kind == Bound.GLOBAL)


def _move_outward(scopes: list[NameScope], number: int, name: str, *, is_global: bool) -> None:
    """Give the scope that owns a `global` or `nonlocal` name what this scope binds it to."""
    scope = scopes[number]
    owner = 0
    if not is_global:
        owner = scope.parent
        while owner > 0 and (name not in scopes[owner].names or scopes[owner].kind is ScopeKind.CLASS):
            owner = scopes[owner].parent
    bindings = scope.names.pop(name)
    if is_global:
        scope.names[name] = [[Bound.GLOBAL, name]]
    moved = [[Bound.ELSEWHERE, number, b] for b in bindings if b[0] not in (Bound.GLOBAL, Bound.NONLOCAL)]
    if number != 0 and moved:
        scopes[owner].names.setdefault(name, []).extend(moved)


def _place_attributes(table: NameTable) -> None:
    """Give each class what its methods assign to their receiver, also in functions inside them."""
    scopes = table.scopes
    table.attributes.sort(key=lambda one: one.position)
    for one in table.attributes:
        method = one.scope
        while method > 0 and one.owner not in scopes[method].names:
            method = scopes[method].parent
        if method > 0 and scopes[method].receiver == one.owner:
            of_class = scopes[scopes[method].parent].attributes
            of_class.setdefault(one.attribute, []).append([one.scope, one.binding])


def _last_name(callee: Node) -> int:
    """The first byte of `c` in `a.b.c`; `NAMELESS` for what has no such name."""
    node: Node | None = callee
    while node is not None and node.type == "parenthesized_expression":
        node = only_code_child(node)
    if node is not None and node.type == "attribute":
        node = node.child_by_field_name("attribute")
    return node.start_byte if node is not None and node.type == "identifier" and not node.is_missing else NAMELESS
