from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import Edge, EdgeKind
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.indexes.file_formats.graph_files import OF_USES, build_constant_uses, build_uses, number_edges
from codesum_pipeline.indexes.file_formats.index_files import KINDS, ConstantUses, Uses
from codesum_pipeline_tests.support.synthetic_indexes import call_edge

IDS = ("a.py::f", "a.py::g", "b.py::Klass", "a.py", "b.py")


def uses_of(edges: list[Edge]) -> Uses:
    return build_uses(number_edges([to_table(edges, Edge).select(OF_USES)], pa.array(IDS, pa.string())))


def names(rows: list[int]) -> list[str]:
    return [IDS[row] for row in rows]


def test_users_are_told_apart_by_how_they_use() -> None:
    call = call_edge("a.py::g", "b.py::Klass")
    uses = uses_of(
        [call, replace(call, kind=EdgeKind.INHERIT), replace(call, src_id="a.py"), call_edge("a.py", "b.py")]
    )

    klass = IDS.index("b.py::Klass")
    assert names(uses.users_of(klass, EdgeKind.CALL)) == ["a.py::g", "a.py"]
    assert names(uses.users_of(klass, EdgeKind.INHERIT)) == ["a.py::g"]
    assert uses.users_of(klass, EdgeKind.IMPORT) == []
    assert names(uses.used_by_any([IDS.index("a.py")], EdgeKind.CALL)) == ["b.py::Klass", "b.py"]


def test_what_lies_outside_and_what_uses_itself_is_left_out() -> None:
    call = call_edge("a.py::g", "a.py::f")

    uses = uses_of([replace(call, is_external=True), call_edge("a.py::f", "a.py::f"), call_edge("gone.py", "a.py::f")])

    assert len(uses) == len(IDS)
    assert not len(uses.users)


@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(KINDS))))
def test_both_directions_say_the_same(found: set[tuple[int, int, EdgeKind]]) -> None:
    uses = uses_of([replace(call_edge(IDS[user], IDS[used]), kind=kind) for user, used, kind in sorted(found)])

    others = {(user, used, kind) for user, used, kind in found if user != used}
    rows = range(len(IDS))
    assert {(user, used, kind) for used in rows for kind in KINDS for user in uses.users_of(used, kind)} == others
    assert {(user, used, kind) for user in rows for kind in KINDS for used in uses.used_by_any([user], kind)} == others


def test_what_is_written_is_what_is_mapped(tmp_path: Path) -> None:
    uses_of([call_edge("a.py", "a.py::f"), call_edge("a.py::g", "a.py::f")]).write(tmp_path / "uses.npz")

    assert names(Uses.map_file(tmp_path / "uses.npz").users_of(0, EdgeKind.CALL)) == ["a.py::g", "a.py"]


def test_uses_that_a_compilers_index_confirms_are_told_apart(tmp_path: Path) -> None:
    call = call_edge("a.py::g", "a.py::f")
    trusted = replace(call, reason="scip:scip-python", confidence=1.0)
    edges = [
        trusted,
        replace(call, kind=EdgeKind.IMPORT),
        replace(trusted, src_id="b.py", confidence=0.97),
        replace(trusted, src_id="a.py", reason="ast:import"),
        replace(trusted, src_id="a.py", dst="b.py::Klass"),
    ]

    uses_of(edges).write(tmp_path / "uses.npz")
    uses_of(edges[::-1]).write(tmp_path / "again.npz")

    uses = Uses.map_file(tmp_path / "uses.npz")
    assert names(uses.users_of(0, EdgeKind.CALL)) == ["a.py::g", "a.py", "b.py"]
    assert names(uses.confirmed.users_of(0, EdgeKind.CALL)) == ["a.py::g"]
    assert uses.confirmed.users_of(0, EdgeKind.IMPORT) == []
    assert names(uses.confirmed.used_by_any([IDS.index("a.py")], EdgeKind.CALL)) == ["b.py::Klass"]
    assert (tmp_path / "uses.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()


def constants_of(edges: list[Edge]) -> ConstantUses:
    return build_constant_uses(number_edges([to_table(edges, Edge).select(OF_USES)], pa.array(IDS, pa.string())))


def test_what_is_referred_to_and_is_no_document_is_a_constant_with_its_users(tmp_path: Path) -> None:
    use = replace(call_edge("a.py::g", "b.py::LIMIT"), kind=EdgeKind.REFERENCE)
    edges = [
        use,
        replace(use, src_id="a.py"),
        replace(use, dst="a.py::Klass::LIMIT"),
        replace(use, dst="b.py::Klass"),
        replace(use, dst="b.py::OTHER", kind=EdgeKind.CALL),
        replace(use, dst="os.LIMIT", is_external=True),
        replace(use, src_id="gone.py"),
    ]
    constants_of(edges).write(tmp_path / "constants.npz")

    found = ConstantUses.map_file(tmp_path / "constants.npz")
    assert [*found.table] == ["a.py::Klass::LIMIT", "b.py::LIMIT"]
    assert found.named("LIMIT") == ["a.py::Klass::LIMIT", "b.py::LIMIT"]
    assert names(found.users_of("b.py::LIMIT")) == ["a.py::g", "a.py"]
    assert found.used_by([IDS.index("a.py")]) == ["b.py::LIMIT"]
    assert [found.named("limit"), found.named("OTHER"), found.users_of("b.py::OTHER")] == [[], [], []]


def test_an_index_may_have_no_constants(tmp_path: Path) -> None:
    constants_of([]).write(tmp_path / "constants.npz")

    found = ConstantUses.map_file(tmp_path / "constants.npz")
    assert (len(found), found.named("LIMIT"), found.users_of("b.py::LIMIT"), found.used_by([0])) == (0, [], [], [])
