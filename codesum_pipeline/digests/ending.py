"""A digest that is written goes into the outbox, and hooks hear of it: once, wherever a process ends.

Digest and outbox are two files, so nothing puts both right at once. The row of
the digest says how far it came; whoever finds it half way goes on from there.
The outbox knows a digest by its id, and takes it once.
"""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from codesum_pipeline.delivery.hooks import tell_after
from codesum_pipeline.delivery.outbox import open_outbox
from codesum_pipeline.delivery.posts import digest_post
from codesum_pipeline.delivery.sending import OutboxSender
from codesum_pipeline.digests.rows import DigestRow, DigestState
from codesum_pipeline.digests.store import DigestStore
from codesum_pipeline.model.digests import PostId
from codesum_pipeline.store.locks import exclusive, exclusive_if_free

_LOCKS = "digests.locks"
_log = logging.getLogger(__name__)


@contextmanager
def one_at_a_time(store: DigestStore, intent_name: str) -> Iterator[None]:
    """Nobody else makes a digest of this intent, or brings one on its way; waits for whoever does."""
    with exclusive(store.path.with_name(_LOCKS) / _lock_name(intent_name)):
        yield


def finish(store: DigestStore, sender: OutboxSender, digest: DigestRow) -> None:
    """Into the outbox with a digest that is recorded, then to the hooks; must be inside `one_at_a_time`.

    A hook that was called when the process ended is called again.
    """
    if digest.state is DigestState.WRITTEN:
        post = digest_post(PostId(digest.id), digest.result, links=digest.links, created_at=digest.created_at)
        with open_outbox(sender.home, now=sender.now) as outbox:
            outbox.add(post, digest.channels, tries=sender.settings.max_attempts)
        store.mark_queued(digest.id)
    tell_after(digest.result)
    store.mark_told(digest.id)


def finish_left(store: DigestStore, sender: OutboxSender) -> list[str]:
    """Bring on its way what processes left half way that ended; the ids of these digests.

    What a process that lives has in hand is left to it.
    """
    left: list[str] = []
    for intent in sorted({digest.intent_name for digest in store.unfinished()}):
        with exclusive_if_free(store.path.with_name(_LOCKS) / _lock_name(intent)) as is_mine:
            for digest in store.unfinished(intent) if is_mine else ():
                _log.warning(
                    "digest %s of %s: the process that wrote it ended; it goes on from here", digest.id, intent
                )
                finish(store, sender, digest)
                left.append(digest.id)
    return left


def _lock_name(intent_name: str) -> str:
    return f"{hashlib.sha256(intent_name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.lock"
