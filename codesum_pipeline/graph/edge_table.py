"""Edges as they are found: one for each source, target and kind."""

from dataclasses import dataclass

from codesum_pipeline.graph.reasons import CONFIDENCE, Reason
from codesum_pipeline.model.graph import Edge, EdgeKind
from codesum_pipeline.model.ids import SEPARATOR, module_path_of


@dataclass(slots=True)
class _Gathered:
    count: int
    reason: Reason


class EdgeTable:
    """Gathers what connects the same two things in the same way."""

    def __init__(self) -> None:
        self._edges: dict[tuple[str, str, bool, EdgeKind], _Gathered] = {}

    def add(self, src_id: str, dst: str, kind: EdgeKind, reason: Reason, *, is_external: bool = False) -> None:
        """Count one more use; the most trusted reason stands."""
        key = (src_id, dst, is_external, kind)
        gathered = self._edges.get(key)
        if gathered is None:
            self._edges[key] = _Gathered(1, reason)
            return
        gathered.count += 1
        if (-CONFIDENCE[reason], reason) < (-CONFIDENCE[gathered.reason], gathered.reason):
            gathered.reason = reason

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
