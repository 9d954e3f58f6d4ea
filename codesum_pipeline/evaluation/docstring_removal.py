"""The source of a file without the docstrings of some definitions; line numbers stay the same.

Nothing made from the file afterwards (canonical sources, texts, terms, vectors) has their words. A docstring in an
unusual place is not removed, so the caller must check.
"""

import ast
import re
import warnings
from collections.abc import Collection, Iterator

from codesum_pipeline.languages.profiles import Trait, has

# Beginnings of comment lines; `#` is one in some languages only.
_LINE_COMMENTS = ("//", "--", "%")
# How a comment of several lines ends, and how it begins.
_BLOCKS = (("*/", "/*"), ("-}", "{-"))
# What may stand between a comment and its definition.
_ATTRIBUTES = ("@", "#[", "[")
_ELIXIR_DOC = re.compile(r'@doc\s+(?:~\w)?"')
_ATTRIBUTE = re.compile(r"\s*@")

Span = tuple[int, int]


def without_docstrings(text: str, language: str, starts: Collection[int]) -> str:
    """The text without the docstrings of the definitions that start in these lines (1-based)."""
    if has(language, Trait.DOCSTRINGS):
        return _without_strings(text, frozenset(starts))
    lines = text.split("\n")
    if has(language, Trait.DOC_ATTRIBUTES):
        for start in starts:
            _withdraw_attribute(lines, start - 1)
    for start in starts:
        for number in _comment_above(lines, start - 1, has_hash=has(language, Trait.HASH_COMMENTS)):
            lines[number] = ""
    return "\n".join(lines)


def _without_strings(text: str, starts: frozenset[int]) -> str:
    """Each docstring becomes `...` and as many line ends as it had."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return text
    data = text.encode()
    line_starts = [0]
    for line in data.split(b"\n"):
        line_starts.append(line_starts[-1] + len(line) + 1)
    for start, end in sorted(_docstring_spans(tree, line_starts, starts), reverse=True):
        data = data[:start] + b"..." + b"\n" * data.count(b"\n", start, end) + data[end:]
    return data.decode()


def _docstring_spans(tree: ast.Module, line_starts: list[int], starts: frozenset[int]) -> Iterator[Span]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first = node.body[0]
        is_wanted = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) in starts
        if is_wanted and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            value = first.value
            if isinstance(value.value, str) and value.end_lineno and value.end_col_offset:
                yield (
                    line_starts[value.lineno - 1] + value.col_offset,
                    line_starts[value.end_lineno - 1] + value.end_col_offset,
                )


def _withdraw_attribute(lines: list[str], start: int) -> None:
    """Replace a `@doc` among the attributes that begin at `start` with `@doc false`."""
    number = start
    while number < len(lines) and (
        found := _ELIXIR_DOC.match(lines[number].strip()) or _ATTRIBUTE.match(lines[number])
    ):
        if found.re is _ELIXIR_DOC:
            is_block = lines[number].rstrip().endswith('"""')
            lines[number] = "  @doc false"
            while is_block and number + 1 < len(lines):
                number += 1
                is_end = lines[number].strip() == '"""'
                lines[number] = ""
                if is_end:
                    break
        number += 1


def _comment_above(lines: list[str], start: int, *, has_hash: bool) -> Iterator[int]:
    """The numbers (from 0) of the comment lines above the line `start`, attributes between them passed over."""
    number = start - 1
    while number >= 0:
        line = lines[number].strip()
        first = _block_start(lines, number)
        if first is not None:
            yield from range(first, number + 1)
            number = first
        elif line.startswith("#[") or not line.startswith(_LINE_COMMENTS + ("#",) * has_hash):
            if not line.startswith(_ATTRIBUTES):
                return
        else:
            yield number
        number -= 1


def _block_start(lines: list[str], number: int) -> int | None:
    """Where the comment begins that ends in the line `number`; None where none does."""
    line = lines[number].strip()
    for end, opening in _BLOCKS:
        if not line.endswith(end):
            continue
        if line.startswith(opening):
            return number
        for above in range(number - 1, -1, -1) if opening not in line else ():
            text = lines[above].strip()
            if end in text:
                break
            if text.startswith(opening):
                return above
    return None
