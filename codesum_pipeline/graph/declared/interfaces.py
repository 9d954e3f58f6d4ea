"""What the rest of a repository may see of a file of a declared language.

All that `read_references` wrote is part of it but for the calls, and for the
variables of the file and of its functions on which nothing rests that others
may ask for: others start from definitions, imports and fields, and go on by the
names in what those are given. `graph.interfaces` says what this is good for.
"""

import json
from collections.abc import Iterator
from typing import Any

from codesum_pipeline.graph.declared.tree import NameTree
from codesum_pipeline.model.hashing import sha1_hex

_OWN = frozenset({"receivers", "calls", "counts", "typed", "bound"})
_VARIABLES = ("typed", "bound")


def interface_of(references: str) -> str:
    """The hash of a file's interface."""
    facts = json.loads(references)
    rest = {name: said for name, said in facts.items() if name not in _OWN}
    return sha1_hex(json.dumps([rest, _seen_variables(facts, rest)], sort_keys=True, separators=(",", ":")))


def _seen_variables(facts: dict[str, Any], rest: dict[str, Any]) -> list[list[list[Any]]]:
    classes = {number for number, symbol in enumerate(facts["symbols"]) if symbol[1] == "class"}
    rows = [(kind, row) for kind in _VARIABLES for row in facts[kind]]
    names = {*_texts(rest)}
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
