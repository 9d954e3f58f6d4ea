"""What others wrote cannot act on the terminal that shows it."""

import json

import pytest

from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line
from codesum_pipeline.ways_in.cli.left_out import failure_lines
from codesum_pipeline.ways_in.cli.render import safe_json_of

ESC = "\x1b"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        pytest.param("plain ünïcode 文字", "plain ünïcode 文字", id="printable text stays"),
        pytest.param(f"{ESC}[31mred{ESC}[0m", "red", id="colours go"),
        pytest.param(f"{ESC}]0;owned\x07title", "title", id="window titles go"),
        pytest.param(f"{ESC}]8;;http://x{ESC}\\link{ESC}]8;;{ESC}\\", "link", id="links go"),
        pytest.param(f"a{ESC}]0;never ended", "a", id="an unended string goes to its end"),
        pytest.param(f"{ESC}c{ESC}(B{ESC}", "", id="short escapes go"),
        pytest.param("\x9b2Jwiped", "wiped", id="eight-bit control sequences go"),
        pytest.param("a\bb\x00c\x7fd", "abcd", id="control characters go"),
        pytest.param("real\rfake", "real\nfake", id="a carriage return cannot overwrite"),
        pytest.param("one\r\ntwo", "one\ntwo", id="line ends are line feeds"),
        pytest.param("x\u202egnp.exe", "xgnp.exe", id="bidirectional controls go"),
        pytest.param("zero\u200bwidth\ufeff", "zerowidth", id="invisible characters go"),
        pytest.param("a\u2028b", "a\nb", id="line separators are line feeds"),
        pytest.param("bad \udcff byte", "bad \ufffd byte", id="undecodable bytes are marked"),
        pytest.param("[red]not markup[/red]", "[red]not markup[/red]", id="brackets are text"),
    ],
)
def test_text_keeps_what_can_be_read_and_loses_what_acts(written, shown):
    assert clean_text(written) == shown


def test_what_failed_is_told_in_one_line():
    failures = [Failure("a\nshop: up to date", "no\nreason")]

    assert [*failure_lines("shop", {"repo_snapshot": failures})] == [
        "1 path could not be used: a shop: up to date (no reason)"
    ]


def test_one_line_is_one_line():
    assert one_line(" a\tb\r\nc\u2029 d ") == "a b c d"


def test_json_is_safe_to_print_and_says_the_same():
    value = {"summary": f"{ESC}[31m\u202e文字\udcff\x9b\u2028\x7f", "n": [1, None]}

    printed = safe_json_of(value)

    assert json.loads(printed) == value
    assert clean_text(printed) == printed
    assert "文字" in printed
    assert "\n" not in printed
