"""Many digests in one, in plain words."""

from codesum_pipeline.notifications.digests.rollups import plain_rollup
from codesum_pipeline_tests.notifications.digests.history_rows import change, cited, row
from codesum_pipeline_tests.support.digest_making import INTENT

LOGIN, TOKEN, PAY = "src/auth.py::login", "src/auth.py::token", "billing/pay.py::pay"


def test_it_says_how_many_digests_over_which_time_where_and_what_changed_most_often() -> None:
    rows = [
        row("d1", "2026-10-01", "One [1].", cited(LOGIN), cited(TOKEN)),
        row("d2", "2026-10-08", "Two [1].", cited(LOGIN, commit="c" * 40), cited(PAY, repository="till")),
        row("d3", "2026-10-29", "Three [1].", cited(LOGIN, commit="d" * 40)),
    ]
    changes = {
        "d1": [change(LOGIN, None, "Checks a password."), change(TOKEN, "Gives a token.", None)],
        "d2": [change(LOGIN, "Checks a password.", "Checks a hash."), change(PAY, "a", "b", repository="till")],
        "d3": [change(LOGIN, "Checks a hash.", "Checks a token. It is signed.")],
    }

    found = plain_rollup(INTENT, rows, changes, timezone="UTC")

    assert found.summary == (
        "**3 digests** from 1 October 2026 to 29 October 2026 told of 5 changes of 3 documents in 2 repositories.\n\n"
        "### Where\n"
        "- shop: 4 changes, in `src` (4)\n"
        "- till: 1 change, in `billing` (1)\n\n"
        "### What changed most often\n"
        "- `login` in shop: 3 times, from 1 October 2026 to 29 October 2026 [1]\n"
        "  - New\n"
        "  - Now: Checks a token. It is signed."
    )
    assert found.citations == (cited(LOGIN, commit="d" * 40),)
    assert found.intent_name == INTENT


def test_where_nothing_changed_twice_the_last_changes_are_shown_with_their_first_and_last_text() -> None:
    rows = [row("d1", "2026-10-01", "One [1].", cited(TOKEN))]

    found = plain_rollup(INTENT, rows, {"d1": [change(TOKEN, "Gives a token.", None)]}, timezone="UTC")

    assert found.summary.endswith(
        "### What changed last\n- `token` in shop: on 1 October 2026 [1]\n  - Before: Gives a token.\n  - Removed"
    )


def test_a_digest_whose_changes_are_no_longer_known_counts_by_its_citations() -> None:
    rows = [row("d1", "2026-10-01", "One [1].", cited(LOGIN), cited(TOKEN))]

    found = plain_rollup(INTENT, rows, {}, timezone="UTC")

    assert "told of 2 changes of 2 documents in 1 repository" in found.summary
    assert found.citations == (cited(LOGIN), cited(TOKEN))


def test_days_are_those_of_the_intents_time_zone() -> None:
    rows = [row("d1", "2026-09-30", "One [1].", cited(LOGIN), at="23:30:00.000Z")]

    assert " on 1 October 2026 " in plain_rollup(INTENT, rows, {}, timezone="Europe/Berlin").summary


def test_what_a_repository_wrote_comes_out_as_letters() -> None:
    hostile = "</script><b>[click](javascript:x) `*\x1b[2J"
    rows = [row("d1", "2026-10-01", "One [1].", cited(LOGIN))]

    found = plain_rollup(INTENT, rows, {"d1": [change(LOGIN, None, hostile)]}, timezone="UTC").summary

    assert "<b>" not in found and "\x1b" not in found and "\\[click\\]" in found


def test_many_folders_repositories_and_long_texts_are_bounded() -> None:
    ids = [f"folder{number}/file.py::call" for number in range(50)]
    keys = [f"repository-{number:02}" for number in range(30)]
    rows = [row("d1", "2026-10-01", "One.", *(cited(id_, repository=key) for id_ in ids for key in keys))]
    changes = {"d1": [change(id_, "a " * 5000, "b " * 5000, repository=key) for id_ in ids for key in keys]}

    found = plain_rollup(INTENT, rows, changes, timezone="UTC").summary

    assert len(found) < 8_000
    assert "45 other folders (45)" in found and "18 other repositories: 900 changes" in found
