"""What to set after a server's refusal: its own words, as servers really say them, and the setting that helps.

The words come from outside, so each pattern reads a text once, and of it a hint repeats nothing but numbers. The first
pattern that is found counts; what is special comes before what is general.
"""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from codesum_pipeline.foundation.data_model.toml_values import toml_value
from codesum_pipeline.foundation.settings.parameter_settings import ParameterName

# Longer refusals say nothing more.
_READ = 8_000
# Code has fewer characters in a token than prose.
_CHARS_IN_A_TOKEN = 3
# With less, the packaged templates have no room for material.
LEAST_PROMPT_CHARS = 8_000
# Of the settings; see `llm.max_tokens`.
LEAST_ANSWER_TOKENS = 256
_ASK_LIMIT = "ask.max_tokens"


class RefusedCall(Struct, frozen=True):
    """A call that a server refused. `limit` is the setting of its answer's length, `api_base` that of its address;
    `max_tokens` is how long an answer it wanted."""

    model: str
    limit: str
    max_tokens: int
    api_base: str | None = None

    @property
    def is_question(self) -> bool:
        """Whether it belongs to `codesum ask`, which cannot do without tools."""
        return self.limit == _ASK_LIMIT

    @property
    def name(self) -> str:
        """The model without its provider, as its server has it."""
        provider, slash, name = self.model.partition("/")
        return name if slash else provider


_Advice = Callable[[RefusedCall, re.Match[str]], str]


def find_hint(words: str, call: RefusedCall) -> str:
    """What helps after a refusal in these words; empty where nothing is known."""
    # A body in JSON has them before its quotation marks.
    read = words[:_READ].replace("\\", "")
    for pattern, advice in _HINTS:
        if found := pattern.search(read):
            return advice(call, found)
    return ""


def _number(found: re.Match[str], group: str) -> int:
    """A number of the message; 0 where it has none."""
    return int(re.sub(r"\D", "", found.groupdict().get(group) or "") or 0)


def _shorter_answer(call: RefusedCall, found: re.Match[str]) -> str:
    return _answer_of(call, _number(found, "most"))


def _shorter_answer_below(call: RefusedCall, found: re.Match[str]) -> str:
    return _answer_of(call, _number(found, "most") - 1)


def _answer_of(call: RefusedCall, most: int) -> str:
    """`most` tokens; below 1, it is not known how many."""
    if most < 1:
        return f"lower {call.limit} (now {call.max_tokens})"
    if most < LEAST_ANSWER_TOKENS:
        return f"take another model: this one writes at most {most} tokens, and an answer needs {LEAST_ANSWER_TOKENS}"
    return f"set {call.limit} = {most} or less"


def _longer_answer(call: RefusedCall, _found: re.Match[str]) -> str:
    return f"raise {call.limit} (now {call.max_tokens})"


def _shorter_prompt(call: RefusedCall, found: re.Match[str]) -> str:
    """The window holds the prompt and the answer."""
    window, prompt = _number(found, "window"), _number(found, "prompt")
    larger = "take a model with a larger context" if call.api_base is None else "start the server with a larger context"
    if window - prompt >= LEAST_ANSWER_TOKENS and prompt:
        return f"set {call.limit} = {window - prompt} or less, or lower llm.max_prompt_chars, or {larger}"
    room = (window - call.max_tokens) * _CHARS_IN_A_TOKEN
    if room >= LEAST_PROMPT_CHARS:
        return f"set llm.max_prompt_chars = {room} or less, or lower {call.limit} (now {call.max_tokens}), or {larger}"
    if window:
        least = LEAST_PROMPT_CHARS // _CHARS_IN_A_TOKEN + call.max_tokens
        return f"{larger} (of at least {least} tokens; it has {window}), or lower {call.limit} (now {call.max_tokens})"
    return f"lower llm.max_prompt_chars or {call.limit} (now {call.max_tokens}), or {larger}"


def _fewer_tokens_a_minute(_call: RefusedCall, found: re.Match[str]) -> str:
    most = _number(found, "most")
    return f"set llm.tokens_per_minute = {most} and llm.max_prompt_chars = {most * 2} or less"


def _left_out(name: str) -> _Advice:
    return lambda call, _found: f"set llm.parameters = {_changes(call, {name: False})}"


def _changed_parameter(call: RefusedCall, found: re.Match[str]) -> str:
    name = found["name"].lower()
    if name == "max_completion_tokens":
        return f"set llm.parameters = {_changes(call, {ParameterName.MAX_TOKENS.value: 'max_tokens'})}"
    if name == ParameterName.MAX_TOKENS:
        return _newer_limit(call, found)
    if name == ParameterName.RESPONSE_FORMAT:
        return _json_in_text(call, found)
    if name == ParameterName.TOOL_CHOICE and not call.is_question:
        return _no_forced_tool(call, found)
    return f"set llm.parameters = {_changes(call, {name: False})}"


def _newer_limit(call: RefusedCall, _found: re.Match[str]) -> str:
    return f"set llm.parameters = {_changes(call, {ParameterName.MAX_TOKENS.value: 'max_completion_tokens'})}"


def _changes(call: RefusedCall, changes: dict[str, object]) -> str:
    return toml_value({call.model: changes})


def _any_tool(call: RefusedCall, found: re.Match[str]) -> str:
    return _no_forced_tool(call, found) if call.is_question else 'set llm.form = "required"'


def _no_tools(call: RefusedCall, _found: re.Match[str]) -> str:
    if call.is_question:
        return "`codesum ask` needs a model that can call tools: set llm.model to one"
    return 'set llm.form = "json_schema", or "json_text" where the server refuses that, too'


def _no_forced_tool(call: RefusedCall, found: re.Match[str]) -> str:
    return _left_out(ParameterName.TOOL_CHOICE)(call, found) if call.is_question else _no_tools(call, found)


def _with_option(option: str) -> _Advice:
    def advise(call: RefusedCall, _found: re.Match[str]) -> str:
        otherwise = "" if call.is_question else ', or set llm.form = "json_schema"'
        return f"start the server with {option}{otherwise}"

    return advise


def _json_in_text(_call: RefusedCall, _found: re.Match[str]) -> str:
    return 'set llm.form = "json_text"'


def _pulled(call: RefusedCall, _found: re.Match[str]) -> str:
    return f"`ollama pull {call.name}`, or set llm.model to a model that `ollama list` shows"


def _another_name(call: RefusedCall, _found: re.Match[str]) -> str:
    where = f"{call.api_base.rstrip('/')}/models lists" if call.api_base else "the provider lists"
    return f"correct {toml_value(call.model)} (llm.model or llm.fallback_models): take a name that {where}"


def _another_address(call: RefusedCall, _found: re.Match[str]) -> str:
    if call.api_base is None:
        return "set llm.api_base to the address of the model's server"
    base = call.api_base.rstrip("/")
    for path in ("/chat/completions", "/completions", "/messages"):
        base = base.removesuffix(path)
    # Anthropic's format has the version in the path that LiteLLM adds.
    is_versioned = call.model.startswith("anthropic/")
    right = base.removesuffix("/v1") if is_versioned else base if base.endswith("/v1") else f"{base}/v1"
    if right == call.api_base.rstrip("/"):
        return f"correct llm.api_base: nothing answers below {call.api_base}"
    return f"set llm.api_base = {toml_value(right)}"


def _address_with_version(call: RefusedCall, found: re.Match[str]) -> str:
    is_whole = call.api_base is None or call.api_base.rstrip("/").endswith("/v1")
    return "" if is_whole else _another_address(call, found)


def _another_template(_call: RefusedCall, _found: re.Match[str]) -> str:
    return "start the server with a chat template that has a system prompt (--chat-template)"


_NAMES = "|".join((*(name.value for name in ParameterName), "max_completion_tokens"))
_NUMBER = r"[\d,_]{1,12}"
_QUOTE = r"[\"'`]?"
_ABOUT_TOOLS = r"(?:tool(?:s|[ _-]?(?:use|calls?|calling))?|functions?(?:[ _-]?call(?:s|ing))?)"


def _patterns(advice: _Advice, *patterns: str) -> Sequence[tuple[re.Pattern[str], _Advice]]:
    return [(re.compile(pattern, re.IGNORECASE), advice) for pattern in patterns]


_HINTS: Sequence[tuple[re.Pattern[str], _Advice]] = (
    *_patterns(_with_option("--jinja"), r"requires? --jinja", r"Unsupported param: tools"),
    *_patterns(
        _with_option("--enable-auto-tool-choice --tool-call-parser PARSER (vLLM's documentation has its name)"),
        r"requires? --(?:enable-auto-tool-choice|tool-call-parser)",
    ),
    *_patterns(_another_template, r"System role not supported", r"roles must alternate"),
    # A limit of the answer: OpenAI, Anthropic, Groq, DeepSeek, DashScope, Ark, Bedrock, Gemini.
    *_patterns(
        _shorter_prompt,
        rf"tokens{_QUOTE} is too large: {_NUMBER}\. This model's maximum context length is (?P<window>{_NUMBER})"
        rf" tokens and your request has (?P<prompt>{_NUMBER})",
    ),
    *_patterns(
        _shorter_answer,
        rf"tokens{_QUOTE} is too large: {_NUMBER}\. This model supports at most (?P<most>{_NUMBER})",
        rf"max_tokens: {_NUMBER} > (?P<most>{_NUMBER}), which is the maximum allowed",
        rf"tokens{_QUOTE} must be less than or equal to {_QUOTE}(?P<most>{_NUMBER})",
        rf"range of max_tokens (?:is|should be) \[{_NUMBER}, ?(?P<most>{_NUMBER})\]",
        rf"tokens{_QUOTE} specified in the .{{0,80}}? expected a value <= (?P<most>{_NUMBER})",
        rf"maximum tokens you requested exceeds the model limit of (?P<most>{_NUMBER})",
        rf"{_QUOTE}max_(?:completion_)?tokens{_QUOTE}\],.{{0,40}}?less than or equal to (?P<most>{_NUMBER})",
    ),
    *_patterns(
        _shorter_answer_below,
        rf"maxOutputTokens value of {_NUMBER} but the supported range is from {_NUMBER} \(inclusive\) to"
        rf" (?P<most>{_NUMBER}) \(exclusive\)",
    ),
    *_patterns(_shorter_answer, r"max_(?:completion_)?tokens is too large"),
    *_patterns(_longer_answer, r"max_tokens or model output limit was reached"),
    # A limit of the prompt, or of the prompt and the answer: Anthropic, vLLM, OpenAI, OpenRouter, Mistral, SGLang,
    # Gemini, TGI, llama.cpp, LM Studio, llama-cpp-python, xAI, Bedrock.
    *_patterns(
        _shorter_prompt,
        rf"exceed context limit: (?P<prompt>{_NUMBER}) \+ {_NUMBER} > (?P<window>{_NUMBER})",
        rf"prompt is too long: {_NUMBER} tokens > (?P<window>{_NUMBER})",
        rf"maximum context length is (?P<window>{_NUMBER}) tokens.{{0,40}}? requested (?:about )?{_NUMBER} tokens"
        rf" \((?P<prompt>{_NUMBER}) ",
        rf"maximum context length is (?P<window>{_NUMBER}) tokens.{{0,80}}? at least (?P<prompt>{_NUMBER}) input",
        rf"maximum (?:context|prompt) length (?:is|of) (?P<window>{_NUMBER})",
        rf"too large for model with (?P<window>{_NUMBER}) maximum context",
        rf"longer than the model's context length \((?P<window>{_NUMBER})",
        rf"exceeds the maximum (?:allowed length|number of tokens allowed) \((?P<window>{_NUMBER})",
        rf"{_QUOTE}max_new_tokens{_QUOTE} must be <= (?P<window>{_NUMBER})\. Given: (?P<prompt>{_NUMBER})",
        rf"{_QUOTE}inputs{_QUOTE} must have less than (?P<window>{_NUMBER})",
        rf"exceeds the available context size \((?P<window>{_NUMBER})",
        rf"exceeds? the available context size.{{0,200}}?n_ctx\W{{1,4}}(?P<window>{_NUMBER})",
        rf"n_keep \({_NUMBER}\) >= n_ctx \((?P<window>{_NUMBER})",
        rf"loaded with context length of only (?P<window>{_NUMBER})",
        rf"exceed context window of (?P<window>{_NUMBER})",
        r"exceeds? the available context size",
        r"greater than the context length",
        r"Input is too long for (?:the )?requested model",
        r"exceeds the context window",
        r"context_length_exceeded",
        r"reduce the length of the (?:messages|input prompt)",
    ),
    *_patterns(_fewer_tokens_a_minute, rf"Request too large for .{{0,200}}?\(TPM\): Limit (?P<most>{_NUMBER})"),
    *_patterns(
        _shorter_prompt,
        # vLLM, where the prompt alone is longer than the window.
        r"max_(?:completion_)?tokens must be at least 1, got -",
        r"context (?:length|window|size)[^.\n]{0,40}? exceeded",
        r"(?:prompt|input|request|payload)[^.\n]{0,20}? (?:is )?too (?:long|large)",
        r"request_too_large|string too long|Payload Too Large|Request Entity Too Large|payload size exceeds",
    ),
    # Parameters that a model or a server does not take.
    *_patterns(_newer_limit, rf"max_tokens{_QUOTE} is not supported.{{0,60}}?max_completion_tokens"),
    *_patterns(
        _left_out(ParameterName.TEMPERATURE),
        rf"temperature{_QUOTE} (?:does not support|may only be|is deprecated|is not supported|must be|should be)",
        r"only the default \(1\) value is supported",
        r"invalid temperature",
    ),
    # How an answer is asked for.
    *_patterns(_any_tool, r"tool_choice[^.]{0,40}\. Supported string values: [^\n]{0,40}\brequired\b"),
    *_patterns(
        _no_forced_tool,
        rf"Invalid {_QUOTE}tool_choice",
        rf"(?:not support|support the provided|unsupported)[^.\n]{{0,30}} {_QUOTE}tool_choice",
        r"may not be enabled when tool_choice forces",
        r"tool_choice_not_supported",
        rf"{_QUOTE}tool_choice{_QUOTE}\].{{0,40}}?Input should be",
    ),
    *_patterns(
        _json_in_text,
        r"response_format type is unavailable",
        r"not support (?:this |the )?response[ _]format",
        r"only supports response formats",
        r"response_format parameter is unsupported",
        rf"response_format{_QUOTE} of type {_QUOTE}json_schema",
        r"failed to (?:parse|initialize) (?:grammar|samplers)",
        r"grammar (?:error|is not supported)",
        r"schema produces a constraint that has too many states",
    ),
    *_patterns(
        _no_tools,
        rf"(?:does not|doesn't|not) support {_QUOTE}{_ABOUT_TOOLS}\b",
        rf"{_ABOUT_TOOLS}{_QUOTE} (?:is|are) not (?:supported|enabled)",
        rf"No endpoints found that support {_QUOTE}{_ABOUT_TOOLS}\b",
    ),
    *_patterns(
        _changed_parameter,
        rf"\"body\", ?\"(?P<name>{_NAMES})\".{{0,80}}?(?:Extra inputs|not permitted)",
        rf"(?:un(?:supported|recogni[sz]ed|known|expected)|extra) [^.\n]{{0,60}}?\b(?P<name>{_NAMES})\b",
        rf"\b(?P<name>{_NAMES}){_QUOTE}:? [^.\n]{{0,40}}?(?:not (?:supported|permitted|allowed)|unsupported|unknown)",
    ),
    # A name or an address that is not there.
    *_patterns(_pulled, r"try pulling it first", r"model ['\"][^'\"\s]{1,200}['\"] not found"),
    *_patterns(
        _another_name,
        r"model \W?[^\s]{1,200} does not exist",
        r"is not a valid model",
        r"No endpoints found for ",
        r"Model Not Exist",
        r"Invalid model\b",
        r"\bmodels/[^\s]{1,200} is not found",
        r"DeploymentNotFound",
        r"API deployment for this resource does not exist",
        r"not_found_error\W{1,6}message\W{1,6}model:",
        r"No models? loaded",
        r"model[ _]not[ _]found",
    ),
    *_patterns(
        _another_address,
        r"Unexpected endpoint or method",
        r"404 page not found",
        r"File Not Found",
        r"Cannot POST /",
        r"\"detail\": ?\"Not Found",
        r"404:? Not Found",
        r"no Route matched",
    ),
    # LiteLLM's words where a server says what is wrong as it says an answer, such as LM Studio of an unknown address.
    *_patterns(_address_with_version, r"Error in response object"),
)
