"""Many digests in one, by a model: what it is shown of them, what it may cost, and what of its answer holds.

Text of an earlier digest is data between markers, as code is: a model wrote it,
which may have been misled. A claim about it needs a quote from a digest that
cites what the claim cites, as a claim about code needs one from the code.
"""

import logging
import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.digests.articles import Article
from codesum_pipeline.digests.by_model import LEVEL, MakeBackend, check_gates
from codesum_pipeline.digests.claims import CheckedClaims, digest_tool, read_claims, result_of
from codesum_pipeline.digests.conversation import ask_for_claims
from codesum_pipeline.digests.past import PastBlock, PastDigest, join_past, numbers_in, renumbered
from codesum_pipeline.llm.budgets import body_budget, prompt_chars
from codesum_pipeline.llm.digest_templates import DigestTemplate, load_digest_template
from codesum_pipeline.llm.factory import build_backend
from codesum_pipeline.llm.pins import AnswerForm, SummaryResponse, blake3_of
from codesum_pipeline.llm.prices import price_of, tokens_upper, worst_case_usd
from codesum_pipeline.llm.templates import HISTORY, ResolvedTemplate, TemplateKind, template_exists
from codesum_pipeline.model.digests import SummaryResult
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.hashing import canonical_json
from codesum_pipeline.model.intents import Intent
from codesum_pipeline.settings.llm import LlmSettings
from codesum_pipeline.settings.models import Settings

# A template of this name beside the one of an intent is that of its roll-ups: one template cannot do for both, since
# `{history}` has no value in a digest.
ROLLUP_SUFFIX = "-history"
# An answer that cannot be taken is asked for once more.
_CALLS = 2
_LEAST_ROOM = 1_000
_log = logging.getLogger(__name__)
_BEFORE_STOP = re.compile(r"\s+(?=[.,;:!?](?:\s|$))")


class AggregateResult(Struct, frozen=True):
    """What came of a roll-up: `rows_used` of `rows_total` digests were shown to a model.

    With none, nothing was asked, the result is empty, and `problem` says why. `cost_usd` are all attempts for it, those
    of a process that was killed too; `dropped_claims` had no quote that holds.
    """

    result: SummaryResult
    rows_used: int
    rows_total: int
    model: str | None = None
    cost_usd: float = 0.0
    dropped_claims: int = 0
    problem: str = ""

    @property
    def summary(self) -> str:
        """The text."""
        return self.result.summary


class HistoryTemplates(Struct, frozen=True):
    """Both templates of an intent's roll-ups."""

    system: DigestTemplate
    instruction: DigestTemplate

    @property
    def problem(self) -> str:
        """Why no digest would be shown with them, and the way out; empty where one would."""
        if self.system.has_history or self.instruction.has_history:
            return ""
        names = " nor ".join(f"{each.kind}/{each.name}" for each in (self.system, self.instruction))
        return (
            f"neither {names} has {{{HISTORY}}}: save one named "
            f"'{self.instruction.name}{ROLLUP_SUFFIX}' with it, which roll-ups then use instead"
        )


class AggregateRequest(Struct, frozen=True):
    """All that is asked for one roll-up."""

    template: ResolvedTemplate
    prompt: str
    block: PastBlock

    def worst_usd(self, llm: LlmSettings, max_tokens: int) -> float:
        """The most that one call can cost."""
        schema = digest_tool().schema_bytes.decode()
        return worst_case_usd(
            price_of(llm.model, llm), tokens_upper(self.template.system, schema, self.prompt), max_tokens
        )


def history_templates(intent: Intent, folder: Path) -> HistoryTemplates:
    """The intent's own templates for roll-ups in the folder of prompts, else those of its digests.

    Raises `TemplateNotFound`, or `TemplateRenderError` for one that cannot be used.
    """

    def found(kind: TemplateKind, name: str) -> DigestTemplate:
        own = f"{name}{ROLLUP_SUFFIX}"
        return load_digest_template(folder, kind, own if template_exists(folder, kind, own) else name)

    return HistoryTemplates(
        found(TemplateKind.DIGEST_SYSTEM, intent.system_template),
        found(TemplateKind.DIGEST_INSTRUCTION, intent.instruction_template),
    )


def request_for(
    rows: Sequence[PastDigest], intent: Intent, templates: HistoryTemplates, settings: Settings
) -> AggregateRequest:
    """What a model is asked about these digests, the oldest cut or left out where there is no room.

    Raises `ConfigurationError` where there is none for any digest, and where the templates alone are too long.
    """
    empty, max_prompt_chars = _turns(templates, intent, ""), prompt_chars(settings.llm)
    schema = digest_tool().schema_bytes.decode()
    room = body_budget(max_prompt_chars, system=empty[0], wrapper_chars=len(empty[1]) + len(schema))
    room //= templates.system.has_history + templates.instruction.has_history
    request = _asked(rows, intent, templates, room)
    # Of a prompt that is too dear less is shown, as of one that is too long. The caps stop what is too dear even so.
    most = settings.digests.max_cost_usd_per_digest / _CALLS
    while not settings.llm.asks_nobody and room > _LEAST_ROOM:
        worst = request.worst_usd(settings.llm, settings.digests.max_tokens)
        if worst <= most:
            break
        room = int(min(room, len(request.block.text)) * max(0.5, 0.95 * most / worst))
        request = _asked(rows, intent, templates, room)
    if not request.block.rows_used:
        raise ConfigurationError(
            f"llm.max_prompt_chars = {max_prompt_chars:,}: {room:,} characters are left for earlier digests, which is "
            f"less than the newest one needs, however short it is cut: raise it, or shorten the templates"
        )
    return request


def aggregate_history(
    rows: Sequence[PastDigest],
    *,
    intent: Intent,
    templates: HistoryTemplates,
    settings: Settings,
    books: Path,
    job_id: str,
    now: Callable[[], datetime],
    make_backend: MakeBackend = build_backend,
) -> AggregateResult:
    """The digests `rows` in one, in the intent's language, through one question to a model.

    `books` is `digests.sqlite`, `job_id` the roll-up's: its attempts stand under it, and its cap counts them.
    Without digests, or with templates that would not show them, nothing is asked.

    Raises what `check_gates` and `request_for` do, `DigestCapReached`, and `SummaryError` where the model failed.
    """
    if problem := templates.problem if rows else "there are no digests to roll up":
        return AggregateResult(SummaryResult(intent.name, ""), 0, len(rows), problem=problem)
    check_gates(settings)
    request = request_for(rows, intent, templates, settings)
    backend = make_backend(settings.llm, {LEVEL: request.template})
    articles = _articles(request.block)

    def read(response: SummaryResponse, form: AnswerForm) -> CheckedClaims:
        return read_claims(response, form, articles)

    heard = ask_for_claims(
        backend,
        request.template,
        request.prompt,
        read,
        settings=settings,
        about=intent.name,
        books=books,
        job_id=job_id,
        now=now,
    )
    used = {number for claim in heard.checked.claims for number in claim.numbers}
    numbered = dict(enumerate(request.block.citations, start=1))
    result = result_of(intent.name, heard.checked, numbered, items=len(used))
    if left_out := len(rows) - request.block.rows_used:
        told = f"(Of {len(rows):,} digests the oldest {left_out:,} are not in it: there was no room.)"
        result = replace(result, summary=f"{result.summary}\n\n{told}")
    _tell_cut(intent, request.block, len(rows))
    return AggregateResult(
        result=result,
        rows_used=request.block.rows_used,
        rows_total=len(rows),
        model=heard.request.model_name,
        cost_usd=heard.cost_usd,
        dropped_claims=heard.checked.dropped,
    )


def _tell_cut(intent: Intent, block: PastBlock, rows_total: int) -> None:
    if block.rows_cut or block.rows_used < rows_total:
        _log.warning(
            "the roll-up of %s: of %d digests the oldest %d left out and %d cut to fit the prompt",
            intent.name,
            rows_total,
            rows_total - block.rows_used,
            block.rows_cut,
        )


def _asked(rows: Sequence[PastDigest], intent: Intent, templates: HistoryTemplates, room: int) -> AggregateRequest:
    block = join_past(rows, room)
    system, prompt = _turns(templates, intent, block.text)
    names = tuple(f"{each.kind}/{each.name}" for each in (templates.system, templates.instruction))
    template = ResolvedTemplate(
        level=LEVEL,
        system=system,
        instruction=templates.instruction.text,
        # The history may stand in the system turn, which a request has but for this digest.
        digest=blake3_of(canonical_json({"system": system, "instruction": templates.instruction.text})),
        names=names,
        tool=digest_tool(),
    )
    return AggregateRequest(template, prompt, block)


def _turns(templates: HistoryTemplates, intent: Intent, history: str) -> tuple[str, str]:
    return (
        templates.system.for_rollup(language=intent.language, history=history),
        templates.instruction.for_rollup(intent_text=intent.text, history=history),
    )


def _articles(block: PastBlock) -> list[Article]:
    """For each citation the texts that cite it, as a quote may give them: with and without our numbers and escapes."""
    texts: dict[int, list[str]] = {number: [] for number in range(1, len(block.citations) + 1)}
    for text in block.texts:
        bare = _BEFORE_STOP.sub("", renumbered(text, {})).replace("\\", "")
        for number in numbers_in(text):
            texts[number] += [_spaced(text), _spaced(bare)]
    return [Article(number, "", tuple(sources)) for number, sources in texts.items()]


def _spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
