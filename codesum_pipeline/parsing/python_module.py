"""What a Python file says about itself: imports, upper-case globals, `__all__`."""

from collections.abc import Iterable, Iterator, Sequence

from tree_sitter import Node

from codesum_pipeline.model.symbols import Import
from codesum_pipeline.parsing.canonical import Canonical
from codesum_pipeline.parsing.python_docstrings import literal_value
from codesum_pipeline.parsing.python_facts import targets
from codesum_pipeline.parsing.walk import Mark, Tokens

IMPORT_STATEMENTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})

# What the names of `__all__` are written in.
SEQUENCES = frozenset(
    {"list", "tuple", "set", "argument_list", "parenthesized_expression", "binary_operator", "expression_list"}
)


def read_imports(marks: Iterable[tuple[Mark, str | None]], tokens: Tokens, canonical: Canonical) -> tuple[Import, ...]:
    """One row per imported name, in source order; `marks` pairs import statements with the symbol around them."""
    return tuple(
        [
            imported
            for (kind, start, node), scope_id in sorted(marks, key=lambda pair: pair[0][1])
            for imported in _imports_of(kind, node, tokens, scope_id, canonical.real_line(start))
        ]
    )


def read_globals(marks: Sequence[Mark], tokens: Tokens) -> tuple[str, ...]:
    """The upper-case names that module-level assignments bind, in source order."""
    names = (
        tokens.text(target.start_byte, target.end_byte)
        for kind, _, node in marks
        if kind == "assignment"
        for target in targets(node.child_by_field_name("left"))
        if target.type == "identifier"
    )
    return tuple(dict.fromkeys(name for name in names if name.isupper()))


def read_exports(marks: Sequence[Mark], tokens: Tokens) -> tuple[str, ...] | None:
    """The literal names of `__all__`, with `+=`, `append`, `extend` and `remove`; None where the file has none."""
    exports: dict[str, None] | None = None
    for kind, _, node in marks:
        change = _change_of_exports(kind, node, tokens)
        if change is None:
            continue
        how, value = change
        if how == "=" or exports is None:
            exports = {}
        names = dict.fromkeys(_literal_names(value, tokens))
        if how == "remove":
            exports = {name: None for name in exports if name not in names}
        else:
            exports.update(names)
    return None if exports is None else tuple(exports)


def _imports_of(kind: str, node: Node, tokens: Tokens, scope_id: str | None, line: int) -> Iterator[Import]:
    module, level = "", 0
    if kind == "future_import_statement":
        module = "__future__"
    elif origin := node.child_by_field_name("module_name"):
        text = tokens.text(origin.start_byte, origin.end_byte)
        module = text.lstrip(".")
        level = len(text) - len(module)
    names = node.children_by_field_name("name")
    for name in names:
        imported, alias = name, None
        if name.type == "aliased_import":
            imported, alias = name.children_by_field_name("name")[0], name.child_by_field_name("alias")
        imported_text = tokens.text(imported.start_byte, imported.end_byte)
        alias_text = tokens.text(alias.start_byte, alias.end_byte) if alias else None
        if kind == "import_statement":
            yield Import(imported_text, 0, None, alias_text, scope_id, line)
        else:
            yield Import(module, level, imported_text, alias_text, scope_id, line)
    if not names and any(child.type == "wildcard_import" for child in node.named_children):
        yield Import(module, level, "*", None, scope_id, line)


def _change_of_exports(kind: str, node: Node, tokens: Tokens) -> tuple[str, Node] | None:
    """How a statement changes `__all__` (`=`, `+=` or a method's name), and by what."""
    if kind in ("assignment", "augmented_assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left and right and tokens.text(left.start_byte, left.end_byte) == "__all__":
            return ("=" if kind == "assignment" else "+=", right)
    elif kind == "call":
        callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee and arguments and callee.type == "attribute":
            name, _, method = tokens.text(callee.start_byte, callee.end_byte).rpartition(".")
            if name == "__all__" and method in ("append", "extend", "remove"):
                return (method, arguments)
    return None


def _literal_names(value: Node, tokens: Tokens) -> Iterator[str]:
    """The strings written in lists, tuples, sets and their sums; whatever is computed is passed over."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if node.type in ("string", "concatenated_string"):
            name = literal_value(tokens.text(node.start_byte, node.end_byte))
            if isinstance(name, str):
                yield name
        elif node.type in SEQUENCES:
            waiting.extend(reversed(node.named_children))
