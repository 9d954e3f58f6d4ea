"""The order of the gates, the caps over all levels, and when a model has to be confirmed."""

from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.model.documents import Gate
from codesum_pipeline.summaries.by_model.gates import Caller, Standing, gate_of, needs_confirmation, within_caps
from codesum_pipeline_tests.building import build
from codesum_pipeline_tests.summaries.by_model.building import Shop, shop
from codesum_pipeline_tests.summaries.by_model.till import TAX, TILL

# A document at which every gate is open, and what shuts each.
OPEN = {
    "is_placeholder": False,
    "is_offline": False,
    "is_enabled": True,
    "is_trusted": True,
    "has_text": False,
    "is_within_cap": True,
    "is_confirmed": True,
}
SHUTS = {
    Gate.PLACEHOLDER: {"is_placeholder": True},
    Gate.OFFLINE: {"is_offline": True},
    Gate.DISABLED: {"is_enabled": False},
    Gate.TRUST: {"is_trusted": False},
    Gate.CAP: {"is_within_cap": False},
    Gate.CONFIRM: {"is_confirmed": False},
}
ORDER = tuple(SHUTS)


def test_of_all_gates_that_are_shut_the_first_in_order_answers() -> None:
    for shut in product((False, True), repeat=len(ORDER)):
        gates = [gate for gate, is_shut in zip(ORDER, shut, strict=True) if is_shut]
        for order in permutations(gates):
            changed = {name: value for gate in order for name, value in SHUTS[gate].items()}

            assert gate_of(Standing(**{**OPEN, **changed})) == (gates[0] if gates else None)


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

        assert gate_of(Standing(**{**OPEN, **changed, "has_text": True})) == (None if passes else gate)


callers = st.lists(
    st.builds(
        Caller,
        id=st.text("abc", min_size=1, max_size=3),
        importance=st.floats(0, 1),
        is_new=st.booleans(),
        predicted_usd=st.floats(0, 1),
    ),
    unique_by=lambda caller: caller.id,
)


@given(callers, st.integers(0, 10), st.none() | st.floats(0, 3), st.randoms())
def test_the_caps_take_the_most_important_whatever_the_order_in_which_they_come(
    found: list[Caller], most: int, most_usd: float | None, chance: object
) -> None:
    chosen = within_caps(found, most=most, most_usd=most_usd)
    chance.shuffle(found)  # type: ignore[attr-defined]

    assert within_caps(found, most=most, most_usd=most_usd) == chosen
    assert len(chosen) == min(most, len(found)) if most_usd is None else len(chosen) <= most
    left = [caller.importance for caller in found if caller.id not in chosen]
    taken = [caller for caller in found if caller.id in chosen]
    if most_usd is None:
        assert min((caller.importance for caller in taken), default=1.0) >= max(left, default=0.0)
    else:
        assert sum(caller.predicted_usd for caller in taken) <= most_usd + 1e-9


def test_of_two_that_are_worth_the_same_what_changed_goes_before_what_is_new() -> None:
    found = [Caller("a", 0.5, True, 0.1), Caller("b", 0.5, False, 0.1)]

    assert within_caps(found, most=1, most_usd=None) == {"b"}


def test_more_than_the_share_of_what_stands_needs_to_be_confirmed() -> None:
    changed = [Caller(name, 0.5, False, 0.1) for name in "abc"]
    new = [Caller(name, 0.5, True, 0.1) for name in "defg"]
    along = [Caller(name, 0.5, False, 0.1, if_below=True) for name in "hij"]

    assert needs_confirmation(changed, 5, 0.5)
    assert not needs_confirmation(changed, 6, 0.5)
    assert not needs_confirmation([*new, *along], 1, 0.5)


def test_with_a_document_go_those_above_it_that_would_lose_their_text() -> None:
    file = Caller("file", 0.9, False, 0.1, ("folder",), if_below=True)
    folder = Caller("folder", 1.0, False, 0.1, (), if_below=True)
    small = Caller("small", 0.2, False, 0.1)
    function = Caller("function", 0.5, False, 0.1, ("file", "folder"))

    assert within_caps([folder, file, small], most=3, most_usd=None) == {"small"}
    assert within_caps([folder, file, function, small], most=3, most_usd=None) == {"function", "file", "folder"}
    assert within_caps([folder, file, function, small], most=2, most_usd=None) == {"function", "small"}
