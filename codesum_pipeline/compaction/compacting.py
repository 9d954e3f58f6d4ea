"""A job is carried out: all that was attested is checked, the model is asked once, and rows and compaction change
together.

Until the last step nothing but the books changes, so a process that is killed
leaves the old state or the new one, and the next run of the job goes on from
there: it asks for nothing that was paid, and does nothing twice.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from msgspec import Struct

from codesum_pipeline.compaction.allowed_signers import check_signer
from codesum_pipeline.compaction.attestation import NAMESPACE, Attestation, Policy, Selection, SignedAttestation
from codesum_pipeline.compaction.model_request import compaction_template, request_of
from codesum_pipeline.compaction.paying import JobPayer
from codesum_pipeline.compaction.sources import CompactionSource, SourceRow, attested_rows
from codesum_pipeline.llm.backend import SummaryBackend, Templates, check_allowed, refuse_unpinned
from codesum_pipeline.llm.factory import build_backend, why_shut
from codesum_pipeline.llm.ledger import open_ledger
from codesum_pipeline.llm.pins import SummaryRequest, SummaryResponse
from codesum_pipeline.llm.templates import ResolvedTemplate
from codesum_pipeline.model.documents import CompactionRecord
from codesum_pipeline.model.errors import BackendNotConfigured, ConfigurationError, JobReused
from codesum_pipeline.model.moments import iso_moment
from codesum_pipeline.settings.llm import LlmSettings
from codesum_pipeline.settings.models import Settings

# The ledger of all compactions of a home.
LEDGER_FILE = "compaction.sqlite"
JOB_PREFIX = "cmp_"
MakeBackend = Callable[[LlmSettings, Templates], SummaryBackend]


class CompactionResult(Struct, frozen=True):
    """What a job led to; `is_done_before` where an earlier run had carried it out."""

    record: CompactionRecord
    is_done_before: bool


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

        Raises `ConfigurationError` where there are no such rows, and what a run with it would be refused for.
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
            done = _done_before(signed, source)
            if done:
                return CompactionResult(done, is_done_before=True)
            request, template = self._checked(signed, source)
            response = asyncio.run(self._answer(request, template))
            record = self._record(signed, request, response)
            source.replace(record, signed.attestation)
            return CompactionResult(record, is_done_before=False)

    def check(self, signed: SignedAttestation, source: CompactionSource) -> CompactionRecord | None:
        """Raise what a run would be refused for before its call; what was done where the job is done."""
        done = _done_before(signed, source)
        if done is None:
            self._checked(signed, source)
        else:
            self.check_signature(signed)
        return done

    def check_signature(self, signed: SignedAttestation) -> None:
        """Raise `SignatureInvalid`, `SignerNotAllowed` or `SignerExpired`."""
        signature = signed.parsed_signature
        signature.check(signed.data, namespace=NAMESPACE)
        check_signer(
            self.settings.compaction.allowed_signers,
            principal=signed.attestation.attested_by,
            public_key=signature.public_key,
            namespace=NAMESPACE,
            at=self.now(),
        )

    def _checked(self, signed: SignedAttestation, source: CompactionSource) -> tuple[SummaryRequest, ResolvedTemplate]:
        """The request that may be sent."""
        self.check_signature(signed)
        llm, attestation = self.settings.llm, signed.attestation
        rows: list[SourceRow] = attested_rows(source.rows(attestation.selection), attestation)
        if shut := why_shut(llm, is_offline=self.settings.offline):
            raise BackendNotConfigured(shut)
        template = compaction_template(self.settings)
        request = request_of(attestation, rows, template, llm)
        refuse_unpinned(request, llm, {template.level: template})
        return request, template

    async def _answer(self, request: SummaryRequest, template: ResolvedTemplate) -> SummaryResponse:
        llm = self.settings.llm
        backend = self.make_backend(llm, {template.level: template})
        job = request.job_id or ""
        with open_ledger(self.home / LEDGER_FILE, run_id=job, now=self.now) as ledger:
            # Who holds the job's rows is the only run of it: what it left open is a dead run's.
            ledger.recover_own()
            try:
                return await JobPayer(backend, ledger, llm, self.settings.compaction, template.system).answer(request)
            finally:
                await backend.aclose()

    def _record(
        self, signed: SignedAttestation, request: SummaryRequest, response: SummaryResponse
    ) -> CompactionRecord:
        return CompactionRecord(
            job_id=signed.attestation.job_id,
            attestation=signed.data.decode("utf-8"),
            signature=signed.signature,
            claim=response.claim.strip(),
            request_hash=request.request_hash,
            model_name_echoed=response.model_name_echoed,
            cost_usd=response.cost_usd or 0.0,
            compacted_at=iso_moment(self.now()),
        )


def _done_before(signed: SignedAttestation, source: CompactionSource) -> CompactionRecord | None:
    job = signed.attestation.job_id
    done = next((record for record in source.compactions() if record.job_id == job), None)
    if done and done.attestation.encode() != signed.data:
        raise JobReused(f"{job} was carried out at {done.compacted_at} with another attestation: attest anew")
    return done
