"""A step that need not run is not run, and everything that could make it run does."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from codesum_pipeline.building.recording import RecordingStore
from codesum_pipeline.building.reuse import Step, carry_out, is_current
from codesum_pipeline.model.graph import GraphStats
from codesum_pipeline.model.options import GraphOptions
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.wiring import preview_of
from codesum_pipeline_tests.support.repositories import GitRepo

ROWS = [GraphStats(f"a{number}.py", number, 0, 0.0, 0, 0) for number in range(3)]


@dataclass(frozen=True, slots=True)
class Count:
    rows: int
    counted: int


def count_rows(ws: Workspace, /, *, progress: Progress) -> Count:
    """Copies the ids of `graph_stats` into `terms`, and their number into a file."""
    ids = ws.tables.read("graph_stats", ws.key, columns=["id"]).column("id")
    rows = [{"id": id_, "lane": "code", "text_hash": "", "tokens": ""} for id_ in ids.to_pylist()]
    ws.tables.write("terms", ws.key, pa.Table.from_pylist(rows, schema=TABLES["terms"].schema))
    count_file(ws).write_text(str(len(rows)))
    return Count(rows=len(rows), counted=len(rows))


def count_file(ws: Workspace) -> Path:
    return ws.layout.home / "count.txt"


COUNT = Step(
    "count",
    count_rows,
    Count,
    idle=lambda report: replace(report, counted=0),
    files=lambda ws, _report: [count_file(ws)],
)


@pytest.fixture
def workspace(git_repo: Callable[..., GitRepo], make_workspace: Callable[..., Workspace]) -> Workspace:
    made = make_workspace(git_repo({"a.py": "x = 1\n"}).path)
    made.tables.write_rows("graph_stats", made.key, ROWS, GraphStats)
    return made


def change(ws: Workspace, **fields: Any) -> None:
    ws.tables.write_rows("graph_stats", ws.key, [*ROWS[:-1], replace(ROWS[-1], **fields)], GraphStats)


def test_a_step_whose_inputs_stand_answers_with_what_it_would_report(workspace: Workspace) -> None:
    first, second = carry_out(COUNT, workspace), carry_out(COUNT, workspace)

    assert (first.report, first.is_reused) == (Count(rows=3, counted=3), False)
    assert (second.report, second.is_reused) == (Count(rows=3, counted=0), True)


def test_what_is_read_in_parts_is_noted_before_the_first_part_is_there(tmp_path: Path) -> None:
    store = RecordingStore(tmp_path)
    store.write_rows("graph_stats", "one", ROWS, GraphStats)
    noted = RecordingStore(tmp_path)

    parts = noted.read_parts("graph_stats", "one", columns=["id"])

    assert noted.reads() == {"graph_stats": frozenset({"id"})}
    assert [row for part in parts for row in part.to_pylist()] == [{"id": row.id} for row in ROWS]


def test_a_table_that_is_kept_counts_as_written(tmp_path: Path) -> None:
    written = RecordingStore(tmp_path).write_rows("graph_stats", "one", ROWS, GraphStats)
    noted = RecordingStore(tmp_path)

    kept = noted.keep("graph_stats", "one")

    assert (kept, noted.writes(), noted.reads()) == (written, ["graph_stats"], {})


def test_only_a_column_that_was_read_makes_a_step_run_again(workspace: Workspace) -> None:
    carry_out(COUNT, workspace)
    change(workspace, in_degree=7)
    assert carry_out(COUNT, workspace).is_reused
    change(workspace, id="b.py")

    assert not carry_out(COUNT, workspace).is_reused


def test_an_input_written_again_with_the_same_rows_is_the_same_input(workspace: Workspace) -> None:
    carry_out(COUNT, workspace)
    workspace.tables.write_rows("graph_stats", workspace.key, ROWS, GraphStats)

    assert carry_out(COUNT, workspace).is_reused


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(lambda ws: ws.tables.path("terms", ws.key).unlink(), id="its table is deleted"),
        pytest.param(lambda ws: ws.tables.path("terms", ws.key).write_bytes(b"PAR1"), id="its table is broken"),
        pytest.param(
            lambda ws: ws.tables.write("terms", ws.key, ws.tables.read("terms", ws.key).slice(1)),
            id="its table is replaced",
        ),
        pytest.param(lambda ws: count_file(ws).unlink(), id="its file is deleted"),
        pytest.param(lambda ws: count_file(ws).write_text("4"), id="its file is replaced"),
        pytest.param(lambda ws: (ws.layout.memos(ws.key) / "count.json").write_text("{"), id="its memo cannot be read"),
    ],
)
def test_a_step_whose_outputs_are_not_what_it_wrote_runs_again(
    workspace: Workspace, happens: Callable[[Workspace], object]
) -> None:
    carry_out(COUNT, workspace)
    happens(workspace)

    assert not is_current(COUNT, workspace)
    assert carry_out(COUNT, workspace) == replace(carry_out(COUNT, replace(workspace, force=True)), is_reused=False)
    assert is_current(COUNT, workspace)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda ws: replace(ws, force=True), id="forced"),
        pytest.param(lambda ws: replace(ws, versions={**ws.versions, "graph": "next"}), id="another version"),
        pytest.param(
            lambda ws: replace(ws, options=replace(ws.options, graph=GraphOptions(top_k_callers=1))), id="a setting"
        ),
        pytest.param(lambda ws: replace(ws, entry=replace(ws.entry, include=("a/**",))), id="the registry's entry"),
    ],
)
def test_a_step_runs_again_under_other_orders(workspace: Workspace, changed: Callable[[Workspace], Workspace]) -> None:
    carry_out(COUNT, workspace)

    assert not carry_out(COUNT, changed(workspace)).is_reused


def test_a_preview_neither_uses_nor_leaves_a_memo(workspace: Workspace, tmp_path: Path) -> None:
    carry_out(COUNT, workspace)
    preview = preview_of(workspace, tmp_path / "scratch")

    assert not carry_out(COUNT, preview).is_reused
    assert is_current(COUNT, workspace)


def test_a_step_that_ends_half_way_leaves_no_memo(workspace: Workspace) -> None:
    def stops_half_way(ws: Workspace, /, *, progress: Progress) -> Count:
        count_rows(ws, progress=progress)
        raise InterruptedError

    carry_out(COUNT, workspace)
    change(workspace, id="b.py")
    with pytest.raises(InterruptedError):
        carry_out(replace(COUNT, run=stops_half_way), workspace)
    change(workspace)

    assert not carry_out(COUNT, workspace).is_reused


def test_a_step_with_something_left_to_do_is_not_remembered(workspace: Workspace) -> None:
    unfinished = replace(COUNT, remember=lambda _report: False)

    assert not carry_out(unfinished, workspace).is_reused
    assert not carry_out(unfinished, workspace).is_reused


def test_what_is_read_for_its_date_alone_does_not_count(workspace: Workspace) -> None:
    stamped = replace(COUNT, stamps=frozenset({"graph_stats"}))
    carry_out(stamped, workspace)
    change(workspace, id="b.py")

    assert carry_out(stamped, workspace).is_reused


def test_a_view_counts_as_the_whole_table(workspace: Workspace) -> None:
    def count_in_sql(ws: Workspace, /, *, progress: Progress) -> Count:
        with ws.connect("graph_stats") as connection:
            (rows,) = connection.execute("SELECT count(*) FROM graph_stats").fetchone() or (0,)
        return Count(rows=rows, counted=rows)

    in_sql = Step("count", count_in_sql, Count)
    carry_out(in_sql, workspace)
    change(workspace, in_degree=7)

    assert not carry_out(in_sql, workspace).is_reused
