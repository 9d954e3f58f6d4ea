"""What servers say when they refuse a call, word for word, and the setting that helps."""

import json
import re
import time
import tomllib

import pytest

from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.server_hints import RefusedCall, find_hint

INDEXING = RefusedCall("openai/fast", "llm.max_tokens", 2048, "http://127.0.0.1:8000/v1")
ASKING = RefusedCall("openai/fast", "ask.max_tokens", 4096, "http://127.0.0.1:8000/v1")

ANSWERS_TOO_LONG = {
    "OpenAI": (
        "max_tokens is too large: 6000. This model supports at most 4096 completion tokens, whereas you provided 6000.",
        "= 4096 or less",
    ),
    "Anthropic": (
        "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307",
        "= 4096 or less",
    ),
    "Groq": (
        "`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the "
        "`context_window` for this model",
        "= 16384 or less",
    ),
    "DeepSeek": ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", "= 8192 or less"),
    "DashScope": (
        "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
        "= 8192 or less",
    ),
    "Ark": (
        "The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, "
        "expected a value <= 12288, but got 32000 instead. Request id: 021775",
        "= 12288 or less",
    ),
    "Bedrock": (
        "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that "
        "is lower than 4096.",
        "= 4096 or less",
    ),
    "Gemini": (
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 "
        "(inclusive) to 8193 (exclusive). Update the value and try again.",
        "to less than 8193",
    ),
    "Mistral": (
        '{"detail":[{"type":"less_than_equal","loc":["body","max_tokens"],"msg":"Input should be less than or equal to '
        '32768","input":100000}]}',
        "= 32768 or less",
    ),
}
# With the window.
PROMPTS_TOO_LONG = {
    "OpenAI, Azure and DeepSeek": (
        "This model's maximum context length is 8192 tokens. However, you requested 8256 tokens (64 in the messages, "
        "8192 in the completion). Please reduce the length of the messages or completion.",
        8192,
    ),
    "OpenAI, the prompt alone": (
        "This model's maximum context length is 4097 tokens. However, your messages resulted in 192871 tokens. Please "
        "reduce the length of the messages.",
        4097,
    ),
    "OpenRouter": (
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (12000 of "
        "text input, 128000 in the output). Please reduce the length of either one",
        131072,
    ),
    "vLLM": (
        "'max_tokens' or 'max_completion_tokens' is too large: 64000. This model's maximum context length is 64001 "
        "tokens and your request has 24235 input tokens (64000 > 64001 - 24235). None",
        64001,
    ),
    "vLLM, newer": (
        "This model's maximum context length is 262144 tokens. However, you requested 128000 output tokens and your "
        "prompt contains at least 134145 input tokens, for a total of at least 262145 tokens. Please reduce the length "
        "of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=134145)",
        262144,
    ),
    "Anthropic": ("prompt is too long: 208310 tokens > 200000 maximum", 200000),
    "Anthropic, with the answer": (
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or "
        "`max_tokens` and try again",
        200000,
    ),
    "Gemini": (
        "The input token count (2845475) exceeds the maximum number of tokens allowed (1048576).",
        1048576,
    ),
    "Mistral": (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        32768,
    ),
    "SGLang": ("The input (61709 tokens) is longer than the model's context length (40960 tokens).", 40960),
    "SGLang, with the answer": (
        "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of "
        "40000 tokens: 20000 tokens from the input messages and 20000 tokens for the completion.",
        32768,
    ),
    "SGLang, its memory": (
        "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input.",
        59862,
    ),
    "TGI": (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1887 `inputs` tokens and "
        "1024 `max_new_tokens`",
        2048,
    ),
    "TGI, the prompt alone": (
        "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
        4096,
    ),
    "llama.cpp": (
        "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it",
        8192,
    ),
    "llama.cpp, older": (
        '{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context '
        'size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}',
        8192,
    ),
    "LM Studio": ("Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", 7424),
    "LM Studio, older": (
        "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context "
        "length of only 32768 tokens, which is not enough. Try to load the model with a larger context length, or "
        "provide a shorter input. Error Data: n/a, Additional Data: n/a",
        32768,
    ),
    "llama-cpp-python": ("Requested tokens (5085) exceed context window of 4096", 4096),
    "xAI": (
        "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
        131072,
    ),
}
PROMPTS_TOO_LONG_BY_AN_UNKNOWN_NUMBER = {
    "Bedrock": "Input is too long for requested model.",
    "vLLM, a prompt longer than the window": "max_tokens must be at least 1, got -500.",
    "Together": "Input validation error: context length exceeded",
    "Anthropic, bytes": '{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum"}}',
    "OpenAI, characters": "Invalid 'messages[1].content': string too long. Expected at most 1048576 characters.",
    "a proxy": "<html><head><title>413 Request Entity Too Large</title></head>",
    "OpenAI": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Groq": '{"error":{"message":"Please reduce the length of the messages or completion.","type":'
    '"invalid_request_error","param":"messages","code":"context_length_exceeded"}}',
    "LM Studio": "The number of tokens to keep from the initial prompt is greater than the context length. Try to load "
    "the model with a larger context length, or provide a shorter input",
}
PARAMETERS = {
    "OpenAI and Azure, max_tokens": (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        {"max_tokens": "max_completion_tokens"},
    ),
    "Mistral and others, a temperature of 0": ("temperature must be in (0, 1]", {"temperature": False}),
    "OpenAI, a temperature": (
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        {"temperature": False},
    ),
    "OpenAI, any temperature": (
        "Unsupported parameter: 'temperature' is not supported with this model.",
        {"temperature": False},
    ),
    "Anthropic, thinking": (
        "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://"
        "docs.anthropic.com/en/docs/build-with-claude/extended-thinking",
        {"temperature": False},
    ),
    "Anthropic, newer": ("`temperature` is deprecated for this model.", {"temperature": False}),
    "Moonshot": ("invalid temperature: only 1 is allowed for this model", {"temperature": False}),
    "Mistral, stream_options": (
        '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options",'
        '"include_usage"],"msg":"Extra inputs are not permitted","input":true}]},"type":"invalid_request_error"}',
        {"stream_options": False},
    ),
    "Mistral, max_completion_tokens": (
        '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":'
        '"Extra inputs are not permitted","input":32000}]},"type":"invalid_request_error","param":null,"code":null}',
        {"max_tokens": "max_tokens"},
    ),
    "Azure, older": ("Unrecognized request argument supplied: stream_options", {"stream_options": False}),
    "NIM": ("Unsupported parameter(s): `stream_options`", {"stream_options": False}),
    "Cohere": ("unknown field: parameter 'stream_options' is not a valid field", {"stream_options": False}),
}
NO_TOOLS = {
    "Ollama": "registry.ollama.ai/library/deepseek-r1:14b does not support tools",
    "DeepSeek": "deepseek-reasoner does not support Function Calling",
    "Gemini": "Function calling is not enabled for models/gemma-3-27b-it",
    "Groq": "`tool calling` is not supported with this model",
    "OpenRouter": "No endpoints found that support tool use. To learn more about provider routing, visit: https://"
    "openrouter.ai/docs/provider-routing",
}
NO_FORCED_TOOL = {
    "DeepSeek": "deepseek-reasoner does not support this tool_choice",
    "DeepSeek, thinking": "Thinking mode does not support this tool_choice",
    "OpenRouter": "No endpoints found that support the provided 'tool_choice' value. To learn more about provider "
    "routing, visit: https://openrouter.ai/docs/provider-routing",
    "Anthropic": "Thinking may not be enabled when tool_choice forces tool use.",
    "Mistral": "{'detail': [{'type': 'enum', 'loc': ['body', 'tool_choice'], 'msg': \"Input should be 'auto', 'none' "
    "or 'any'\", 'input': {'type': 'function'}}]}",
    "vLLM, older": '{"detail":[{"type":"extra_forbidden","loc":["body","tool_choice"],"msg":"Extra inputs are not '
    'permitted"}]}',
}
NO_SCHEMA = {
    "DeepSeek": "This response_format type is unavailable now",
    "Groq": "This model does not support response format `json_schema`. See supported models at https://console.groq."
    "com/docs/structured-outputs#supported-models",
    "xAI": "The response_format parameter is unsupported at the moment. Leave it unset.",
    "OpenAI": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more",
    "Groq, speech": "The model only supports response formats: [json text].",
    "llama.cpp": "Failed to initialize samplers: failed to parse grammar",
    "Gemini": "The specified schema produces a constraint that has too many states for serving.",
    "Mistral": '{"detail":[{"loc":["body","response_format"],"msg":"Extra inputs are not permitted"}]}',
}
SERVER_OPTIONS = {
    "llama.cpp": ("tools param requires --jinja flag", "--jinja"),
    "llama.cpp, older": ("Unsupported param: tools", "--jinja"),
    "vLLM and NIM": (
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "--enable-auto-tool-choice --tool-call-parser",
    ),
    "vLLM, required": (
        'tool_choice="required" requires --tool-call-parser to be set',
        "--enable-auto-tool-choice --tool-call-parser",
    ),
    "Gemma's template": ("System role not supported", "--chat-template"),
}
NO_SUCH_MODEL = {
    "vLLM": "The model `Qwen1.5-14B-Chat-GPTQ-Int8` does not exist.",
    "OpenAI and Groq": "The model `llama-9` does not exist or you do not have access to it.",
    "OpenRouter": "openai/gpt-99 is not a valid model ID",
    "OpenRouter, no provider": "No endpoints found for nousresearch/hermes-3-llama-3.1-405b:free.",
    "DeepSeek": "Model Not Exist",
    "Mistral": "Invalid model: mistral-huge",
    "Gemini": "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.",
    "Azure": "The API deployment for this resource does not exist.",
    "Anthropic": '{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}',
    "LM Studio": "No models loaded. Please load a model in the developer page or use the `lms load` command.",
}
NO_SUCH_ADDRESS = {
    "Ollama": "404 page not found",
    "vLLM, SGLang and TGI": '{"detail":"Not Found"}',
    "llama.cpp": '{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}',
    "LM Studio": "Unexpected endpoint or method. (POST /chat/completions)",
    "nginx": "<html><head><title>404 Not Found</title></head>",
    "Express": "Cannot POST /chat/completions",
}


def hints(words: str, call: RefusedCall = INDEXING) -> list[str]:
    """The hints after words alone, in an error of LiteLLM, and in a body of JSON."""
    body = json.dumps({"error": {"message": words, "type": "invalid_request_error", "code": 400}})
    found = [find_hint(f"{before}{each}", call) for before in ("", _BEFORE) for each in (words, body)]
    assert len(set(found)) == 1, found
    return found


_BEFORE = "litellm.BadRequestError: OpenAIException - "


@pytest.mark.parametrize(("words", "most"), ANSWERS_TOO_LONG.values(), ids=ANSWERS_TOO_LONG)
@pytest.mark.parametrize("call", [INDEXING, ASKING], ids=["indexing", "asking"])
def test_too_large_a_limit_of_answers_is_answered_by_its_setting_and_number(
    words: str, most: str, call: RefusedCall
) -> None:
    assert hints(words, call)[0] == f"set {call.limit} {most}"


@pytest.mark.parametrize(("words", "window"), PROMPTS_TOO_LONG.values(), ids=PROMPTS_TOO_LONG)
def test_too_long_a_prompt_is_answered_by_the_settings_and_what_the_server_takes(words: str, window: int) -> None:
    assert hints(words)[0] == (
        f"lower llm.max_prompt_chars or llm.max_tokens (now 2048): prompt and answer together may have {window} "
        "tokens; or take a larger context"
    )


@pytest.mark.parametrize(
    "words", PROMPTS_TOO_LONG_BY_AN_UNKNOWN_NUMBER.values(), ids=PROMPTS_TOO_LONG_BY_AN_UNKNOWN_NUMBER
)
def test_too_long_a_prompt_without_a_number_is_answered_by_the_settings(words: str) -> None:
    assert "lower llm.max_prompt_chars or llm.max_tokens (now 2048)" in hints(words)[0]


def test_too_many_tokens_a_minute_are_answered_by_the_rate_and_the_prompt() -> None:
    words = (
        "Request too large for model `llama-3.1-8b-instant` in organization `org_1` service tier `on_demand` on tokens "
        "per minute (TPM): Limit 6000, Requested 7520, please reduce your message size and try again."
    )

    assert find_hint(words, INDEXING) == (
        "set llm.tokens_per_minute = 6000, and llm.max_prompt_chars to at most twice that number"
    )


def test_an_answer_that_reasoning_used_up_is_answered_by_a_higher_limit() -> None:
    words = "Could not finish the message because max_tokens or model output limit was reached."

    assert hints(words, ASKING)[0] == "raise ask.max_tokens (now 4096)"


@pytest.mark.parametrize(("words", "changes"), PARAMETERS.values(), ids=PARAMETERS)
def test_a_parameter_that_is_not_taken_is_answered_by_settings_that_can_be_pasted(
    words: str, changes: dict[str, object]
) -> None:
    hint = find_hint(words, INDEXING)

    pasted = tomllib.loads(hint.removeprefix("set "))["llm"]
    assert pasted == {"parameters": {"openai/fast": changes}}
    LlmSettings(model="openai/fast", **pasted)
    assert hints(words, ASKING)[0] == hint


@pytest.mark.parametrize("words", [*NO_TOOLS.values(), *NO_FORCED_TOOL.values()], ids=[*NO_TOOLS, *NO_FORCED_TOOL])
def test_a_model_that_cannot_be_made_to_call_a_tool_is_answered_by_another_form(words: str) -> None:
    found = re.search(r'set llm\.form = "(\w+)"', hints(words)[0])

    assert found is not None
    assert LlmSettings(form=found[1]).form == "json_schema"


@pytest.mark.parametrize("words", NO_TOOLS.values(), ids=NO_TOOLS)
def test_asking_a_model_without_tools_is_answered_by_another_model(words: str) -> None:
    assert hints(words, ASKING)[0] == "`codesum ask` needs a model that can call tools: set llm.model to one"


@pytest.mark.parametrize("words", NO_FORCED_TOOL.values(), ids=NO_FORCED_TOOL)
def test_a_refused_choice_of_tools_is_left_out_when_asking(words: str) -> None:
    assert hints(words, ASKING)[0] == 'set llm.parameters = { "openai/fast" = { "tool_choice" = false } }'


def test_a_server_that_takes_any_tool_but_no_named_one_is_asked_for_any() -> None:
    lm_studio = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"

    assert hints(lm_studio)[0] == 'set llm.form = "required"'
    assert hints(lm_studio, ASKING)[0] == 'set llm.parameters = { "openai/fast" = { "tool_choice" = false } }'


@pytest.mark.parametrize("words", NO_SCHEMA.values(), ids=NO_SCHEMA)
def test_a_refused_response_format_is_answered_by_json_in_text(words: str) -> None:
    assert hints(words)[0] == 'set llm.form = "json_text"'


@pytest.mark.parametrize(("words", "option"), SERVER_OPTIONS.values(), ids=SERVER_OPTIONS)
def test_what_a_server_needs_to_be_started_with_is_named(words: str, option: str) -> None:
    assert hints(words)[0].startswith("start the server with ")
    assert option in hints(words, ASKING)[0]


@pytest.mark.parametrize("words", NO_SUCH_MODEL.values(), ids=NO_SUCH_MODEL)
def test_a_name_that_the_server_does_not_have_is_answered_by_where_its_names_are(words: str) -> None:
    assert hints(words)[0] == (
        'correct "openai/fast" (llm.model or llm.fallback_models): take a name that '
        "http://127.0.0.1:8000/v1/models lists"
    )


@pytest.mark.parametrize(
    "words",
    ["model 'llama2' not found, try pulling it first", 'model "llama2" not found, try pulling it first',
     "model 'deepseek-r1:8b' not found"],
)  # fmt: skip
def test_a_model_that_ollama_does_not_have_is_pulled(words: str) -> None:
    assert hints(words)[0].startswith("`ollama pull fast`, or set llm.model")


@pytest.mark.parametrize("words", NO_SUCH_ADDRESS.values(), ids=NO_SUCH_ADDRESS)
@pytest.mark.parametrize(
    "base", ["http://127.0.0.1:1234", "http://127.0.0.1:1234/", "http://127.0.0.1:1234/v1/chat/completions"]
)
def test_an_address_where_nothing_answers_is_answered_by_the_usual_one(words: str, base: str) -> None:
    call = RefusedCall("openai/fast", "llm.max_tokens", 2048, base)

    assert hints(words, call)[0].startswith('set llm.api_base = "http://127.0.0.1:1234/v1"')


def test_anthropics_format_has_the_version_in_its_path() -> None:
    call = RefusedCall("anthropic/own", "llm.max_tokens", 2048, "http://127.0.0.1:8000/v1")

    assert find_hint('{"detail":"Not Found"}', call).startswith('set llm.api_base = "http://127.0.0.1:8000", or')


@pytest.mark.parametrize(
    "words",
    [
        "",
        "no",
        "Internal Server Error",
        "The server had an error while processing your request. Sorry about that!",
        "You exceeded your current quota, please check your plan and billing details.",
        "Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000",
        "Invalid value: 'texture'. Supported values are: 'text', 'json'",
        "The temperature in the room is 20 degrees, and the tools are in the shed.",
    ],
)
def test_other_words_get_no_hint(words: str) -> None:
    assert hints(words) == [""] * 4


@pytest.mark.parametrize("part", ["tool_choice", "tokens", "model '", "(", "unsupported ", "1", "\\", '"body", "'])
def test_a_hint_is_found_in_hostile_words_in_time_that_grows_with_their_length(part: str) -> None:
    started = time.process_time()
    find_hint(part * (1_000_000 // len(part)), INDEXING)

    assert time.process_time() - started < 5


def test_nothing_of_a_servers_words_but_numbers_is_in_a_hint() -> None:
    words = (
        "max_tokens: 8192 > 4096, which is the maximum allowed number; model 'rm -rf' not found, try pulling it first"
    )

    assert find_hint(words, INDEXING) == "set llm.max_tokens = 4096 or less"
    assert "rm" not in find_hint("model 'rm -rf' not found, try pulling it first", INDEXING)
