"""Settings of texts by a language model."""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from codesum_pipeline.model.options import BackendName, LlmOptions, ModelPrice, Trust
from codesum_pipeline.settings.addresses import address_without_secret


class PriceSettings(BaseModel):
    """What a model costs."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    model: str = Field(min_length=1, description="The model, as `llm.model` names it.")
    input: float = Field(ge=0, description="US dollars per million tokens read.")
    output: float = Field(ge=0, description="US dollars per million tokens written.")
    cached_input: float | None = Field(None, ge=0, description="US dollars per million tokens read from its cache.")


class LlmSettings(BaseModel):
    """Whether and how a language model writes texts, and at most at what cost."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    enabled: bool = Field(False, description="Let a language model write texts.")
    model: str = Field("", description="The model, as LiteLLM names it: `anthropic/claude-haiku-4-5`.")
    fallback_models: tuple[str, ...] = Field((), description="Models that are asked where the first one fails.")
    backend: BackendName = Field(
        BackendName.LITELLM,
        description="Who answers: litellm, record (the same, and every answer is kept), replay (kept answers alone, "
        "nothing over the network) or noop (nobody).",
    )
    recording: Path | None = Field(
        None, description="The folder of kept answers, relative to the home; needed by record and replay."
    )
    api_base: str | None = Field(None, description="Where the model is asked; default: at its provider.")
    api_key_env: str | None = Field(
        None, description="The environment variable with the key; default: the one that LiteLLM reads for the provider."
    )
    allowlist: tuple[str, ...] = Field(
        (), description="Models that may be asked; empty: `model` and `fallback_models`."
    )
    echoed_names: dict[str, str] = Field(
        {},
        description="Names under which a provider says that it answered, and the model that each stands for; a date or "
        "revision added to the model's name needs none.",
    )
    prices: tuple[PriceSettings, ...] = Field(
        (), description="Prices of models that LiteLLM's list lacks or has otherwise; 0 is a price."
    )
    max_summaries_per_run: int = Field(
        0, ge=0, description="At most so many texts of a run are asked for; 0: none, they are only counted."
    )
    max_cost_usd_per_run: float | None = Field(
        None, ge=0, description="At most so many US dollars a run; default: no cap."
    )
    max_cost_usd_per_day: float = Field(
        0.0, ge=0, description="What runs that Dagster starts by itself for what is left over may spend a day."
    )
    concurrency: int = Field(8, ge=1, le=1024, description="Calls at a time.")
    requests_per_minute: int | None = Field(None, ge=1, description="Calls a minute to one model; default: no limit.")
    tokens_per_minute: int | None = Field(None, ge=1, description="Tokens a minute to one model; default: no limit.")
    max_attempts: int = Field(3, ge=1, le=10, description="Calls for one text: the first, and repairs of its answer.")
    max_retries: int = Field(4, ge=0, le=20, description="Repetitions of a call that failed in a way that passes.")
    max_tokens: int = Field(2048, ge=256, description="Tokens of one answer at most.")
    timeout_s: float = Field(60.0, gt=0, description="How long one call may take.")
    max_prompt_chars: int | None = Field(
        None,
        ge=1,
        description="Characters of a prompt at most, of which 0.85 may be system, instruction and code; default: four "
        "times the fewest tokens that LiteLLM's list gives `model` and `fallback_models`, which more cannot be set "
        "than, and 200000 for a model that it lacks.",
    )
    form: Literal["auto", "tool", "json_schema", "json_text"] = Field(
        "auto",
        description="How it is made to answer in the schema: a forced tool call, a response format, JSON in its text; "
        "auto: the first of them that LiteLLM says the model can.",
    )
    trust: Trust = Field(
        Trust.OFF,
        description="off: all code; scip: only symbols that an edge touches which a compiler's index confirms, and "
        "what holds them.",
    )
    tests: bool = Field(False, description="Whether test code is written about, too.")
    documented: bool = Field(
        False,
        description="Whether a model writes about what its author documented, too: by a docstring, a doc comment or a "
        "README. By default it is asked only for the rest.",
    )
    language: str = Field("English", min_length=1, max_length=60, description="The language of the texts.")

    _holds_no_secret = field_validator("api_base")(address_without_secret)

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.enabled and not self.model:
            raise ValueError("enabled = true needs a model: set llm.model, or enabled = false")
        if self.backend in (BackendName.REPLAY, BackendName.RECORD) and self.recording is None:
            raise ValueError(f"backend = {self.backend.value!r} needs a folder: set llm.recording")
        return self

    def options(self, *, home: Path, cache: Path, prompts: Path, max_rewrite_fraction: float) -> LlmOptions:
        """These settings and some of the home's, as the stages take them."""
        same = self.model_dump(exclude={"recording", "echoed_names", "prices"})
        return LlmOptions(
            **same,
            recording=str(home / self.recording) if self.recording else "",
            echoed_names=tuple(sorted(self.echoed_names.items())),
            prices=tuple(ModelPrice(**price.model_dump()) for price in self.prices),
            cache_folder=str(cache),
            prompts_folder=str(prompts),
            max_rewrite_fraction=max_rewrite_fraction,
        )
