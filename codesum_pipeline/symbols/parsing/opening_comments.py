"""The comment that opens a definition's body, where it is certain that it speaks of all of it.

That is so if a blank line follows it, if it is all that the body has, or if a function's body after it is one
statement. A comment right above the first of several statements, or of several members, may be about that one alone;
one on the line of the head is not read.
"""

import re
from bisect import bisect_left, bisect_right

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.symbols.parsing.comment_kinds import is_prose
from codesum_pipeline.symbols.parsing.comments import Comments
from codesum_pipeline.symbols.parsing.file_tokens import Tokens
from codesum_pipeline.symbols.parsing.nested_definitions import Definition

# Of a longer comment, what a reader needs is at its beginning.
MAX_OPENING = 1000
_OPENERS = frozenset(("{", "do", "then", ":", "=", "=>", "->", "where"))
# First words of lines that go on with the statement before them.
_CONTINUING = re.compile(
    r"\s*(?:[)\]}]|(?:else|elif|elsif|elseif|except|catch|finally|rescue|ensure|case|when|default|end|fi|done|esac)\b)"
)
_BLANK_LINE = re.compile(r"\n[ \t\f]*\n")


class OpeningComments:
    """Finds the opening comments of one file's definitions."""

    def __init__(self, comments: Comments, tokens: Tokens, text: str) -> None:
        self._comments, self._tokens, self._text = comments, tokens, text
        self._nodes = tokens.comments
        self._starts = [node.start_byte for node in self._nodes]

    def of(self, definition: Definition) -> str | None:
        """What the comment that opens a definition's body says; None without one that is prose about the body."""
        bodies = [body for body in definition.bodies if body is not None]
        if len(bodies) != 1:
            return None
        offsets = self._tokens.offsets
        first = self._first_token(definition, bodies[0])
        end = definition.end_byte
        begin = min(offsets[first], end) if first < len(offsets) else end
        head_end = self._tokens.last_byte(offsets[first - 1] + 1) + 1 if first else 0
        run = self._run_between(head_end, begin)
        if not run or not self._is_about_all(definition, self._comments.end_of(run[-1]), first):
            return None
        said = self._comments.text_of(run) or ""
        paragraph = _BLANK_LINE.split(said)[0]
        return _shortened(" ".join(paragraph.split())) if is_prose(paragraph) else None

    def _first_token(self, definition: Definition, body: Node) -> int:
        """The number of the first token of a body's statements."""
        offsets, parts = self._tokens.offsets, self._tokens.parts
        if definition.docstring is not None:
            return bisect_left(offsets, definition.docstring.end_byte)
        first = bisect_left(offsets, body.start_byte)
        while first < len(parts) and parts[first].strip() in _OPENERS and offsets[first] < body.end_byte:
            first += 1
        return first

    def _run_between(self, start: int, end: int) -> list[Node]:
        """The first comments between two bytes that are on lines of their own and follow each other line by line."""
        run: list[Node] = []
        before = start
        for node in self._nodes[bisect_left(self._starts, start) : bisect_left(self._starts, end)]:
            breaks = self._text.count("\n", before, node.start_byte)
            if run and breaks != 1:
                break
            before = self._comments.end_of(node)
            if breaks and self._comments.may_open(node):
                run.append(node)
        return run

    def _is_about_all(self, definition: Definition, end_of_comment: int, first: int) -> bool:
        offsets, end = self._tokens.offsets, definition.end_byte
        begin = min(offsets[first], end) if first < len(offsets) else end
        if self._text.count("\n", end_of_comment, begin) > 1 or begin == end:
            return True
        return definition.type is SymbolType.FUNCTION and self._is_one_statement(first, end)

    def _is_one_statement(self, first: int, end: int) -> bool:
        """Whether a statement that begins with a token is the last one before a byte."""
        tokens = self._tokens
        line = bisect_right(tokens.line_tokens, first) - 1
        depth = tokens.line_depths[line]
        for number in range(line + 1, bisect_left(tokens.line_tokens, bisect_left(tokens.offsets, end))):
            if tokens.line_depths[number] < depth:
                return True
            if tokens.line_depths[number] == depth and not self._goes_on(tokens.line_tokens[number]):
                return False
        return True

    def _goes_on(self, token: int) -> bool:
        """Whether a line that begins with a token goes on with the statement before; a call of `end(…)` does not."""
        after = self._tokens.parts[token + 1 : token + 2]
        return bool(_CONTINUING.match(self._tokens.parts[token])) and after != ["("]


def _shortened(text: str) -> str:
    """A long text up to the end of a word."""
    return text if len(text) <= MAX_OPENING else text[:MAX_OPENING].rpartition(" ")[0] or text[:MAX_OPENING]
