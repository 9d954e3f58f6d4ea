"""Carries out a job: everything that was attested is checked, the model is asked once, and rows and compaction change
together.

The prompt is a function of attestation, rows and template. It contains every row whole, in the attested
order: what does not fit is refused, never cut. Until the last step nothing but the books changes, so a process that is
killed leaves the old state or the new one, and the next run of the job goes on from there: it asks for nothing that was
paid, and does nothing twice.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from msgspec import Struct

from codesum_pipeline.builds.compaction.attestation import Attestation, Policy, Selection, SignedAttestation
from codesum_pipeline.builds.compaction.compactable_rows import CompactionSource, SourceRow, attested_rows
from codesum_pipeline.foundation.data_model.document import CompactionRecord, Level
from codesum_pipeline.foundation.data_model.errors import (
    BackendNotConfigured,
    CompactionCapReached,
    ConfigurationError,
    JobReused,
    PromptTooLong,
)
from codesum_pipeline.foundation.data_model.hashing import canonical_json
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.texts.llm.attempts import result_of_good
from codesum_pipeline.texts.llm.backend import (
    SummaryBackend,
    Templates,
    check_allowed,
    check_response,
    refuse_unpinned,
    why_no_calls,
)
from codesum_pipeline.texts.llm.backends import build_backend
from codesum_pipeline.texts.llm.budgets import prompt_chars
from codesum_pipeline.texts.llm.ledger import Ledger
from codesum_pipeline.texts.llm.marking import enclose
from codesum_pipeline.texts.llm.paying import Cap, Till, pay_once, run_job
from codesum_pipeline.texts.llm.pins import AnswerForm, Parameters, SummaryRequest, SummaryResponse, blake3_of
from codesum_pipeline.texts.llm.sent_parameters import changes_of
from codesum_pipeline.texts.llm.templates import (
    COMPACTION_NAME,
    ResolvedTemplate,
    TemplateKind,
    load_template,
    render_system,
)

# The ledger of all compactions of a home.
LEDGER_FILE = "compaction.sqlite"
JOB_PREFIX = "cmp_"
# In the ledger.
_LEDGER_LEVEL = "compaction"
# The user's turn: part of the template's digest.
_TURN = """{count} rows of {kind}, each between markers:

{sources}

Write one text that stands in their place, of at most {max_output_bytes} bytes of UTF-8."""
# A compaction is about a repository, as the text of its root folder is.
LEVEL = Level.MODULE
# Its answer is plain text.
NO_SCHEMA = blake3_of("")
MakeBackend = Callable[[LlmSettings, Templates], SummaryBackend]


class CompactionResult(Struct, frozen=True):
    """The result of a job; `is_done_before` if an earlier run had carried it out."""

    record: CompactionRecord
    is_done_before: bool


def compaction_template(settings: Settings) -> ResolvedTemplate:
    """The template as it is now; raises `TemplateRenderError` if it cannot be used."""
    folder, language = settings.prompts_dir, settings.llm.language
    written = load_template(folder, TemplateKind.SYSTEM, COMPACTION_NAME)
    return ResolvedTemplate(
        level=LEVEL,
        system=render_system(folder, COMPACTION_NAME, language=language),
        instruction=_TURN,
        digest=blake3_of(canonical_json({"system": written, "instruction": _TURN, "language": language})),
        names=(f"{TemplateKind.SYSTEM}/{COMPACTION_NAME}",),
    )


def request_of(
    attestation: Attestation, rows: Sequence[SourceRow], template: ResolvedTemplate, llm: LlmSettings
) -> SummaryRequest:
    """The pinned request; raises `PromptTooLong`."""
    turn = _TURN.format(
        count=len(rows),
        kind=attestation.kind,
        sources="\n".join(enclose(mask_secrets(row.text).text, "ROW") for row in rows),
        max_output_bytes=attestation.max_output_bytes,
    )
    has = len(template.system) + len(turn)
    most = prompt_chars(llm.model_copy(update={"model": attestation.model, "fallback_models": ()}))
    if has > most:
        raise PromptTooLong(
            f"{len(rows):,} rows make a prompt of {has:,} characters, {most:,} fit: attest fewer of them (--limit)"
        )
    return SummaryRequest(
        level=LEVEL,
        model_name=attestation.model,
        prompt_template_blake3=attestation.prompt_template_blake3,
        schema_blake3=NO_SCHEMA,
        parameters=Parameters(
            max_tokens=attestation.max_tokens, form=AnswerForm.TEXT, changes=changes_of(llm, attestation.model)
        ),
        sources=(turn,),
        max_output_bytes=attestation.max_output_bytes,
        job_id=attestation.job_id,
    )


class Compactor(Struct, frozen=True):
    """Carries out the jobs of one home."""

    settings: Settings
    home: Path
    now: Callable[[], datetime]
    make_backend: MakeBackend = build_backend

    def attest(
        self,
        source: CompactionSource,
        selection: Selection,
        *,
        policy: Policy,
        attested_by: str,
        max_output_bytes: int,
        model: str | None = None,
    ) -> Attestation:
        """An attestation of the rows as they are now, by the settings as they are now; nothing is signed or asked.

        Raises `ConfigurationError` if there are no such rows, and what a run with it would be refused for.
        """
        llm, template = self.settings.llm, compaction_template(self.settings)
        pinned = model or llm.model
        if not pinned:
            raise ConfigurationError("there is no model to pin: set llm.model, or name it with --model")
        check_allowed(pinned, llm)
        rows = source.rows(selection)
        if not rows:
            raise ConfigurationError(f"the selection finds no old rows of {source.kind} that are not compacted yet")
        attestation = Attestation(
            job_id=f"{JOB_PREFIX}{uuid4().hex}",
            attested_by=attested_by,
            attested_at=iso_moment(self.now()),
            kind=source.kind,
            repository=source.repository,
            selection=selection,
            sources=tuple(row.attested for row in rows),
            policy=policy,
            model=pinned,
            prompt_template_blake3=template.digest,
            max_output_bytes=max_output_bytes,
            max_tokens=llm.max_tokens,
        )
        request_of(attestation, rows, template, llm)
        return attestation

    def run(self, signed: SignedAttestation, source: CompactionSource) -> CompactionResult:
        """Carry out a job; raises `CompactionRefused`, `SummaryError`, `LeaseHeld`."""
        with source.held(signed.attestation.job_id):
            earlier = _done_before(signed, source)
            if earlier:
                return CompactionResult(earlier, is_done_before=True)
            request, template = self._checked(signed, source)
            response = self._answer(request, template)
            record = CompactionRecord(
                job_id=signed.attestation.job_id,
                attestation=signed.data.decode("utf-8"),
                signature=signed.signature,
                claim=response.claim.strip(),
                request_hash=request.request_hash,
                model_name_echoed=response.model_name_echoed,
                cost_usd=response.cost_usd or 0.0,
                compacted_at=iso_moment(self.now()),
            )
            source.replace(record, signed.attestation)
            return CompactionResult(record, is_done_before=False)

    def check(self, signed: SignedAttestation, source: CompactionSource) -> CompactionRecord | None:
        """Raise the error that a run would raise before its call; returns the record of a job that is done."""
        earlier = _done_before(signed, source)
        if earlier is None:
            self._checked(signed, source)
        else:
            signed.check_signer(self.settings.compaction.allowed_signers)
        return earlier

    def _checked(self, signed: SignedAttestation, source: CompactionSource) -> tuple[SummaryRequest, ResolvedTemplate]:
        """The request that may be sent."""
        signed.check_signer(self.settings.compaction.allowed_signers)
        llm, attestation = self.settings.llm, signed.attestation
        rows = attested_rows(source.rows(attestation.selection), attestation)
        if shut := why_no_calls(llm, is_offline=self.settings.offline):
            raise BackendNotConfigured(shut)
        template = compaction_template(self.settings)
        request = request_of(attestation, rows, template, llm)
        refuse_unpinned(request, llm, {template.level: template})
        return request, template

    def _answer(self, request: SummaryRequest, template: ResolvedTemplate) -> SummaryResponse:
        llm, most, job = self.settings.llm, self.settings.compaction, request.job_id or ""
        backend = self.make_backend(llm, {template.level: template})

        async def ask() -> SummaryResponse:
            return check_response(request, await backend.summarize(request), llm)

        async def pay(ledger: Ledger) -> SummaryResponse:
            caps = (
                Cap("compaction.max_cost_usd_per_job", most.max_cost_usd_per_job, ledger.spent),
                Cap("compaction.max_cost_usd_per_day", most.max_cost_usd_per_day, ledger.spent_today),
            )
            return await pay_once(
                request,
                Till(
                    ledger, llm, _LEDGER_LEVEL, job, caps, CompactionCapReached, "attest fewer rows or a cheaper model"
                ),
                sent=(template.system,),
                ask=ask,
                read=lambda known: check_response(request, known, llm),
                settled=result_of_good,
                retries=llm.max_retries,
                longest_provider_wait_s=llm.longest_wait_s,
            )

        return run_job(pay, backend, self.home / LEDGER_FILE, job_id=job, now=self.now)


def _done_before(signed: SignedAttestation, source: CompactionSource) -> CompactionRecord | None:
    job = signed.attestation.job_id
    earlier = next((record for record in source.compactions() if record.job_id == job), None)
    if earlier and earlier.attestation.encode() != signed.data:
        raise JobReused(f"{job} was carried out at {earlier.compacted_at} with another attestation: attest anew")
    return earlier
