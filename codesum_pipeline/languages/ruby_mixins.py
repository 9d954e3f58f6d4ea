"""Modules that a Ruby class takes in, in its body or from outside."""

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
