"""Standing questions, the documents that changed, and which of these concern which question."""

from datetime import time
from enum import IntEnum, StrEnum
from fnmatch import fnmatchcase

from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import Level

DEFAULT_TEMPLATE = "default"
# Where an intent names neither a threshold nor a top-k: about one match in seven is wrong then, see
# benchmarks/results/digests.md.
DEFAULT_THRESHOLD = 0.6


class Cadence(StrEnum):
    """How often an intent has a digest: with each build, or once a day or week for all builds since the last one."""

    BUILD = "build"
    DAILY = "daily"
    WEEKLY = "weekly"


class Weekday(IntEnum):
    """As `datetime.date.weekday` counts."""

    MONDAY = 0
    TUESDAY = 1
    WEDNESDAY = 2
    THURSDAY = 3
    FRIDAY = 4
    SATURDAY = 5
    SUNDAY = 6


class IntentSchedule(Struct, frozen=True):
    """When an intent has its digest. The last three say nothing to `Cadence.BUILD`, the weekday nothing to `DAILY`.

    `timezone` is a name of the IANA database.
    """

    cadence: Cadence = Cadence.BUILD
    at: time = time(7, 0)
    weekday: Weekday = Weekday.MONDAY
    timezone: str = "UTC"


class Intent(Struct, frozen=True):
    """One standing question. `repositories` are globs over keys; exactly one of `threshold` and `top_k` is set.

    `language` is the English name of one, with a region or script where it has one: `Portuguese (BR)`.
    """

    name: str
    text: str
    repositories: tuple[str, ...] = ("*",)
    threshold: float | None = None
    top_k: int | None = None
    schedule: IntentSchedule = IntentSchedule()
    system_template: str = DEFAULT_TEMPLATE
    instruction_template: str = DEFAULT_TEMPLATE
    language: str = "English"
    channels: tuple[str, ...] = ()
    enabled: bool = True

    def covers(self, repository: str) -> bool:
        """Whether a repository's changes are looked at for this intent."""
        return any(fnmatchcase(repository, glob) for glob in self.repositories)


class ChangeKind(StrEnum):
    """What became of a document between two builds."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class DocumentState(Struct, frozen=True):
    """A document as one build left it: what a digest needs of it. Lines are real ones, None above the file level.

    `content_hash` is the document's own, `summary` its text. `commit` is that of the build, `blob` that of its file,
    None for a folder. `encoding` is what the file is read as by the later build, None for UTF-8.
    """

    name: str
    file_path: str
    commit: str
    content_hash: str
    summary: str
    signature: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    blob: str | None = None
    encoding: str | None = None

    @property
    def place(self) -> str:
        """`path#Lfirst-last@commit`, as `CitedPlace` reads it."""
        lines = ""
        if self.start_line:
            last = f"-{self.end_line}" if self.end_line not in (None, self.start_line) else ""
            lines = f"#L{self.start_line}{last}"
        return f"{self.file_path}{lines}@{self.commit}"


class DocumentChange(Struct, frozen=True):
    """One document that differs between two builds; `before` is None for a new one, `after` for one that is gone.

    `date` is that of the later commit, ISO 8601 in UTC, None if it is not known. `renamed_from` is the id that the
    document had before, where that was another one: `before` is of that id then.
    """

    repository: str
    document_id: str
    level: Level
    language: str
    before: DocumentState | None
    after: DocumentState | None
    date: str | None
    is_test: bool = False
    is_vendored: bool = False
    renamed_from: str | None = None

    @property
    def kind(self) -> ChangeKind:
        if self.before is None:
            return ChangeKind.ADDED
        return ChangeKind.REMOVED if self.after is None else ChangeKind.CHANGED

    @property
    def state(self) -> DocumentState:
        """The document as it is now, or as it last was."""
        found = self.after or self.before
        if found is None:
            raise ValueError(f"{self.document_id}: a change has a state before or after it")
        return found


class IntentMatch(Struct, frozen=True):
    """A change that concerns an intent. `score` lies between 0 and 1, and is None if nothing was matched."""

    intent_name: str
    change: DocumentChange
    score: float | None

    @property
    def rank(self) -> tuple[bool, float, str, str]:
        """Less for what fits better; what was not scored comes last, and ties break by repository and document."""
        change = self.change
        return self.score is None, -(self.score or 0.0), change.repository, change.document_id
