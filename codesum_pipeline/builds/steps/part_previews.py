"""Previews of large tables, put together from what is kept of their parts: after an edit the parts that changed are
read."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.builds.reports.build_values import PLOT, PREVIEW, Markdown, Values
from codesum_pipeline.builds.reports.report_values import draw_histogram
from codesum_pipeline.foundation.data_model.markdown import markdown_table
from codesum_pipeline.foundation.store.kept_rows import part_by_part, rows_of_parts
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace

# Rises with anything that changes what is kept.
_VERSION = b"previews/1"
_ROWS = 8
_OF_EACH_LEVEL = 2
_LENGTH_STEP = 50
# For more paths at a time, the levels of all documents are read.
_MANY = 500


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
    """The longest summaries of each level, and how long summaries are."""
    columns = ("id", "type", "summary", "business_intent", "keywords", "is_placeholder")
    found = _of_parts(ws, "documents", columns, "preview", part_by_part(_longest))
    rows = _choose_longest(found.filter(pc.is_valid(found["summary"])))
    heads = ["document", "level", "summary", "intent", "keywords"]
    shown = sorted(
        ((row["id"], row["type"], row["summary"], row["business_intent"], row["keywords"]) for row in rows.to_pylist()),
        key=lambda row: (row[1], row[0]),
    )
    preview = {PREVIEW: Markdown(markdown_table(heads, shown))}
    counted = found.filter(pc.is_null(found["summary"]))
    counts: Counter[int] = Counter()
    for step, count in zip(counted["step"].to_pylist(), counted["count"].to_pylist(), strict=True):
        counts[step] += count
    if not counts:
        return preview
    steps = range(max(counts) + 1)
    edges = [float(step * _LENGTH_STEP) for step in range(len(steps) + 1)]
    plot = draw_histogram("characters of a summary", edges, [counts[step] for step in steps])
    return {**preview, PLOT: Markdown(plot)}


def _choose_longest(rows: pa.Table) -> pa.Table:
    order = rows.append_column("length", pc.utf8_length(rows["summary"])).append_column(
        "row", pa.array(np.arange(len(rows)))
    )
    order = order.sort_by([("type", "ascending"), ("length", "descending"), ("id", "ascending")])
    types = order["type"].to_pylist()
    seen: Counter[str] = Counter()
    kept = []
    for number, type_ in enumerate(types):
        seen[type_] += 1
        if seen[type_] <= _OF_EACH_LEVEL:
            kept.append(number)
    return rows.take(order["row"].take(pa.array(kept, pa.int64())))


def _longest(rows: pa.Table) -> pa.Table:
    """The longest summaries, and rows without one that count those of some length."""
    rows = rows.filter(pc.invert(rows["is_placeholder"]))
    steps = pc.divide(pc.utf8_length(rows["summary"]), _LENGTH_STEP)
    counts = pc.value_counts(steps.combine_chunks())
    chosen = _choose_longest(rows)
    longest = pa.table(
        {
            "id": chosen["id"],
            "type": chosen["type"],
            "summary": chosen["summary"],
            "business_intent": chosen["business_intent"],
            "keywords": pc.binary_join(chosen["keywords"].cast(pa.list_(pa.string())), ", "),
            "step": pa.nulls(len(chosen), pa.int64()),
            "count": pa.nulls(len(chosen), pa.int64()),
        }
    )
    empty = pa.nulls(len(counts), pa.string())
    counted = pa.table(
        {
            "id": pa.repeat(pa.scalar("", pa.string()), len(counts)),
            **dict.fromkeys(("type", "summary", "business_intent", "keywords"), empty),
            "step": counts.field("values").cast(pa.int64()),
            "count": counts.field("counts"),
        }
    )
    return pa.concat_tables([longest.cast(counted.schema), counted])


class LaneCounts(Struct, frozen=True):
    """How many documents of each level a lane has, and how many different texts."""

    table: str

    def __call__(self, ws: Workspace) -> Values:
        # What level a document is of is said by another table.
        levels = ws.tables.hash_read("documents", ws.key, columns=["id", "type"]) or ""
        state = _VERSION + levels.encode()
        found = _of_parts(ws, self.table, ("lane", "id", "text_hash"), "preview", _LevelsOf(ws), state=state)
        texts: Mapping[tuple[str, str], list[pa.Array]] = defaultdict(list)
        for lane, level, hashes in zip(found["lane"], found["type"], found["texts"], strict=True):
            texts[lane.as_py(), level.as_py()].append(hashes.values.to_numpy())
        rows = []
        for (lane, level), parts in sorted(texts.items()):
            every = np.concatenate(parts)
            rows.append((lane, level, len(every), len(np.unique(every, return_counts=True)[0])))
        heads = ["lane", "level", "documents", "different texts"]
        return {PREVIEW: Markdown(markdown_table(heads, rows))}


class _LevelsOf(Struct, dict=True, eq=False):
    """Of rows of a lane: the beginnings of the hashes of their texts, by part, lane and level."""

    ws: Workspace

    def _read(self, paths: Collection[str] | None) -> pa.Table:
        return self.ws.tables.read_files("documents", self.ws.key, paths, columns=["id", "type"]).combine_chunks()

    @cached_property
    def all_levels(self) -> pa.Table:
        return self._read(None)

    def __call__(self, rows: pa.Table) -> pa.Table:
        ids = rows["id"]
        paths = {*pc.unique(paths_of(ids)).to_pylist()}
        documents = self.all_levels if len(paths) > _MANY else self._read(paths)
        types = documents["type"].take(pc.index_in(ids, value_set=documents["id"].combine_chunks()))
        # Sixteen of forty digits: of a million texts two are the same once in 37 million times.
        texts = pa.array([int(text[:16], 16) for text in rows["text_hash"].to_pylist()], pa.uint64())
        table = pa.table({"lane": rows["lane"], "type": types, "part": rows["part"], "texts": texts})
        found = table.group_by(["lane", "type", "part"], use_threads=False).aggregate([("texts", "list")])
        return pa.table(
            {"lane": found["lane"], "type": found["type"], "texts": found["texts_list"], "part": found["part"]}
        )
