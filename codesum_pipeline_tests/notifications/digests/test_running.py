"""Which intents are due: after a build, and at moments of their schedules, whatever clocks do."""

import logging
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.notifications.digests.digest_rows import TickOutcome
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline.notifications.digests.tick import is_due, run_after_build, run_due, run_now
from codesum_pipeline_tests.support.commands import environment
from codesum_pipeline_tests.support.digest_shop import INTENT, Shop
from codesum_pipeline_tests.support.receivers import webhook_receiver
from codesum_pipeline_tests.support.settings import changed

DAILY = """
intents:
  signing-in:
    text: How do users sign in?
    schedule: {every: daily, at: "07:00", timezone: ZONE}
"""
SIGNING = 'intents:\n  signing-in: {text: "How do users sign in?", schedule: {every: build}}\n'


@pytest.fixture
def shop(shop_as_made: Shop, tmp_path: Path) -> Shop:
    return shop_as_made.copied(tmp_path)


def at(shop: Shop, moment: str) -> list[TickOutcome]:
    """What is due at a moment (UTC)."""
    shop.moment = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    desk = shop.desk
    with open_digests(desk.layout.digests, now=shop.now) as store:
        due = [intent for intent in desk.intents.survey().intents if is_due(store, intent, shop.moment)]
    rows = run_due(desk)
    assert len(rows) <= len(due)
    return [row.outcome for row in rows]


def daily(shop: Shop, zone: str = "UTC") -> None:
    shop.write_intents(DAILY.replace("ZONE", zone))


def test_after_a_build_those_have_a_tick_that_are_told_of_each_build_and_for_which_something_waits(shop: Shop) -> None:
    shop.write_intents(
        f"{SIGNING}  later: {{text: x y z, schedule: {{every: daily}}}}\n  off: {{text: x y z, enabled: false}}\n"
        "  none: {text: x y z}\n"
    )
    for name in ("signing-in", "later", "off"):
        shop.find(shop.change(), shop.change("b", repository="blog"), intent=replace(INTENT, name=name))

    [row] = run_after_build(shop.desk, "shop")
    assert (row.intent_name, row.repository, row.matches, row.outcome) == ("signing-in", "shop", 1, TickOutcome.UNSENT)
    assert run_after_build(shop.desk, "shop") == []
    assert run_due(shop.desk) == []


def test_a_daily_intent_has_one_digest_for_all_builds_since_the_last_one(shop: Shop) -> None:
    daily(shop)
    assert at(shop, "2026-11-23T06:00") == []
    shop.find(shop.change("a"), shop.change("b", repository="blog"))
    assert at(shop, "2026-11-23T06:59") == []
    assert at(shop, "2026-11-23T07:00") == [TickOutcome.UNSENT]
    assert at(shop, "2026-11-23T07:01") == []
    assert at(shop, "2026-11-24T08:00") == [TickOutcome.EMPTY]
    assert [(row.matches, row.due_at) for row in shop.ticks()] == [
        (0, "2026-11-24T07:00:00.000Z"),
        (2, "2026-11-23T07:00:00.000Z"),
    ]


def test_a_new_intent_does_not_fire_for_the_past(shop: Shop) -> None:
    daily(shop)
    assert at(shop, "2026-11-23T09:00") == []
    shop.find()
    assert at(shop, "2026-11-23T23:59") == []
    assert at(shop, "2026-11-24T07:00") == [TickOutcome.UNSENT]


def test_an_intent_that_has_matches_is_known_since_the_first_of_them(shop: Shop) -> None:
    daily(shop)
    shop.moment = datetime(2026, 11, 23, 15, tzinfo=UTC)
    shop.find()

    assert at(shop, "2026-11-24T07:05") == [TickOutcome.UNSENT]


def test_after_days_without_a_run_there_is_one_tick_for_all_moments_missed(shop: Shop) -> None:
    daily(shop)
    at(shop, "2026-11-20T06:00")
    shop.find()

    assert at(shop, "2026-11-23T12:00") == [TickOutcome.UNSENT]
    assert at(shop, "2026-11-23T12:01") == []


def test_a_clock_that_goes_back_fires_nothing_twice(shop: Shop) -> None:
    daily(shop)
    at(shop, "2026-11-23T06:00")
    assert at(shop, "2026-11-23T07:00") == [TickOutcome.EMPTY]
    assert at(shop, "2026-11-23T06:30") == []
    assert at(shop, "2026-11-22T08:00") == []
    assert at(shop, "2026-11-23T07:00") == []
    assert at(shop, "2026-11-24T07:00") == [TickOutcome.EMPTY]


def test_a_clock_that_was_years_ahead_silences_no_intent_for_years(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    daily(shop)
    at(shop, "2026-11-22T06:00")
    assert at(shop, "2031-01-01T08:00") == [TickOutcome.EMPTY]
    shop.find()
    assert at(shop, "2026-11-23T06:00") == []
    with open_digests(shop.desk.layout.digests, now=shop.now) as store:
        assert store.served_at("signing-in") == "2026-11-23T06:00:00.000Z"
    assert "its schedule begins anew" in caplog.text
    assert at(shop, "2026-11-23T07:00") == [TickOutcome.UNSENT]


@pytest.mark.parametrize(
    ("zone", "before", "after"),
    [
        ("Europe/Berlin", "2026-11-23T05:59", "2026-11-23T06:00"),
        ("Asia/Kolkata", "2026-11-23T01:29", "2026-11-23T01:30"),
        ("America/New_York", "2026-11-01T11:59", "2026-11-01T12:00"),
        ("America/New_York", "2026-10-31T10:59", "2026-10-31T11:00"),
    ],
    ids=["an hour ahead", "half an hour", "the day the clocks go back", "the day before"],
)
def test_a_schedule_is_in_the_time_of_its_zone(shop: Shop, zone: str, before: str, after: str) -> None:
    daily(shop, zone)
    at(shop, "2026-10-30T11:30")
    at(shop, before)
    shop.find()

    assert at(shop, before) == []
    assert at(shop, after) == [TickOutcome.UNSENT]


def test_an_hour_that_comes_twice_has_one_digest(shop: Shop) -> None:
    shop.write_intents(DAILY.replace("07:00", "02:30").replace("ZONE", "Europe/Berlin"))
    at(shop, "2026-10-24T12:00")
    fired = [
        moment
        for moment in ("2026-10-25T00:29", "2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30")
        if at(shop, moment)
    ]

    assert fired == ["2026-10-25T00:30"]


def test_a_held_tick_was_the_tick_of_its_moment_and_the_next_one_tells_what_waits(shop: Shop) -> None:
    daily(shop)
    at(shop, "2026-11-23T06:00")
    shop.find()
    shop.ask("http://127.0.0.1:9/v1", max_retries=0)
    shop.settings = changed(shop.settings, llm={"model": "openai/unpriced", "prices": ()})
    assert at(shop, "2026-11-23T07:00") == [TickOutcome.HELD]
    assert at(shop, "2026-11-23T07:05") == []
    shop.settings = changed(shop.settings, llm={"enabled": False})
    assert at(shop, "2026-11-24T07:00") == [TickOutcome.UNSENT]


def test_an_intent_that_fails_stops_no_other(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    shop.write_intents("intents:\n" + "".join(f"  {name}: {{text: x y z}}\n" for name in ("a", "b", "c")))
    for name in ("a", "b", "c"):
        shop.find(intent=replace(INTENT, name=name))
    with closing(sqlite3.connect(shop.desk.layout.digests)) as connection:
        connection.execute("UPDATE matches SET change = '{' WHERE intent_name = 'a'")
        connection.commit()
    # What a directory is in the place of cannot be locked.
    (shop.home / "digests.locks").mkdir()
    with caplog.at_level(logging.ERROR):
        rows = run_after_build(shop.desk, "shop")

    assert [(row.intent_name, row.outcome) for row in rows] == [
        ("a", TickOutcome.HELD),
        ("b", TickOutcome.UNSENT),
        ("c", TickOutcome.UNSENT),
    ]


def test_of_a_file_of_intents_that_cannot_be_read_the_operator_hears_once_a_day(shop: Shop) -> None:
    shop.channels = {"ops": {"kind": "webhook", "url": "https://example.com/"}}
    shop.operator = ("ops",)
    shop.is_offline = True
    shop.write_intents("intents: [")
    for look in (lambda: run_after_build(shop.desk, "shop"), lambda: run_due(shop.desk)):
        with pytest.raises(ConfigurationError):
            look()

    [(subject, text)] = shop.notices()
    assert subject == "No digests: the standing questions cannot be read"
    assert "intents.yaml" in text


def test_an_intent_that_cannot_be_used_stops_no_other_and_the_operator_hears_once_a_day(shop: Shop) -> None:
    shop.channels = {"ops": {"kind": "webhook", "url": "https://example.com/"}}
    shop.operator = ("ops",)
    shop.is_offline = True
    shop.write_intents(f"{SIGNING}  broken: {{text: x y z, threshold: 7}}\n")
    shop.find()

    assert [row.intent_name for row in run_after_build(shop.desk, "shop")] == ["signing-in"]
    run_due(shop.desk)
    [(subject, text)] = shop.notices()
    assert subject == "No digest of broken: the intent cannot be used"
    assert "threshold" in text


def test_a_file_of_intents_that_cannot_be_read_is_an_error(shop: Shop) -> None:
    shop.write_intents("intents: [")

    with pytest.raises(ConfigurationError, match=r"intents\.yaml"):
        run_due(shop.desk)


def test_what_is_asked_for_by_name_has_its_tick_whatever_the_schedule_says(shop: Shop) -> None:
    daily(shop)
    shop.find(shop.change(), shop.change("b", repository="blog"))

    assert run_now(shop.desk, ["another"]) == []
    assert [(row.matches, row.due_at) for row in run_now(shop.desk, ["signing-in"])] == [(2, None)]
    assert run_now(shop.desk) == []


def test_after_the_ticks_everything_due_is_sent_and_offline_it_waits(shop: Shop) -> None:
    with webhook_receiver(200) as hook:
        shop.channels = {"hook": {"kind": "webhook", "url": hook.url, "allow_private": True}}
        shop.write_intents(SIGNING.replace("every: build}", "every: build}, channels: [hook]"))
        shop.find()
        shop.is_offline = True
        assert [row.outcome for row in run_after_build(shop.desk, "shop")] == [TickOutcome.QUEUED]
        assert hook.received == []
        shop.is_offline = False
        run_after_build(shop.desk, "shop")

        assert [each.json["id"] for each in hook.received] == [digest.id for digest in shop.digests()]


RUN = """
import sys
from pathlib import Path
from codesum_pipeline.notifications.digests.tick import run_after_build
from codesum_pipeline_tests.support.digest_shop import Shop
shop = Shop(Path(sys.argv[1]), ("", ""), ("", ""))
print("ready", flush=True)
sys.stdin.readline()
print([row.outcome.value for row in run_after_build(shop.desk, "shop")])
"""


def test_two_processes_at_once_make_one_digest(shop: Shop) -> None:
    shop.write_intents(SIGNING)
    shop.find(*(shop.change(f"f{number}") for number in range(50)))
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", RUN, str(shop.home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            text=True,
        )
        for _ in range(2)
    ]
    for program in programs:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
    outputs = sorted(program.communicate("\n", timeout=120)[0] for program in programs)

    assert outputs == ["['unsent']\n", "[]\n"]
    assert len(shop.digests()) == 1
