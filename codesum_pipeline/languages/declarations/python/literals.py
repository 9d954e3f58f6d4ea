"""The literals of Python: docstrings, and how one value that can be written in many ways is spelled.

Whatever the syntax tree keeps is kept: a value's type, `f` and `b` before a
text, what a text holds. Letters of prefixes, quotes, needless escapes of
quotes, the case of other escapes, texts written in pieces beside each other,
and how a number is spelled are not in it.
"""

import ast
import inspect
import re
import warnings
from collections.abc import Sequence

from tree_sitter import Node

from codesum_pipeline.languages.declarations.nodes import first_code_child
from codesum_pipeline.languages.declarations.python.syntax_trees import PARSING

# A prefix, the quotes, what is between them.
_LITERAL = re.compile(r"""([A-Za-z]*)('''|\"""|'|")(.*)\2""", re.DOTALL)
# Most texts: on one line, without prefix, escapes and other quotes.
_PLAIN = re.compile(r"""(['"])[^'"\\\n]*\1""")
_UNIT = re.compile(r"""\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|N\{[^}]{0,100}\}|.)|["']""", re.DOTALL)
_OCTAL_END = re.compile(r"(?:\\\\|[^\\])*\\[0-7]{1,2}", re.DOTALL)
_QUOTES = re.compile(r"""["'\\]""")
TRIPLE = '"""'
# The statement of nothing but a text, as docstrings are; their quotes are always three.
_ALONE = "expression_statement"


def spell_string(node: Node, written: str, parent: str, field: str | None) -> str:
    """A text in double quotes: three where lines break in it or it is a statement, else one."""
    if parent != _ALONE and _PLAIN.fullmatch(written):
        return f'"{written[1:-1]}"'
    match = _LITERAL.fullmatch(written)
    if match is None:
        return written
    prefix, quotes, body = match.groups()
    marks = prefix.lower().replace("u", "")
    prefix = "".join(letter for letter in "bfrt" if letter in marks)
    fields = _fields(node) if "f" in prefix or "t" in prefix else []
    if "r" in prefix and "\\" not in body:
        prefix = prefix.replace("r", "")
    is_triple = parent == _ALONE or "\n" in _UNIT.sub("", body)
    if any(_QUOTES.search(part) for part in fields):
        return f"{prefix}{quotes}{body}{quotes}"
    if "r" not in prefix:
        body = _plain(body, is_bytes="b" in prefix)
    if body.endswith('"') or TRIPLE in body if is_triple else '"' in body:
        if "r" in prefix:
            return f"{prefix}{quotes}{body}{quotes}"
        body = _UNIT.sub(_escaped, body)
    mark = TRIPLE if is_triple else '"'
    return f"{prefix}{mark}{body}{mark}"


def _plain(body: str, *, is_bytes: bool) -> str:
    """What is between the quotes, without needless escapes of them and with other escapes in one case."""
    if "\\" not in body:
        return body

    def unit(match: re.Match[str]) -> str:
        text = match.group()
        if text in ("\\'", '\\"'):
            return text[1]
        if is_bytes and text[1:2] != "x":
            return text
        if text.startswith("\\N"):
            return "\\N" + text[2:].upper()
        return "\\" + text[1] + text[2:].lower() if text[:1] == "\\" and text[1] in "xuU" else text

    return _UNIT.sub(unit, body)


def _escaped(match: re.Match[str]) -> str:
    return '\\"' if match.group() == '"' else match.group()


def _fields(node: Node) -> list[str]:
    """The expressions between the braces of a formatted text."""
    return [(child.text or b"").decode("latin-1") for child in node.named_children if child.type == "interpolation"]


def is_one_text(node: Node, above: Sequence[Node], field: str | None) -> bool:
    """Whether adjacent texts are shown as one."""
    return above[-1].type != _ALONE and _joined(node) is not None


def spell_texts(node: Node, written: str, parent: str, field: str | None) -> str:
    """Texts beside each other as one."""
    return _joined(node) or written


def _joined(node: Node) -> str | None:
    """The one text of several; None where lines break in it, or where one is raw or of another kind."""
    marks, body = "", ""
    pieces = []
    for child in node.named_children:
        if child.type == "string":
            spelled = spell_string(child, (child.text or b"").decode("latin-1"), "", None)
            prefix, _, rest = spelled.partition('"')
            if not spelled.endswith('"') or rest.startswith('""') or prefix not in ("", "f", "b"):
                return None
            pieces.append((prefix, rest[:-1]))
        elif not child.is_extra:
            return None
    kinds = {prefix for prefix, _ in pieces}
    if "b" in kinds and len(kinds) > 1:
        return None
    marks = max(kinds, default="")
    for prefix, text in pieces:
        if _OCTAL_END.fullmatch(body) and text[:1].isdigit():
            return None
        if marks == "f" and not prefix:
            if "\\N{" in text:
                return None
            text = text.replace("{", "{{").replace("}", "}}")
        body += text
    return f'{marks}"{body}"' if "\n" not in body else None


def spell_integer(node: Node, written: str, parent: str, field: str | None) -> str:
    """A number without marks between its digits, in lower case, and not begun by a zero in vain."""
    if written.isdecimal() and (written[0] != "0" or written == "0"):
        return written
    text = written.lower().replace("_", "")
    return text.lstrip("0") or "0" if text.isdecimal() else text


_FLOAT = re.compile(r"(\d*)(?:\.(\d*))?(?:e([+-]?)(\d+))?(j?)")


def spell_float(node: Node, written: str, parent: str, field: str | None) -> str:
    """A number with digits on both sides of its point, and none that says nothing."""
    match = _FLOAT.fullmatch(written.lower().replace("_", ""))
    if match is None:
        return written
    whole, part, sign, power, unit = match.groups()
    whole = whole.lstrip("0") or "0"
    shown = whole if part is None else f"{whole}.{part.rstrip('0') or '0'}"
    if power is not None:
        shown += f"e{sign.replace('+', '')}{power.lstrip('0') or '0'}"
    return shown + unit


def docstring_node(body: Node | None) -> Node | None:
    """The string that is the first statement of a body, in brackets or not; None if there is none."""
    if body is None:
        return None
    statement = first_code_child(body)
    if statement is None or statement.type != "expression_statement" or statement.named_child_count != 1:
        return None
    value = first_code_child(statement)
    while value is not None and value.type == "parenthesized_expression":
        value = first_code_child(value)
    if value is None or value.type not in ("string", "concatenated_string"):
        return None
    return value


def docstring_text(canonical: str) -> str | None:
    """The docstring's text without its margin; None for a formatted or bytes literal and for an empty one."""
    value = literal_value(canonical)
    return inspect.cleandoc(value) or None if isinstance(value, str) else None


def is_ellipsis(statement: Node) -> bool:
    """Whether a statement is `...`, in place of a body."""
    return [child.type for child in statement.named_children] == ["ellipsis"]


def literal_value(literal: str) -> object:
    """The value of a literal, but half a surrogate pair as its escape, for no table or request can hold it; None for a
    formatted or a broken one."""
    quotes = literal[:3]
    if quotes in ('"""', "'''") and "\\" not in literal and literal.find(quotes, 3) == len(literal) - 3:
        return literal[3:-3]
    # Which warnings are shown is set for all threads.
    with PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = ast.literal_eval(literal)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
