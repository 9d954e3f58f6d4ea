"""The promotion gate: an index that answers worse than the published one is not published.

Both answer the same questions, compared in pairs. A candidate is held back only where the whole interval of the
difference lies beyond the margin: chance moves any mean of a few hundred questions by some hundredths, and must not
hold back an index, since the published one grows older with every commit.
"""

import json

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from codesum_pipeline.evaluation.bootstrap import paired_interval
from codesum_pipeline.evaluation.records import stored_answers
from codesum_pipeline.evaluation.step import EvaluationReport, evaluate_candidate, questions_digest
from codesum_pipeline.indexes.publish import PublishReport, publish_candidate, published_version, sweep_versions
from codesum_pipeline.model.errors import ConfigurationError, HeldBack
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.settings.stages import EvaluationSettings
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.workspace import Workspace

# With fewer questions, chance decides.
LEAST_QUESTIONS = 10


class Hold(Struct, frozen=True):
    """A candidate that was held back, with all facts that decided this."""

    fingerprint: str
    published: str
    questions: str
    margin: float
    because: str


def judge_candidate(ws: Workspace, *, progress: Progress = no_progress) -> EvaluationReport:
    """Evaluate the candidate, and note a hold where it is worse than the published index.

    Before a hold is noted, versions that nobody needs are deleted: the step that does so otherwise will not run.
    """
    report = evaluate_candidate(ws, progress=progress)
    settings, noted = ws.settings.evaluation, ws.layout.hold(ws.key)
    (candidate,) = ws.tables.read("candidate", ws.key).to_pylist()
    present = published_version(ws.layout, ws.key, read_content=ws.force)
    if settings.gate and present and present.manifest["content_digest"] != candidate["content_digest"]:
        report = _compared(ws, report, present.manifest["content_digest"], candidate["content_digest"])
        if report.held_because is not None:
            sweep_versions(ws, present)
            facts = (present.digest, questions_digest(settings), settings.margin, report.held_because)
            write_text_atomically(
                noted, json.dumps(to_builtins(Hold(candidate["fingerprint"], *facts)), indent=2) + "\n"
            )
            return report
    noted.unlink(missing_ok=True)
    return report


def publish_unless_held(ws: Workspace, *, progress: Progress = no_progress) -> PublishReport:
    """Publish the candidate; raises `HeldBack` where the gate holds it back."""
    (candidate,) = ws.tables.read("candidate", ws.key).to_pylist()
    if hold := standing_hold(ws.layout, ws.key, ws.settings.evaluation, fingerprint=candidate["fingerprint"]):
        raise HeldBack(hold.because)
    return publish_candidate(ws, progress=progress)


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


def _compared(ws: Workspace, report: EvaluationReport, published: str, candidate: str) -> EvaluationReport:
    """The report with the scores of two content digests by the questions that both answered; without, where these are
    too few.

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
        return report
    old, new = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    gain, margin = paired_interval(old, new), ws.settings.evaluation.margin
    found = replace(
        report,
        compared=len(pairs),
        published_score=sum(old) / len(old),
        candidate_score=sum(new) / len(new),
        gain_low=gain.low,
        gain_high=gain.high,
    )
    if gain.high >= -margin:
        return found
    because = (
        f"the new index answers {found.compared} questions worse than the published one: {found.candidate_score:.3f} "
        f"against {found.published_score:.3f}, 95 % of the difference within {gain.low:+.3f} and {gain.high:+.3f}, "
        f"beyond the margin of {margin:g}; the published one stays until something changes (`codesum index {ws.key} "
        "--force` tries again, evaluation.gate = false publishes it)"
    )
    return replace(found, held_because=because)
