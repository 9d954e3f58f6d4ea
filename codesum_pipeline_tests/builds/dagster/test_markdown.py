"""What a repository wrote comes out as the letters it is made of."""

import html
import re

import pytest
from markdown_it import MarkdownIt

from codesum_pipeline.foundation.data_model.markdown import escape_text, markdown_table


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "&lt;b&gt;",
        "![x](data:image/svg+xml;base64,AAAA)",
        "[click](javascript:alert(1))",
        "https://example.org www.example.org mail@example.org",
        "a | b\n| --- |\n# heading",
        "`code` ```fence``` ~~~ *bold* _it_ ~~gone~~ $x$",
        "\u202eright to left\u202c zero\u200bwidth",
        "1. list - list + list > quote",
    ],
)
def test_nothing_in_a_text_is_markup(text: str) -> None:
    shown = escape_text(text, limit=1000)

    assert not re.search(r"[<>]", shown)
    assert not re.search(r"(?<!\\)[`*_\[\]|!#~$]", shown)
    assert not re.search(r"(?i)https?:|www\.|\w@\w", shown)
    assert shown == " ".join(shown.split())
    assert not set(shown) & set("\u202e\u202c\u200b")


@pytest.mark.parametrize("text", ["$a->get", "<b> & &gt;", "1 > 0 *and* [x](y)"])
def test_a_reader_sees_the_letters_of_the_text(text: str) -> None:
    shown = MarkdownIt().render(escape_text(text))

    assert html.unescape(re.sub(r"</?p>", "", shown)).strip() == text


def test_plain_words_stay_plain_words() -> None:
    assert escape_text("Return the sum, or nothing") == "Return the sum, or nothing"


def test_a_long_text_is_cut() -> None:
    assert escape_text("word " * 100, limit=12) == "word word w…"


def test_a_table_keeps_its_columns_whatever_the_cells_hold() -> None:
    lines = markdown_table(["id", "n"], [("a|b\n|c|", 1), (None, 2)]).splitlines()

    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines] == [3, 3, 3, 3]
