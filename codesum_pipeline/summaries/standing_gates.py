"""Why each text is not a model's, as of the build at hand: kept texts too, since settings change without them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.documents import Gate, TextRow, WrittenBy
from codesum_pipeline.model.options import Options
from codesum_pipeline.store.rows import schema_of


@dataclass(frozen=True, slots=True)
class StandingGates:
    """`usual` stops every document that `stopped` does not name; `failures` say more where a call failed."""

    usual: Gate
    stopped: dict[str, Gate] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, options: Options) -> "StandingGates":
        return cls(Gate.OFFLINE if options.scan.offline else Gate.DISABLED)

    def put_into(self, texts: pa.Table) -> pa.Table:
        """The rows of a level with the gates of this build."""
        written_by = texts.column("written_by")
        gates = self._column(texts, self.stopped, default=self.usual.value)
        gates = pc.if_else(pc.equal(written_by, WrittenBy.PLACEHOLDER.value), Gate.PLACEHOLDER.value, gates)
        gates = pc.if_else(pc.equal(written_by, WrittenBy.LLM.value), pa.scalar(None, pa.string()), gates)
        texts = _replaced(texts, "gate", gates)
        return _replaced(texts, "failure", self._column(texts, self.failures, default=None))

    def _column(self, texts: pa.Table, known: Mapping[str, str], *, default: str | None) -> pa.Array:
        if not known:
            return pa.repeat(pa.scalar(default, pa.string()), texts.num_rows)
        return pa.array([known.get(id_, default) for id_ in texts.column("id").to_pylist()], pa.string())


def _replaced(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    schema = schema_of(TextRow)
    return table.set_column(table.schema.get_field_index(name), schema.field(name), column)
