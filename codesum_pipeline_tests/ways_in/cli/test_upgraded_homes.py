"""A home that an earlier version filled with a model's texts: nothing of it is paid again."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.ways_in.cli.cli_app import app
from codesum_pipeline_tests.support.frozen_homes import HOMES, KEY_ENV, settings_text, thaw_home
from codesum_pipeline_tests.support.llm_server import ScriptedServer
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.till import BY_MODEL, TAX


def index(home: Path) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["--home", str(home), "index", "till", "--json"])
    assert done.exit_code == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def writers(home: Path) -> list[str]:
    lines = (HomeLayout(home).published("till") / "summary.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["written_by"] for line in lines]


@pytest.mark.parametrize("name", HOMES)
def test_an_upgrade_and_another_form_of_answers_make_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(KEY_ENV, "sk-frozen1234567890")
    with ScriptedServer() as server:
        home = thaw_home(name, tmp_path, server)
        index(home)
        index(home)
        for form in ("required", "json_schema", "json_text", "tool"):
            lines = settings_text(name, server).splitlines()
            kept = [line for line in lines if not line.startswith("form")]
            (home / "codesum.toml").write_text("\n".join([*kept, f'form = "{form}"', "give_up_after = 3"]))
            index(home)
        assert server.seen == []
        assert writers(home).count("llm") == BY_MODEL

        repo = GitRepo(tmp_path / "till")
        repo.commit({"till/tax.py": TAX.replace("amount += 1", "amount += 2")})
        index(home)

    prompts = [request.prompt for request in server.seen]
    assert "round_up" in prompts[0]
    # The function, and what holds it: its file, its folder and the repository.
    assert len(prompts) <= 4
    assert writers(home).count("llm") == BY_MODEL


@pytest.mark.parametrize("name", HOMES)
def test_texts_of_the_cache_are_found_where_an_index_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(KEY_ENV, "sk-frozen1234567890")
    with ScriptedServer() as server:
        home = thaw_home(name, tmp_path, server)
        runner = CliRunner()
        removed = runner.invoke(app, ["--home", str(home), "remove", "till", "--purge"])
        assert removed.exit_code == 0, removed.output
        added = runner.invoke(app, ["--home", str(home), "index", str(tmp_path / "till")])
        assert added.exit_code == 0, added.stderr

    assert server.seen == []
    assert writers(home).count("llm") == BY_MODEL
