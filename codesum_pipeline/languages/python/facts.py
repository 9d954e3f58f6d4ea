"""What a Python definition says about itself: parameters, values, what it assigns, and what decorators, bases and names
make of it: a closed list of words."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from tree_sitter import Node

from codesum_pipeline.languages.declaration import Text
from codesum_pipeline.languages.hooks import at, field_text, raw_text, shown
from codesum_pipeline.languages.spec import words
from codesum_pipeline.model.symbols import Parameter

RECEIVERS = words("self cls mcs mcls metacls")
SPLATS = {"list_splat_pattern": "var_positional", "dictionary_splat_pattern": "var_keyword"}
_MODIFIERS = tomllib.loads(Path(__file__).with_suffix(".syntax.toml").read_text(encoding="utf-8"))["modifiers"]
_ORDER, _SAME = _MODIFIERS["order"].split(), words(_MODIFIERS["same"])
EXCEPTION_ENDINGS = ("Exception", "Error", "Warning", "KeyboardInterrupt", "SystemExit", "ExceptionGroup")


def targets(left: Node | None) -> Iterator[Node]:
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


def parameters(definition: Node, text: Text) -> Iterator[Parameter]:
    """A function's parameters as written; the first is the receiver if its name says so."""
    node = at(definition, "parameters")
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
    named = at(node, "name") or node
    if node.type == "typed_parameter":
        named = node.named_children[0]
    type_, default = field_text(node, "type", text), field_text(node, "value", text)
    return Parameter(text(named).lstrip("*"), type_ or None, default or None, SPLATS.get(named.type, kind))


def bases(node: Node, text: Text) -> Iterator[str]:
    """The bases as written."""
    return (text(given) for given in shown(node, "superclasses") if given.type != "keyword_argument")


def modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> tuple[str, ...]:
    """The words that hold, in the order of their table; preambles are decorators."""
    found: set[str] = {"async"} if node.children[0].type == "async" else set()
    for decorator in preambles:
        called = text(decorator).removeprefix("@").partition("(")[0]
        last = called.rpartition(".")[2]
        found.update([last] if last in _SAME else ())
        for name in {last, called}:
            found.update(_MODIFIERS["decorators"].get(name, "").split())
    is_class, name = node.type == "class_definition", raw_text(node, "name")
    for base in bases(node, text):
        last = base.partition("[")[0].partition("(")[0].rpartition(".")[2]
        found.update(_MODIFIERS["bases"].get(last, "").split())
        if last.endswith(EXCEPTION_ENDINGS):
            found.add("exception")
    keywords = (text(given) for given in shown(node, "superclasses") if given.type == "keyword_argument")
    if any(keyword.startswith("metaclass=") and keyword.endswith("ABCMeta") for keyword in keywords):
        found.add("abstract")
    if not is_class and (name == "test" or name.startswith("test_")) and "fixture" not in found:
        found.add("test")
    if is_class and name.startswith("Test") and name[4:5] != name[4:5].lower():
        found.add("test")
    return tuple(word for word in _ORDER if word in found)
