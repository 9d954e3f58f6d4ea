"""Where a file of a declared language holds tests that no definition says: calls of a framework, modules of tests."""

from collections.abc import Collection, Sequence

from tree_sitter import Node

from codesum_pipeline.languages.declaration import Mark
from codesum_pipeline.model.symbols import Symbol
from codesum_pipeline.parsing.definitions import FileOutline
from codesum_pipeline.parsing.facts import CallReader

# What is tested, as the first argument: its name or a word on it.
_TOLD = frozenset({"argument", "constant", "scope_resolution"})
_VARIANTS = frozenset({"concurrent", "each", "only", "serial", "skip"})


def has_test_calls(
    outside: Sequence[Mark], kinds: Collection[str], calls: CallReader, wanted: Collection[str] | None
) -> bool:
    """Whether the file calls a test framework outside of all definitions: `describe("…", …)`, `test.each(…)`."""
    for kind, _, node in outside if wanted else ():
        called = calls.read(kind, node) if kind in kinds else None
        if called is None or wanted is None:
            continue
        first = called.receiver.partition(".")[0] or called.name
        if first in wanted and (called.name in _VARIANTS or _tells(node)):
            return True
    return False


def in_test_modules(symbols: Sequence[Symbol], outline: FileOutline) -> frozenset[str]:
    """The ids of those that stand in a Rust module `tests`, or in one that is compiled for tests alone."""
    spans = [
        (node.start_byte, node.end_byte)
        for kind, _, node in outline.outside
        if kind == "mod_item" and node.child_by_field_name("body") is not None and _is_of_tests(node)
    ]
    return frozenset(
        symbol.id
        for symbol, definition in zip(symbols, outline.definitions, strict=True)
        if any(start <= definition.code_start < end for start, end in spans)
    )


def _tells(call: Node) -> bool:
    arguments = call.child_by_field_name("arguments")
    first = next((child for child in arguments.named_children if not child.is_extra), None) if arguments else None
    return first is not None and (first.type in _TOLD or "string" in first.type)


def _is_of_tests(module: Node) -> bool:
    name = module.child_by_field_name("name")
    if name is not None and name.text == b"tests":
        return True
    above = module.prev_named_sibling
    while above is not None and above.type in ("attribute_item", "line_comment", "block_comment"):
        text = (above.text or b"").replace(b" ", b"")
        if b"cfg(test)" in text or b"cfg(all(test" in text:
            return True
        above = above.prev_named_sibling
    return False
