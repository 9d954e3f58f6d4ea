"""`codesum digest list` and `show`, as a person calls them."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.compaction.attestation import Attestation, AttestedSource, Policy, Selection
from codesum_pipeline.foundation.data_model.digest_record import PostId, SummaryResult
from codesum_pipeline.foundation.data_model.document import CompactionRecord
from codesum_pipeline.notifications.delivery.outbox import DeliveryState, open_outbox
from codesum_pipeline.notifications.delivery.posts import digest_post
from codesum_pipeline.notifications.digests.digest_rows import DigestKind, DigestRow, DigestState, DigestWriter
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.digest_making import INTENT, digest, match
from codesum_pipeline_tests.ways_in.cli.terminal import on_a_terminal

HOSTILE = "Look \x1b]0;owned\x07\u202e [bold]here[/] [1]"
BILLING = "billing"


def codesum(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return fork_codesum("--home", home, "digest", *arguments, cwd=home)


def digest_of_day(id_: str, day: str, **other: Any) -> DigestRow:
    return digest(id_, created_at=f"{day}T07:00:00.000Z", **other)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Digests of two intents; the second one's is queued, and a channel refused it."""
    folder = tmp_path_factory.mktemp("home")
    rows = [
        digest_of_day(
            "october", "2026-10-01", state=DigestState.QUEUED, model="openai/gpt-4o", cost_usd=0.0125, dropped_claims=2
        ),
        digest_of_day("billed", "2026-10-20", intent=BILLING, repositories=("till",), state=DigestState.VETOED),
        digest_of_day("november", "2026-11-01", state=DigestState.UNSENT, result=SummaryResult(INTENT, HOSTILE)),
        digest_of_day("all-of-october", "2026-11-02", kind=DigestKind.ROLLUP, written_by=DigestWriter.MODEL, matches=2),
    ]
    with open_digests(folder / "digests.sqlite", now=lambda: datetime(2026, 11, 3, tzinfo=UTC)) as store:
        for row in rows:
            if row.id == "october":
                store.add_matches([match("Signs.", "Signs twice.", document="src/\x1b[2Jauth.py::sign")])
            store.record(None, row, handled=store.pending(INTENT) if row.id == "october" else ())
    with open_outbox(folder, now=lambda: datetime(2026, 10, 1, 7, tzinfo=UTC)) as outbox:
        post = digest_post(PostId("october"), rows[0].result, links=(None,), created_at=rows[0].created_at)
        outbox.add(post, ["team"], tries=1)
        with outbox.holding() as holder:
            claimed = outbox.claim("team", holder)
            assert claimed
            outbox.end_try(claimed[1], DeliveryState.GIVEN_UP, "550 no such mailbox")
    return folder


def ids(called: "subprocess.CompletedProcess[str]") -> list[str]:
    return [json.loads(line)["id"] for line in called.stdout.splitlines()]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        pytest.param((), ["all-of-october", "november", "billed", "october"], id="none: all, the newest first"),
        pytest.param(("--intent", BILLING), ["billed"], id="intent"),
        pytest.param(("--repo", "till"), ["billed"], id="repository"),
        pytest.param(("--since", "2026-10-20", "--until", "2026-11-01"), ["billed"], id="window: the end is outside"),
        pytest.param(("--state", "vetoed", "--state", "unsent"), ["november", "billed"], id="states"),
    ],
)
def test_digests_are_listed_newest_first_by_filter(home: Path, filters: tuple[str, ...], found: list[str]) -> None:
    assert ids(codesum(home, "list", *filters, "--json")) == found


def test_the_list_says_what_each_cost_and_all_together(home: Path) -> None:
    called = codesum(home, "list")

    assert next(line for line in called.stdout.splitlines() if line.endswith(" october")).split() == [
        *("2026-10-01", "07:00", "how", "we", "authenticate", "digest", "shop", "1", "openai/gpt-4o"),
        *("$0.0125", "queued", "october"),
    ]
    assert called.stderr.strip() == "4 digests, $0.0125"


def test_a_digest_is_shown_with_its_sources_where_it_was_sent_and_what_was_left_out(home: Path) -> None:
    shown = codesum(home, "show", "october").stdout

    assert "Signing changed [1]." in shown
    assert "src/auth.py#L3-9@" + "b" * 40 in shown
    assert "team" in shown and "given_up" in shown and "550 no such mailbox" in shown
    assert "2 claims without a quote from its source" in shown
    assert "$0.0125" in shown


def test_json_of_a_digest_has_the_matches_it_handled_and_its_deliveries(home: Path) -> None:
    called = codesum(home, "show", "october", "--json")
    found = json.loads(called.stdout)

    assert "\x1b" not in called.stdout
    assert found["matched"] == [
        {"repository": "shop", "document_id": "src/\x1b[2Jauth.py::sign", "change": "changed", "score": 0.5}
    ]
    assert [(each["channel"], each["state"]) for each in found["deliveries"]] == [("team", "given_up")]
    assert found["result"]["summary"] == "Signing changed [1]."


@pytest.mark.parametrize(
    ("id_", "why"),
    [("billed", "a hook did not allow it"), ("november", "its intent has no channel")],
)
def test_a_digest_that_was_sent_nowhere_says_why(home: Path, id_: str, why: str) -> None:
    assert why in codesum(home, "show", id_).stderr


def test_nothing_of_a_digest_acts_on_the_terminal(home: Path) -> None:
    shown = codesum(home, "show", "november").stdout

    assert "\x1b" not in shown and "\u202e" not in shown
    assert "\\u001b]0;owned" in shown and "[bold]here[/] [1]" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "octobr"), "there is no digest 'octobr': the nearest is 'october'"),
        (("list", "--intent", "biling"), "no digest is of an intent of that name; the nearest is 'billing'"),
        (("list", "--since", "2026-11-01", "--until", "2026-10-01"), "the period is empty: give a later --until"),
        (("list", "--since", "yesterday"), "'yesterday' does not match the formats '%Y-%m-%d'"),
        (("list", "--state", "sent"), "'sent' is not one of"),
    ],
)
def test_what_was_typed_wrong_is_named_with_the_way_out(home: Path, arguments: tuple[str, ...], message: str) -> None:
    called = codesum(home, *arguments)

    assert (called.returncode, called.stdout) == (2, "")
    assert message in " ".join(called.stderr.replace("│", " ").split())


def test_an_id_may_be_shortened_while_it_names_one_digest(home: Path) -> None:
    assert "billing" in codesum(home, "show", "bil").stdout


def test_a_home_without_digests_says_so(tmp_path: Path) -> None:
    listed, shown = codesum(tmp_path, "list"), codesum(tmp_path, "show", "one")

    assert (listed.returncode, listed.stderr.strip()) == (0, "there are no digests yet")
    assert (shown.returncode, "there is no digest 'one': there are none yet" in shown.stderr) == (2, True)


@pytest.fixture(scope="module")
def compacted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two digests, and a compaction of those of January of intents whose names begin with a b."""
    folder = tmp_path_factory.mktemp("compacted")
    attestation = Attestation(
        job_id="cmp_1",
        attested_by="ops@example.org",
        attested_at="2026-06-01T00:00:00.000Z",
        kind="digests",
        repository=None,
        selection=Selection(before="2026-02-01T00:00:00.000Z", ids="b*"),
        sources=(AttestedSource("gone", "blake3:0"), AttestedSource("gone too", "blake3:1")),
        policy=Policy.TOMBSTONED,
        model="openai/archivist-1",
        prompt_template_blake3="blake3:2",
        max_output_bytes=100,
        max_tokens=100,
    )
    record = CompactionRecord(
        "cmp_1", attestation.to_bytes().decode(), "", "Billing grew.", "", "archivist-1", 0.25, "2026-06-02T00:00:00Z"
    )
    with open_digests(folder / "digests.sqlite", now=lambda: datetime(2026, 6, 3, tzinfo=UTC)) as store:
        store.record(None, digest_of_day("january", "2026-01-20"))
        store.record(None, digest_of_day("march", "2026-03-01"))
        store.compact(record, lambda _digests, _records: [])
    return folder


@pytest.mark.parametrize(
    ("filters", "is_listed"),
    [
        ((), True),
        (("--intent", "billing"), True),
        (("--intent", "how we authenticate"), False),
        (("--since", "2026-01-31"), True),
        (("--since", "2026-02-01"), False),
        (("--state", "written"), False),
    ],
)
def test_a_compaction_is_listed_where_it_may_stand_for_what_is_asked_for(
    compacted: Path, filters: tuple[str, ...], is_listed: bool
) -> None:
    found = [json.loads(line) for line in codesum(compacted, "list", *filters, "--json").stdout.splitlines()]

    jobs = [(each["job_id"], each["text"], len(each["sources"])) for each in found if "job_id" in each]
    assert jobs == [("cmp_1", "Billing grew.", 2)] * is_listed


def test_a_compaction_stands_in_the_list_where_its_digests_stood(compacted: Path) -> None:
    _, march, compaction, january = codesum(compacted, "list").stdout.splitlines()

    assert march.endswith(" march") and january.endswith(" january")
    assert compaction.split() == [
        *("before", "2026-02-01", "b*", "compaction", "2", "archivist-1", "$0.2500", "tombstoned", "cmp_1")
    ]


@pytest.mark.parametrize("width", [40, 80, 140])
def test_digests_fit_a_terminal(home: Path, width: int) -> None:
    for arguments in (("list",), ("show", "october")):
        lines = on_a_terminal("--home", home, "digest", *arguments, cwd=home, width=width)

        assert all(len(line) <= width for line in lines)
        assert "how we authenticate" in " ".join(" ".join(lines).split())
