"""What a person sees of a file that a build failed on."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.foundation.language_facts.file_languages import TEXT
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.indexes.embedders.static import StaticEmbedder
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors
from codesum_pipeline.source.files import snapshot
from codesum_pipeline.symbols.parsing import batches
from codesum_pipeline_tests.support.shop_home import FILES

ITEM = "shop/orders.py"
REASON = "KeyError: 'injected'"


@pytest.fixture
def parser_with_a_bug(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The parser raises for one file, as it would by a bug."""
    parse = batches.parse_file

    def fails(path: str, language: str, data: bytes, **named: Any) -> Any:
        if path == ITEM and language != TEXT:
            raise KeyError("injected")
        return parse(path, language, data, **named)

    monkeypatch.setattr(batches, "parse_file", fails)
    return monkeypatch


@pytest.mark.slow
def test_a_file_that_the_parser_failed_on_is_named_until_a_build_reads_it(
    codesum, git_repo, tmp_path: Path, parser_with_a_bug: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", git_repo(FILES).path
    expected = [{"step": "symbols", "item": ITEM, "reason": REASON}]

    first = codesum(home, "index", project)
    debugged = codesum(home, "--debug", "index", project)
    as_json = codesum(home, "index", project, "--json")
    status = codesum(home, "status", "project", "--json")

    assert first.exit_code == 0
    line = f"project: 1 file could not be parsed, indexed as plain text where possible: {ITEM} ({REASON})"
    assert line in first.stderr.splitlines()
    assert "Traceback" not in first.stderr
    assert "Traceback" in debugged.stderr and "in fails" in debugged.stderr
    assert json.loads(as_json.stdout)["failures"] == expected
    assert json.loads(as_json.stdout)["steps"]["symbols"]["failed"] == 1
    assert json.loads(status.stdout)["failures"] == expected
    assert f"{ITEM} ({REASON})" in " ".join(codesum(home, "status", "project").stdout.split())

    parser_with_a_bug.undo()
    healed = codesum(home, "index", project, "--json")

    assert json.loads(healed.stdout)["failures"] == []
    assert json.loads(codesum(home, "status", "project", "--json").stdout)["failures"] == []


@pytest.mark.usefixtures("parser_with_a_bug")
def test_dagster_shows_the_traceback_and_the_count(codesum, git_repo, tmp_path: Path) -> None:
    home = tmp_path / "home"
    run_id = json.loads(codesum(home, "index", git_repo(FILES).path, "--json").stdout)["run_id"]

    with open_instance(HomeLayout(home)) as instance:
        logs = instance.all_logs(run_id)

    (message,) = [entry.user_message for entry in logs if ITEM in entry.user_message]
    assert REASON in message
    assert "Traceback" in message
    (made,) = [
        entry.dagster_event.step_materialization_data.materialization
        for entry in logs
        if entry.dagster_event
        and entry.dagster_event.is_step_materialization
        and entry.dagster_event.asset_key.to_user_string() == "symbols"
    ]
    assert made.metadata["failed"].value == 1


@pytest.mark.slow
def test_a_file_that_could_not_be_judged_is_looked_at_again_though_nothing_changed(
    codesum, git_repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", git_repo(FILES).path
    judge = snapshot.judge_content

    def fails(path: str, data: bytes) -> Any:
        if path == ITEM:
            raise KeyError("injected")
        return judge(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(snapshot, "judge_content", fails)
        first = codesum(home, "index", project)
    healed = json.loads(codesum(home, "index", project, "--json").stdout)

    assert first.exit_code == 0
    assert f"project: 1 path could not be used: {ITEM} ({REASON})" in first.stderr.splitlines()
    assert (healed["failures"], healed["steps"]["repo_snapshot"]["files_indexed"]) == ([], len(FILES))


@pytest.mark.slow
def test_an_index_with_a_document_that_could_not_be_embedded_passes_its_checks_and_is_published(
    codesum, git_repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", git_repo(FILES).path
    embed = StaticEmbedder.embed

    def fails(embedder: StaticEmbedder, texts: Sequence[str], **named: Any) -> Vectors:
        if any(text.startswith(f"{ITEM}\n") for text in texts):
            raise KeyError("injected")
        return embed(embedder, texts, **named)

    with monkeypatch.context() as patch:
        patch.setattr(StaticEmbedder, "embed", fails)
        first = codesum(home, "index", project)
    healed = json.loads(codesum(home, "index", project, "--json").stdout)

    assert first.exit_code == 0
    assert f"project: 1 document could not be embedded: {ITEM} ({REASON})" in first.stderr.splitlines()
    assert (healed["failures"], healed["steps"]["dense_index"]["failed"]) == ([], 0)
