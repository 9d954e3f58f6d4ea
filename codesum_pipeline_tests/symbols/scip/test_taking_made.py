"""An index that a command makes, among the others that a build takes in."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.wiring import preview_of
from codesum_pipeline.foundation.data_model.edge import IndexFile
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.symbols.scip.taking import index_state, snapshot_with_indexes
from codesum_pipeline.texts.summaries.rewrite_plan import preview_plan
from codesum_pipeline_tests.support.homes import build, open_home
from codesum_pipeline_tests.support.repositories import GitRepo


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo.create(tmp_path / "shop", {"a.py": "def f():\n    return 1\n", "web/prepared": "first"})


@pytest.fixture
def make(repo: GitRepo, tmp_path: Path) -> Callable[..., Workspace]:
    """`make(command, force=False, timeout_s=60.0, **fields)`: a workspace whose command is run without a sandbox."""

    def workspace(command: str, *, force: bool = False, timeout_s: float = 60.0, **fields: object) -> Workspace:
        home = open_home(tmp_path / "home", scip={"sandbox": "none", "timeout_s": timeout_s})
        home.registry.add(RepositoryEntry("shop", str(repo.path), scip_command=command, **fields))  # type: ignore[arg-type]
        return home.workspace("shop", run_id="run", force=force)

    return workspace


@pytest.fixture
def counted(tmp_path: Path) -> str:
    """A command that notes each run and copies a file of the tree."""
    return f"sh -c 'echo run >> {tmp_path}/runs && cp web/prepared index.scip'"


def runs(tmp_path: Path) -> int:
    noted = tmp_path / "runs"
    return len(noted.read_text().splitlines()) if noted.exists() else 0


def contents(ws: Workspace) -> list[str]:
    return [content for _, _, content in rows(ws)]


def rows(ws: Workspace) -> list[tuple[str, str, str]]:
    """Origin, root and content of each index, whose copy is there."""
    found = ws.tables.read_rows("scip_indexes", ws.key, IndexFile)
    folder = ws.layout.scip(ws.key)
    return [(row.origin, row.root, (folder / row.sha256).read_text() if row.sha256 else row.problem) for row in found]


def test_a_command_is_run_once_for_a_commit(
    make: Callable[..., Workspace], repo: GitRepo, tmp_path: Path, counted: str
) -> None:
    ws = make(counted)
    for _ in range(2):
        report = snapshot_with_indexes(ws)
    first = runs(tmp_path), contents(ws), report.scip_indexes
    repo.commit({"web/prepared": "second"})
    snapshot_with_indexes(ws)
    second = runs(tmp_path), contents(ws)

    snapshot_with_indexes(make(counted, force=True))

    assert first == (1, ["first"], 1)
    assert second == (2, ["second"])
    assert runs(tmp_path) == 3


def test_it_comes_after_those_that_the_entry_names_and_before_those_of_the_tree(
    make: Callable[..., Workspace], repo: GitRepo, tmp_path: Path
) -> None:
    repo.commit({"index.scip": "committed"})
    (tmp_path / "named.scip").write_text("named")
    ws = make("cp prepared index.scip", scip=(f"{tmp_path}/named.scip",), subdir="web")

    snapshot_with_indexes(ws)

    assert rows(ws) == [
        (f"scip {tmp_path}/named.scip", "web", "named"),
        ("made by cp prepared index.scip", "web", "first"),
        ("tree index.scip", "", "committed"),
    ]


def test_a_command_that_fails_leaves_the_index_of_the_commit_before(
    make: Callable[..., Workspace], repo: GitRepo
) -> None:
    command = "cp web/prepared index.scip"
    snapshot_with_indexes(make(command))
    repo.git("rm", "-q", "web/prepared")
    repo.commit({"b.py": "x = 1\n"})
    ws = make(command)

    report = snapshot_with_indexes(ws)

    (index, (_, _, problem)) = rows(ws)
    assert index == (f"made by {command}", "", "first")
    assert "it ended with status 1; it said: cp: cannot stat 'web/prepared'" in problem
    assert (report.scip_indexes, report.scip_problems) == (1, (f"made by {command}: {problem}",))


def test_a_preview_runs_no_command_and_takes_what_was_made_last(
    make: Callable[..., Workspace], repo: GitRepo, tmp_path: Path, counted: str
) -> None:
    ws = make(counted)
    build(ws)
    repo.commit({"web/prepared": "second"})

    preview = preview_plan(ws, preview_of(ws, tmp_path / "scratch"))

    assert (runs(tmp_path), preview.snapshot.scip_indexes) == (1, 1)
    assert contents(ws) == ["first"]


def test_what_a_command_made_goes_with_it(make: Callable[..., Workspace]) -> None:
    snapshot_with_indexes(make("cp web/prepared index.scip"))
    ws = make("")

    snapshot_with_indexes(ws)

    assert (rows(ws), [*ws.layout.scip("shop").iterdir()]) == ([], [])


def test_a_command_and_how_it_is_run_are_part_of_the_state(make: Callable[..., Workspace]) -> None:
    ways = [make(""), make("true"), make("false"), make("false", timeout_s=9.0)]

    states = [index_state(ws.entry, ws.layout, ws.settings.scip) for ws in ways]

    assert (states[0], len(set(states))) == ("", 4)


def test_copies_are_named_by_their_content(make: Callable[..., Workspace]) -> None:
    ws = make("cp web/prepared index.scip")

    snapshot_with_indexes(ws)

    names = {path.name for path in ws.layout.scip("shop").iterdir()}
    assert names == {"made.scip", "made.json", hashlib.sha256(b"first").hexdigest()}
