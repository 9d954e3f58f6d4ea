"""After an edit, only what is in the edited file is looked at; where something else is known to differ, all is."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.steps.reuse import RecordingStore
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.evaluation.scratch import scratch_in
from codesum_pipeline.texts.summaries.function_texts import other_functions
from codesum_pipeline.texts.summaries.outline import read_classes, read_files
from codesum_pipeline.texts.summaries.unchanged_files import unchanged_files
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

    others = [f"shelf_{number}.py" for number in range(count) if number != 1]
    assert all(unchanged_files(workspace, level).to_pylist() == ["README.md", *sorted(others)] for level in LEVELS)
    functions = other_functions(workspace, unchanged_files(workspace, Level.FUNCTION))
    assert functions == ["shelf_1.py::Shelf1::count"]
    same = unchanged_files(workspace, Level.FILE)
    assert [one.id for one in read_classes(workspace, besides=same)] == ["shelf_1.py::Shelf1"]
    assert [one.id for one in read_files(workspace, besides=same)] == ["shelf_1.py"]


@pytest.mark.parametrize("level", LEVELS)
def test_an_edit_reads_the_words_of_its_file_alone(built: Built, level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    repo, workspace = built(12)
    repo.commit({"shelf_1.py": FILE.format(1).replace("* 1", "* 100")})
    build(workspace, until="summary_plan")
    read: set[str] = set()
    read_files = RecordingStore.read_files

    def recorded(self: RecordingStore, table: str, repo: str, paths: Collection[str], **options: Any) -> pa.Table:
        read.update(paths if table == texts_table(level) else ())
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

    found = {name: len(unchanged_files(ws, Level.FILE)) for name, ws in (("alone", alone), ("based", based))}
    assert found == {"alone": 0, "based": 4}
    texts = workspace.tables.read(texts_table(Level.CLASS), workspace.key)
    based.tables.write(texts_table(Level.CLASS), workspace.key, texts.slice(1))
    assert len(unchanged_files(based, Level.FILE)) == 3, "a class of one has no text there"
    assert len(unchanged_files(replace(based, force=True), Level.FILE)) == 0


def test_a_text_below_that_reads_otherwise_lets_its_class_and_file_be_looked_at(built: Built) -> None:
    _, workspace = built(3)
    table = texts_table(Level.FUNCTION)
    texts = workspace.tables.read(table, workspace.key)
    hashes = ["other" if "shelf_1" in row["id"] else row["shown_hash"] for row in texts.to_pylist()]
    column = texts.column_names.index("shown_hash")
    workspace.tables.write(
        table, workspace.key, texts.set_column(column, texts.field("shown_hash"), pa.array(hashes, pa.string()))
    )

    same = {level: unchanged_files(workspace, level).to_pylist() for level in LEVELS}

    assert same == {
        Level.FUNCTION: [],
        Level.CLASS: ["README.md", "shelf_0.py", "shelf_2.py"],
        Level.FILE: ["README.md", "shelf_0.py", "shelf_2.py"],
    }


def test_nothing_is_known_where_a_model_may_write(built: Built) -> None:
    _, workspace = built(3)
    settings = workspace.settings.model_copy(
        update={"llm": workspace.settings.llm.model_copy(update={"enabled": True})}
    )
    by_model = replace(workspace, settings=settings)

    assert len(unchanged_files(workspace, Level.FUNCTION)) == 4
    assert len(unchanged_files(by_model, Level.FUNCTION)) == 0
