"""A digest: what changed about a standing question, and where."""

import re
from typing import NewType

from msgspec import Struct

PostId = NewType("PostId", str)

_PLACE = re.compile(
    r"(?P<path>.+?)(?:#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?)?@(?P<commit>[0-9a-f]{7,64})", re.DOTALL
)


class CitedPlace(Struct, frozen=True):
    """The place of something: a path, its lines if they are known, and the commit."""

    path: str
    commit: str
    first_line: int | None = None
    last_line: int | None = None

    @classmethod
    def parse(cls, text: str) -> "CitedPlace | None":
        """The place that `path#L12@commit` or `path#L12-20@commit` names; None if it names none."""
        found = _PLACE.fullmatch(text)
        if found is None:
            return None
        first, last = (int(found[name]) if found[name] else None for name in ("first", "last"))
        return cls(path=found["path"], commit=found["commit"], first_line=first, last_line=last)


class DigestCitation(Struct, frozen=True):
    """A document that a digest rests on. `place` is `path#L@commit`.

    `source_name` is None if the source is gone, `score` where the document was not found by matching.
    """

    document_id: str
    name: str
    place: str
    repository: str
    date: str | None
    source_name: str | None = None
    score: float | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies it among others."""
        return self.repository, self.document_id, self.place


class DigestClaim(Struct, frozen=True):
    """A sentence by a model, in its own letters and no Markdown.

    `quote` is found word for word in one of the citations that `numbers` name, from 1.
    """

    text: str
    numbers: tuple[int, ...]
    quote: str


class SummaryResult(Struct, frozen=True):
    """The digest of one intent: Markdown in which `[N]` is the N-th of the citations.

    `claims` are what a model's digest is made of; one that was written without a model has none. Hooks of operators are
    given it, so that its names stay.
    """

    intent_name: str
    summary: str
    citations: tuple[DigestCitation, ...] = ()
    claims: tuple[DigestClaim, ...] = ()

    @property
    def primary(self) -> DigestCitation | None:
        """The first citation."""
        return self.citations[0] if self.citations else None

    @property
    def other_sources(self) -> tuple[DigestCitation, ...]:
        """All citations but the first."""
        return self.citations[1:]
