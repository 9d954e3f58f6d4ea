"""Settings of texts by a language model: whether, by which, and at most at what cost."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from codesum_pipeline.foundation.settings.marks import BELOW_HOME, LIMITS, NOTHING, SettingsGroup, Shapes, setting
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


def _without_secret(url: str | None) -> str | None:
    """Settings are shown in files, logs and messages; raises `ValueError` for what may hold a key or a password."""
    if url is not None and not re.fullmatch(r"https?://[^@?#\s]+", url):
        raise ValueError("write http(s)://HOST/PATH without a key or password: keys belong in the environment")
    return url


ApiBase = Annotated[str | None, AfterValidator(_without_secret)]


class ModelPrice(SettingsGroup):
    """What a model costs that LiteLLM's list lacks, or has otherwise."""

    model: str = Field(min_length=1, description="The model, as `llm.model` names it.")
    input: float = Field(description="US dollars per million tokens read.")
    output: float = Field(description="US dollars per million tokens written.")
    cached_input: float | None = setting(None, "US dollars per million tokens read from its cache.")

    @field_validator("input", "output", "cached_input")
    @classmethod
    def _is_no_gain(cls, price: float | None, info: ValidationInfo) -> float | None:
        if price is not None and price < 0:
            raise ValueError(f"a price of {info.data.get('model')!r} is below 0: a model that costs nothing has 0")
        return price


class LlmSettings(SettingsGroup):
    """Whether and how a language model writes texts, and at most at what cost."""

    enabled: bool = setting(False, "A language model writes texts.", _TEXTS)
    model: str = setting("", "The model that writes texts, named as in LiteLLM: `anthropic/claude-haiku-4-5`.", _TEXTS)
    fallback_models: tuple[str, ...] = setting((), "These models are asked if the first one fails.", _TEXTS)
    max_summaries_per_run: int = setting(0, "A run asks for at most N texts; 0: it only counts them.", LIMITS, ge=0)
    max_cost_usd_per_run: float | None = setting(
        None, "A run spends at most N US dollars; default: no cap.", LIMITS, ge=0
    )
    max_cost_usd_per_day: float = setting(
        0.0,
        "Runs that Dagster starts by itself for texts that the caps left over spend at most N US dollars a day.",
        NOTHING,
        ge=0,
    )
    backend: BackendName = setting(
        BackendName.LITELLM,
        "Where answers come from: litellm, record (litellm, and every answer is recorded), replay "
        "(recorded answers only, without a network) or noop (none).",
        LIMITS,
    )
    recording: Path | None = setting(
        None,
        "The folder of the answers that `record` writes and `replay` reads; relative to the home.",
        NOTHING,
        BELOW_HOME,
    )
    api_base: ApiBase = setting(None, "The address of the model's server; default: its provider's.", NOTHING)
    api_key_env: str | None = setting(
        None, "The environment variable with the key; default: the one that LiteLLM reads for the provider.", NOTHING
    )
    allowlist: tuple[str, ...] = setting(
        (), "Only these models may be asked; empty: `model` and `fallback_models`.", NOTHING
    )
    echoed_names: dict[str, str | tuple[str, ...]] = setting(
        {},
        "For each name under which a server answers, the model, or list of models, that is meant; `(no name)` "
        "stands for an answer without a name. Names that differ only in spelling need no entry; see "
        "[models](models.md#the-name-that-answers).",
        NOTHING,
    )
    parameters: ChangedParameters = setting(
        {},
        "For each model, parameters of a call that are left out (`false`) or sent under another name; see "
        "[models](models.md#parameters).",
        NOTHING,
    )
    prices: tuple[ModelPrice, ...] = setting(
        (), "Prices of models, where LiteLLM's list has none or another one; 0 is a price.", NOTHING
    )
    concurrency: int = setting(8, "N calls are made at a time.", NOTHING, ge=1, le=1024)
    requests_per_minute: int | None = setting(
        None, "One model gets at most N calls a minute; default: no limit.", NOTHING, ge=1
    )
    tokens_per_minute: int | None = setting(
        None, "One model gets at most N tokens a minute; default: no limit.", NOTHING, ge=1
    )
    max_attempts: int = setting(
        3,
        "One text takes at most N calls: the first one, and further ones if the answer breaks the rules.",
        _TEXTS,
        ge=1,
        le=10,
    )
    max_retries: int = setting(4, "A call is repeated up to N times after a transient failure.", NOTHING, ge=0, le=20)
    max_tokens: int = setting(2048, "One answer has at most N tokens.", _TEXTS, ge=256)
    longest_wait_s: float = setting(
        600.0,
        "A run waits at most N seconds where a provider asks it to; if the provider asks for more, the run ends.",
        NOTHING,
        ge=0,
    )
    give_up_after: int = setting(
        5,
        "After N documents in a row for which a model gave no usable answer, a run makes no more calls.",
        NOTHING,
        ge=1,
    )
    timeout_s: float = setting(60.0, "One call takes at most N seconds.", NOTHING, gt=0)
    # Its resulting value is among the versions, since it also depends on the models.
    max_prompt_chars: int | None = setting(
        None,
        "A prompt has at most N characters, of which 85 % may be system, instruction and code. Default, "
        "and upper limit: four characters for each token of the smallest limit that LiteLLM's list "
        "gives for the models; 200000 for a model not listed.",
        NOTHING,
        ge=1,
    )
    form: Literal["auto", "tool", "required", "json_schema", "json_text"] = setting(
        "auto",
        "How a model answers: by a call of the tool that is named, by a call of any tool, in a response format or by "
        "JSON in its text; auto: in the form that LiteLLM's list says the model supports. Where its server refuses or "
        "ignores a form, codesum takes the next of these.",
        _TEXTS,
    )
    trust: Trust = setting(
        Trust.OFF,
        "off: a model writes about all code; scip: only where a compiler's index confirms an edge.",
        _TEXTS,
    )
    tests: bool = setting(False, "A model also writes about test code.", _TEXTS)
    documented: bool = setting(
        False,
        "A model also writes about code that its author documented by a docstring, a doc comment or a README.",
        _TEXTS,
    )
    language: str = setting("English", "The texts are in this language.", _TEXTS, min_length=1, max_length=60)

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

    max_cost_usd_per_question: float = setting(
        0.5, "One question costs at most N US dollars; 0: only models that cost nothing.", ge=0
    )
    max_cost_usd_per_day: float = setting(
        5.0, "All questions of a day (UTC), of all repositories, cost at most N US dollars.", ge=0
    )
    max_steps: int = setting(
        50, "For one question a model may call tools N times; then it has to answer.", ge=1, le=1000
    )
    max_tokens: int = setting(4096, "One answer has at most N tokens.", ge=256)
    primary_document: str = setting(
        "README",
        "An overview always shows this document of a repository: a path, or a name with or without its ending.",
        min_length=1,
        max_length=200,
    )
    # The second pass about a whole repository may take N seconds; then the answer does without it.
    synthesis_timeout_s: ClassVar[float] = 90.0


class CompactionSettings(SettingsGroup):
    """Who may attest that old rows are compressed, and at most at what cost. Which model: `llm`."""

    allowed_signers: Path = setting(
        Path("allowed_signers"),
        "The file of those who may sign attestations, in OpenSSH's format; relative to the home.",
        BELOW_HOME,
    )
    max_cost_usd_per_job: float = setting(
        0.5, "One attested job costs at most N US dollars; 0: only models that cost nothing.", ge=0
    )
    max_cost_usd_per_day: float = setting(
        5.0, "All attested jobs of a day (UTC), of all repositories, cost at most N US dollars.", ge=0
    )


class DigestSettings(SettingsGroup):
    """Where the standing questions are, how items are grouped, and at most at what cost a model writes."""

    intents_file: Path = setting(
        Path("intents.yaml"), "The file of the standing questions; relative to the home.", BELOW_HOME
    )
    grouped: bool = setting(
        True, "Daily and weekly digests show near-duplicate changes as one item, as the digests of a build do."
    )
    max_tokens: int = setting(4096, "One answer about a digest has at most N tokens.", ge=1)
    max_cost_usd_per_digest: float = setting(
        0.25, "One digest costs at most N US dollars; 0: only models that cost nothing.", ge=0
    )
    max_cost_usd_per_day: float = setting(
        1.0, "All digests of a day (UTC), of all repositories, cost at most N US dollars.", ge=0
    )
