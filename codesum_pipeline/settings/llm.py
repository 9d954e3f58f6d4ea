"""Settings of texts by a language model: whether, by which, and at most at what cost."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from codesum_pipeline.settings.marks import BELOW_HOME, LIMITS, NOTHING, SettingsGroup, Shapes

_TEXTS = Shapes("llm", by_model=True)


class Trust(StrEnum):
    """Of which symbols a model may write: of all, or of those that a SCIP indexer's edges touch."""

    OFF = "off"
    SCIP = "scip"


class BackendName(StrEnum):
    """Who answers: nobody, a recording, a provider, or a provider whose answers are recorded."""

    NOOP = "noop"
    REPLAY = "replay"
    LITELLM = "litellm"
    RECORD = "record"


def _without_secret(url: str | None) -> str | None:
    """Settings are shown in files, logs and messages; raises `ValueError` for what may hold a key or a password."""
    if url is not None and not re.fullmatch(r"https?://[^@?#\s]+", url):
        raise ValueError("write http(s)://HOST/PATH without a key or password: keys belong in the environment")
    return url


ApiBase = Annotated[str | None, AfterValidator(_without_secret)]


class ModelPrice(SettingsGroup):
    """What a model costs that LiteLLM's list lacks, or has otherwise."""

    model: str = Field(min_length=1, description="The model, as `llm.model` names it.")
    input: float = Field(ge=0, description="US dollars per million tokens read.")
    output: float = Field(ge=0, description="US dollars per million tokens written.")
    cached_input: float | None = Field(
        default=None, ge=0, description="US dollars per million tokens read from its cache."
    )


class LlmSettings(SettingsGroup):
    """Whether and how a language model writes texts, and at most at what cost."""

    enabled: Annotated[bool, _TEXTS] = Field(default=False, description="A language model writes texts.")
    model: Annotated[str, _TEXTS] = Field(
        default="", description="This model writes them, named as LiteLLM does: `anthropic/claude-haiku-4-5`."
    )
    fallback_models: Annotated[tuple[str, ...], _TEXTS] = Field(
        default=(), description="These models are asked where the first one fails."
    )
    max_summaries_per_run: Annotated[int, LIMITS] = Field(
        default=0, ge=0, description="A run asks for at most so many texts; 0: it only counts them."
    )
    max_cost_usd_per_run: Annotated[float | None, LIMITS] = Field(
        default=None, ge=0, description="A run spends at most so many US dollars; default: no cap."
    )
    max_cost_usd_per_day: Annotated[float, NOTHING] = Field(
        default=0.0, ge=0, description="Runs that Dagster starts for what is left over spend at most so much a day."
    )
    backend: Annotated[BackendName, LIMITS] = Field(
        default=BackendName.LITELLM,
        description="Who answers: litellm, record (the same, and every answer is kept), replay (kept answers alone, "
        "nothing over the network) or noop (nobody).",
    )
    recording: Annotated[Path | None, NOTHING, BELOW_HOME] = Field(
        default=None, description="This folder keeps the answers of record and replay; relative to the home."
    )
    api_base: Annotated[ApiBase, NOTHING] = Field(
        default=None, description="The model is asked at this address; default: at its provider."
    )
    api_key_env: Annotated[str | None, NOTHING] = Field(
        default=None,
        description="This environment variable has the key; default: the one that LiteLLM reads for the provider.",
    )
    allowlist: Annotated[tuple[str, ...], NOTHING] = Field(
        default=(), description="Only these models may be asked; empty: `model` and `fallback_models`."
    )
    echoed_names: Annotated[dict[str, str], NOTHING] = Field(
        default={},
        description="A provider answers under these names, each with the model that it stands for. A name that adds a "
        "date or revision to the model's needs no entry.",
    )
    prices: Annotated[tuple[ModelPrice, ...], NOTHING] = Field(
        default=(), description="Prices of models that LiteLLM's list lacks or has otherwise; 0 is a price."
    )
    concurrency: Annotated[int, NOTHING] = Field(
        default=8, ge=1, le=1024, description="So many calls are made at a time."
    )
    requests_per_minute: Annotated[int | None, NOTHING] = Field(
        default=None, ge=1, description="One model gets at most so many calls a minute; default: no limit."
    )
    tokens_per_minute: Annotated[int | None, NOTHING] = Field(
        default=None, ge=1, description="One model gets at most so many tokens a minute; default: no limit."
    )
    max_attempts: Annotated[int, _TEXTS] = Field(
        default=3,
        ge=1,
        le=10,
        description="One text takes at most so many calls: the first, and repairs of its answer.",
    )
    max_retries: Annotated[int, NOTHING] = Field(
        default=4, ge=0, le=20, description="A call that failed in a way that passes is made again so often."
    )
    max_tokens: Annotated[int, _TEXTS] = Field(
        default=2048, ge=256, description="One answer has at most so many tokens."
    )
    timeout_s: Annotated[float, NOTHING] = Field(
        default=60.0, gt=0, description="One call takes at most so many seconds."
    )
    # What it comes to is among the versions, since the models say it, too.
    max_prompt_chars: Annotated[int | None, NOTHING] = Field(
        default=None,
        ge=1,
        description="A prompt has at most so many characters, of which 0.85 may be system, instruction and code. "
        "Default, and the most that can be set: four times the fewest tokens that LiteLLM's list gives `model` and "
        "`fallback_models`; 200000 for a model that it lacks.",
    )
    form: Annotated[Literal["auto", "tool", "json_schema", "json_text"], _TEXTS] = Field(
        default="auto",
        description="How a model is made to answer in the schema: a forced tool call, a response format, or JSON in "
        "its text; auto: the first of them that the model can, as LiteLLM says.",
    )
    trust: Annotated[Trust, _TEXTS] = Field(
        default=Trust.OFF,
        description="off: a model writes about all code; scip: only about symbols with an edge that a compiler's index "
        "confirms, and about what holds them.",
    )
    tests: Annotated[bool, _TEXTS] = Field(default=False, description="A model writes about test code, too.")
    documented: Annotated[bool, _TEXTS] = Field(
        default=False,
        description="A model writes about what its author documented, too: by a docstring, a doc comment or a README.",
    )
    language: Annotated[str, _TEXTS] = Field(
        default="English", min_length=1, max_length=60, description="The texts are in this language."
    )

    @property
    def asks_nobody(self) -> bool:
        """Whether nothing is sent and nothing paid: the caps and being offline do not apply."""
        return self.backend in (BackendName.NOOP, BackendName.REPLAY)

    @property
    def kept_answers(self) -> Path:
        """The folder of `record` and `replay`, which neither is without."""
        assert self.recording is not None
        return self.recording

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.enabled and not self.model:
            raise ValueError("enabled = true needs a model: set llm.model, or enabled = false")
        if self.backend in (BackendName.REPLAY, BackendName.RECORD) and self.recording is None:
            raise ValueError(f"backend = {self.backend.value!r} needs a folder: set llm.recording")
        return self


class AskSettings(SettingsGroup):
    """How far a model may go to answer a question, and at most at what cost. Which model: `llm`."""

    max_cost_usd_per_question: float = Field(
        default=0.5,
        ge=0,
        description="One question costs at most so many US dollars; 0: only models that cost nothing.",
    )
    max_cost_usd_per_day: float = Field(
        default=5.0,
        ge=0,
        description="All questions of a day (UTC), of all repositories, cost at most so many US dollars.",
    )
    max_steps: int = Field(
        default=50,
        ge=1,
        le=1000,
        description="A model calls tools at most so often for one question; then it has to answer.",
    )
    max_tokens: int = Field(default=4096, ge=256, description="One answer has at most so many tokens.")
    primary_document: str = Field(
        default="README",
        min_length=1,
        max_length=200,
        description="An overview always shows this document of a repository, at most cut: a path, or a name with or "
        "without its ending.",
    )
    synthesis_timeout_s: float = Field(
        default=90.0, gt=0, description="A question waits so many seconds for an overview, and then goes without it."
    )


class CompactionSettings(SettingsGroup):
    """Who may attest that old rows are compressed, and at most at what cost. Which model: `llm`."""

    allowed_signers: Annotated[Path, BELOW_HOME] = Field(
        default=Path("allowed_signers"),
        description="This file names those who may sign attestations, in OpenSSH's format; relative to the home.",
    )
    max_cost_usd_per_job: float = Field(
        default=0.5,
        ge=0,
        description="One attested job costs at most so many US dollars; 0: only models that cost nothing.",
    )
    max_cost_usd_per_day: float = Field(
        default=5.0,
        ge=0,
        description="All attested jobs of a day (UTC), of all repositories, cost at most so many US dollars.",
    )


class DigestSettings(SettingsGroup):
    """Where the standing questions are, how items are grouped, and at most at what cost a model writes."""

    intents_file: Annotated[Path, BELOW_HOME] = Field(
        default=Path("intents.yaml"), description="This file has the standing questions; relative to the home."
    )
    grouped: bool = Field(
        default=True,
        description="Near-duplicate changes are one item in daily and weekly digests, as they are in those of a build.",
    )
    max_tokens: int = Field(default=4096, ge=1, description="One answer about a digest has at most so many tokens.")
    max_cost_usd_per_digest: float = Field(
        default=0.25, ge=0, description="One digest costs at most so many US dollars; 0: only models that cost nothing."
    )
    max_cost_usd_per_day: float = Field(
        default=1.0,
        ge=0,
        description="All digests of a day (UTC), of all repositories, cost at most so many US dollars.",
    )
