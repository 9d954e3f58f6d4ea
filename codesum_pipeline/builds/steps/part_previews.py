"""Previews of large tables, put together from what is kept of their parts: after an edit the parts that changed are
read."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.builds.reports.build_values import PREVIEW, Markdown, Values
from codesum_pipeline.foundation.data_model.markdown import markdown_table
from codesum_pipeline.foundation.store.kept_rows import part_by_part, rows_of_parts
from codesum_pipeline.foundation.store.workspace import Workspace

# Rises with anything that changes what is kept.
_VERSION = b"previews/2"
_ROWS = 8
_OF_EACH_LEVEL = 2


def _of_parts(
    ws: Workspace,
    table: str,
    columns: Sequence[str],
    name: str,
    make: Callable[[pa.Table], pa.Table],
    *,
    state: bytes = _VERSION,
) -> pa.Table:
    by_parts = ws.tables.by_parts(table, ws.key, columns=columns)
    return rows_of_parts(ws, by_parts, f"{table}.{name}", make, state=state).drop_columns("part")


class FirstRows(Struct, frozen=True):
    """The rows of a table that `pick` chooses, below these heads. It must choose the same from its choices of parts as
    from all rows: each row has all that it needs."""

    table: str
    columns: Sequence[str]
    heads: Sequence[str]
    pick: Callable[[pa.Table], pa.Table]

    def __call__(self, ws: Workspace) -> Values:
        found = self.pick(_of_parts(ws, self.table, self.columns, "preview", part_by_part(self.pick)))
        rows = [tuple(row.values())[: len(self.heads)] for row in found.to_pylist()]
        return {PREVIEW: Markdown(markdown_table(self.heads, rows))}


def most_complex(rows: pa.Table) -> pa.Table:
    """Symbols: the most complex ones, each with the first line of its docstring."""
    chosen = rows.select(["id", "type", "complexity", "line_count", "docstring"])
    chosen = chosen.sort_by([("complexity", "descending"), ("id", "ascending")]).slice(0, _ROWS)
    first = [(text or "").partition("\n")[0] for text in chosen["docstring"].to_pylist()]
    return chosen.set_column(4, "docstring", pa.array(first, pa.string()))


def some_texts(rows: pa.Table) -> pa.Table:
    """Texts of a level: some of them, whichever their hashes say."""
    if "text" in rows.column_names:
        rows = rows.filter(pc.not_equal(rows["written_by"], "placeholder"))
        rows = pa.table(
            {
                "id": rows["id"],
                "summary": pc.struct_field(rows["text"], "summary"),
                "purpose_source": rows["purpose_source"],
                "cause": rows["cause"],
            }
        )
    ids = rows["id"].to_pylist()
    hashes = [hashlib.md5(id_.encode(), usedforsecurity=False).hexdigest() for id_ in ids]
    order = sorted(range(len(ids)), key=lambda row: (hashes[row], ids[row]))[:_ROWS]
    return rows.take(pa.array(order, pa.int64()))


def show_documents(ws: Workspace) -> Values:
    """The longest summaries of each level."""
    columns = ("id", "type", "summary", "business_intent", "keywords", "is_placeholder")
    heads = ["document", "level", "summary", "intent", "keywords"]
    longest = _longest(_of_parts(ws, "documents", columns, "preview", part_by_part(_longest)))
    rows = [tuple(row.values()) for row in longest.to_pylist()]
    return {PREVIEW: Markdown(markdown_table(heads, sorted(rows, key=lambda row: (row[1], row[0]))))}


def _longest(rows: pa.Table) -> pa.Table:
    """Documents that are no placeholders: the longest summaries of each level."""
    if "is_placeholder" in rows.column_names:
        rows = rows.filter(pc.invert(rows["is_placeholder"]))
        keywords = pc.binary_join(rows["keywords"].cast(pa.list_(pa.string())), ", ")
        rows = rows.set_column(4, "keywords", keywords).drop_columns("is_placeholder")
    lengths = rows.append_column("length", pc.utf8_length(rows["summary"]))
    order = pc.sort_indices(lengths, [("type", "ascending"), ("length", "descending"), ("id", "ascending")])
    ordered = rows.take(order)
    types = ordered["type"].to_pylist()
    is_chosen = [at < _OF_EACH_LEVEL or types[at - _OF_EACH_LEVEL] != type_ for at, type_ in enumerate(types)]
    return ordered.filter(pa.array(is_chosen, pa.bool_()))


class LaneCounts(Struct, frozen=True):
    """How many documents a lane has, and how many different texts."""

    table: str

    def __call__(self, ws: Workspace) -> Values:
        found = _of_parts(ws, self.table, ("lane", "text_hash"), "preview", _texts_of_lanes)
        texts: Mapping[str, list[pa.Array]] = defaultdict(list)
        for lane, hashes in zip(found["lane"].to_pylist(), found["texts"], strict=True):
            texts[lane].append(hashes.values.to_numpy())
        rows = []
        for lane, parts in sorted(texts.items()):
            every = np.concatenate(parts)
            rows.append((lane, len(every), len(np.unique(every))))
        return {PREVIEW: Markdown(markdown_table(["lane", "documents", "different texts"], rows))}


def _texts_of_lanes(rows: pa.Table) -> pa.Table:
    """The beginnings of the hashes of texts, by lane and part."""
    # Sixteen of forty digits: of a million texts two are the same once in 37 million times.
    texts = pa.array([int(text[:16], 16) for text in rows["text_hash"].to_pylist()], pa.uint64())
    table = pa.table({"lane": rows["lane"], "texts": texts, "part": rows["part"]})
    found = table.group_by(["lane", "part"], use_threads=False).aggregate([("texts", "list")])
    return found.select(["lane", "texts_list", "part"]).rename_columns(["lane", "texts", "part"])
