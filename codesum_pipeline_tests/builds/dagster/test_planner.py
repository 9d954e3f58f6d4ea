"""What the planner decides, without Dagster."""

from typing import Any

import pytest

from codesum_pipeline.builds.dagster.planner import (
    BuildDecision,
    Observation,
    Plan,
    Request,
    Wait,
    next_in_turn,
    plan_builds,
)
from codesum_pipeline.foundation.data_model.moments import utc_now


def plan(*seen: Observation, max_attempts: int = 3, max_requests: int = 25, usd_left: float = 0.0) -> Plan:
    return plan_builds(seen, max_attempts=max_attempts, max_requests=max_requests, usd_left=usd_left)


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        pytest.param(Observation("a", wanted="f1"), BuildDecision.BUILD, id="a new repository is built"),
        pytest.param(
            Observation("a", wanted="f1", recorded="f1", published="f1", begun="f1"),
            BuildDecision.UP_TO_DATE,
            id="a current one is not",
        ),
        pytest.param(
            Observation("a", wanted="f1", recorded="f1", published="f1", begun="f2"),
            BuildDecision.BUILD,
            id="one whose last build began on another state and did not end is",
        ),
        pytest.param(
            Observation("a", wanted="f2", recorded="f1", published="f1"),
            BuildDecision.BUILD,
            id="a new commit, setting or algorithm is built",
        ),
        pytest.param(
            Observation("a", wanted="f1", recorded="f1", published=None, begun="f1"),
            BuildDecision.BUILD,
            id="an index that is gone from the store is built though Dagster has it",
        ),
        pytest.param(
            Observation("a", wanted="f1", recorded=None, published="f1", begun="f1"),
            BuildDecision.BUILD,
            id="an index that Dagster does not know is built",
        ),
        pytest.param(
            Observation("a", wanted="f2", recorded="f1", published="f1", begun="f2", is_held=True),
            BuildDecision.HELD,
            id="a build that the gate held back is not built again",
        ),
        pytest.param(
            Observation("a", wanted="f2", recorded="f1", published="f1", begun="f1", is_held=True),
            BuildDecision.BUILD,
            id="unless the tables are of another state",
        ),
        pytest.param(
            Observation("a", wanted=None, is_active=True), BuildDecision.ACTIVE, id="one being built is left alone"
        ),
        pytest.param(
            Observation("a", wanted=None, complaint="gone"), BuildDecision.UNREADABLE, id="a broken one is said so"
        ),
        pytest.param(
            Observation("a", wanted="f1", tried=("f1",) * 2), BuildDecision.BUILD, id="two failures are tried again"
        ),
        pytest.param(Observation("a", wanted="f1", tried=("f1",) * 3), BuildDecision.EXHAUSTED, id="three are enough"),
        pytest.param(
            Observation("a", wanted="f2", tried=("f1",) * 3),
            BuildDecision.BUILD,
            id="a change ends the waiting after failures",
        ),
        pytest.param(
            Observation("a", wanted="f1", tried=(None, "f1", "f1", "f1")),
            BuildDecision.BUILD,
            id="a run started by hand ends it too",
        ),
        pytest.param(
            Observation("a", wanted="f1", tried=("f2", "f1", "f1", "f1")),
            BuildDecision.BUILD,
            id="a branch switched away and back is built again",
        ),
    ],
)
def test_one_repository(seen: Observation, verdict: BuildDecision) -> None:
    assert plan(seen).verdicts == {"a": verdict}


def test_a_run_key_is_never_used_twice() -> None:
    keys = [plan(Observation("a", wanted="f1", launches=launches)).requests[0].run_key for launches in range(3)]

    assert keys == ["a:f1:1", "a:f1:2", "a:f1:3"]


def test_a_broken_repository_stops_no_other() -> None:
    made = plan(Observation("a", wanted=None, complaint="path ../a is gone"), Observation("b", wanted="f1"))

    assert made.requests == (Request("b", "f1", 1),)
    assert made.complaints == {"a": "path ../a is gone"}
    assert made.summary() == "1 to build, 1 unreadable: a: path ../a is gone"


def test_a_tick_asks_for_no_more_than_its_share_and_those_tried_least_go_first() -> None:
    made = plan(
        Observation("a", wanted="f1", tried=("f1",), launches=1),
        Observation("b", wanted="f1"),
        Observation("c", wanted="f1"),
        max_requests=2,
    )

    assert [request.key for request in made.requests] == ["b", "c"]
    assert made.verdicts == {"a": BuildDecision.DEFERRED, "b": BuildDecision.BUILD, "c": BuildDecision.BUILD}


def current(key: str, **values: Any) -> Observation:
    """A repository whose index is up to date."""
    return Observation(key, wanted="f1", recorded="f1", published="f1", begun="f1", **values)


def test_what_is_left_over_is_gone_on_with_by_one_build_at_a_time_which_may_spend_all_that_is_left() -> None:
    made = plan(current("a", left_over="l1"), current("b", left_over="l2", launches=3), current("c"), usd_left=0.5)

    assert made.requests == (Request("a", "l1", 1, 0.5),)
    assert made.verdicts == {"a": BuildDecision.GO_ON, "b": BuildDecision.LEFT_OVER, "c": BuildDecision.UP_TO_DATE}
    assert made.summary() == "1 to go on with, 1 with texts left over, 1 up to date"


@pytest.mark.parametrize(
    ("seen", "usd_left", "verdict"),
    [
        pytest.param(current("a", left_over="l1"), 0.0, BuildDecision.LEFT_OVER, id="without money it waits"),
        pytest.param(
            current("a", left_over="l1", tried=("l1",) * 3), 0.5, BuildDecision.LEFT_OVER, id="what gives nothing waits"
        ),
        pytest.param(
            current("a", left_over="l2", tried=("l1",) * 3), 0.5, BuildDecision.GO_ON, id="what gave something goes on"
        ),
        pytest.param(
            Observation("a", wanted="f2", recorded="f1", published="f1", begun="f1"),
            0.5,
            BuildDecision.BUILD,
            id="a newer commit is built with what is left over",
        ),
    ],
)
def test_what_is_left_over(seen: Observation, usd_left: float, verdict: BuildDecision) -> None:
    assert plan(seen, usd_left=usd_left).verdicts == {"a": verdict}


def test_the_first_of_many_that_cannot_be_read_are_named() -> None:
    gone = [Observation(f"r{number:03}", wanted=None, complaint="gone\n" + "x" * 1000) for number in range(200)]

    summary = plan(*gone).summary()

    assert summary.startswith("200 unreadable: r000, r001, r002, r003, r004 and 195 more: gone xxx")
    assert [number for number in range(200) if f"r{number:03}" in summary] == [0, 1, 2, 3, 4]
    assert summary.endswith("…")
    assert len(summary) < 1200


def test_each_verdict_is_named_however_many_others_have_another() -> None:
    unreadable = [Observation(f"a{number}", wanted=None, complaint=f"gone {number}") for number in range(6)]
    made = plan(
        *unreadable,
        Observation("z1", wanted="f1", tried=("f1",) * 3),
        Observation("z2", wanted="f1", is_stopped=True),
        Observation("z3", wanted="f1", waits=Wait("the disk is full", utc_now())),
    )

    ticked, logged = made.summary(), made.reasons(is_timed=False)

    for key in ("z1: failed too often", "z2: stopped by hand"):
        assert key in ticked and key in logged
    assert "z3: the disk is full, next try " in ticked
    assert "z3: failed by no fault of their own (the disk is full); tried again; a0: gone 0; a1: " in logged
    assert logged.endswith("a4: gone 4; and 1 more")


def test_an_empty_registry_says_what_to_do() -> None:
    assert plan().summary() == "no repository is registered: add one with `codesum add`"


@pytest.mark.parametrize(
    ("last", "order"),
    [
        pytest.param("b", ["c", "a", "b"], id="whoever was left out is first"),
        pytest.param("", ["a", "b", "c"], id="a lost cursor begins anew"),
        pytest.param("bb", ["c", "a", "b"], id="a key that is gone still marks a place"),
    ],
)
def test_repositories_take_turns(last: str, order: list[str]) -> None:
    assert next_in_turn(["c", "a", "b"], last) == order
