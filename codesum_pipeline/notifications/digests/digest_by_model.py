"""The digest of one intent by a model: the prompt, the caps, and the check of the answer.

A request is a function of intent, items, templates and settings alone: the same digest is the same request, at any time
and on any machine. By its request an answer that an earlier run paid for is found in the ledger, also one that was
refused, so the same question is not paid for twice.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import SummaryResult
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import (
    DigestCapReached,
    DigestGatedOff,
    SummaryOutputInvalid,
)
from codesum_pipeline.foundation.data_model.standing_question import Intent
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.notifications.digests.articles import Article, fill_articles, first_entry_chars
from codesum_pipeline.notifications.digests.asking_again import AskAgain, UnusableAnswers
from codesum_pipeline.notifications.digests.claims import CheckedClaims, digest_tool, read_claims, result_of
from codesum_pipeline.notifications.digests.digest_items import Item
from codesum_pipeline.notifications.digests.digest_rows import DigestDraft
from codesum_pipeline.notifications.digests.prompt_room import room_for
from codesum_pipeline.texts.llm.answer_forms import AnswerForms, FormIgnored
from codesum_pipeline.texts.llm.answer_shapes import MAX_OUTPUT_BYTES
from codesum_pipeline.texts.llm.attempts import result_of_reading
from codesum_pipeline.texts.llm.backend import (
    AnotherModel,
    RefusedAnswer,
    SummaryBackend,
    Templates,
    check_models,
    check_response,
    why_no_calls,
)
from codesum_pipeline.texts.llm.backends import build_backend
from codesum_pipeline.texts.llm.checking import AnswerProblem
from codesum_pipeline.texts.llm.conversation import AnswerReading, converse, mark_ignored, reading_of_problem
from codesum_pipeline.texts.llm.digest_templates import ROLLUP_SUFFIX, DigestTemplate, load_digest_template
from codesum_pipeline.texts.llm.ledger import Ledger
from codesum_pipeline.texts.llm.ledger_readings import KeptAnswer, unusable_answers
from codesum_pipeline.texts.llm.paying import Cap, Till, pay_once, run_job
from codesum_pipeline.texts.llm.pins import AnswerForm, Parameters, SummaryRequest, SummaryResponse
from codesum_pipeline.texts.llm.prices import TextCeiling, tokens_upper
from codesum_pipeline.texts.llm.retrying import with_fallbacks
from codesum_pipeline.texts.llm.sent_parameters import changes_of
from codesum_pipeline.texts.llm.templates import (
    HISTORY,
    ResolvedTemplate,
    TemplateKind,
    digest_of_texts,
    template_exists,
)

# A digest is about repositories, as the texts of their root folders are.
LEVEL = Level.MODULE
# In the ledger.
LEDGER_LEVEL = "digest"
# A build waits, or a schedule: a provider that is still busy after three calls is given up until the next tick.
MAX_RETRIES = 2
LONGEST_WAIT_S = 20.0
# What a complaint tells a model to do, at its end.
_ORDER = "Answer again"
MakeBackend = Callable[[LlmSettings, Templates], SummaryBackend]

_log = logging.getLogger(__name__)


def check_gates(settings: Settings) -> None:
    """Raise the reason why no model may be asked for a digest, before anything of it is read.

    `DigestGatedOff`: the digest is written without a model. `ModelNotInAllowlist`, and `ConfigurationError` for an
    unknown price: the settings have to be mended.
    """
    if shut := why_no_calls(settings.llm, is_offline=settings.offline):
        raise DigestGatedOff(shut)
    check_models(settings.llm)


class DigestJob(Struct, frozen=True):
    """A digest that a model is asked for.

    `books` is `digests.sqlite`. `id` is the digest's: its attempts are recorded under it, and its cap counts them, also
    those of a run that was killed. A job that `asks_again` takes no notice of unusable answers that are kept; `again`
    says when others ask.
    """

    intent: Intent
    id: str
    settings: Settings
    books: Path
    now: Callable[[], datetime]
    again: AskAgain
    asks_again: bool = False
    make_backend: MakeBackend = build_backend


class DigestTemplates(Struct, frozen=True):
    """The templates of both turns of an intent's digests, or of its roll-ups."""

    system: DigestTemplate
    instruction: DigestTemplate

    @classmethod
    def of(cls, intent: Intent, folder: Path, *, is_rollup: bool = False) -> Self:
        """Those of digests; for a roll-up the intent's own ones for roll-ups, where there are any.

        Raises `TemplateNotFound`, or `TemplateRenderError` for one that cannot be used.
        """

        def found(kind: TemplateKind, name: str) -> DigestTemplate:
            own = f"{name}{ROLLUP_SUFFIX}"
            has_own = is_rollup and template_exists(folder, kind, own)
            return load_digest_template(folder, kind, own if has_own else name)

        return cls(
            found(TemplateKind.DIGEST_SYSTEM, intent.system_template),
            found(TemplateKind.DIGEST_INSTRUCTION, intent.instruction_template),
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{each.kind}/{each.name}" for each in (self.system, self.instruction))

    @property
    def rollup_problem(self) -> str:
        """Why a roll-up with them would show no digest, and the way out; empty if it would show them."""
        if self.system.has_history or self.instruction.has_history:
            return ""
        return (
            f"neither {' nor '.join(self.names)} has {{{HISTORY}}}: save one named "
            f"'{self.instruction.name}{ROLLUP_SUFFIX}' with it, which roll-ups then use instead"
        )

    def resolve(self, system: str, digest: str) -> ResolvedTemplate:
        """The templates as a request needs them, with the system turn as it is sent, and what the request pins."""
        return ResolvedTemplate(LEVEL, system, self.instruction.text, digest, self.names, digest_tool())


class DigestRequest(Struct, frozen=True):
    """What a model is asked for a digest: both turns, and what claims may rest on.

    It shows so many changes, or earlier digests.
    """

    template: ResolvedTemplate
    prompt: str
    articles: Sequence[Article]
    shown: int

    def worst_usd(self, settings: Settings) -> float:
        """The most that all calls for it can cost, in US dollars: all that the settings allow, within the caps."""
        llm, digests = settings.llm, settings.digests
        ceiling = TextCeiling.of(llm, max_tokens=digests.max_tokens, retries=min(llm.max_retries, MAX_RETRIES))
        tokens = tokens_upper(self.template.system, digest_tool().schema_bytes.decode(), self.prompt)
        return min(ceiling.usd(tokens), digests.max_cost_usd_per_digest, digests.max_cost_usd_per_day)


def write_by_model(job: DigestJob, items: Sequence[Item]) -> DigestDraft:
    """The digest of `items`, the most important to be shown first.

    Raises what `check_gates`, `request_about` and `ask_model` do.
    """
    check_gates(job.settings)
    numbered = {number: item.citation for number, item in enumerate(items, start=1)}
    return ask_model(
        job,
        request_about(items, job.intent, job.settings),
        lambda claims: result_of(job.intent.name, claims, numbered, items=len(items)),
    )


def request_about(items: Sequence[Item], intent: Intent, settings: Settings) -> DigestRequest:
    """What a model is asked about these items: as many as fit into the prompt, and into what may be spent.

    Raises `TemplateNotFound`, `TemplateRenderError`, and `ConfigurationError` if the templates leave no room.
    """
    templates = DigestTemplates.of(intent, settings.prompts_dir)
    system, instruction = templates.system, templates.instruction
    template = templates.resolve(
        system.for_digest(language=intent.language),
        digest_of_texts(system.text, instruction.text, language=intent.language),
    )
    wrapper = instruction.for_digest(intent_text=intent.text, articles="")
    texts = chain.from_iterable(item.texts for item in items)
    room = room_for(texts, template.system, wrapper, settings, always_chars=first_entry_chars(items))
    articles = fill_articles(items, room, settings.llm, about=f"the digest of {intent.name}")
    prompt = instruction.for_digest(intent_text=intent.text, articles=articles.block)
    return DigestRequest(template, prompt, articles.shown, len(articles.shown))


def ask_model(job: DigestJob, request: DigestRequest, compose: Callable[[CheckedClaims], SummaryResult]) -> DigestDraft:
    """Ask until an answer has claims that hold; `compose` makes the digest of these.

    Raises `DigestCapReached`, what the backend does, and `UnusableAnswers` with the last complaint.
    """
    backend = job.make_backend(job.settings.llm, {LEVEL: request.template})
    answers = _DigestAnswers.of(job, request)

    async def ask(ledger: Ledger) -> DigestDraft:
        forms = AnswerForms(job.settings.llm)
        return await _DigestRequester(job, request, backend, ledger, answers, forms).draft(compose)

    try:
        draft = run_job(ask, backend, job.books, job_id=job.id, now=job.now)
    except SummaryOutputInvalid as unusable:
        raise _DigestAnswers.of(job, request, keeps_all=True).explain(unusable) from unusable
    if draft.dropped_claims:
        _log.warning(
            "the digest of %s: %d claims of the model were dropped, since no change that they cite has their quote",
            job.intent.name,
            draft.dropped_claims,
        )
    if draft.removed_numbers:
        gone = ", ".join(f"[{number}]" for number in dict.fromkeys(draft.removed_numbers))
        _log.warning(
            "the digest of %s: citations of changes that there are not were removed: %s", job.intent.name, gone
        )
    return draft


def find_held(job: DigestJob, request: DigestRequest) -> UnusableAnswers | None:
    """Why a model would not be asked: all its answers are kept, and none can be used. Nothing is sent."""
    answers = _DigestAnswers.of(job, request)

    async def take_kept(asked: SummaryRequest) -> AnswerReading[CheckedClaims]:
        found = answers.find(asked)
        if found is None:
            raise _WouldAskError
        return found

    forms = AnswerForms(job.settings.llm)

    async def take(model: str) -> object:
        first, most = answers.first_request(model), job.settings.llm.max_attempts
        return await converse(first, take_kept, about=job.intent.name, max_attempts=most, forms=forms)

    try:
        asyncio.run(with_fallbacks(job.settings.llm, take))
    except _WouldAskError:
        return None
    except SummaryOutputInvalid as unusable:
        return answers.explain(unusable)
    return None


class _WouldAskError(Exception):
    """A request has no kept answer."""


class _DigestAnswers(Struct):
    """Reads the answers to one digest: new ones, and unusable ones of the last days, which are `kept` by request."""

    job: DigestJob
    digest: DigestRequest
    kept: dict[str, KeptAnswer]

    @classmethod
    def of(cls, job: DigestJob, digest: DigestRequest, *, keeps_all: bool = False) -> Self:
        """With `keeps_all` also those that a job which asks again takes no notice of."""
        is_deaf = job.settings.llm.asks_nobody or (job.asks_again and not keeps_all)
        return cls(job, digest, {} if is_deaf else unusable_answers(job.books, now=job.now()))

    def first_request(self, model: str) -> SummaryRequest:
        """The request that begins the conversation with a model."""
        template, settings = self.digest.template, self.job.settings
        return SummaryRequest(
            level=template.level,
            model_name=model,
            prompt_template_blake3=template.digest,
            schema_blake3=digest_tool().schema_blake3,
            parameters=Parameters(max_tokens=settings.digests.max_tokens, changes=changes_of(settings.llm, model)),
            sources=(self.digest.prompt,),
            max_output_bytes=MAX_OUTPUT_BYTES,
        )

    def find(self, request: SummaryRequest) -> AnswerReading[CheckedClaims] | None:
        """A kept answer, read again: settings may accept it now. What was wrong with it is as it was said then, so that
        the request after it is the same, too."""
        kept = self.kept.get(request.request_hash)
        if kept is None:
            return None
        echoed = request.model_name if kept.model_echoed is None else kept.model_echoed
        again = self.read(request, SummaryResponse(kept.answer, kept.has_tool_call, None, echoed, 0.0))
        complaint = kept.error.removeprefix(f"{SummaryOutputInvalid.discriminator}: ")
        if again.content:
            return again
        if kept.failure not in (SummaryOutputInvalid.kind, FormIgnored.kind):
            raise SummaryOutputInvalid(complaint)
        is_ignored = kept.failure == FormIgnored.kind
        return replace(again, complaint=complaint or again.complaint, ignores_form=is_ignored)

    def read(self, request: SummaryRequest, response: SummaryResponse) -> AnswerReading[CheckedClaims]:
        """The claims of an answer that hold, or what is wrong with it; raises what `check_response` does."""
        try:
            found = check_response(request, response, self.job.settings.llm)
            shown = (self.digest.template.system, self.digest.prompt)
            claims = read_claims(found, request.parameters.form, self.digest.articles, shown=shown)
            return AnswerReading(found, claims)
        except AnswerProblem as problem:
            return reading_of_problem(request, response, problem, setting="digests.max_tokens")

    def explain(self, unusable: SummaryOutputInvalid) -> UnusableAnswers:
        """The error with when the question is asked again; that of a recording as it is."""
        llm = self.job.settings.llm
        firsts = (
            replace(first, parameters=replace(first.parameters, form=form)).request_hash
            for model in (llm.model, *llm.fallback_models)
            for first in [self.first_request(model)]
            for form in AnswerForm
        )
        until = max((self.kept[each].kept_until for each in firsts if each in self.kept), default="")
        found = str(unusable).removeprefix(f"{unusable.discriminator}: ")
        before, order, _ = found.rpartition(_ORDER)
        found = before.rstrip() if order else found
        return UnusableAnswers(f"{found.rstrip('.')}. {self.job.again.explain(until)}" if until else found)


class _DigestRequester(Struct):
    """Makes the calls for one digest, and counts them. An answer's content are the claims of it that hold."""

    job: DigestJob
    digest: DigestRequest
    backend: SummaryBackend
    ledger: Ledger
    answers: _DigestAnswers
    forms: AnswerForms
    calls: int = 0

    async def draft(self, compose: Callable[[CheckedClaims], SummaryResult]) -> DigestDraft:
        """The digest of the first model that gives claims that hold."""
        claims, request = await with_fallbacks(self.job.settings.llm, self._claims_by)
        return DigestDraft(
            result=compose(claims),
            shown=self.digest.shown,
            model=request.model_name,
            request_hash=request.request_hash,
            cost_usd=self.ledger.spent(),
            calls=self.calls,
            dropped_claims=claims.dropped,
            removed_numbers=claims.removed_numbers,
        )

    async def _claims_by(self, model: str) -> tuple[CheckedClaims, SummaryRequest]:
        most, about = self.job.settings.llm.max_attempts, self.job.intent.name
        first = self.answers.first_request(model)
        return await converse(first, self._answer, about=about, max_attempts=most, forms=self.forms)

    async def _answer(self, request: SummaryRequest) -> AnswerReading[CheckedClaims]:
        """The answer to a request; one that was refused before is read again."""
        llm, digests, ledger = self.job.settings.llm, self.job.settings.digests, self.ledger
        if kept := self.answers.find(request):
            return kept
        caps = (
            Cap("digests.max_cost_usd_per_digest", digests.max_cost_usd_per_digest, ledger.spent),
            Cap("digests.max_cost_usd_per_day", digests.max_cost_usd_per_day, ledger.spent_today),
        )
        way_out = "write digests with a cheaper model"
        return await pay_once(
            request,
            Till(ledger, llm, LEDGER_LEVEL, self.job.intent.name, caps, DigestCapReached, way_out),
            sent=(self.digest.template.system, digest_tool().schema_bytes.decode()),
            ask=lambda: self._ask(request),
            read=lambda known: self.answers.read(request, known),
            settled=result_of_reading,
            retries=min(llm.max_retries, MAX_RETRIES),
            longest_provider_wait_s=LONGEST_WAIT_S,
        )

    async def _ask(self, request: SummaryRequest) -> AnswerReading[CheckedClaims]:
        self.calls += 1
        try:
            response = await self.backend.summarize(request)
        except AnotherModel:
            raise
        except RefusedAnswer as refused:
            complaint = f"The answer cannot be taken: it is too long ({refused}). Shorten it."
            return AnswerReading(refused.response, None, complaint)
        return mark_ignored(self.forms, request, self.answers.read(request, response))
