"""What `digests.sqlite` keeps: matches that wait for their digest, ticks, and digests."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import fields, replace

from codesum_pipeline.model.digests import SummaryResult
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.intents import DocumentChange, DocumentState, IntentMatch


class DigestKind(StrEnum):
    """What a digest was made of: of changes, or of earlier digests."""

    DIGEST = "digest"
    ROLLUP = "rollup"


class DigestState(StrEnum):
    """How far a digest is. `WRITTEN` becomes `QUEUED` once it is in the outbox; the others are final."""

    WRITTEN = "written"
    QUEUED = "queued"
    VETOED = "vetoed"
    UNSENT = "unsent"


class DigestWriter(StrEnum):
    """Who wrote a digest."""

    MODEL = "model"
    PLAIN = "plain"


class TickOutcome(StrEnum):
    """What came of a tick. With `HELD` nothing was sent, and the matches wait for the next tick."""

    QUEUED = "queued"
    UNSENT = "unsent"
    VETOED = "vetoed"
    EMPTY = "empty"
    HELD = "held"


class TickFailure(StrEnum):
    """Why a tick was held."""

    TEMPLATE = "template"
    CONFIGURATION = "configuration"
    MODEL = "model"
    HOOK = "hook"
    UNFORESEEN = "unforeseen"


class KeptMatch(Struct, frozen=True):
    """A match that waits for its digest, and when it was found first."""

    id: int
    match: IntentMatch
    matched_at: str


class TickRow(Struct, frozen=True):
    """One tick. `repository` is that of a tick after a build, `due_at` the moment that a schedule asked for.

    `matches` is how many were pending, `items` how many things the digest tells of them.
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


def change_as_json(change: DocumentChange) -> str:
    """A change such that `read_change` gives it back, a path that is no UTF-8 too."""
    return json.dumps(to_builtins(change), separators=(",", ":"))


def read_change(text: str) -> DocumentChange:
    """The change that `text` was made from."""
    kept: dict[str, Any] = json.loads(text)
    kept["level"] = Level(kept["level"])
    for side in ("before", "after"):
        kept[side] = DocumentState(**kept[side]) if kept[side] else None
    return DocumentChange(**kept)


def result_as_json(result: SummaryResult) -> str:
    """A result such that `read_result` gives it back."""
    return json.dumps(to_builtins(result), separators=(",", ":"))


def read_result(text: str) -> SummaryResult:
    """The result that `text` was made from."""
    return SummaryResult.read(json.loads(text))


def is_undone(change: DocumentChange) -> bool:
    """Whether nothing that a digest could tell is other than before; where it stands and at which commit is no news."""
    return _told(change.before) == _told(change.after)


def _told(state: DocumentState | None) -> DocumentState | None:
    return state and replace(state, commit="", blob=None, start_line=None, end_line=None)


def digest_values(digest: DigestRow) -> list[object]:
    """What the columns of a digest hold, in the order of its fields."""
    values = {field.name: getattr(digest, field.name) for field in fields(DigestRow)}
    values["result"] = result_as_json(digest.result)
    for name in ("repositories", "channels", "links"):
        values[name] = json.dumps(values[name])
    return list(values.values())


def read_digest(values: Sequence[Any]) -> DigestRow:
    """The digest that `digest_values` was given."""
    found = dict(zip((field.name for field in fields(DigestRow)), values, strict=True))
    found["result"] = read_result(found["result"])
    for name in ("repositories", "channels", "links"):
        found[name] = tuple(json.loads(found[name]))
    kind, writer, state = (DigestKind(found["kind"]), DigestWriter(found["written_by"]), DigestState(found["state"]))
    return DigestRow(**{**found, "kind": kind, "written_by": writer, "state": state})


def read_tick(values: Sequence[Any]) -> TickRow:
    """The tick of a row of columns."""
    found = dict(zip((field.name for field in fields(TickRow)), values, strict=True))
    found["outcome"] = TickOutcome(found["outcome"])
    found["failure"] = found["failure"] and TickFailure(found["failure"])
    return TickRow(**found)


def storable(value: Any) -> Any:
    """A lone surrogate of a path or an error is no UTF-8."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
