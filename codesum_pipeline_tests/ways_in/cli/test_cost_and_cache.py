"""What models' texts cost and what is kept of them, for people and for programs."""

import json
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.texts.llm.ledger import AttemptResult, open_ledger
from codesum_pipeline.texts.llm.pins import TokenUsage
from codesum_pipeline.texts.llm.text_cache import AnswerCache
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.texts.llm.test_ledger import KEPT, attempt, row

TIMED_OUT = row(
    2, run_id="run 2", started_at="2026-03-02T08:00:00.000Z", outcome=AttemptOutcome.FAILED, failure="timeout",
    cost_usd=0.5, is_estimated=True, prompt_tokens=0, completion_tokens=0, cached_tokens=0,
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two repositories that had calls on two days."""
    folder = tmp_path / "home"
    tables = TableStore(HomeLayout(folder).warehouse)
    tables.write_rows("ledger", "shop", [row(1), TIMED_OUT], LedgerRow)
    tables.write_rows("ledger", "tools", [row(1, model="n", cost_usd=0.25)], LedgerRow)
    return folder


def test_cost_shows_a_line_a_day_and_the_sum(home: Path, codesum) -> None:
    shown = codesum(home, "cost")

    assert [" ".join(line.split()) for line in shown.stdout.splitlines()] == [
        "day calls texts read of that cached written US dollars estimated p50 s p95 s without a text",
        "2026-03-01 2 2 200 80% 40 0.2600 0.0000 1.5 1.5",
        "2026-03-02 1 0 0 0% 0 0.5000 0.5000 0.0 0.0 1 timeout",
        "all 3 2 200 80% 40 0.7600 0.5000 1.5 1.5 1 timeout",
    ]


@pytest.mark.parametrize(
    ("by", "costs"),
    [
        ("day", {"2026-03-01": 0.26, "2026-03-02": 0.5}),
        ("run", {"run 1": 0.26, "run 2": 0.5}),
        ("model", {"m": 0.51, "n": 0.25}),
        ("level", {"function": 0.76}),
        ("repo", {"shop": 0.51, "tools": 0.25}),
    ],
)
def test_cost_can_be_told_by_each_of_its_keys(home: Path, codesum, by: str, costs: dict[str, float]) -> None:
    lines = [json.loads(line) for line in codesum(home, "cost", "--by", by, "--json").stdout.splitlines()]

    assert {line[by]: line["cost_usd"] for line in lines} == costs


def test_cost_gives_programs_all_that_is_known(home: Path, codesum) -> None:
    (line,) = codesum(home, "cost", "shop", "--since", "2026-03-02", "--json").stdout.splitlines()

    assert json.loads(line) == {
        "what": "texts",
        "day": "2026-03-02", "calls": 1, "texts": 0, "prompt_tokens": 0, "completion_tokens": 0, "cached_tokens": 0,
        "cost_usd": 0.5, "estimated_usd": 0.5, "latency_p50_s": 0.0, "latency_p95_s": 0.0, "failures": {"timeout": 1},
        "cached_share": 0.0,
    }  # fmt: skip


def test_cost_draws_a_picture(home: Path, codesum, tmp_path: Path) -> None:
    picture = tmp_path / "cost.svg"

    codesum(home, "cost", "--plot", picture)

    drawn = ElementTree.parse(picture).getroot()
    bars = {each.text for each in drawn.iterfind(".//{*}rect/{*}title")}
    assert bars == {"2026-03-01: 0.2600", "2026-03-02: 0.5000"}
    (line,) = drawn.iterfind("{*}polyline")
    assert line.get("points") == "225.0,194.7 575.0,50.0"
    assert {"0.5", "0.76", "2026-03-01", "2026-03-02"} <= {each.text for each in drawn.iterfind("{*}text")}


def test_a_picture_of_no_cost_is_empty_and_only_svg_is_drawn(home: Path, codesum, tmp_path: Path) -> None:
    picture = tmp_path / "cost.svg"

    assert codesum(home, "cost", "--since", "2030-01-01", "--plot", picture).exit_code == 0
    assert not [*ElementTree.parse(picture).getroot().iterfind(".//{*}rect/{*}title")]
    refused = codesum(home, "cost", "--plot", tmp_path / "cost.png")
    assert (refused.exit_code, "name a file that ends in .svg, not 'cost.png'" in refused.stderr) == (2, True)


def test_cost_of_nothing_says_how_there_could_be_some(tmp_path: Path, codesum) -> None:
    shown = codesum(tmp_path / "empty", "cost")

    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "llm.enabled" in shown.stderr


def test_calls_of_a_first_build_that_did_not_end_are_counted(tmp_path: Path, codesum) -> None:
    home = tmp_path / "home"
    codesum(home, "add", GitRepo.create(tmp_path / "shop", {"a.py": "x = 1\n"}).path)
    state = HomeLayout(home).state("shop")
    with open_ledger(state, run_id="run 1", now=utc_now) as ledger:
        answered, _cut_off = (ledger.reserve(attempt(id_)) for id_ in ("a.py::f", "a.py::g"))
        ledger.settle(answered, AttemptResult(AttemptOutcome.GOOD, 0.125, 1.0, TokenUsage(100, 20)))

    for arguments in ((), ("shop",)):
        (line,) = codesum(home, "cost", *arguments, "--by", "repo", "--json").stdout.splitlines()
        found = json.loads(line)
        assert (found["repo"], found["calls"], found["texts"]) == ("shop", 2, 1)
        assert (found["cost_usd"], found["estimated_usd"]) == (0.625, 0.5)
        assert found["failures"] == {"no-answer-yet": 1}


def test_calls_that_are_in_the_table_too_are_counted_once(tmp_path: Path, codesum) -> None:
    home = tmp_path / "home"
    codesum(home, "add", GitRepo.create(tmp_path / "shop", {"a.py": "x = 1\n"}).path)
    layout = HomeLayout(home)
    with open_ledger(layout.state("shop"), run_id="run 1", now=utc_now) as ledger:
        for number in range(3):
            sequence = ledger.reserve(attempt(f"a.py::f{number}"))
            ledger.settle(sequence, AttemptResult(AttemptOutcome.GOOD, 0.25, 1.0, TokenUsage(100, 20)))
            if number == 0:
                ledger.compact(TableStore(layout.warehouse), "shop")
        # As a build that is killed between the two leaves them.
        TableStore(layout.warehouse).write_rows("ledger", "shop", ledger.rows()[:2], LedgerRow)

    (line,) = codesum(home, "cost", "--by", "repo", "--json").stdout.splitlines()
    assert (json.loads(line)["calls"], json.loads(line)["cost_usd"]) == (3, 0.75)


def test_cost_of_an_unknown_repository_is_an_error(home: Path, codesum) -> None:
    shown = codesum(home, "cost", "nobody")

    assert shown.exit_code == 2
    assert "nobody" in shown.stderr


@pytest.fixture
def kept(home: Path) -> AnswerCache:
    """The cache of the home, with three texts of two prompt versions."""
    cache = AnswerCache(home / "cache", now=utc_now)
    versions = {"a": "blake3:1111", "b": "blake3:1111", "c": "blake3:2222"}
    cache.put_many([replace(KEPT, exact_key=key, prompt_version=version) for key, version in versions.items()])
    return cache


def test_cache_stats_shows_what_is_kept(home: Path, codesum, kept: AnswerCache) -> None:
    today = utc_now().date().isoformat()
    size = len(KEPT.row()[2])

    shown = codesum(home, "cache", "stats")
    first = json.loads(codesum(home, "cache", "stats", "--json").stdout.splitlines()[0])

    assert [" ".join(line.split()) for line in shown.stdout.splitlines()] == [
        "prompt version model texts bytes US dollars first written last used",
        f"blake3:1111 m 2 {2 * size:,} 0.0400 2026-03-01 {today}",
        f"blake3:2222 m 1 {size} 0.0200 2026-03-01 {today}",
    ]
    assert first == {
        "prompt_version": "blake3:1111", "model": "m", "texts": 2, "text_bytes": 2 * size, "cost_usd": 0.04,
        "first_created": "2026-03-01T12:00:00.000Z", "last_used": today,
    }  # fmt: skip


def test_cache_prune_keeps_the_named_prompt_version(home: Path, codesum, kept: AnswerCache) -> None:
    shown = codesum(home, "cache", "prune", "--keep", "blake3:2")

    assert shown.stdout == "2 texts deleted, 1 text kept\n"


def test_cache_prune_deletes_what_was_not_used_for_long(home: Path, codesum, kept: AnswerCache) -> None:
    AnswerCache(home / "cache", now=lambda: utc_now() - timedelta(days=40)).put_many([replace(KEPT, exact_key="old")])

    shown = codesum(home, "cache", "prune", "--unused-for", "30")

    assert shown.stdout == "1 text deleted, 3 texts kept\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            [], "say which texts to delete: --unused-for DAYS, --keep PROMPT-VERSION, or both", id="nothing said"
        ),
        pytest.param(["--keep", "x"], "--keep 'x': no prompt version starts so", id="unknown"),
        pytest.param(["--keep", "blake3:"], "--keep 'blake3:': 2 prompt versions start so", id="not one"),
    ],
)
def test_cache_prune_deletes_nothing_where_it_is_not_clear_what(
    home: Path, codesum, kept: AnswerCache, arguments: list[str], message: str
) -> None:
    shown = codesum(home, "cache", "prune", *arguments)

    assert shown.exit_code == 2
    assert message in shown.stderr
    assert sum(each.texts for each in kept.stats()) == 3


def test_an_empty_cache_is_said_to_be_empty(tmp_path: Path, codesum) -> None:
    shown = codesum(tmp_path / "home", "cache", "stats")

    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "no text of a model is kept" in shown.stderr
