"""The digest of one intent by a model: what it is shown, what it may cost, and what of its answer holds.

Everything that is asked is a function of intent, items, templates and
settings: the same digest is the same request, whose answer is found again in
the books or in a recording.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.digests.affording import affordable_chars
from codesum_pipeline.digests.articles import Articles, fill_articles, first_entry_chars
from codesum_pipeline.digests.claims import CheckedClaims, digest_tool, read_claims, result_of
from codesum_pipeline.digests.conversation import ask_for_claims
from codesum_pipeline.digests.material import Item
from codesum_pipeline.llm.backend import SummaryBackend, Templates, check_allowed
from codesum_pipeline.llm.budgets import body_budget, prompt_chars
from codesum_pipeline.llm.digest_templates import DigestTemplate, load_digest_template, pinned_digest
from codesum_pipeline.llm.factory import build_backend, why_shut
from codesum_pipeline.llm.pins import AnswerForm, SummaryResponse
from codesum_pipeline.llm.prices import price_of, tokens_upper, worst_case_usd
from codesum_pipeline.llm.templates import ResolvedTemplate, TemplateKind
from codesum_pipeline.model.digests import SummaryResult
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import DigestGatedOff
from codesum_pipeline.model.intents import Intent
from codesum_pipeline.settings.llm import LlmSettings
from codesum_pipeline.settings.models import Settings

# A digest is about repositories, as the texts of their root folders are.
LEVEL = Level.MODULE
MakeBackend = Callable[[LlmSettings, Templates], SummaryBackend]

_log = logging.getLogger(__name__)


class ModelDigest(Struct, frozen=True):
    """A digest by a model. `cost_usd` are all attempts for it, also those of a run that was killed; `calls` this run's.

    `dropped_claims` had no quote that holds, `removed_numbers` are citations of changes that were not shown.
    `left_out` items had no room in the prompt, and of `cut_count` the texts were cut.
    """

    result: SummaryResult
    model: str
    request_hash: str
    cost_usd: float
    calls: int
    dropped_claims: int
    removed_numbers: tuple[int, ...]
    left_out: int
    cut_count: int


def check_gates(settings: Settings) -> None:
    """Raise what a model may not be asked for a digest for, before anything of it is read.

    `DigestGatedOff`: the digest is written without one. `ModelNotInAllowlist`, and `ConfigurationError` where a price
    is not known: that has to be mended.
    """
    llm = settings.llm
    if shut := why_shut(llm, is_offline=settings.offline):
        raise DigestGatedOff(shut)
    for model in (llm.model, *llm.fallback_models):
        check_allowed(model, llm)
        if not llm.asks_nobody:
            price_of(model, llm)


def write_by_model(
    intent: Intent,
    items: Sequence[Item],
    *,
    settings: Settings,
    books: Path,
    job_id: str,
    now: Callable[[], datetime],
    make_backend: MakeBackend = build_backend,
) -> ModelDigest:
    """The digest of `items`, the most important to be shown first.

    `books` is `digests.sqlite`. `job_id` is the digest's: its attempts stand under it, and its cap counts them.

    Raises what `check_gates` does, `TemplateNotFound` and `TemplateRenderError`, `ConfigurationError` where the
    templates leave no room, `DigestCapReached`, and `SummaryError` where the model failed.
    """
    check_gates(settings)
    turns = _Turns.of(intent, settings.prompts_dir)
    template = turns.resolved
    backend = make_backend(settings.llm, {template.level: template})
    articles = _articles(items, turns, backend.max_prompt_chars, settings, about=f"the digest of {intent.name}")
    numbered = {number: item.citation for number, item in enumerate(items, start=1)}

    def read(response: SummaryResponse, form: AnswerForm) -> CheckedClaims:
        return read_claims(response, form, articles.shown)

    heard = ask_for_claims(
        backend,
        template,
        turns.prompt(articles.block),
        read,
        settings=settings,
        about=intent.name,
        books=books,
        job_id=job_id,
        now=now,
    )
    _tell(intent, heard.checked)
    return ModelDigest(
        result=result_of(intent.name, heard.checked, numbered, items=len(items)),
        model=heard.request.model_name,
        request_hash=heard.request.request_hash,
        cost_usd=heard.cost_usd,
        calls=heard.calls,
        dropped_claims=heard.checked.dropped,
        removed_numbers=heard.checked.removed_numbers,
        left_out=articles.left_out,
        cut_count=articles.cut_count,
    )


def price_in_advance(intent: Intent, items: Sequence[Item], settings: Settings) -> float:
    """The most that one call for this digest can cost, in US dollars; nothing is asked."""
    if settings.llm.asks_nobody:
        return 0.0
    turns = _Turns.of(intent, settings.prompts_dir)
    articles = _articles(items, turns, prompt_chars(settings.llm), settings, about=f"the digest of {intent.name}")
    said = (turns.resolved.system, digest_tool().schema_bytes.decode(), turns.prompt(articles.block))
    return worst_case_usd(price_of(settings.llm.model, settings.llm), tokens_upper(*said), settings.digests.max_tokens)


class _Turns(Struct, frozen=True):
    """The two turns of an intent's digests as their templates are now."""

    resolved: ResolvedTemplate
    instruction: DigestTemplate
    intent_text: str

    @classmethod
    def of(cls, intent: Intent, folder: Path) -> "_Turns":
        """Raises `TemplateNotFound` or `TemplateRenderError`."""
        system = load_digest_template(folder, TemplateKind.DIGEST_SYSTEM, intent.system_template)
        instruction = load_digest_template(folder, TemplateKind.DIGEST_INSTRUCTION, intent.instruction_template)
        resolved = ResolvedTemplate(
            level=LEVEL,
            system=system.for_digest(language=intent.language),
            instruction=instruction.text,
            digest=pinned_digest(system, instruction, language=intent.language),
            names=tuple(f"{each.kind}/{each.name}" for each in (system, instruction)),
            tool=digest_tool(),
        )
        return cls(resolved, instruction, intent.text)

    def prompt(self, articles: str) -> str:
        """The user's turn."""
        return self.instruction.for_digest(intent_text=self.intent_text, articles=articles)


def _articles(
    items: Sequence[Item], turns: _Turns, max_prompt_chars: int, settings: Settings, *, about: str
) -> Articles:
    """Those that fit into what system and instruction leave of the prompt, and into what may be spent."""
    system = turns.resolved.system
    wrapper = turns.prompt("") + digest_tool().schema_bytes.decode()
    budget = body_budget(
        max_prompt_chars,
        system=system,
        wrapper_chars=len(wrapper),
        boilerplate_chars=first_entry_chars(items),
    )
    affordable = affordable_chars(items, system + wrapper, llm=settings.llm, digests=settings.digests)
    room = budget if affordable is None else min(budget, affordable)
    return fill_articles(items, room, settings.llm, about=about)


def _tell(intent: Intent, checked: CheckedClaims) -> None:
    if checked.dropped:
        _log.warning(
            "the digest of %s: %d claims of the model were dropped, since no change that they cite has their quote",
            intent.name,
            checked.dropped,
        )
    if checked.removed_numbers:
        gone = ", ".join(f"[{number}]" for number in dict.fromkeys(checked.removed_numbers))
        _log.warning("the digest of %s: citations of changes that there are not were removed: %s", intent.name, gone)
