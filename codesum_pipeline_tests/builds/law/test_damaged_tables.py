"""A table whose file was overwritten or cut is mended by the next build that reads it, and is made anew alone."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from codesum_pipeline.builds.reports.build_values import CHECKED_AFTER, DAMAGED, BuildOptions
from codesum_pipeline.builds.steps.one_build import Build
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.errors import DamagedTable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.schemas import BOOKS, TABLES
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.comparing import COMPARED_TABLES, first_difference, published_files
from codesum_pipeline_tests.support.homes import build, built_once, open_home, workspace_of
from codesum_pipeline_tests.support.model_builds import KEY_ENV, model_settings, shop
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {
    f"shop/part_{number}.py": f'"""Sells part {number}."""\n\nfrom shop import part_{number - 1}\n\n\n'
    f'def price_{number}(item):\n    """Price part {number}."""\n    if item is None:\n'
    f"        raise ValueError(item)\n    return part_{number - 1}.price_{number - 1}(item) * {number}\n"
    for number in range(1, 13)
}
EDIT = {
    "shop/part_5.py": FILES["shop/part_5.py"].replace("Price part 5.", "Say what part 5 costs."),
    "shop/part_13.py": "def found(item):\n    if item:\n        return item\n    return None\n",
}
# What the build after the edit reads of the last one.
READ = ("symbols", "file_facts", "files", "texts_function", "vectors", "terms", "document_history")
OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in sorted(set(TABLES) - {*READ, *BOOKS})]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home, whose repository was edited since."""
    folder = built_once(tmp_path_factory.mktemp("once"), FILES)
    GitRepo(folder / "repository").commit(EDIT)
    return folder


@pytest.fixture(scope="module")
def clean(once: Path) -> Workspace:
    workspace = workspace_of(open_home(once / "clean"), RepositoryEntry("shop", str(once / "repository")))
    build(workspace)
    return workspace


def overwrite(path: Path, *, at: float) -> None:
    content = bytearray(path.read_bytes())
    start = int(len(content) * at)
    content[start : start + 8] = bytes(255 - byte for byte in content[start : start + 8])
    path.write_bytes(content)


def performed(home: Path, key: str = "shop", **settings: object) -> Mapping[str, int]:
    """Build as a run does; how many rows were kept of the tables that were damaged."""
    one = Build(open_home(home, **settings), key, "run 2", BuildOptions(confirm_llm=True))
    found = []
    for step in STEPS:
        found.append(one.perform(step.name).values)
        one.show(step.name)
        if check := CHECKED_AFTER.get(step.name):
            assert all(finding.passed for finding in one.check(check))
    return {name.removeprefix(DAMAGED): n for values in found for name, n in values.items() if name.startswith(DAMAGED)}


@pytest.mark.parametrize("at", [0.3, *(pytest.param(place, marks=pytest.mark.slow) for place in (0.5, 0.7, 0.8, 0.97))])
@pytest.mark.parametrize("table", [*READ, *OTHERS])
def test_a_build_from_a_damaged_table_equals_a_clean_one(
    once: Path, clean: Workspace, tmp_path: Path, table: str, at: float
) -> None:
    shutil.copytree(once / "home", tmp_path / "home", symlinks=True)
    found = workspace_of(open_home(tmp_path / "home"), clean.entry)
    overwrite(found.tables.path(table, "shop"), at=at)

    mended = performed(tmp_path / "home")

    assert set(mended) <= {table}
    for each in COMPARED_TABLES:
        try:
            rows = found.tables.read(each, "shop")
        except DamagedTable:
            # What no step read is not known to be damaged.
            assert each == table and not mended
        else:
            assert rows == clean.tables.read(each, "shop")
    assert first_difference(published_files(found), published_files(clean)) is None


def test_a_model_is_not_asked_again_for_texts_that_were_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
    with shop(tmp_path, FILES) as found:
        before = found.workspace()
        build(before)
        assert len(found.server.seen) > 12
        found.server.seen.clear()
        texts = before.tables.read("texts_function", "shop", columns=["id", "text"])
        overwrite(before.tables.path("texts_function", "shop"), at=0.3)
        before.tables.path("plan", "shop").unlink()

        mended = performed(tmp_path / "home", llm=model_settings(found.server))

        assert mended == {"texts_function": 0}
        assert found.server.seen == []
        assert before.tables.read("texts_function", "shop", columns=["id", "text"]) == texts
