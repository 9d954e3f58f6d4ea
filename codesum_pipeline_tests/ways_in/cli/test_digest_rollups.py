"""`codesum digest preview`, `aggregate`, `send` and `run`, as a person and a cron job call them."""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline_tests.notifications.digests.test_rollups import FIRST, SECOND, tell
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.digest_items import answer, claim
from codesum_pipeline_tests.support.digest_shop import INTENT, MODEL, Shop
from codesum_pipeline_tests.support.llm_server import Fails, Says, ScriptedServer
from codesum_pipeline_tests.support.receivers import WebhookReceiver, webhook_receiver
from codesum_pipeline_tests.ways_in.cli.terminal import on_a_terminal

INTENTS = """
intents:
  signing-in:
    text: How do users sign in?
    channels: [hook]
  quiet:
    text: Nobody hears of it.
"""
MONTH = ("--since", "2020-10-01", "--until", "2020-11-01")
# Before any month that is rolled up when the tests run.
OLD_FIRST, OLD_SECOND = (replace(each, created_at=each.created_at.replace("2026", "2020")) for each in (FIRST, SECOND))


@pytest.fixture
def hook() -> Iterator[WebhookReceiver]:
    with webhook_receiver(200) as found:
        yield found


@pytest.fixture
def shop(tmp_path: Path, hook: WebhookReceiver) -> Shop:
    """Two digests of October, one of another intent, and a match that waits; no model is set up."""
    found = Shop.at(tmp_path)
    found.moment = datetime(2020, 11, 2, 6, tzinfo=UTC)
    found.write_intents(INTENTS)
    (tmp_path / "codesum.toml").write_text(
        f'[delivery.channels.hook]\nkind = "webhook"\nurl = "{hook.url}"\nallow_private = true\n'
    )
    tell(found, OLD_FIRST, OLD_SECOND, replace(OLD_FIRST, id="d3", intent_name="quiet"))
    found.find()
    return found


def codesum(shop: Shop, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return fork_codesum(
        "--home", shop.home, "digest", *arguments, cwd=shop.home, env={"REPORTER_KEY": "any word will do"}
    )


def set_up_model(shop: Shop, base: str) -> None:
    settings = shop.home / "codesum.toml"
    settings.write_text(
        f'{settings.read_text()}\n[llm]\nenabled = true\nmodel = "{MODEL}"\napi_base = "{base}"\n'
        f'api_key_env = "REPORTER_KEY"\nprices = [{{model = "{MODEL}", input = 1.0, output = 2.0}}]\n'
    )


def test_the_preview_shows_the_next_digest_and_handles_and_sends_nothing(shop: Shop, hook: WebhookReceiver) -> None:
    called = codesum(shop, "preview", INTENT.name)
    as_json = json.loads(codesum(shop, "preview", INTENT.name, "--json").stdout)

    assert "sign" in called.stdout and "src/auth.py" in called.stdout
    assert "1 match, 1 item; no model: nothing is paid" in called.stderr
    assert (as_json["waits"], as_json["model"], as_json["matches"]) == (True, None, 1)
    assert (shop.pending(), len(shop.digests()), hook.received) == (1, 3, [])


def test_where_nothing_waits_the_preview_says_so(shop: Shop) -> None:
    called = codesum(shop, "preview", "quiet")

    assert (called.returncode, called.stdout, called.stderr.strip()) == (0, "", "nothing waits for quiet")


def test_run_sends_the_digest_of_an_intent_now(shop: Shop, hook: WebhookReceiver) -> None:
    called = codesum(shop, "run", "--intent", INTENT.name, "--json")
    again = codesum(shop, "run", "--intent", INTENT.name)
    due = codesum(shop, "run")

    assert (called.returncode, json.loads(called.stdout)["outcome"]) == (0, "queued")
    assert [each.json["id"] for each in hook.received] == [json.loads(called.stdout)["digest_id"]]
    assert (again.returncode, again.stderr.strip()) == (0, "nothing waits for these intents")
    assert (due.returncode, due.stderr.strip()) == (0, "no digest is due")


def test_run_rolls_up_the_month_before_once(shop: Shop, hook: WebhookReceiver) -> None:
    first_of_month = datetime.now(UTC).replace(day=1)
    days = [iso_moment(first_of_month - timedelta(days=days)) for days in (9, 5)]
    rows = [replace(OLD_FIRST, id=f"lately-{day}", created_at=day) for day in days]
    tell(shop, *rows)
    first, again = codesum(shop, "run", "--json"), codesum(shop, "run")

    (found,) = [json.loads(line) for line in first.stdout.splitlines()]
    assert (first.returncode, found["intent_name"], found["month"]) == (0, INTENT.name, days[0][:7])
    assert [each.json["id"] for each in hook.received] == [found["digest_id"]]
    assert (again.returncode, again.stderr.strip()) == (0, "no digest is due")


def test_run_says_what_held_a_digest_and_fails(shop: Shop) -> None:
    shop.write_intents(INTENTS + "  broken: {text: x y, channels: 3}\n")
    called = codesum(shop, "run")

    assert called.returncode == 1
    assert "left out:" in called.stderr and "broken" in called.stderr


def test_the_roll_up_is_shown_and_nothing_is_sent(shop: Shop, hook: WebhookReceiver) -> None:
    called = codesum(shop, "aggregate", INTENT.name, *MONTH)
    found = json.loads(codesum(shop, "aggregate", INTENT.name, *MONTH, "--json").stdout)

    assert called.stdout.startswith("**2 digests** from 1 October 2020 to 8 October 2020 told of 2 changes")
    assert "src/auth.py" in called.stdout
    assert "2 digests, without a model: no model is set up (llm.enabled is false)" in called.stderr
    assert (found["rows"], found["rows_used"], found["rows_total"]) == (["d1", "d2"], 2, 2)
    assert (len(shop.digests()), hook.received) == (3, [])


def test_the_same_roll_up_is_sent_once(shop: Shop, hook: WebhookReceiver) -> None:
    looked_at = json.loads(codesum(shop, "aggregate", INTENT.name, *MONTH, "--json").stdout)
    first, again = (codesum(shop, "send", INTENT.name, *MONTH) for _ in range(2))

    assert (first.returncode, again.returncode) == (0, 0)
    assert f"{looked_at['id']} to hook" in first.stderr
    assert "it is not paid for or sent again" in again.stderr
    assert [(each.json["id"], each.json["summary"]) for each in hook.received] == [
        (looked_at["id"], looked_at["result"]["summary"])
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("aggregate", "signing"), "the nearest is 'signing-in'"),
        (("send", "signing"), "the nearest is 'signing-in'"),
        (("preview", "signing"), "the nearest is 'signing-in'"),
        (("run", "--intent", "signing"), "the nearest is 'signing-in'"),
        (
            ("send", "quiet"),
            "intent 'quiet' has no channels: name them in intents.yaml",
        ),
        (("send", INTENT.name, "--since", "2027-01-01"), "there are no digests of 'signing-in' in that time"),
        (("aggregate", INTENT.name, "--since", "2027-01-01"), "there are no digests of 'signing-in' in that time"),
        (("aggregate", INTENT.name, "--since", "2026-13-01"), "'2026-13-01' does not match the format"),
        (("preview", INTENT.name, "--repo", "shoq"), "shop"),
    ],
)
def test_what_was_typed_wrong_is_named_with_the_way_out(shop: Shop, arguments: tuple[str, ...], message: str) -> None:
    called = codesum(shop, *arguments)

    assert (called.returncode, called.stdout) == (2, "")
    assert message in " ".join(called.stderr.replace("│", " ").split())


@pytest.mark.parametrize("width", [40, 80, 140])
def test_a_roll_up_fits_a_terminal(shop: Shop, width: int) -> None:
    for command, name in (("aggregate", "login"), ("preview", "sign")):
        lines = on_a_terminal("--home", shop.home, "digest", command, INTENT.name, cwd=shop.home, width=width)

        assert any(name in line for line in lines)
        assert all(len(line) <= width for line in lines if "[1]  " in line or "place" in line)


@pytest.mark.slow
def test_a_model_s_price_is_said_before_and_what_was_looked_at_is_not_paid_again(
    shop: Shop, hook: WebhookReceiver
) -> None:
    """Slow: each call imports the client of models."""
    good = claim("Logins are counted, and `token` ends after 8 hours.", 1, 2, quote="expire after 8 hours")
    with ScriptedServer(lambda _request: Says(answer(good))) as server:
        set_up_model(shop, server.base)
        previewed = codesum(shop, "preview", INTENT.name)
        assert server.seen == []
        looked_at = codesum(shop, "aggregate", INTENT.name, *MONTH)
        sent = codesum(shop, "send", INTENT.name, *MONTH)

        assert len(server.seen) == 1
        assert f"{MODEL} would write it, at most $0.25" in previewed.stderr
        assert looked_at.stderr.startswith(f"{MODEL} is shown 2 of 2 digests: at most $0.25")
        assert f"{MODEL}: 2 of 2 digests, $0.0" in looked_at.stderr
        assert (sent.returncode, len(hook.received)) == (0, 1)
        assert hook.received[0].json["summary"].startswith("- Logins are counted")

        server.script = lambda _request: Fails(400)
        failed = codesum(shop, "send", INTENT.name, "--since", "2020-10-05")
        assert failed.returncode == 1 and "summary_call_failed" in failed.stderr
        assert len(hook.received) == 1


BAD = Says(answer(claim("It is all new.", 1, quote="words that stand nowhere")))
GOOD = Says(answer(claim("Tokens end after 8 hours.", 1, quote="Tokens now expire after 8 hours")))


@pytest.mark.slow
def test_a_roll_up_that_was_badly_answered_is_not_paid_for_again_until_a_person_says_so(
    shop: Shop, hook: WebhookReceiver
) -> None:
    with ScriptedServer(lambda _request: BAD) as server:
        set_up_model(shop, server.base)
        bad, again = (codesum(shop, "send", INTENT.name, *MONTH) for _ in range(2))
        command = f"codesum digest send {INTENT.name} {' '.join(MONTH)} --again"

        for done in (bad, again):
            assert done.returncode == 1
            assert "It is not asked again before 20" in done.stderr
            assert "unless its template, the model or the digests differ" in done.stderr
            assert f"`{command}` asks now, and pays again." in done.stderr
        assert (len(server.seen), hook.received) == (3, [])

        server.script = lambda _request: GOOD
        sent = codesum(shop, *command.removeprefix("codesum digest ").split())
        assert (sent.returncode, len(server.seen), len(hook.received)) == (0, 4, 1)


@pytest.mark.slow
def test_run_again_status_and_doctor_tell_of_a_month_and_a_digest_that_were_badly_answered(
    shop: Shop, hook: WebhookReceiver
) -> None:
    first_of_month = datetime.now(UTC).replace(day=1)
    days = [iso_moment(first_of_month - timedelta(days=days)) for days in (9, 5)]
    tell(shop, *(replace(OLD_FIRST, id=f"lately-{day}", created_at=day) for day in days))
    with ScriptedServer(lambda _request: BAD) as server:
        set_up_model(shop, server.base)
        run = codesum(shop, "run")
        tick = codesum(shop, "run", "--intent", INTENT.name)
        asked = len(server.seen)
        quiet = codesum(shop, "run"), codesum(shop, "run", "--intent", INTENT.name, "--json")
        key = {"REPORTER_KEY": "any word will do"}
        doctor, status = (
            fork_codesum("--home", shop.home, name, cwd=shop.home, env=key) for name in ("doctor", "status")
        )

        assert {run.returncode, tick.returncode, *(done.returncode for done in quiet)} == {1}
        assert "asked again by itself once its template, the model or the digests differ" in run.stderr
        assert "`codesum digest run --again` asks now" in run.stderr
        assert f"`codesum digest run --intent {INTENT.name} --again` asks now" in json.loads(quiet[1].stdout)["reason"]
        told = "".join(doctor.stdout.split())
        assert f"noroll-upof{days[0][:7]}couldbewritten" in told
        assert "codesumdigestrun--again" in told
        assert f"--intent {INTENT.name} --again` asks now" in status.stderr
        assert f"codesumdigestrun--intent{INTENT.name}--again" in told
        assert (asked, len(server.seen)) == (6, 6)

        logins = claim("Logins are counted.", 1, quote="Logins are counted after ten tries")
        server.script = lambda _request: Says(answer(logins))
        again = codesum(shop, "run", "--again")
        assert (again.returncode, len(server.seen)) == (0, 7)
