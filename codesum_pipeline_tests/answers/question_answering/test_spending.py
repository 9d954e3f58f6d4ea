"""What questions cost, as `codesum cost` tells it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from codesum_pipeline.answers.question_answering.past_questions import calls_of_questions
from codesum_pipeline.answers.question_answering.question_store import STORE_FILE
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.ways_in.cli.cli_app import app
from codesum_pipeline_tests.answers.question_answering.conftest import Shop
from codesum_pipeline_tests.support.llm_requests import MODEL
from codesum_pipeline_tests.support.llm_server import Fails
from codesum_pipeline_tests.support.played_turns import SYNTHESIS, in_order, overview_then


def cost(shop: Shop, *arguments: str) -> str:
    done = CliRunner().invoke(app, ["--home", str(shop.home), "cost", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def lines(shop: Shop, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cost(shop, "--json", *arguments).splitlines()]


@pytest.fixture
def questioned_shop(shop: Shop) -> Shop:
    """Two questions: one answered in two calls, one that failed."""
    shop.server.script = overview_then(SYNTHESIS)
    shop.ask()
    shop.server.script = in_order(*[SYNTHESIS] * 2, Fails(500))
    shop.ask("charge_card")
    return shop


def test_questions_have_a_table_of_their_own(questioned_shop: Shop) -> None:
    ((spent,),) = questioned_shop.rows("SELECT sum(cost_usd) FROM llm_attempts")
    head, day, all_of_them = [" ".join(line.split()) for line in cost(questioned_shop).splitlines()]

    assert head.startswith("questions by day calls answers read of that cached written US dollars estimated")
    assert head.endswith("without an answer")
    assert f"{spent:.4f}" in day and day.endswith("1 server")
    assert all_of_them.startswith("all 3 2 ")


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("repo", ["shop"]),
        *(
            pytest.param(by, names, marks=pytest.mark.slow)
            for by, names in (("day", None), ("run", None), ("model", None), ("level", ["ask"]))
        ),
    ],
)
def test_questions_are_told_by_each_key(questioned_shop: Shop, by: str, names: list[str] | None) -> None:
    found = lines(questioned_shop, "--by", by)
    ((spent,),) = questioned_shop.rows("SELECT sum(cost_usd) FROM llm_attempts")
    runs = sorted(turn for (turn,) in questioned_shop.rows("SELECT id FROM turns"))
    days = [questioned_shop.rows("SELECT substr(min(started_at), 1, 10) FROM llm_attempts")[0][0]]
    wanted = {"run": runs, "day": days, "model": [MODEL]}.get(by, names)

    assert [line[by] for line in found] == wanted
    assert {line["what"] for line in found} == {"questions"}
    assert sum(line["cost_usd"] for line in found) == pytest.approx(spent)
    assert sum(line["calls"] for line in found) == 3


def test_only_questions_about_a_named_repository_and_since_a_day_are_told(questioned_shop: Shop) -> None:
    assert len(lines(questioned_shop, "shop")) == 1
    assert lines(questioned_shop, "--since", "2999-01-01") == []


def test_a_question_about_several_repositories_counts_under_all_their_names(questioned_shop: Shop) -> None:
    with closing(sqlite3.connect(questioned_shop.home / STORE_FILE)) as connection:
        connection.execute('UPDATE conversations SET repositories = \'["shop", "zoo"]\' WHERE rowid = 1')
        connection.commit()

    assert [(line["repo"], line["calls"]) for line in lines(questioned_shop, "--by", "repo")] == [
        ("shop", 1),
        ("shop, zoo", 2),
    ]
    assert [line["calls"] for line in lines(questioned_shop, "shop", "--by", "repo")] == [1, 2]


def test_a_call_that_has_no_answer_yet_counts_with_the_most_that_it_can_cost(questioned_shop: Shop) -> None:
    with closing(sqlite3.connect(questioned_shop.home / STORE_FILE)) as connection:
        connection.execute("UPDATE llm_attempts SET outcome = NULL, cost_usd = 0, reserved_usd = 7")
        connection.commit()

    (line,) = lines(questioned_shop)
    assert (line["cost_usd"], line["estimated_usd"], line["failures"]) == (21.0, 21.0, {"no-answer-yet": 3})


def test_a_damaged_store_of_questions_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / STORE_FILE).write_bytes(b"no database" * 100)

    with pytest.raises(BrokenStore, match="ask.sqlite cannot be read .*: move it away to begin a new one"):
        calls_of_questions(tmp_path / STORE_FILE, since="")
