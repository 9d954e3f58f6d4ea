from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import Edge, EdgeKind
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.indexes.file_formats.graph_files import OF_USES, build_callers, build_uses, number_edges
from codesum_pipeline.indexes.file_formats.index_files import Callers
from codesum_pipeline_tests.support.synthetic_indexes import call_edge

IDS = ("a.py::f", "a.py::g", "b.py::h", "b.py::Klass")


def build(*parts: list[Edge]) -> Callers:
    """The callers of `IDS`; a file is another document, and no symbol."""
    edges = number_edges((to_table(edges, Edge).select(OF_USES) for edges in parts), pa.array([*IDS, "a.py"]))
    return build_callers(build_uses(edges), len(IDS))


def callers_of(edges: list[Edge]) -> dict[str, list[str]]:
    callers = build(edges)
    found = {}
    for row, id_ in enumerate(IDS):
        counts, rows = callers.of(np.array([row]))
        assert counts.tolist() == [len(rows)]
        found[id_] = [IDS[caller] for caller in rows.tolist()]
    return found


def test_callers_come_in_row_order_and_each_once() -> None:
    edges = [call_edge("b.py::h", "a.py::f"), call_edge("a.py::g", "a.py::f"), call_edge("a.py::g", "b.py::Klass")]
    twice = replace(call_edge("a.py::g", "a.py::f"), reason="import")

    assert callers_of([*edges, twice]) == {
        "a.py::f": ["a.py::g", "b.py::h"],
        "a.py::g": [],
        "b.py::h": [],
        "b.py::Klass": ["a.py::g"],
    }


def test_only_calls_of_another_function_or_class_of_the_repository_count() -> None:
    call = call_edge("a.py::g", "a.py::f")
    edges = [
        replace(call, is_external=True),
        replace(call, kind=EdgeKind.INHERIT),
        replace(call, kind=EdgeKind.IMPORT),
        call_edge("a.py::f", "a.py::f"),
        call_edge("a.py", "a.py::f"),
        call_edge("a.py::g", "gone.py::f"),
    ]

    assert callers_of(edges) == {id_: [] for id_ in IDS}


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))), st.lists(st.integers(0, 3), max_size=4))
def test_callers_of_several_are_those_of_each(calls: set[tuple[int, int]], wanted: list[int]) -> None:
    edges = [call_edge(IDS[caller], IDS[called]) for caller, called in sorted(calls)]
    callers = build(edges[::2], edges[1::2])

    counts, rows = callers.of(np.array(wanted, dtype=np.int64))

    each = [sorted(caller for caller, called in calls if called == row != caller) for row in wanted]
    assert counts.tolist() == [len(some) for some in each]
    assert rows.tolist() == [row for some in each for row in some]


def test_nothing_to_call_has_no_callers(tmp_path: Path) -> None:
    build_callers(build_uses(number_edges([], pa.array([], pa.string()))), 0).write(tmp_path / "callers.npz")

    assert len(Callers.map_file(tmp_path / "callers.npz")) == 0


def test_what_is_written_is_what_is_mapped(tmp_path: Path) -> None:
    edges = [call_edge("b.py::h", "a.py::f"), call_edge("a.py::g", "a.py::f")]
    built = build(edges)

    built.write(tmp_path / "callers.npz")
    mapped = Callers.map_file(tmp_path / "callers.npz")

    assert (mapped.rows.tolist(), mapped.indptr.tolist()) == ([1, 2], [0, 2, 2, 2, 2])
    assert {str(mapped.rows.dtype), str(mapped.indptr.dtype)} == {"int32"}
