"""What a pattern may be, and what a search for it may cost."""

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RetryLater
from codesum_pipeline.search.source_lines import matching
from codesum_pipeline.search.source_lines.matching import LONGEST_LINE_PATTERN, LinePattern, find_matches

TEXT = b"one two\ntwo three two\n\xc3\xa9t\xc3\xa9 two\n"


def matches(pattern, text=TEXT, *, most_lines=1000, timeout_s=60.0):
    return find_matches(pattern, [memoryview(text)], most_lines=most_lines, timeout_s=timeout_s)


def test_each_match_is_found_by_its_bytes():
    assert matches(LinePattern("two")).spans == [(4, 7), (8, 11), (18, 21), (28, 31)]
    assert matches(LinePattern("ÉTÉ", ignores_case=True)).spans == [(22, 27)]
    assert matches(LinePattern("e.t", is_fixed=True)).spans == []
    assert matches(LinePattern("tw", is_word=True)).spans == []


def test_texts_are_one_stream():
    found = find_matches(
        LinePattern("b"), [memoryview(b"ab\n"), memoryview(b""), memoryview(b"b\n")], most_lines=9, timeout_s=60
    )

    assert found.spans == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("", "the pattern is empty"),
        ("x" * (LONGEST_LINE_PATTERN + 1), "has 1,001 characters: it has at most 1,000"),
        ("a\0b", "a NUL character"),
        ("a\ud800", "a byte that is no UTF-8, or half a character"),
        ("a\nb", "a match is within one line"),
        ("a\rb", "a match is within one line"),
        (r"a\nb", "a match is within one line"),
        ("foo(", r"unclosed group; to find it as it stands, search for it as a fixed text \(-F\)"),
        ("a{", "repetition quantifier expects a valid decimal"),
        ("[z-a]", "invalid character class range"),
        (r"(a)\1", "backreferences are not supported"),
        ("a(?=b)", "look-around is not supported"),
        (r"(\w{1,1000}){1,1000}", "it becomes too large: use smaller counts"),
        (r"\p{Nothing}", "Unicode property not found"),
    ],
)  # fmt: skip
def test_a_pattern_that_cannot_be_searched_for_says_why_and_what_helps(pattern, told):
    with pytest.raises(ConfigurationError, match=told):
        matches(LinePattern(pattern))


def test_what_no_expression_can_be_is_found_as_a_text():
    assert matches(LinePattern("f(", is_fixed=True), b"f(x)\n").spans == [(0, 2)]
    assert matches(LinePattern("--pre=x", is_fixed=True), b"a --pre=x\n").spans == [(2, 9)]


def test_the_longest_pattern_is_searched_for():
    text = b"x" * LONGEST_LINE_PATTERN
    assert matches(LinePattern(text.decode()), text + b"\n").spans == [(0, LONGEST_LINE_PATTERN)]


def test_one_line_more_than_is_wanted_is_found():
    assert len(matches(LinePattern("x"), b"x\n" * 50, most_lines=10).spans) == 11


def test_a_search_that_takes_too_long_ends_and_says_so():
    many = [memoryview(b"one two three\n" * 100_000)] * 2000
    found = find_matches(LinePattern("[xyz]{3}"), many, most_lines=9, timeout_s=0.05)

    assert found.stopped == "the search was ended after 0.05 s"


def test_matches_that_are_too_many_to_be_listed_end_a_search_and_it_says_so(monkeypatch):
    monkeypatch.setattr(matching, "_MOST_OUTPUT", 1 << 16)
    found = matches(LinePattern("x"), b"x" * 100_000 + b"\n")

    assert found.stopped == "the matches are too long to be listed"
    assert found.spans == [(number, number + 1) for number in range(len(found.spans))]


def test_of_a_match_that_is_longer_than_any_line_the_beginning_is_known():
    (whole,) = matches(LinePattern("x+"), b"y" + b"x" * 2000 + b"\n").spans
    (part,) = matches(LinePattern("x+"), b"y" + b"x" * 2001 + b"\n").spans

    assert whole == (1, 2001)
    assert part[0] == 1 and part[1] < 2001


def test_a_ripgrep_that_is_ended_by_the_system_is_no_answer(tmp_path, monkeypatch):
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\necho 0:a\nkill -9 $$\n")
    program.chmod(0o755)
    monkeypatch.setattr(matching, "_program", lambda: str(program))

    with pytest.raises(RetryLater, match=r"ripgrep was ended by the system \(-9\): it says nothing"):
        matches(LinePattern("a"))


def test_a_configuration_of_ripgrep_changes_nothing(tmp_path, monkeypatch):
    (tmp_path / "config").write_text("--ignore-case\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "config"))

    assert matches(LinePattern("TWO")).spans == []
