"""Edges as they are found: one for each source, target and kind."""

from collections import Counter
from dataclasses import dataclass

from codesum_pipeline.graph.call_sites import CallOutcome, CallSite
from codesum_pipeline.graph.reasons import CONFIDENCE, Reason
from codesum_pipeline.model.graph import CallRow, Edge, EdgeKind
from codesum_pipeline.model.ids import SEPARATOR, module_path_of


@dataclass(slots=True)
class _EdgeCount:
    count: int
    reason: Reason


class EdgeTable:
    """Gathers what connects the same two things in the same way, and counts what became of the calls."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.calls: list[CallSite] = []
        self._edges: dict[tuple[str, str, bool, EdgeKind], _EdgeCount] = {}

    def add(self, src_id: str, dst: str, kind: EdgeKind, reason: Reason, *, is_external: bool = False) -> None:
        """Count one more use; the most trusted reason stands."""
        key = (src_id, dst, is_external, kind)
        gathered = self._edges.get(key)
        if gathered is None:
            self._edges[key] = _EdgeCount(1, reason)
            return
        gathered.count += 1
        if (-CONFIDENCE[reason], reason) < (-CONFIDENCE[gathered.reason], gathered.reason):
            gathered.reason = reason

    def add_call(self, site: CallSite) -> None:
        """Count a call; one whose target is known is an edge."""
        self.calls.append(site)
        self.outcomes[site.outcome] += 1
        if site.reason is not None:
            self.reasons[site.reason] += 1
        if site.target is not None:
            is_external = site.outcome is CallOutcome.EXTERNAL
            reason = site.reason or Reason.IMPORT
            self.add(site.caller_id, site.target, EdgeKind.CALL, reason, is_external=is_external)

    def call_rows(self) -> list[CallRow]:
        """All calls, in the order of the parser."""
        return [
            CallRow(site.file_path, number, site.caller_id, site.callee, site.outcome, site.target, site.reason)
            for number, site in enumerate(self.calls)
        ]

    def edges(self) -> list[Edge]:
        """All edges, sorted."""
        return [
            Edge(
                src_id=src_id,
                dst=dst,
                is_external=is_external,
                kind=kind,
                count=gathered.count,
                confidence=CONFIDENCE[gathered.reason],
                reason=gathered.reason,
                is_cross_module=is_external or folder_of(src_id) != folder_of(dst),
            )
            for (src_id, dst, is_external, kind), gathered in sorted(self._edges.items())
        ]


def folder_of(document_id: str) -> str:
    """The module that a function, class or file stands in."""
    return module_path_of(document_id.partition(SEPARATOR)[0])
