"""How much a file with syntax errors has lost: an estimate that a reader of its symbols should know."""

from collections.abc import Iterator

from msgspec.structs import replace
from tree_sitter import Node, Tree

from codesum_pipeline.languages.declaration import Declaration
from codesum_pipeline.languages.texts import DefinitionLine, definition_lines
from codesum_pipeline.parsing.text import ParsedFile
from codesum_pipeline.parsing.walk import bytes_as_characters

# How far above a byte's own node a comment or a text may be.
_LEVELS = 4


def with_lost_definitions(parsed: ParsedFile, declaration: Declaration, source: bytes, tree: Tree | None) -> ParsedFile:
    """The file, with the number of lines that look like a definition and have no symbol, if it has syntax errors."""
    facts = parsed.facts
    if not facts.syntax_errors:
        return parsed
    names = {symbol.name for symbol in parsed.symbols}
    missing = [line for line in lines_of(declaration, source) if line.name.replace("::", ":") not in names]
    lost = sum(tree is None or not _is_silent(tree.root_node, line.start) for line in missing)
    return replace(parsed, facts=replace(facts, lost_definitions=lost))


def lines_of(declaration: Declaration, source: bytes) -> Iterator[DefinitionLine]:
    """The lines of a source that look like a definition of its language."""
    text = declaration.without_templates(bytes_as_characters(source))
    return definition_lines(text, declaration.definition_lines)


def _is_silent(root: Node, offset: int) -> bool:
    """Whether a byte is in a comment or a text."""
    node = root.descendant_for_byte_range(offset, offset + 1)
    for _ in range(_LEVELS):
        if node is None:
            return False
        if not node.has_error and ("comment" in node.type or "string" in node.type):
            return True
        node = node.parent
    return False
