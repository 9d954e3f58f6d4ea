"""Rows of the ledger, added up."""

from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline.texts.llm.ledger_readings import Totals, add_up_calls, add_up_calls_by
from codesum_pipeline_tests.texts.llm.test_ledger import row


def test_totals_say_what_was_sent_what_it_gave_and_what_it_cost() -> None:
    rows = [
        row(1, latency_s=1.0),
        row(2, latency_s=2.0, outcome=AttemptOutcome.INVALID, failure="unusable-answer"),
        row(3, latency_s=9.0),
        row(4, latency_s=60.0, outcome=AttemptOutcome.FAILED, failure="timeout", cost_usd=0.5, is_estimated=True,
            prompt_tokens=0, completion_tokens=0, cached_tokens=0),
        row(5, outcome=AttemptOutcome.NOT_SENT, failure="credentials", cost_usd=0.0, prompt_tokens=0,
            completion_tokens=0, cached_tokens=0),
        row(6, outcome=AttemptOutcome.INTERRUPTED, cost_usd=0.5, is_estimated=True, prompt_tokens=0,
            completion_tokens=0, cached_tokens=0),
    ]  # fmt: skip

    assert add_up_calls(rows) == Totals(
        calls=5,
        texts=2,
        prompt_tokens=300,
        completion_tokens=60,
        cached_tokens=240,
        cost_usd=1.03,
        estimated_usd=1.0,
        latency_p50_s=2.0,
        latency_p95_s=9.0,
        failures=(("credentials", 1), ("interrupted", 1), ("timeout", 1), ("unusable-answer", 1)),
    )
    assert add_up_calls(rows).cached_share == 0.8


def test_nothing_adds_up_to_nothing() -> None:
    assert add_up_calls([]) == Totals(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, ())
    assert add_up_calls([]).cached_share == 0.0


def test_groups_stand_in_the_order_of_their_keys() -> None:
    rows = [row(1, model="n"), row(2, model="m"), row(3, model="n")]

    grouped = add_up_calls_by((each.model, each) for each in rows)

    assert [(model, found.calls) for model, found in grouped.items()] == [("m", 1), ("n", 2)]
