"""The shared tools for writing and sending digests, and the handling of written digests and held ticks.

A written digest goes into the outbox, and hooks are notified, once each, even if a process is killed in between.
Digests and outbox are two files, which cannot change in one transaction. So the digest's row records its progress, and
the next process continues from there. The outbox recognises a digest by its id, and accepts it once.
"""

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile

from msgspec import Struct

from codesum_pipeline.foundation.data_model.digest_record import PostId
from codesum_pipeline.foundation.data_model.errors import (
    CodesumError,
    ConfigurationError,
    ModelNotInAllowlist,
    SummaryError,
    TemplateNotFound,
    TemplateRenderError,
)
from codesum_pipeline.foundation.data_model.guard import describe_error
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.data_model.standing_question import Intent
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.locks import lock_exclusively, lock_if_free
from codesum_pipeline.notifications.delivery.digest_hooks import HookFailed, tell_after
from codesum_pipeline.notifications.delivery.posts import digest_post
from codesum_pipeline.notifications.delivery.sending import OutboxSender, SendingReport
from codesum_pipeline.notifications.digests.asking_again import AskAgain, UnusableAnswers
from codesum_pipeline.notifications.digests.digest_by_model import DigestJob
from codesum_pipeline.notifications.digests.digest_rows import DigestRow, DigestState, TickFailure, TickRow
from codesum_pipeline.notifications.digests.digest_store import DigestStore, open_digests
from codesum_pipeline.notifications.intents.intents_file import Intents
from codesum_pipeline.source.repositories.registry import Registry

# The next tick asks a failing model again; after so many failures in a row the operator is notified.
MODEL_FAILURES_UNTOLD = 2
_LOCKS = "digests.locks"
_log = logging.getLogger(__name__)


class DigestDesk(Struct, frozen=True):
    """The resources that a home's ticks use. With `asks_again`, kept answers that cannot be used hold nothing up."""

    layout: HomeLayout
    registry: Registry
    intents: Intents
    settings: Settings
    sender: OutboxSender
    asks_again: bool = False

    def moment(self) -> str:
        """Now, as ISO 8601 in UTC."""
        return iso_moment(self.sender.now())

    def job(self, intent: Intent, id_: str, again: AskAgain) -> DigestJob:
        """The job of asking a model for a digest of this home."""
        return DigestJob(
            intent, id_, self.settings, self.layout.digests, self.sender.now, again, asks_again=self.asks_again
        )

    def tell_operator(self, subject: str, text: str) -> None:
        """Notify the operator; a failure of that is logged."""
        try:
            self.sender.notify_operator(subject, text)
        except Exception:
            _log.exception("the operator could not be told: %s: %s", subject, text)


@contextmanager
def one_at_a_time(store: DigestStore, intent_name: str) -> Iterator[None]:
    """A lock: only this process makes or sends digests of the intent; waits for another that does."""
    with lock_exclusively(store.path.with_name(_LOCKS) / _lock_name(intent_name)):
        yield


def finish_digest(store: DigestStore, sender: OutboxSender, digest: DigestRow) -> None:
    """Put a recorded digest into the outbox, then call the hooks; must be inside `one_at_a_time`.

    A hook that was called when the process ended is called again.
    """
    if digest.state is DigestState.WRITTEN:
        post = digest_post(PostId(digest.id), digest.result, links=digest.links, created_at=digest.created_at)
        sender.add(post, digest.channels)
        store.mark_queued(digest.id)
    tell_after(digest.result)
    store.mark_hooks_called(digest.id)


def finish_left(store: DigestStore, sender: OutboxSender) -> list[str]:
    """Send on the digests that ended processes left half way; returns their ids.

    Digests that a live process works on are left to it.
    """
    left: list[str] = []
    for intent in sorted({digest.intent_name for digest in store.unfinished()}):
        with lock_if_free(store.path.with_name(_LOCKS) / _lock_name(intent)) as is_mine:
            for digest in store.unfinished(intent) if is_mine else ():
                _log.warning(
                    "digest %s of %s: the process that wrote it ended; it goes on from here", digest.id, intent
                )
                finish_digest(store, sender, digest)
                left.append(digest.id)
    return left


def deliver_digests(desk: DigestDesk) -> SendingReport:
    """Put into the outbox the digests that ended processes left half way, then send what is due."""
    if desk.layout.digests.exists():
        try:
            with open_digests(desk.layout.digests, now=desk.sender.now) as store:
                finish_left(store, desk.sender)
        except Exception:
            _log.exception("whether a digest was left half way is not known; what is in the outbox is sent")
    return desk.sender.send_due()


def _lock_name(intent_name: str) -> str:
    return f"{hashlib.sha256(intent_name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.lock"


class _FailureWords(Struct, frozen=True):
    """The message to the operator about a tick that one of these errors stopped."""

    subject: str
    way_out: str
    errors: tuple[type[Exception], ...]


_WORDS = {
    TickFailure.TEMPLATE: _FailureWords(
        "a prompt template cannot be used",
        "Correct the template that is named; `codesum prompts` shows it.",
        (TemplateNotFound, TemplateRenderError),
    ),
    TickFailure.CONFIGURATION: _FailureWords(
        "the settings do not allow it", "Correct what is named.", (ConfigurationError, ModelNotInAllowlist)
    ),
    TickFailure.ANSWER: _FailureWords(
        "the model's answers cannot be used",
        "An answer that is kept is not paid for again. Where one is, the message says when it is asked again.",
        (UnusableAnswers,),
    ),
    TickFailure.MODEL: _FailureWords(
        f"the model failed {MODEL_FAILURES_UNTOLD + 1} times in a row",
        "Look whether the model can be reached: `codesum doctor` asks it. Until then this is said once.",
        (SummaryError,),
    ),
    TickFailure.HOOK: _FailureWords(
        "a pre_push hook failed", "Repair the hook, or uninstall its package.", (HookFailed,)
    ),
    TickFailure.UNFORESEEN: _FailureWords("an unforeseen error", "The log has the traceback.", (Exception,)),
}


def sorted_failure(error: Exception) -> TickFailure:
    """The kind of failure that an error is."""
    return next(failure for failure, words in _WORDS.items() if isinstance(error, words.errors))


def reason_of(error: Exception) -> str:
    """An error in one line; of our own errors the message alone."""
    return one_line(str(error)) if isinstance(error, CodesumError) else describe_error(error)


def tell_held(sender: OutboxSender, earlier: Sequence[TickRow], held: TickRow) -> None:
    """Notify the operator of a held tick: at once, or where the model failed once, at the third such tick in a row.

    `earlier` are the ticks before it, newest first. The same words go out once a day.
    """
    failure = held.failure or TickFailure.UNFORESEEN
    if failure is TickFailure.MODEL:
        in_a_row = sum(1 for _ in takewhile(lambda row: row.failure is TickFailure.MODEL, earlier))
        if in_a_row != MODEL_FAILURES_UNTOLD:
            return
    words = _WORDS[failure]
    sender.notify_operator(
        f"No digest of {held.intent_name}: {words.subject}",
        f"{held.reason}\n\nNothing was sent. What changed is kept, and the next digest tells it. {words.way_out}",
    )
