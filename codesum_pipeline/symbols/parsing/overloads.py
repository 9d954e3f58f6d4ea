"""Ids of definitions that share a qualified name in one file.

One of them, the implementation, keeps the plain id. Each other gets a suffix
that is read off it: a hash of its signature, with its source only where
another has the same signature, and a count where one has the same source too.
So one that comes or goes moves the id of at most one other, and their order in
the file moves none.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import count
from typing import Protocol, TypeVar

from codesum_pipeline.foundation.data_model.hashing import sha1_hex
from codesum_pipeline.foundation.data_model.ids import SUFFIX_DIGITS, symbol_id


class NamedDefinition(Protocol):
    """A definition with its names, outermost first, and the number of the one around it."""

    parts: tuple[str, ...]
    parent: int | None


Defined = TypeVar("Defined", bound=NamedDefinition)


def ids_of(
    definitions: Sequence[Defined],
    file_path: str,
    *,
    rank: Callable[[Defined], int],
    signature: Callable[[Defined], str],
    source: Callable[[Defined], str],
) -> list[str]:
    """The id of each definition of a file.

    The lower its `rank`, the more it is the implementation; `signature` and
    `source` are canonical texts. Among definitions of one name, the lowest rank keeps
    the plain id. Ties go to the shortest signature, then to the text of the first
    of their parents, then to the first source in text order.
    """
    ids = [symbol_id(file_path, definition.parts) for definition in definitions]
    sharing: defaultdict[str, list[int]] = defaultdict(list)
    for number, id_ in enumerate(ids):
        sharing[id_].append(number)
    # Parents first: their ids are part of the order.
    groups = sorted((group for group in sharing.values() if len(group) > 1), key=lambda g: len(definitions[g[0]].parts))
    for group in groups:
        base = ids[group[0]]
        heads = [(rank(definitions[number]), signature(definitions[number])) for number in group]
        repeated = Counter(heads)
        # The order of each among the others: if possible, by what an edit of a body does not change.
        places = []
        for number, head in zip(group, heads, strict=True):
            parent = definitions[number].parent
            text = source(definitions[number]) if repeated[head] > 1 else ""
            places.append((head[0], len(head[1]), head[1], "" if parent is None else ids[parent], text, number))
        taken: set[str] = set()
        counts: defaultdict[str, count[int]] = defaultdict(lambda: count(2))
        for place, (least, _, signature_text, _, text, number) in enumerate(sorted(places)):
            head_text = f"{least}\n{signature_text}"
            by_signature, by_source = _short_hash(head_text), _short_hash(f"{head_text}\n{text}")
            suffix = ""
            if place:
                # The first of its own that no one before it has or could have had.
                suffix = next((one for one in (by_signature, by_source) if one not in taken), "")
                while not suffix or suffix in taken or base + suffix in sharing:
                    suffix = f"{by_source}-{next(counts[by_source])}"
            taken.update((by_signature, by_source, suffix))
            ids[number] = base + suffix
    return ids


def _short_hash(text: str) -> str:
    return f"#{sha1_hex(text)[:SUFFIX_DIGITS]}"
