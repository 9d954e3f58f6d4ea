"""Roll-ups: looked at and sent through one core, once, and by the month."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, SummaryCallFailed
from codesum_pipeline.foundation.data_model.standing_question import Intent, IntentSchedule
from codesum_pipeline.foundation.settings.llm_settings import ModelPrice
from codesum_pipeline.notifications.delivery.digest_hooks import HookFailed
from codesum_pipeline.notifications.digests.digest_rows import DigestKind, DigestRow, DigestState, DigestWriter
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline.notifications.digests.rollups import (
    MonthlyRollup,
    RollupPlan,
    Window,
    find_held_rollups,
    month_before,
    month_over,
    plan_rollup,
    run_monthly,
    send_rollup,
    write_rollup,
)
from codesum_pipeline.texts.llm.templates import TemplateKind, save_template_atomic
from codesum_pipeline_tests.notifications.digests.history_rows import cited, row
from codesum_pipeline_tests.support.digest_items import answer, claim
from codesum_pipeline_tests.support.digest_shop import INTENT, Shop
from codesum_pipeline_tests.support.hooks import Install, install
from codesum_pipeline_tests.support.llm_server import Fails, Says, ScriptedServer
from codesum_pipeline_tests.support.receivers import mail_receiver, webhook_receiver
from codesum_pipeline_tests.support.settings import changed

__all__ = ["install"]

LOGIN, TOKEN = cited("src/auth.py::login"), cited("src/auth.py::token")
OCTOBER = Window("2026-10-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z")
GOOD = claim("Logins are counted, and `token` ends after 8 hours.", 1, 2, quote="expire after 8 hours")
MONTHLY = 'intents:\n  signing-in: {text: "How do users sign in?", channels: [hook]}\n'
THE_MODELS = "- Logins are counted, and `token` ends after 8 hours [1][2]."


def sent_digest(id_: str, day: str, text: str, *citations: object, **changed: object) -> DigestRow:
    found = row(id_, day, text, *citations)  # type: ignore[arg-type]
    result = replace(found.result, intent_name=INTENT.name)
    sent = {"state": DigestState.QUEUED, "told_at": found.created_at, "links": ("https://example.com/x",)}
    return replace(found, **{"intent_name": INTENT.name, "result": result, **sent, **changed})  # type: ignore[arg-type]


FIRST = sent_digest("d1", "2026-10-01", "Logins are counted after ten tries [1].", LOGIN)
SECOND = sent_digest("d2", "2026-10-08", "Tokens now expire after 8 hours [1].", TOKEN)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A shop that was told of two digests in October; no model is set up."""
    found = Shop.at(tmp_path)
    found.moment = datetime(2026, 11, 2, 6, tzinfo=UTC)
    found.channels = {"hook": {"kind": "webhook", "url": "http://127.0.0.1:9/hook", "allow_private": True}}
    found.write_intents(MONTHLY)
    tell(found, FIRST, SECOND)
    return found


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """One that gives a good roll-up."""
    monkeypatch.setenv("REPORTER_KEY", "any word will do")
    with ScriptedServer(lambda _request: Says(answer(GOOD))) as found:
        yield found


def tell(shop: Shop, *rows: DigestRow) -> None:
    with open_digests(shop.desk.layout.digests, now=shop.now) as store:
        for each in rows:
            store.record(None, each)


def plan(shop: Shop, window: Window = OCTOBER, intent: Intent = INTENT) -> RollupPlan:
    with open_digests(shop.desk.layout.digests, now=shop.now) as store:
        return plan_rollup(shop.desk, store, intent, window)


def preview(shop: Shop, window: Window = OCTOBER) -> DigestRow:
    with open_digests(shop.desk.layout.digests, now=shop.now) as store:
        return write_rollup(shop.desk, store, INTENT, plan_rollup(shop.desk, store, INTENT, window))


def send(shop: Shop, window: Window = OCTOBER, intent: Intent = INTENT) -> tuple[DigestRow, bool]:
    with open_digests(shop.desk.layout.digests, now=shop.now) as store:
        return send_rollup(shop.desk, store, intent, plan_rollup(shop.desk, store, intent, window))


def sent(shop: Shop) -> list[DigestRow]:
    return [each for each in shop.digests() if each.kind is DigestKind.ROLLUP]


def test_what_is_looked_at_is_what_is_sent_and_it_is_paid_once(shop: Shop, server: ScriptedServer) -> None:
    shop.ask(server.base)

    looked_at = preview(shop)
    assert (sent(shop), shop.posts()) == ([], [])
    digest, is_new = send(shop)

    assert is_new and (digest.result, digest.id) == (looked_at.result, looked_at.id)
    assert len(server.seen) == 1
    assert shop.posts() == [("hook", INTENT.name, THE_MODELS)]


def test_a_roll_up_knows_what_it_was_made_of(shop: Shop, server: ScriptedServer) -> None:
    shop.ask(server.base)
    send(shop)

    (found,) = sent(shop)
    assert (found.from_at, found.to_at, found.matches, found.items) == (OCTOBER.since, OCTOBER.until, 2, 2)
    assert (found.written_by, found.state, found.channels) == (DigestWriter.MODEL, DigestState.QUEUED, ("hook",))
    assert found.result.citations == (TOKEN, LOGIN)
    assert found.links == ("https://example.com/x", "https://example.com/x")
    assert found.cost_usd > 0 and found.told_at == "2026-11-02T06:00:00.000Z"


def test_the_same_roll_up_is_neither_paid_nor_sent_again(shop: Shop, server: ScriptedServer) -> None:
    shop.ask(server.base)
    first, _ = send(shop)
    shop.pass_time(days=1)
    again, is_new = send(shop)

    assert (again.id, is_new, len(server.seen), len(shop.posts())) == (first.id, False, 1, 1)


def test_without_bounds_a_new_digest_makes_another_roll_up(shop: Shop) -> None:
    _, first = send(shop, Window())
    _, again = send(shop, Window())
    tell(shop, sent_digest("d3", "2026-11-01", "Keys are rotated [1].", LOGIN))
    _, third = send(shop, Window())

    assert (first, again, third) == (True, False, True)


def test_it_goes_out_by_webhook_and_by_mail_under_its_own_id(shop: Shop) -> None:
    with webhook_receiver(200) as hook, mail_receiver() as mail:
        shop.channels = {
            "hook": {"kind": "webhook", "url": hook.url, "allow_private": True},
            "mail": {
                **{"kind": "email", "host": "127.0.0.1", "port": mail.port, "security": "none"},
                **{"from": "codesum <codesum@example.com>", "to": ["Team <team@example.com>"]},
            },
        }
        digest, _ = send(shop, intent=replace(INTENT, channels=("hook", "mail")))
        assert [each.state for each in shop.sender.send_due().tried] == ["sent", "sent"]
        send(shop, intent=replace(INTENT, channels=("hook", "mail")))
        assert shop.sender.send_due().tried == ()

    (received,), (letter,) = hook.received, mail.mails
    assert received.json["id"] == digest.id
    assert "2 digests" in received.json["summary"] and "2 digests" in letter.as_string()


def test_without_a_model_the_plain_roll_up_goes_the_same_way(shop: Shop) -> None:
    digest, is_new = send(shop)

    assert is_new and (digest.written_by, digest.model, digest.cost_usd) == (DigestWriter.PLAIN, None, 0.0)
    assert digest.result.summary.startswith("**2 digests** from 1 October 2026 to 8 October 2026 told of 2 changes")
    assert [channel for channel, *_ in shop.posts()] == ["hook"]


def test_the_plain_roll_up_tells_the_first_and_last_state_of_the_matches_of_its_digests(shop: Shop) -> None:
    shop.find()
    with open_digests(shop.desk.layout.digests, now=shop.now) as store:
        matched = sent_digest("d3", "2026-10-20", "Sessions end [1].", LOGIN)
        store.record(None, matched, handled=store.pending(INTENT.name))

    text = preview(shop, Window("2026-10-15T00:00:00.000Z", None)).result.summary
    assert "Before: Opens a session that lasts for thirty days." in text
    assert "Now: Opens a session that ends after eight hours." in text


def test_a_cap_that_is_reached_sends_the_plain_roll_up(shop: Shop, server: ScriptedServer) -> None:
    shop.ask(server.base)
    shop.settings = changed(shop.settings, digests={"max_cost_usd_per_day": 0.0})
    digest, _ = send(shop)

    assert (digest.written_by, server.seen) == (DigestWriter.PLAIN, [])


def test_with_a_model_that_failed_nothing_is_sent_or_recorded(shop: Shop, server: ScriptedServer) -> None:
    shop.ask(server.base)
    server.script = lambda _request: Fails(400)

    with pytest.raises(SummaryCallFailed):
        send(shop)
    assert (sent(shop), shop.posts()) == ([], [])


def test_templates_without_the_placeholder_send_nothing_and_say_the_way_out(shop: Shop, server: ScriptedServer) -> None:
    shop.ask(server.base)
    for kind, text in ((TemplateKind.DIGEST_SYSTEM, "{language}"), (TemplateKind.DIGEST_INSTRUCTION, "{articles}")):
        save_template_atomic(shop.home / "prompts", kind, "team", text)
    intent = replace(INTENT, system_template="team", instruction_template="team")

    assert plan(shop, intent=intent).rows_shown == 0
    with pytest.raises(ConfigurationError, match="save one named 'team-history'"):
        send(shop, intent=intent)
    assert (server.seen, sent(shop)) == ([], [])


def test_no_digests_in_the_window_is_an_error_that_says_so(shop: Shop) -> None:
    with pytest.raises(ConfigurationError, match="there are no digests of 'signing-in' in that time"):
        send(shop, Window("2026-12-01T00:00:00.000Z", None))


def test_the_window_ends_before_its_end_and_holds_no_roll_up_and_nothing_vetoed(shop: Shop) -> None:
    send(shop)
    tell(
        shop,
        sent_digest("vetoed", "2026-10-09", "Secret plans [1].", LOGIN, state=DigestState.VETOED),
        sent_digest("at-the-end", "2026-11-01", "November [1].", LOGIN, created_at=OCTOBER.until),
        sent_digest("another", "2026-10-09", "Billing [1].", LOGIN, intent_name="billing"),
    )

    assert [each.id for each in plan(shop).rows] == ["d1", "d2"]


def test_the_price_is_known_before_anything_is_asked(shop: Shop, server: ScriptedServer) -> None:
    shop.ask(server.base)
    found = plan(shop)
    digest = preview(shop)

    assert found.model and found.cost_usd and found.rows_shown == 2
    assert digest.cost_usd <= found.cost_usd


def test_a_hook_that_answers_false_drops_the_roll_up(shop: Shop, install: Install) -> None:
    install("strict", "pre_push", "def hook(result):\n    return 'Logins' in result.summary\n")
    digest, _ = send(shop)
    _, is_new = send(shop)

    assert (digest.state, is_new, shop.posts()) == (DigestState.VETOED, False, [])


def test_a_hook_that_raises_sends_nothing_and_the_roll_up_can_be_tried_again(shop: Shop, install: Install) -> None:
    install("broken", "pre_push", "def hook(result):\n    raise ValueError('not today')\n")

    with pytest.raises(HookFailed, match="not today"):
        send(shop)
    assert (sent(shop), shop.posts()) == ([], [])


def test_the_hooks_that_hear_of_a_digest_hear_of_a_roll_up_once(shop: Shop, install: Install, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    install("tracker", "on_summary", f"def hook(result):\n    open({str(heard)!r}, 'a').write('x')\n")
    send(shop)
    send(shop)

    assert heard.read_text() == "x"


def test_an_intent_without_channels_keeps_its_roll_up_unsent(shop: Shop) -> None:
    digest, _ = send(shop, intent=replace(INTENT, channels=()))

    assert (digest.state, shop.posts()) == (DigestState.UNSENT, [])


@pytest.mark.parametrize("before", ["finish", "post"])
def test_a_process_that_is_killed_after_it_wrote_the_roll_up_down_sends_it_once_later(
    shop: Shop, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    shop.ask(server.base)
    child = os.fork()
    if child == 0:
        place = (
            "codesum_pipeline.notifications.digests.rollups.finish_digest",
            "codesum_pipeline.notifications.digests.desk.digest_post",
        )
        monkeypatch.setattr(place[before == "post"], lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        try:
            send(shop)
        finally:
            os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert [each.state for each in sent(shop)] == [DigestState.WRITTEN]

    _, is_new = send(shop)

    assert (is_new, len(shop.posts()), [each.state for each in sent(shop)]) == (False, 1, [DigestState.QUEUED])
    assert sent(shop)[0].result.summary == THE_MODELS


@pytest.mark.parametrize(
    ("zone", "now", "since", "until", "month"),
    [
        ("UTC", "2026-11-01T00:00:00", "2026-10-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z", "2026-10"),
        ("UTC", "2026-11-30T23:59:59", "2026-10-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z", "2026-10"),
        ("UTC", "2026-01-15T12:00:00", "2025-12-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z", "2025-12"),
        ("Europe/Berlin", "2026-10-31T23:30:00", "2026-09-30T22:00:00.000Z", "2026-10-31T23:00:00.000Z", "2026-10"),
        (
            "Pacific/Kiritimati",
            "2026-10-31T10:00:00",
            "2026-09-30T10:00:00.000Z",
            "2026-10-31T10:00:00.000Z",
            "2026-10",
        ),
        ("America/New_York", "2026-11-01T03:59:00", "2026-09-01T04:00:00.000Z", "2026-10-01T04:00:00.000Z", "2026-09"),
        ("Pacific/Apia", "2012-01-15T12:00:00", "2011-12-01T10:00:00.000Z", "2011-12-31T10:00:00.000Z", "2011-12"),
    ],
)
def test_the_month_is_the_calendar_month_before_in_the_intents_time_zone(
    zone: str, now: str, since: str, until: str, month: str
) -> None:
    intent = replace(INTENT, schedule=IntentSchedule(timezone=zone))

    assert month_before(intent, datetime.fromisoformat(now).replace(tzinfo=UTC)) == (Window(since, until), month)


def test_a_month_is_rolled_up_once_however_often_and_late_the_schedule_fires(shop: Shop) -> None:
    with webhook_receiver(200) as hook:
        shop.channels = {"hook": {"kind": "webhook", "url": hook.url, "allow_private": True}}
        first = run_monthly(shop.desk)
        again = run_monthly(shop.desk)
        shop.pass_time(days=27)
        late = run_monthly(shop.desk)

    (digest,) = sent(shop)
    assert (first, again, late) == ([MonthlyRollup("signing-in", "2026-10", digest.id)], [], [])
    assert [each.json["id"] for each in hook.received] == [digest.id]


def test_two_processes_at_once_roll_a_month_up_once(shop: Shop, server: ScriptedServer) -> None:
    shop.ask(server.base)
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                run_monthly(shop.desk)
                status = 0
            finally:
                os._exit(status)
        children.append(child)

    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert (len(sent(shop)), len(shop.posts()), len(server.seen)) == (1, 1, 1)


def test_on_two_machines_with_their_own_homes_a_month_has_one_id(shop: Shop, tmp_path: Path) -> None:
    other = Shop.at(tmp_path / "other")
    tell(other, FIRST, SECOND)

    assert plan(other).id == plan(shop).id != plan(shop, intent=replace(INTENT, name="billing")).id


def test_a_month_with_one_digest_or_none_has_no_roll_up(shop: Shop) -> None:
    shop.moment = datetime(2026, 12, 2, tzinfo=UTC)
    tell(shop, sent_digest("d3", "2026-11-05", "Keys are rotated [1].", LOGIN))

    assert run_monthly(shop.desk) == []


def test_disabled_intents_are_left_alone_and_one_that_fails_does_not_stop_the_others(
    shop: Shop, server: ScriptedServer
) -> None:
    shop.ask(server.base)
    shop.operator = ("ops",)
    shop.channels = {**shop.channels, "ops": shop.channels["hook"]}
    shop.write_intents(
        'intents:\n  a: {text: "x y", instruction: gone}\n  off: {text: "x y", enabled: false}\n'
        '  signing-in: {text: "How do users sign in?", channels: [hook]}\n'
    )
    tell(
        shop,
        *(replace(each, id=f"{name}-{each.id}", intent_name=name) for name in ("a", "off") for each in (FIRST, SECOND)),
    )

    broken, good = run_monthly(shop.desk)

    assert (broken.intent_name, broken.digest_id, good.intent_name) == ("a", None, "signing-in")
    assert "digest_instruction/gone" in broken.problem
    ((subject, text),) = shop.notices()
    assert subject == "No roll-up of a" and "digest_instruction/gone" in text and "tried again" in text


def test_a_month_whose_model_failed_is_tried_again_by_the_next_call(shop: Shop, server: ScriptedServer) -> None:
    shop.ask(server.base)
    server.script = lambda _request: Fails(400)
    (failed,) = run_monthly(shop.desk)
    server.script = lambda _request: Says(answer(GOOD))
    (done,) = run_monthly(shop.desk)

    assert re.match("summary_call_failed", failed.problem) and failed.digest_id is None
    assert done.digest_id == sent(shop)[0].id


BAD = Says(answer(claim("It is all new.", 1, quote="words that stand nowhere")))
AGAIN = "`codesum digest run --again` asks now, and pays again."
DIFFER = "It is asked again by itself once its template, the model or the digests differ"


@pytest.fixture
def badly_answered(shop: Shop, server: ScriptedServer) -> Shop:
    """A shop whose roll-up of October was badly answered, with three calls, on 2 November."""
    shop.ask(server.base)
    shop.operator = ("ops",)
    shop.channels = {**shop.channels, "ops": shop.channels["hook"]}
    server.script = lambda _request: BAD
    run_monthly(shop.desk)
    assert len(server.seen) == 3
    server.script = lambda _request: Says(answer(GOOD))
    return shop


def test_a_month_that_was_badly_answered_is_not_paid_for_again_and_says_when_and_how_it_is_asked(
    badly_answered: Shop, server: ScriptedServer
) -> None:
    badly_answered.pass_time(hours=10)
    (failed,) = run_monthly(badly_answered.desk)

    assert failed.problem.startswith("summary_output_validation_failed: signing-in: 3 answers of openai/reporter-1")
    assert failed.problem.endswith(f". {DIFFER}, else from 2026-11-09 06:00 UTC on; {AGAIN}")
    ((subject, text),) = badly_answered.notices()
    assert subject == "No roll-up of signing-in" and failed.problem in text and "Nothing was sent." in text
    assert "tried again each day" not in text
    assert len(server.seen) == 3
    assert plan(badly_answered).held


def test_after_the_month_a_roll_up_that_was_badly_answered_is_asked_for_by_nobody(
    badly_answered: Shop, server: ScriptedServer
) -> None:
    badly_answered.moment = datetime(2026, 11, 28, 6, tzinfo=UTC)
    server.script = lambda _request: BAD
    (failed,) = run_monthly(badly_answered.desk)

    assert len(server.seen) == 6
    assert failed.problem.endswith(f". {DIFFER}, until 2026-12-01 00:00 UTC; {AGAIN}")


def another_model(shop: Shop) -> None:
    price = ModelPrice(model="openai/reporter-2", input=1.0, output=2.0)
    shop.settings = changed(shop.settings, llm={"model": price.model, "prices": (price,)})


def another_template(shop: Shop) -> None:
    save_template_atomic(shop.home / "prompts", TemplateKind.DIGEST_SYSTEM, "default-history", "Sum up, in {language}.")


@pytest.mark.parametrize(
    "differ",
    [
        pytest.param(another_model, id="the model"),
        pytest.param(another_template, id="the template"),
        pytest.param(
            lambda shop: tell(shop, sent_digest("d3", "2026-10-20", "Keys are rotated [1].", LOGIN)), id="the digests"
        ),
        pytest.param(lambda shop: shop.pass_time(days=7, seconds=1), id="a week is over"),
    ],
)
def test_a_month_that_was_badly_answered_is_asked_for_again_once_something_differs(
    badly_answered: Shop, server: ScriptedServer, differ: Callable[[Shop], None]
) -> None:
    differ(badly_answered)
    assert not plan(badly_answered).held

    (done,) = run_monthly(badly_answered.desk)

    assert (done.problem, len(server.seen)) == ("", 4)
    assert [each.id for each in sent(badly_answered)] == [done.digest_id]


def test_a_month_that_was_badly_answered_is_asked_for_now_where_a_person_says_so(
    badly_answered: Shop, server: ScriptedServer
) -> None:
    (done,) = run_monthly(replace(badly_answered.desk, asks_again=True))

    assert (done.problem, len(server.seen)) == ("", 4)


def test_a_month_whose_call_failed_says_that_it_is_tried_each_day(shop: Shop, server: ScriptedServer) -> None:
    shop.ask(server.base)
    shop.operator = ("ops",)
    shop.channels = {**shop.channels, "ops": shop.channels["hook"]}
    server.script = lambda _request: Fails(400)
    run_monthly(shop.desk)

    ((_, text),) = shop.notices()
    assert text.endswith("It is tried again each day until 2026-12-01; `codesum digest run` tries now.")
    assert not plan(shop).held


@pytest.mark.parametrize(
    ("zone", "now", "over"),
    [
        ("UTC", "2026-11-02T06:00:00", "2026-12-01T00:00:00.000Z"),
        ("UTC", "2026-12-31T23:59:59", "2027-01-01T00:00:00.000Z"),
        ("UTC", "2026-01-31T12:00:00", "2026-02-01T00:00:00.000Z"),
        ("Europe/Berlin", "2026-10-31T23:30:00", "2026-11-30T23:00:00.000Z"),
    ],
)
def test_the_month_is_over_when_the_next_begins_in_the_intents_time_zone(zone: str, now: str, over: str) -> None:
    intent = replace(INTENT, schedule=IntentSchedule(timezone=zone))

    assert month_over(intent, datetime.fromisoformat(now).replace(tzinfo=UTC)) == over


def test_roll_ups_that_were_badly_answered_are_found_until_there_is_one(
    badly_answered: Shop, server: ScriptedServer
) -> None:
    def found() -> list[MonthlyRollup]:
        with open_digests(badly_answered.desk.layout.digests, now=badly_answered.now) as store:
            return [*find_held_rollups(badly_answered.desk, store, [INTENT, replace(INTENT, name="other")])]

    (held,) = found()
    assert (held.intent_name, held.month, held.digest_id) == ("signing-in", "2026-10", None)
    assert held.problem.endswith(f"else from 2026-11-09 06:00 UTC on; {AGAIN}")

    run_monthly(replace(badly_answered.desk, asks_again=True))
    assert found() == []
