"""What an expression is, read off its tokens: a chain of names, a call, an item, a literal.

The parser has already separated tokens and texts, in every language alike. Names
are followed from the outermost on, the contents of brackets are skipped, and the
content of a text is kept. An expression of no known form is `OTHER`.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Self

from msgspec import Struct

from codesum_pipeline.foundation.data_model.symbol import Form, Parameter
from codesum_pipeline.symbols.parsing.file_tokens import Tokens

# Longer expressions are no chains that a reader would follow.
MAX_TOKENS = 40
MAX_LITERALS = 40
# What languages call the object that a method belongs to.
_RECEIVERS = frozenset(("self", "cls", "this", "@"))
# A longer text is prose, a template or data.
MAX_LITERAL = 80
_QUOTES = frozenset("\"'`")
_PREFIXES = frozenset(
    ("new", "await", "try", "try!", "try?", "co_await", "move", "mut", "return", "yield", "from", "throw", "&", "&mut",
     "*", "&&", "@", "::", "\\", "-")
)  # fmt: skip
_JOINTS = frozenset((".", "?.", "!.", "->", "::", ":", "\\", "?->", "&."))
_MEMBERS = frozenset((".", "->", "?."))
_AFTER_NAMES = frozenset(("!", "?", "!!"))
_OPENING = {"(": ")", "[": "]", "{": "}", "${": "}", "#{": "}", "%{": "}", ".{": "}"}
_CLOSING = frozenset(")]}")
_COMPARISONS = frozenset(("==", "!=", "===", "!==", "<=", ">=", "instanceof", "is", "in", "~=", "=~"))
_CHOICES = frozenset(("?", "if", "else", "unless", "lambda", "=>", "and", "or", "||", "&&", "??", "?:", "function"))
# Blocks, and checks of tests: a comparison in them is not what comes back. Nor is one of several values.
_BLOCKS = frozenset(
    ("do", "let", "case", "quote", "begin", "with", "where", "match", "assert", "refute", "for", "while", "loop", "mdo")
)
_CONCATENATIONS = frozenset(("+", "%", "..", "++", "<>"))
_CONSTANTS = {
    **dict.fromkeys(("True", "False", "true", "false"), Form.TRUTH),
    **dict.fromkeys(("None", "null", "nil", "undefined", "nullptr", "NULL"), Form.NOTHING),
}


class Expression(Struct, frozen=True):
    """`names` are those of the chain it is, outermost first; `first_text` is the first text in it."""

    names: tuple[str, ...] = ()
    form: Form = Form.OTHER
    first_text: str = ""


def expression_at(tokens: Tokens, start: int, end: int) -> Expression:
    """The expression between two bytes."""
    return _read_again(tuple(pieces_between(tokens, start, end)))


@lru_cache(maxsize=16384)
def _read_again(pieces: tuple[str, ...]) -> Expression:
    """Cached: three in five expressions of a file occur in it more than once."""
    return read_expression(pieces)


def pieces_between(tokens: Tokens, start: int, end: int, *, most: int = MAX_TOKENS) -> list[str]:
    """The tokens of an expression as text, each with the blank before it, if it has one; of a long one the first."""
    first = bisect_left(tokens.offsets, start)
    last = min(bisect_left(tokens.offsets, end, first), first + most)
    pieces = tokens.parts[first:last]
    return pieces if tokens.is_ascii else [*map(tokens.decoded, pieces)]


class FileTexts(Struct, frozen=True):
    """What is read off all tokens of a file at once, in source order, each with its first byte.

    `literals` are short texts, but for those that start a line, which are
    documentation; `attributes` the names whose attributes are used and not
    called, with the attribute.
    """

    literals: Sequence[tuple[int, str]]
    attributes: Sequence[tuple[int, str, str]]

    @classmethod
    def of(cls, tokens: Tokens) -> Self:
        return cls([*_literals(tokens)], [*_attributes(tokens)])

    def literals_in(self, start: int, end: int) -> tuple[str, ...]:
        """Those between two bytes, each once."""
        first = bisect_left(self.literals, (start, ""))
        between = self.literals[first : bisect_left(self.literals, (end, ""), first)]
        return tuple(dict.fromkeys(text for _, text in between))[:MAX_LITERALS]

    def literals_outside(self, spans: Iterable[tuple[int, int]]) -> tuple[str, ...]:
        """Those outside of all the spans of bytes, each once."""
        texts: list[str] = []
        end_before = 0
        last = self.literals[-1][0] + 1 if self.literals else 0
        for start, end in [*sorted(spans), (last, last)]:
            texts.extend(self.literals_in(end_before, start) if start > end_before else ())
            end_before = max(end_before, end)
        return tuple(dict.fromkeys(texts))[:MAX_LITERALS]

    def attributes_in(self, start: int, end: int, parameters: Iterable[Parameter]) -> tuple[str, ...]:
        """What a function with these parameters uses of its own object between two bytes, each once."""
        receivers = {*_RECEIVERS, *(one.name for one in parameters if one.kind == "receiver")}
        first = bisect_left(self.attributes, (start, "", ""))
        between = self.attributes[first : bisect_left(self.attributes, (end, "", ""), first)]
        return tuple(dict.fromkeys(attribute for _, name, attribute in between if name in receivers))


def _literals(tokens: Tokens) -> Iterator[tuple[int, str]]:
    starts = {*tokens.line_tokens}
    parts, offsets = tokens.parts, tokens.offsets
    for at in [k for k, part in enumerate(parts) if part and part[-1] in _QUOTES]:
        if at in starts:
            continue
        token = parts[at].lstrip()
        if _is_quote(token):
            text = parts[at + 1] if at + 2 < len(parts) and parts[at + 2].strip() == token else ""
        else:
            text = _content(token)
        if 2 < len(text) <= MAX_LITERAL and any(map(str.isalpha, text)):
            yield offsets[at], tokens.decoded(text)


def _attributes(tokens: Tokens) -> Iterator[tuple[int, str, str]]:
    parts, offsets = tokens.parts, tokens.offsets
    for at in [k for k, part in enumerate(parts) if part in _MEMBERS or part.startswith(("@", " @"))]:
        part = parts[at].strip()
        if part not in _MEMBERS:
            start, name, attribute = offsets[at], "@", part.strip("@")
        elif 0 < at < len(parts) - 1 and (at + 2 == len(parts) or parts[at + 2] != "("):
            start, name, attribute = offsets[at - 1], parts[at - 1].strip(), parts[at + 1].strip()
        else:
            continue
        if _is_name(attribute):
            yield start, tokens.decoded(name.removeprefix("$")), tokens.decoded(attribute)


def read_expression(pieces: Sequence[str]) -> Expression:
    """What some tokens are together."""
    flat, first_text = _flattened(pieces)
    is_negated = bool(flat) and flat[0] in ("!", "not")
    if not _CHOICES.isdisjoint(flat):
        return Expression(first_text=first_text)
    if is_negated or not _COMPARISONS.isdisjoint(flat):
        is_whole = flat[0] not in _BLOCKS and "do" not in flat and "," not in flat
        return Expression(form=Form.TRUTH if is_whole else Form.OTHER, first_text=first_text)
    while flat and flat[0] in _PREFIXES:
        flat = flat[1:]
    if not flat:
        return Expression(first_text=first_text)
    first = flat[0]
    if form := _literal_form(first, flat[1:]):
        return Expression(form=form, first_text=first_text)
    names, form = _chain(flat)
    return Expression(names, form, first_text)


def _literal_form(first: str, rest: Sequence[str]) -> Form | None:
    """What an expression is that does not begin with a name; None for one that does."""
    if first in _CONSTANTS:
        return Form.OTHER if rest else _CONSTANTS[first]
    if first == '""':
        return Form.TEXT if not rest or rest[0] in _CONCATENATIONS else Form.OTHER
    if first[0].isdigit():
        return Form.OTHER if rest else Form.NUMBER
    if first in ("[]", "{}", "%{}", "{:}"):
        is_list = first == "[]"
        return Form.OTHER if rest or first == "{}" else Form.LIST if is_list else Form.MAPPING
    return None if _is_name(first) else Form.OTHER


def _chain(flat: Sequence[str]) -> tuple[tuple[str, ...], Form]:
    """The names of a chain, and how it ends; none if it is more than a chain."""
    names: list[str] = []
    form, wants_name = Form.NAME, True
    for piece in flat:
        if wants_name:
            if not _is_name(piece):
                return (), Form.OTHER
            names.extend(piece.strip("$@!?\\").split("\\"))
            form, wants_name = Form.NAME, False
        elif piece in _JOINTS:
            wants_name = True
        elif piece in ("()", "{}", "{:}", ".{}"):
            form = Form.CALL
        elif piece == "[]":
            form = Form.ITEM if form is Form.NAME else form
        elif piece not in _AFTER_NAMES:
            return (), Form.OTHER
    return (() if wants_name else tuple(names)), form


def _flattened(pieces: Sequence[str]) -> tuple[list[str], str]:
    """The tokens outside of brackets, and the first text wherever it is. A pair of brackets becomes one token that
    names its content (`{:}` for a mapping), and a text becomes `""`."""
    flat: list[str] = []
    first_text, depth, position = "", 0, 0
    while position < len(pieces):
        piece = pieces[position].strip()
        position += 1
        if not piece:
            continue
        if is_text(piece):
            content, position = text_at(pieces, position - 1)
            first_text = first_text or content
            if not depth and flat[-1:] != ['""']:
                flat.append('""')
        elif piece in _OPENING:
            if not depth:
                flat.append(f"{piece}{_OPENING[piece]}")
            depth += 1
        elif piece in _CLOSING:
            depth = max(0, depth - 1)
        elif not depth:
            position, shown = _type_arguments(pieces, position) if piece == "<" else (position, piece)
            flat.extend([shown] if shown else [])
        elif depth == 1 and piece == ":" and flat[-1:] == ["{}"]:
            flat[-1] = "{:}"
    return flat, first_text


def _type_arguments(pieces: Sequence[str], position: int) -> tuple[int, str]:
    """Where the `>` ends that closes a `<`, if what follows shows that types lie between; else the sign itself."""
    depth = 1
    for at in range(position, len(pieces)):
        piece = pieces[at].strip()
        depth += (piece == "<") - (piece == ">") - 2 * (piece == ">>")
        if depth <= 0:
            follows = pieces[at + 1].strip() if at + 1 < len(pieces) else ""
            return (at + 1, "") if follows in ("(", "::", ".", "{") else (position, "<")
    return position, "<"


def is_text(piece: str) -> bool:
    return piece[-1] in _QUOTES


def _is_quote(piece: str) -> bool:
    """Whether it is a quote alone, of a text whose parts are tokens of their own."""
    return len(piece) == 1


def text_at(pieces: Sequence[str], position: int) -> tuple[str, int]:
    """The content of the text that begins here, and where what follows it begins."""
    quote = pieces[position].strip()
    if not _is_quote(quote):
        return _content(quote), position + 1
    content: list[str] = []
    depth = 0
    for at in range(position + 1, len(pieces)):
        piece = pieces[at].strip()
        if not depth and piece == quote:
            return "".join(content), at + 1
        if piece in ("${", "#{", "\\(") or (depth and piece == "{"):
            content.extend(["…"] if not depth else [])
            depth += 1
        elif piece == "}" and depth:
            depth -= 1
        elif not depth:
            content.append(pieces[at])
    return "".join(content), len(pieces)


def _content(token: str) -> str:
    """The content of a text, between its quotes."""
    quote = token[-1]
    start = token.find(quote)
    return token[start:].strip(quote) if start < len(token) - 1 else ""


def _is_name(piece: str) -> bool:
    return piece.strip("$@!?\\").replace("-", "_").replace("\\", "_").isidentifier()


def first_argument(pieces: Sequence[str]) -> Iterator[str]:
    """The tokens of the first argument of a call: `ArgumentError` of `raise ArgumentError, "x"`."""
    rest = [piece.strip() for piece in pieces[1:]]
    while rest and rest[0] in ("!", "("):
        rest = rest[1:]
    depth = 0
    for piece in rest:
        if not depth and piece in (",", ")"):
            return
        depth += (piece in _OPENING) - (piece in _CLOSING)
        yield piece
