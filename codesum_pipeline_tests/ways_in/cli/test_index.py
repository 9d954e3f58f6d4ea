"""`codesum index`, through the real Dagster job."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline_tests.support.commands import fork_codesum, run_codesum
from codesum_pipeline_tests.support.homes import build, open_home
from codesum_pipeline_tests.support.scip_indexes import HandMadeIndex, python_symbol
from codesum_pipeline_tests.support.shop_home import FILES


def test_a_newcomer_indexes_a_folder_and_finds_something(git_repo, codesum):
    repository = git_repo(FILES)
    project = repository.path

    first = run_codesum("index", ".", cwd=project)
    found = fork_codesum("search", "total_price", "--top", "1", cwd=project)
    again = codesum(project / ".codesum", "index", "--force", "--json")

    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines()[0].split() == [
        "project",
        "documents",
        "written",
        "kept",
        "removed",
        "placeholders",
    ]
    assert first.stdout.splitlines()[5].split() == ["all", "11", "11", "0", "0", "0"]
    assert "4 files indexed, 0 skipped" in first.stdout
    assert "project: registered" in first.stderr
    assert found.stdout.startswith("1. shop/orders.py::total_price")
    outcome = json.loads(again.stdout)
    assert (outcome["repo"], outcome["succeeded"], outcome["steps"]["function_summaries"]["written"]) == (
        "project",
        True,
        4,
    )
    assert repository.git("status", "--porcelain") == ""


def test_one_broken_repository_does_not_stop_the_others(codesum, own_shop, git_repo):
    broken = git_repo({"a.py": "x = 1\n"}).path
    Registry(own_shop / "repos.yaml").add(RepositoryEntry("broken", str(broken)))
    shutil.rmtree(broken)

    result = codesum(own_shop, "index")

    assert result.exit_code == 1
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:]] == [["broken", "failed"], ["shop", "built"]]
    assert f"broken failed: repos.yaml: 'broken': path {broken} does not exist" in result.stderr


@pytest.mark.slow
def test_a_rebuild_is_the_way_out_of_tables_of_another_version(codesum, own_shop):
    table = own_shop / "warehouse/documents/repo=shop/part-0.parquet"
    pq.write_table(pq.read_table(table).replace_schema_metadata({"codesum.schema_version": "0"}), table)

    refused = codesum(own_shop, "index", "shop")
    rebuilt = codesum(own_shop, "index", "shop", "--rebuild")

    assert refused.exit_code == 4
    assert "codesum index shop --rebuild" in refused.stderr
    assert rebuilt.exit_code == 0
    assert codesum(own_shop, "doctor").exit_code == 0


@pytest.mark.slow
def test_damage_that_doctor_finds_is_repaired_by_what_it_names(codesum, own_shop):
    published = HomeLayout(own_shop).published("shop").resolve()
    (published / "summary.jsonl").write_bytes(os.urandom((published / "summary.jsonl").stat().st_size))

    assert codesum(own_shop, "doctor").exit_code == 1
    assert codesum(own_shop, "index", "shop", "--force").exit_code == 0
    assert codesum(own_shop, "doctor").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "no repository is registered", id="nothing to index"),
        pytest.param(["--ref", "main"], "need a LOCATION", id="options of no repository"),
        pytest.param(["a/", "b/", "--key", "one"], "--key one is of one repository", id="one key for two"),
        pytest.param(["./missing"], "there is no folder", id="a path that is not there"),
        pytest.param(["ftp://example.org/x"], "only https, ssh and file", id="a transport that is not read"),
        pytest.param(["-c"], "No such option", id="an option that is none"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_done(codesum, tmp_path, arguments, message):
    result = codesum(tmp_path / "home", "index", *arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "home" / "repos.yaml").exists()


def test_a_removed_repository_is_not_indexed_behind_ones_back(codesum, own_shop):
    codesum(own_shop, "remove", "shop")

    result = codesum(own_shop, "index", "shop")

    assert result.exit_code == 2
    assert "codesum add shop" in result.stderr


@pytest.fixture(scope="session")
def recorded_template(shop_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The indexed home after the job has run in it: Dagster knows of every asset."""
    home = tmp_path_factory.mktemp("recorded") / "home"
    shutil.copytree(shop_template / "home", home, symlinks=True)
    (outcome,) = index_repositories(open_home(home), ["shop"])
    assert outcome.succeeded, outcome.message
    return home


@pytest.fixture
def recorded_shop(recorded_template: Path, tmp_path: Path) -> Path:
    """A copy of it, for a test that changes it."""
    home = Path(shutil.copytree(recorded_template, tmp_path / "recorded", symlinks=True))
    # A copied file is another file: the steps that wrote files look once, and note the new ones.
    build(open_home(home).workspace("shop", run_id="copied"))
    return home


def up_to_date(result: Any) -> bool:
    assert result.exit_code == 0, result.stderr
    return bool(json.loads(result.stdout)["up_to_date"])


def test_an_unchanged_repository_is_not_run_again(codesum, recorded_shop):
    runs = sorted(path.name for path in (recorded_shop / "dagster").rglob("*.db"))

    done = codesum(recorded_shop, "index", "shop")
    outcome = json.loads(codesum(recorded_shop, "index", "shop", "--json").stdout)

    commit = outcome["commit"]
    assert (done.exit_code, done.stdout) == (0, f"shop: up to date at {commit[:10]}, nothing to do\n")
    assert outcome == {
        "repo": "shop",
        "run_id": None,
        "succeeded": True,
        "up_to_date": True,
        "held": False,
        "seconds": 0.0,
        "commit": commit,
        "message": None,
        "steps": {},
        "llm": None,
        "failures": [],
        "left_out": [],
        "unread": [],
        "uncommitted_files": 0,
    }
    assert sorted(path.name for path in (recorded_shop / "dagster").rglob("*.db")) == runs
    forced = json.loads(codesum(recorded_shop, "index", "shop", "--force", "--json").stdout)
    assert list(forced) == list(outcome)
    assert (forced["up_to_date"], forced["commit"]) == (False, commit)


def test_what_dagster_has_recorded_is_asked_of_dagster_where_nobody_noted_it(codesum, recorded_shop):
    HomeLayout(recorded_shop).recorded("shop").unlink()

    assert up_to_date(codesum(recorded_shop, "index", "shop", "--json"))
    assert HomeLayout(recorded_shop).recorded("shop").exists()


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param("dagster", id="Dagster's records"),
        pytest.param("warehouse/documents", id="a table"),
        pytest.param("index_root/graph_index/shop/stats.json", id="a file", marks=pytest.mark.slow),
        pytest.param("index_root/summary_index_function_level/shop", id="the published name", marks=pytest.mark.slow),
        pytest.param("codesum.duckdb", id="the file for other clients"),
    ],
)
def test_what_was_lost_is_built_again(codesum, recorded_shop, lost):
    path = recorded_shop / lost
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()

    assert not up_to_date(codesum(recorded_shop, "index", "shop", "--json"))
    assert path.exists()


def test_a_changed_setting_is_something_to_do(codesum, recorded_shop):
    (recorded_shop / "codesum.toml").write_text("top_k_callers = 1\n")

    assert not up_to_date(codesum(recorded_shop, "index", "shop", "--json"))


@pytest.mark.slow
def test_a_work_tree_is_judged_by_its_content_and_not_by_its_dates(codesum, tmp_path, git_repo):
    home, folder = tmp_path / "home", git_repo(FILES).path
    codesum(home, "index", folder, "--worktree", "--key", "tree")
    file = folder / "shop" / "orders.py"
    found = file.stat()

    os.utime(file)
    assert up_to_date(codesum(home, "index", "tree", "--json"))
    file.write_bytes(file.read_bytes().replace(b"0.19", b"0.07"))
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))

    assert not up_to_date(codesum(home, "index", "tree", "--json"))


@pytest.mark.slow
def test_files_that_do_not_parse_are_told_with_the_lines_that_could_not_be_read(git_repo, codesum):
    project = git_repo({"a.py": "def a():\n    return 1\n", "b.py": "def b(x:\n    return (\n\n\nclass C D:\n"}).path

    built = fork_codesum("index", ".", cwd=project)
    status = codesum(project / ".codesum", "status", "project")
    again = json.loads(codesum(project / ".codesum", "index", "--force", "--json").stdout)

    assert "1 file with syntax errors, about 1 definition not read" in built.stdout
    assert "definitions could not be read: b.py:1" in " ".join(built.stderr.split())
    assert "1 file with syntax errors, about 1 definition not read: b.py:1" in status.stdout
    assert again["unread"] == [{"path": "b.py", "lines": [1]}]
    steps = again["steps"]["symbols"]
    assert (steps["files_with_syntax_errors"], steps["lost_definitions"]) == (1, 1)


@pytest.mark.slow
def test_an_index_of_another_repository_is_told(git_repo, codesum):
    repository = git_repo(FILES)
    other = HandMadeIndex({"lib/other.py": ""}).module("lib/other.py", python_symbol("lib.other"))
    (repository.path / "index.scip").write_bytes(other.content())

    result = codesum(repository.path / ".codesum", "index", repository.path)

    assert "index folder index.scip: none of its 1 documents is about a file that is indexed here" in " ".join(
        result.stderr.split()
    )


@pytest.mark.slow
def test_a_compilers_index_that_comes_changes_or_goes_is_built_although_the_commit_is_the_same(git_repo, codesum):
    repository = git_repo(FILES)
    (repository.path / ".git" / "info" / "exclude").write_text("index.scip\n.codesum\n")
    index, home = repository.path / "index.scip", repository.path / ".codesum"

    def built(*options: str) -> list[int]:
        """The number of indexes that each of two calls took in, where it ran a build."""
        results = [codesum(home, "index", repository.path, "--json", *options) for _ in range(2)]
        remarks.append(results[0].stderr)
        reports = [json.loads(result.stdout) for result in results]
        return [each["steps"]["repo_snapshot"]["scip_indexes"] for each in reports if each.get("run_id")]

    remarks: list[str] = []
    found = [built()]
    index.write_bytes(HandMadeIndex(FILES).module("shop/orders.py", python_symbol("shop.orders")).content())
    found.append(built())
    index.write_bytes(b"")
    found.append(built())
    index.unlink()
    found.append(built())

    assert found == [[0], [1], [0], [0]]
    assert ["project: index folder index.scip: it is empty" in each for each in remarks] == [False, False, True, False]
