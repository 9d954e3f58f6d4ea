"""Who is told of what, and how often: a book with a clock that is set by hand, and real receivers."""

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.alerts.alert_book import ConditionKind, ConditionState, Message, open_book
from codesum_pipeline.builds.alerts.announcing import announce_changes, decide_messages
from codesum_pipeline.foundation.settings.channel_settings import DeliverySettings
from codesum_pipeline.foundation.settings.operation_settings import AlertSettings
from codesum_pipeline.notifications.delivery.outbox import open_outbox
from codesum_pipeline.notifications.delivery.sending import OutboxSender
from codesum_pipeline_tests.support.delivery_desk import MAIL
from codesum_pipeline_tests.support.receivers import mail_receiver, webhook_receiver

HOOK = {"kind": "webhook", "url": "http://127.0.0.1:1/hook", "allow_private": True}
HOST = "git.example"


@dataclass
class Watch:
    """A home whose conditions are observed."""

    home: Path
    channels: dict[str, dict[str, Any]] = field(default_factory=lambda: {"ops": HOOK})
    settings: AlertSettings = field(default_factory=lambda: AlertSettings(channels=("ops",)))
    moment: datetime = datetime(2026, 11, 23, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def see(self, *observed: ConditionState) -> None:
        with open_book(self.home, now=self.now) as book:
            book.note(observed)

    def tell(self, *, after_minutes: float = 6) -> list[str]:
        """The subjects of what is put into the outbox."""
        self.moment += timedelta(minutes=after_minutes)
        before = set(self.reported())
        sender = self.sender()
        with open_book(self.home, now=self.now) as book:
            announce_changes(book, self.settings, sender)
        return [subject.removeprefix("codesum: ") for id_, subject in self.reported().items() if id_ not in before]

    def reported(self) -> dict[str, str]:
        with open_outbox(self.home, now=self.now) as outbox:
            return {each.post_id: outbox.post(each.post_id).subject for each in outbox.deliveries()}

    def sender(self) -> OutboxSender:
        options = DeliverySettings.model_validate({"channels": self.channels})
        return OutboxSender(self.home, options, self.now, environ={})


def check(key: str = "shop", *, is_bad: bool = True) -> ConditionState:
    return ConditionState(ConditionKind.CHECK, key, is_bad, "behind since noon" if is_bad else "", "index_is_fresh")


def remote(number: int, *, is_bad: bool = True) -> ConditionState:
    return ConditionState(
        ConditionKind.REMOTE, f"repo-{number:04}", is_bad, "cannot be read" if is_bad else "", cause=HOST
    )


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)


def test_what_was_noted_before_the_clock_was_set_back_is_told_and_not_an_hour_late(watch: Watch) -> None:
    watch.see(check())

    assert watch.tell(after_minutes=-60) == ["Failing: shop: check index_is_fresh"]
    assert watch.tell() == []


def test_a_failure_and_its_end_are_told_once_each(watch: Watch) -> None:
    watch.see(check())
    assert watch.tell() == ["Failing: shop: check index_is_fresh"]
    watch.see(check())
    assert watch.tell() == []

    watch.see(check(is_bad=False))
    assert watch.tell(after_minutes=30) == ["Recovered: shop: check index_is_fresh"]
    assert watch.tell() == []


def test_what_was_never_wrong_is_not_told_of(watch: Watch) -> None:
    watch.see(check(is_bad=False))

    assert watch.tell() == []


def test_what_ends_before_it_has_lasted_is_not_told_of(watch: Watch) -> None:
    watch.see(check())
    assert watch.tell(after_minutes=4) == []
    watch.see(check(is_bad=False))

    assert watch.tell(after_minutes=60) == []


def test_what_goes_on_and_off_is_told_ever_more_seldom(watch: Watch) -> None:
    reported = 0
    for hour in range(24):
        watch.see(check(is_bad=hour % 2 == 0))
        reported += len(watch.tell(after_minutes=60))

    # 5, 10, 20 and 40 minutes are over within the hour that each state lasts, 80 are not.
    assert reported == 4


def test_a_host_that_is_away_is_one_alert_and_one_when_it_is_back(watch: Watch) -> None:
    watch.see(*(remote(number) for number in range(500)))
    assert watch.tell() == [f"Failing: {HOST}, 500 repositories"]
    # Those that are looked at later belong to what is told already.
    watch.see(*(remote(number) for number in range(500, 1000)))
    assert watch.tell() == []

    watch.see(*(remote(number, is_bad=False) for number in range(999)))
    assert watch.tell(after_minutes=30) == []
    watch.see(remote(999, is_bad=False))
    assert watch.tell(after_minutes=30) == [f"Recovered: {HOST}"]


def test_many_changes_at_one_time_are_one_message(watch: Watch) -> None:
    watch.see(*(check(f"repo-{number}") for number in range(6)))

    assert watch.tell() == ["6 failing, 0 recovered"]


def test_a_message_about_a_thousand_changes_is_as_short_as_one_about_ten(watch: Watch) -> None:
    watch.see(*(check(f"repo-{number:04}") for number in range(1000)))

    assert watch.tell() == ["1,000 failing, 0 recovered"]
    with open_outbox(watch.home, now=watch.now) as outbox:
        [post] = [outbox.post(each.post_id) for each in outbox.deliveries()]
    assert post.text.splitlines() == [
        "failing: check index_is_fresh (1,000): "
        + ", ".join(f"repo-{number:04}" for number in range(8))
        + " and 992 more",
        "  the first of them: behind since noon",
        "",
        "The command codesum status lists all repositories; the Dagster UI shows each check and run.",
    ]


def test_a_restart_between_deciding_and_telling_repeats_and_loses_nothing(watch: Watch) -> None:
    watch.see(check())
    watch.moment += timedelta(minutes=6)
    with open_book(watch.home, now=watch.now) as book:
        decide_messages(book, watch.settings)
        [message] = book.select(Message, "FROM messages")

    assert watch.tell() == ["Failing: shop: check index_is_fresh"]
    # As after a crash between the outbox and the book.
    with open_book(watch.home, now=watch.now) as book, book.together():
        book.insert("messages", message)
    assert watch.tell() == []


def test_two_processes_that_look_at_once_tell_it_once(watch: Watch) -> None:
    watch.see(check())
    watch.moment += timedelta(minutes=6)
    start = threading.Barrier(4)

    def look() -> None:
        start.wait()
        with open_book(watch.home, now=watch.now) as book:
            announce_changes(book, watch.settings, watch.sender())

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert list(watch.reported().values()) == ["codesum: Failing: shop: check index_is_fresh"]


def test_an_alert_arrives_as_a_mail_and_at_a_webhook(tmp_path: Path) -> None:
    with mail_receiver() as mails, webhook_receiver() as hook:
        channels = {
            "ops": {**HOOK, "url": hook.url},
            "mail": {**MAIL, "port": mails.port, "to": ["ops@example.com"]},
        }
        watch = Watch(tmp_path, channels, AlertSettings(channels=("ops", "mail")))
        watch.see(check())
        watch.tell()
        assert sorted(each.state.value for each in watch.sender().send_due().tried) == ["sent", "sent"]
        assert watch.sender().send_due().tried == ()

    [mail], [request] = mails.mails, hook.received
    text = mail.get_body(("plain",))
    assert mail["Subject"] == request.json["subject"] == "codesum: Failing: shop: check index_is_fresh"
    assert text and "behind since noon" in text.get_content()
    assert request.json["kind"] == "notice" and "behind since noon" in request.json["text"]


def test_lateness_counts_from_when_an_index_was_first_seen_behind(watch: Watch) -> None:
    day = {"shop": timedelta(days=1), "cart": timedelta(days=1)}
    with open_book(watch.home, now=watch.now) as book:
        assert not book.note_behind(["shop", "cart"], [], late_after=day).late
        watch.moment += timedelta(hours=23)
        # Nothing is known of `cart` for a while, as where its remote is away.
        assert not book.note_behind(["shop"], [], late_after=day).late
        watch.moment += timedelta(hours=2)
        assert set(book.note_behind(["shop"], [], late_after=day).late) == {"shop", "cart"}
        # Late already: nothing changes.
        assert not book.note_behind(["shop"], [], late_after=day).late
        assert book.note_behind([], ["shop"], late_after=day).in_time == ["shop"]


def test_each_repository_may_be_behind_for_as_long_as_its_own_target_says(watch: Watch) -> None:
    targets = {"shop": timedelta(hours=1), "cart": timedelta(hours=3)}
    with open_book(watch.home, now=watch.now) as book:
        book.note_behind([*targets, "gone"], [], late_after=targets)
        watch.moment += timedelta(hours=2)
        after_two = book.note_behind([*targets, "gone"], [], late_after=targets).late
        watch.moment += timedelta(hours=2)
        after_four = book.note_behind([*targets, "gone"], [], late_after=targets).late

    # Nobody waits for what is registered no more.
    assert ({*after_two}, {*after_four}) == ({"shop"}, {"cart"})


def test_a_run_is_counted_once_and_a_success_begins_anew(watch: Watch) -> None:
    with open_book(watch.home, now=watch.now) as book:
        counts = [book.note_run(run, "shop", failed=failed) for run, failed in
                  (("a", True), ("a", True), ("b", True), ("c", False), ("d", True))]  # fmt: skip

    assert counts == [1, None, 2, 0, 1]


def test_a_channel_that_is_away_gets_its_alert_once_when_it_is_back(tmp_path: Path) -> None:
    with webhook_receiver() as good, webhook_receiver(503, 503, 200) as bad:
        channels = {"good": {**HOOK, "url": good.url}, "bad": {**HOOK, "url": bad.url}}
        watch = Watch(tmp_path, channels, AlertSettings(channels=("good", "bad")))
        watch.see(check())
        watch.tell()
        for _ in range(6):
            # Each time as another process would, after a restart.
            watch.sender().send_due()
            watch.moment += timedelta(hours=1)

    assert len(good.received) == 1
    assert (len(bad.received), len(set(bad.ids))) == (3, 1)
