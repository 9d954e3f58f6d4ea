"""The command that makes an index comes from the home's registry, and from nowhere else."""

import json
from pathlib import Path

import pytest

import codesum_pipeline
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.organisations import organisation_of
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

PACKAGE = Path(codesum_pipeline.__file__).parent
WAYS_IN = ("web", "mcp_server", "webhooks", "serving", "tools", "asking", "defs", "hosts", "following", "overlays")
HOSTILE = "repositories:\n  shop: {path: ., scip_command: sh -c id, scip: [/etc/passwd]}\n"
HOSTILE_SETTINGS = '[scip]\nsandbox = "none"\n'


def test_no_file_of_a_repository_sets_it(tmp_path: Path) -> None:
    names = ("repos.yaml", ".codesum/repos.yaml", "home/repos.yaml")
    settings = ("codesum.toml", ".codesum/codesum.toml")
    files = dict.fromkeys(names, HOSTILE) | dict.fromkeys(settings, HOSTILE_SETTINGS)
    repo = GitRepo.create(tmp_path / "shop", {**files, "a.py": "def f():\n    return 1\n"})
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path)))

    build(ws, until="repo_snapshot")

    entry = open_home(tmp_path / "home").registry.get("shop")
    assert (entry.scip, entry.scip_command) == ((), "")
    assert ws.settings.scip.sandbox == "bubblewrap"


def test_a_home_that_came_with_a_checkout_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = GitRepo.create(
        tmp_path / "shop", {".codesum/repos.yaml": HOSTILE, ".codesum/codesum.toml": HOSTILE_SETTINGS}
    )
    monkeypatch.chdir(repo.path)

    with pytest.raises(ConfigurationError, match="settings that come with a repository are not used"):
        load_settings(environ={})


def test_no_organisation_sets_it() -> None:
    with pytest.raises(ConfigurationError, match="scip_command: Extra inputs are not permitted"):
        organisation_of("github:acme", {"scip_command": "sh -c id"})


@pytest.mark.parametrize(
    "run", [{"scip_command": "sh -c id"}, {"scip": {"sandbox": "none"}}], ids=["command", "sandbox"]
)
def test_no_run_sets_it(tmp_path: Path, run: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="unknown setting 'scip_command'|'scip.sandbox' cannot be set"):
        load_settings({"home": tmp_path}, environ={}, run=run)


def test_no_server_and_nothing_of_dagster_writes_an_entry() -> None:
    writers = {
        path.relative_to(PACKAGE).as_posix()
        for room in WAYS_IN
        for path in (PACKAGE / room).rglob("*.py")
        if "scip_command" in (text := path.read_text(encoding="utf-8")) or "registry.add(" in text
    }

    assert writers == set()


def test_it_and_where_files_lie_do_not_shape_what_is_built(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "shop", {})
    plain = workspace_of(open_home(tmp_path / "a"), RepositoryEntry("shop", str(repo.path)))
    entry = RepositoryEntry("shop", str(repo.path), scip=("/x.scip",), scip_command="make it")
    other = workspace_of(open_home(tmp_path / "b", scip={"timeout_s": 5}), entry)

    assert plain.fingerprint("c") == other.fingerprint("c")
    assert json.dumps(other.entry.scip_command) == '"make it"'
