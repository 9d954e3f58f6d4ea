"""Real builds against servers that misbehave: none costs more than the plan said before that it costs at most."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.document import Level, PlanRow
from codesum_pipeline.foundation.data_model.model_call import LedgerRow
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.llm.prices import MAX_BYTES_PER_TOKEN
from codesum_pipeline.texts.summaries.by_model.plan_prices import NextBuild, PlanPricing
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.llm_server import Answers, Behaviour, Fails, ModelRequest, Resets, Sends
from codesum_pipeline_tests.support.llm_server.behaviours import body_of
from codesum_pipeline_tests.support.model_builds import MODEL, Shop, shop
from codesum_pipeline_tests.support.till import TILL

OTHER = "openai/gpt-4o"
# Keys of a JSON object that no answer has, so that each is a complaint; of characters with the most bytes.
LONG = json.dumps({"purpose": "🙂" * 1_000, "keywords": ["🙂" * 500] * 20}, ensure_ascii=False)


def answered(request: ModelRequest, arguments: str | None, *, is_counted: bool = True) -> Behaviour:
    """An answer for which no more tokens are billed than were allowed, or whose tokens the server does not count."""
    body = body_of(request, arguments, model=None)
    usage = body.pop("usage")
    if is_counted:
        most = request.body.get("max_tokens") or request.body["max_completion_tokens"]
        body["usage"] = {**usage, "completion_tokens": min(most, usage["completion_tokens"])}
    return Sends(json.dumps(body))


def misbehaves(request: ModelRequest, draw: Random) -> Behaviour:
    """One of the ways in which a call is paid for and its document is not written, or a good answer."""
    return draw.choice(
        (
            Answers(),
            Answers("{}"),
            answered(request, LONG),
            answered(request, json.dumps({"purpose": "x" * draw.randrange(60_000)})),
            answered(request, None, is_counted=False),
            answered(request, LONG, is_counted=False),
            Resets(),
            Resets(after_bytes=100),
            Fails(429),
        )
    )


def ledger_of(workspace: Workspace) -> list[LedgerRow]:
    return [
        row
        for row in workspace.tables.read_rows_or_empty("ledger", "shop", LedgerRow)
        if row.run_id == workspace.run_id
    ]


def built(found: Shop, **llm: Any) -> tuple[NextBuild, list[LedgerRow]]:
    """What was said before a build, and its calls."""
    workspace = found.workspace(llm={"max_retries": 0, **llm})
    report = build(workspace, may_fail=True)["summary_plan"]
    return report.next_build, ledger_of(workspace)


def drawn(draw: Random) -> dict[str, Any]:
    """Settings that change how often and at what price is asked."""
    return {
        "max_attempts": draw.randint(1, 5),
        "max_retries": draw.choice((0, 0, 1)),
        "max_tokens": draw.choice((256, 1024, 4096)),
        "form": draw.choice(("auto", "tool", "json_text")),
        "concurrency": draw.choice((1, 4, 16)),
        "fallback_models": draw.choice(((), (OTHER,))),
        "max_summaries_per_run": draw.choice((3, 1_000)),
        "max_cost_usd_per_run": draw.choice((None, 0.01, 0.1)),
        "max_prompt_chars": draw.choice((None, 40_000)),
    }


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 40))])
def test_no_build_costs_more_than_its_plan_said_whatever_the_server_does(tmp_path: Path, seed: int) -> None:
    settings, of_server = drawn(Random(f"settings {seed}")), Random(f"server {seed}")

    with shop(tmp_path, TILL, lambda request: misbehaves(request, of_server)) as found:
        said, rows = built(found, **settings)

    spent = sum(row.cost_usd for row in rows)
    assert rows
    assert said.expected_usd <= said.at_most_usd
    assert spent <= said.at_most_usd
    if said.at_most_usd != settings["max_cost_usd_per_run"]:
        assert sum(row.reserved_usd for row in rows) <= said.at_most_usd, "nothing more was set aside, either"


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(lambda request: answered(request, LONG), id="unusable"),
        pytest.param(lambda request: answered(request, LONG, is_counted=False), id="unusable and not counted"),
        pytest.param(lambda request: Resets(), id="broken"),
    ],
)
def test_what_is_said_at_most_is_what_the_worst_server_comes_close_to(tmp_path: Path, script: Any) -> None:
    """So that the bound is no number without a meaning: each function takes what was said of it, but for the bytes that
    its answers and the complaints about them were shorter."""
    with shop(tmp_path, {"a.py": TILL["till/tax.py"]}, script) as found:
        workspace = found.workspace(llm={"max_retries": 1, "max_tokens": 256, "form": "json_text", "max_attempts": 2})
        plan = build(workspace, until="summary_plan")["summary_plan"]
        planned = workspace.tables.read_rows("plan", "shop", PlanRow)
        pricing = PlanPricing.of(workspace.tables, "shop", workspace.settings)
        build(workspace, may_fail=True)
        rows = ledger_of(workspace)

    assert len(LONG.encode()) > 256 * MAX_BYTES_PER_TOKEN
    assert plan.next_build.at_most_usd == pytest.approx(sum(pricing.of_row(row).at_most_usd for row in planned))
    for row in planned:
        if row.level is Level.FUNCTION:
            calls = [each.reserved_usd for each in rows if each.id == row.id]
            most = pricing.of_row(row).at_most_usd
            # Two answers, each of which may be sent twice: one was asked for twice, or both were once.
            assert len(calls) == 2
            assert 0.8 * most / 2 < sum(calls) <= most / 2


def test_a_build_that_reaches_the_cap_in_dollars_spends_what_was_said_at_most(tmp_path: Path) -> None:
    with shop(tmp_path, TILL, lambda request: Answers("{}")) as found:
        said, rows = built(found, max_cost_usd_per_run=0.007)

    assert said == NextBuild(said.texts, said.expected_usd, 0.007, "llm.max_cost_usd_per_run = 0.007")
    assert 0.002 < sum(row.cost_usd for row in rows) <= 0.007
    assert {row.model for row in rows} == {MODEL}
