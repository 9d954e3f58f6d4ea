"""What a node that decides runs under which condition, read by its language's table of conditions.

The branches of one node lie beside each other, those of a node in a branch within it: the innermost one around a place
says under which condition that is run.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from tree_sitter import Node

from codesum_pipeline.languages.declarations.condition_syntax import Branch, ConditionSyntax, Sense
from codesum_pipeline.languages.declarations.kin import parent_of
from codesum_pipeline.languages.declarations.spec import Span

# When the right side of an operation is run.
_OPERATORS = {
    "||": Sense.FAILS, "or": Sense.FAILS, "catch": Sense.FAILED, "&&": Sense.HOLDS, "and": Sense.HOLDS,
    "??": Sense.ABSENT, "??=": Sense.ABSENT, "?:": Sense.ABSENT, "orelse": Sense.ABSENT,
}  # fmt: skip
# Of more conditions, what runs where none holds is not said.
_MOST_CONDITIONS = 3
# A child, and its field in its parent.
_Row = Sequence[tuple[Node, str | None]]
_Names = tuple[str, ...]
_ASKING = frozenset((Sense.HOLDS, Sense.FAILS))


def branches_of(kind: str, node: Node, syntax: ConditionSyntax) -> Iterator[Branch]:
    """The branches of a node of a kind in `ConditionSyntax.marked`."""
    if kind in syntax.choices:
        yield from _choice(node, syntax.choices[kind], syntax, is_before=False)
    if kind in syntax.modifiers:
        yield from _choice(node, syntax.modifiers[kind], syntax, is_before=True)
    if kind in syntax.switches:
        yield from _switch(node, syntax.switches[kind])
    if kind in syntax.catches:
        yield from _catch(node, syntax.catches[kind])
    if kind in syntax.shortcuts:
        yield from _shortcut(node)
    if kind in syntax.branches:
        yield from syntax.branches[kind](node)


def conditions_of(kind: str, node: Node, syntax: ConditionSyntax, branches: Iterable[Branch]) -> Iterator[Span]:
    """The bytes of each condition that a node of a kind in `ConditionSyntax.marked` asks, whose branches are given. A
    pattern is none, nor is the left side of an operation."""
    if kind in syntax.checks and (asked := _span(_row(node), _parts(syntax.checks[kind], 1)[0])) is not None:
        yield asked
    if kind not in syntax.shortcuts:
        for one in branches:
            if one.sense in _ASKING or (one.sense is Sense.MATCHES and one.subject is None):
                yield from one.of


@lru_cache(maxsize=512)
def _parts(written: str, count: int) -> tuple[_Names, ...]:
    """The names in each part of a description; of a part that is left out, none."""
    parts = [tuple(part.split()) for part in written.split(" : ")]
    return (*parts, *[()] * (count - len(parts)))


def _choice(node: Node, described: str, syntax: ConditionSyntax, *, is_before: bool) -> Iterator[Branch]:
    row, others, condition = _tested(node, described)
    if condition is None:
        return
    is_negated = "!" in _parts(described, 2)[0]
    holds, fails = (Sense.FAILS, Sense.HOLDS) if is_negated else (Sense.HOLDS, Sense.FAILS)
    conditions = [*(_earlier(node, syntax) if others < len(row) else ()), condition]
    end = row[others][0].start_byte if others < len(row) else node.end_byte
    yield Branch(condition[1], end, holds, (condition,))
    if is_before:
        yield Branch(node.start_byte, condition[0], holds, (condition,))
    for child, _ in row[others:]:
        yield Branch(child.start_byte, child.end_byte, fails, tuple(conditions[:_MOST_CONDITIONS]))
        if child.type in syntax.choices and (more := _condition_of(child, syntax)) is not None:
            conditions.append(more)


def _tested(node: Node, described: str) -> tuple[_Row, int, Span | None]:
    """The children of a choice, the number of the first that is run where its condition fails, and that condition."""
    tested, otherwise = _parts(described, 2)
    row = _row(node)
    others = next((k for k, one in enumerate(row) if _has_name(one, otherwise)), len(row))
    return row, others, _span(row[: others + 1], tested)


def _earlier(node: Node, syntax: ConditionSyntax) -> list[Span]:
    """The conditions that failed before a node that comes right behind their `else` is asked."""
    found: list[Span] = []
    while len(found) < _MOST_CONDITIONS and (around := _choice_around(node, syntax)) is not None:
        row, others, condition = _tested(around, syntax.choices[around.type])
        if condition is None or others == len(row) or row[others][0].start_byte > node.start_byte:
            break
        found.insert(0, condition)
        node = around
    return found


def _choice_around(node: Node, syntax: ConditionSyntax) -> Node | None:
    """The node that a choice is directly in, if it is one too, perhaps with a node between that is only its `else`."""
    around = parent_of(node)
    if around is not None and around.type not in syntax.choices and around.named_child_count == 1:
        around = parent_of(around)
    return around if around is not None and around.type in syntax.choices else None


def _condition_of(node: Node, syntax: ConditionSyntax) -> Span | None:
    """The condition of one of several that follow each other."""
    return _span(_row(node), _parts(syntax.choices[node.type], 2)[0])


def _switch(node: Node, described: str) -> Iterator[Branch]:
    tested, arms, patterns = _parts(described, 3)
    row = _row(node)
    subject = _span(row, tested)
    waiting: list[Span] = []
    is_other = False
    for arm in _arms(row, arms):
        parts = _row(arm)
        pattern = _span(parts, patterns)
        waiting += [pattern] if pattern else []
        is_other = is_other or pattern is None
        start = pattern[1] if pattern else arm.start_byte
        # An arm without statements is one with the next: `case 1: case 2:`.
        if any(child.is_named and child.start_byte >= start for child, _ in parts):
            sense = Sense.OTHER if is_other else Sense.CAUGHT if "!" in tested else Sense.MATCHES
            yield Branch(start, arm.end_byte, sense, tuple(waiting), subject)
            waiting, is_other = [], False


def _arms(row: _Row, arms: _Names) -> Iterator[Node]:
    for child, _ in row:
        if child.type in arms:
            yield child
        elif child.is_named:
            yield from (inner for inner in child.named_children if inner.type in arms)


def _catch(node: Node, described: str) -> Iterator[Branch]:
    row = _row(node)
    found = _span(row, _parts(described, 1)[0])
    start = found[1] if found else row[0][0].end_byte if row else node.start_byte
    yield Branch(start, node.end_byte, Sense.CAUGHT, (found,) if found else ())


def _shortcut(node: Node) -> Iterator[Branch]:
    # Comments and marks that continue a line may stand between the parts.
    parts = [child for child, _ in _row(node)]
    if len(parts) < 2:
        return
    operator = parts[1]
    name = operator.type
    if operator.is_named and operator.end_byte - operator.start_byte == 2 and operator.text:
        name = operator.text.decode("latin-1")
    if name in _OPERATORS:
        yield Branch(operator.end_byte, node.end_byte, _OPERATORS[name], ((node.start_byte, operator.start_byte),))


def _row(node: Node) -> _Row:
    """The children of a node with their fields, without comments."""
    cursor, row = node.walk(), []
    has_child = cursor.goto_first_child()
    while has_child:
        child = cursor.node
        if child is not None and not child.is_extra:
            row.append((child, cursor.field_name))
        has_child = cursor.goto_next_sibling()
    return row


def _span(row: _Row, names: _Names) -> Span | None:
    """The bytes from the first of the children that have one of some names to the last."""
    for name in names:
        before, mark, after = name.partition("<")
        if mark and (between := _between(row, before, after)) is not None:
            return between
    found = [one[0] for one in row if one[0].is_named and _has_name(one, names)]
    return (found[0].start_byte, found[-1].end_byte) if found else None


def _between(row: _Row, before: str, after: str) -> Span | None:
    types = [child.type for child, _ in row]
    if (after and after not in types) or (before and before not in types):
        return None
    is_word = bool(types) and types[0].isalpha() and not row[0][0].is_named
    first = types.index(before) + 1 if before else int(is_word)
    end = types.index(after) if after else len(types)
    return (row[first][0].start_byte, row[end - 1][0].end_byte) if first < end else None


def _has_name(one: tuple[Node, str | None], names: _Names) -> bool:
    return one[0].type in names or one[1] in names
