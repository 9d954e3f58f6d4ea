"""The one door to LiteLLM: it is imported here alone, its errors become ours, and no key leaves with them.

The errors say whether to wait, to stop, or to change the request. Keys are taken out of all that comes back from a
provider: its errors, its answers and its own name. A proxy may repeat what it was sent, in an error or inside an answer
that is otherwise good. Any key that LiteLLM could have sent is looked for, as it is and as it reads in an address, in
JSON, in HTML and in base64.
"""

import html
import inspect
import json
import os
import re
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from urllib.parse import quote, quote_plus

from msgspec import Struct

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import CallFailure, SummaryCallFailed
from codesum_pipeline.texts.llm.sent_requests import note_sent, refuse_repetition

REMOVED = "…"
_SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_KEY_NAMES = re.compile(r"_(API_KEY|AUTH_TOKEN|API_TOKEN|SESSION_TOKEN)$")
_VARIABLE = re.compile(r"\"([A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)[A-Z0-9_]*)(?<!_FILE)\"")
_ESCAPE_IN_ADDRESS = re.compile(r"%[0-9A-F]{2}")
# What is shorter is a placeholder, and would blot out words.
_SHORTEST_SECRET = 8
_LOOKS_SECRET = re.compile(r"\b(sk|pk|key|Bearer)[-_ ](?!provided\b)[\w*.-]{6,}", re.IGNORECASE)


def keys_in_use(*named: str) -> tuple[str, ...]:
    """Every key that a call may have been made with: `named` ones, and those that LiteLLM finds in the environment."""
    return (*named, *(value for name, value in os.environ.items() if name in _known() or _KEY_NAMES.search(name)))


def without_secrets(text: str, *secrets: str) -> str:
    """A message without `secrets`, the values of variables that are named like secrets, and what looks like a key."""
    named = (value for name, value in os.environ.items() if _SECRET_NAMES.search(name))
    return _LOOKS_SECRET.sub(REMOVED, without_keys(text, (*secrets, *named)))


def without_keys(text: str, keys: Iterable[str]) -> str:
    """A text without these keys in any of their forms; what is too short to be a key is kept.

    JSON stays JSON, and none of its strings is a key, however it was escaped.
    """
    forms = sorted({form for key in keys for form in _forms(key)}, key=len, reverse=True)
    for form in forms:
        text = text.replace(form, REMOVED)
    if not forms or "\\" not in text:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    clean = _cleaned(value, forms)
    return text if clean == value else json.dumps(clean, ensure_ascii=False)


def _cleaned(value: Any, forms: Sequence[str]) -> Any:
    if isinstance(value, dict):
        return {_cleaned(name, forms): _cleaned(part, forms) for name, part in value.items()}
    if isinstance(value, list):
        return [_cleaned(part, forms) for part in value]
    if isinstance(value, str):
        for form in forms:
            value = value.replace(form, REMOVED)
    return value


def _forms(key: str) -> Iterator[str]:
    """A key as it is, and as others write it."""
    for one in {key, key.strip()}:
        if len(one) < _SHORTEST_SECRET:
            continue
        in_json = json.dumps(one)[1:-1]
        data = one.encode("utf-8", "surrogateescape")
        yield from (one, in_json, in_json.replace("/", "\\/"), html.escape(one), html.escape(one, quote=False))
        for address in (quote(data, safe=""), quote(data), quote_plus(data)):
            yield from (address, _ESCAPE_IN_ADDRESS.sub(lambda found: found[0].lower(), address))
        for encoded in (b64encode(data), urlsafe_b64encode(data)):
            yield encoded.decode().rstrip("=")


@cache
def _known() -> frozenset[str]:
    """The variables that LiteLLM says it reads keys from."""
    return frozenset(_VARIABLE.findall(inspect.getsource(litellm_client().validate_environment)))


# Without these it fetches a list of prices at import, and logs its messages.
_BEFORE_IMPORT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOG": "ERROR",
    # OpenAI's own client walks through every request and answer: a third of the work of a call.
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "True",
}


@cache
def litellm_client() -> Any:
    """The module `litellm`; importing it takes seconds."""
    os.environ.update(_BEFORE_IMPORT)
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # It takes a request's `max_retries=0` for "nothing said".
    litellm.DEFAULT_MAX_RETRIES = 0
    _watch_requests()
    return litellm


_REHEARSAL: dict[str, Any] = {
    "model": "openai/gpt-4o-mini",
    "messages": [{"role": "user", "content": "x"}],
    "tools": [{"type": "function", "function": {"name": "x", "parameters": {"type": "object", "properties": {}}}}],
    "mock_response": "x",
}


@cache
def _rehearsed() -> list[bool]:
    """Holds one item from the first rehearsal on."""
    return []


async def rehearse_call() -> None:
    """Have LiteLLM import what its first call imports, a second or two, before the time of a call begins. Nothing is
    sent."""
    client, done = litellm_client(), _rehearsed()
    if not done:
        done.append(True)
        await client.acompletion(**_REHEARSAL)


def _watch_requests() -> None:
    """Have LiteLLM's connections note what is sent. A request whose connection broke it would send again."""
    import aiohttp
    from litellm.llms.custom_httpx import aiohttp_transport

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(_begin)
    trace.on_request_headers_sent.append(_note)
    trace.freeze()

    class WatchedTransport(aiohttp_transport.LiteLLMAiohttpTransport):  # type: ignore[misc]
        def get_valid_client_session(self) -> aiohttp.ClientSession:
            session: aiohttp.ClientSession = super().get_valid_client_session()
            if trace not in session.trace_configs:
                session.trace_configs.append(trace)
            return session

    aiohttp_transport.LiteLLMAiohttpTransport = WatchedTransport


async def _begin(_session: Any, _context: Any, request: Any) -> None:
    refuse_repetition(str(request.url))


async def _note(_session: Any, _context: Any, request: Any) -> None:
    note_sent(str(request.url) if request.method == "POST" else "")


def sends_unwatched() -> bool:
    """Whether the environment makes LiteLLM send through httpx, which notes nothing."""
    litellm_client()
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    return not AsyncHTTPHandler.should_use_aiohttp_transport()


class _Rule(Struct, frozen=True):
    """A rule of `provider_words.toml`, which explains each field."""

    failure: CallFailure
    statuses: tuple[int, ...] = ()
    from_status: int = 0
    sign: str = ""
    words: str = ""
    unless: str = ""

    def holds(self, status: int, signs: Collection[str], said: str) -> bool:
        """Whether it holds for an error with a status and signs that was worded so."""
        is_named = status in (self.statuses or (status,)) and status >= self.from_status
        has_signs = not self.sign or self.sign in signs
        has_words = not self.words or _SAYS[self.words].search(said)
        is_other = self.unless and _SAYS[self.unless].search(said)
        return bool(is_named and has_signs and has_words and not is_other)


_TABLE = packaged_table(__package__, "provider_words")
_RULES = convert(_TABLE["rules"], list[_Rule])
_SAYS = {name: re.compile("|".join(words), re.IGNORECASE) for name, words in _TABLE["words"].items()}
_NAMES = [(re.compile("|".join(each["words"]), re.IGNORECASE), int(each["status"])) for each in _TABLE["names"]]


@contextmanager
def reading_error(read: Callable[[], tuple[str, str]], model: str) -> Iterator[None]:
    """Where LiteLLM fails, and `read` finds the name and the words of an error that a provider sent in place of an
    answer, raise LiteLLM's error for that: it takes such a name for a number, or leaves it out."""
    try:
        yield
    except Exception as error:
        name, words = read()
        has_kind = name == str(getattr(error, "status_code", "")) and not isinstance(error, _unread())
        if not words or has_kind:
            raise
        raise _error_named(name, words, model) from None


def _unread() -> tuple[type[Exception], ...]:
    """LiteLLM's errors for what it could not read."""
    litellm = litellm_client()
    return (litellm.APIConnectionError, litellm.APIError, litellm.APIResponseValidationError, ValueError)


def kind_in_answer(name: str, words: str) -> CallFailure:
    """The kind of an error that came inside an answer, by its code and type, and its words."""
    if _SAYS["used_up"].search(f"{name}: {words}"):
        return CallFailure.CREDENTIALS
    return CallFailure(_TABLE["in_answers"].get(str(_status_named(name)), CallFailure.IN_ANSWER))


def _status_named(name: str) -> int:
    """The status that belongs to the name of an error, or that its code is; 0 if there is none."""
    number = re.match(r"[1-5]\d\d\b", name)
    return int(number[0]) if number else next((status for known, status in _NAMES if known.search(name)), 0)


def _error_named(name: str, words: str, model: str) -> Exception:
    litellm = litellm_client()
    status = _status_named(name) or _WRONG
    kind = litellm.InternalServerError if status >= _SERVER else litellm.BadRequestError
    kind = litellm.RateLimitError if status == _TOO_MUCH else kind
    said = words if not name or name in words else f"{name}: {words}"
    error: Exception = kind(message=said, model=model, llm_provider="")
    error.status_code = status  # type: ignore[attr-defined]
    return error


_LONGEST_MESSAGE = 300
_LONGEST_CHAIN = 10
# Characters of a server's words that say of which kind an error is.
_MOST_READ = 600
# Some servers call a wrong request an error of their own, or one of too many.
_REFUSED_OTHERWISE = (CallFailure.SERVER, CallFailure.RATE_LIMIT)
# Failures that a setting may end.
_BY_SETTINGS = (CallFailure.REFUSED, CallFailure.FORM, CallFailure.UNREADABLE, *_REFUSED_OTHERWISE)
_WRONG = 400
_TOO_MUCH = 429
_SERVER = 500
# Addresses in memory, and where in LiteLLM it was.
_NOT_THE_MATTER = re.compile(
    # And LiteLLM's own names of what it takes for the kind of an error.
    r" ssl:<[^<>]*>| ssl:default|litellm\.\w{1,60}: |\b\w{1,60}(Error|Exception)( -|:) |"
    r"Traceback \(most recent call last\).*",
    re.DOTALL,
)
_SECONDS = re.compile(r"\d{1,15}(\.\d{1,9})?")
_MILLISECONDS = 1000


def failure_of(
    error: Exception,
    model: str,
    *,
    key: str,
    missing_key: str,
    was_sent: bool,
    hint_for: Callable[[str], str] = lambda _words: "",
) -> SummaryCallFailed:
    """The error as one of ours: its kind, how long to wait, and a provider's words without any key.

    `missing_key` names the variables where a key is looked for and is not; `was_sent`: the request may have left;
    `hint_for` says what helps after a refusal in a provider's words, or nothing.
    """
    import httpx

    is_key_missing, chain = bool(missing_key), _chain(error)
    transport = next((each for each in chain if isinstance(each, (httpx.TransportError, ConnectionError))), None)
    raw = _NOT_THE_MATTER.sub("", str(transport or error))
    failure = _kind_of(error, chain, transport, raw, is_key_missing=is_key_missing)
    words = f"{type(transport or error).__name__}: {' '.join(without_secrets(raw, key).split())[:_LONGEST_MESSAGE]}"
    if failure in _BY_SETTINGS and (hint := hint_for(raw)):
        # Again it would end the same way. What is only unreadable may hold words of a paid answer.
        failure = CallFailure.REFUSED if failure in _REFUSED_OTHERWISE else failure
        words = f"{words}; way out: {hint}"
    if is_key_missing and failure is CallFailure.CREDENTIALS:
        words = (
            f"its key is empty: put it into the environment ({missing_key}); for a server that wants none, any word "
            "of up to seven letters will do"
        )
    is_busy = failure in (CallFailure.RATE_LIMIT, CallFailure.SERVER, CallFailure.TIMEOUT)
    headers = getattr(error, "litellm_response_headers", None) or {}
    return SummaryCallFailed(
        f"{model}: {words}",
        failure=failure,
        retry_after_s=read_retry_after(headers, now=time.time()) if is_busy else None,
        was_sent=was_sent and not (is_key_missing and failure is CallFailure.CREDENTIALS),
    )


def read_retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """How many seconds a provider asks to wait, which it says in seconds, in milliseconds or by a date; None if it says
    nothing. `now` are seconds since 1970."""
    milliseconds, value = headers.get("retry-after-ms", ""), headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(milliseconds):
        return float(milliseconds) / _MILLISECONDS
    if _SECONDS.fullmatch(value):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
        # Dates of HTTP are those of Greenwich, also in the form that does not say so.
        moment = moment.replace(tzinfo=moment.tzinfo or UTC)
        return max(0.0, moment.timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _chain(error: BaseException) -> list[BaseException]:
    """The error and its causes: LiteLLM's own kinds mix broken connections with unreadable answers."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and len(chain) < _LONGEST_CHAIN:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return chain


def _kind_of(
    error: Any, chain: list[BaseException], transport: BaseException | None, words: str, *, is_key_missing: bool
) -> CallFailure:
    import httpx

    is_of_server = any(isinstance(each, httpx.HTTPStatusError) for each in chain)
    found = {
        "missing-key": is_key_missing,
        "filtered": isinstance(error, litellm_client().ContentPolicyViolationError),
        "timeout": isinstance(error, litellm_client().Timeout) or isinstance(transport, httpx.TimeoutException),
        "connection": transport is not None,
        "unread": isinstance(error, _unread()) and not is_of_server,
    }
    status, signs = int(getattr(error, "status_code", 0) or 0), [sign for sign, is_there in found.items() if is_there]
    # Behind its own words a server may repeat the prompt, which may hold any.
    return next(rule.failure for rule in _RULES if rule.holds(status, signs, words[:_MOST_READ]))
