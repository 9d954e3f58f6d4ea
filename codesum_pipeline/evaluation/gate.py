"""The promotion gate: an index that answers worse than the published one is not published.

Both answer the same questions, compared in pairs. A candidate is held back only where the whole interval of the
difference lies beyond the margin: chance moves any mean of a few hundred questions by some hundredths, and must not
hold back an index, since the published one grows older with every commit.
"""

import json
from dataclasses import asdict, dataclass

from codesum_pipeline.evaluation.bootstrap import Interval, paired_interval
from codesum_pipeline.evaluation.records import stored_answers
from codesum_pipeline.evaluation.step import questions_digest
from codesum_pipeline.indexes.publish import PublishReport, keep_published, publish_candidate, published_version
from codesum_pipeline.indexes.version_folder import Version
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.settings.stages import EvaluationSettings
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.workspace import Workspace

# With fewer questions, chance decides.
LEAST_QUESTIONS = 10


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """Two indexes by the same questions: mean scores, and the interval of the second's gain."""

    questions: int
    before: float
    after: float
    difference: Interval

    def is_worse(self, margin: float) -> bool:
        return self.difference.high < -margin


@dataclass(frozen=True, slots=True)
class Hold:
    """A candidate that was held back, with all facts that decided this."""

    fingerprint: str
    published: str
    questions: str
    margin: float
    because: str


def publish_unless_worse(ws: Workspace, *, progress: Progress = no_progress) -> PublishReport:
    """Publish the candidate, or keep the published index and note why."""
    present = published_version(ws.layout.published(ws.key), ws.layout.versions(ws.key), read_content=ws.force)
    because = _objection(ws, present) if present else None
    if present is None or because is None:
        ws.layout.hold(ws.key).unlink(missing_ok=True)
        return publish_candidate(ws, progress=progress)
    settings = ws.settings.evaluation
    (candidate,) = ws.tables.read("candidate", ws.key).to_pylist()
    hold = Hold(candidate["fingerprint"], present.digest, questions_digest(settings), settings.margin, because)
    report = keep_published(ws, present, because=because)
    write_text_atomically(ws.layout.hold(ws.key), json.dumps(asdict(hold), indent=2) + "\n")
    return report


def standing_hold(layout: HomeLayout, key: str, settings: EvaluationSettings, *, fingerprint: str) -> Hold | None:
    """The hold that a build of this fingerprint would end with again; None where any of its facts changed."""
    try:
        content, published = layout.hold(key).read_bytes(), layout.published(key).readlink().name
    except OSError:
        return None
    return hold_again(content, settings, published=published, fingerprint=fingerprint)


def hold_again(content: bytes, settings: EvaluationSettings, *, published: str, fingerprint: str) -> Hold | None:
    """As `standing_hold`, from the content of a hold's file."""
    if not settings.gate:
        return None
    try:
        hold = Hold(**json.loads(content))
        now = Hold(fingerprint, published, questions_digest(settings), settings.margin, hold.because)
    except (ValueError, TypeError, ConfigurationError):
        return None
    return hold if hold == now else None


def compare(ws: Workspace, published: str, candidate: str) -> ScoreComparison | None:
    """Compare two content digests by the questions that both answered; None where these are too few.

    A question about a file that the repository no longer has is left out; one about a file that only the index lacks
    counts.
    """
    paths = set(ws.tables.read("files", ws.key, columns=["path"])["path"].to_pylist())
    before = {row["asked"]: row["score"] for row in stored_answers(ws, published)}
    pairs = [
        (before[row["asked"]], row["score"])
        for row in stored_answers(ws, candidate)
        if row["asked"] in before and paths.issuperset(row["files"])
    ]
    if len(pairs) < LEAST_QUESTIONS:
        return None
    old, new = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return ScoreComparison(len(pairs), sum(old) / len(old), sum(new) / len(new), paired_interval(old, new))


def _objection(ws: Workspace, present: Version) -> str | None:
    """The reason against publishing the candidate, or None."""
    settings = ws.settings.evaluation
    (candidate,) = ws.tables.read("candidate", ws.key).to_pylist()
    published = present.manifest["content_digest"]
    if not settings.gate or candidate["content_digest"] == published:
        return None
    found = compare(ws, published, candidate["content_digest"])
    if found is None or not found.is_worse(settings.margin):
        return None
    low, high = found.difference.low, found.difference.high
    return (
        f"the new index answers {found.questions} questions worse than the published one: {found.after:.3f} against "
        f"{found.before:.3f}, 95 % of the difference within {low:+.3f} and {high:+.3f}, beyond the margin of "
        f"{settings.margin:g}; the published one stays until something changes (`codesum index {ws.key} --force` tries "
        "again, evaluation.gate = false publishes it)"
    )
