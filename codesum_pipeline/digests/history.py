"""Many digests in one, by a model: what it is shown of them, what it may cost, and what of its answer holds.

Text of an earlier digest is data between markers, as code is: a model wrote it,
which may have been misled. A claim about it needs a quote from a digest that
cites what the claim cites, as a claim about code needs one from the code.
"""

import logging
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.digests.articles import Article, spaced
from codesum_pipeline.digests.by_model import CALLS, LEVEL, MakeBackend, ask_model, check_gates, worst_usd
from codesum_pipeline.digests.claims import CheckedClaims, digest_tool, result_of
from codesum_pipeline.digests.past import PastBlock, join_past, numbers_in, renumbered
from codesum_pipeline.digests.rows import DigestDraft, DigestRow
from codesum_pipeline.llm.budgets import body_budget, prompt_chars
from codesum_pipeline.llm.digest_templates import ROLLUP_SUFFIX, DigestTemplate, load_digest_template
from codesum_pipeline.llm.factory import build_backend
from codesum_pipeline.llm.pins import blake3_of
from codesum_pipeline.llm.templates import HISTORY, ResolvedTemplate, TemplateKind, template_exists
from codesum_pipeline.model.digests import SummaryResult
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.hashing import canonical_json
from codesum_pipeline.model.intents import Intent
from codesum_pipeline.settings.models import Settings

_LEAST_ROOM = 1_000
_log = logging.getLogger(__name__)
_BEFORE_STOP = re.compile(r"\s+(?=[.,;:!?](?:\s|$))")


class HistoryTemplates(Struct, frozen=True):
    """Both templates of an intent's roll-ups."""

    system: DigestTemplate
    instruction: DigestTemplate

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{each.kind}/{each.name}" for each in (self.system, self.instruction))

    @property
    def problem(self) -> str:
        """Why no digest would be shown with them, and the way out; empty where one would."""
        if self.system.has_history or self.instruction.has_history:
            return ""
        return (
            f"neither {' nor '.join(self.names)} has {{{HISTORY}}}: save one named "
            f"'{self.instruction.name}{ROLLUP_SUFFIX}' with it, which roll-ups then use instead"
        )


class AggregateRequest(Struct, frozen=True):
    """All that is asked for one roll-up."""

    template: ResolvedTemplate
    prompt: str
    block: PastBlock


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
    rows: Sequence[DigestRow], intent: Intent, templates: HistoryTemplates, settings: Settings
) -> AggregateRequest:
    """What a model is asked about these digests, the oldest cut or left out where there is no room.

    Raises `ConfigurationError` where there is none for any digest, and where the templates alone are too long.
    """
    (system, wrapper), max_prompt_chars = _turns(templates, intent, ""), prompt_chars(settings.llm)
    schema = digest_tool().schema_bytes.decode()
    room = body_budget(max_prompt_chars, system=system, wrapper_chars=len(wrapper) + len(schema))
    room //= templates.system.has_history + templates.instruction.has_history
    request = _request(rows, intent, templates, room)
    # Of a prompt that is too dear less is shown, as of one that is too long. The caps stop what is too dear even so.
    most = settings.digests.max_cost_usd_per_digest / CALLS
    while not settings.llm.asks_nobody and room > _LEAST_ROOM:
        worst = worst_usd(request.template, request.prompt, settings)
        if worst <= most:
            break
        room = int(min(room, len(request.block.text)) * max(0.5, 0.95 * most / worst))
        request = _request(rows, intent, templates, room)
    if not request.block.rows_used:
        raise ConfigurationError(
            f"llm.max_prompt_chars = {max_prompt_chars:,}: {room:,} characters are left for earlier digests, which is "
            f"less than the newest one needs, however short it is cut: raise it, or shorten the templates"
        )
    return request


def aggregate_history(
    rows: Sequence[DigestRow],
    *,
    intent: Intent,
    templates: HistoryTemplates,
    settings: Settings,
    books: Path,
    job_id: str,
    now: Callable[[], datetime],
    make_backend: MakeBackend = build_backend,
) -> DigestDraft:
    """The digests `rows` in one, in the intent's language, through one question to a model.

    Raises what `check_gates`, `request_for` and `ask_model` do.
    """
    check_gates(settings)
    request = request_for(rows, intent, templates, settings)
    block, left_out = request.block, len(rows) - request.block.rows_used
    if block.rows_cut or left_out:
        _log.warning(
            "the roll-up of %s: of %d digests the oldest %d left out and %d cut to fit the prompt",
            intent.name,
            len(rows),
            left_out,
            block.rows_cut,
        )

    def compose(claims: CheckedClaims) -> SummaryResult:
        used = {number for claim in claims.claims for number in claim.numbers}
        result = result_of(intent.name, claims, dict(enumerate(block.citations, start=1)), items=len(used))
        if not left_out:
            return result
        told = f"(Of {len(rows):,} digests the oldest {left_out:,} are not in it: there was no room.)"
        return replace(result, summary=f"{result.summary}\n\n{told}")

    return ask_model(
        make_backend(settings.llm, {LEVEL: request.template}),
        request.template,
        request.prompt,
        _articles(block),
        compose,
        shown=block.rows_used,
        about=intent.name,
        settings=settings,
        books=books,
        job_id=job_id,
        now=now,
    )


def _request(rows: Sequence[DigestRow], intent: Intent, templates: HistoryTemplates, room: int) -> AggregateRequest:
    block = join_past(rows, room)
    system, prompt = _turns(templates, intent, block.text)
    template = ResolvedTemplate(
        level=LEVEL,
        system=system,
        instruction=templates.instruction.text,
        # The history may stand in the system turn, which a request has but for this digest.
        digest=blake3_of(canonical_json({"system": system, "instruction": templates.instruction.text})),
        names=templates.names,
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
            texts[number] += [spaced(text), spaced(bare)]
    return [Article(number, "", tuple(sources)) for number, sources in texts.items()]
