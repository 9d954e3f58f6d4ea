"""The inputs of an overview besides manifests: files, their documents, how much each is used, and who uses whom."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Self

from msgspec import Struct, field

from codesum_pipeline.model.files import FileStatus
from codesum_pipeline.model.ids import ROOT_MODULE, SEPARATOR, without_suffix
from codesum_pipeline.parsing.testing import is_among, read_tests
from codesum_pipeline.source.languages import is_program
from codesum_pipeline.source.roles import FileRole, role_of
from codesum_pipeline.store.workspace import Workspace


class RankedDocument(Struct, frozen=True):
    """One document: its place, its summary, and its share of the graph's PageRank."""

    id: str
    level: str
    name: str
    path: str
    line: int
    summary: str
    rank: float
    community: int | None
    is_public: bool


class View(Struct, frozen=True, dict=True):
    """A repository below `root`. `sources` are the files of its own programs, `links` count the uses between files."""

    name: str
    root: str
    places: Mapping[str, RankedDocument]
    sources: Sequence[str]
    languages: Mapping[str, int]
    links: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, ws: Workspace) -> Self:
        """The view of a workspace's tables."""
        tests = read_tests(ws.tables, ws.key)
        rows = ws.tables.read("files", ws.key, columns=["path", "language", "status", "is_vendored"]).to_pylist()
        own = {
            row["path"]: row["language"]
            for row in rows
            if row["status"] == FileStatus.INDEXED and not row["is_vendored"] and row["path"] not in tests
        }
        programs = {path: each for path, each in own.items() if is_program(each) and _is_source(path)}
        return cls(
            name=ws.slug.rpartition("/")[2] if ws.slug else ws.key,
            root=ws.entry.subdir or ROOT_MODULE,
            places=_places(ws, tests),
            sources=sorted(programs),
            languages=Counter(programs.values()),
            links=_links(ws, frozenset(programs)),
        )

    @cached_property
    def definitions(self) -> Mapping[str, Sequence[RankedDocument]]:
        """The functions and classes of each file of `sources`."""
        found: dict[str, list[RankedDocument]] = defaultdict(list)
        for place in self.places.values():
            if SEPARATOR in place.id:
                found[place.path].append(place)
        return {path: found.get(path, []) for path in self.sources}

    def rank(self, path: str) -> float:
        """The PageRank of a file and of all definitions in it together."""
        own = self.places.get(path)
        return (own.rank if own else 0.0) + sum(place.rank for place in self.definitions.get(path, ()))


def _places(ws: Workspace, tests: frozenset[str]) -> dict[str, RankedDocument]:
    """The documents without those of tests and of others' code."""
    stats = ws.tables.read("graph_stats", ws.key, columns=["id", "pagerank", "community"])
    ids, ranks, communities = (stats.column(name).to_pylist() for name in ("id", "pagerank", "community"))
    graph = dict(zip(ids, zip(ranks, communities, strict=True), strict=True))
    symbols = ws.tables.read("symbols", ws.key, columns=["id", "is_public"])
    public = dict(zip(*(symbols.column(name).to_pylist() for name in ("id", "is_public")), strict=True))
    names = ["id", "type", "file_path", "start_line", "summary", "is_vendored", "is_placeholder"]
    found = {}
    for part in ws.tables.read_parts("documents", ws.key, columns=names):
        for row in part.to_pylist():
            if row["is_vendored"] or is_among(tests, row["id"]):
                continue
            rank, community = graph.get(row["id"], (0.0, None))
            found[row["id"]] = RankedDocument(
                id=row["id"],
                level=row["type"],
                name=_name(row["id"]),
                path=row["file_path"],
                line=row["start_line"] or 1,
                summary="" if row["is_placeholder"] else row["summary"],
                rank=rank,
                community=community,
                is_public=public.get(row["id"], True),
            )
    return found


def _links(ws: Workspace, paths: frozenset[str]) -> dict[tuple[str, str], int]:
    """The number of uses from one file to another."""
    found: Counter[tuple[str, str]] = Counter()
    columns = ["src_id", "dst", "is_external"]
    for part in ws.tables.read_parts("edges", ws.key, columns=columns):
        for source, target, is_external in zip(*(part.column(name).to_pylist() for name in columns), strict=True):
            if not is_external:
                one, other = source.partition(SEPARATOR)[0], target.partition(SEPARATOR)[0]
                if one != other and one in paths and other in paths:
                    found[one, other] += 1
    return dict(found)


def _name(id_: str) -> str:
    """The last part of a definition's id, or of a path."""
    return without_suffix(id_).rpartition(SEPARATOR)[2] if SEPARATOR in id_ else id_.rpartition("/")[2]


def _is_source(path: str) -> bool:
    """Whether a file is neither an example nor in a hidden folder, where tools are set up."""
    return role_of(path) is FileRole.SOURCE and not any(part.startswith(".") for part in path.split("/")[:-1])
