"""Every document gets its tokens per BM25 lane, and keeps them as long as the lane's text stays the same.

Statistics over the whole repository (how rare a token is, how long a usual
document) are left to the candidate: in this table one edit changes one row.
"""

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.lane_texts import read_lane_sources, term_texts
from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.workspace import Workspace

# Texts between two reports of progress.
_REPORT_EVERY = 500


@dataclass(frozen=True, slots=True)
class SparseReport:
    """`tokenized` counts texts that were split anew, `carried` rows that kept their tokens; `lanes` counts rows."""

    tokenized: int
    carried: int
    rows: int
    lanes: dict[str, int]
    table_hash: str


def index_terms(ws: Workspace, *, progress: Progress = no_progress) -> SparseReport:
    """Write the table `terms`: one row per BM25 lane of each document, placeholders included."""
    texts = [text for source in read_lane_sources(ws) for text in term_texts(source)]
    hashes = pa.array([text.text_hash for text in texts], type=pa.string())
    previous = ws.tables.read_or_empty("terms", ws.key, columns=["text_hash", "tokens"])
    previous = previous.slice(0, 0) if ws.force else previous
    found = pc.index_in(hashes, value_set=previous.column("text_hash").combine_chunks())
    tokens: list[str | None] = previous.column("tokens").combine_chunks().take(found).to_pylist()
    missing = [row for row, value in enumerate(tokens) if value is None]
    for done, row in enumerate(missing):
        if done % _REPORT_EVERY == 0:
            progress("splitting texts into words", done, len(missing))
        tokens[row] = " ".join(tokenize(texts[row].text))
    columns = [
        pa.array([text.id for text in texts], type=pa.string()),
        pa.array([str(text.lane) for text in texts], type=pa.string()),
        hashes,
        pa.array(tokens, type=pa.string()),
    ]
    written = ws.tables.write("terms", ws.key, pa.Table.from_arrays(columns, schema=TABLES["terms"].schema))
    return SparseReport(
        tokenized=len(missing),
        carried=len(texts) - len(missing),
        rows=written.rows,
        lanes=dict(sorted(Counter(str(text.lane) for text in texts).items())),
        table_hash=written.table_hash,
    )
