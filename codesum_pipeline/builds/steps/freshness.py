"""The one place that decides whether an index is up to date, and if not, what differs.

A build starts from a commit, indexes of compilers that are not of the commit, the entry in the registry, the settings
and the versions of algorithms. One hash covers all of these, the *fingerprint*. An index is up to date where four
fingerprints are the same: that of a build that would start now, that of the snapshot in the tables, that of the version
that readers see, and that which Dagster recorded. Where the gate held back the version that would be published, a build
would be held back again: that index is not up to date, and needs no build.

Fingerprints say what was built. The memos of the steps (`is_complete`) say whether it still exists and whether anything
is left to do: a table may be deleted, an item may have failed, a model may have texts left to write.
"""

from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from codesum_pipeline.builds.reports.kept_failures import read_failures
from codesum_pipeline.builds.steps.reuse import is_current, is_remembered
from codesum_pipeline.builds.steps.step_list import PUBLISHED_INDEX, REPO_SNAPSHOT, RETRIEVAL_EVALUATION, STEPS
from codesum_pipeline.foundation.data_model.errors import BrokenIndex
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.hashing import identify_algorithms
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.operation_settings import CheckSettings
from codesum_pipeline.foundation.store.lease import LeaseHolder, current_holder
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.file_formats.version_folder import version_at
from codesum_pipeline.search.evaluation.evaluation_step import Hold, is_evaluated, standing_hold
from codesum_pipeline.source.git.locations import slug_of
from codesum_pipeline.symbols.scip.taking import index_state
from codesum_pipeline.texts.summaries.level_build import LevelReport

_LEVELS = tuple(step for step in STEPS if step.report is LevelReport)
# They look for themselves in each build, and leave no memo.
_LOOKING = (REPO_SNAPSHOT, RETRIEVAL_EVALUATION, PUBLISHED_INDEX)


def allowed_lag(checks: CheckSettings, entry: RepositoryEntry) -> timedelta:
    """How long the published index of a repository may be behind it."""
    return timedelta(hours=checks.hours_behind(entry.key, slug_of(entry.location)))


class Fingerprints(Struct, frozen=True, kw_only=True):
    """The fingerprints of one repository; None if there is none.

    `wanted` is that of a build that would start now, None if the repository cannot be read. `begun` is that of the
    snapshot in the tables, which is ahead where a build did not end. `published` is that of the version that readers
    see, `recorded` that of Dagster's last materialisation. `is_held` says that the gate would keep a build of `wanted`
    from being published again.
    """

    wanted: str | None
    begun: str | None = None
    published: str | None = None
    recorded: str | None = None
    is_held: bool = False

    @property
    def is_up_to_date(self) -> bool:
        return self.wanted is not None and self.wanted == self.begun == self.published == self.recorded

    @property
    def is_held_back(self) -> bool:
        return self.is_held and self.wanted == self.begun


class IndexState(StrEnum):
    """The state of a repository's index."""

    DISABLED = "disabled"
    RETIRED = "retired"
    BUILDING = "being built"
    QUEUED = "queued"
    NEW = "never indexed"
    FAILED = "failed too often"
    UNREADABLE = "cannot be read"
    BROKEN = "broken"
    UNKNOWN = "cannot tell"
    UNFINISHED = "build unfinished"
    BEHIND = "behind"
    CHANGED = "settings changed"
    UPGRADED = "made by an earlier version"
    OTHER_INDEXES = "compilers' indexes changed"
    HELD = "held back"
    STOPPED = "stopped by hand"
    WAITING = "waiting"
    FRESH = "up to date"


class Comparison(Struct, frozen=True):
    """The last build of a repository, compared with a build made now.

    `head` is the commit of a build made now. If it is None, the commit of the last build is used instead, and the
    comparison covers everything else.
    """

    head: str | None
    published_commit: str | None
    snapshot: Snapshot | None
    has_same_indexes: bool
    fingerprints: Fingerprints
    hold: Hold | None

    @property
    def needs_build(self) -> bool:
        return not (self.fingerprints.is_up_to_date or self.fingerprints.is_held_back)

    @property
    def state(self) -> IndexState:
        if self.fingerprints.is_held_back:
            return IndexState.HELD
        if self.published_commit is None:
            return IndexState.UNFINISHED if self.snapshot else IndexState.NEW
        if self.snapshot is None or self.snapshot.commit != self.published_commit:
            return IndexState.UNFINISHED
        if self.head is None:
            return IndexState.UNKNOWN
        if self.head != self.published_commit:
            return IndexState.BEHIND
        if self.fingerprints.is_up_to_date:
            return IndexState.FRESH
        return IndexState.CHANGED if self.has_same_indexes else IndexState.OTHER_INDEXES


def compare_fingerprints(
    ws: Workspace, *, commit: str | None, fingerprint: str | None, head: str | None = None
) -> Comparison:
    """Commit and fingerprint are those of what is published. Dagster is not asked: what it recorded counts as right."""
    snapshots = ws.tables.read_rows_or_empty("snapshot", ws.key, Snapshot)
    snapshot = snapshots[0] if snapshots else None
    begun = ws.fingerprint(snapshot.commit, snapshot.index_state) if snapshot else None
    indexes = index_state(ws.entry, ws.layout, ws.settings.scip)
    wanted_at = head or (snapshot.commit if snapshot else None)
    wanted = ws.fingerprint(wanted_at, indexes) if wanted_at else None
    hold = standing_hold(ws.layout, ws.key, ws.settings.evaluation, fingerprint=wanted) if wanted else None
    return Comparison(
        head,
        commit,
        snapshot,
        snapshot is not None and (snapshot.index_state or "") == indexes,
        Fingerprints(wanted=wanted, begun=begun, published=fingerprint, recorded=wanted, is_held=hold is not None),
        hold,
    )


def judge_freshness(ws: Workspace, *, head: str | None = None) -> tuple[IndexState, str, LeaseHolder | None]:
    """The state of a repository's index, more words about it, where there are any, and the process that builds now.

    Every caller uses this. `head` is the repository's commit, None if unknown.
    """
    entry, holder, version, problem = ws.entry, current_holder(ws.layout.state(ws.key)), None, ""
    try:
        version = version_at(ws.layout.published(ws.key))
    except BrokenIndex as error:
        problem = str(error)
    if not entry.enabled:
        if entry.retired and not problem:
            return IndexState.RETIRED, f"{entry.retired.why}, since {entry.retired.at}", holder
        return IndexState.DISABLED, problem, holder
    if holder and not holder.is_gone():
        return IndexState.BUILDING, problem, holder
    if problem:
        return IndexState.BROKEN, problem, holder
    made = version.manifest if version else {}
    found = compare_fingerprints(ws, commit=made.get("commit"), fingerprint=made.get("fingerprint"), head=head)
    state, why = found.state, found.hold.because if found.hold and found.state is IndexState.HELD else ""
    if state is IndexState.CHANGED:
        is_same = identify_algorithms(made.get("versions", {})) == identify_algorithms(ws.versions)
        state = state if is_same else IndexState.UPGRADED
    return state, why, holder


def is_complete(ws: Workspace, *, is_held: bool = False) -> bool:
    """Whether no step failed on an item that the next build would try again, and those that remember their last run
    would only repeat their reports.

    The steps after a publication do not run where the gate held it back.
    """
    steps = STEPS[: STEPS.index(PUBLISHED_INDEX)] if is_held else STEPS
    names = {step.name for step in steps}
    found = read_failures(ws.layout.memos(ws.key)).items()
    if any(not failure.is_settled for step, some in found if step in names for failure in some):
        return False
    return all(is_current(step, ws) for step in steps if step not in _LOOKING) and is_evaluated(ws)


def has_left_over(ws: Workspace) -> bool:
    """Whether the last build left texts that a model may write in a later one."""
    return not all(is_remembered(step, ws) for step in _LEVELS)
