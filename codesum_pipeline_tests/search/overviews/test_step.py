"""The page of a repository as a build writes it: of the published version, and written anew only for another one."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.steps.freshness import is_complete
from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import REPO_OVERVIEW, STEPS
from codesum_pipeline.foundation.data_model.errors import BrokenStore, HeldBack
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.overviews.page import OverviewReport
from codesum_pipeline_tests.support.homes import build, empty_serving_file, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.shop_questions import write_shop_questions
from codesum_pipeline_tests.support.spoiling import shuffle_lanes

FILES = {
    "README.md": "# Desk\n\nDesk is a [help desk](https://example.org) for parcel shops.\n",
    "pyproject.toml": (
        '[project]\nname = "desk"\ndependencies = [\n  "flask>=3",\n]\n\n[project.scripts]\ndesk = "desk.cli:main"\n'
    ),
    "Dockerfile": "FROM python:3.13\n",
    "desk/__init__.py": '"""The desk."""\n',
    "desk/cli.py": '"""Commands."""\n\nfrom desk.tickets.book import Book\n\n\ndef main():\n    """Open the book."""\n'
    '    return Book().open("x")\n\n\n# the end\nif __name__ == "__main__":\n    main()\n',
    "desk/tickets/__init__.py": "",
    "desk/tickets/book.py": '"""Tickets by number."""\n\nimport flask\n\nfrom desk.store.rows import Row, save\n\n\n'
    'class Book:\n    """Keeps tickets."""\n\n    def open(self, text):\n        """Open a ticket."""\n'
    "        save(Row(text))\n        return flask.jsonify(text)\n",
    "desk/store/__init__.py": "",
    "desk/store/rows.py": '"""Rows on disk."""\n\n\nclass Row:\n    """One row."""\n\n    def __init__(self, text):\n'
    '        self.text = text\n\n\ndef save(row):\n    """Write a row."""\n    open("rows", "a").write(row.text)\n',
    "tests/test_book.py": "from desk.tickets.book import Book\n\n\ndef test_open():\n    Book().open('x')\n",
    "vendor/left.py": "import django\n\n\ndef left():\n    return 1\n",
}


def workspace_at(home: Path, repo: GitRepo, *, key: str = "desk", **chosen: Any) -> Workspace:
    return workspace_of(open_home(home, **chosen), RepositoryEntry(key, str(repo.path)))


def row(ws: Workspace) -> dict[str, Any]:
    (found,) = ws.tables.read("overviews", ws.key).to_pylist()
    return found


def facts(ws: Workspace) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row(ws)["facts"])
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("built")
    repo = GitRepo.create(folder / "desk", FILES)
    repo.commit({"desk/store/rows.py": FILES["desk/store/rows.py"] + "\n\nLIMIT = 3\n"}, "Rows have a limit")
    ws = workspace_at(folder / "home", repo)
    build(ws, serving_file=True)
    return ws


def test_a_page_says_what_the_repository_is_its_parts_entries_frameworks_and_changes(built: Workspace) -> None:
    page = row(built)["page"]

    assert "Desk is a help desk for parcel shops. (`README.md:3`)" in page
    assert "In `desk/`:" in page and "```mermaid\ngraph LR\n" in page
    assert "- `tickets/`, 2 files: `Book`: Keeps tickets; `Book.open`: Open a ticket. Uses `store/rows.py`." in page
    assert "- `desk`, command → `desk.cli:main` (`pyproject.toml:8`)" in page
    assert "- `cli.py`, script (`desk/cli.py:12`)" in page, "the line in the file, not that of the canonical source"
    assert "- Web framework: **Flask** `>=3` (`pyproject.toml:4`, imported by 1 file)" in page
    assert "- Deployment: **Docker** (`Dockerfile:1`)" in page
    assert "`desk/tickets/book.py:8` `Book`: Tickets by number" in page
    assert "Rows have a limit (1 file)" in page
    assert "Django" not in page and "test_open" not in page, "neither copies of others' code nor tests"


def test_a_page_stands_for_the_published_version(built: Workspace) -> None:
    published = built.layout.published("desk").resolve()
    manifest = json.loads((published / "manifest.json").read_text())

    assert (row(built)["commit"], row(built)["content_digest"]) == (manifest["commit"], manifest["content_digest"])
    assert f"Commit `{manifest['commit'][:10]}`" in row(built)["page"]


def test_every_place_of_the_facts_is_a_line_that_says_so(built: Workspace) -> None:
    found = facts(built)
    texts = {path: text.split("\n") for path, text in FILES.items()}
    places_and_words = [(one["place"], one["said"]) for each in found["frameworks"] for one in each["evidence"]]
    places_and_words += [(each["place"], each["name"]) for each in found["entry_points"] if each["kind"] == "command"]
    places_and_words += [
        (one["place"], one["id"].rpartition("::")[2]) for each in found["where_to_start"] for one in each["definitions"]
    ]

    for place, word in places_and_words:
        path, _, line = place.rpartition(":")
        assert word in (path, texts[path][int(line) - 1]) or word in texts[path][int(line) - 1] or word == path, place


def test_an_unchanged_repository_has_its_page_kept_and_not_made_again(built: Workspace) -> None:
    path = built.tables.path("overviews", "desk")
    before = path.stat().st_mtime_ns, path.stat().st_ino
    done = carry_out(REPO_OVERVIEW, built)

    assert (done.is_reused, done.report.written) == (True, False)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    assert is_complete(built)


def test_the_same_version_gives_the_same_page_and_no_clock_is_in_it(built: Workspace) -> None:
    before = row(built)
    report = REPO_OVERVIEW.run(built, progress=lambda *_: None)

    assert (row(built), report.written) == (before, False)


def test_a_new_commit_is_a_new_page_and_equal_to_that_of_a_clean_build(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "desk", FILES)
    ws = workspace_at(tmp_path / "home", repo)
    build(ws)
    first = row(ws)
    repo.commit_exactly({**FILES, "requirements.txt": "celery\n", "Dockerfile": "FROM redis:7\n"}, "Jobs")
    repo.commit({"desk/jobs.py": "import celery\n\n\ndef nightly():\n    return celery\n"}, "Nightly")

    report: OverviewReport = build(ws)["repo_overview"]

    clean = workspace_at(tmp_path / "clean", repo)
    build(clean)
    assert report.written and row(ws)["page"] != first["page"]
    assert "Celery" in row(ws)["page"]
    for field in ("commit", "page", "facts"):
        assert row(ws)[field] == row(clean)[field]


def test_a_new_version_of_the_page_s_rules_writes_it_anew(tmp_path: Path) -> None:
    ws = workspace_at(tmp_path / "home", GitRepo.create(tmp_path / "desk", FILES))
    build(ws)
    assert not carry_out(replace(REPO_OVERVIEW, version="overview/of another kind"), ws).is_reused


@pytest.fixture
def held(tmp_path: Path) -> tuple[Callable[..., Workspace], GitRepo]:
    """A shop behind a gate that keeps the second build back."""
    repo = GitRepo.create(tmp_path / "shop", SHOP)
    questions = write_shop_questions(tmp_path / "questions.jsonl")

    def at(**chosen: Any) -> Workspace:
        evaluation = {"enabled": True, "gate": True, "questions": questions} | chosen
        return workspace_at(tmp_path / "home", repo, key="shop", evaluation=evaluation)

    build(at())
    repo.commit({"docs/more.md": "More."}, "More")
    return at, repo


@pytest.mark.slow
def test_a_build_that_was_held_back_leaves_the_page_of_the_published_version(held: Any) -> None:
    at, repo = held
    before = row(at())

    with empty_serving_file(), pytest.raises(HeldBack):
        for step in STEPS:
            if step.name == "index_candidate":
                shuffle_lanes(at())
            carry_out(step, at())

    assert row(at()) == before
    with pytest.raises(BrokenStore, match="what was built is not published"):
        carry_out(REPO_OVERVIEW, at())

    released = {step.name: carry_out(step, at(gate=False)).report for step in STEPS}

    assert released["published_index"].published and released["repo_overview"].written
    assert row(at())["commit"] == repo.git("rev-parse", "HEAD").strip()


def test_a_plain_folder_has_a_page_without_a_history(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("desk", str(folder)))

    build(ws)

    assert facts(ws)["commits"] == []
    assert "What changed lately" not in row(ws)["page"]


def test_of_a_folder_of_a_repository_only_what_is_in_it_is_told(tmp_path: Path) -> None:
    inside = {f"services/desk/{path}": text for path, text in FILES.items()}
    repo = GitRepo.create(tmp_path / "all", {**inside, "package.json": '{"dependencies": {"express": "5"}}'})
    repo.commit({"package.json": "{}"}, "Elsewhere")
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("desk", str(repo.path), subdir="services/desk"))

    build(ws)

    page = row(ws)["page"]
    assert "(`services/desk/README.md:3`)" in page and "**Flask**" in page
    assert "Express" not in page
    assert "Elsewhere\n" in page and "package.json" not in page


def test_a_repository_of_texts_alone_has_a_page_too(tmp_path: Path) -> None:
    repo = GitRepo.create(
        tmp_path / "notes", {"README.md": "# Notes\n\nWhat we know of tides.\n", "a.md": "# A\n\nText.\n"}
    )
    ws = workspace_at(tmp_path / "home", repo)

    build(ws)

    assert row(ws)["page"].startswith("# desk\n\nWhat we know of tides. (`README.md:3`)")
    assert "No programs." in row(ws)["page"]


def test_a_manifest_that_cannot_be_read_is_named_and_the_rest_is_told(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "desk", {**FILES, "package.json": "{"})
    ws = workspace_at(tmp_path / "home", repo)

    build(ws)

    assert list(facts(ws)["unread_manifests"]) == ["package.json"]
    assert "## Not read\n\n- `package.json`: not valid JSON" in row(ws)["page"]
    assert "**Flask**" in row(ws)["page"]


def test_a_page_is_queried_as_a_table_as_soon_as_it_is_written(built: Workspace) -> None:
    with duckdb.connect(str(built.layout.duckdb_file), read_only=True) as connection:
        assert connection.execute("SELECT repo, commit FROM overviews").fetchall() == [("desk", row(built)["commit"])]


def test_a_home_that_was_copied_keeps_its_pages(built: Workspace, tmp_path: Path) -> None:
    shutil.copytree(built.layout.home, tmp_path / "home", symlinks=True)
    copied = open_home(tmp_path / "home").workspace("desk", run_id="run")

    build(copied)

    assert row(copied) == row(built)
