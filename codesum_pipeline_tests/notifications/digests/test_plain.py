"""The digest without a model: each kind of change in plain words, nothing of a repository that acts, and a bounded
length."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import PostId
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.standing_question import Intent
from codesum_pipeline.notifications.delivery.dialects import CHAT, PLAIN, html_mail, write_body
from codesum_pipeline.notifications.delivery.posts import digest_post
from codesum_pipeline.notifications.digests.digest_items import Item, items_of
from codesum_pipeline.notifications.digests.hunks import hunk_of
from codesum_pipeline.notifications.digests.plain_digest import write_plain
from codesum_pipeline.notifications.digests.wording import differences_between
from codesum_pipeline_tests.notifications.delivery.test_rendering import HOSTILE, check_only_ours
from codesum_pipeline_tests.support.digest_making import change, match, state

INTENT = Intent("sessions", "how sessions are signed", threshold=0.3)
FOOT = "*Asked: “how sessions are signed”. No language model wrote this.*\n"


def digest_of(*items: Item) -> str:
    """A digest without its last line, which is the same in all."""
    text = write_plain(INTENT, items).summary
    assert text.endswith(FOOT)
    return text.removesuffix(FOOT).strip()


def item(
    before: str | None = "Signs a session.",
    after: str | None = "Signs a session.",
    *,
    lines: tuple[str | None, str | None] = (None, None),
    score: float | None = 0.5,
    subjects: tuple[str, ...] = (),
    **of: Any,
) -> Item:
    found = match(before, after, score=score, **of)
    if found.change.before and found.change.after and before == after:
        found = replace(found, change=replace(found.change, after=replace(found.change.after, content_hash="other")))
    made = items_of([[found]], {})[0]
    return replace(made, hunk=hunk_of(*lines, found.change.state.file_path), subjects=subjects)


OLD = "def sign(session):\n    return mac(session)\n"
NEW = "def sign(session, key):\n    return key.sign(session)\n"
LINES = "-def sign(session):\n-    return mac(session)\n+def sign(session, key):\n+    return key.sign(session)"
BLOCK = f"```diff\n{LINES}\n```"


def test_a_changed_function_has_its_lines_and_its_commit() -> None:
    assert digest_of(item(lines=(OLD, NEW), subjects=("Sign with keys (#7)",))) == (
        "In `shop`, `sign` changed, with “Sign with keys (#7)”.\n\n"
        f"**`sign`** changed in `src/auth.py` (+2 −2 lines) [1]\n\n{BLOCK}"
    )


def test_without_lines_it_says_which_signature_and_words_are_others() -> None:
    old = state("Signs a session. Part of auth.", signature="def sign(session: dict[str, int], ttl=1)")
    new = state("Signs with a key. Part of auth.", signature="def sign(session: dict[str, int], *, key: Key)")
    found = replace(item("x", "y"), before=old.summary, after=new.summary)
    found = replace(found, change=replace(found.change, before=old, after=new))

    assert digest_of(found).endswith(
        "**`sign`** changed in `src/auth.py` [1]\n\n"
        "- Signature: now `def sign(session: dict[str, int], *, key: Key)`; "
        "before `def sign(session: dict[str, int], ttl=1)`\n- Now: “Signs with a key.”\n- Before: “Signs a session.”"
    )


def test_something_new_says_what_it_is() -> None:
    assert digest_of(item(None, "Loads keys from a file. Calls open. Part of auth.")) == (
        "In `shop`, `sign` is new.\n\n**`sign`** is a new function in `src/auth.py` [1]\n\n- Loads keys from a file."
    )
    assert "\n- Calls open." in digest_of(item(None, "Calls open."))


def test_something_gone_says_what_it_was() -> None:
    assert digest_of(item("Loads keys from a file.", None, lines=(OLD, None))) == (
        "In `shop`, `sign` was removed.\n\n**`sign`** was removed in `src/auth.py` [1]\n\n"
        "- It was: Loads keys from a file."
    )


def test_what_moved_says_from_where() -> None:
    moved = item(lines=(None, None))
    before = state("Signs.", file_path="lib/auth.py")
    moved = replace(moved, change=replace(moved.change, before=before))
    renamed = replace(moved, change=replace(moved.change, before=state("Signs.", name="mac")))

    assert "**`sign`** moved from `lib/auth.py` to `src/auth.py`, unchanged [1]" in digest_of(moved)
    assert "**`sign`** was `mac` before, in `src/auth.py`, unchanged [1]" in digest_of(renamed)


def test_a_text_that_alone_changed_is_told_as_such() -> None:
    reworded = item("Old words.", "New words.")
    states = (replace(each, content_hash="same") for each in (reworded.change.before, reworded.change.after) if each)
    before, after = states
    reworded = replace(reworded, change=replace(reworded.change, before=before, after=after))

    assert "**`sign`** is described otherwise; its code is as it was in `src/auth.py` [1]" in digest_of(reworded)
    assert "- Now: “New words.”\n- Before: “Old words.”" in digest_of(reworded)
    assert "**Only described otherwise:** 1 reworded: `sign` [2]" in digest_of(reworded, item(lines=(OLD, NEW)))


def test_a_masked_secret_is_said_to_have_changed_and_not_shown() -> None:
    token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    found = item(lines=(f'key = "{token}"', f'key = "{token[:-4]}zzzz"'))

    assert "**`sign`** changed in `src/auth.py` (what changed is masked as a secret) [1]" in digest_of(found)
    assert "ghp_" not in digest_of(found)


def test_a_change_in_many_places_is_one_item() -> None:
    many = [match("Signs.", f"Signs {n}.", document=f"src/f{n}.py::sign{n}", score=0.9 - n / 100) for n in range(14)]
    named = [replace(m, change=_named(m.change, f"sign{n}", f"src/f{n}.py")) for n, m in enumerate(many)]
    one = items_of([named], {})[0]

    assert (
        "**14 functions changed alike** in 14 files: `sign0`, `sign1`, `sign2`, `sign3` and 10 more [1]"
        in digest_of(one)
    )
    assert digest_of(one).startswith("In `shop`, 14 functions changed.")


def test_a_new_file_names_what_it_brings() -> None:
    file = item(None, "Keys. Functions: load.", level=Level.FILE, document="keys.py")
    file = replace(file, change=_named(file.change, "keys.py", "keys.py"))
    inside = _named(change(None, "Loads.", document="keys.py::load"), "load", "keys.py")

    assert "**`keys.py`** is a new file with `load` [1]" in digest_of(replace(file, parts=(inside,)))


def test_sentences_of_prose_are_quoted_as_they_are_now_and_were_before() -> None:
    readme = item(level=Level.FILE, document="README.md")
    readme = replace(readme, change=_named(readme.change, "README.md", "README.md"))
    lines = ("# Sign in\n\nTokens live a day. Bye.", "# Sign in\n\nTokens live [an hour](x). Bye.")
    readme = replace(readme, hunk=hunk_of(*lines, "README.md"))

    assert "- Before: “Tokens live a day.”\n- Now: “Tokens live an hour.”" in digest_of(readme)


def test_changes_stand_below_the_commits_they_came_with() -> None:
    first = item(lines=(OLD, NEW), subjects=("Use keys",), score=0.9)
    second = item(lines=(OLD, NEW), subjects=("Fix *it*",), document="src/b.py::b")
    text = digest_of(first, second)

    assert text.startswith("In `shop`, `sign` and `sign` changed, with “Use keys” and “Fix \\*it\\*”.")
    assert text.index("## “Use keys”") < text.index("[1]") < text.index("## “Fix \\*it\\*”") < text.index("[2]")


def test_commits_of_lesser_changes_are_no_headings() -> None:
    items = [item(subjects=(f"Commit {n}",), document=f"src/f{n}.py::f", score=1 - n / 10) for n in range(7)]
    text = digest_of(*items)

    assert [line for line in text.split("\n") if line.startswith("## ")] == [
        *(f"## “Commit {n}”" for n in range(4)),
        "## Other changes",
    ]
    assert text.split("## Other changes\n\n")[1].count("\n") == 2


def test_tests_and_copies_are_told_in_a_line_below() -> None:
    main = item(lines=(OLD, NEW))
    tests = [item(None, "Tests.", document=f"t{n}.py::test_{n}", is_test=True, score=0.9) for n in range(5)]
    copy = item(document="vendor/x.py::sign", is_vendored=True)
    text = digest_of(main, *tests, copy)

    assert text.startswith("In `shop`, `sign` changed.")
    assert "**Tests:** 5 new: `sign` [2] [3] [4]" in text
    assert "**Vendored copies:** 1 changed: `sign` [5]" in text


def test_a_new_version_number_is_told_in_a_line_below() -> None:
    release = item(lines=("# 1.2.3 of May 2026", "# 1.3.0 of July 2026"), document="man.1::head", score=0.9)
    text = digest_of(release, item(lines=(OLD, NEW)))

    assert text.startswith("In `shop`, `sign` changed.")
    assert "**Only numbers or dates:** 1 changed: `sign` [2]" in text
    assert digest_of(release).startswith("In `shop`, `sign` changed. Nothing but numbers or dates is different.")


def test_the_best_come_first_whatever_the_order_of_the_items() -> None:
    items = [item(document=f"src/a.py::f{n}", score=score) for n, score in enumerate((0.2, None, 0.9, 0.5))]
    results = {write_plain(INTENT, order) for order in (tuple(items), tuple(reversed(items)))}

    assert [[each.score for each in result.citations] for result in results] == [[0.9, 0.5, 0.2, None]]


@pytest.mark.timeout(60)
def test_ten_thousand_changes_are_a_screen_or_two_and_what_is_left_out_is_counted() -> None:
    groups = [
        [match("Old.", f"New {n}.", document=f"src/part{n % 7}/f{n}.py::f{n}", score=n / 10_000)] for n in range(10_000)
    ]
    result = write_plain(INTENT, items_of(groups, {}))

    assert result.summary.startswith("In `shop`, 10,000 functions changed.")
    assert "**Not shown here:** 9,986 more changes: 9,986 in `src/`." in result.summary
    assert len(result.summary) < 6_000
    assert len(result.citations) == 14


def test_of_what_is_left_out_the_largest_folders_are_named() -> None:
    folders = [folder for count, folder in enumerate(["a", "b", "c", "d", "e"], start=20) for _ in range(count)]
    made = [(item(document=f"f{n}"), f"{folder}/{n}.py") for n, folder in enumerate(folders)]
    items = [replace(each, change=_named(each.change, f"f{n}", path)) for n, (each, path) in enumerate(made)]
    (told,) = (line for line in write_plain(INTENT, items).summary.splitlines() if "Not shown" in line)

    assert told.endswith("23 in `d/`, 22 in `c/`, 21 in `b/`, 30 in 2 other folders.")


def test_each_number_is_of_a_citation_and_each_citation_is_used() -> None:
    items = [item(document=f"src/a.py::f{n}", lines=("x = a[7]", "x = a[9]"), score=n / 30) for n in range(30)]
    result = write_plain(INTENT, items)
    outside = re.sub(r"```.*?```|`[^`\n]*`", "", result.summary, flags=re.DOTALL)

    assert [int(number) for number in re.findall(r"\[(\d+)\]", outside)] == [*range(1, len(result.citations) + 1)]


def test_the_words_of_a_repository_cannot_cite() -> None:
    assert "See (3) and \\[a\\]" in digest_of(item(None, "See [3] and [a] for it."))


def hostile_item(text: str) -> Item:
    # What follows a name in its file may be anything, too.
    found = item(text, f"{text} now", lines=(text, f"{text}\n{text[::-1]}"), subjects=(text,), document=f"{text}.py::x")
    return replace(found, change=_named(found.change, text or "x", text or "x"))


def test_hostile_text_is_text_in_every_rendering() -> None:
    fence = "```\n# out\n```\n````\n[1]: https://evil.example\n- item\n> quote\n| a | b |\n~~~"
    for text in (HOSTILE, fence, "a\n\n# heading", "` `` ``` x", "</span></pre><script>alert(1)</script>"):
        result = write_plain(INTENT, [hostile_item(text), hostile_item(f"{text} 2"), item(lines=(OLD, NEW))])
        links = tuple(None for _ in result.citations)
        post = digest_post(PostId("digest-1"), result, links=links, created_at="2026-11-23T12:00:00.000Z")
        page = html_mail(post)

        check_only_ours(page)
        assert page.count("<h3") + page.count("<h2") <= 4
        for body in (write_body(post, PLAIN), write_body(post, CHAT)):
            assert not {"\x1b", "\u202e", "\x00"} & set(body)


@given(st.text(max_size=60))
def test_any_text_gives_a_digest_in_which_only_our_headings_are(text: str) -> None:
    result = write_plain(INTENT, [hostile_item(text), item(lines=(OLD, NEW))])
    post = digest_post(PostId("digest-1"), result, links=(None,) * len(result.citations), created_at="2026-11-23")

    check_only_ours(html_mail(post))


def test_nothing_that_changed_is_said_so() -> None:
    assert digest_of() == "Nothing changed."


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param("Adds. Calls a, b.", "Adds. Calls b, c.", ([], []), id="what code says is left to the code"),
        pytest.param(
            "A file. Functions: a, b.",
            "A file. Functions: b, c.",
            ([], ["Functions: now also c; no longer a"]),
            id="lists",
        ),
        pytest.param(
            "Functions: a, b, 3 more.", "Functions: b, c, 3 more.", ([], []), id="a list that is cut proves nothing"
        ),
        pytest.param("Functions: a.", "Adds.", (["Now: “Adds.”"], []), id="nor does one that is not there"),
        pytest.param("Adds.", "Adds.", ([], []), id="the same is not repeated"),
        pytest.param("Short function f.", "Adds.", (["Now: “Adds.”"], []), id="what says nothing is not quoted"),
        pytest.param(
            f"{'Many words. ' * 8}Old.",
            f"{'Many words. ' * 8}New one.",
            (["Now: “New one.”", "Before: “Old.”"], []),
            id="sentences that stayed",
        ),
        pytest.param(
            f"{'many words, ' * 8}old",
            f"{'many words, ' * 8}new",
            (["Now: “… new”", "Before: “… old”"], []),
            id="how a long sentence begins is not repeated",
        ),
        pytest.param("Adds. Slow.", "Adds. Fast.", (["Now: “Fast.”", "Before: “Slow.”"], []), id="a sentence"),
    ],
)
def test_a_difference_of_texts_is_told_as_it_is(before: str, after: str, expected: tuple[list[str], list[str]]) -> None:
    assert differences_between(before, after) == expected


def _named(changed: Any, name: str, path: str) -> Any:
    states = {
        side: replace(known, name=name, file_path=path)
        for side in ("before", "after")
        if (known := getattr(changed, side)) is not None
    }
    return replace(changed, **states)
