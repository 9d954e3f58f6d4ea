"""The tick of one intent: each of its twelve steps, and what ends it."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.standing_question import Cadence, IntentSchedule
from codesum_pipeline.foundation.settings.llm_settings import BackendName
from codesum_pipeline.notifications.delivery.outbox import OUTBOX_FILE
from codesum_pipeline.notifications.digests.digest_rows import DigestState, DigestWriter, TickFailure, TickOutcome
from codesum_pipeline_tests.support.digest_shop import INTENT, MODEL, QUOTE, Shop, answer
from codesum_pipeline_tests.support.hooks import Install, install
from codesum_pipeline_tests.support.llm_server import Answers, Fails, ModelRequest, ScriptedServer
from codesum_pipeline_tests.support.llm_server.behaviours import Behaviour
from codesum_pipeline_tests.support.receivers import WebhookReceiver, mail_receiver
from codesum_pipeline_tests.support.settings import changed

__all__ = ["install"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """It answers well about the first change."""
    monkeypatch.setenv("REPORTER_KEY", "any word will do")
    with ScriptedServer(lambda _request: Answers(answer(1))) as found:
        yield found


@pytest.fixture
def shop(shop_as_made: Shop, tmp_path: Path, hook: WebhookReceiver) -> Shop:
    """A home that sends to a receiver, its operator hears on another channel, and no model is set up."""
    found = shop_as_made.copied(tmp_path)
    found.channels = {
        "hook": {"kind": "webhook", "url": hook.url, "allow_private": True},
        "ops": {"kind": "webhook", "url": hook.url, "allow_private": True},
    }
    found.operator = ("ops",)
    return found


@pytest.fixture
def asking(shop: Shop, server: ScriptedServer) -> Shop:
    """The same, whose digests a model writes."""
    shop.ask(server.base)
    return shop


def answers(*behaviours: Behaviour) -> object:
    """One after the other, the last one again and again."""
    return lambda request: behaviours[min(request.number, len(behaviours)) - 1]


def template(shop: Shop, kind: str, text: str) -> None:
    folder = shop.home / "prompts" / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "default.md").write_text(text)


def test_a_digest_by_a_model_goes_to_the_channels_of_its_intent(
    asking: Shop, hook: WebhookReceiver, server: ScriptedServer
) -> None:
    asking.find()
    row = asking.tick()
    asking.sender.send_due()

    [digest] = asking.digests()
    assert (row.outcome, row.matches, row.items, row.digest_id) == (TickOutcome.QUEUED, 1, 1, digest.id)
    assert (digest.state, digest.written_by, digest.model, digest.language) == (
        DigestState.QUEUED,
        DigestWriter.MODEL,
        MODEL,
        "English",
    )
    assert digest.cost_usd > 0
    assert digest.repositories == ("shop",)
    [cited] = digest.result.citations
    assert cited.place == f"src/auth.py#L1-3@{asking.commits[1]}"
    assert (cited.repository, cited.source_name, cited.score) == ("shop", "acme/shop", 0.75)
    [received] = hook.received
    assert received.json["id"] == digest.id
    assert digest.links == (f"https://github.com/acme/shop/blob/{asking.commits[1]}/src/auth.py#L1-L3",)
    assert asking.pending() == 0
    assert asking.ticks() == [row]
    assert len(server.seen) == 1
    assert QUOTE in server.seen[0].prompt


def test_step_1_the_newest_change_is_shown_first_and_that_without_a_date_last(
    asking: Shop, server: ScriptedServer
) -> None:
    server.script = lambda _request: Answers(answer(3, 1))
    dates = {
        "a_none": None,
        "b_old": "2026-11-01T00:00:00Z",
        "c_new": "2026-11-20T00:00:00Z",
        "d_mid": "2026-11-10T00:00:00Z",
    }
    asking.find(*(asking.change(name, date=date) for name, date in dates.items()), scores=[0.9, 0.8, 0.7, 0.6])
    daily = replace(INTENT, schedule=IntentSchedule(Cadence.DAILY))
    asking.settings = changed(asking.settings, digests={"grouped": False})
    asking.tick(daily)

    prompt = server.seen[0].prompt
    assert sorted(dates, key=prompt.index) == ["c_new", "d_mid", "b_old", "a_none"]
    [digest] = asking.digests()
    assert [cited.name for cited in digest.result.citations] == ["b_old", "c_new"]


def test_step_2_an_intent_without_text_ends_the_tick_and_keeps_what_waits(asking: Shop, server: ScriptedServer) -> None:
    asking.find()
    row = asking.tick(replace(INTENT, text=" \n"))

    assert (row.outcome, row.reason) == (TickOutcome.EMPTY, "the intent has no text")
    assert asking.pending() == 1
    assert server.seen == []


def test_where_nothing_waits_the_tick_is_empty(asking: Shop, server: ScriptedServer) -> None:
    assert asking.tick().outcome is TickOutcome.EMPTY
    assert server.seen == []
    assert asking.digests() == []


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("digest_system", "Write in {tongue}.", "tongue"),
        ("digest_instruction", "{intent_text} {articles} {history}", "history"),
        ("digest_instruction", "{intent_text} {", "{"),
    ],
    ids=["step 3: the system template", "history in a tick", "step 8: the instruction"],
)
def test_a_broken_template_keeps_the_matches_and_the_operator_hears_once_a_day(
    asking: Shop, server: ScriptedServer, kind: str, text: str, reason: str
) -> None:
    template(asking, kind, text)
    asking.find()

    rows = [asking.tick(), asking.tick()]
    assert {(row.outcome, row.failure) for row in rows} == {(TickOutcome.HELD, TickFailure.TEMPLATE)}
    assert (asking.pending(), asking.digests(), server.seen) == (1, [], [])
    [(subject, text_of_notice)] = asking.notices()
    assert subject == "No digest of signing-in: a prompt template cannot be used"
    assert kind in text_of_notice
    assert reason in text_of_notice
    asking.pass_time(days=1)
    asking.tick()
    assert len(asking.notices()) == 2
    (asking.home / "prompts" / kind / "default.md").unlink()
    assert asking.tick().outcome is TickOutcome.QUEUED


def test_step_3_a_template_that_is_missing_is_told_at_once(asking: Shop, server: ScriptedServer) -> None:
    asking.find()
    row = asking.tick(replace(INTENT, system_template="renamed"))

    assert (row.outcome, row.failure) == (TickOutcome.HELD, TickFailure.TEMPLATE)
    assert "renamed" in row.reason
    assert row.reason in asking.notices()[0][1]
    assert (asking.pending(), server.seen) == (1, [])


def test_step_4_without_the_names_of_its_sources_a_digest_is_sent_and_the_log_says_why(
    asking: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    (asking.home / "repos.yaml").write_text("- [no registry")
    asking.find()

    with caplog.at_level(logging.ERROR):
        assert asking.tick().outcome is TickOutcome.QUEUED
    [digest] = asking.digests()
    assert (digest.result.citations[0].source_name, digest.links) == (None, (None,))
    assert "sources have no names in digests" in caplog.text


def test_step_4_a_repository_that_is_gone_has_no_name(asking: Shop) -> None:
    (asking.home / "repos.yaml").write_text("")
    asking.find()
    asking.tick()

    assert asking.digests()[0].result.citations[0].source_name is None


def test_steps_5_and_6_no_room_for_what_changed_names_the_settings_and_is_told(
    asking: Shop, server: ScriptedServer
) -> None:
    asking.ask(server.base, max_prompt_chars=3000)
    asking.find()
    row = asking.tick()

    assert (row.outcome, row.failure) == (TickOutcome.HELD, TickFailure.CONFIGURATION)
    assert "llm.max_prompt_chars" in row.reason
    assert row.reason in asking.notices()[0][1]
    assert (asking.pending(), asking.digests(), server.seen) == (1, [], [])


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_step_7_any_number_of_matches_fits_into_the_prompt_and_the_log_says_what_was_cut(
    asking: Shop, server: ScriptedServer, caplog: pytest.LogCaptureFixture, count: int
) -> None:
    server.script = lambda _request: Answers(answer(1, quote="Opens a session that"))
    asking.ask(server.base, max_prompt_chars=60_000)
    asking.settings = changed(asking.settings, digests={"grouped": False})
    asking.find(*(asking.change(f"sign_{number}") for number in range(count)))
    with caplog.at_level(logging.WARNING):
        row = asking.tick(replace(INTENT, schedule=IntentSchedule(Cadence.DAILY)))

    assert (row.outcome, row.matches, row.items) == (TickOutcome.QUEUED, count, count)
    [request] = server.seen
    assert len(request.system) + len(request.prompt) < 0.85 * 60_000
    assert "further changes matched, too, and are not shown" in request.prompt
    assert asking.pending() == 0
    assert "the digest of signing-in" in caplog.text


def test_step_9_answers_that_cannot_be_used_send_nothing_are_told_at_once_and_say_when_and_how_to_ask_again(
    asking: Shop, server: ScriptedServer
) -> None:
    server.script = lambda _request: Answers(answer(1, quote="words that stand nowhere"))
    asking.find()
    rows = [asking.tick() for _ in range(3)]

    assert {(row.outcome, row.failure) for row in rows} == {(TickOutcome.HELD, TickFailure.ANSWER)}
    assert len(server.seen) == 3
    when = "once its template, the model or the changes differ, else from 2026-11-30 12:00 UTC on"
    command = "`codesum digest run --intent signing-in --again` asks now, and pays again."
    assert rows[-1].reason.endswith(f". It is asked again by itself {when}; {command}")
    ((subject, text),) = asking.notices()
    assert subject == "No digest of signing-in: the model's answers cannot be used"
    assert rows[0].reason in text
    server.script = lambda _request: Answers(answer(1))
    asking.find(asking.change("another"))
    assert asking.tick().outcome is TickOutcome.QUEUED


def test_step_9_a_model_that_fails_sends_nothing_and_the_third_time_in_a_row_is_told_once(
    asking: Shop, server: ScriptedServer, hook: WebhookReceiver
) -> None:
    server.script = lambda _request: Fails(400)
    asking.find()
    notices = []
    for _ in range(5):
        row = asking.tick()
        assert (row.outcome, row.failure) == (TickOutcome.HELD, TickFailure.MODEL)
        notices.append(len(asking.notices()))
        asking.pass_time(days=1)

    assert notices == [0, 0, 1, 1, 1]
    subject, text = asking.notices()[0]
    assert subject == "No digest of signing-in: the model failed 3 times in a row"
    assert "400" in text
    assert "codesum doctor" in text
    assert (asking.pending(), asking.digests()) == (1, [])
    server.script = lambda _request: Answers(answer(1))
    asking.pass_time(days=1)
    assert asking.tick().outcome is TickOutcome.QUEUED
    server.script = lambda _request: Fails(400)
    change = asking.change()
    assert change.after
    asking.find(replace(change, after=replace(change.after, summary="Signs a user in with a key.")))
    for _ in range(3):
        asking.pass_time(days=1)
        asking.tick()
    assert len(asking.notices()) == 2


def test_step_9_a_passing_failure_is_asked_again_within_the_tick(asking: Shop, server: ScriptedServer) -> None:
    def script(request: ModelRequest) -> Behaviour:
        return Fails(429, headers={"retry-after": "0"}) if request.number == 1 else Answers(answer(1))

    server.script = script
    asking.find()

    assert asking.tick().outcome is TickOutcome.QUEUED
    assert len(server.seen) == 2


@pytest.mark.parametrize("gate", ["offline", "llm.enabled", "noop", "cap"])
def test_with_a_model_that_may_not_be_asked_the_plain_digest_goes_the_same_way(
    asking: Shop, server: ScriptedServer, hook: WebhookReceiver, gate: str
) -> None:
    settings = asking.settings
    gates = {
        "offline": changed(settings, offline=True),
        "llm.enabled": changed(settings, llm={"enabled": False}),
        "noop": changed(settings, llm={"backend": BackendName.NOOP}),
        "cap": changed(settings, digests={"max_cost_usd_per_day": 0.0}),
    }
    asking.settings = gates[gate]
    template(asking, "digest_system", "Only a model reads {this}." if gate != "cap" else "{language}")
    asking.find()

    assert asking.tick().outcome is TickOutcome.QUEUED
    asking.sender.send_due()
    [digest] = asking.digests()
    assert (digest.written_by, digest.model, digest.cost_usd) == (DigestWriter.PLAIN, None, 0.0)
    assert [received.json["id"] for received in hook.received] == [digest.id]
    assert server.seen == []
    assert asking.pending() == 0


def test_step_11_false_drops_the_digest_and_its_matches_count_as_handled(
    shop: Shop, install: Install, hook: WebhookReceiver
) -> None:
    install("calm", "pre_push", "def hook(result):\n    return False\n")
    shop.find()
    row = shop.tick()

    [digest] = shop.digests()
    assert (row.outcome, digest.state, shop.pending()) == (TickOutcome.VETOED, DigestState.VETOED, 0)
    assert row.reason == "hook calm (calm:hook): it returned False"
    assert (shop.posts(), shop.sender.send_due().tried) == ([], ())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise KeyError('list')", "KeyError: 'list'"),
        ("return 'yes'", "it returned a str, neither True nor False"),
        pytest.param("import time; time.sleep(3600)", "it took longer than 30 s and was ended", marks=pytest.mark.slow),
    ],
    ids=["raises", "answers nonsense", "hangs"],
)
def test_step_11_a_hook_that_fails_vetoes_and_the_matches_wait_for_the_next_tick(
    shop: Shop, install: Install, body: str, reason: str
) -> None:
    install("broken", "pre_push", f"def hook(result):\n    {body}\n")
    shop.find()
    row = shop.tick()

    assert (row.outcome, row.failure) == (TickOutcome.HELD, TickFailure.HOOK)
    assert (shop.pending(), shop.digests()) == (1, [])
    assert shop.notices() == [
        (
            "No digest of signing-in: a pre_push hook failed",
            f"hook broken (broken:hook): {reason}\n\nNothing was sent. What changed is kept, and the next digest "
            "tells it. Repair the hook, or uninstall its package.",
        )
    ]


def test_step_11_a_text_that_was_paid_for_is_not_paid_for_again_after_a_hook_failed(
    asking: Shop, server: ScriptedServer, install: Install, tmp_path: Path
) -> None:
    flag = tmp_path / "mended"
    install("broken", "pre_push", f"import os\ndef hook(result):\n    return os.path.exists({str(flag)!r}) or None\n")
    asking.find()
    assert asking.tick().failure is TickFailure.HOOK
    flag.touch()

    assert asking.tick().outcome is TickOutcome.QUEUED
    assert len(server.seen) == 1
    assert asking.digests()[0].cost_usd > 0


def test_step_12_a_hook_that_raises_after_it_stops_neither_the_digest_nor_the_others(
    shop: Shop, install: Install, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    install("bad", "on_summary", "def hook(result):\n    raise SystemExit(3)\n")
    install("good", "on_summary", f"def hook(result):\n    open({str(heard)!r}, 'a').write(result.intent_name)\n")
    shop.find()

    assert shop.tick().outcome is TickOutcome.QUEUED
    assert heard.read_text() == "signing-in"
    assert [channel for channel, _, _ in shop.posts()] == ["hook"]


def test_a_mail_of_a_digest_arrives_with_its_citations(shop: Shop) -> None:
    with mail_receiver() as mail:
        shop.channels = {
            "team": {
                "kind": "email",
                "host": "127.0.0.1",
                "port": mail.port,
                "security": "none",
                "from": "codesum <codesum@example.com>",
                "to": ["team@example.com"],
            }
        }
        shop.operator = ()
        shop.find()
        shop.tick(replace(INTENT, channels=("team",)))
        shop.sender.send_due()

    [received] = mail.mails
    assert received["Subject"].endswith("signing-in")
    body = received.get_body(("plain",))
    assert body is not None
    assert "src/auth.py" in body.get_content()


def test_an_intent_without_a_channel_keeps_its_digest_unsent(shop: Shop) -> None:
    shop.find()

    assert shop.tick(replace(INTENT, channels=())).outcome is TickOutcome.UNSENT
    assert ([digest.state for digest in shop.digests()], shop.pending(), shop.posts()) == ([DigestState.UNSENT], 0, [])


def test_a_digest_tells_of_all_repositories_and_after_a_build_of_one(shop: Shop) -> None:
    shop.find(shop.change(), shop.change("other", repository="blog", document_id="b"))
    after_build = shop.tick(repository="blog")
    shop.find(shop.change("other", repository="blog", document_id="c"))
    of_all = shop.tick()

    assert [digest.repositories for digest in shop.digests()] == [("blog",), ("blog", "shop")]
    assert (after_build.repository, after_build.matches, of_all.repository, of_all.matches) == ("blog", 1, None, 2)


@pytest.mark.parametrize(
    ("cadence", "is_grouped", "items"),
    [(Cadence.BUILD, False, 1), (Cadence.DAILY, True, 1), (Cadence.DAILY, False, 2), (Cadence.WEEKLY, False, 2)],
    ids=["with each build always", "daily", "daily, switched off", "weekly, switched off"],
)
def test_near_duplicates_are_one_item(shop: Shop, cadence: Cadence, is_grouped: bool, items: int) -> None:
    shop.settings = changed(shop.settings, digests={"grouped": is_grouped})
    shop.find(*(shop.change(document_id=f"{folder}/auth.py::sign") for folder in ("src", "vendor")))
    row = shop.tick(replace(INTENT, schedule=IntentSchedule(cadence)))

    assert (row.matches, row.items) == (2, items)


def test_of_builds_that_each_had_their_best_a_digest_tells_the_best_of_all(shop: Shop) -> None:
    found = [shop.change(f"f{number}", document_id=f"a{number}.py::f{number}") for number in range(6)]
    shop.find(*found, scores=[0.1, 0.9, 0.2, 0.8, 0.3, 0.7])
    shop.tick(replace(INTENT, threshold=None, top_k=2))

    assert {cited.score for cited in shop.digests()[0].result.citations} == {0.9, 0.8}
    assert shop.pending() == 0


def test_an_unforeseen_error_raises_nothing_keeps_the_matches_and_is_told(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    shop.find()
    with closing(sqlite3.connect(shop.desk.layout.digests)) as connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON digests BEGIN SELECT RAISE(ABORT, 'no room'); END")
    row = shop.tick()

    assert (row.outcome, row.failure, row.reason) == (
        TickOutcome.HELD,
        TickFailure.UNFORESEEN,
        "IntegrityError: no room",
    )
    assert (shop.pending(), shop.ticks()) == (1, [row])
    assert [subject for subject, _ in shop.notices()] == ["No digest of signing-in: an unforeseen error"]
    assert "Traceback" in caplog.text


def test_a_tick_that_can_write_down_nothing_raises_nothing(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    shop.find()
    with closing(sqlite3.connect(shop.desk.layout.digests)) as connection:
        for table in ("digests", "ticks"):
            connection.execute(
                f"CREATE TRIGGER {table}_full BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no room'); END"
            )
    (shop.home / OUTBOX_FILE).write_bytes(b"no outbox" * 1000)

    assert shop.tick().outcome is TickOutcome.HELD
    assert shop.pending() == 1
    assert "could not be written down" in caplog.text


def test_a_digest_that_cannot_enter_the_outbox_waits_and_goes_there_with_the_next_delivery(shop: Shop) -> None:
    outbox = shop.home / OUTBOX_FILE
    outbox.write_bytes(b"no outbox" * 1000)
    shop.find()

    assert shop.tick().outcome is TickOutcome.QUEUED
    assert [digest.state for digest in shop.digests()] == [DigestState.WRITTEN]
    outbox.unlink()
    shop.find(shop.change("other"))
    assert shop.tick().outcome is TickOutcome.QUEUED
    assert [digest.state for digest in shop.digests()] == [DigestState.WRITTEN, DigestState.QUEUED]
