"""The order of the gates, the caps over all levels, and when a model has to be confirmed."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.document import Gate
from codesum_pipeline.texts.summaries.by_model.gates import (
    CallCandidate,
    choose_within_caps,
    gate_of,
    needs_confirmation,
)
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import Shop, shop
from codesum_pipeline_tests.support.till import TAX, TILL

# A document at which every gate is open, and what shuts each.
OPEN = {
    "is_offline": False,
    "is_trusted": True,
    "is_left_out_test": False,
    "is_left_to_author": False,
    "has_text": False,
    "is_within_cap": True,
    "is_confirmed": True,
}
SHUTS = {
    Gate.OFFLINE: {"is_offline": True},
    Gate.TRUST: {"is_trusted": False},
    Gate.TESTS: {"is_left_out_test": True},
    Gate.DOCUMENTED: {"is_left_to_author": True},
    Gate.CAP: {"is_within_cap": False},
    Gate.CONFIRM: {"is_confirmed": False},
}
ORDER = tuple(SHUTS)


def test_of_all_gates_that_are_shut_the_first_in_order_answers() -> None:
    for shut in product((False, True), repeat=len(ORDER)):
        gates = [gate for gate, is_shut in zip(ORDER, shut, strict=True) if is_shut]
        for order in (gates, gates[::-1]):
            changed = {name: value for gate in order for name, value in SHUTS[gate].items()}

            assert gate_of(**{**OPEN, **changed}) == (gates[0] if gates else None)


# The settings that shut each gate, for a build in which all the others are open.
SETTINGS: dict[Gate, dict[str, Any]] = {
    Gate.OFFLINE: {"offline": True},
    Gate.DISABLED: {"llm": {"enabled": False}},
    Gate.TRUST: {"llm": {"trust": "scip"}},
    Gate.CAP: {"llm": {"max_summaries_per_run": 0}},
    Gate.CONFIRM: {"confirmed": False},
}


# Each gate beside all that come after it; and each beside any others.
OF_SETTINGS = {
    "few": [[*SETTINGS][first:] for first in range(len(SETTINGS))],
    "all": [
        [gate for gate, is_shut in zip(SETTINGS, shut, strict=True) if is_shut]
        for shut in product((False, True), repeat=len(SETTINGS))
    ],
}


@pytest.mark.parametrize("shut", ["few", pytest.param("all", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_no_settings_change_which_gate_answers_first(tmp_path: Path, shut: str) -> None:
    with shop(tmp_path / "built", TILL) as built:
        build(built.workspace(), until="summary_documents")
        # So that something has to be confirmed, and something has no text yet.
        (tmp_path / "built/home/prompts/instruction").mkdir(parents=True)
        (tmp_path / "built/home/prompts/instruction/function.md").write_text("Write. {name} {body}\n")
        built.repo.commit({"till/tax.py": f"{TAX}\n\ndef twice(amount):\n    if amount:\n        return amount * 2\n"})
        build(built.workspace(prompts_dir="prompts"), until="repo_snapshot")
        built.server.seen.clear()
        for number, gates in enumerate(OF_SETTINGS[shut]):
            copied = Shop.copy(built, tmp_path / str(number))
            chosen: dict[str, Any] = {"prompts_dir": "prompts", "max_rewrite_fraction": 0.1}
            for gate in gates:
                chosen |= {**SETTINGS[gate], "llm": {**chosen.get("llm", {}), **SETTINGS[gate].get("llm", {})}}
            workspace = copied.workspace(**chosen)
            if gates:
                build(workspace, until="function_summaries")
                texts = workspace.tables.read("texts_function", "shop", columns=["id", "gate"]).to_pylist()
                gate = next(row["gate"] for row in texts if row["id"] == "till/tax.py::twice")
                assert gate == gates[0], gates
        assert built.server.seen == []


def test_a_text_that_is_there_passes_where_calls_are_stopped_and_nowhere_else() -> None:
    for gate, changed in SHUTS.items():
        passes = gate in (Gate.OFFLINE, Gate.CAP, Gate.CONFIRM)

        assert gate_of(**{**OPEN, **changed, "has_text": True}) == (None if passes else gate)


@st.composite
def forests(draw: st.DrawFn) -> list[CallCandidate]:
    """Callers in a random forest, each below one of a higher layer or below none."""
    found: list[CallCandidate] = []
    for number in range(draw(st.integers(0, 12))):
        parent = draw(st.sampled_from([None, *found]))
        if parent is not None and not parent.layer[0]:
            parent = None
        found.append(
            CallCandidate(
                f"{number:02}",
                importance=draw(st.floats(0, 1)),
                is_new=draw(st.booleans()),
                predicted_usd=draw(st.floats(0, 1)),
                above=(parent.id, *parent.above) if parent else (),
                layer=(draw(st.integers(0, parent.layer[0] - 1)) if parent else draw(st.integers(0, 3)), 0),
                is_documented=draw(st.booleans()),
            )
        )
    return found


@given(forests(), st.integers(0, 12), st.none() | st.floats(0, 3), st.randoms())
def test_the_caps_are_used_and_nothing_goes_before_what_is_in_it(
    found: list[CallCandidate], most: int, most_usd: float | None, chance: object
) -> None:
    chosen = choose_within_caps(found, most=most, most_usd=most_usd)
    chance.shuffle(found)  # type: ignore[attr-defined]

    assert choose_within_caps(found, most=most, most_usd=most_usd) == chosen
    assert len(chosen) == min(most, len(found)) if most_usd is None else len(chosen) <= most
    left = [caller for caller in found if caller.id not in chosen]
    spent = sum(caller.predicted_usd for caller in found if caller.id in chosen)
    assert most_usd is None or spent <= most_usd + 1e-9
    waiting = {above for caller in left for above in caller.above}
    assert not waiting & chosen
    if most_usd is not None and len(chosen) < most:
        free = [caller for caller in left if caller.id not in waiting]
        assert all(spent + caller.predicted_usd > most_usd - 1e-9 for caller in free)


def test_from_the_bottom_up_what_nobody_documented_goes_first_then_the_most_important() -> None:
    root = CallCandidate("root", 1.0, True, 0.1, layer=(3, 0))
    documented = CallCandidate("told", 0.6, True, 0.1, ("root",), is_documented=True)
    small, large = CallCandidate("small", 0.1, True, 0.1, ("root",)), CallCandidate("large", 0.2, True, 0.1, ("root",))
    found = [root, documented, small, large]

    orders = [choose_within_caps(found, most=most, most_usd=None) for most in range(1, 5)]

    assert orders == [{"large"}, {"large", "small"}, {"large", "small", "told"}, {caller.id for caller in found}]


def test_what_is_too_dear_leaves_the_room_to_what_is_cheaper_but_not_to_what_holds_it() -> None:
    dear = CallCandidate("dear", 0.9, True, 0.5, ("around dear",))
    cheap = CallCandidate("cheap", 0.1, True, 0.1, ("around cheap",))
    around = [CallCandidate(f"around {name}", 1.0, True, 0.1, layer=(2, 0)) for name in ("dear", "cheap")]

    assert choose_within_caps([*around, dear, cheap], most=4, most_usd=0.4) == {"cheap", "around cheap"}


def test_of_two_that_are_worth_the_same_what_changed_goes_before_what_is_new() -> None:
    found = [CallCandidate("a", 0.5, True, 0.1), CallCandidate("b", 0.5, False, 0.1)]

    assert choose_within_caps(found, most=1, most_usd=None) == {"b"}


def test_more_than_the_share_of_what_stands_needs_to_be_confirmed() -> None:
    changed = [CallCandidate(name, 0.5, False, 0.1) for name in "abc"]
    new = [CallCandidate(name, 0.5, True, 0.1) for name in "defg"]
    along = [CallCandidate(name, 0.5, False, 0.1, if_below=True) for name in "hij"]

    assert needs_confirmation(changed, 5, 0.5)
    assert not needs_confirmation(changed, 6, 0.5)
    assert not needs_confirmation([*new, *along], 1, 0.5)
