import pytest

from codesum_pipeline.search.retrieval.hits import Excerpt, best_lines

SOURCE = """import os


def load(path):
    # Read the settings.
    text = path.read_text()
    return parse(text)


def save(settings, path):
    backup = path.with_suffix(".bak")
    os.replace(path, backup)
    path.write_text(dump(settings))
    return backup
"""


@pytest.mark.parametrize(
    ("query", "size", "expected"),
    [
        pytest.param("keep a backup", 2, (11, 2), id="most of the words"),
        pytest.param("parsing texts", 1, (7, 1), id="inflected words"),
        pytest.param("write_text", 3, (12, 3), id="in the middle of what is around"),
        pytest.param("kubernetes", 3, (1, 3), id="the beginning, without any word"),
        pytest.param("", 2, (1, 2), id="the beginning, of nothing"),
        pytest.param("backup", 99, (1, 14), id="all there is"),
    ],
)
def test_the_lines_with_most_of_the_query_are_taken(query: str, size: int, expected: tuple[int, int]) -> None:
    found = best_lines(SOURCE, query, size=size)

    start, count = expected
    assert found == Excerpt(start, tuple(SOURCE.split("\n")[start - 1 : start - 1 + count]))


def test_only_the_lines_of_a_document_are_looked_at() -> None:
    assert best_lines(SOURCE, "settings", size=2, start_line=10, end_line=14).start_line == 10
    assert best_lines(SOURCE, "settings path", size=20, start_line=4, end_line=7) == Excerpt(
        4, tuple(SOURCE.split("\n")[3:7])
    )


def test_a_rare_word_is_worth_more_than_a_frequent_one() -> None:
    source = "price\nprice\nprice\nprice\ntax\nprice\n"

    assert best_lines(source, "price tax", size=1) == Excerpt(5, ("tax",))


def test_of_windows_with_the_same_words_the_denser_one_is_taken() -> None:
    source = "price\n\n\n\nprice\nprice\n"

    assert best_lines(source, "price", size=2) == Excerpt(5, ("price", "price"))


def test_an_excerpt_of_nothing_is_an_empty_line() -> None:
    assert best_lines("", "price", size=3) == Excerpt(1, ("",))


def test_lines_that_a_file_no_longer_has_are_no_error() -> None:
    assert best_lines("one\n", "one", size=3, start_line=7, end_line=9) == Excerpt(7, ())


def test_very_long_lines_are_cut() -> None:
    (line,) = best_lines("x" * 10_000, "price", size=1).lines

    assert line == "x" * 400 + "…"
