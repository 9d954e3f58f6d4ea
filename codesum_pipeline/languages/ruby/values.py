"""What Ruby says of names by calls: modules mixed in, classes and functions that a value makes."""

from collections.abc import Iterator

from tree_sitter import Node

from codesum_pipeline.languages.declaration import Extension, Text
from codesum_pipeline.languages.hooks import raw_text
from codesum_pipeline.languages.spec import words

MIXINS = words("include extend prepend")


def extension(node: Node, text: Text) -> Extension | None:
    """`Class.include(Module)`, and `Class.send(:include, Module)` of older code."""
    receiver = raw_text(node.child_by_field_name("receiver"))
    method = raw_text(node.child_by_field_name("method"))
    if method == "send":
        method = raw_text(next(iter(_arguments(node)), None)).lstrip(":")
    if method not in MIXINS or not receiver[:1].isupper():
        return None
    return Extension(receiver, tuple(constants(node)))


def constants(call: Node) -> Iterator[str]:
    """The classes and modules among the arguments of a call."""
    for argument in _arguments(call):
        if argument.type in ("constant", "scope_resolution"):
            yield raw_text(argument)


def _arguments(call: Node) -> list[Node]:
    arguments = call.child_by_field_name("arguments")
    return arguments.named_children if arguments is not None else []


_MAKERS = words("new define")


_MADE = words("Struct Class Module Data Concern")


def here_document(node: Node) -> Node | None:
    """The last of the texts after the line on which a node of one line ends."""
    found, after = None, node.next_sibling
    around = node.parent
    while after is None and around is not None and around.type in ("call", "argument_list"):
        after, around = around.next_sibling, around.parent
    while after is not None and after.type == "heredoc_body":
        found, after = after, after.next_sibling
    return found


def value_block(value: Node | None) -> Node | None:
    """The block of `-> {}`, `lambda {}`, `proc do end` and `Proc.new {}`."""
    if value is None:
        return None
    if value.type == "lambda":
        return value.child_by_field_name("body")
    if value.type != "call":
        return None
    called = raw(value, "receiver"), raw(value, "method")
    return value.child_by_field_name("block") if called in (("", "lambda"), ("", "proc"), ("Proc", "new")) else None


def raw(node: Node, name: str) -> str:
    """The text of a field as written, blanks as one."""
    return raw_text(node.child_by_field_name(name))


def makes_class(value: Node | None) -> bool:
    """`Struct.new(…)`, `Class.new(Base)`, `Data.define(…)`."""
    return (
        value is not None
        and value.type == "call"
        and raw(value, "method") in _MAKERS
        and raw(value, "receiver").removeprefix("::") in _MADE
    )
