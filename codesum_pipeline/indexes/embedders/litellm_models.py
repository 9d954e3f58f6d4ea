"""Models that a provider runs, asked through LiteLLM.

A provider does not show weights: the model's id is made of the provider's name for the model and its address. LiteLLM
reads keys from the environment variable of each provider; they are never kept, shown or logged here.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from codesum_pipeline.foundation.data_model.bounded_batches import bounded_batches
from codesum_pipeline.foundation.data_model.errors import (
    CallFailure,
    ConfigurationError,
    EmbedderUnavailable,
    RefusedText,
    SummaryCallFailed,
    UnusableVectors,
)
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.indexes.embedders.protocol import unit_rows
from codesum_pipeline.indexes.embedders.static import StaticEmbedder
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors
from codesum_pipeline.texts.llm.litellm_door import failure_of, litellm_client
from codesum_pipeline.texts.llm.retrying import wait_before_retry

# What every provider accepts: the smallest limits of any of them for a text and a request.
_MAX_TOKENS = 512
_BATCH_TEXTS = 96
_BATCH_BYTES = 200_000
# One request: each is paid for, and what is paid for is kept.
_SAVE_EVERY = _BATCH_TEXTS
# A provider that wants to be asked later than this is not waited for.
_LONGEST_WAIT_S = 600.0
_TIMEOUT_S = 60.0
_ATTEMPTS = 5
# HTTP: the caller is not known, or has no permission.
_NO_ENTRY = (401, 403)
# In place of an empty text, which no embedding model accepts.
_NOTHING = " "


class LiteLlmEmbedder:
    """One model of one provider. Making it calls nobody; the first text does."""

    query_prompt = ""
    max_tokens = _MAX_TOKENS
    save_every = _SAVE_EVERY

    def __init__(self, model: str, *, api_base: str | None, offline: bool, first_wait_s: float = 1.0) -> None:
        """`first_wait_s` is how long the first retry waits; each further one waits twice as long."""
        self._model = model
        self._api_base = api_base
        self._offline = offline
        self._first_wait_s = first_wait_s
        # The length of the first vector that came, to which all others are held; several threads may ask.
        self._length: int | None = None
        self.billed_tokens = 0
        self._lock = threading.Lock()
        self.model_id = f"litellm/{model}@{hash_of([model, api_base])[:12]}"

    def check_provider(self) -> None:
        """Raise `ConfigurationError` if LiteLLM knows no provider of the model; makes no call."""
        litellm = litellm_client()
        try:
            litellm.get_llm_provider(self._model, api_base=self._api_base)
        except litellm.BadRequestError as error:
            raise self._refusal(error) from None

    @property
    def dimensions(self) -> int:
        if self._length is None:
            self.embed_query("dimensions")
        return self._length or 0

    @cached_property
    def usd_per_token(self) -> float | None:
        """The price that LiteLLM's own list gives; None for a model that it does not list as an embedding model."""
        litellm = litellm_client()
        try:
            info = litellm.get_model_info(self._model)
        except litellm.exceptions.ModelNotMappedError:
            return None
        price = info.get("input_cost_per_token") if info.get("mode") == "embedding" else None
        return None if price is None else float(price)

    @cached_property
    def _static_model(self) -> StaticEmbedder:
        """The model that ships with the package, loaded where its tokenizer is needed."""
        return StaticEmbedder()

    def embed(self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None) -> Vectors:
        rows = []
        for batch in _batches(texts):
            rows.append(self._checked(self._ask(batch), len(batch)))
            if progress is not None:
                progress(len(batch))
        return unit_rows(np.concatenate(rows)) if rows else np.zeros((0, self.dimensions), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """By the tokenizer that ships with the package, which splits finer than those of providers."""
        return self._static_model.count_tokens(texts)

    def truncate(self, text: str, max_tokens: int) -> str:
        return self._static_model.truncate(text, max_tokens)

    def _ask(self, batch: Sequence[str]) -> Any:
        """One request, repeated while another attempt may help; LiteLLM's own retries are off."""
        if self._offline:
            raise ConfigurationError(
                f"embedder 'litellm/{self._model}': offline is set and the model is asked over the network: "
                "set embedder to 'static' or to a model that runs here, or unset offline"
            )
        litellm = litellm_client()
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return litellm.embedding(
                    model=self._model,
                    input=list(batch),
                    api_base=self._api_base,
                    encoding_format="float",
                    drop_params=True,
                    timeout=_TIMEOUT_S,
                    num_retries=0,
                    caching=False,
                )
            # Without their cause: a provider's message may repeat a part of the key.
            except tuple(litellm.exceptions.LITELLM_EXCEPTION_TYPES) as error:
                failure = self._failure(error)
                if not failure.is_passing:
                    raise self._refusal(error) from None
                wait_s = wait_before_retry(
                    failure, attempt, first_wait_s=self._first_wait_s, longest_provider_wait_s=_LONGEST_WAIT_S
                )
                if attempt == _ATTEMPTS or wait_s is None:
                    raise EmbedderUnavailable(
                        f"embedder 'litellm/{self._model}': {attempt} requests failed, the last with "
                        f"{self._words(failure)}; what was embedded is kept: try again later"
                    ) from None
                time.sleep(wait_s)
        raise AssertionError("the last attempt returns or raises")

    def _failure(self, error: Exception) -> SummaryCallFailed:
        return failure_of(error, self._model, key="", missing_key=", ".join(self._missing_keys()), was_sent=True)

    def _words(self, failure: SummaryCallFailed) -> str:
        """The provider's words, on one line and without secrets."""
        return str(failure).partition(f"{self._model}: ")[2]

    def _refusal(self, error: Exception) -> ConfigurationError:
        """What a person can do about an answer that will not change by itself."""
        litellm, name = litellm_client(), f"embedder 'litellm/{self._model}'"
        missing, failure = self._missing_keys(), self._failure(error)
        is_about_key = missing and failure.failure is CallFailure.CREDENTIALS
        if is_about_key or getattr(error, "status_code", 0) in _NO_ENTRY:
            keys = ", ".join(missing) or "the provider's variable"
            state = "is not set" if missing else "was not accepted"
            return ConfigurationError(f"{name}: its key {state}: put it into the environment ({keys})")
        if isinstance(error, litellm.NotFoundError) or "LLM Provider NOT provided" in str(error):
            return ConfigurationError(
                f"{name}: no provider knows this model: write PROVIDER/MODEL as LiteLLM does, for a server of your own "
                "litellm/openai/MODEL with embedder_api_base"
            )
        is_about_texts = isinstance(error, (litellm.BadRequestError, litellm.UnprocessableEntityError))
        kind = RefusedText if is_about_texts else ConfigurationError
        return kind(f"{name}: the request was refused: {self._words(failure)}")

    def _missing_keys(self) -> list[str]:
        """The variables that LiteLLM would read a key from and that are not set."""
        found: list[str] = litellm_client().validate_environment(self._model)["missing_keys"]
        return found

    def _checked(self, response: Any, count: int) -> npt.NDArray[np.float64]:
        """The vectors of an answer in the order of the texts; raises `UnusableVectors`."""
        tokens = int(getattr(getattr(response, "usage", None), "prompt_tokens", 0) or 0)
        with self._lock:
            self.billed_tokens += tokens
        name = f"embedder 'litellm/{self._model}'"
        data = sorted(response.data, key=lambda item: int(item["index"]))
        if [int(item["index"]) for item in data] != list(range(count)):
            raise UnusableVectors(f"{name}: {len(data)} vectors came for {count} texts")
        lengths = sorted({len(item["embedding"]) for item in data})
        with self._lock:
            if self._length is None and len(lengths) == 1:
                self._length = lengths[0]
        if lengths != [self._length] or not self._length:
            raise UnusableVectors(f"{name}: vectors of {self._length} numbers were expected, {lengths} came")
        rows = np.array([item["embedding"] for item in data], dtype=np.float64)
        if not np.isfinite(rows).all():
            raise UnusableVectors(f"{name}: a vector holds a number that is not finite")
        return rows


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    readable = (text.encode("utf-8", errors="replace").decode("utf-8") or _NOTHING for text in texts)
    return bounded_batches(readable, lambda text: len(text.encode()), most=_BATCH_BYTES, most_items=_BATCH_TEXTS)
