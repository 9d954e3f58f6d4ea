"""Digests, what waits for one and what came of each attempt, in SQL beside everything else."""

import json
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.digests.rows import TickFailure, TickOutcome, TickRow
from codesum_pipeline.digests.sql_tables import SQL_TABLES
from codesum_pipeline.digests.store import open_digests
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.wiring import utc_now
from codesum_pipeline_tests.digests.making import INTENT, digest, match

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
