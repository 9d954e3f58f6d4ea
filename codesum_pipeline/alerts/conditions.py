"""A condition is one thing that is right or wrong: a check of a repository, its builds, its remote, a daemon's part."""

from enum import StrEnum

from msgspec import Struct


class ConditionKind(StrEnum):
    """What a condition is about."""

    CHECK = "check"
    BUILDS = "builds"
    REMOTE = "remote"
    DAEMON = "daemon"


class ConditionState(Struct, frozen=True):
    """How a condition is now. `name` is the check's; `cause` is what it may share with others, as a host."""

    kind: ConditionKind
    subject: str
    is_bad: bool
    detail: str = ""
    name: str = ""
    cause: str = ""


class Condition(Struct, frozen=True):
    """How a condition is, since when, and whether people believe it to be bad."""

    kind: ConditionKind
    name: str
    subject: str
    is_bad: bool
    since: str
    detail: str
    cause: str
    is_told_bad: bool
    told_at: str | None
    # Alerts about it so far, without those that were more than a day apart.
    tellings: int

    @property
    def title(self) -> str:
        """What it is about, in a few words."""
        match self.kind:
            case ConditionKind.CHECK:
                return f"{self.subject}: check {self.name}"
            case ConditionKind.BUILDS:
                return f"{self.subject}: runs"
            case ConditionKind.REMOTE:
                return f"{self.subject}: reading the repository"
            case ConditionKind.DAEMON:
                return self.subject
