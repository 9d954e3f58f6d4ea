"""What is said of a digest's price before it is asked for is the most that all its calls cost."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import SummaryError
from codesum_pipeline.notifications.digests.digest_by_model import request_about
from codesum_pipeline_tests.notifications.digests.asking_model import KEY_VARIABLE, settings_for
from codesum_pipeline_tests.notifications.digests.test_by_model import ITEMS, KEY, Reporter
from codesum_pipeline_tests.support.digest_items import INTENT
from codesum_pipeline_tests.support.llm_server import Answers, Fails, Resets, Says, ScriptedServer
from codesum_pipeline_tests.support.llm_server.behaviours import Behaviour


@pytest.fixture
def reporter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reporter]:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with ScriptedServer() as server:
        yield Reporter(tmp_path, server, settings_for(server, tmp_path))


def said_and_booked(reporter: Reporter) -> tuple[float, float, float]:
    """What was said before, and what was set aside and paid for a digest that no answer gives."""
    said = request_about(ITEMS, INTENT, reporter.settings).worst_usd(reporter.settings)
    with pytest.raises(SummaryError):
        reporter.write()
    with closing(sqlite3.connect(reporter.books)) as connection:
        query = "SELECT sum(reserved_usd), sum(cost_usd) FROM llm_attempts"
        return said, *connection.execute(query).fetchone()


@pytest.mark.parametrize(
    "script",
    [
        pytest.param((Says("no JSON"),), id="unusable"),
        pytest.param((Answers('{"claims": "' + "🙂" * 4_000 + '"}'),), id="long and unusable"),
        pytest.param((Says("no JSON"), Resets(), Says("no JSON"), Fails(429)), id="broken"),
    ],
)
def test_no_digest_costs_more_than_was_said(reporter: Reporter, script: tuple[Behaviour, ...]) -> None:
    reporter.set(max_retries=1)
    reporter.cap(max_cost_usd_per_digest=50.0, max_cost_usd_per_day=50.0)
    reporter.script(*script)

    said, reserved, paid = said_and_booked(reporter)

    assert 0 < paid <= reserved <= said < 50
    assert len(reporter.outcomes()) >= 3


@pytest.mark.parametrize("name", ["max_cost_usd_per_digest", "max_cost_usd_per_day"])
def test_a_cap_that_is_lower_is_what_a_digest_costs_at_most(reporter: Reporter, name: str) -> None:
    reporter.cap(**{"max_cost_usd_per_digest": 1.0, "max_cost_usd_per_day": 1.0, name: 0.05})
    reporter.script(Says("no JSON"))

    said, _, paid = said_and_booked(reporter)

    assert said == 0.05
    assert 0 < paid <= said


def test_a_free_model_costs_nothing(reporter: Reporter) -> None:
    reporter.set(backend="replay", recording=reporter.folder / "answers")

    assert request_about(ITEMS, INTENT, reporter.settings).worst_usd(reporter.settings) == 0.0
