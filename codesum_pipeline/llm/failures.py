"""What LiteLLM's errors mean for who asks: whether to wait, to stop, or to change what is asked."""

import re
from typing import Any

from codesum_pipeline.llm.litellm_door import litellm_client
from codesum_pipeline.llm.scrubbing import without_secrets
from codesum_pipeline.model.errors import CallFailure, SummaryCallFailed

_LONGEST_MESSAGE = 300
_LONGEST_CHAIN = 10
# HTTP: who asks is not known, has not paid, or may not.
_NO_ENTRY = (401, 402, 403)
_TIMED_OUT = (408, 504)
_TOO_MUCH = 429
_SERVER = 500
# Of a model that is used up, providers say the same as of one that is too busy.
_USED_UP = re.compile(r"insufficient_quota|exceeded your current quota|credit balance", re.IGNORECASE)
_SPEAKS_OF_A_KEY = re.compile(
    r"api.?key|credentials|security token|token (has |is )?(included in the request is )?expired|ExpiredToken",
    re.IGNORECASE,
)
# Addresses in memory, and where in LiteLLM it was.
_NOT_THE_MATTER = re.compile(r" ssl:<[^>]*>| ssl:default|Traceback \(most recent call last\).*", re.DOTALL)


def failure_of(error: Exception, model: str, *, key: str, missing_key: str) -> SummaryCallFailed:
    """The error as one of ours: its kind, how long to wait, and a provider's words without any key.

    `missing_key` names the variables where a key is looked for and is not.
    """
    is_key_missing = bool(missing_key)
    chain = _chain(error)
    transport = next((each for each in chain if _is_of_transport(each)), None)
    raw = _NOT_THE_MATTER.sub("", str(transport or error))
    failure = _kind_of(error, chain, transport, raw, is_key_missing=is_key_missing)
    words = f"{type(transport or error).__name__}: {' '.join(without_secrets(raw, key).split())[:_LONGEST_MESSAGE]}"
    if is_key_missing and failure is CallFailure.CREDENTIALS:
        words = (
            f"its key is empty: put it into the environment ({missing_key}); for a server that wants none, any word "
            "of up to seven letters will do"
        )
    return SummaryCallFailed(
        f"{model}: {words}",
        failure=failure,
        retry_after_s=_retry_after_s(error) if failure in (CallFailure.RATE_LIMIT, CallFailure.SERVER) else None,
        was_sent=not (is_key_missing and failure is CallFailure.CREDENTIALS) and not _is_before_sending(transport),
    )


def _chain(error: BaseException) -> list[BaseException]:
    """The error and what led to it: LiteLLM's own kinds tell a broken connection from an unreadable answer badly."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and len(chain) < _LONGEST_CHAIN:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return chain


def _is_of_transport(error: BaseException) -> bool:
    import httpx

    return isinstance(error, (httpx.TransportError, ConnectionError))


def _is_before_sending(transport: BaseException | None) -> bool:
    import httpx

    return isinstance(transport, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, ConnectionRefusedError))


def _kind_of(
    error: Any, chain: list[BaseException], transport: BaseException | None, words: str, *, is_key_missing: bool
) -> CallFailure:
    import httpx

    litellm = litellm_client()
    status = int(getattr(error, "status_code", 0) or 0)
    # A missing key is, with some providers, a failure of the server or of the connection.
    if status in _NO_ENTRY or _USED_UP.search(words) or (is_key_missing and _SPEAKS_OF_A_KEY.search(words)):
        return CallFailure.CREDENTIALS
    if isinstance(error, litellm.Timeout) or isinstance(transport, httpx.TimeoutException) or status in _TIMED_OUT:
        return CallFailure.TIMEOUT
    if transport is not None:
        return CallFailure.CONNECTION
    if isinstance(error, litellm.RateLimitError) or status == _TOO_MUCH:
        return CallFailure.RATE_LIMIT
    unread = (litellm.APIConnectionError, litellm.APIError, litellm.APIResponseValidationError)
    if isinstance(error, unread) and not any(isinstance(each, httpx.HTTPStatusError) for each in chain):
        return CallFailure.UNREADABLE
    return CallFailure.SERVER if status >= _SERVER else CallFailure.REFUSED


def _retry_after_s(error: Any) -> float | None:
    """How long the provider asks to wait, where it says so in seconds."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    asked = str(headers.get("retry-after", ""))
    return float(asked) if re.fullmatch(r"\d+(\.\d+)?", asked) else None
