"""The lines of a change: what differs and nothing else, in a time that no text makes long."""

import pytest

from codesum_pipeline.notifications.digests.hunks import LINE_CHARS, MOST_LINES, Hunk, find_edits, hunk_of

GITHUB_TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_lines_that_differ_stand_with_few_around_them_and_far_parts_apart() -> None:
    body = [f"    step_{number}()" for number in range(20)]
    before = "\n".join(["    def run(self):", *body])
    after = before.replace("step_3()", "first()").replace("step_15()", "second()\n    third()")

    assert hunk_of(before, after, "run.py") == Hunk(
        " step_1()\n step_2()\n-step_3()\n+first()\n step_4()\n step_5()\n"
        "@@\n step_13()\n step_14()\n-step_15()\n+second()\n+third()\n step_16()\n step_17()",
        added=3,
        removed=2,
    )


def test_what_is_new_or_gone_is_all_lines_of_it() -> None:
    assert hunk_of(None, "def f():\n    pass\n", "f.py") == Hunk("+def f():\n+    pass", added=2, removed=0)
    assert hunk_of("a\n\nb", None, "f.py") == Hunk("-a\n-\n-b", added=0, removed=2)


def test_secrets_are_masked_before_lines_are_compared() -> None:
    hunk = hunk_of(f'key = "{GITHUB_TOKEN}"\nold()', f'key = "{GITHUB_TOKEN}"\nnew()', "keys.py")

    assert hunk is not None
    assert GITHUB_TOKEN not in hunk.text
    assert "-old()\n+new()" in hunk.text


def test_a_secret_that_was_replaced_is_said_to_have_changed() -> None:
    other = "ghp_" + "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3i2"

    assert hunk_of(f'key = "{GITHUB_TOKEN}"', f'key = "{other}"', "keys.py") == Hunk("", 0, 0, is_masked=True)


def test_a_secret_with_invisible_letters_in_it_is_masked() -> None:
    hidden = f"{GITHUB_TOKEN[:9]}\u200b{GITHUB_TOKEN[9:]}"
    hunk = hunk_of("old()", f'key = "{hidden}"', "keys.py")

    assert hunk is not None
    assert "«masked" in hunk.text and GITHUB_TOKEN[9:] not in hunk.text


def test_what_cannot_be_seen_is_taken_out() -> None:
    hunk = hunk_of("a = 1", "a = 2 \x1b[31m\u202eevil\u202c\x00", "a.py")

    assert hunk == Hunk("-a = 1\n+a = 2 evil", added=1, removed=1)


def test_words_of_markdown_and_html_are_compared_and_not_their_markup() -> None:
    markdown = hunk_of(
        "# Sign in\n\nUse [the form](https://a.example). Wait.", "Sign in\n=======\n\n*Use* the form. Go.", "README.md"
    )
    html = hunk_of("<p>Costs &lt; 5 &euro;.</p>", "<p>Costs <b>&lt; 7</b> &euro;.</p><script>x()</script>", "page.html")

    assert markdown is not None and html is not None
    assert "-Wait.\n+Go." in markdown.text and "](" not in markdown.text and markdown.removed == 1
    assert (html.text, html.added) == ("-Costs < 5 €.\n+Costs < 7 €.", 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("x" * 300_000, "y" * 300_000, id="minified lines"),
        pytest.param("a\n" * 3_900, "b\n" * 3_900, id="all lines others"),
        pytest.param("a\nb\n" * 1_900, "b\na\n" * 1_900, id="the same lines in another order"),
        pytest.param("# a\n" * 8_000, "x\n" + "# a\n" * 3_000, id="too many lines to read"),
        pytest.param("*" * 30_000, "_*" * 15_000, id="marks that mean nothing"),
    ],
)
@pytest.mark.parametrize("path", ["a.js", "a.md", "a.rst", "a.html"])
@pytest.mark.timeout(20)
def test_no_text_makes_a_diff_long(before: str, after: str, path: str) -> None:
    hunk = hunk_of(before, after, path)

    if hunk is not None:
        assert hunk.text.count("\n") < MOST_LINES
        assert max(map(len, hunk.text.split("\n"))) <= LINE_CHARS


def test_a_few_edits_in_a_long_file_are_told_apart() -> None:
    lines = [f"line {number}" for number in range(3_000)]
    edited = [*lines]
    edited[10], edited[1_500], edited[2_900] = "first", "second", "third"
    hunk = hunk_of("\n".join(lines), "\n".join(edited), "a.txt")

    assert hunk is not None
    assert (hunk.added, hunk.removed, hunk.is_cut) == (3, 3, False)
    assert hunk.text.count("@@") == 2


@pytest.mark.parametrize("count", [398, 2_000])
def test_lines_that_stand_there_twice_are_compared(count: int) -> None:
    twice = [f"line {number // 2}" for number in range(count)]
    old, new = ["old", *twice, "gone"], ["new", *twice, "come"]

    assert find_edits(old, new) == [(0, 1, 0, 1), (count + 1, count + 2, count + 1, count + 2)]
