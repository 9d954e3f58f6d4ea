"""Indexes made worse on purpose: every document keeps its name and gets what another one says."""

import random

import pyarrow as pa

from codesum_pipeline.foundation.store.workspace import Workspace


def shuffle_lanes(ws: Workspace) -> None:
    """Deal the terms and vectors of each lane out anew."""
    for table, column in (("terms", "tokens"), ("vectors", "vector")):
        rows = ws.tables.read(table, ws.key)
        lanes = rows["lane"].to_pylist()
        order = list(range(rows.num_rows))
        for lane in sorted(set(lanes)):
            places = [place for place, found in enumerate(lanes) if found == lane]
            dealt = random.Random(7).sample(places, len(places))
            for place, other in zip(places, dealt, strict=True):
                order[place] = other
        position = rows.schema.get_field_index(column)
        shuffled = rows[column].combine_chunks().take(pa.array(order))
        ws.tables.write(table, ws.key, rows.set_column(position, column, shuffled))
