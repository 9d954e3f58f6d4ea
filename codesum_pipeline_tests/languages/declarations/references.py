"""What a file says to the graph, with its receivers and types as texts that a reader of a test takes in at once."""

import json
from typing import Any

from codesum_pipeline.foundation.data_model.symbol import FileFacts


def references_of(facts: FileFacts) -> dict[str, Any]:
    """The references of a file: steps as `a.b(2)`, types as `a.Map<Key, Item[]>`; `?` is what cannot be read.

    Rows about a block are here of the symbol that it stands in.
    """
    read: dict[str, Any] = json.loads(facts.references)
    for kind in ("calls", "typed", "bound", "imports"):
        for row in read[kind]:
            row[0] = _symbol(read, row[0])
    receivers = [_chain(receiver) for receiver in read["receivers"]]
    read["calls"] = [[number, receivers[receiver], *rest] for number, receiver, *rest in read["calls"]]
    read["typed"] = [[number, name, _type(type_)] for number, name, type_ in read["typed"]]
    read["bound"] = [[number, name, _chain(value)] for number, name, value in read["bound"]]
    return read


def _symbol(read: dict[str, Any], scope: int) -> int:
    while (block := scope - len(read["symbols"])) >= 0:
        scope = read["blocks"][block][0]
    return scope


def _chain(steps: list[Any] | None) -> str:
    if steps is None:
        return "?"
    return ".".join(step if isinstance(step, str) else f"{step[0]}({step[1]})" for step in steps).replace(".[]", "[]")


def _type(structure: list[Any] | None) -> str:
    if structure is None:
        return "?"
    if structure[0] == "[]":
        return f"{_type(structure[1])}[]"
    names = [part for part in structure if isinstance(part, str)]
    arguments = ", ".join(map(_type, structure[len(names) :]))
    return ".".join(names) + (f"<{arguments}>" if arguments else "")
