"""The documents of an index are found one by one; what is damaged or hostile is named."""

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.errors import RefusedIndex
from codesum_pipeline.symbols.scip import offering
from codesum_pipeline.symbols.scip.offering import (
    DocumentPlace,
    IndexerIdentity,
    OversizedDocument,
    message_class,
    read_document,
    read_index_parts,
)
from codesum_pipeline_tests.support.scip_indexes import HandMadeIndex, python_symbol

_SOURCES = {"a.py": "def f(): pass\n", "b.py": "from a import f\nf()\n"}


def _index() -> bytes:
    f = python_symbol("a", "f().")
    return HandMadeIndex(_SOURCES).define("a.py", "f", f).refer("b.py", "f", f).content()


def _written(folder: Path, content: bytes) -> Path:
    path = folder / "index.scip"
    path.write_bytes(content)
    return path


def test_an_index_is_its_tool_and_the_places_of_its_documents(tmp_path: Path) -> None:
    index = _written(tmp_path, _index())

    tool, *places = read_index_parts(index)

    assert tool == IndexerIdentity("scip-python", "1.2.3", "file:///somewhere/else")
    assert [place.path for place in places if isinstance(place, DocumentPlace)] == ["a.py", "b.py"]
    documents = [message_class("Document").FromString(read_document(index, p)) for p in places]  # type: ignore[arg-type]
    assert [len(document.occurrences) for document in documents] == [1, 1]


def test_fields_of_a_later_format_are_passed_over(tmp_path: Path) -> None:
    later = b"\xa8\x06\x01" + b"\xa1\x06" + b"8" * 8 + b"\xa5\x06" + b"4" * 4 + b"\xa2\x06\x03new"

    assert [*read_index_parts(_written(tmp_path, later + _index()))][1:] != []


@pytest.mark.parametrize("cut", range(1, 12))
def test_an_index_that_ends_early_is_named_with_the_place(tmp_path: Path, cut: int) -> None:
    content = _index()

    with pytest.raises(RefusedIndex, match="not written to its end"):
        [*read_index_parts(_written(tmp_path, content[:-cut]))]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"\x12" + b"\xff" * 11, "has more than 10 bytes", id="a length that never ends"),
        pytest.param(b"\x12" + b"\xff" * 9 + b"\x01", "are announced", id="the largest length"),
        pytest.param(b"\x12\x05hello", "is no message of SCIP", id="a document that is a text"),
        pytest.param(b"\x00\x01", "is no field", id="a field without a number"),
        pytest.param(b"\x13\x01", "is no field", id="a group, which no message of SCIP has"),
        pytest.param(b"<!DOCTYPE html><html>", ".", id="a page of a server"),
        pytest.param(b"SQLite format 3\x00" + b"\x10" * 40, ".", id="another file"),
    ],
)
def test_what_is_no_index_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(RefusedIndex, match=problem):
        [*read_index_parts(_written(tmp_path, content))]


def test_more_documents_than_a_repository_can_have_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offering, "MOST_DOCUMENTS", 1000)
    started = time.process_time()

    with pytest.raises(RefusedIndex, match="more than 1,000 documents"):
        [*read_index_parts(_written(tmp_path, b"\x12\x00" * 5_000_000))]

    # It ends there, and does not read on.
    assert time.process_time() - started < 5


def test_a_document_that_is_too_large_is_passed_over_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offering, "MOST_DOCUMENT_BYTES", 60)
    large = HandMadeIndex({}).message()
    large.documents.add(relative_path="large.py", text="x" * 100)
    large.documents.add(relative_path="small.py")

    _, first, second = read_index_parts(_written(tmp_path, large.SerializeToString()))

    assert isinstance(first, OversizedDocument)
    assert isinstance(second, DocumentPlace)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 20))
def test_any_bytes_are_an_index_or_refused(tmp_path: Path, noise: bytes, at: int, cut: int) -> None:
    content = _index()
    damaged = content[:at] + noise + content[at + cut :]

    try:
        found = [*read_index_parts(_written(tmp_path, damaged))]
    except RefusedIndex as error:
        assert str(error)
    else:
        assert all(isinstance(one, IndexerIdentity | DocumentPlace | OversizedDocument) for one in found)
