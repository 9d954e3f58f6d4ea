"""What `digests.sqlite` keeps: matches that wait for their digest, ticks, and digests."""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import SummaryResult
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState, IntentMatch


class DigestKind(StrEnum):
    """The material of a digest: changes, or earlier digests."""

    DIGEST = "digest"
    ROLLUP = "rollup"


class DigestState(StrEnum):
    """How far a digest is. `WRITTEN` becomes `QUEUED` once it is in the outbox; the others are final.

    `VETOED`: a hook did not allow it. `UNSENT`: its intent has no channel.
    """

    WRITTEN = "written"
    QUEUED = "queued"
    VETOED = "vetoed"
    UNSENT = "unsent"


class DigestWriter(StrEnum):
    """Who wrote a digest."""

    MODEL = "model"
    PLAIN = "plain"


class TickOutcome(StrEnum):
    """The outcome of a tick. With `HELD` nothing was sent, and the matches wait for the next tick."""

    QUEUED = "queued"
    UNSENT = "unsent"
    VETOED = "vetoed"
    EMPTY = "empty"
    HELD = "held"


class TickFailure(StrEnum):
    """Why a tick was held. `ANSWER`: the model answered, and none of its answers can be used."""

    TEMPLATE = "template"
    CONFIGURATION = "configuration"
    ANSWER = "answer"
    MODEL = "model"
    HOOK = "hook"
    UNFORESEEN = "unforeseen"


class KeptMatch(Struct, frozen=True):
    """A match that waits for its digest, and when it was found first."""

    id: int
    intent_name: str
    change: DocumentChange
    score: float | None
    matched_at: str

    @property
    def match(self) -> IntentMatch:
        return IntentMatch(self.intent_name, self.change, self.score)


class TickRow(Struct, frozen=True):
    """One tick. `repository` is that of a tick after a build, `due_at` the moment that a schedule asked for.

    `matches` is how many were pending, `items` how many changes the digest reports.
    """

    id: str
    intent_name: str
    repository: str | None
    due_at: str | None
    started_at: str
    ended_at: str
    outcome: TickOutcome
    failure: TickFailure | None = None
    reason: str = ""
    matches: int = 0
    items: int = 0
    digest_id: str | None = None


class DigestRow(Struct, frozen=True):
    """One digest. Its matches were found from `from_at` to `to_at`; of a roll-up it is the time of its digests.

    `links` has an address of the web for each citation or None, `channels` are those it is sent on, and `told_at` is
    when the hooks that hear of a digest had been called. `dropped_claims` were left out since no source has their
    quote.
    """

    id: str
    kind: DigestKind
    intent_name: str
    repositories: tuple[str, ...]
    created_at: str
    from_at: str
    to_at: str
    language: str
    result: SummaryResult
    written_by: DigestWriter
    state: DigestState
    channels: tuple[str, ...] = ()
    links: tuple[str | None, ...] = ()
    model: str | None = None
    cost_usd: float = 0.0
    matches: int = 0
    items: int = 0
    dropped_claims: int = 0
    told_at: str | None = None


class DigestDraft(Struct, frozen=True):
    """The text of a digest before hooks are asked, made of `shown` changes or earlier digests.

    Where a model wrote it, `cost_usd` are all attempts for it, also those of a run that was killed, `calls` this run's.
    `dropped_claims` had no quote that holds, `removed_numbers` are citations of what was not shown.
    """

    result: SummaryResult
    shown: int = 0
    model: str | None = None
    request_hash: str = ""
    cost_usd: float = 0.0
    calls: int = 0
    dropped_claims: int = 0
    removed_numbers: tuple[int, ...] = ()


def is_undone(change: DocumentChange) -> bool:
    """Whether a change was undone. Another place or commit is not worth reporting."""
    return _content(change.before) == _content(change.after)


def _content(state: DocumentState | None) -> DocumentState | None:
    return state and replace(state, commit="", blob=None, encoding=None, start_line=None, end_line=None)
