"""Which documents of which indexes are about which files of a repository."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from msgspec import Struct, field

from codesum_pipeline.model.errors import RefusedIndex
from codesum_pipeline.model.graph import IndexFile
from codesum_pipeline.scip.framing import DocumentPlace, IndexerIdentity, OversizedDocument, look_through, read_document

# A file that more indexes tell about is told about by the first of them.
MOST_OFFERS = 4
# So many documents say well enough which folder an index was made in.
_SAMPLE = 500
_UNNAMED_TOOL = "unknown"
_SHOWN_PATH = 200


class Offer(Struct, frozen=True):
    """A document about one file; `tool` is what wrote its index."""

    index: Path
    origin: str
    tool: str
    place: DocumentPlace

    def read(self) -> bytes:
        """The document's bytes."""
        return read_document(self.index, self.place)


class Offers(Struct, frozen=True):
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
            first = f"{shared[0]} in that of {by_path[shared[0]][0].origin}"
            told = f"{len(shared):,} of its files are in another index, too ({first}): "
            problems.append((file.origin, f"{told}of each file the first document counts that fits its text"))
        for path, offers in found.items():
            by_path[path].extend(offers[: MOST_OFFERS - len(by_path[path])])
    return Offers(by_path, tuple(problems))


def _offers_of(file: IndexFile, index: Path, paths: Collection[str]) -> tuple[dict[str, list[Offer]], list[str]]:
    """The documents of one index that are about files of the repository, and what is to be said about the others."""
    content = _Content.of(index, {path.rpartition("/")[2] for path in paths})
    root, notes = _root(content.places, file.root, paths)
    offers: defaultdict[str, list[Offer]] = defaultdict(list)
    for place in content.places:
        path = _path_below(root, place.path)
        if path is not None and path in paths:
            offers[path].append(Offer(index, file.origin, content.tool, place))
    return offers, notes + content.notes(is_used=bool(offers))


class _Content(Struct):
    """What an index holds: the documents that have the name of a file at hand, and the paths of some others.

    An index may have a million documents of files that are not here.
    """

    tool: str = _UNNAMED_TOOL
    documents: int = 0
    oversized: int = 0
    places: list[DocumentPlace] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, index: Path, names: Collection[str]) -> Self:
        content = cls()
        for found in look_through(index):
            match found:
                case IndexerIdentity(name, version):
                    content.tool = f"{name or _UNNAMED_TOOL} {version}".strip()
                case DocumentPlace():
                    content.documents += 1
                    if _slashed(found.path).rpartition("/")[2] in names:
                        content.places.append(found)
                    elif len(content.others) < _SAMPLE:
                        content.others.append(found.path)
                case OversizedDocument():
                    content.oversized += 1
        return content

    def notes(self, *, is_used: bool) -> list[str]:
        """What cannot be used."""
        found = [f"{self.oversized:,} of its documents are too large to be read"] if self.oversized else []
        some = [*(place.path for place in self.places), *self.others]
        outside = next((path for path in some if _path_below("", path) is None), None)
        if outside is not None:
            found.append(f"it has paths that lead out of the repository, such as {outside[:_SHOWN_PATH]!r}")
        if some and not is_used:
            found.append(
                f"none of its {self.documents:,} documents is about a file that is indexed here (one is about "
                f"{some[0][:_SHOWN_PATH]!r}): it was made of another repository, or its root has to be named"
            )
        return found


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


def _slashed(path: str) -> str:
    return path.replace("\\", "/")


def _path_below(root: str, path: str) -> str | None:
    """A document's path in the repository; None where it leads out of it."""
    parts = _slashed(path).split("/")
    if path.startswith("/") or ".." in parts or ":" in parts[0]:
        return None
    below = "/".join(part for part in parts if part not in ("", "."))
    return f"{root}/{below}" if root and below else below or None
