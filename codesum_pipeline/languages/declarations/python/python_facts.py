"""What Python's definitions and files say about themselves.

A definition says its parameters, values, what it assigns, and what decorators, bases and names make of it: a closed
list of words. A file says its imports, upper-case globals, `__all__` and its re-exports.
"""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter, Reexport
from codesum_pipeline.languages.declarations.hook_values import ImportSyntax
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import code_children, find_field
from codesum_pipeline.languages.declarations.python.literals import literal_value
from codesum_pipeline.languages.declarations.spec import Mark, split_words

RECEIVERS = split_words("self cls mcs mcls metacls")
# What the names of `__all__` are written in.
SEQUENCES = split_words("list tuple set argument_list parenthesized_expression binary_operator expression_list")
_PACKAGE_FILES = ("__init__.py", "__init__.pyi")
SPLATS = {"list_splat_pattern": "var_positional", "dictionary_splat_pattern": "var_keyword"}
_MODIFIERS = tomllib.loads(Path(__file__).with_suffix(".syntax.toml").read_text(encoding="utf-8"))["modifiers"]
_ORDER, _SAME = _MODIFIERS["order"].split(), split_words(_MODIFIERS["same"])
EXCEPTION_ENDINGS = ("Exception", "Error", "Warning", "KeyboardInterrupt", "SystemExit", "ExceptionGroup")


def assigned_targets(left: Node | None) -> Iterator[Node]:
    """The names, attributes and items that an assignment's left side assigns, in source order."""
    waiting = [left] if left else []
    while waiting:
        node = waiting.pop()
        if node.type in ("identifier", "attribute", "subscript"):
            yield node
        else:
            waiting.extend(reversed(node.named_children))


def value_span(statement: Node) -> tuple[int, int]:
    """The bytes of what a statement gives: all after its first word, but for the cause of an error."""
    word = statement.type.partition("_")[0]
    end = statement.end_byte
    if word == "raise":
        end = next((child.start_byte for child in statement.children if child.type == "from"), end)
    return statement.start_byte + len(word), end


def read_parameters(definition: Node, text: Text) -> Iterator[Parameter]:
    """A function's parameters as written; the first is the receiver if its name says so."""
    node = find_field(definition, "parameters")
    kind, is_first = "positional", True
    for child in node.named_children if node else ():
        if child.type == "keyword_separator":
            kind = "keyword"
        elif child.type not in ("positional_separator", "comment", "line_continuation", "ERROR"):
            parameter = _parameter(child, text, kind)
            if is_first and parameter.name in RECEIVERS:
                parameter = Parameter(parameter.name, parameter.type, parameter.default, "receiver")
            if parameter.kind == "var_positional":
                kind = "keyword"
            is_first = False
            yield parameter


def _parameter(node: Node, text: Text, kind: str) -> Parameter:
    named = find_field(node, "name") or node
    if node.type == "typed_parameter":
        named = node.named_children[0]
    type_, default = field_text(node, "type", text), field_text(node, "value", text)
    return Parameter(text(named).lstrip("*"), type_ or None, default or None, SPLATS.get(named.type, kind))


def read_bases(node: Node, text: Text) -> Iterator[str]:
    """The bases as written."""
    return (text(argument) for argument in code_children(node, "superclasses") if argument.type != "keyword_argument")


def read_modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> tuple[str, ...]:
    """The words that hold, in the order of their table; preambles are decorators."""
    found: set[str] = {"async"} if node.children[0].type == "async" else set()
    for decorator in preambles:
        called = text(decorator).removeprefix("@").partition("(")[0]
        last = called.rpartition(".")[2]
        found.update([last] if last in _SAME else ())
        for name in {last, called}:
            found.update(_MODIFIERS["decorators"].get(name, "").split())
    is_class, name = node.type == "class_definition", raw_text(node, "name")
    for base in read_bases(node, text):
        last = base.partition("[")[0].partition("(")[0].rpartition(".")[2]
        found.update(_MODIFIERS["bases"].get(last, "").split())
        if last.endswith(EXCEPTION_ENDINGS):
            found.add("exception")
    arguments = map(text, code_children(node, "superclasses"))
    if any(argument.startswith("metaclass=") and argument.endswith("ABCMeta") for argument in arguments):
        found.add("abstract")
    if not is_class and (name == "test" or name.startswith("test_")) and "fixture" not in found:
        found.add("test")
    if is_class and name.startswith("Test") and name[4:5] != name[4:5].lower():
        found.add("test")
    return tuple(word for word in _ORDER if word in found)


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
    for target in assigned_targets(find_field(node, "left")):
        if target.type == "identifier" and text(target).isupper():
            yield text(target)


def read_exports(marks: Sequence[Mark], text: Text) -> tuple[str, ...] | None:
    """The literal names of `__all__`, with those that `+=` adds; None if the file has none."""
    exports: dict[str, None] | None = None
    for kind, _, node in marks:
        right = find_field(node, "right") if kind in ("assignment", "augmented_assignment") else None
        if right is not None and field_text(node, "left", text) == "__all__":
            exports = (exports or {}) if kind == "augmented_assignment" else {}
            exports.update(dict.fromkeys(_literal_names(right, text)))
    return None if exports is None else tuple(exports)


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
