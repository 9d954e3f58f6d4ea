"""What `benchmarks/text_quality.py` counts in texts."""

from pathlib import Path

import pytest

from benchmarks.text_figures import (
    all_figures,
    count_texts,
    figures_of,
    headline_evidence,
    is_empty_text,
    quantiles,
    residue_in,
    summed,
)
from benchmarks.text_library import Document, Library, read_folder, write_library
from codesum_pipeline.evidence.inputs import ChildText, ModuleInput
from codesum_pipeline.foundation.data_model.document import Level, PurposeSource, WrittenText

SOURCE = '''"""Feeds the animals of a zoo."""


def weigh(animal):
    """Weigh an animal before it is fed."""
    scale = open_scale(animal)
    scale.reset()
    return scale.read()


def x1(a, b):
    c = a + b
    d = c * 2
    return d
'''


def library_of(folder: Path) -> Library:
    (folder / "zoo.py").write_text(SOURCE, "utf-8")
    return write_library(*read_folder(folder), key="zoo")


def text_of(summary: str, *, source: PurposeSource) -> Document:
    """The text of the folder `shop/store`: its path is all that a reader sees besides."""
    name = "store"
    shown = ModuleInput(f"shop/{name}", name, None)
    text = WrittenText(summary, "Part of the repository.", ("word",))
    return Document(shown, ChildText(name, name, Level.MODULE, "", False), text, source)


def test_a_headline_is_counted_by_its_evidence(tmp_path: Path) -> None:
    found = library_of(tmp_path).documents

    assert headline_evidence(found["zoo.py::weigh"]) == "docstring"
    assert headline_evidence(found["zoo.py::x1"]) == "none"


@pytest.mark.parametrize(
    ("summary", "source", "evidence"),
    [
        pytest.param("Stores a value in the cache.", PurposeSource.NAME, "name", id="a clause with a word of the name"),
        pytest.param("Store.", PurposeSource.NAME, "none", id="the bare name"),
        pytest.param("Class store.", PurposeSource.NAME, "none", id="the name behind its kind"),
        pytest.param("Takes path, mode.", PurposeSource.NAME, "none", id="a list of parameters"),
        pytest.param("Raises a value error.", PurposeSource.NAME, "none", id="an effect without a word of the name"),
        pytest.param("Returns the store.", PurposeSource.NAME, "name", id="a verb with its object"),
        pytest.param("Returns the store.", PurposeSource.DOCSTRING, "docstring", id="the author's words"),
        pytest.param("Raises a value error.", PurposeSource.BODY, "body", id="an effect"),
        pytest.param("Store.", PurposeSource.BODY, "none", id="the bare name of what does nothing else"),
        pytest.param("Files: main, view.", PurposeSource.CHILDREN, "none", id="a list of what it holds"),
    ],
)
def test_a_fact_of_the_signature_is_no_headline(summary: str, source: PurposeSource, evidence: str) -> None:
    assert headline_evidence(text_of(summary, source=source)) == evidence


def test_a_text_of_a_name_and_a_place_is_empty() -> None:
    bare = text_of("Class store. Part of folder shop.", source=PurposeSource.NAME)
    telling = text_of("Class store. Refuses late orders.", source=PurposeSource.NAME)

    assert (is_empty_text(bare), is_empty_text(telling)) == (True, False)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Reads [the lock](lock.md).", ["link"]),
        ("Reads <code>the lock</code>.", ["HTML"]),
        ("Reads the lock. @param lock the lock", ["doc tag"]),
        ("Reads :class:`Lock` once.", ["role"]),
        ("Reads the lock (of a file.", ["bracket"]),
        ("Reads the lock (of a file, and much m…", []),
        ("Writes to `lock` (once) at bob@example.org, a < b.", []),
    ],
)
def test_leftover_markup_is_named(text: str, kinds: list[str]) -> None:
    assert residue_in(text) == kinds


def test_figures_of_a_folder_count_each_document_once(tmp_path: Path) -> None:
    counts = count_texts(library_of(tmp_path))
    functions = figures_of(summed(counts, level="function"))

    assert functions["documents"] == 2
    assert functions["headlines"] == {"docstring": 0.5, "none": 0.5}
    assert set(all_figures(counts)["languages"]) == {"python"}  # type: ignore[call-overload]


def test_quantiles_are_of_the_numbers_behind_a_unit() -> None:
    assert quantiles({"chars 3": 1, "chars 10": 3, "intent chars 99": 5}, "chars") == [3, 3, 10, 10, 10, 10, 10]
