"""Neighbourhoods: code that uses one another more than the rest, named by what sets it apart.

They are the communities of the graph. A community has no name of its own: its
members share a folder, and words that the names of other communities do not have.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.model.ids import SEPARATOR, module_path_of
from codesum_pipeline.overviews.view import RankedDocument
from codesum_pipeline.summaries.extractive.words import split_identifier

# Smaller ones are a class with its methods, or chance.
LEAST_MEMBERS = 4
# A folder sets a neighbourhood apart where so many of its members stand below it.
_SHARED = 0.6
_WORDS = 3
# A word that few names have tells nothing of the others.
_LEAST_NAMES = 2
# Nor one that most neighbourhoods have: the name of the repository.
_COMMON = 0.5
_FEW_GROUPS = 4
_TOO_COMMON = frozenset({
    "init", "get", "set", "new", "test", "main", "self", "the", "index", "mod", "src", "lib", "from", "with", "for",
    "and", "all", "default", "make", "create", "add",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Community:
    """A community: its name, its members with the most used first, the folder most of them share, and its own words."""

    name: str
    members: tuple[RankedDocument, ...]
    size: int
    folder: str
    folder_share: float
    words: tuple[str, ...]
    rank: float


def find_neighbourhoods(places: Iterable[RankedDocument], *, least: int = LEAST_MEMBERS) -> list[Community]:
    """All with at least `least` members, the most used first; no two have one name."""
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
    """The deepest folder, or the file, that most members stand in, and how many of them do."""
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
    """The words with the highest tf-idf, one of each stem: in many names here, in few neighbourhoods."""
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
    """In how many members' names each word stands: of a definition its own name, of a file its stem."""
    found: Counter[str] = Counter()
    for place in members:
        own = place.id.rpartition(SEPARATOR)[2] if SEPARATOR in place.id else place.name.partition(".")[0]
        around = place.id.split(SEPARATOR)[1:-1] or [module_path_of(place.path).rpartition("/")[2]]
        words = {word.lower() for part in (own, *around) for word in split_identifier(part)}
        found.update(word for word in words if len(word) > 2 and word not in _TOO_COMMON and not word.isdigit())
    return found


def _named_apart(found: Sequence[Community]) -> list[Community]:
    """Of two with the same words, the later one is called by its most used member, too."""
    seen: set[str] = set()
    named = []
    for each in found:
        name = each.name
        for member in ("", *(place.name for place in each.members), *(place.id for place in each.members)):
            name = f"{each.name} ({member})" if member else each.name
            if name not in seen:
                break
        seen.add(name)
        named.append(Community(name, each.members, each.size, each.folder, each.folder_share, each.words, each.rank))
    return named
