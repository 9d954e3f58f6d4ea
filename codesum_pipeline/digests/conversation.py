"""A model is asked for a digest until one of its answers can be taken, each attempt paid for within the caps.

A request says nothing of when or by whom it is made: an answer that an earlier
run paid for is found in the books by it, one that could not be taken as well.
The same question is not paid for twice.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from msgspec import Struct, field

from codesum_pipeline.digests.claims import CheckedClaims, digest_tool
from codesum_pipeline.llm.answers import MAX_OUTPUT_BYTES
from codesum_pipeline.llm.attempts import settled_good, settled_unusable
from codesum_pipeline.llm.backend import AnotherModel, RefusedAnswer, SummaryBackend, checked
from codesum_pipeline.llm.checking import AnswerProblem
from codesum_pipeline.llm.factory import form_of
from codesum_pipeline.llm.ledger import AttemptResult, CallAttempt, Ledger, open_ledger
from codesum_pipeline.llm.paying import Cap, Till
from codesum_pipeline.llm.pins import AnswerForm, Parameters, SummaryRequest, SummaryResponse
from codesum_pipeline.llm.prices import price_of, tokens_upper, worst_case_usd
from codesum_pipeline.llm.retrying import with_retries
from codesum_pipeline.llm.templates import ResolvedTemplate
from codesum_pipeline.model.errors import DigestCapReached, SummaryCallFailed, SummaryOutputInvalid
from codesum_pipeline.settings.llm import DigestSettings, LlmSettings
from codesum_pipeline.settings.models import Settings

# Where a level stands of a text.
LEVEL = "digest"
# A build waits, or a schedule: a provider that is still busy after three calls is given up until the next tick.
MAX_RETRIES = 2
LONGEST_WAIT_S = 20.0
Read = Callable[[SummaryResponse, AnswerForm], CheckedClaims]


class HeardClaims(Struct, frozen=True):
    """The claims of a digest that hold, and the request that they answer. `cost_usd` are all attempts of the job, also
    those of a run that was killed; `calls` are this run's."""

    checked: CheckedClaims
    request: SummaryRequest
    cost_usd: float
    calls: int


def ask_for_claims(
    backend: SummaryBackend,
    template: ResolvedTemplate,
    prompt: str,
    read: Read,
    *,
    settings: Settings,
    about: str,
    books: Path,
    job_id: str,
    now: Callable[[], datetime],
) -> HeardClaims:
    """Ask for the claims of one digest, and close the backend.

    `read` takes an answer or raises `AnswerProblem`. `job_id` is the digest's, under which the attempts stand in the
    file `books`. Raises as `DigestConversation.claims`.
    """

    async def ask() -> HeardClaims:
        with open_ledger(books, run_id=job_id, now=now) as ledger:
            # Who makes a digest is the only one: what is open is a dead run's.
            ledger.recover_own()
            talk = DigestConversation(backend, ledger, settings.llm, settings.digests, template, prompt, about, read)
            try:
                checked, request = await talk.claims()
            finally:
                await backend.aclose()
            return HeardClaims(checked, request, ledger.spent(), talk.calls)

    return asyncio.run(ask())


class ModelDigestAnswer(Struct, frozen=True):
    """An answer, and the claims of it that hold, or what is wrong with it."""

    response: SummaryResponse
    claims: CheckedClaims | None
    complaint: str = ""


class DigestConversation(Struct):
    """Asks for one digest. `prompt` is the user's turn, `read` takes an answer or raises `AnswerProblem`."""

    backend: SummaryBackend
    ledger: Ledger
    llm: LlmSettings
    digests: DigestSettings
    template: ResolvedTemplate
    prompt: str
    about: str
    read: Read
    calls: int = 0
    _refused: dict[str, tuple[str, bool]] = field(default_factory=dict)

    async def claims(self) -> tuple[CheckedClaims, SummaryRequest]:
        """Those of the first answer that can be taken, and the request that it answers.

        Raises `DigestCapReached`, what the backend does, and `SummaryOutputInvalid` with the last complaint.
        """
        self._refused = self.ledger.refused_answers()
        *before, last = dict.fromkeys((self.llm.model, *self.llm.fallback_models))
        for model in before:
            try:
                return await self._of(model)
            except SummaryCallFailed:
                continue
        return await self._of(last)

    async def _of(self, model: str) -> tuple[CheckedClaims, SummaryRequest]:
        form = form_of(self.llm, model)
        turns: tuple[str, ...] = ()
        complaint = ""
        for _ in range(self.llm.max_attempts):
            request = self._request(model, form, turns)
            heard = await self._heard(request)
            if heard.claims:
                return heard.claims, request
            complaint = heard.complaint
            turns = (*turns, heard.response.claim, complaint)
        raise SummaryOutputInvalid(
            f"{self.about}: {self.llm.max_attempts} answers of {model}; of the last: {complaint}"
        )

    def _request(self, model: str, form: AnswerForm, turns: tuple[str, ...]) -> SummaryRequest:
        return SummaryRequest(
            level=self.template.level,
            model_name=model,
            prompt_template_blake3=self.template.digest,
            schema_blake3=digest_tool().schema_blake3,
            parameters=Parameters(max_tokens=self.digests.max_tokens, form=form),
            sources=(self.prompt, *turns),
            max_output_bytes=MAX_OUTPUT_BYTES,
        )

    async def _heard(self, request: SummaryRequest) -> ModelDigestAnswer:
        if self.llm.asks_nobody:
            return await self._ask(request)
        known = self.ledger.good_answer(request.request_hash)
        if known:
            return self._judged(request, known)
        if request.request_hash in self._refused:
            claim, has_tool_call = self._refused[request.request_hash]
            return self._judged(request, SummaryResponse(claim, has_tool_call, None, request.model_name, 0.0))
        number = 0

        def count(attempt: int) -> None:
            nonlocal number
            number = attempt

        return await with_retries(
            lambda: self._paid(request, number),
            attempts=1 + min(self.llm.max_retries, MAX_RETRIES),
            on_attempt=count,
            longest_asked_wait_s=LONGEST_WAIT_S,
        )

    async def _paid(self, request: SummaryRequest, number: int) -> ModelDigestAnswer:
        schema = digest_tool().schema_bytes.decode()
        worst = worst_case_usd(
            price_of(request.model_name, self.llm),
            tokens_upper(self.template.system, schema, *request.sources),
            request.parameters.max_tokens,
        )
        attempt = CallAttempt(self.about, LEVEL, request.request_hash, request.model_name, number, worst)
        return await self._till().pay(attempt, lambda: self._ask(request), _settled)

    async def _ask(self, request: SummaryRequest) -> ModelDigestAnswer:
        self.calls += 1
        try:
            response = await self.backend.summarize(request)
        except AnotherModel:
            raise
        except RefusedAnswer as refused:
            return ModelDigestAnswer(
                refused.response, None, f"The answer cannot be taken: it is too long ({refused}). Shorten it."
            )
        return self._judged(request, response)

    def _judged(self, request: SummaryRequest, response: SummaryResponse) -> ModelDigestAnswer:
        try:
            found = checked(request, response, self.llm)
            return ModelDigestAnswer(found, self.read(found, request.parameters.form))
        except AnswerProblem as problem:
            return ModelDigestAnswer(response, None, str(problem))

    def _till(self) -> Till:
        most = self.digests
        caps = (
            Cap("digests.max_cost_usd_per_digest", most.max_cost_usd_per_digest, self.ledger.spent),
            Cap("digests.max_cost_usd_per_day", most.max_cost_usd_per_day, self.ledger.spent_today),
        )
        return Till(self.ledger, caps, DigestCapReached, "write digests with a cheaper model")


def _settled(heard: ModelDigestAnswer, latency_s: float) -> AttemptResult:
    if heard.claims:
        return settled_good(heard.response, latency_s)
    return settled_unusable(heard.response, latency_s, SummaryOutputInvalid(heard.complaint))
