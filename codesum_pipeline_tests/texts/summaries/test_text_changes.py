"""After an edit, only what is in the edited file is looked at; where something else is known to differ, all is."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.steps.reuse import RecordingStore
from codesum_pipeline.foundation.data_model.document import Level, PlanAction
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.table_files import TableWrite
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.evaluation.scratch import scratch_in
from codesum_pipeline.texts.summaries.function_texts import choose_writers
from codesum_pipeline.texts.summaries.outline import read_classes, read_files
from codesum_pipeline.texts.summaries.rewrite_plan import plan_summaries
from codesum_pipeline.texts.summaries.text_changes import changed_files
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

FILE = '''class Shelf{0}:
    """Holds things of kind {0}."""

    def count(self, things):
        """Count the things."""
        total = 0
        for thing in things:
            total += thing.number * {0}
        return total
'''
LEVELS = (Level.FUNCTION, Level.CLASS, Level.FILE)
Built = Callable[..., tuple[GitRepo, Workspace]]


@pytest.fixture
def built(tmp_path: Path) -> Built:
    """`built(count)`: a repository of so many files and a text, and the workspace in which it was built."""

    def make(count: int) -> tuple[GitRepo, Workspace]:
        files = {f"shelf_{number}.py": FILE.format(number) for number in range(count)}
        repo = GitRepo.create(tmp_path / f"repository {count}", {**files, "README.md": "# Shelves\n\nHold things.\n"})
        workspace = workspace_of(open_home(tmp_path / f"home {count}"), RepositoryEntry("shelves", str(repo.path)))
        build(workspace)
        return repo, workspace

    return make


@pytest.mark.parametrize("count", [3, 12])
def test_an_edit_looks_at_its_file_however_many_there_are(built: Built, count: int) -> None:
    repo, workspace = built(count)
    repo.commit({"shelf_1.py": FILE.format(1).replace("* 1", "* 100")})
    build(workspace, until="symbols")

    assert all(changed_files(workspace, level) == {"shelf_1.py"} for level in LEVELS)
    files = changed_files(workspace, Level.FILE)
    assert [*choose_writers(workspace, files)] == ["shelf_1.py::Shelf1::count"]
    assert [one.id for one in read_classes(workspace, files)] == ["shelf_1.py::Shelf1"]
    assert [one.id for one in read_files(workspace, files)] == ["shelf_1.py"]


@pytest.mark.parametrize("level", LEVELS)
def test_an_edit_reads_the_words_of_its_file_alone(built: Built, level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    repo, workspace = built(12)
    repo.commit({"shelf_1.py": FILE.format(1).replace("* 1", "* 100")})
    build(workspace, until="summary_plan")
    read: set[str] = set()
    read_files = RecordingStore.read_files

    def recorded(self: RecordingStore, table: str, repo: str, paths: Collection[str], **options: Any) -> pa.Table:
        read.update(["all"] if paths is None else paths if table == texts_table(level) else ())
        return read_files(self, table, repo, paths, **options)

    monkeypatch.setattr(RecordingStore, "read_files", recorded)
    build(workspace, until="file_summaries")

    assert read <= {"shelf_1.py"}


def test_a_scratch_looks_at_what_differs_from_its_base_and_one_without_a_base_at_all(
    built: Built, tmp_path: Path
) -> None:
    _, workspace = built(3)
    alone = scratch_in(workspace, tmp_path / "scratch")
    based = replace(alone, base=workspace)

    assert changed_files(alone, Level.FILE) is None
    assert changed_files(based, Level.FILE) == set()
    texts = workspace.tables.read(texts_table(Level.CLASS), workspace.key)
    based.tables.write(texts_table(Level.CLASS), workspace.key, texts.slice(1))
    assert changed_files(based, Level.FILE) == {"shelf_0.py"}, "its class has no text there"
    assert changed_files(replace(based, force=True), Level.FILE) is None


def test_a_text_below_that_reads_otherwise_lets_its_class_and_file_be_looked_at(built: Built) -> None:
    _, workspace = built(3)
    table = texts_table(Level.FUNCTION)
    texts = workspace.tables.read(table, workspace.key)
    hashes = ["other" if "shelf_1" in row["id"] else row["shown_hash"] for row in texts.to_pylist()]
    column = texts.column_names.index("shown_hash")
    workspace.tables.write(
        table, workspace.key, texts.set_column(column, texts.field("shown_hash"), pa.array(hashes, pa.string()))
    )

    changed = {level: changed_files(workspace, level) for level in LEVELS}

    assert changed == {Level.FUNCTION: None, Level.CLASS: {"shelf_1.py"}, Level.FILE: {"shelf_1.py"}}


def test_a_folder_is_looked_at_where_a_file_or_a_text_below_it_is_another(tmp_path: Path) -> None:
    paths = ("a/b/one.py", "a/b/README.md", "a/two.py", "c/three.py")
    repo = GitRepo.create(tmp_path / "repository", {path: FILE.format(1) for path in paths})
    workspace = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shelves", str(repo.path)))
    build(workspace)
    folders = {"a/b", "a", "."}

    def changed(files: Mapping[str, str]) -> set[str] | None:
        repo.commit(dict(files))
        build(workspace, until="symbols")
        return changed_files(workspace, Level.MODULE)

    assert changed_files(workspace, Level.MODULE) == set()
    assert changed({"a/b/README.md": FILE.format(2)}) == folders, "its words are shown"
    build(workspace)
    assert changed({"a/b/one.py": FILE.format(1).replace("Holds", "Keeps")}) == folders
    build(workspace, until="file_summaries")
    assert changed_files(workspace, Level.MODULE) == folders, "also where a build ended before it wrote folders"
    build(workspace)
    repo.git("rm", "-q", "-r", "a/b")
    assert changed({}) == folders, "also a folder that is gone"


def test_nothing_is_known_where_a_model_may_write(built: Built) -> None:
    _, workspace = built(3)
    settings = workspace.settings.model_copy(
        update={"llm": workspace.settings.llm.model_copy(update={"enabled": True})}
    )
    by_model = replace(workspace, settings=settings)

    assert changed_files(workspace, Level.FUNCTION) == set()
    assert changed_files(by_model, Level.FUNCTION) is None


def test_a_plan_has_rows_for_what_it_says_something_of(built: Built) -> None:
    repo, workspace = built(3)
    repo.commit({"shelf_1.py": FILE.format(1).replace("Holds", "Keeps"), "new.py": FILE.format(9)})
    report = build(workspace, until="summary_plan")["summary_plan"]

    planned = workspace.tables.read("plan", workspace.key).to_pylist()
    told = {row["id"] for row in planned}
    assert told == {
        *("shelf_1.py::Shelf1::count", "shelf_1.py::Shelf1", "shelf_1.py", "."),
        *("new.py::Shelf9::count", "new.py::Shelf9", "new.py"),
    }
    documents = workspace.tables.count("documents", workspace.key)
    kept = [counts.get(PlanAction.KEEP, 0) for counts in report.by_action.values()]
    assert sum(kept) == documents - sum(row["cause"] != "new" for row in planned)


EDITS: Mapping[str, Mapping[str, str | None]] = {
    "a body": {"shelf_1.py": FILE.format(1).replace("* 1", "* 100")},
    "words": {"shelf_1.py": FILE.format(1).replace("Holds", "Keeps")},
    "a call": {"lent.py": "from shelf_2 import Shelf2\n\n\ndef lend():\n    return Shelf2().count([])\n"},
    "a folder": {"more/__init__.py": "", "more/inner/shelf.py": FILE.format(9)},
    "a file less": {"shelf_0.py": None},
    "another name": {"shelf_2.py": None, "moved.py": FILE.format(2)},
    "a folder less": {"more/__init__.py": None, "more/inner/shelf.py": None},
    "nothing": {"other.bin": "\0"},
}


def test_a_plan_that_looks_at_what_changed_is_the_one_that_looks_at_all(built: Built) -> None:
    repo, workspace = built(4)
    for name, files in EDITS.items():
        repo.commit({path: text for path, text in files.items() if text is not None}, name)
        if gone := [path for path, text in files.items() if text is None]:
            repo.git("rm", "-q", *gone)
            repo.git("commit", "-q", "--allow-empty", "-m", f"{name} gone")
        planned = build(workspace, until="summary_plan")["summary_plan"]
        plan = workspace.tables.read("plan", workspace.key)
        for file in workspace.layout.memos(workspace.key).glob("*.arrow"):
            file.unlink()
        report = plan_summaries(workspace)
        assert workspace.tables.read("plan", workspace.key).equals(plan), name
        assert report == planned, "how many documents are kept, too"
        build(workspace)


def test_documents_and_words_of_unchanged_files_are_not_written_again(
    built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, workspace = built(12)
    for number in (10, 100):
        build(workspace)
        repo.commit({"shelf_1.py": FILE.format(1).replace("* 1", f"* {number}")})
    written: dict[str, set[str]] = {}
    replace_files = RecordingStore.replace_files

    def recorded(
        self: RecordingStore, table: str, repo: str, rows: pa.Table, paths: Collection[str] | None, *, note: str = ""
    ) -> TableWrite:
        written[table] = {"all"} if paths is None else set(paths)
        return replace_files(self, table, repo, rows, paths, note=note)

    monkeypatch.setattr(RecordingStore, "replace_files", recorded)
    build(workspace)

    assert {table: written[table] for table in ("documents", "terms", "vectors")} == {
        "documents": {"shelf_1.py", "."},
        "terms": {"shelf_1.py"},
        "vectors": {"shelf_1.py"},
    }
    assert texts_table(Level.CLASS) not in written, "no text of a class is another"
