"""Which documents of which indexes are about which files of a repository."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline.model.errors import RefusedIndex
from codesum_pipeline.model.scip import IndexFile
from codesum_pipeline.scip.framing import DocumentPlace, IndexTool, OversizedDocument, look_through, read_document

# A file that more indexes tell about is told about by the first of them.
MOST_OFFERS = 4
# So many documents say well enough which folder an index was made in.
_SAMPLE = 500
_UNNAMED_TOOL = "unknown"


@dataclass(frozen=True, slots=True)
class Offer:
    """A document about one file; `tool` is what wrote its index."""

    index: Path
    origin: str
    tool: str
    place: DocumentPlace

    def read(self) -> bytes:
        """The document's bytes."""
        return read_document(self.index, self.place)


@dataclass(frozen=True, slots=True)
class Offers:
    """The documents of all indexes by the path of their file, those of the first index first.

    `problems` say of each index, by where it came from, what of it cannot be used.
    """

    by_path: Mapping[str, Sequence[Offer]]
    problems: tuple[tuple[str, str], ...]


def find_offers(files: Sequence[IndexFile], folder: Path, paths: Collection[str]) -> Offers:
    """What the indexes in a folder hold about the files of a repository."""
    by_path: defaultdict[str, list[Offer]] = defaultdict(list)
    problems: list[tuple[str, str]] = []
    for file in sorted(files, key=lambda one: one.position):
        if file.problem:
            problems.append((file.origin, file.problem))
            continue
        try:
            found, notes = _offers_of(file, folder / file.sha256, paths)
        except (RefusedIndex, OSError) as error:
            problems.append((file.origin, str(error)))
            continue
        problems.extend((file.origin, note) for note in notes)
        shared = sorted(path for path in found if path in by_path)
        if shared:
            problems.append((file.origin, _of_shared(shared, by_path[shared[0]][0].origin)))
        for path, offers in found.items():
            by_path[path].extend(offers[: MOST_OFFERS - len(by_path[path])])
    return Offers(by_path, tuple(problems))


def _of_shared(paths: Sequence[str], first: str) -> str:
    return (
        f"{len(paths):,} of its files are in another index, too ({paths[0]} in that of {first}): "
        "of each file the first document counts that fits its text"
    )


def _offers_of(file: IndexFile, index: Path, paths: Collection[str]) -> tuple[dict[str, list[Offer]], list[str]]:
    """The documents of one index that are about files of the repository, and what is to be said about the others."""
    tool, places, oversized = _UNNAMED_TOOL, list[DocumentPlace](), 0
    for found in look_through(index):
        match found:
            case IndexTool(name, version):
                tool = f"{name or _UNNAMED_TOOL} {version}".strip()
            case DocumentPlace():
                places.append(found)
            case OversizedDocument():
                oversized += 1
    root, misplaced = _root(places, file.root, paths)
    offers: defaultdict[str, list[Offer]] = defaultdict(list)
    for place in places:
        path = _path_below(root, place.path)
        if path is not None and path in paths:
            offers[path].append(Offer(index, file.origin, tool, place))
    notes = [f"{oversized:,} of its documents are too large to be read"] if oversized else []
    return offers, notes + misplaced + _foreign(places, root, len(offers))


def _foreign(places: Sequence[DocumentPlace], root: str, used: int) -> list[str]:
    outside = [place.path for place in places if _path_below(root, place.path) is None]
    notes = []
    if outside:
        notes.append(f"{len(outside):,} of its paths lead out of the repository: {outside[0]!r}")
    if places and not used:
        notes.append(
            f"none of its {len(places):,} documents is about a file that is indexed here (the first is "
            f"{places[0].path!r}): it was made of another repository, or its root has to be named"
        )
    return notes


def _root(places: Sequence[DocumentPlace], stated: str, paths: Collection[str]) -> tuple[str, list[str]]:
    """The folder that an index's paths are relative to: as stated, or the one under which most of them are files.

    Indexers are run in the folder of a package and seldom say which one that was.
    """
    sample = [place.path for place in places[:: max(1, len(places) // _SAMPLE)]]
    fitting = {root: sum(_path_below(root, path) in paths for path in sample) for root in {stated, ""}}
    if fitting[stated] or not sample:
        return stated, []
    fitting |= {root: sum(_path_below(root, path) in paths for path in sample) for root in _roots_of(sample, paths)}
    best = max(sorted(fitting), key=lambda root: fitting[root])
    if best == stated or not fitting[best]:
        return stated, []
    return best, [f"its paths are relative to {best or 'the root of the repository'}, not to {stated or 'its root'}"]


def _roots_of(sample: Iterable[str], paths: Collection[str]) -> list[str]:
    """The folders under which files end as the sample's paths do, the most frequent first."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_name[path.rpartition("/")[2]].append(path)
    roots: Counter[str] = Counter()
    for path in sample:
        ending = f"/{path}"
        roots.update(one[: -len(ending)] for one in by_name.get(path.rpartition("/")[2], ()) if one.endswith(ending))
    return [root for root, _ in roots.most_common(10)]


def _path_below(root: str, path: str) -> str | None:
    """A document's path in the repository; None where it leads out of it."""
    parts = path.replace("\\", "/").split("/")
    if path.startswith("/") or ".." in parts or ":" in parts[0]:
        return None
    below = "/".join(part for part in parts if part not in ("", "."))
    return f"{root}/{below}" if root and below else below or None
