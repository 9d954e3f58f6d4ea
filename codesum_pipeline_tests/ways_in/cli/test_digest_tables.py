"""Digests, what waits for one and what came of each attempt, in SQL beside everything else."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.notifications.digests.digest_by_model import LEDGER_LEVEL
from codesum_pipeline.notifications.digests.digest_rows import TickFailure, TickOutcome, TickRow
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline.notifications.digests.sql_tables import SQL_TABLES
from codesum_pipeline.texts.llm.ledger import AttemptResult, open_ledger
from codesum_pipeline.texts.llm.pins import TokenUsage
from codesum_pipeline_tests.support.digest_making import INTENT, digest, match
from codesum_pipeline_tests.texts.llm.test_ledger import attempt

HELD = TickRow(
    "t1", INTENT, "shop", None, "2026-11-23T12:00:00.000Z", "2026-11-23T12:00:01.000Z", TickOutcome.HELD,
    TickFailure.MODEL, "no answer", matches=2,
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A digest, a change that waits, one that was undone, and a tick that was held."""
    home = tmp_path / "home"
    with open_digests(HomeLayout(home).digests, now=utc_now) as store:
        store.record(HELD, digest("d1"))
        store.add_matches([match("a", "b", score=0.75), match("a", "a", document="undone")])
    return home


def select(codesum: Any, home: Path, query: str) -> list[dict[str, Any]]:
    shown = codesum(home, "sql", query, "--json")
    assert shown.exit_code == 0, shown.stderr
    return [json.loads(line) for line in shown.stdout.splitlines()]


def test_digests_can_be_counted(codesum, home: Path) -> None:
    (found,) = select(
        codesum, home, "SELECT intent_name, count(*) AS n, sum(cost_usd) >= 0 AS ok FROM digests GROUP BY 1"
    )

    assert found == {"intent_name": INTENT, "n": 1, "ok": True}
    assert select(codesum, home, "SELECT repositories, summary FROM digests")[0] == {
        "repositories": [*digest().repositories],
        "summary": digest().result.summary,
    }


def test_what_waits_for_a_digest_can_be_seen_and_what_was_undone_waits_for_none(codesum, home: Path) -> None:
    query = "SELECT repository, document_id, score FROM intent_matches WHERE digest_id IS NULL"

    assert select(codesum, home, query) == [{"repository": "shop", "document_id": "src/auth.py::sign", "score": 0.75}]


def test_why_a_digest_was_not_written_can_be_seen(codesum, home: Path) -> None:
    assert select(codesum, home, "SELECT outcome, failure, reason FROM digest_ticks") == [
        {"outcome": "held", "failure": "model", "reason": "no answer"}
    ]


@pytest.mark.parametrize("table", sorted(SQL_TABLES))
def test_a_home_without_digests_has_the_tables_all_the_same(codesum, tmp_path: Path, table: str) -> None:
    assert select(codesum, tmp_path / "none", f"SELECT count(*) AS n FROM {table}") == [{"n": 0}]


def test_a_file_that_is_no_database_is_named_with_the_way_out(codesum, tmp_path: Path) -> None:
    (tmp_path / "digests.sqlite").write_text("this is no database at all, and long enough to be looked at as one")

    shown = codesum(tmp_path, "sql", "SELECT * FROM digests")

    assert (shown.exit_code, "digests.sqlite cannot be read" in shown.stderr) == (4, True)
    assert select(codesum, tmp_path, "SELECT count(*) AS n FROM documents") == [{"n": 0}], "nobody else needs it"


def test_a_purge_takes_what_waits_of_the_repository(codesum, home: Path, git_repo) -> None:
    repo = git_repo({"a.py": "x = 1\n"}, name="shop")
    assert codesum(home, "add", repo.path).exit_code == 0

    shown = codesum(home, "remove", "shop", "--purge")

    assert shown.exit_code == 0, shown.stderr
    assert select(codesum, home, "SELECT count(*) AS n FROM intent_matches") == [{"n": 0}]
    assert select(codesum, home, "SELECT count(*) AS n FROM digests") == [{"n": 0}]


@pytest.fixture
def paid(home: Path) -> Path:
    """Two calls: one for the digest, and one for another that was not written."""
    for run, cost, outcome in (("d1", 0.25, AttemptOutcome.GOOD), ("d2", 0.5, AttemptOutcome.FAILED)):
        with open_ledger(HomeLayout(home).digests, run_id=run, now=utc_now) as ledger:
            sequence = ledger.reserve(replace(attempt(INTENT), level=LEDGER_LEVEL))
            ledger.settle(sequence, AttemptResult(outcome, cost, 1.0, TokenUsage(100, 20)))
    return home


def test_cost_shows_what_digests_cost_beside_the_rest(codesum, paid: Path) -> None:
    shown = codesum(paid, "cost", "--by", "repo")

    assert [" ".join(line.split()[:3]) for line in shown.stdout.splitlines()] == [
        "digests by repo", f"{' '.join(INTENT.split()[:3])}", "shop 1 1", "all 2 1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "costs"),
    [
        (("--by", "run"), {"d1": 0.25, "d2": 0.5}),
        (("--by", "level"), {"digest": 0.75}),
        (("shop", "--by", "repo"), {"shop": 0.25}),
    ],
)
def test_cost_of_digests_can_be_told_by_each_key(
    codesum, paid: Path, git_repo, arguments: tuple[str, ...], costs: dict[str, float]
) -> None:
    if "shop" in arguments:
        assert codesum(paid, "add", git_repo({"a.py": "x = 1\n"}, name="shop").path).exit_code == 0
    lines = [json.loads(line) for line in codesum(paid, "cost", *arguments, "--json").stdout.splitlines()]

    by = arguments[-1]
    assert {line[by]: line["cost_usd"] for line in lines if line["what"] == "digests"} == costs


def test_doctor_names_what_keeps_digests_from_being_written_and_sent_each_with_its_way_out(codesum, home: Path) -> None:
    with open_digests(HomeLayout(home).digests, now=utc_now) as store:
        store.record(replace(HELD, id="t2", intent_name="auth"))
    intents = {
        "auth": {"text": "How do we sign in?", "channels": ["away"]},
        "broken": {"text": "What?", "threshold": 7},
    }
    (home / "intents.yaml").write_text(json.dumps({"intents": intents}))

    shown = codesum(home, "doctor", "--json")
    problems = [json.loads(line) for line in shown.stdout.splitlines()]

    assert shown.exit_code == 1
    whats = " ".join(problem["what"] for problem in problems)
    assert "intents.yaml:" in whats and "7" in whats
    assert "no channel 'away'" in whats
    assert "intent 'auth': no digest could be written" in whats and "no answer" in whats
    lines = [line.strip() for line in codesum(home, "doctor").stdout.splitlines() if line.strip()]
    assert lines == [
        "Digests", *(line for each in problems for line in (each["what"], f"way out: {each['way_out']}")),
    ]  # fmt: skip


def test_doctor_says_nothing_of_digests_where_all_is_well(codesum, tmp_path: Path) -> None:
    assert codesum(tmp_path / "none", "doctor", "--json").stdout == ""


def test_status_says_what_waits_and_what_is_wrong(codesum, home: Path, git_repo) -> None:
    codesum(home, "add", git_repo({"a.py": "x = 1\n"}, name="shop").path)
    (home / "intents.yaml").write_text("intents: [")

    assert "1 written; changes that wait: 1 for" in " ".join(codesum(home, "status", "shop").stdout.split())
    assert "digests: intents.yaml" in codesum(home, "status").stderr
