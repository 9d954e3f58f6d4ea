"""Which bindings of a name can still hold where it is used, for a name that one function or file binds more than once.

A binding does not reach a use if another binding between them is always
executed on the way, or if all ways from it leave the function. In code without
goto, nesting decides this: the code in an arm (of an `if`, a loop, a `try`, a
`match`) is executed before a use in the same arm. A loop leads from its end to
its start. Where nothing can be proved, all bindings reach.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from enum import Flag, auto

from tree_sitter import Node

from codesum_pipeline.foundation.data_model.bindings import CHOSEN, Bound, ScopeKind
from codesum_pipeline.languages.declarations.nodes import code_children
from codesum_pipeline.languages.declarations.python.references.python_scopes import BoundName, NameScope, NameTable
from codesum_pipeline.languages.declarations.spans import NestedRanges
from codesum_pipeline.languages.declarations.spec import split_words

# A name with more bindings in one scope is a table's, or a program's that wrote the file.
_MOST_BINDINGS = 100
_ROOT = re.compile(r"[^\W\d]\w*")
_LEAVING = split_words("return_statement raise_statement")
_OUTER = frozenset({Bound.GLOBAL, Bound.NONLOCAL, Bound.ELSEWHERE})


class _Part(Flag):
    """What a stretch of code is: an arm may be passed over, a loop repeated; no way goes on behind what leaves."""

    ARM = auto()
    LOOP = auto()
    LEAVES = auto()
    TRY = auto()


class _Parts:
    """The stretches around each position, outermost first."""

    def __init__(self, captures: Mapping[str, Sequence[Node]]) -> None:
        self._jumps = sorted(node.start_byte for node in captures.get("jump", ()))
        self._kinds: list[_Part] = []
        self.starts: list[int] = []
        ranges: list[tuple[int, int, int]] = []
        for node in captures.get("branch", ()):
            self._read(node, ranges)
        for node in captures.get("guarded", ()):
            self._add(ranges, _Part.ARM, node)
        self._nested = NestedRanges(ranges)
        self._known: dict[int, tuple[int, ...]] = {}

    def _read(self, node: Node, ranges: list[tuple[int, int, int]]) -> None:
        body = node.child_by_field_name("body")
        match node.type:
            case "if_statement":
                consequence = node.child_by_field_name("consequence")
                if consequence is not None:
                    self._add(ranges, _Part.ARM | self._leaves(consequence), consequence)
            case "for_statement" if body is not None:
                left = node.child_by_field_name("left")
                self._add(ranges, _Part.ARM | _Part.LOOP, *([body] if left is None else [left, body]))
            case "while_statement" if body is not None:
                self._add(ranges, _Part.LOOP, node)
                self._add(ranges, _Part.ARM, body)
            case "try_statement" if body is not None:
                self._add(ranges, _Part.TRY, node)
                self._add(ranges, _Part.ARM, body)
            case "elif_clause" | "else_clause":
                block = node.child_by_field_name("consequence") or body
                self._add(ranges, _Part.ARM | self._leaves(block), node)
            case "except_clause" | "case_clause":
                self._add(ranges, _Part.ARM, node)

    def _add(self, ranges: list[tuple[int, int, int]], kind: _Part, *nodes: Node) -> None:
        self._kinds.append(kind)
        self.starts.append(nodes[0].start_byte)
        ranges.extend((node.start_byte, node.end_byte, len(self._kinds) - 1) for node in nodes)

    def _leaves(self, block: Node | None) -> _Part:
        """Whether all ways through a block end in the function's end."""
        statements = code_children(block) if block is not None else []
        if block is None or not statements or statements[-1].type not in _LEAVING:
            return _Part(0)
        first = bisect_right(self._jumps, block.start_byte)
        jumps = first < len(self._jumps) and self._jumps[first] < block.end_byte
        return _Part(0) if jumps else _Part.LEAVES

    def at(self, position: int, start: int) -> tuple[int, ...]:
        """The stretches around a position that begin after `start`, where its function does."""
        found = self._known.get(position)
        if found is None:
            number = self._nested.at(position)
            around: list[int] = []
            while number >= 0:
                around.append(self._nested.ranges[number][2])
                number = self._nested.around[number]
            found = self._known[position] = tuple(reversed(around))
        return tuple([part for part in found if self.starts[part] >= start])

    def of(self, kind: _Part, parts: Sequence[int]) -> set[int]:
        """Those of a kind."""
        return {part for part in parts if kind in self._kinds[part]}


class ShapeReach:
    """Writes into shapes which bindings of their root reach."""

    def __init__(self, captures: Mapping[str, Sequence[Node]], table: NameTable) -> None:
        self._captures = captures
        self._ranges = table.ranges
        scopes = self._scopes = table.scopes
        self._bindings: dict[tuple[int, str], list[BoundName]] = {}
        for one in table.names:
            if scopes[one.scope].kind in (ScopeKind.FUNCTION, ScopeKind.MODULE):
                self._bindings.setdefault((one.scope, one.name), []).append(one)
        self._bindings = {
            key: found
            for key, found in self._bindings.items()
            if 1 < len(found) <= _MOST_BINDINGS and _is_local(scopes[key[0]], key[1], found)
        }
        self._parts: _Parts | None = None
        self._chosen: dict[tuple[int, str, int], str] = {}

    def chosen(self, scope: int, shapes: str, position: int) -> str:
        """Shapes of an expression at a position; their roots name the bindings that reach it, if not all do."""
        if not self._bindings:
            return shapes
        if "|" in shapes:
            return "|".join(self._of_one(scope, shape, position) for shape in shapes.split("|"))
        return self._of_one(scope, shapes, position)

    def _of_one(self, scope: int, shape: str, position: int) -> str:
        if shape.startswith("⟨"):
            inside, _, links = shape[2:].partition("⟩")
            items = ";".join(self._of_one(scope, one, position) for one in inside.split(";"))
            return f"{shape[:2]}{items}⟩{links}"
        root = _ROOT.match(shape)
        if root is None or shape.startswith("super("):
            return shape
        owner = self._owner(scope, root[0])
        if owner is None:
            return shape
        key = (owner, root[0], position)
        numbers = self._chosen.get(key)
        if numbers is None:
            numbers = self._chosen[key] = self._numbers(*key)
        return f"{root[0]}{numbers}{shape[root.end() :]}"

    def _owner(self, scope: int, name: str) -> int | None:
        """The scope that binds a name used in another, where the use is carried out as it is passed."""
        while (scope, name) not in self._bindings:
            if self._scopes[scope].kind is not ScopeKind.COMPREHENSION or name in self._scopes[scope].names:
                return None
            scope = self._scopes[scope].parent
        return scope

    def _numbers(self, scope: int, name: str, position: int) -> str:
        bindings = self._bindings[scope, name]
        reach = self._reaching(bindings, position, self._ranges.start_of(scope))
        plain = [number for number, one in enumerate(bindings) if one.binding[0] != Bound.NARROWED]
        if not reach or reach == plain:
            return ""
        return CHOSEN + ",".join(map(str, reach))

    def _reaching(self, bindings: Sequence[BoundName], position: int, start: int) -> list[int]:
        if self._parts is None:
            self._parts = _Parts(self._captures)
        parts = self._parts
        around = parts.at(position, start)
        arms, loops, tries = (parts.of(kind, around) for kind in (_Part.ARM, _Part.LOOP, _Part.TRY))
        earlier = [number for number, one in enumerate(bindings) if one.holds_from <= position]
        reach: list[int] = []
        killers: list[set[int]] = []
        for number in reversed(earlier):
            one = bindings[number]
            inside = parts.at(one.position, start)
            is_passed = parts.of(_Part.ARM, inside) <= arms
            leaves = parts.of(_Part.LEAVES, inside) - arms
            # A narrowing of a name in an arm holds only there.
            may_hold = is_passed or one.binding[0] != Bound.NARROWED
            if may_hold and (not leaves or parts.of(_Part.TRY, inside) & tries):
                reach.append(number)
            if one.is_sure and is_passed:
                killers.append(parts.of(_Part.LOOP, inside))
                break
        for number in range(len(bindings)):
            if bindings[number].holds_from <= position or bindings[number].binding[0] == Bound.NARROWED:
                continue
            inside = parts.at(bindings[number].position, start)
            common = [part for part in inside if part in loops]
            if common and not any(common[-1] in killer for killer in killers):
                reach.append(number)
        return sorted(reach)


def _is_local(scope: NameScope, name: str, found: Sequence[BoundName]) -> bool:
    """Whether one scope alone binds a name, and its list of bindings is this one."""
    bindings = scope.names.get(name, [])
    return [one.binding for one in found] == bindings and not any(b[0] in _OUTER for b in bindings)
