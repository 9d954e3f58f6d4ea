"""What a good model would answer: a valid answer, as a pure function of the request.

Its words are drawn by a hash of all that was said before any repair, so that
another prompt, model or template is answered in other words.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest, Wire

_VERBS = ("collects", "compares", "converts", "counts", "filters", "joins", "orders", "parses", "renders", "stores")
_THINGS = ("amounts", "entries", "fields", "lines", "messages", "orders", "pages", "prices", "reports", "rows")
_ENDS = ("for a later step", "for the caller", "for the report", "in one pass", "with the limits kept")
_PIECE = re.compile(r"^<<<(\w+) ([0-9a-f]+)\n(.*?)\n\2 \1>>>$", re.MULTILINE | re.DOTALL)
_NUMBERED = re.compile(r"^(\d+)\|", re.MULTILINE)
_CHILD = re.compile(r"^- (.+?)(?: \(|:|$)", re.MULTILINE)
_MOST_CHILDREN = 8


def answer_of(request: ModelRequest) -> dict[str, Any]:
    """Return the arguments of a tool call that the schema of the request and the checks behind it accept."""
    draw = _Draw(request)
    fields = request.schema.get("properties", {})
    return _function_answer(draw, request.prompt) if "purpose" in fields else _upper_answer(draw, request.prompt)


class _Draw:
    """Words drawn one after another, the same ones for the same request."""

    def __init__(self, request: ModelRequest) -> None:
        self._digest = hashlib.sha256("\0".join((request.model, request.system, request.prompt)).encode()).digest()
        self._next = 0

    def of(self, words: tuple[str, ...]) -> str:
        byte = self._digest[self._next % len(self._digest)]
        self._next += 1
        return words[byte % len(words)]

    def sentence(self) -> str:
        verb = self.of(_VERBS)
        return f"{verb.capitalize()} the given {self.of(_THINGS)} by their {self.of(_THINGS)} {self.of(_ENDS)}."

    def keywords(self) -> list[str]:
        return sorted({self.of(_THINGS), self.of(_VERBS), "shop", "checkout", "loopback"})


def _function_answer(draw: _Draw, prompt: str) -> dict[str, Any]:
    numbers = [int(number) for number in _NUMBERED.findall(_piece("source", prompt))]
    first, last = min(numbers, default=1), max(numbers, default=1)
    return {
        "purpose": draw.sentence(),
        "business_intent": f"Keeps the {draw.of(_THINGS)} of a shop in order.",
        "keywords": draw.keywords(),
        "inputs": [],
        "returns": {
            "type": "object",
            "type_summary": f"the {draw.of(_THINGS)} found",
            "details": f"What was found among the {draw.of(_THINGS)}, in order.",
        },
        "side_effects": [f"reads the {draw.of(_THINGS)} it is given"],
        "invariants": None,
        "citations": [
            {"field": name, "start_line": first, "end_line": last} for name in ("purpose", "returns", "side_effects")
        ],
    }


def _upper_answer(draw: _Draw, prompt: str) -> dict[str, Any]:
    children = list(dict.fromkeys(_CHILD.findall(_piece("children", prompt))))[:_MOST_CHILDREN]
    return {
        "summary": draw.sentence(),
        "business_intent": f"Keeps the {draw.of(_THINGS)} of a shop in order.",
        "keywords": draw.keywords(),
        "responsibilities": [
            {"text": f"{draw.of(_VERBS).capitalize()} the {draw.of(_THINGS)}.", "children": [child]}
            for child in children
        ],
    }


def _piece(label: str, prompt: str) -> str:
    """What stands between the markers of one label."""
    return "\n".join(text for found, _, text in _PIECE.findall(prompt) if found == label)


def usage_of(request: ModelRequest, answer: str) -> Mapping[str, int]:
    """About what a provider would count, four characters a token; a marked prefix is written, then read.

    In OpenAI's format nothing is counted for writing.
    """
    characters = len(request.system) + sum(len(str(turn)) for turn in request.turns)
    kept = len(request.system) // 4 if "system" in request.cache_marks else 0
    is_first, is_counted = request.number == 1, request.wire is Wire.ANTHROPIC
    return {
        "prompt": characters // 4 + 1,
        "cached": 0 if is_first else kept,
        "written": kept if is_first and is_counted else 0,
        "completion": len(answer) // 4 + 1,
    }
