"""What a compiler's index says about calls, imports and bases, put in the place of what was read off the syntax.

An index overrules what was read off the syntax for each call whose place it has. It does so where it is to be trusted:
where the text spells all of the repository's own symbols, and the file imports no other whose text is not the one that
the index was made from. Elsewhere it is heard on what the syntax leaves open.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.edge import CallRow, CompilerFile, Edge, EdgeKind
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.possible_values import Reason
from codesum_pipeline.foundation.store.rows import from_table, to_table
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.graph.resolvers.file_edges import CallOutcome, EdgeTable
from codesum_pipeline.graph.trust import DOUBTFUL, TRUSTED, is_of_index, is_trusted, of_tool
from codesum_pipeline.symbols.scip.symbol_names import Suffix, is_local, parse_symbol

# What the language itself provides gives no edge.
_BUILTIN_PACKAGES = frozenset({"typescript"})
_BUILTIN_MODULES = frozenset({"builtins"})


class IndexedFacts(Struct, frozen=True):
    """What an index says about one file: see `parsing.compiled`."""

    path: str
    tool: str
    misnamed: tuple[str, ...]
    keys: list[str]
    content: Mapping[str, list[Any]]

    def id_of(self, local: str) -> str:
        """A document of the file; the file itself where there is no name."""
        return f"{self.path}{SEPARATOR}{local}" if local else self.path


class End(StrEnum):
    """What an index knows about a symbol that is used."""

    DOCUMENT = "document"
    SEVERAL = "several"
    NO_DOCUMENT = "no document"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"


class CompiledTarget(Struct, frozen=True):
    """The target at a place: documents, or the name of something outside the repository."""

    end: End
    ids: frozenset[str] = frozenset()
    outside: str | None = None

    @property
    def id(self) -> str | None:
        """The one document that is meant."""
        return next(iter(self.ids)) if self.end is End.DOCUMENT else None


class Targets:
    """The definitions of all files about which an index counts."""

    def __init__(self, files: Iterable[IndexedFacts]) -> None:
        self._ids: defaultdict[str, set[str]] = defaultdict(set)
        self._local: dict[tuple[str, str], str] = {}
        self._packages: set[tuple[str, str]] = set()
        for file in files:
            for number, local in file.content["defined"]:
                self._add(file, file.keys[number], local)

    def _add(self, file: IndexedFacts, key: str, local: str | None) -> None:
        if is_local(key):
            if local is not None:
                self._local[file.path, key] = file.id_of(local)
            return
        self._packages.add(_package(key))
        self._ids[key].update(() if local is None else (file.id_of(local),))

    def is_defined(self, key: str) -> bool:
        """Whether a file of the repository defines this symbol, and an index counts for that file."""
        return key in self._ids

    def find(self, file: IndexedFacts, keys: Iterable[str]) -> CompiledTarget:
        """What the symbols at one place mean together. The symbols of several overloads are alternatives."""
        ids: set[str] = set()
        ends: set[End] = set()
        outside = None
        for key in keys:
            end, found = self._find(file, key)
            ids |= found
            ends.add(end)
            if end is End.OUTSIDE and outside is None:
                outside = outside_name(key)
        if ids:
            # Among the overloads of one name, the implementation has the plain id.
            plain = {without_suffix(id_) for id_ in ids}
            ids = plain if len(plain) == 1 and plain <= ids else ids
            return CompiledTarget(End.DOCUMENT if len(ids) == 1 else End.SEVERAL, frozenset(ids))
        if ends == {End.OUTSIDE}:
            return CompiledTarget(End.OUTSIDE, outside=outside)
        return CompiledTarget(End.NO_DOCUMENT if End.NO_DOCUMENT in ends else End.UNKNOWN)

    def _find(self, file: IndexedFacts, key: str) -> tuple[End, set[str]]:
        if is_local(key):
            id_ = self._local.get((file.path, key))
            return (End.UNKNOWN, set()) if id_ is None else (End.DOCUMENT, {id_})
        if key in self._ids:
            found = self._ids[key]
            return (End.DOCUMENT if found else End.NO_DOCUMENT), found
        # Some tools give what they cannot resolve the package that they are run in.
        return (End.UNKNOWN if _package(key) in self._packages else End.OUTSIDE), set()


@lru_cache(maxsize=1 << 14)
def _package(key: str) -> tuple[str, str]:
    name = parse_symbol(key)
    return name.package if name else ("", "")


@lru_cache(maxsize=1 << 14)
def outside_name(key: str) -> str | None:
    """A dotted name for what is defined outside the repository: its module or package, then its own names."""
    name = parse_symbol(key)
    if name is None:
        return None
    namespaces = [one.name for one in name.descriptors if one.suffix is Suffix.NAMESPACE]
    own = [
        one.name for one in name.descriptors if one.suffix in (Suffix.TYPE, Suffix.TERM, Suffix.METHOD, Suffix.MACRO)
    ]
    is_python = name.package[0] == "python"
    module = (namespaces[-1] if namespaces else "") if is_python else name.package[1]
    if module in _BUILTIN_MODULES or name.package[1] in _BUILTIN_PACKAGES:
        return None
    return ".".join(part for part in (module, *own) if part and part != ".") or None


class Agreement(StrEnum):
    """What an index and the syntax say about one call, import or base."""

    AGREE = "agree"
    ONLY_INDEX = "only the index"
    ONLY_SYNTAX = "only the syntax"
    ANOTHER_TARGET = "another target"
    OUTSIDE = "outside by the index"


# Calls that are named; the rest is counted.
MOST_DIFFERING = 20


class DifferingCall(Struct, frozen=True, array_like=True):
    """A call for which the index and the syntax have another target: a document, or a name outside the repository."""

    caller_id: str
    callee: str
    by_index: str
    by_syntax: str


class Disagreement(Struct, frozen=True):
    """Where the index and the syntax say different things.

    Each line: language, verdict, cause, and how many calls, imports and bases. `files` are those compared, `calls` the
    first calls, by file, for which both have a target and not the same.
    """

    files: int = 0
    trusted_edges: int = 0
    doubtful_edges: int = 0
    lines: tuple[tuple[str, str, str, int], ...] = ()
    calls: tuple[DifferingCall, ...] = ()

    def by_language(self) -> dict[str, Counter[str]]:
        """How often each verdict was given, by language."""
        found: dict[str, Counter[str]] = {}
        for language, verdict, _, count in sorted(self.lines):
            found.setdefault(language, Counter())[verdict] += count
        return found


def read_compiled(tables: TableStore, key: str) -> dict[str, IndexedFacts]:
    """What the indexes say, by the path of each file for which they count."""
    found = {}
    for row in from_table(tables.read_or_empty("compiler_files", key), CompilerFile):
        if row.counts:
            content = json.loads(row.facts)
            tool = row.tool.partition(" ")[0]
            found[row.file_path] = IndexedFacts(row.file_path, tool, row.misnamed, content["keys"], content)
    return found


def with_compiled(
    own: pa.Table, sites: pa.Table, compiled: Mapping[str, IndexedFacts], languages: Mapping[str, str]
) -> tuple[pa.Table, Disagreement]:
    """All edges. Where an index counts for a file, its edges are merged with the index; those of other files stay.

    `own` are the edges and `sites` the calls as the syntax has them.
    """
    sources = pc.list_element(pc.split_pattern(own.column("src_id"), SEPARATOR, max_splits=1), 0)
    is_compiled = pc.is_in(sources, value_set=pa.array(sorted(compiled), pa.string()))
    calls: defaultdict[str, list[CallRow]] = defaultdict(list)
    for row in from_table(sites, CallRow):
        calls[row.file_path].append(row)
    others: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in from_table(own.filter(is_compiled).filter(pc.field("kind") != str(EdgeKind.CALL)), Edge):
        others[edge.src_id.partition(SEPARATOR)[0]].append(edge)
    # No index says how these are.
    stale = languages.keys() - compiled.keys()
    targets = Targets(compiled.values())
    table = EdgeTable()
    verdicts: Counter[tuple[str, str, str]] = Counter()
    differing: list[DifferingCall] = []
    for path in sorted(compiled):
        file = compiled[path]
        imported = {edge.dst for edge in others[path] if edge.kind is EdgeKind.IMPORT}
        is_doubtful = not imported.isdisjoint(stale) or any(map(targets.is_defined, file.misnamed))
        merger = _FileMerger(file, targets, table, is_doubtful=is_doubtful)
        merger.add_calls(calls[path])
        merger.add_others(others[path])
        language = languages.get(path, "")
        differing += merger.differing[: MOST_DIFFERING - len(differing)]
        verdicts.update({(language, *verdict): count for verdict, count in merger.verdicts.items()})
    edges = to_table([*table.edges()], Edge)
    trusted, by_index = (pc.sum(found(edges)).as_py() or 0 for found in (is_trusted, is_of_index))
    lines = sorted(((*key, count) for key, count in verdicts.items()), key=lambda line: (-line[3], line[:3]))
    disagreement = Disagreement(len(compiled), trusted, by_index - trusted, tuple(lines), tuple(differing))
    return pa.concat_tables([own.filter(pc.invert(is_compiled)), edges]), disagreement


class _FileMerger:
    """Puts together the edges that start in one file."""

    def __init__(self, file: IndexedFacts, targets: Targets, edges: EdgeTable, *, is_doubtful: bool) -> None:
        self._file = file
        self._overrules = not is_doubtful
        # What is no part of the repository.
        self._knows_outside = not (is_doubtful or file.misnamed)
        self._targets = targets
        self._edges = edges
        self._reason = of_tool(file.tool)
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.differing: list[DifferingCall] = []

    def add_calls(self, sites: Sequence[CallRow]) -> None:
        """The calls that a parser has seen, then those that it has not."""
        keys_by_site = dict(self._file.content["calls"])
        for site in sites:
            keys = keys_by_site.get(site.number)
            target = CompiledTarget(End.UNKNOWN) if keys is None else self._find(keys)
            self._add_call(site, target, is_silent=keys is None)
        for caller, key, count in self._file.content["others"]:
            target = self._find([key])
            if target.id is not None:
                self.verdicts[Agreement.ONLY_INDEX, "no call in the syntax"] += count
                self._add(self._file.id_of(caller), target.id, EdgeKind.CALL, count=count)

    def _find(self, keys: Sequence[int]) -> CompiledTarget:
        return self._targets.find(self._file, (self._file.keys[key] for key in keys))

    def _add(self, src: str, dst: str, kind: EdgeKind, *, count: int = 1) -> None:
        self._edges.add(src, dst, kind, self._reason, confidence=TRUSTED if self._overrules else DOUBTFUL, count=count)

    def _add_call(self, site: CallRow, target: CompiledTarget, *, is_silent: bool) -> None:
        own = site.target if site.outcome == CallOutcome.RESOLVED else None
        wanted = target.id
        if target.end is End.SEVERAL and own in target.ids:
            wanted = own
        self._count(site, own, wanted, target, is_silent=is_silent)
        if wanted is not None and (self._overrules or own in (None, wanted)):
            self._add(site.caller_id, wanted, EdgeKind.CALL)
        elif self._is_outside(site, target):
            if target.outside:
                self._edges.add(
                    site.caller_id, target.outside, EdgeKind.CALL, self._reason, confidence=TRUSTED, is_external=True
                )
        elif site.target is not None:
            is_external = site.outcome == CallOutcome.EXTERNAL
            reason = site.reason or Reason.IMPORT
            self._edges.add(site.caller_id, site.target, EdgeKind.CALL, reason, is_external=is_external)

    def _is_outside(self, site: CallRow, target: CompiledTarget) -> bool:
        """Whether the index contradicts a guess of the syntax, since the call leads out of the repository.

        Guesses are by a name that is unique in the repository; what follows types knows more than an indexer that has
        the builtin `set` for `config.set`.
        """
        is_guess = site.reason == Reason.UNIQUE_NAME and target.end is End.OUTSIDE
        return is_guess and self._knows_outside

    def _count(
        self, site: CallRow, own: str | None, wanted: str | None, target: CompiledTarget, *, is_silent: bool
    ) -> None:
        """Count whether the index and the syntax agree about a call."""
        if wanted is not None:
            is_other = Agreement.ONLY_INDEX if own is None else Agreement.ANOTHER_TARGET
            verdict = Agreement.AGREE if own == wanted else is_other
            if verdict is Agreement.ANOTHER_TARGET:
                self.differing.append(DifferingCall(site.caller_id, site.callee, wanted, own or ""))
            self.verdicts[verdict, site.reason or site.outcome] += 1
        elif own is not None:
            is_outside = target.end is End.OUTSIDE
            if is_outside:
                outside = target.outside or "outside the repository"
                self.differing.append(DifferingCall(site.caller_id, site.callee, outside, own))
            verdict = Agreement.OUTSIDE if is_outside else Agreement.ONLY_SYNTAX
            cause = (site.reason or "") if is_outside else "not in the index" if is_silent else str(target.end)
            self.verdicts[verdict, cause] += 1

    def add_others(self, own: Sequence[Edge]) -> None:
        """Add imports and bases. For a class that both know, the bases of the index count."""
        content = self._file.content
        based = [*self._pairs(content["bases"])]
        bases: defaultdict[str, set[str]] = defaultdict(set)
        for src, dst in based:
            bases[src].add(dst)
        for edge in own:
            named = {dst.rpartition(".")[2].rpartition(":")[2] for dst in bases.get(edge.src_id, ())}
            is_other = edge.kind is EdgeKind.INHERIT and edge.dst not in bases.get(edge.src_id, ())
            if is_other and self._overrules and edge.dst.rpartition(":")[2].rpartition(".")[2] in named:
                self.verdicts[Agreement.ANOTHER_TARGET, "base"] += 1
                continue
            self._edges.add(
                edge.src_id, edge.dst, edge.kind, edge.reason, confidence=edge.confidence,
                count=edge.count, is_external=edge.is_external,
            )  # fmt: skip
        pairs = {(*pair, EdgeKind.INHERIT) for pair in (*based, *self._pairs(content["overrides"]))}
        pairs |= {(*pair, EdgeKind.IMPORT) for pair in self._pairs(["", key] for key in content["imports"])}
        known = {(edge.src_id, edge.dst, edge.kind) for edge in own}
        for src, dst, kind in sorted(pairs):
            verdict = Agreement.AGREE if (src, dst, kind) in known else Agreement.ONLY_INDEX
            self.verdicts[verdict, "import" if kind is EdgeKind.IMPORT else "base"] += 1
            # The edge counts once, even if several sources have it.
            self._add(src, dst, kind, count=0 if (src, dst, False, kind) in self._edges else 1)

    def _pairs(self, rows: Iterable[Sequence[Any]]) -> Iterator[tuple[str, str]]:
        """The documents of the file, by the names in some rows, each with another one, by its key."""
        for local, key in rows:
            source, target = self._file.id_of(local), self._find([key]).id
            if target is not None and target != source:
                yield source, target
