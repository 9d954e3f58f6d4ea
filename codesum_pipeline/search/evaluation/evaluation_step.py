"""The steps between a candidate and its publication: measure how well it answers, and let it pass or hold it back.

The gate compares the candidate with the published index, which answers the same questions, in pairs. A candidate is
held back only where the whole interval of the difference lies beyond the margin: chance moves any mean of a few hundred
questions by some hundredths, and must not hold back an index, since the published one grows older with every commit.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from msgspec import DecodeError, Struct, json
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import BrokenStore, ConfigurationError, HeldBack
from codesum_pipeline.foundation.data_model.guard import Failure, FailureGuard
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.settings.stage_settings import EvaluationSettings
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.file_formats.version_folder import Version
from codesum_pipeline.indexes.publishing.publish import (
    PublishReport,
    publish_candidate,
    published_version,
    sweep_versions,
)
from codesum_pipeline.search.evaluation.evaluate import (
    ALL,
    CODE_ONLY,
    FUNCTION_MRR,
    NDCG,
    SETUPS,
    QuestionResult,
    ask_questions,
    indexes_of,
    paired_interval,
)
from codesum_pipeline.search.evaluation.lift import BY_MODEL, EVERY_LEVEL, lift_of_answers
from codesum_pipeline.search.evaluation.own_questions import OWN_QUESTIONS_VERSION, ask_own_questions, is_held_out
from codesum_pipeline.search.evaluation.questions import Question, read_questions
from codesum_pipeline.search.evaluation.records import (
    EVERY_CATEGORY,
    add_figures,
    answer_rows,
    ensure_tables,
    figures_hash,
    keep_answers,
    last_figures,
    last_lift,
    question_key,
    stored_answers,
)
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

# With fewer questions, chance decides.
LEAST_QUESTIONS = 10
# Raised with each change of the measures, which makes the figures of earlier versions out of date.
EVALUATION_VERSION = f"3/{OWN_QUESTIONS_VERSION}"


class EvaluationReport(Struct, frozen=True):
    """The candidate's figures, all lanes together; `asked` is 0 if the last evaluation is still valid.

    `code_only_ndcg_at_10` is that of an index without written texts; `model_texts_gain` is what a model's texts add to
    the score of extractive ones (of code alone where embedding has a price), and `model_texts_cost_usd` their price.
    Without questions, or where evaluation is off, there are no figures.

    The promotion gate adds the scores of both indexes by the `compared` questions that both answered, the 95 % interval
    of the candidate's gain, and why it is held back, where it is.
    """

    enabled: bool
    questions: int
    asked: int
    ndcg_at_10: float | None
    file_mrr_at_10: float | None
    file_recall_at_10: float | None
    function_mrr_at_10: float | None
    function_recall_at_10: float | None
    code_only_ndcg_at_10: float | None
    model_texts_gain: float | None
    model_texts_cost_usd: float | None
    table_hash: str
    failed: int = 0
    failures: tuple[Failure, ...] = ()
    compared: int = 0
    published_score: float | None = None
    candidate_score: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    held_because: str | None = None


def evaluate_candidate(ws: Workspace, *, progress: Progress = no_progress) -> EvaluationReport:
    """Add the candidate's figures to `evaluations`, unless evaluation is off or they are up to date."""
    ensure_tables(ws)
    if not ws.settings.evaluation.enabled or (not ws.force and is_evaluated(ws)):
        return _report(ws, answered=0)
    candidate = _candidate(ws)
    try:
        index = PublishedIndex.of_version(ws.layout.versions(ws.key) / candidate["digest"])
    except FileNotFoundError as error:
        raise BrokenStore(
            f"repository {ws.key!r}: candidate {candidate['digest']} is gone: run `codesum index {ws.key}` again"
        ) from error
    guard = FailureGuard()
    answers = _ask(ws, index, guard, progress)
    digest = candidate["content_digest"]
    rows = answer_rows(answers, content_digest=digest)
    published = published_version(ws.layout, ws.key)
    if published and published.manifest["content_digest"] != digest:
        rows += _published_answers(ws, published, [answer.question for answer in answers if answer.setup == ALL.name])
    keep_answers(ws, rows)
    lift = lift_of_answers(ws, answers, progress=progress)
    # Figures without a failed question are incomplete: the next build asks again.
    questions_hash = f"{_questions_hash(ws, candidate)} failed" if guard.failed else _questions_hash(ws, candidate)
    add_figures(ws, answers, lift, commit=candidate["commit"], content_digest=digest, questions_hash=questions_hash)
    report = _report(ws, answered=len({answer.question.id for answer in answers}))
    return replace(report, failed=len(guard.failed), failures=guard.failures)


def is_evaluated(ws: Workspace) -> bool:
    """Whether evaluation is off, or the last figures are the candidate's for the present questions."""
    if not ws.settings.evaluation.enabled:
        return True
    if ws.tables.readable_path("evaluations", ws.key) is None:
        return False
    candidate = _candidate(ws)
    wanted = (candidate["content_digest"], _questions_hash(ws, candidate))
    return any((row["content_digest"], row["asked"]) == wanted for row in last_figures(ws))


def questions_digest(settings: EvaluationSettings) -> str:
    """A hash of the questions, apart from the repository."""
    if not settings.questions:
        return hash_of([EVALUATION_VERSION, settings.sample, settings.commits])
    try:
        content = settings.questions.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"evaluation.questions: {settings.questions} cannot be read: {error}") from error
    return hash_of([EVALUATION_VERSION, hashlib.sha256(content).hexdigest()])


def _questions_hash(ws: Workspace, candidate: dict[str, Any]) -> str:
    """A hash of the questions and the embedder; a repository's own questions change with its history, too."""
    settings = ws.settings.evaluation
    history = "" if settings.questions else candidate["commit"]
    return hash_of([questions_digest(settings), embedder_of(ws.settings).model_id, history])


def _ask(ws: Workspace, index: PublishedIndex, guard: FailureGuard, progress: Progress) -> list[QuestionResult]:
    settings = ws.settings.evaluation
    if not settings.questions:
        return ask_own_questions(
            ws, index, setups=SETUPS, sample=settings.sample, commits=settings.commits, guard=guard, progress=progress
        )
    questions = [found for found in read_questions(settings.questions) if indexes_of([index], found)]
    return ask_questions(
        [index], questions, embedder=embedder_of(ws.settings), setups=SETUPS, guard=guard, progress=progress
    )


def _published_answers(ws: Workspace, published: Version, questions: Sequence[Question]) -> list[dict[str, Any]]:
    """The answers of the published index: those given before its publication, and new ones to other questions.

    Held-out docstrings cannot be asked now, since an index without them would have to be built from its old tables.
    """
    digest = published.manifest["content_digest"]
    stored = stored_answers(ws, digest)
    known = {row["asked"] for row in stored}
    unknown = [found for found in questions if question_key(found) not in known and not is_held_out(found)]
    embedder = embedder_of(ws.settings)
    if not ws.settings.evaluation.gate or published.manifest["embedder"]["model_id"] != embedder.model_id:
        return stored
    index = PublishedIndex.of_version(published.folder)
    answers = ask_questions([index], unknown, embedder=embedder, setups=[ALL])
    again = {answer.question.id for answer in answers}
    return [row for row in stored if row["question"] not in again] + answer_rows(answers, content_digest=digest)


def _candidate(ws: Workspace) -> dict[str, Any]:
    candidate: dict[str, Any] = ws.tables.read("candidate", ws.key).to_pylist()[0]
    return candidate


def _report(ws: Workspace, *, answered: int) -> EvaluationReport:
    """The figures of the last evaluation."""
    enabled = ws.settings.evaluation.enabled
    rows = [row for row in (last_figures(ws) if enabled else ()) if row["questions"]]
    every = {(row["setup"], row["metric"]): row for row in rows if row["category"] == EVERY_CATEGORY}
    ledger = last_lift(ws).rows if enabled else ()
    of_model = [row for row in ledger if (row.texts, row.level) == (BY_MODEL, EVERY_LEVEL)]

    def mean(metric: str, setup: str = ALL.name) -> float | None:
        return every[setup, metric]["mean"] if (setup, metric) in every else None

    return EvaluationReport(
        enabled=enabled,
        questions=max((row["questions"] for (setup, _), row in every.items() if setup == ALL.name), default=0),
        asked=answered,
        ndcg_at_10=mean(NDCG),
        file_mrr_at_10=mean("file_mrr@10"),
        file_recall_at_10=mean("file_recall@10"),
        function_mrr_at_10=mean(FUNCTION_MRR),
        function_recall_at_10=mean("function_recall@10"),
        code_only_ndcg_at_10=mean(NDCG, CODE_ONLY.name),
        model_texts_gain=next((row.gain.mean for row in of_model if row.gain), None),
        model_texts_cost_usd=next((row.cost_usd for row in of_model), None),
        table_hash=figures_hash(ws) if enabled else hash_of("not evaluated"),
    )


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
    settings, noted, candidate = ws.settings.evaluation, ws.layout.hold(ws.key), _candidate(ws)
    present = published_version(ws.layout, ws.key, read_content=ws.force)
    if settings.gate and present and present.manifest["content_digest"] != candidate["content_digest"]:
        report = _compared(ws, report, present.manifest["content_digest"], candidate["content_digest"])
        if report.held_because is not None:
            sweep_versions(ws, present)
            facts = (present.digest, questions_digest(settings), settings.margin, report.held_because)
            hold = json.format(json.encode(Hold(candidate["fingerprint"], *facts)), indent=2).decode()
            write_text_atomically(noted, f"{hold}\n")
            return report
    noted.unlink(missing_ok=True)
    return report


def publish_unless_held(ws: Workspace, *, progress: Progress = no_progress) -> PublishReport:
    """Publish the candidate; raises `HeldBack` if the gate holds it back."""
    fingerprint = _candidate(ws)["fingerprint"]
    if hold := standing_hold(ws.layout, ws.key, ws.settings.evaluation, fingerprint=fingerprint):
        raise HeldBack(hold.because)
    return publish_candidate(ws, progress=progress)


def standing_hold(layout: HomeLayout, key: str, settings: EvaluationSettings, *, fingerprint: str) -> Hold | None:
    """The hold that a build of this fingerprint would end with again; None if any of its facts changed."""
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
        hold = decode(content, Hold)
        now = Hold(fingerprint, published, questions_digest(settings), settings.margin, hold.because)
    except (DecodeError, ConfigurationError):
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
