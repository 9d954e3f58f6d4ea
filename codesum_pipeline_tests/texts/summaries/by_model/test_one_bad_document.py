"""One document on which the work for a model fails keeps its extractive text, and no other document notices.

No input is known that fails at these places, so a function there is replaced by
one that raises for one document, as a bug would; the provider is on loopback.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.llm import attempts
from codesum_pipeline.texts.llm.litellm_calls import LiteLlmCalls
from codesum_pipeline.texts.summaries.by_model import flow, model_level, prompting
from codesum_pipeline.texts.summaries.by_model.choosing import Chooser
from codesum_pipeline.texts.summaries.by_model.model_level import ModelLevel
from codesum_pipeline.texts.summaries.by_model.outages import read_outages
from codesum_pipeline.texts.summaries.by_model.prompting import Prompter
from codesum_pipeline_tests.builds.law.test_one_bad_item import Fault, failed_items, id_is, inject
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import KEY_ENV, Shop, shop
from codesum_pipeline_tests.support.till import BY_MODEL, TILL

ROUND_UP, BASKET = "till/tax.py::round_up", "till/basket.py::Basket"
FAULTS = {
    "looking a function's text up": Fault(
        "function_summaries", ROUND_UP, Chooser, "_look_back", lambda _, source: source.id == ROUND_UP
    ),
    "making a function's prompt": Fault(
        "function_summaries", ROUND_UP, Prompter, "of_function", lambda _, name, *__: name == "round_up"
    ),
    "making a function's row": Fault(
        "function_summaries", ROUND_UP, ModelLevel, "_row", lambda _, job, *__: job.id == ROUND_UP
    ),
    "storing a function's text": Fault(
        "function_summaries",
        ROUND_UP,
        model_level,
        "to_table",
        lambda rows, _: any(row.id == ROUND_UP for row in rows),
    ),
    "making a class's prompt": Fault(
        "class_summaries", BASKET, Prompter, "of_upper", lambda _, __, document: document.id == BASKET
    ),
    "putting a class's children in order": Fault("class_summaries", BASKET, flow, "order_children", id_is(BASKET)),
    "asking for a class": Fault(
        "class_summaries", BASKET, LiteLlmCalls, "_read", lambda _, request, *__: request.level is Level.CLASS
    ),
    "reading the answer for a class": Fault(
        "class_summaries", BASKET, attempts, "read_answer", lambda _, __, shown: shown.level is Level.CLASS
    ),
    "reading a plain text": Fault(
        "file_summaries", "README.md", prompting, "shown_words", lambda document: document.name == "README.md"
    ),
    "what a folder says of itself": Fault(
        "module_summaries", "till", prompting, "model_metadata", lambda document: document.id == "till"
    ),
}
# One of each level.
QUICK = {
    "making a function's prompt",
    "reading the answer for a class",
    "reading a plain text",
    "what a folder says of itself",
}
EVERY = pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, id=name, marks=[] if name in QUICK else pytest.mark.slow) for name, fault in FAULTS.items()],
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop for builds in many homes."""
    with shop(tmp_path_factory.mktemp("shared"), TILL) as found:
        yield found


@pytest.fixture(scope="module")
def clean(shared: Shop) -> Workspace:
    """A build in which nothing failed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
        workspace = shared.workspace()
        build(workspace)
    return workspace


@pytest.fixture
def till(tmp_path: Path) -> Iterator[Shop]:
    with shop(tmp_path, TILL) as found:
        yield found


def writers(workspace: Workspace) -> dict[str, tuple[str, str | None]]:
    rows = workspace.tables.read("documents", workspace.key, columns=["id", "written_by", "gate"]).to_pylist()
    return {row["id"]: (row["written_by"], row["gate"]) for row in rows}


def ledger(workspace: Workspace) -> list[LedgerRow]:
    return workspace.tables.read_rows("ledger", workspace.key, LedgerRow)


@pytest.mark.slow
@EVERY
def test_the_extractive_text_stands_and_the_next_build_heals_it(
    fault: Fault, shared: Shop, clean: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = str(tmp_path / "home")
    with monkeypatch.context() as patch:
        inject(fault, patch)
        workspace = shared.workspace(home=home)
        reports = build(workspace, may_fail=True)

    assert failed_items(workspace) == {fault.step: [(fault.item, True)]}
    assert reports[fault.step].failed == 1
    found = writers(workspace)
    assert found[fault.item] == ("extractive", "failed")
    assert Counter(found.values())["llm", None] == BY_MODEL - 1
    assert read_outages(workspace.layout, workspace.key) == {}
    assert reports["published_index"].published

    healed = shared.workspace(home=home)
    build(healed)

    assert failed_items(healed) == {}
    assert first_difference(table_rows(healed), table_rows(clean)) is None
    assert first_difference(published_files(healed), published_files(clean)) is None


@pytest.mark.slow
@EVERY
def test_a_build_that_fails_on_it_again_pays_nothing_and_changes_nothing(
    fault: Fault, till: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    inject(fault, monkeypatch)
    first = till.workspace()
    build(first, may_fail=True)
    before = table_rows(first)
    till.server.seen.clear()

    again = till.workspace()
    build(again, may_fail=True)

    assert failed_items(again) == {fault.step: [(fault.item, True)]}
    # Of an answer that LiteLLM has and that is not in our words nothing can be kept.
    assert len(till.server.seen) == (fault.owner is LiteLlmCalls)
    assert first_difference(table_rows(again), before) is None


def test_an_answer_that_was_paid_and_could_not_be_read_is_read_when_that_works(
    till: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        inject(FAULTS["reading the answer for a class"], patch)
        build(till.workspace(), may_fail=True)
    workspace = till.workspace()
    build(workspace)

    rows = ledger(workspace)
    (kept,) = [row for row in rows if row.id == BASKET]
    assert (kept.outcome, kept.is_estimated, bool(kept.answer)) == (AttemptOutcome.INVALID, False, True)
    assert len({row.request_hash for row in rows}) == len(rows)
    assert writers(workspace)[BASKET] == ("llm", None)


def test_where_no_answer_can_be_read_a_build_stops_asking(till: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    inject(Fault("", "everything", attempts, "read_answer", lambda *_: True), monkeypatch)
    workspace = till.workspace(llm={"concurrency": 1, "give_up_after": 3})
    reports = build(workspace, may_fail=True)

    assert len(till.server.seen) == 3
    assert reports["published_index"].published
    assert "gave-up" in {row["failure"] for row in workspace.tables.read("texts_function", workspace.key).to_pylist()}
    assert list(read_outages(workspace.layout, workspace.key)) == [Level.FUNCTION]
