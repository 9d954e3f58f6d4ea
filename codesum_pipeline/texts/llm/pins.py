"""A pinned request: everything that an answer may depend on, and a hash of it.

A request that differs in nothing has the same hash, on any machine and at any
time, so that an answer can be recorded and found again. That holds for
summaries and for conversations in which a model may call tools.
"""

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NoReturn

from blake3 import blake3
from msgspec import Struct
from msgspec.structs import asdict

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.hashing import canonical_json

# Keeps these hashes apart from any other use of BLAKE3 over the same bytes.
_DOMAIN = "codesum.llm.summary.request.v1"
# The claim of an answer that calls another tool begins so.
CALL_OF = "[call of "


class AnswerForm(StrEnum):
    """How a model is made to answer in the schema: a call of the tool that is named, a call of any tool (there is one),
    a response format, or JSON in its text.

    `TEXT` has no schema: the answer is the text as it comes.
    """

    TOOL = "tool"
    REQUIRED = "required"
    JSON_SCHEMA = "json_schema"
    JSON_TEXT = "json_text"
    TEXT = "text"


# From the most to the least certain to give an answer in the schema: where a server cannot do one, the next is tried.
_LADDER = (AnswerForm.TOOL, AnswerForm.REQUIRED, AnswerForm.JSON_SCHEMA, AnswerForm.JSON_TEXT)


def forms_from(first: AnswerForm) -> tuple[AnswerForm, ...]:
    """A form with a schema, and those that are tried after it, in their order."""
    return _LADDER[_LADDER.index(first) :]


# Forms in which the answer is a call of a tool.
CALLING_FORMS = (AnswerForm.TOOL, AnswerForm.REQUIRED)


class AnswerEnd(StrEnum):
    """Why an answer ended: it was complete, at its most tokens, stopped by a filter of its provider, refused by the
    model, or by an error of the server."""

    STOP = "stop"
    LENGTH = "length"
    FILTERED = "filtered"
    REFUSED = "refused"
    ERROR = "error"


# The failure of an attempt whose answer ended so.
FAILURES_BY_END = {
    AnswerEnd.LENGTH: "cut-off",
    AnswerEnd.FILTERED: "filtered",
    AnswerEnd.REFUSED: "model-refused",
    AnswerEnd.ERROR: "error-in-answer",
}


# The name of a parameter, and the one under which it is sent; empty: it is left out.
Changes = tuple[tuple[str, str], ...]


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """What a request says to a model besides its messages. `changes` are of the setting `llm.parameters`."""

    temperature: float = 0.0
    max_tokens: int = 2048
    form: AnswerForm = AnswerForm.TOOL
    changes: Changes = ()


class SummaryRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """One call.

    `sources` are the user's turn, then, for a repair, each answer as it came
    and what was wrong with it, in turns. `prompt_template_blake3` covers the
    system template and the instruction template of the level; `schema_blake3`
    the bytes of the answer's schema. `max_output_bytes` bounds the answer.
    `job_id` names the job that an answer is evidence for, as in compaction; it
    is None when indexing, and of a digest.
    """

    level: Level
    model_name: str
    prompt_template_blake3: str
    schema_blake3: str
    parameters: Parameters
    sources: tuple[str, ...]
    max_output_bytes: int | None = None
    job_id: str | None = None

    @property
    def is_strict(self) -> bool:
        """Whether the answer must come under the pinned name byte for byte, and at once: that of a job."""
        return self.job_id is not None

    @property
    def max_tokens(self) -> int:
        """The most tokens of an answer."""
        return self.parameters.max_tokens

    @property
    def request_hash(self) -> str:
        """BLAKE3 over the canonical JSON of the fields, with a domain of its own."""
        fields = asdict(self) | asdict(self.parameters) | {"domain": _DOMAIN}
        del fields["parameters"]
        return _hash_of(fields)


class TokenUsage(Struct, frozen=True, forbid_unknown_fields=True):
    """What a provider says it counted; `cached_tokens` are those of `prompt_tokens` that its cache held."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0


class SummaryResponse(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer as it came: `claim` is the tool call's arguments or the text, not yet read.

    `has_tool_call` says which; a call of another tool is written as text.
    `model_name_echoed` is the name under which the provider says it answered.
    `cost_usd` is None if neither LiteLLM's list nor the settings have a price, or the server counted no tokens.
    `ended` says why it ended; of a refusal the claim has the words. `has_reasoning`: the model wrote down how it
    thought.
    """

    claim: str
    has_tool_call: bool
    usage: TokenUsage | None
    model_name_echoed: str
    cost_usd: float | None = None
    ended: AnswerEnd = AnswerEnd.STOP
    has_reasoning: bool = False


def blake3_of(text: str) -> str:
    """`blake3:` and the lowercase hex digest of the UTF-8 bytes."""
    return f"blake3:{blake3(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _hash_of(fields: dict[str, Any]) -> str:
    """A hash of a request's fields; where nothing is changed it is that of the versions that had no changes."""
    return blake3_of(canonical_json({name: value for name, value in fields.items() if name != "changes" or value}))


def refuse_constant(name: str) -> NoReturn:
    """Raise at NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(f"{name} is no JSON")


def parse_json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is; None if it is none."""
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_CHAT_DOMAIN = "codesum.llm.chat.request.v1"


class ToolChoice(StrEnum):
    """Whether the model may call tools in its next message."""

    AUTO = "auto"
    NONE = "none"


class ToolCall(Struct, frozen=True, forbid_unknown_fields=True):
    """One call as the model wrote it: `arguments` is its JSON, not yet read."""

    id: str
    name: str
    arguments: str


class ChatRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The next message of a conversation. `messages` and `tools` are in OpenAI's format, the system prompt first."""

    model_name: str
    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: ToolChoice = ToolChoice.AUTO
    max_tokens: int = 4096
    temperature: float = 0.0
    changes: Changes = ()

    # An echo with a date is the pinned model, as when indexing.
    is_strict = False

    @property
    def request_hash(self) -> str:
        """BLAKE3 over the canonical JSON of the fields, with a domain of its own."""
        return _hash_of(asdict(self) | {"domain": _CHAT_DOMAIN})

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is sent, for counting tokens."""
        return tuple(canonical_json(part) for part in (*self.messages, *self.tools))


class ChatResponse(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole message of the model. `cost_usd` is None if the price or the tokens are not known.

    The text of a refusal are its words.
    """

    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    usage: TokenUsage | None
    model_name_echoed: str
    cost_usd: float | None = None
    ended: AnswerEnd = AnswerEnd.STOP


OnText = Callable[[str], None]
