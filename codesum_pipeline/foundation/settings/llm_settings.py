"""Settings of texts by a language model: whether, by which, and at most at what cost."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from codesum_pipeline.foundation.settings.marks import (
    BELOW_HOME,
    LIMITS,
    NOTHING,
    SettingsGroup,
    Shapes,
    check_http_address,
    setting,
)
from codesum_pipeline.foundation.settings.parameter_settings import ChangedParameters, find_nearest

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


ApiBase = Annotated[str | None, AfterValidator(lambda url: None if url is None else check_http_address(url))]


class ModelPrice(SettingsGroup):
    """What a model costs that LiteLLM's list lacks, or has otherwise."""

    model: str = Field(min_length=1)
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = setting(None, ge=0)


class LlmSettings(SettingsGroup):
    """Whether and how a language model writes texts, and at most at what cost."""

    enabled: bool = setting(False, _TEXTS)
    model: str = setting("", _TEXTS)
    fallback_models: tuple[str, ...] = setting((), _TEXTS)
    max_summaries_per_run: int = setting(0, LIMITS, ge=0)
    max_cost_usd_per_run: float | None = setting(None, LIMITS, ge=0)
    max_cost_usd_per_day: float = setting(0.0, NOTHING, ge=0)
    backend: BackendName = setting(BackendName.LITELLM, LIMITS)
    recording: Path | None = setting(None, NOTHING, BELOW_HOME)
    api_base: ApiBase = setting(None, NOTHING)
    api_key_env: str | None = setting(None, NOTHING)
    allowlist: tuple[str, ...] = setting((), NOTHING)
    echoed_names: dict[str, str | tuple[str, ...]] = setting({}, NOTHING)
    parameters: ChangedParameters = setting({}, NOTHING)
    prices: tuple[ModelPrice, ...] = setting((), NOTHING)
    concurrency: int = setting(8, NOTHING, ge=1, le=1024)
    requests_per_minute: int | None = setting(None, NOTHING, ge=1)
    tokens_per_minute: int | None = setting(None, NOTHING, ge=1)
    max_attempts: int = setting(3, _TEXTS, ge=1, le=10)
    max_retries: int = setting(4, NOTHING, ge=0, le=20)
    max_tokens: int = setting(2048, _TEXTS, ge=256)
    longest_wait_s: float = setting(600.0, NOTHING, ge=0)
    give_up_after: int = setting(5, NOTHING, ge=1)
    timeout_s: float = setting(60.0, NOTHING, gt=0)
    # Its resulting value is among the versions, since it also depends on the models.
    max_prompt_chars: int | None = setting(None, NOTHING, ge=1)
    form: Literal["auto", "tool", "required", "json_schema", "json_text"] = setting("auto", _TEXTS)
    trust: Trust = setting(Trust.OFF, _TEXTS)
    tests: bool = setting(False, _TEXTS)
    documented: bool = setting(False, _TEXTS)
    language: str = setting("English", _TEXTS, min_length=1, max_length=60)

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
        called = {self.model, *self.fallback_models, *self.allowlist} - {""}
        for model in self.parameters if called else ():
            if model not in called:
                near = find_nearest(model, called)
                raise ValueError(f"llm.parameters: {model!r} is never called; the nearest is {near!r}")
        return self


class AskSettings(SettingsGroup):
    """How far a model may go to answer a question, and at most at what cost. Which model: `llm`."""

    max_cost_usd_per_question: float = setting(0.5, ge=0)
    max_cost_usd_per_day: float = setting(5.0, ge=0)
    max_steps: int = setting(50, ge=1, le=1000)
    max_tokens: int = setting(4096, ge=256)
    primary_document: str = setting("README", min_length=1, max_length=200)
    # The second pass about a whole repository may take N seconds; then the answer does without it.
    synthesis_timeout_s: ClassVar[float] = 90.0


class CompactionSettings(SettingsGroup):
    """Who may attest that old rows are compressed, and at most at what cost. Which model: `llm`."""

    allowed_signers: Path = setting(Path("allowed_signers"), BELOW_HOME)
    max_cost_usd_per_job: float = setting(0.5, ge=0)
    max_cost_usd_per_day: float = setting(5.0, ge=0)


class DigestSettings(SettingsGroup):
    """Where the standing questions are, how items are grouped, and at most at what cost a model writes."""

    intents_file: Path = setting(Path("intents.yaml"), BELOW_HOME)
    grouped: bool = True
    max_tokens: int = setting(4096, ge=1)
    max_cost_usd_per_digest: float = setting(0.25, ge=0)
    max_cost_usd_per_day: float = setting(1.0, ge=0)
