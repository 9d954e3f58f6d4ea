"""What a model is not asked for by default: what its author documented, and test code."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import Gate, Level, PlanRow, PurposeSource
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.by_model.plan_prices import PlanPricing, describe_ways_on, price_all
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import Shop, shop

BODY = "    if value > 1:\n        raise ValueError(value)\n    return value + {}\n"


def function(name: str, number: int, docstring: str = "") -> str:
    documentation = f'    """{docstring}"""\n' if docstring else ""
    return f"def {name}(value):\n{documentation}{BODY.format(number)}"


FILES = {
    "told/a.py": '"""Adding up what a till takes."""\n\n\n' + function("told", 1, "Add one to what is in the till."),
    "told/README.md": "# Tills\n\nEverything that adds up what a till takes in a day.\n",
    "untold/b.py": function("untold", 2)
    + "\n\n"
    + function("todo", 3, "TODO")
    + "\n\n"
    + function("again", 4, "Add four."),
    "tests/test_a.py": function("test_untold", 5) + "\n\n" + function("test_told", 6, "Whether six is added at all."),
}
DOCUMENTED = {"told/a.py", "told/a.py::told", "told/README.md", "told", "untold/b.py::again"}
TESTS = {"tests", "tests/test_a.py", "tests/test_a.py::test_untold", "tests/test_a.py::test_told"}
UNDOCUMENTED = {"untold/b.py::untold", "untold/b.py::todo", "untold/b.py", "untold", "."}


def gates(workspace: Workspace) -> dict[str, str | None]:
    """Of every document who wrote it: what stopped a model, or None."""
    found: dict[str, str | None] = {}
    for level in Level:
        rows = workspace.tables.read(f"texts_{level}", workspace.key, columns=["id", "written_by", "gate"]).to_pylist()
        found |= {row["id"]: row["gate"] if row["written_by"] != "llm" else None for row in rows}
    return found


def built(found: Shop, **llm: object) -> Workspace:
    workspace = found.workspace(llm=llm)
    build(workspace, until="summary_documents")
    return workspace


def by_gate(found: Mapping[str, str | None], gate: Gate | None) -> set[str]:
    return {id_ for id_, value in found.items() if value == gate}


def test_by_default_a_model_is_asked_for_what_nobody_documented_and_for_no_test(tmp_path: Path) -> None:
    with shop(tmp_path, FILES) as found:
        gates_found = gates(built(found, documented=False, tests=False))

        assert by_gate(gates_found, Gate.TESTS) == TESTS
        assert by_gate(gates_found, Gate.DOCUMENTED) == DOCUMENTED
        assert by_gate(gates_found, None) == UNDOCUMENTED
        assert len(found.server.seen) == len(UNDOCUMENTED)


@pytest.mark.parametrize(
    ("llm", "by_model"),
    [
        ({"documented": True, "tests": False}, UNDOCUMENTED | DOCUMENTED),
        ({"documented": False, "tests": True}, UNDOCUMENTED | TESTS - {"tests/test_a.py::test_told"}),
    ],
    ids=["documented", "tests"],
)
def test_each_setting_asks_for_what_it_names(tmp_path: Path, llm: dict[str, bool], by_model: set[str]) -> None:
    with shop(tmp_path, FILES) as found:
        assert by_gate(gates(built(found, **llm)), None) == by_model


@pytest.mark.slow
def test_a_text_by_a_model_stays_where_it_would_not_be_asked_for_any_more(tmp_path: Path) -> None:
    with shop(tmp_path, FILES) as found:
        built(found)
        found.server.seen.clear()

        kept = gates(built(found, documented=False, tests=False))
        found.repo.commit({"told/a.py": FILES["told/a.py"] + "\n\n" + function("told_too", 9, "Add nine to the till.")})
        edited = gates(built(found, documented=False, tests=False))

    assert by_gate(kept, None) == UNDOCUMENTED | DOCUMENTED | TESTS
    assert by_gate(edited, Gate.DOCUMENTED) == {"told/a.py::told_too", "told/a.py", "told"}
    assert len(found.server.seen) == 1, "the root alone is undocumented, and something in it has another text"


def test_what_an_extractive_text_takes_from_a_docstring_is_what_counts_as_documented(tmp_path: Path) -> None:
    with shop(tmp_path, FILES) as found:
        workspace = built(found, documented=False, max_summaries_per_run=0)
        rows = workspace.tables.read("texts_function", "shop", columns=["id", "gate", "purpose_source"]).to_pylist()

    assert {row["id"]: row["gate"] == Gate.DOCUMENTED for row in rows} == {
        row["id"]: row["purpose_source"] == PurposeSource.DOCSTRING for row in rows
    }


def test_a_plan_prices_the_documented_and_the_undocumented_apart(tmp_path: Path) -> None:
    with shop(tmp_path, FILES) as found:
        workspace = built(found, documented=False, tests=False, max_summaries_per_run=0)
        pricing = PlanPricing.of(workspace.tables, "shop", workspace.settings)
        priced = price_all(workspace.tables.read_rows("plan", "shop", PlanRow), pricing)
        message = "\n".join(describe_ways_on("shop", workspace.settings, priced))

    assert priced.documented.calls == len(DOCUMENTED | {"tests/test_a.py::test_told"})
    assert priced.undocumented.calls == len(UNDOCUMENTED | TESTS) - 1
    for name in ("expected_usd", "at_most_usd"):
        documented, undocumented, stopped = (
            getattr(calls, name) for calls in (priced.documented, priced.undocumented, priced.all_stopped)
        )
        assert documented + undocumented == pytest.approx(stopped)
    assert f"llm.documented = false leaves {len(DOCUMENTED)} texts" in message
    assert f"llm.tests = false leaves out test code: {len(TESTS)} texts" in message


def test_under_a_cap_what_nobody_documented_is_asked_for_first(tmp_path: Path) -> None:
    with shop(
        tmp_path, {"a.py": FILES["told/a.py"] + "\n\n" + function("calls", 7) + "\n\nprint(told(told(1)))\n"}
    ) as found:
        assert by_gate(gates(built(found, max_summaries_per_run=1)), None) == {"a.py::calls"}
