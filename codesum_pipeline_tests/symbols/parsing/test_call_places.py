"""Where the last names of callees stand: what a compiler's index says of such a place holds of the call there."""

import json

import pytest

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import FileFacts
from codesum_pipeline.symbols.parsing.parsers import PARSERS, parse_file
from codesum_pipeline_tests.support.marked_calls import SOURCES, marked_places, unmarked

LANGUAGES = pytest.mark.parametrize("language", sorted(PARSERS))
NOWHERE = (0, 0)
LINKS = 5_000


def facts_of(language: str, data: bytes) -> FileFacts:
    return parse_file("file", language, data, blob="", hash_policy=HashPolicy.CANONICAL).facts


def places_of(language: str, data: bytes) -> list[tuple[int, int]]:
    """In the order of the calls in the references."""
    numbers = facts_of(language, data).call_places or ()
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def last_names(language: str, references: str) -> list[str]:
    """What stands in the file for the callee of each call."""
    if language == "python":
        return [callee.rpartition(".")[2] for _, callee, _ in json.loads(references)["calls"]]
    names = [name.rpartition("\\")[2] for _, _, name, _ in json.loads(references)["calls"]]
    if language == "rust":
        return [name.removesuffix("!") for name in names]
    return [f"`{name}`" if " " in name else name for name in names]


def test_every_language_has_a_source_without_errors() -> None:
    errors = {language: facts_of(language, unmarked(language).encode()).syntax_errors for language in SOURCES}

    assert errors == dict.fromkeys(PARSERS, 0)


@LANGUAGES
def test_the_last_name_of_each_callee_has_its_line_and_column(language: str) -> None:
    places = places_of(language, unmarked(language).encode())

    assert sorted(places) == list(marked_places(language))


@LANGUAGES
def test_the_places_are_in_the_order_of_the_calls(language: str) -> None:
    source = unmarked(language).encode()
    names = last_names(language, facts_of(language, source).references)
    rows = source.split(b"\n")

    texts = [
        rows[line - 1][column:][: len(name.encode())].decode()
        for (line, column), name in zip(places_of(language, source), names, strict=True)
    ]

    assert texts == names


@LANGUAGES
@pytest.mark.parametrize(
    ("mark", "line_end", "encoding"),
    [
        pytest.param(b"", "\r\n", "utf-8", id="CRLF"),
        pytest.param(b"", "\r", "utf-8", id="CR"),
        pytest.param(b"\xef\xbb\xbf", "\n", "utf-8", id="a byte order mark"),
        pytest.param(b"\xff\xfe", "\n", "utf-16-le", id="UTF-16"),
    ],
)
def test_places_are_those_of_the_decoded_text(language: str, mark: bytes, line_end: str, encoding: str) -> None:
    # What follows a byte order mark stands at the first column.
    source = unmarked(language).lstrip("\n ")

    stored = mark + source.replace("\n", line_end).encode(encoding)

    assert places_of(language, stored) == places_of(language, source.encode())


@pytest.mark.parametrize(
    ("language", "source", "places"),
    [
        pytest.param("python", "f()(1)", [NOWHERE, (1, 0)], id="of a result"),
        pytest.param("python", "a.f[0](1)", [NOWHERE], id="of an item"),
        pytest.param("python", "(lambda: g())()", [NOWHERE, (1, 9)], id="of a lambda"),
        pytest.param("python", "a.(1)", [NOWHERE], id="without its name"),
        pytest.param("ruby", "x = A.(1)", [NOWHERE], id="that Ruby names itself"),
        pytest.param("bash", "trap 'clean 1' EXIT", [NOWHERE], id="amid a text"),
    ],
)
def test_a_call_without_a_last_name_has_no_place(language: str, source: str, places: list[tuple[int, int]]) -> None:
    assert places_of(language, source.encode()) == places


def test_a_parsed_file_without_calls_has_no_places_and_a_text_none() -> None:
    assert facts_of("python", b"x = 1").call_places == ()
    assert facts_of("text", b"f(x)").call_places is None


def test_places_leave_the_references_as_they_are() -> None:
    before, after = facts_of("go", b"package p\nfunc f() { g() }"), facts_of("go", b"package p\n\n\nfunc f() {  g() }")

    assert (before.references, before.call_places) == (after.references, (2, 11))
    assert after.call_places == (4, 12)


@pytest.mark.parametrize(
    ("language", "begin", "end"),
    [
        pytest.param("python", "x = a", "", id="python"),
        pytest.param("javascript", "x = a", ";", id="a name that is a node's text"),
        pytest.param("cpp", "int x = a", ";", id="a name that is a part"),
        pytest.param("ruby", "x = a", "", id="ruby"),
        pytest.param("swift", "let x = a", "", id="swift"),
    ],
)
def test_each_call_of_a_long_chain_has_its_place(language: str, begin: str, end: str) -> None:
    places = places_of(language, f"{begin}{'.b()' * LINKS}{end}".encode())

    assert sorted(places) == [(1, len(begin) + 1 + 4 * link) for link in range(LINKS)]
