"""What a run says that it avoided: every document counts once, by the first reason that holds."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.document import Gate, Level, PlanAction, PlanRow, WrittenBy
from codesum_pipeline.foundation.data_model.model_call import AvoidanceReason as Reason
from codesum_pipeline.foundation.data_model.model_call import AvoidedRow, CallTotals
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.by_model.predicted_prices import LevelCalls, avoidance_of, calls_of_unchanged
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.llm_server import Answers, Behaviour, ModelRequest, answer_of
from codesum_pipeline_tests.support.model_builds import KEY_ENV, Shop, shop
from codesum_pipeline_tests.support.till import BY_MODEL, PAY, TAX, TILL


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop of which a model has written everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
        with shop(tmp_path_factory.mktemp("built"), TILL) as made:
            build(made.workspace())
            yield made


@pytest.fixture
def till(built: Shop, tmp_path: Path) -> Shop:
    """A copy of the shop with its home."""
    return Shop.copy(built, tmp_path)


def calls(workspace: Workspace) -> dict[str, int]:
    """The calls of this run's meter over all levels, by cause."""
    rows = workspace.tables.read_rows("avoided", workspace.key, AvoidedRow)
    found: Counter[str] = Counter()
    for row in rows:
        if row.run_id == workspace.run_id:
            found[row.cause.value] += row.calls
    return dict(found)


def test_a_first_run_asks_for_everything_and_avoids_the_placeholder(built: Shop) -> None:
    rows = built.workspace().tables.read_rows("avoided", "shop", AvoidedRow)

    first = [row for row in rows if row.run_id == "run 1"]
    assert sum(row.calls for row in first if row.cause is Reason.NOT_AVOIDED) == BY_MODEL
    assert sum(row.calls for row in first if row.cause is Reason.PLACEHOLDER) == 1
    assert {row.cause for row in first} == {Reason.NOT_AVOIDED, Reason.PLACEHOLDER}
    assert all(row.input_tokens > 5_000 * row.calls and row.usd > 0 for row in first)


EDITS: dict[str, tuple[dict[str, str], dict[str, int]]] = {
    "a comment": ({"till/tax.py": TAX.replace("RATE = 19", "# By law.\nRATE = 19")}, {"unchanged": BY_MODEL}),
    "one function's body": (
        {"till/tax.py": TAX.replace("amount += 1", "amount += 2")},
        {"asked": 4, "unchanged": BY_MODEL - 4},
    ),
    "a caller in the same module, within the threshold": (
        {"till/tax.py": f"{TAX}\n\ndef double(amount):\n    if amount:\n        return add_tax(add_tax(amount))\n"},
        {"asked": 4, "graph within threshold": 1, "unchanged": BY_MODEL - 4},
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "a comment" else []) for name in EDITS]
)
def test_a_run_says_what_it_did_not_have_to_ask_for(till: Shop, name: str) -> None:
    files, expected = EDITS[name]
    till.repo.commit(files)
    workspace = till.workspace()

    build(workspace)

    assert calls(workspace) == {"placeholder": 1, **expected}


def test_steps_that_look_at_everything_and_steps_that_need_not_run_avoid_the_same(till: Shop) -> None:
    looking, not_run = till.workspace(), till.workspace()

    build(looking)
    build(not_run)

    assert calls(looking) == calls(not_run) == {"placeholder": 1, "unchanged": BY_MODEL}


ONE_FOR_ALL = {
    "purpose": "Takes what it is given and gives it back as it should be.",
    "business_intent": "Keeps a till going.",
    "keywords": ["till", "amount", "tax"],
    "returns": None,
    "side_effects": ["reads what it is given"],
}


def in_the_same_words(call: ModelRequest) -> Behaviour:
    """Finds the same words for every function, whatever its body."""
    answer = answer_of(call)
    return Answers({**answer, **ONE_FOR_ALL}) if "purpose" in answer else Answers()


@pytest.mark.slow
def test_a_child_that_is_written_again_in_the_same_words_asks_for_none_of_its_parents(tmp_path: Path) -> None:
    with shop(tmp_path, TILL, in_the_same_words) as found:
        build(found.workspace())
        found.server.seen.clear()
        found.repo.commit({"till/tax.py": TAX.replace("amount += 1", "amount += 2")})
        workspace = found.workspace()

        build(workspace)

        assert len(found.server.seen) == 1
    plan = {row["id"]: row["action"] for row in workspace.tables.read("plan", "shop").to_pylist()}
    assert {plan[id_] for id_ in ("till/tax.py", "till", ".")} == {PlanAction.MAYBE.value}
    assert calls(workspace) == {"asked": 1, "early cut-off": 3, "placeholder": 1, "unchanged": BY_MODEL - 4}


def test_a_text_that_is_found_under_another_path_is_the_same_body(till: Shop) -> None:
    (till.repo.path / "till/tax.py").rename(till.repo.path / "shop/tax.py")
    till.repo.commit({"shop/pay.py": PAY.replace("till.tax", "shop.tax")})
    workspace = till.workspace()

    build(workspace)

    found = calls(workspace)
    assert (found["same body elsewhere"], found["asked"]) == (3, 4)
    assert sum(found.values()) == BY_MODEL + 1


def test_what_was_paid_before_comes_from_the_cache(till: Shop) -> None:
    build(till.workspace(llm={"enabled": False}))
    workspace = till.workspace()

    build(workspace)

    assert calls(workspace) == {"cache": BY_MODEL, "placeholder": 1}


def test_under_a_cap_of_nothing_all_is_avoided_by_the_gate(till: Shop) -> None:
    workspace = till.workspace(home="new", llm={"max_summaries_per_run": 0})

    build(workspace)

    assert calls(workspace) == {"gate": BY_MODEL, "placeholder": 1}


def test_without_a_model_there_is_no_meter(till: Shop) -> None:
    workspace = till.workspace(home="plain", llm={"enabled": False})

    build(workspace)

    assert workspace.tables.repositories("avoided") == []


def planned(action: PlanAction = PlanAction.KEEP, *, level: Level = Level.FUNCTION, **values: Any) -> PlanRow:
    return PlanRow("a", level, action, None, (), None, None, **{"context_changed": False, **values})


@pytest.mark.parametrize(
    ("ended", "plan", "cause"),
    [
        pytest.param({}, planned(), Reason.UNCHANGED, id="nothing was planned"),
        pytest.param({}, planned(context_changed=True), Reason.GRAPH, id="its neighbours changed and its text stands"),
        pytest.param({}, planned(level=Level.FILE, context_changed=True), Reason.UNCHANGED, id="no context is shown"),
        pytest.param({}, planned(PlanAction.MAYBE, level=Level.FILE), Reason.CUT_OFF, id="its children came out so"),
        pytest.param({}, planned(gate=Gate.CAP), Reason.GATE, id="the last model's text stands for what is capped"),
        pytest.param(
            {"written_by": WrittenBy.EXTRACTIVE, "gate": Gate.FAILED}, planned(), Reason.GATE, id="a gate seen late"
        ),
        pytest.param(
            {"written_by": WrittenBy.PLACEHOLDER, "gate": Gate.PLACEHOLDER}, planned(), Reason.PLACEHOLDER,
            id="a placeholder is no gate",
        ),
    ],
)  # fmt: skip
def test_a_document_counts_for_the_first_reason_that_holds(ended: dict[str, Any], plan: PlanRow, cause: Reason) -> None:
    assert avoidance_of(plan, **{"written_by": WrittenBy.LLM, "gate": None, "origin": Reason.CUT_OFF, **ended}) is cause


def test_a_run_that_finds_everything_as_it_was_left_avoids_what_that_one_asked_for() -> None:
    once = CallTotals(1, 10, 2, 0.5)
    found = {
        Reason.NOT_AVOIDED: once,
        Reason.CACHE: once,
        Reason.PLACEHOLDER: once,
        Reason.GATE: once,
    }

    assert calls_of_unchanged(LevelCalls(0, {}, found)).avoided == {
        Reason.UNCHANGED: once + once,
        Reason.PLACEHOLDER: once,
        Reason.GATE: once,
    }
