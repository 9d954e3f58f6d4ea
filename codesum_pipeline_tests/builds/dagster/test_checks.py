"""Each check finds the fault that is planted for it, stops the run, and stops no other repository."""

from collections.abc import Callable, Iterator
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from codesum_pipeline.builds.checks.fault_checks import (
    CHECK_FUNCTIONS,
    DOCUMENT_FAULTS,
    LEAK_FAULT,
    VECTOR_FAULTS,
    find_document_faults,
)
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.reports.build_values import AT_HEAD, PreviewRows
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store import table_parts
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline_tests.builds.law.test_law_of_parts import cut_by
from codesum_pipeline_tests.support.repositories import GitRepo

CART = "shop/cart.py::Cart"
TOTAL = "shop/prices.py::total"
Change = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


FAULTS = {fault for each in (*DOCUMENT_FAULTS.values(), VECTOR_FAULTS, (LEAK_FAULT,)) for fault in each}


def faults(home: Home) -> dict[str, int]:
    """How many of each fault the checks find in the repository `shop`."""
    workspace = home.workspace("shop", run_id="test")
    values = [each.values or {} for check in CHECK_FUNCTIONS.values() for each in check(workspace)]
    return {name: number for each in values for name, number in each.items() if name in FAULTS and number}


@pytest.fixture(params=[pytest.param(False, marks=pytest.mark.slow), True], ids=["whole tables", "tables in parts"])
def checked_home(request: pytest.FixtureRequest, copied_home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home in whose tables nothing was found, so that nothing of them needs to be looked at again."""
    if request.param:
        cut_by(1, monkeypatch)
        for table in ("documents", "symbols", "files", "edges", "vectors", "file_facts"):
            copied_home.tables.write(table, "shop", copied_home.tables.read(table, "shop"))
    assert faults(copied_home) == {}
    yield copied_home
    table_parts._cuts.cache_clear()


def plant(home: Home, table: str, change: Change) -> None:
    """Rewrite a table of `shop`."""
    before = home.tables.read(table, "shop")
    home.tables.write(table, "shop", pa.Table.from_pylist(change(before.to_pylist()), schema=before.schema))


def shown_examples(home: Home, check: str) -> list[str]:
    """The examples of faults that a check of documents shows."""
    findings = find_document_faults(home.workspace("shop", run_id="test"))
    (shown,) = [(each.values or {})["examples"] for each in findings if each.name == check]
    assert isinstance(shown, PreviewRows)
    return [str(row["for example"]) for row in shown.rows]


def without(id_: str, column: str = "id") -> Change:
    return lambda rows: [row for row in rows if row[column] != id_]


def with_value(id_: str, **values: Any) -> Change:
    return lambda rows: [{**row, **values} if row["id"] == id_ else row for row in rows]


def citing(*citations: tuple[str, int, int]) -> Change:
    names = ("field", "start_line", "end_line")
    return with_value(TOTAL, citations=[dict(zip(names, each, strict=True)) for each in citations])


def twice(id_: str) -> Change:
    return lambda rows: [*rows, *(row for row in rows if row["id"] == id_)]


def scaled(factor: float) -> Change:
    return lambda rows: [
        {**row, "vector": [number * factor for number in row["vector"]]} if row["id"] == TOTAL else row for row in rows
    ]


def test_a_sound_repository_has_no_faults(built_home: Home) -> None:
    assert faults(built_home) == {}


@pytest.mark.parametrize(
    ("table", "change", "fault"),
    [
        pytest.param("documents", twice(TOTAL), "an id occurs twice", id="a doubled document"),
        pytest.param("symbols", twice(TOTAL), "a symbol's id occurs twice", id="a doubled symbol"),
        pytest.param(
            "documents", with_value(TOTAL, file_path=""), "an id or a file path is empty", id="a document of no file"
        ),
        pytest.param(
            "documents", with_value(TOTAL, parent_id="shop/gone.py"), "its parent is no document", id="a lost parent"
        ),
        pytest.param(
            "files", without("shop/prices.py", "path"), "its file is not indexed", id="a document without file"
        ),
        pytest.param("symbols", without(TOTAL), "its symbol is gone", id="a document without symbol"),
        pytest.param(
            "documents",
            with_value(TOTAL, called_by=["shop/gone.py::f"]),
            "a neighbour in its context is no document",
            id="a lost caller",
        ),
        pytest.param("documents", without(TOTAL), "a symbol has no document", id="a symbol without document"),
        pytest.param(
            "documents", without("README.md"), "an indexed file has no document", id="a file without document"
        ),
        pytest.param("documents", without("shop"), "a folder has no document", id="a folder without document"),
        pytest.param("documents", with_value(TOTAL, summary=""), "a required field is empty", id="an empty summary"),
        pytest.param(
            "documents", citing(("summary", 4, 10)), "a citation leads out of its document", id="a line too far"
        ),
        pytest.param(
            "documents", citing(("summary", 5, 4)), "a citation leads out of its document", id="an end before its start"
        ),
        pytest.param(
            "documents",
            citing(("summary", 4, 4), ("side_effects", 4, 4)),
            "a citation of an empty or unknown field",
            id="a citation for nothing",
        ),
        pytest.param(
            "documents", citing(("summary", 4, 4)), "a filled field is not cited", id="inputs and result not cited"
        ),
        pytest.param(
            "documents", with_value(TOTAL, summary="Adds up what Cart.checkout has."), LEAK_FAULT, id="a caller's name"
        ),
        pytest.param(
            "documents",
            with_value("shop/prices.py", business_intent="Serves the Cart.checkout() of a shop."),
            LEAK_FAULT,
            id="the name of what calls a file's function",
        ),
        pytest.param("vectors", without(TOTAL), "a document lacks the vector of a lane", id="missing vectors"),
        pytest.param("vectors", twice(TOTAL), "a vector occurs twice", id="doubled vectors"),
        pytest.param(
            "vectors",
            with_value(TOTAL, id="gone.py"),
            "a vector belongs to no document",
            id="a vector without document",
        ),
        pytest.param(
            "documents",
            with_value(TOTAL, is_placeholder=True),
            "a placeholder has a vector",
            id="a placeholder's vector",
        ),
        pytest.param(
            "vectors", with_value(TOTAL, model="other@1"), "a vector of another model", id="another model's vector"
        ),
        pytest.param(
            "vectors", with_value(TOTAL, vector=[1.0]), "a vector of another length", id="a vector that is too short"
        ),
        pytest.param("vectors", scaled(float("nan")), "a number that is not finite", id="not a number"),
        pytest.param("vectors", scaled(float("inf")), "a number that is not finite", id="an infinite number"),
        pytest.param(
            "vectors", scaled(1.01), "a vector that is not of length one, nor of zeros", id="a vector that is too long"
        ),
    ],
)
def test_a_planted_fault_is_found_each_time(checked_home: Home, table: str, change: Change, fault: str) -> None:
    plant(checked_home, table, change)

    found = faults(checked_home)

    assert fault in found
    assert faults(checked_home) == found


@pytest.mark.parametrize("suffix", ["#3fa91c", "#3fa91c-2"])
def test_the_name_of_a_caller_that_is_an_overload_is_a_leak(copied_home: Home, suffix: str) -> None:
    caller = "shop/cart.py::Cart::checkout"
    edges = copied_home.tables.read("edges", "shop", columns=["src_id"]).column("src_id").to_pylist()
    plant(copied_home, "documents", with_value(TOTAL, summary="Adds up what Cart.checkout has."))
    plant(
        copied_home,
        "edges",
        lambda rows: [{**row, "src_id": row["src_id"] + suffix * (row["src_id"] == caller)} for row in rows],
    )

    assert caller in edges
    assert faults(copied_home)[LEAK_FAULT] == 1
    assert shown_examples(copied_home, "no_names_leak") == [f"{TOTAL} (Cart.checkout)"]


@pytest.mark.parametrize(("writer", "stops"), [("llm", True), ("extractive", False)])
def test_a_name_that_leaks_stops_a_run_where_a_model_wrote_it(copied_home: Home, writer: str, stops: bool) -> None:
    plant(copied_home, "documents", with_value(TOTAL, summary="Adds up what Cart.checkout has.", written_by=writer))

    (found,) = [
        each
        for each in find_document_faults(copied_home.workspace("shop", run_id="test"))
        if each.name == "no_names_leak"
    ]

    assert (found.passed, found.is_warning) == (False, not stops)


def test_every_query_is_tried_with_a_fault() -> None:
    (mark,) = [mark for mark in test_a_planted_fault_is_found_each_time.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]

    assert {case.values[2] for case in mark.args[1]} == FAULTS


def test_a_vector_of_zeros_stands_for_a_text_without_known_words(copied_home: Home) -> None:
    plant(copied_home, "vectors", scaled(0.0))

    assert faults(copied_home) == {}


def test_a_failed_check_stops_the_publication_of_its_repository_and_of_no_other(
    copied_home: Home, git_repo: Callable[..., GitRepo]
) -> None:
    home = copied_home
    home.registry.add(RepositoryEntry("other", str(git_repo({"a.py": "x = 1\n"}, name="other").path)))
    before = published_version(home.layout, "shop")
    plant(home, "vectors", scaled(1.01))  # carried over, since the texts stay the same

    shop, other = index_repositories(home, ["shop", "other"])

    assert not shop.succeeded
    assert shop.message == (
        "check vectors_are_whole of dense_index failed: a vector that is not of length one, nor of zeros: 2 "
        "(of 20 vectors, 10 documents)"
    )
    assert not shop.numbers.keys() & {"index_candidate", "published_index"}
    assert published_version(home.layout, "shop") == before
    assert other.succeeded, other.message


def evaluations(home: Home) -> dict[str, dg.AssetCheckEvaluation]:
    """The last result of every check of `shop`."""
    names = {
        "dense_index": ["vectors_are_whole"],
        "summary_documents": [*DOCUMENT_FAULTS, "no_names_leak"],
        "published_index": [AT_HEAD],
    }
    keys = [dg.AssetCheckKey(dg.AssetKey(asset), name) for asset, checks in names.items() for name in checks]
    with open_instance(home.layout) as instance:
        storage = instance.event_log_storage
        found = [storage.get_asset_check_execution_history(key, limit=1)[0].event for key in keys]
    return {key.name: event.asset_check_evaluation for key, event in zip(keys, found, strict=True) if event}


def numbers(evaluation: dg.AssetCheckEvaluation) -> dict[str, int | float]:
    kinds = (dg.IntMetadataValue, dg.FloatMetadataValue)
    return {name: value.value or 0 for name, value in evaluation.metadata.items() if isinstance(value, kinds)}


def test_a_check_that_passes_has_the_numbers_that_were_looked_at_and_found(built_home: Home) -> None:
    found = evaluations(built_home)

    of_documents = {
        "documents": 10,
        "symbols": 4,
        "indexed_files": 4,
        "placeholders": 0,
        "placeholder_share": 0.0,
        "wrong": 0,
    }
    assert {name: numbers(found[name]) for name in DOCUMENT_FAULTS} == {
        name: of_documents | dict.fromkeys(looked_for, 0) for name, looked_for in DOCUMENT_FAULTS.items()
    }
    assert numbers(found["no_names_leak"]) == of_documents | {LEAK_FAULT: 0}
    assert numbers(found["vectors_are_whole"]) == {
        "vectors": 20,
        "documents": 10,
        "vectors_of_zeros": 0,
        "wrong": 0,
    } | dict.fromkeys(VECTOR_FAULTS, 0)
    assert numbers(found[AT_HEAD]) == {"documents": 10, "versions_kept": 1}
    assert found["no_orphans"].description == "no fault (of 10 documents, 4 symbols)"


@pytest.mark.slow
def test_a_check_that_fails_has_the_number_of_each_fault_and_examples(copied_home: Home) -> None:
    plant(copied_home, "vectors", scaled(1.01))

    index_repositories(copied_home, ["shop"])
    found = evaluations(copied_home)["vectors_are_whole"]

    fault = "a vector that is not of length one, nor of zeros"
    assert {name: number for name, number in numbers(found).items() if number} == {
        "vectors": 20, "documents": 10, "wrong": 1, fault: 2
    }  # fmt: skip
    examples = found.metadata["examples"]
    assert isinstance(examples, dg.TableMetadataValue)
    assert [record.data for record in examples.records] == [{"fault": fault, "for example": TOTAL}]


def test_a_checks_result_belongs_to_its_partition(built_home: Home) -> None:
    checks = dg.AssetCheckKey(dg.AssetKey("dense_index"), "vectors_are_whole")

    with open_instance(built_home.layout) as instance:
        (record,) = instance.event_log_storage.get_asset_check_execution_history(checks, limit=10)

    assert record.partition == "shop"
    assert record.status.value == "SUCCEEDED"


def test_the_fixture_has_every_level(built_home: Home) -> None:
    documents = built_home.tables.read("documents", "shop")

    assert set(pc.unique(documents.column("type")).to_pylist()) == set(Level)
