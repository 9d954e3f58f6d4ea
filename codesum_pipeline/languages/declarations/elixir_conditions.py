"""What decides in Elixir: guards, and the calls `if`, `unless`, `case`, `cond` and `try`."""

from collections.abc import Iterator

from tree_sitter import Node

from codesum_pipeline.languages.declarations import elixir_forms as forms
from codesum_pipeline.languages.declarations.condition_syntax import Branch, Sense
from codesum_pipeline.languages.declarations.kin import parent_of
from codesum_pipeline.languages.declarations.nodes import child_of_type, find_field
from codesum_pipeline.languages.declarations.spec import Span

_CHOICES = {"if": (Sense.HOLDS, Sense.FAILS), "unless": (Sense.FAILS, Sense.HOLDS)}
_HANDLERS = ("rescue_block", "catch_block")


def branches_of_call(call: Node) -> Iterator[Branch]:
    """What a call runs under conditions."""
    word = forms.called_word(call)
    if word in _CHOICES:
        yield from _choice(call, *_CHOICES[word])
    elif word in forms.DEFINERS:
        yield from _guarded(call)
    elif word in ("case", "cond"):
        yield from _arms(call, None if word == "cond" else _subject(call), is_case=word == "case")
    block = child_of_type(call, "do_block")
    for handler in block.named_children if block is not None else ():
        if handler.type in _HANDLERS:
            for pattern, clause in _clauses(handler):
                yield Branch(pattern[1], clause.end_byte, Sense.CAUGHT, (pattern,))


def _choice(call: Node, sense: Sense, otherwise: Sense) -> Iterator[Branch]:
    condition = forms.first_argument(call)
    if condition is None:
        return
    tested = (_bytes(condition),)
    yield Branch(condition.end_byte, call.end_byte, sense, tested)
    block = child_of_type(call, "do_block")
    other = child_of_type(block, "else_block") if block is not None else forms.keyword_value(call, "else")
    if other is not None:
        yield Branch(other.start_byte, other.end_byte, otherwise, tested)


def _guarded(definition: Node) -> Iterator[Branch]:
    """`def name(…) when guard`."""
    head = forms.first_argument(definition)
    guard = find_field(head, "right") if forms.operator_of(head) == "when" else None
    if guard is not None:
        yield Branch(guard.end_byte, definition.end_byte, Sense.HOLDS, (_bytes(guard),))


def _subject(case: Node) -> Span | None:
    """What a `case` asks about: its argument, or what is piped into it."""
    subject, around = forms.first_argument(case), parent_of(case)
    if subject is None and forms.operator_of(around) == "|>":
        subject = find_field(around, "left")
    return _bytes(subject) if subject is not None else None


def _arms(call: Node, subject: Span | None, *, is_case: bool) -> Iterator[Branch]:
    block = child_of_type(call, "do_block")
    if block is not None and (subject is not None or not is_case):
        for pattern, clause in _clauses(block):
            yield Branch(pattern[1], clause.end_byte, Sense.MATCHES, (pattern,), subject)


def _clauses(block: Node) -> Iterator[tuple[Span, Node]]:
    """The patterns of a block's clauses."""
    for clause in block.named_children:
        pattern = find_field(clause, "left") if clause.type == "stab_clause" else None
        if pattern is not None:
            yield _bytes(pattern), clause


def _bytes(node: Node) -> Span:
    return node.start_byte, node.end_byte
