"""What a model is asked for a compaction: a function of attestation, rows and template, and of nothing else.

Every row stands in it whole, in the attested order: what does not fit is
refused, never cut.
"""

from collections.abc import Sequence

from codesum_pipeline.compaction.attestation import Attestation
from codesum_pipeline.compaction.sources import SourceRow
from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.llm.marking import enclose
from codesum_pipeline.llm.masking import mask_secrets
from codesum_pipeline.llm.pins import AnswerForm, Parameters, SummaryRequest, blake3_of
from codesum_pipeline.llm.templates import (
    COMPACTION_NAME,
    ResolvedTemplate,
    TemplateKind,
    load_template,
    render_system,
)
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import PromptTooLong
from codesum_pipeline.model.hashing import canonical_json
from codesum_pipeline.settings.llm import LlmSettings
from codesum_pipeline.settings.models import Settings

# The user's turn: part of the template's digest.
_TURN = """{count} rows of {kind}, each between markers:

{sources}

Write one text that stands in their place, of at most {max_output_bytes} bytes of UTF-8."""
# A compaction is about a repository, as the text of its root folder is.
LEVEL = Level.MODULE
# Its answer is plain text.
NO_SCHEMA = blake3_of("")


def compaction_template(settings: Settings) -> ResolvedTemplate:
    """The template as it is now; raises `TemplateRenderError` where it cannot be used."""
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
        parameters=Parameters(max_tokens=attestation.max_tokens, form=AnswerForm.TEXT),
        sources=(turn,),
        max_output_bytes=attestation.max_output_bytes,
        job_id=attestation.job_id,
    )
