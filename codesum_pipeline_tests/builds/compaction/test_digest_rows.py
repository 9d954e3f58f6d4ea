"""Old digests as rows that can be compacted: which are old, and what becomes of them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.compaction.attestation import Policy, Selection
from codesum_pipeline.builds.compaction.compactable_rows import DigestRows, all_sources, source_of
from codesum_pipeline.foundation.data_model.digest_record import SummaryResult
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, SourcesChanged
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.notifications.digests.digest_rows import DigestState
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline_tests.support.compaction_home import (
    BEFORE_2026,
    CLAIM,
    DIGESTS,
    OLD_DIGESTS,
    OldHome,
    old_digest,
    signed,
)
from codesum_pipeline_tests.support.digest_making import INTENT, match
from codesum_pipeline_tests.support.llm_server import Says, ScriptedServer

ALL_OF_TIME = Selection(before="2099-01-01T00:00:00.000Z")


@pytest.fixture
def home_with_digests(home: OldHome) -> OldHome:
    home.add_digests()
    return home


def ids(home: OldHome, selection: Selection) -> list[str]:
    return [row.id for row in home.digest_rows.rows(selection)]


@pytest.mark.parametrize("policy", list(Policy))
def test_old_digests_become_one_text_and_are_kept_or_deleted_as_the_policy_says(
    home_with_digests: OldHome, policy: Policy
) -> None:
    job = home_with_digests.attest_digests(policy=policy)

    record = home_with_digests.compactor.run(signed(job), home_with_digests.digest_rows).record

    gone = OLD_DIGESTS if policy is Policy.TOMBSTONED else []
    assert [source.id for source in job.sources] == OLD_DIGESTS
    assert home_with_digests.digests() == [row for row in DIGESTS if row.id not in gone]
    assert home_with_digests.digest_rows.compactions() == [record]
    assert record.claim == CLAIM


def test_the_model_is_shown_the_text_of_each_digest_with_its_sources(
    home_with_digests: OldHome, server: ScriptedServer
) -> None:
    home_with_digests.compactor.run(signed(home_with_digests.attest_digests()), home_with_digests.digest_rows)

    shown = server.seen[0].prompt
    assert "2025-01-05T07:00:00.000Z, digest of 'how we authenticate' about shop: Signing changed [1]." in shown
    assert f"Sources: [1] sign, src/auth.py#L3-9@{'b' * 40}, shop" in shown


def test_digests_that_are_not_in_the_outbox_or_not_told_to_the_hooks_are_not_old(home_with_digests: OldHome) -> None:
    assert ids(home_with_digests, BEFORE_2026) == OLD_DIGESTS


@pytest.mark.parametrize(
    ("now", "oldest_left"),
    [
        pytest.param("2026-06-15T12:00:00Z", "2026-04-30T10:00:00.000Z", id="within a month"),
        pytest.param("2026-06-01T13:00:00Z", "2026-03-31T10:00:00.000Z", id="the month has not begun everywhere"),
        pytest.param("2026-01-20T00:00:00Z", "2025-11-30T10:00:00.000Z", id="over the turn of a year"),
    ],
)
def test_what_the_next_monthly_roll_up_is_made_of_is_never_compacted(home: OldHome, now: str, oldest_left: str) -> None:
    day_before = f"{oldest_left[:11]}09:59:59.999Z"
    home.add_digests([old_digest("old", "x", created_at=day_before), old_digest("left", "x", created_at=oldest_left)])
    home.clock = lambda: datetime.fromisoformat(now)

    assert ids(home, ALL_OF_TIME) == ["old"]


@pytest.mark.parametrize(
    ("selection", "found"),
    [
        pytest.param(Selection(before="2025-02-01T00:00:00.000Z"), ["january"], id="older than a day"),
        pytest.param(replace(BEFORE_2026, ids="how *"), ["january", "unsent"], id="by a pattern of intents' names"),
        pytest.param(replace(BEFORE_2026, limit=2), ["january", "vetoed"], id="the oldest ones"),
    ],
)
def test_a_selection_says_which_digests_are_meant(
    home_with_digests: OldHome, selection: Selection, found: list[str]
) -> None:
    assert ids(home_with_digests, selection) == found


def test_digests_that_are_kept_are_not_compacted_again(home_with_digests: OldHome) -> None:
    home_with_digests.compactor.run(
        signed(home_with_digests.attest_digests(policy=Policy.KEPT)), home_with_digests.digest_rows
    )

    with pytest.raises(ConfigurationError, match="no old rows of digests"):
        home_with_digests.attest_digests()


def test_a_digest_that_says_something_else_by_then_stops_the_change(
    home_with_digests: OldHome, server: ScriptedServer
) -> None:
    job, before = home_with_digests.attest_digests(), home_with_digests.digests()
    late = old_digest("late", "2025-06-01", result=SummaryResult(INTENT, "It came late."))

    def meanwhile(_request: object) -> Says:
        home_with_digests.add_digests([late])
        return Says(CLAIM)

    server.script = meanwhile
    with pytest.raises(SourcesChanged, match=r"were found by the selection and not attested \(late\)"):
        home_with_digests.compactor.run(signed(job), home_with_digests.digest_rows)

    assert sorted(home_with_digests.digests(), key=lambda row: row.id) == sorted(
        [*before, late], key=lambda row: row.id
    )
    assert home_with_digests.digest_rows.compactions() == []


def test_a_digest_that_is_deleted_takes_its_matches_with_it(home_with_digests: OldHome) -> None:
    with open_digests(HomeLayout(home_with_digests.folder).digests, now=home_with_digests.clock) as store:
        store.add_matches([match("Signs.", "Signs twice.")])
        store.record(None, old_digest("matched", "2025-12-01"), handled=store.pending(INTENT))

        home_with_digests.compactor.run(signed(home_with_digests.attest_digests()), home_with_digests.digest_rows)

        assert store.matches_of("matched") == []


def test_a_home_without_digests_gets_no_file_by_being_asked(tmp_path: Path) -> None:
    rows = DigestRows(tmp_path / "digests.sqlite", lambda: datetime(2026, 6, 15, tzinfo=UTC))

    assert (rows.rows(BEFORE_2026), rows.compactions()) == ([], [])
    assert list(tmp_path.iterdir()) == []


def test_digests_are_a_kind_of_rows_of_all_repositories(home_with_digests: OldHome) -> None:
    layout = HomeLayout(home_with_digests.folder)
    kinds = [
        each.kind
        for each in all_sources(
            ["shop"], layout=layout, settings=home_with_digests.settings, now=home_with_digests.clock
        )
    ]

    assert kinds == ["document_history", "prompt_texts", "digests"]
    with pytest.raises(ConfigurationError, match="digests are those of all repositories: leave --repo out"):
        source_of("digests", "shop", layout=layout, settings=home_with_digests.settings, now=home_with_digests.clock)


def test_a_digest_is_another_row_where_anything_of_it_changed(home_with_digests: OldHome) -> None:
    one, other = old_digest("one", "2025-06-01"), old_digest("other", "2025-06-01", state=DigestState.UNSENT)
    home_with_digests.add_digests([one, other])

    hashes = {row.id: row.blake3 for row in home_with_digests.digest_rows.rows(BEFORE_2026)}
    assert hashes["one"] != hashes["other"]
