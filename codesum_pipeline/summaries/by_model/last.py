"""The models' texts of the last build, and what they were written from."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.documents import ChildPair, Level, TextContext, WrittenBy
from codesum_pipeline.store.rows import column_names, from_table
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class LastText:
    """One of them; `said` are the fields that must not name a neighbour."""

    id: str
    writer: str
    model: str | None
    parameters: str | None
    written_with: TextContext | None
    own_hash: str
    children: tuple[ChildPair, ...]
    summary_hash: str
    said: str


def last_by_model(workspace: Workspace, level: Level) -> Mapping[str, LastText]:
    """The texts of a level that a model wrote, by id."""
    columns = [*(name for name in column_names(LastText) if name != "said"), "text", "written_by"]
    table: pa.Table = workspace.tables.read_or_empty(texts_table(level), workspace.key, columns=columns)
    rows = table.filter(pc.equal(table.column("written_by"), WrittenBy.LLM.value))
    said = [pc.struct_field(rows.column("text"), name) for name in ("summary", "business_intent")]
    rows = rows.append_column("said", pc.binary_join_element_wise(*said, "\n"))
    return {row.id: row for row in from_table(rows, LastText)}
