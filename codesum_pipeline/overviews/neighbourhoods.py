"""Neighbourhoods: the communities of the graph, whose members use each other more than other code.

A community has no name of its own. It is named by words that stand in the names of its members and not in those of
other communities.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.model.ids import SEPARATOR, module_path_of
from codesum_pipeline.overviews.view import RankedDocument
from codesum_pipeline.summaries.extractive.words import split_identifier

# A smaller community is a class with its methods, or chance.
LEAST_MEMBERS = 4
# The share of members below a folder that makes it the neighbourhood's.
_SHARED = 0.6
_WORDS = 3
# A word counts from so many names of members on.
_LEAST_NAMES = 2
# A word that more of the neighbourhoods have, as the repository's name, does not count.
_COMMON = 0.5
_FEW_GROUPS = 4
_TOO_COMMON = frozenset({
    "init", "get", "set", "new", "test", "main", "self", "the", "index", "mod", "src", "lib", "from", "with", "for",
    "and", "all", "default", "make", "create", "add",
})  # fmt: skip


class Community(Struct, frozen=True):
    """A community: its name, its members, most used first, the folder that most of them share, and its own words."""

    name: str
    members: tuple[RankedDocument, ...]
    size: int
    folder: str
    folder_share: float
    words: tuple[str, ...]
    rank: float


def find_neighbourhoods(places: Iterable[RankedDocument], *, least: int = LEAST_MEMBERS) -> list[Community]:
    """The communities with at least `least` members, most used first; their names differ."""
    groups: dict[int, list[RankedDocument]] = defaultdict(list)
    for place in places:
        if place.community is not None:
            groups[place.community].append(place)
    kept = {number: members for number, members in groups.items() if len(members) >= least}
    spread = Counter(word for members in kept.values() for word in _names_with(members))
    found = [_neighbourhood(members, spread, len(kept)) for members in kept.values()]
    found.sort(key=lambda each: (-each.rank, -each.size, each.members[0].id))
    return _named_apart(found)


def _neighbourhood(members: Sequence[RankedDocument], spread: Mapping[str, int], groups: int) -> Community:
    ordered = sorted(members, key=lambda place: (-place.rank, place.id))
    folder, share = _shared_folder(members)
    words = _own_words(members, spread, groups)
    name = ", ".join(words) or ordered[0].name
    return Community(
        name=name,
        members=tuple(ordered),
        size=len(members),
        folder=folder,
        folder_share=share,
        words=words,
        rank=sum(place.rank for place in members),
    )


def _shared_folder(members: Sequence[RankedDocument]) -> tuple[str, float]:
    """The deepest folder, or the file, that most members stand in, and the share of these."""
    counts: Counter[str] = Counter()
    for place in members:
        parts = place.path.split("/")
        counts.update("/".join(parts[:length]) for length in range(1, len(parts) + 1))
    shared = [path for path, count in counts.items() if count >= len(members) * _SHARED]
    if not shared:
        return ".", 1.0
    deepest = max(shared, key=lambda path: (path.count("/"), counts[path], path))
    return deepest, round(counts[deepest] / len(members), 2)


def _own_words(members: Sequence[RankedDocument], spread: Mapping[str, int], groups: int) -> tuple[str, ...]:
    """The words with the highest tf-idf, one of each stem."""
    names = _names_with(members)
    scores = {
        word: count / len(members) * math.log((1 + groups) / spread[word])
        for word, count in names.items()
        if count >= _LEAST_NAMES and (groups < _FEW_GROUPS or spread[word] <= groups * _COMMON)
    }
    by_stem: dict[str, str] = {}
    for word in sorted(scores, key=lambda word: (-scores[word], word)):
        by_stem.setdefault(" ".join(tokenize(word)), word)
    return tuple(by_stem.values())[:_WORDS]


def _names_with(members: Sequence[RankedDocument]) -> Counter[str]:
    """In how many members' names each word stands: a definition's name, a file's stem, and the name around."""
    found: Counter[str] = Counter()
    for place in members:
        own = place.id.rpartition(SEPARATOR)[2] if SEPARATOR in place.id else place.name.partition(".")[0]
        around = place.id.split(SEPARATOR)[1:-1] or [module_path_of(place.path).rpartition("/")[2]]
        words = {word.lower() for part in (own, *around) for word in split_identifier(part)}
        found.update(word for word in words if len(word) > 2 and word not in _TOO_COMMON and not word.isdigit())
    return found


def _named_apart(found: Sequence[Community]) -> list[Community]:
    """The communities with different names: a repeated name gets the name of a member, too."""
    seen: set[str] = set()
    named = []
    for each in found:
        name = each.name
        for member in ("", *(place.name for place in each.members), *(place.id for place in each.members)):
            name = f"{each.name} ({member})" if member else each.name
            if name not in seen:
                break
        seen.add(name)
        named.append(replace(each, name=name))
    return named
