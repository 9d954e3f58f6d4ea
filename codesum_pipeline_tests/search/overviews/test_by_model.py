"""The page where a model wrote texts: better by them, at no call of its own, and without names that nothing has."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import REPO_OVERVIEW
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.llm_server import Answers, Behaviour, ModelRequest, always_well
from codesum_pipeline_tests.support.llm_server.answers import answer_of
from codesum_pipeline_tests.support.model_builds import KEY_ENV, Shop, shop

FILES = {
    "README.md": "# Desk\n\nDesk is a help desk for parcel shops.\n",
    "desk/book.py": "import flask\n\n\ndef open_ticket(text):\n    return flask.jsonify(text.strip())\n",
    "store/rows.py": "def save_row(row):\n    with open('rows', 'a') as file:\n        file.write(row)\n",
}


def row(ws: Workspace) -> dict[str, Any]:
    (found,) = ws.tables.read("overviews", ws.key).to_pylist()
    return found


def of_root(ws: Workspace) -> dict[str, Any]:
    rows = ws.tables.read("documents", ws.key, columns=["id", "summary", "responsibilities", "written_by"]).to_pylist()
    return next(each for each in rows if each["id"] == ".")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Shop]:
    with shop(tmp_path, FILES) as found:
        yield found


def test_a_page_has_the_authors_words_and_the_models_and_costs_no_call_of_its_own(desk: Shop) -> None:
    ws = desk.workspace()
    report = build(ws)["repo_overview"]
    calls = len(desk.server.seen)
    again = desk.workspace()
    kept = build(again)["repo_overview"]

    root = of_root(ws)
    page = row(ws)["page"]
    ledger = ws.tables.read("ledger", ws.key, columns=["id"]).column("id").to_pylist()
    assert root["written_by"] == "llm"
    assert page.index("Desk is a help desk for parcel shops.") < page.index(root["summary"])
    assert all(f"- {sentence}" in page for sentence in root["responsibilities"])
    assert "(By a model, from the texts of its parts.)" in page
    assert (report.by_model, report.unknown_names) == (True, 0)
    assert len(ledger) == calls == len(desk.server.seen)
    assert {*ledger} <= {*ws.tables.read("documents", ws.key, columns=["id"]).column("id").to_pylist()}
    assert (kept.written, row(again)) == (False, row(ws))


@pytest.mark.slow
def test_without_a_model_nothing_is_said_by_one(desk: Shop) -> None:
    ws = desk.workspace(llm={"enabled": False})

    report = build(ws)["repo_overview"]

    assert "By a model" not in row(ws)["page"]
    assert json.loads(row(ws)["facts"])["by_model"]["is_by_model"] is False
    assert not report.by_model
    assert desk.server.seen == []


def root_saying(**parts: Any) -> Any:
    """The root folder is described so; everything else well."""

    def script(request: ModelRequest) -> Behaviour:
        is_root = "- desk (module)" in request.prompt
        return Answers({**answer_of(request), **parts}) if is_root else always_well(request)

    return script


def test_sentences_with_names_that_the_repository_does_not_have_are_left_out_and_counted(tmp_path: Path) -> None:
    script = root_saying(
        summary="Opens tickets for parcel shops with TicketOracle and keeps them as rows on disk.",
        responsibilities=[
            {"text": "Opens tickets through flask and open_ticket.", "children": ["desk"]},
            {"text": "Sends them to send_fax_later.", "children": ["store"]},
        ],
    )
    with shop(tmp_path, FILES, script) as found:
        ws = found.workspace()
        report = build(ws)["repo_overview"]

    page = row(ws)["page"]
    assert of_root(ws)["summary"].startswith("Opens tickets for parcel shops with TicketOracle")
    assert "TicketOracle" not in page and "send_fax_later" not in page
    assert "- desk: Opens tickets through flask and open" in page
    assert (report.by_model, report.unknown_names) == (True, 2)
    assert json.loads(row(ws)["facts"])["by_model"]["unknown_names"] == ["TicketOracle", "send_fax_later"]


@pytest.mark.slow
def test_of_a_repository_without_a_readme_the_models_words_are_the_opening(tmp_path: Path) -> None:
    files = {path: text for path, text in FILES.items() if path != "README.md"}
    with shop(tmp_path, files) as found:
        ws = found.workspace()
        build(ws)

    root = of_root(ws)
    page = row(ws)["page"]
    assert page.startswith(f"# shop\n\n{root['summary']}\n\n- ")
    assert page.count(root["summary"]) == 1
    assert carry_out(REPO_OVERVIEW, found.workspace()).is_reused
