"""What to set after a server's refusal, by its words: the table `server_hints.toml` says which words get which advice.

The words come from outside, so each pattern reads a text once, and of it a hint repeats nothing but numbers.
"""

import re
from functools import cache
from typing import Any

from msgspec import Struct

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.toml_values import toml_value

# What an address may end with beyond the part that is the same for all calls.
_END_OF_ADDRESS = re.compile(r"(?:/v1)?(?:/chat/completions|/completions|/messages)?$")
# Longer refusals say nothing more.
_READ = 8_000
_ASK_LIMIT = "ask.max_tokens"


class RefusedCall(Struct, frozen=True):
    """A call that a server refused. `limit` is the setting of its answer's length, `api_base` that of its address;
    `max_tokens` is how long an answer it wanted."""

    model: str
    limit: str
    max_tokens: int
    api_base: str | None = None


def _table() -> dict[str, Any]:
    return packaged_table(__package__, "server_hints")


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Each pattern with its parts filled in, in the order of the table, and the name of its advice; empty where the
    words name a parameter, whose advice it is."""
    found = []
    for hint in _table()["hints"]:
        for pattern in hint["patterns"]:
            for name, part in _table()["parts"].items():
                pattern = pattern.replace(f"<{name}>", part)
            found.append((re.compile(pattern, re.IGNORECASE), hint["advice"]))
    return found


def find_hint(words: str, call: RefusedCall) -> str:
    """What helps after a refusal in these words; empty where nothing is known."""
    # A body in JSON has them before its quotation marks.
    read = words[:_READ].replace("\\", "")
    for pattern, advice in _patterns():
        if found := pattern.search(read):
            return _advise(call, found, advice)
    return ""


def _advise(call: RefusedCall, found: re.Match[str], name: str) -> str:
    said = found.groupdict()
    advice = _table()["advice"][name or said.pop("parameter").lower()]
    text: str = advice["question"] if "question" in advice and call.limit == _ASK_LIMIT else advice["text"]
    return text.format(
        limit=call.limit,
        max_tokens=call.max_tokens,
        model=toml_value(call.model),
        name=call.model.partition("/")[2] or call.model,
        base=call.api_base or "an empty address",
        usual=toml_value(_usual_address(call)),
        listed=f"{call.api_base.rstrip('/')}/models" if call.api_base else "the provider",
        **{key: re.sub(r"\D", "", value) for key, value in said.items()},
    )


def _usual_address(call: RefusedCall) -> str:
    """The address as most servers have it. Anthropic's format has the version in the path that LiteLLM adds."""
    version = "" if call.model.startswith("anthropic/") else "/v1"
    return f"{_END_OF_ADDRESS.sub('', (call.api_base or '').rstrip('/'))}{version}"
