"""The edges of a repository, where a compiler's index knows better than its syntax.

An index overrules what was read off the syntax for each call whose place it has. It does so where it is to be trusted:
where the text spells all of the repository's own symbols, and the file imports no other whose text is not the one that
the index was made from. Elsewhere it is heard on what the syntax leaves open.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from codesum_pipeline.graph.compiled.targets import CompiledTarget, End, IndexedFacts, Targets
from codesum_pipeline.graph.edges import CallOutcome, EdgeTable
from codesum_pipeline.graph.trust import DOUBTFUL, TRUSTED, of_tool
from codesum_pipeline.model.graph import CallRow, Edge, EdgeKind
from codesum_pipeline.model.values import Reason


class Agreement(StrEnum):
    """What an index and the syntax say about one call, import or base."""

    AGREE = "agree"
    ONLY_INDEX = "only the index"
    ONLY_SYNTAX = "only the syntax"
    ANOTHER_TARGET = "another target"
    OUTSIDE = "outside by the index"


class IndexTrust(Struct, frozen=True):
    """How far the index is to be trusted for a file.

    `overrules` what the syntax says, and `knows_outside` what is no part of the repository.
    """

    overrules: bool
    knows_outside: bool

    @property
    def confidence(self) -> float:
        return TRUSTED if self.overrules else DOUBTFUL


class MergedGraph(Struct, frozen=True):
    """The edges of the files about which an index counts, and where it and the syntax say different things.

    `verdicts` counts, by language, verdict and cause, calls, imports and bases.
    """

    edges: tuple[Edge, ...]
    verdicts: Mapping[tuple[str, str, str], int]


def merge(
    files: Sequence[IndexedFacts],
    sites: Mapping[str, Sequence[CallRow]],
    others: Mapping[str, Sequence[Edge]],
    languages: Mapping[str, str],
    stale: Collection[str],
) -> MergedGraph:
    """Put together the edges of some files.

    `sites` are the calls of each as the syntax has them, `others` its imports and bases, and `stale` files of which no
    index says how they are.
    """
    targets = Targets(files)
    edges = EdgeTable()
    verdicts: Counter[tuple[str, str, str]] = Counter()
    for file in files:
        imported = {edge.dst for edge in others.get(file.path, ()) if edge.kind is EdgeKind.IMPORT}
        is_doubtful = not imported.isdisjoint(stale) or any(map(targets.is_defined, file.misnamed))
        standing = IndexTrust(not is_doubtful, not (is_doubtful or file.misnamed))
        merger = _FileMerger(file, standing, targets, edges)
        merger.add_calls(sites.get(file.path, ()))
        merger.add_others(others.get(file.path, ()))
        language = languages.get(file.path, "")
        verdicts.update({(language, verdict, cause): count for (verdict, cause), count in merger.verdicts.items()})
    return MergedGraph(tuple(edges.edges()), verdicts)


class _FileMerger:
    """Puts together the edges that start in one file."""

    def __init__(self, file: IndexedFacts, standing: IndexTrust, targets: Targets, edges: EdgeTable) -> None:
        self._file = file
        self._standing = standing
        self._targets = targets
        self._edges = edges
        self._reason = of_tool(file.tool)
        self.verdicts: Counter[tuple[str, str]] = Counter()

    def add_calls(self, sites: Sequence[CallRow]) -> None:
        """The calls that a parser has seen, then those that it has not."""
        said = dict(self._file.content["calls"])
        for site in sites:
            keys = said.get(site.number)
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
        self._edges.add(src, dst, kind, self._reason, confidence=self._standing.confidence, count=count)

    def _add_call(self, site: CallRow, target: CompiledTarget, *, is_silent: bool) -> None:
        own = site.target if site.outcome == CallOutcome.RESOLVED else None
        wanted = target.id
        if target.end is End.SEVERAL and own in target.ids:
            wanted = own
        self._count(site, own, wanted, target, is_silent=is_silent)
        if wanted is not None and (self._standing.overrules or own in (None, wanted)):
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
        return is_guess and self._standing.knows_outside

    def _count(
        self, site: CallRow, own: str | None, wanted: str | None, target: CompiledTarget, *, is_silent: bool
    ) -> None:
        """Note whether both say the same."""
        if wanted is not None:
            is_other = Agreement.ONLY_INDEX if own is None else Agreement.ANOTHER_TARGET
            verdict = Agreement.AGREE if own == wanted else is_other
            self.verdicts[verdict, site.reason or site.outcome] += 1
        elif own is not None:
            is_outside = target.end is End.OUTSIDE
            verdict = Agreement.OUTSIDE if is_outside else Agreement.ONLY_SYNTAX
            cause = (site.reason or "") if is_outside else "not in the index" if is_silent else str(target.end)
            self.verdicts[verdict, cause] += 1

    def add_others(self, own: Sequence[Edge]) -> None:
        """Imports and bases; of a class that both know, those of the index stand."""
        bases = self._bases()
        for edge in own:
            named = {dst.rpartition(".")[2].rpartition(":")[2] for dst in bases.get(edge.src_id, ())}
            is_other = edge.kind is EdgeKind.INHERIT and edge.dst not in bases.get(edge.src_id, ())
            if is_other and self._standing.overrules and _last_name(edge.dst) in named:
                self.verdicts[Agreement.ANOTHER_TARGET, "base"] += 1
                continue
            self._edges.add(
                edge.src_id, edge.dst, edge.kind, edge.reason, confidence=edge.confidence,
                count=edge.count, is_external=edge.is_external,
            )  # fmt: skip
        known = {(edge.src_id, edge.dst, edge.kind) for edge in own}
        for src, dst, kind in sorted({*self._imports(), *_pairs(bases), *self._overrides()}):
            verdict = Agreement.AGREE if (src, dst, kind) in known else Agreement.ONLY_INDEX
            self.verdicts[verdict, "import" if kind is EdgeKind.IMPORT else "base"] += 1
            # An edge that is there once, whoever else has it.
            self._add(src, dst, kind, count=0 if (src, dst, False, kind) in self._edges else 1)

    def _imports(self) -> Iterator[tuple[str, str, EdgeKind]]:
        for key in self._file.content["imports"]:
            target = self._find([key]).id
            if target is not None and target != self._file.path:
                yield self._file.path, target, EdgeKind.IMPORT

    def _bases(self) -> dict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for local, key in self._file.content["bases"]:
            target = self._find([key]).id
            if target is not None and target != self._file.id_of(local):
                found[self._file.id_of(local)].add(target)
        return found

    def _overrides(self) -> Iterator[tuple[str, str, EdgeKind]]:
        for local, key in self._file.content["overrides"]:
            target = self._find([key]).id
            if target is not None:
                yield self._file.id_of(local), target, EdgeKind.INHERIT


def _pairs(bases: Mapping[str, Collection[str]]) -> Iterator[tuple[str, str, EdgeKind]]:
    return ((src, dst, EdgeKind.INHERIT) for src, found in bases.items() for dst in found)


def _last_name(id_: str) -> str:
    return id_.rpartition(":")[2].rpartition(".")[2]
