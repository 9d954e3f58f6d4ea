"""A repository's parts, its neighbourhoods, and where to start reading.

The division into parts, folders or files, begins with the root. While one part holds most of the code, or there are few
parts, the largest is replaced by its folders and files, so that a package in `src/` is shown by its contents.

A neighbourhood is a community of the graph, whose members use each other more than other code. It is named by words
that occur in the names of its members and not in those of other communities.

PageRank alone gives the files that everything uses: small tools that nobody starts with. A file that also uses much of
the rest shows how things go together, so a file's rank is multiplied by the geometric mean of how many files use it and
how many it uses.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, takewhile

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.words import split_identifier
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, SEPARATOR, module_path_of
from codesum_pipeline.indexes.lanes.tokens import tokenize
from codesum_pipeline.search.overviews.overview_inputs import RepositoryView
from codesum_pipeline.search.overviews.ranked_documents import RankedDocument

MOST_PARTS = 12
# With fewer, the largest part is divided further.
_FEW_PARTS = 5
# A part with a larger share of the code is divided.
_LARGEST_SHARE = 0.5
# A part with no larger share is not divided, however few parts there are.
_SMALL_SHARE = 0.25
# More files of one folder are one part together.
_FILES_ALONE = 14
# A link counts if it has this share of the uses of the heaviest link.
_LEAST_SHARE = 0.03
MOST_LINKS = 20
# A part with a smaller share of the code is only counted.
_LEAST_PART = 0.01


class RepositoryPart(Struct, frozen=True):
    """A folder (`path/`), the files directly in a folder (`path/*`), or a file; `size` counts files and definitions."""

    name: str
    paths: tuple[str, ...]
    size: int

    @property
    def folder(self) -> str | None:
        """The folder of a part; None for a file."""
        return self.name.rstrip("*").rstrip("/") or ROOT_MODULE if self.name.endswith(("/", "*")) else None


class Link(Struct, frozen=True):
    """One part uses another; `uses` counts the connections between them."""

    source: str
    target: str
    uses: int


class Division(Struct, frozen=True):
    """The largest parts by path, how many others there are, and the links between those shown."""

    parts: tuple[RepositoryPart, ...]
    others: int
    links: tuple[Link, ...]

    def uses_of(self, part: str) -> list[str]:
        """The parts that a part uses, most used first."""
        return [link.target for link in self.links if link.source == part]


def divide_into_parts(view: RepositoryView) -> Division:
    sizes = {path: 1 + count for path, count in view.documents.counts.items()}
    parts = {"": list(view.sources)}
    while (divided := _to_divide(parts, sizes)) is not None:
        for name, paths in _divided(divided, parts.pop(divided)).items():
            parts[name] = paths
    found = [
        RepositoryPart(name, tuple(paths), sum(sizes[path] for path in paths)) for name, paths in parts.items() if paths
    ]
    # A part without definitions is left out where others have some.
    defining = [part for part in found if part.size > len(part.paths)] or found
    least = sum(sizes.values()) * _LEAST_PART if len(defining) > _FEW_PARTS else 0
    largest_first = sorted(defining, key=lambda part: (-part.size, part.name))[:MOST_PARTS]
    shown = sorted((part for part in largest_first if part.size >= least), key=lambda part: part.name)
    return Division(tuple(shown), len(found) - len(shown), tuple(_links(shown, view.links)[:MOST_LINKS]))


def _to_divide(parts: Mapping[str, Sequence[str]], sizes: Mapping[str, int]) -> str | None:
    """The largest part, if it should be divided and can be."""
    total = sum(sizes.values())
    weights = {name: sum(sizes[path] for path in paths) for name, paths in parts.items()}
    for name in sorted(parts, key=lambda name: (-weights[name], name)):
        is_large = weights[name] > total * _LARGEST_SHARE
        if not is_large and (len(parts) >= _FEW_PARTS or weights[name] <= total * _SMALL_SHARE):
            return None
        if len(parts[name]) > 1 and (is_large or not name.endswith("*")):
            return name
        # A single file with most of the code cannot be divided, and then the other parts need not be.
        if is_large and len(parts) > 1:
            return None
    return None


def _divided(name: str, paths: Iterable[str]) -> dict[str, list[str]]:
    """The folders in a part, and its files alone or, where there are many, together."""
    if name.endswith("*"):
        return {path: [path] for path in paths}
    found: dict[str, list[str]] = {}
    files = []
    for path in paths:
        folder, is_below, _ = path.removeprefix(name).partition("/")
        if is_below:
            found.setdefault(f"{name}{folder}/", []).append(path)
        else:
            files.append(path)
    if len(files) > _FILES_ALONE and found:
        return found | {f"{name}*": files}
    return found | {path: [path] for path in files}


def _links(parts: Sequence[RepositoryPart], uses: Mapping[tuple[str, str], int]) -> list[Link]:
    part_of = {path: part.name for part in parts for path in part.paths}
    found: Counter[tuple[str, str]] = Counter()
    for (source, target), count in uses.items():
        one, other = part_of.get(source), part_of.get(target)
        if one is not None and other is not None and one != other:
            found[one, other] += count
    heaviest = max(found.values(), default=0)
    links = [Link(*pair, count) for pair, count in found.items() if count >= heaviest * _LEAST_SHARE]
    return sorted(links, key=lambda link: (-link.uses, link.source, link.target))


_MOST_IN_THEME = 2


def theme_of(view: RepositoryView, part: RepositoryPart) -> list[RankedDocument]:
    """The definitions that say best what a part is about."""
    documents, told = view.documents, dict[str, RankedDocument]()
    for row in documents.telling_first(documents.rows_in(part.paths)):
        (each,) = documents.at([row])
        # Versions of one function say the same.
        if purpose := each.purpose:
            told.setdefault(purpose.text, each)
        if len(told) == _MOST_IN_THEME:
            break
    return [*told.values()]


def common_folder(parts: Iterable[RepositoryPart]) -> str:
    """The folder that contains all parts, with its slash; empty for the root."""
    above = [part.name.rstrip("/").split("/")[:-1] for part in parts]
    same = takewhile(lambda names: len(set(names)) == 1, zip(*above, strict=False))
    return "".join(f"{names[0]}/" for names in same)


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
    names = {number: _names_with(members) for number, members in kept.items()}
    spread = Counter(word for words in names.values() for word in words)
    found = [_neighbourhood(members, names[number], spread, len(kept)) for number, members in kept.items()]
    found.sort(key=lambda each: (-each.rank, -each.size, each.members[0].id))
    return _named_apart(found)


def _neighbourhood(
    members: Sequence[RankedDocument], names: Mapping[str, int], spread: Mapping[str, int], groups: int
) -> Community:
    ordered = sorted(members, key=lambda place: (-place.rank, place.id))
    folder, share = _shared_folder(members)
    # The words with the highest tf-idf, one of each stem.
    scores = {
        word: count / len(members) * math.log((1 + groups) / spread[word])
        for word, count in names.items()
        if count >= _LEAST_NAMES and (groups < _FEW_GROUPS or spread[word] <= groups * _COMMON)
    }
    by_stem: dict[str, str] = {}
    for word in sorted(scores, key=lambda word: (-scores[word], word)):
        by_stem.setdefault(" ".join(tokenize(word)), word)
    words = tuple(by_stem.values())[:_WORDS]
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
    """The deepest folder, or the file, that contains most members, and their share."""
    counts: Counter[str] = Counter()
    for path, number in Counter(place.path for place in members).items():
        parts = path.split("/")
        for length in range(1, len(parts) + 1):
            counts["/".join(parts[:length])] += number
    shared = [path for path, count in counts.items() if count >= len(members) * _SHARED]
    if not shared:
        return ".", 1.0
    deepest = max(shared, key=lambda path: (path.count("/"), counts[path], path))
    return deepest, round(counts[deepest] / len(members), 2)


def _names_with(members: Sequence[RankedDocument]) -> Counter[str]:
    """In how many members' names each word occurs: a definition's name, a file's stem, and the name around."""
    found = []
    for place in members:
        around, is_inside, own = place.id.rpartition(SEPARATOR)
        own_words = _words_of(own if is_inside else place.name.partition(".")[0])
        found.append(own_words | _words_around(around or place.path))
    return Counter(chain.from_iterable(found))


@lru_cache(maxsize=1 << 14)
def _words_around(id_: str) -> frozenset[str]:
    """The words of the classes and functions that an id names; of a file, those of its folder."""
    names = id_.split(SEPARATOR)[1:] or [module_path_of(id_).rpartition("/")[2]]
    return frozenset().union(*map(_words_of, names))


@lru_cache(maxsize=1 << 14)
def _words_of(name: str) -> frozenset[str]:
    words = {word.lower() for word in split_identifier(name)}
    return frozenset(word for word in words if len(word) > 2 and word not in _TOO_COMMON and not word.isdigit())


def _named_apart(found: Sequence[Community]) -> list[Community]:
    """The communities with different names: a repeated name gets the name of a member, too."""
    seen: set[str] = set()
    named = []
    for each in found:
        name = each.name
        for member in chain([""], (place.name for place in each.members), (place.id for place in each.members)):
            name = f"{each.name} ({member})" if member else each.name
            if name not in seen:
                break
        seen.add(name)
        named.append(replace(each, name=name))
    return named


MOST_STARTS = 7
_DEFINITIONS = 3
_HELD = 0.5


class Start(Struct, frozen=True):
    """A file and its most used definitions."""

    file: RankedDocument
    definitions: tuple[RankedDocument, ...]
    rank: float


def where_to_start(view: RepositoryView, *, most: int = MOST_STARTS) -> list[Start]:
    """The files to start with, best first; files without definitions are left out."""
    users, used = Counter(target for _, target in view.links), Counter(source for source, _ in view.links)
    documents = view.documents
    ranks = {
        path: rank * math.sqrt((1 + users[path]) * (1 + used[path]))
        for path, rank in zip(view.sources, documents.ranks.tolist(), strict=True)
        if documents.counts[path] and path in documents
    }
    best = sorted(ranks, key=lambda path: (-ranks[path], path))[:most]
    return [
        Start(file, _best(documents.defined_in(path)), ranks[path]) for path in best if (file := documents.get(path))
    ]


def _best(definitions: Sequence[RankedDocument]) -> tuple[RankedDocument, ...]:
    """The best definitions: public ones before others, classes and free functions before methods, most used first. Uses
    of members count for their class. A class that does little but hold another class is a namespace, and left out."""
    used = _used_with_members(definitions)
    classes = [each for each in definitions if each.level == Level.CLASS]
    around = {inner.id.rpartition(SEPARATOR)[0]: inner for inner in sorted(classes, key=lambda each: used[each.id])}
    namespaces = {outer for outer, inner in around.items() if used[inner.id] >= used[outer] * _HELD}
    definitions = [each for each in definitions if each.id not in namespaces]
    order = sorted(
        definitions, key=lambda each: (not each.is_public, _is_member(each), -used[each.id], each.line, each.id)
    )
    return tuple(order[:_DEFINITIONS])


def _used_with_members(definitions: Iterable[RankedDocument]) -> Mapping[str, float]:
    """The ranks of definitions by id, those of members added to their classes'."""
    used: dict[str, float] = defaultdict(float)
    for each in definitions:
        id_ = each.id
        while SEPARATOR in id_:
            used[id_] += each.rank
            id_ = id_.rpartition(SEPARATOR)[0]
    return used


def _is_member(place: RankedDocument) -> bool:
    return place.level == Level.FUNCTION and place.id.count(SEPARATOR) > 1
