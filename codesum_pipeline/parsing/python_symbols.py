"""How a Python definition becomes a symbol."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import islice, takewhile

from tree_sitter import Node

from codesum_pipeline.languages.python.modifiers import modifiers
from codesum_pipeline.model.hashing import HashPolicy
from codesum_pipeline.model.symbols import Symbol, SymbolType
from codesum_pipeline.parsing.canonical import Canonical
from codesum_pipeline.parsing.definitions import SyntaxDefinition
from codesum_pipeline.parsing.expressions import FileTexts
from codesum_pipeline.parsing.overloads import OverloadReader
from codesum_pipeline.parsing.parsed import content_hash
from codesum_pipeline.parsing.python_docstrings import docstring_node, docstring_text
from codesum_pipeline.parsing.python_facts import read_facts
from codesum_pipeline.parsing.recovery import Span, is_cut
from codesum_pipeline.parsing.walk import Tokens

# What is no implementation of its name, least so last: `def f(): ...`, an overload, what adds to a property.
_STUB, _OVERLOAD, _ACCESSOR = 1, 2, 3
_RANKS = {"overload": _OVERLOAD, "setter": _ACCESSOR, "deleter": _ACCESSOR}


class SymbolReader:
    """Makes the symbols of one file."""

    def __init__(
        self,
        tokens: Tokens,
        canonical: Canonical,
        source: bytes,
        file_path: str,
        exports: Sequence[str] | None,
        hash_policy: HashPolicy,
        texts: FileTexts,
        blanked: Sequence[Span],
    ) -> None:
        self._texts = texts
        self._blanked = blanked
        self._tokens = tokens
        self._canonical = canonical
        self._source = source
        self._file_path = file_path
        self._exports = exports
        self._hash_policy = hash_policy

    def overloads(self, definitions: Sequence[SyntaxDefinition]) -> OverloadReader[SyntaxDefinition]:
        """How those of one name are told apart."""

        @cache
        def openings() -> list[Node]:
            found = (_opening(definition.node.child_by_field_name("body")) for definition in definitions)
            return [node for node in found if node is not None]

        return OverloadReader(self._rank, self._head, lambda definition: self._undocumented(definition, openings()))

    def symbol(self, definition: SyntaxDefinition, docstring: Node | None, *, id: str, parent_id: str | None) -> Symbol:
        """The symbol of one definition."""
        tokens, canonical = self._tokens, self._canonical
        start, end = definition.start_byte, definition.end_byte
        first, end_line = canonical.lines_between(start, end)
        last_byte = tokens.last_byte(end)
        source = canonical.source(first, end_line)
        bases, keywords = self._bases(definition)
        is_async = definition.node.children[0].type == "async"
        words = modifiers(
            definition.parts[-1],
            definition.type,
            decorators=self._decorators(definition),
            bases=bases,
            keywords=keywords,
            is_async=is_async,
        )
        return Symbol(
            id=id,
            type=definition.type,
            qualified_name=".".join(definition.parts),
            name=definition.parts[-1],
            file_path=self._file_path,
            language="python",
            start_line=canonical.real_line(start),
            end_line=canonical.real_line(last_byte),
            signature=self._signature(definition.node),
            docstring=docstring_text(canonical, docstring),
            modifiers=words,
            bases=bases,
            parent_id=parent_id,
            complexity=1 + bisect_left(tokens.branches, end) - bisect_left(tokens.branches, start),
            line_count=end_line - first - self._docstring_lines(docstring),
            is_public=self._is_public(definition.parts),
            content_hash=content_hash(self._hash_policy, source, self._source[start : last_byte + 1]),
            canonical_source=source,
            line_map=canonical.real_lines(first, end_line),
            facts=read_facts(
                definition,
                tokens,
                canonical,
                self._texts,
                first_line=first,
                docstring_end=canonical.lines_between(0, (docstring or definition.node.children[0]).end_byte)[1],
                is_async=is_async,
                is_static="staticmethod" in words,
            ),
            has_syntax_errors=(definition.wrapper or definition.node).has_error or is_cut(self._blanked, start, end),
        )

    def _rank(self, definition: SyntaxDefinition) -> int:
        by_decorator = [_RANKS.get(decorator.rpartition(".")[2], 0) for decorator in self._decorators(definition)]
        return max(*by_decorator, int(_is_stub(definition)), 0)

    def _head(self, definition: SyntaxDefinition) -> str:
        """The decorators and the signature."""
        body = definition.node.child_by_field_name("body")
        return self._tokens.text(definition.start_byte, body.start_byte if body else definition.end_byte)

    def _undocumented(self, definition: SyntaxDefinition, openings: Sequence[Node]) -> str:
        """The tokens of a definition but docstrings, which tell it from no other; `openings` are in source order."""
        pieces, start = [], definition.start_byte
        first = bisect_left(openings, start, key=lambda node: node.start_byte)
        for node in takewhile(lambda node: node.start_byte < definition.end_byte, islice(openings, first, None)):
            pieces.append(self._tokens.text(start, node.start_byte))
            start = node.end_byte
        return " ".join([*pieces, self._tokens.text(start, definition.end_byte)])

    def _decorators(self, definition: SyntaxDefinition) -> list[str]:
        if definition.wrapper is None:
            return []
        return [
            self._text(node).removeprefix("@") for node in definition.wrapper.named_children if node.type == "decorator"
        ]

    def _bases(self, definition: SyntaxDefinition) -> tuple[tuple[str, ...], list[str]]:
        """The bases as written, and the keyword arguments beside them."""
        arguments = definition.node.child_by_field_name("superclasses")
        if definition.type is SymbolType.FUNCTION or arguments is None:
            return (), []
        given = [node for node in arguments.named_children if not node.is_extra]
        bases = tuple([self._text(node) for node in given if node.type != "keyword_argument"])
        return bases, [self._text(node) for node in given if node.type == "keyword_argument"]

    def _signature(self, node: Node) -> str:
        body = node.child_by_field_name("body")
        return self._tokens.text(node.start_byte, body.start_byte if body else node.end_byte).removesuffix(":")

    def _docstring_lines(self, docstring: Node | None) -> int:
        if docstring is None:
            return 0
        first = self._canonical.line_at(docstring.start_byte)
        return self._canonical.lines_between(0, docstring.end_byte)[1] - first

    def _is_public(self, parts: Sequence[str]) -> bool:
        """No part is private, and the first is exported where the file says what it exports.

        A name in `__all__` is public however it is spelled.
        """
        top, *inner = parts
        is_top_public = _is_public_name(top) if self._exports is None else top in self._exports
        return is_top_public and all(map(_is_public_name, inner))

    def _text(self, node: Node) -> str:
        return self._tokens.text(node.start_byte, node.end_byte)


def _opening(body: Node | None) -> Node | None:
    """The docstring of a body, or the `...` in its place."""
    found = docstring_node(body)
    if found is None and body is not None:
        statement = next((node for node in body.named_children if not node.is_extra), None)
        found = statement if statement is not None and _is_ellipsis(statement) else None
    return found


def _is_ellipsis(statement: Node) -> bool:
    return [child.type for child in statement.named_children] == ["ellipsis"]


def _is_stub(definition: SyntaxDefinition) -> bool:
    """Whether a function's body is nothing but a docstring and `...`."""
    body = definition.node.child_by_field_name("body")
    if body is None or definition.type is SymbolType.CLASS:
        return False
    statements = [node for node in body.named_children if not node.is_extra]
    if docstring_node(body) is not None:
        statements = statements[1:]
    return all(map(_is_ellipsis, statements))


def _is_public_name(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))
