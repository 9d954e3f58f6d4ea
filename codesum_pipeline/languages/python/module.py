"""What a Python file says about itself: imports, upper-case globals, `__all__`, what it hands on."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from codesum_pipeline.languages.declaration import ImportSyntax, Text
from codesum_pipeline.languages.hooks import at, field_text
from codesum_pipeline.languages.python.facts import targets
from codesum_pipeline.languages.python.literals import literal_value
from codesum_pipeline.languages.spec import Mark, words
from codesum_pipeline.model.symbols import Import, Reexport

# What the names of `__all__` are written in.
SEQUENCES = words("list tuple set argument_list parenthesized_expression binary_operator expression_list")
_PACKAGE_FILES = ("__init__.py", "__init__.pyi")


def read_import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """One for each imported name."""
    origin = field_text(node, "module_name", text)
    module = "__future__" if node.type == "future_import_statement" else origin.lstrip(".")
    level = len(origin) - len(origin.lstrip("."))
    names = node.children_by_field_name("name")
    for name in names:
        imported, alias = name, None
        if name.type == "aliased_import":
            imported, alias = name.children_by_field_name("name")[0], field_text(name, "alias", text)
        if node.type == "import_statement":
            yield ImportSyntax(text(imported), None, alias)
        else:
            yield ImportSyntax(module, text(imported), alias, level)
    if not names and any(child.type == "wildcard_import" for child in node.named_children):
        yield ImportSyntax(module, "*", None, level)


def read_globals(node: Node, text: Text) -> Iterator[str]:
    """The upper-case names that a module-level assignment binds."""
    for target in targets(at(node, "left")):
        if target.type == "identifier" and text(target).isupper():
            yield text(target)


def read_exports(marks: Sequence[Mark], text: Text) -> tuple[str, ...] | None:
    """The literal names of `__all__`, with `+=`, `append`, `extend` and `remove`; None where the file has none."""
    exports: dict[str, None] | None = None
    for kind, _, node in marks:
        change = _change_of_exports(kind, node, text)
        if change is None:
            continue
        how, value = change
        if how == "=" or exports is None:
            exports = {}
        names = dict.fromkeys(_literal_names(value, text))
        if how == "remove":
            exports = {name: None for name in exports if name not in names}
        else:
            exports.update(names)
    return None if exports is None else tuple(exports)


def _change_of_exports(kind: str, node: Node, text: Text) -> tuple[str, Node] | None:
    """How a statement changes `__all__` (`=`, `+=` or a method's name), and by what."""
    if kind in ("assignment", "augmented_assignment"):
        right = at(node, "right")
        if right and field_text(node, "left", text) == "__all__":
            return ("=" if kind == "assignment" else "+=", right)
    elif kind == "call":
        callee, arguments = at(node, "function"), at(node, "arguments")
        if callee and arguments and callee.type == "attribute":
            name, _, method = text(callee).rpartition(".")
            if name == "__all__" and method in ("append", "extend", "remove"):
                return (method, arguments)
    return None


def _literal_names(value: Node, text: Text) -> Iterator[str]:
    """The strings written in lists, tuples, sets and their sums; whatever is computed is passed over."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if node.type in ("string", "concatenated_string"):
            name = literal_value(text(node))
            if isinstance(name, str):
                yield name
        elif node.type in SEQUENCES:
            waiting.extend(reversed(node.named_children))


def read_reexports(path: str, imports: Sequence[Import], exports: Sequence[str] | None) -> tuple[Reexport, ...]:
    """Names of `__all__`, `from x import Y as Y`, and what a package's file takes from the package."""
    is_package = path.endswith(_PACKAGE_FILES)
    folders = path.split("/")[:-1]
    listed = frozenset(exports or ())
    found = []
    for one in imports:
        name = one.alias or one.name
        if one.scope_id is not None or one.name is None or name is None or one.module == "__future__":
            continue
        is_own = (is_package or name == "*") and (one.level > 0 or one.module.partition(".")[0] in folders)
        is_stated = name in listed or (one.alias is not None and one.alias == one.name)
        if is_stated or (is_own and not name.startswith("_")):
            found.append(Reexport(name, one.name, f"{'.' * one.level}{one.module}"))
    return tuple(dict.fromkeys(found))
