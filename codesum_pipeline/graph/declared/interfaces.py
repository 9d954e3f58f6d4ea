"""What the rest of a repository may see of a file of a declared language.

All that `read_references` wrote is part of it but for the calls, and for the
variables of the file and of its functions on which nothing rests that others
may ask for: others start from definitions, imports and fields, and go on by the
names in what those are given. Of the blocks only those count that such names or
definitions stand in: they have other numbers here, which no other block changes.
`graph.interfaces` says what this is good for.
"""

import json
from collections.abc import Iterator
from typing import Any

from codesum_pipeline.graph.declared.tree import NameTree
from codesum_pipeline.model.hashing import sha1_hex

_OWN = frozenset({"receivers", "calls", "counts", "typed", "bound", "blocks", "around", "imports", "results"})
_VARIABLES = ("typed", "bound")


def interface_of(references: str) -> str:
    """The hash of a file's interface."""
    facts = json.loads(references)
    rest = {name: said for name, said in facts.items() if name not in _OWN}
    names = {*_texts([rest, [row[1:] for kind in ("imports", "results") for row in facts[kind]]])}
    seen = _seen_variables(facts, names)
    scoped = [facts["imports"], facts["around"], facts["results"], *seen]
    return sha1_hex(json.dumps([rest, *_in_blocks(facts, scoped, names)], sort_keys=True, separators=(",", ":")))


def _seen_variables(facts: dict[str, Any], names: set[str]) -> list[list[list[Any]]]:
    """The variables that others may come to; `names` becomes all those that they may ask for."""
    classes = {number for number, symbol in enumerate(facts["symbols"]) if symbol[1] == "class"}
    rows = [(kind, row) for kind in _VARIABLES for row in facts[kind]]
    seen: set[int] = set()
    while found := [
        position
        for position, (_, (number, name, _)) in enumerate(rows)
        if position not in seen and (number in classes or name in names or NameTree.own_name(name) is not None)
    ]:
        seen.update(found)
        for position in found:
            names.update(_texts(rows[position][1][2]))
    return [[row for position, (of, row) in enumerate(rows) if of == kind and position in seen] for kind in _VARIABLES]


def _in_blocks(facts: dict[str, Any], scoped: list[list[list[Any]]], names: set[str]) -> Iterator[Any]:
    """Rows about scopes, and the blocks that these stand in."""
    first, blocks = len(facts["symbols"]), facts["blocks"]
    kept: set[int] = set()
    for scope in {row[0] for rows in scoped for row in rows}:
        while scope >= first and scope not in kept:
            kept.add(scope)
            scope = blocks[scope - first][0]
    numbers = {scope: first + at for at, scope in enumerate(sorted(kept))}
    for rows in scoped:
        yield [[numbers.get(row[0], row[0]), *row[1:]] for row in rows]
    for scope in sorted(kept):
        around, parameters = blocks[scope - first]
        yield [numbers.get(around, around), [name for name in parameters if name in names]]


def _texts(said: Any) -> Iterator[str]:
    waiting = [said]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
