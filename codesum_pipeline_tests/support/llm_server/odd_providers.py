"""Ways in which providers and own servers behave, by name, with what each has to lead to.

A case is of one document that is asked about at most three times, by a run that repeats nothing by itself.
"""

import json
from dataclasses import dataclass
from typing import Any

from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome
from codesum_pipeline_tests.support.llm_server.behaviours import (
    ABSENT,
    Answers,
    Behaviour,
    Counts,
    Ends,
    Fails,
    Hangs,
    Resets,
    Says,
    Script,
    Sends,
)
from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest

GOOD, INVALID, FAILED = AttemptOutcome.GOOD, AttemptOutcome.INVALID, AttemptOutcome.FAILED
COUNTED, WORST, FREE = "counted", "worst", "free"
_ZEROS = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
_REFUSAL = "I cannot describe this code."


@dataclass(frozen=True)
class Case:
    """What a provider does with each request; then how many requests it gets, how each of them ends in the books, at
    which price, and what the message says."""

    behaviour: Behaviour
    calls: int
    outcome: AttemptOutcome
    failure: str | None
    price: str
    says: str = ""


def _error(message: str, **more: Any) -> Sends:
    return Sends(json.dumps({"error": {"message": message, **more}}))


CASES: dict[str, Case] = {
    "answers well": Case(Answers(), 1, GOOD, None, COUNTED),
    "no usage": Case(Counts(ABSENT), 1, GOOD, None, WORST),
    "usage null": Case(Counts(None), 1, GOOD, None, WORST),
    "usage of zeros": Case(Counts(_ZEROS), 1, GOOD, None, WORST),
    "usage of nulls": Case(Counts(dict.fromkeys(_ZEROS)), 1, GOOD, None, WORST),
    "usage without the answer's tokens": Case(Counts({"prompt_tokens": 9, "total_tokens": 9}), 1, GOOD, None, WORST),
    "usage with reasoning in the total alone": Case(
        Counts({"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 900}), 1, GOOD, None, COUNTED
    ),
    "usage of negative numbers": Case(Counts(dict.fromkeys(_ZEROS, -1)), 1, GOOD, None, WORST),
    "an orderly end before the answer": Case(Resets(), 1, FAILED, "connection", WORST),
    "a reset before the answer": Case(Resets(is_hard=True), 1, FAILED, "connection", WORST),
    "a reset inside the answer": Case(Resets(after_bytes=50, is_hard=True), 1, FAILED, "connection", WORST),
    "never answers": Case(Hangs(), 1, FAILED, "timeout", WORST, "no whole answer in"),
    "another language": Case(Sends("<html>", "text/html"), 1, FAILED, "unreadable", WORST),
    "524": Case(Fails(524), 1, FAILED, "timeout", WORST),
    "400": Case(Fails(400), 1, FAILED, "refused", FREE),
    "401": Case(Fails(401), 1, FAILED, "credentials", FREE),
    "403 by moderation": Case(Fails(403, "Your input was flagged by moderation"), 1, FAILED, "filtered", FREE),
    "403 of a firewall": Case(Fails(403, "Forbidden"), 1, FAILED, "refused", FREE),
    "403 of who may not": Case(Fails(403, "You do not have access to the model"), 1, FAILED, "credentials", FREE),
    "429": Case(Fails(429), 1, FAILED, "rate-limit", FREE),
    "a quota that is used up": Case(Fails(429, "insufficient_quota"), 1, FAILED, "credentials", FREE),
    "500": Case(Fails(500), 1, FAILED, "server", FREE),
    "an error inside a 200": Case(_error("Provider returned error", code=502), 1, FAILED, "server", FREE),
    "a limit inside a 200": Case(_error("slow down", code=429), 1, FAILED, "rate-limit", FREE),
    "a used-up quota inside a 200": Case(
        _error("no", code="insufficient_quota", type="insufficient_quota"), 1, FAILED, "credentials", FREE,
        "insufficient_quota: no",
    ),
    "a code in quotes inside a 200": Case(_error("bad gateway", code="502"), 1, FAILED, "server", FREE),
    "a busy server inside a 200": Case(_error("slow down", type="rate_limit_error"), 1, FAILED, "rate-limit", FREE),
    "words in place of an answer": Case(
        Sends('{"error": "the model crashed"}'), 1, FAILED, "refused", FREE, "the model crashed"
    ),
    "an error inside a choice": Case(
        Ends("error", {"content": ""}, {"error": {"code": 502, "message": "upstream died"}}),
        1, INVALID, "error-in-answer", COUNTED, "its server broke off with an error: upstream died",
    ),
    "cut": Case(
        Ends("length", {"content": '{"purpose": "Adds'}), 1, INVALID, "cut-off", COUNTED,
        "was cut at llm.max_tokens = 2048",
    ),
    "cut while it reasons": Case(
        Ends("length", {"reasoning_content": "Hm. {}"}), 1, INVALID, "cut-off", COUNTED,
        "tokens, all of them spent on reasoning: raise llm.max_tokens",
    ),
    "cut by a full context": Case(
        Ends("model_length", {"content": '{"purpose": "Adds'}), 1, INVALID, "cut-off", COUNTED,
        "if that filled its context, lower llm.max_prompt_chars",
    ),
    "a server that breaks off": Case(
        Ends("insufficient_system_resource", {}), 1, INVALID, "error-in-answer", COUNTED,
        "its server broke off with an error",
    ),
    "a filter inside an object": Case(
        Ends("content_filter", {"content": '{"purpose": "Adds'}), 1, INVALID, "filtered", COUNTED,
        "way out: another model (llm.model)",
    ),
    "a refusal beside words": Case(
        Ends("stop", {"content": "Sorry.", "refusal": _REFUSAL}), 1, INVALID, "model-refused", COUNTED,
        f"to answer: {_REFUSAL}",
    ),
    "a filter": Case(Ends("content_filter", {}), 1, INVALID, "filtered", COUNTED, "a filter of its provider ended"),
    "a refusal": Case(
        Ends("stop", {"refusal": _REFUSAL}), 1, INVALID, "model-refused", COUNTED,
        f"to answer: {_REFUSAL}",
    ),
    "empty": Case(Says(""), 3, INVALID, "unusable-answer", COUNTED),
}  # fmt: skip


def answers_only(*forms: str, refuses: Behaviour | None = None) -> Script:
    """A server that answers well in these forms; in others in prose, or as `refuses` does."""

    def script(request: ModelRequest) -> Behaviour:
        return Answers() if request.form in forms else (refuses or Says("The function adds up prices."))

    return script
