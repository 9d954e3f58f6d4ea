"""The object that a model meant as its answer, in what it wrote.

Models and servers wrap the object that was asked for. Every object in an answer is tried, as it stands, and none is
completed or guessed:

| an answer | is read as |
|---|---|
| JSON, with raw line ends and tabs in its strings | the object |
| a comma behind the last entry; `None`, `True` and `False` as Python writes them | the object |
| a fence, a tag or prose around it; a `}` or other text behind it | the object inside |
| JSON in a string, up to three times, with or without the outer quotes | the object in the string |
| `{"arguments": …}`, `{"name": …, "parameters": …}`, a list, any object around it | the object inside |
| `<tool_call>`, `[TOOL_CALLS]`, `<function=NAME>`, `<|python_tag|>` and JSON | the object inside |
| `<function=NAME><parameter=FIELD>…</parameter></function>` and the like, closed | an object of these fields |
| reasoning and its closing tag | what follows the tag |
| reasoning without a closing tag | the object, if it is the last word |
| a call that names another tool | nothing |
| JSON that ends too early | only what is complete in it |
| a key twice with different values, NaN, Infinity | nothing |

An object is the answer if it passes the check, and if no other one passes with another content. One that stands in what
the model was shown never is: code may hold one that was put there to be taken for an answer, and small models repeat
the worked examples of a prompt.

The time of a search is bounded, whatever the text is: one that is made to be slow is given up.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import accumulate
from typing import Any

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.texts.llm.answer_shapes import find_tool
from codesum_pipeline.texts.llm.pins import refuse_constant

Visit = Callable[[dict[str, Any]], bool]

# A string in an object in a string: no server was seen to encode an answer more often.
_MOST_LAYERS = 4
# Characters that are read in vain: from each brace up to the place where it turns out to begin no object.
_MOST_READ_IN_VAIN = 2_000_000
_LINES_FASTER_BY = 64
_SCANNED_SLOWER_BY = 8
_PATTERNS = {
    name: re.compile(pattern) for name, pattern in packaged_table(__package__, "answer_marks")["patterns"].items()
}
_ENCODED = r"\{(?=(?:\s|\\+[nrt])*+\\+\")"
_OBJECT = re.compile(rf"\{{(?=\s*+[\"}}])|(?P<encoded>{_ENCODED})")
_ENCODED_AGAIN = re.compile(_ENCODED)
_IN_A_STRING = re.compile(r"(?:[^\"\\]|\\.)*+", re.DOTALL)
_WORDS = {"None": "null", "True": "true", "False": "false"}
_NAME_KEYS = ("name", "tool_name", "function_name", "recipient_name", "tool", "function")
_ARGUMENT_KEYS = frozenset(("arguments", "parameters", "args", "input", "kwargs"))
_LONGEST_NAME = 120


def visit_objects(claim: str, tool: str, visit: Visit) -> None:
    """Show `visit` each object of an answer, the outer one before those in it. It returns whether the object is the
    answer: then nothing inside of it is looked at. Raises `RecursionError` where braces are nested too deeply."""
    for is_lenient in (False, True) if _PATTERNS["may_be_not_quite"].search(claim) else (False,):
        search = _Search(tool, visit, is_lenient=is_lenient)
        search.look_into_text(claim, 0)
        if search.has_found:
            return


def decode_json(text: str) -> Any:
    """The value of a text that is JSON as a whole; raises `ValueError` and `RecursionError`."""
    return _DECODER.decode(text)


def begins_with_call(text: str) -> bool:
    """Whether a text, behind its reasoning, begins like a call of a tool that a server did not read."""
    reasoning = max((tag.end() for tag in _PATTERNS["reasoning_ends"].finditer(text)), default=0)
    return _PATTERNS["call_begins"].match(text, reasoning) is not None


def is_empty_call(value: Mapping[str, Any]) -> bool:
    """Whether an object is a call of a tool without any arguments."""
    arguments = [part for key, part in value.items() if key in _ARGUMENT_KEYS]
    return arguments in ([{}], ["{}"], [""], [None]) and value.keys() <= {*_ARGUMENT_KEYS, *_NAME_KEYS, "id", "type"}


class _Search:
    def __init__(self, tool: str, visit: Visit, *, is_lenient: bool) -> None:
        self.has_found = False
        self._is_lenient = is_lenient
        self._tool = tool
        self._visit = visit
        self._left = _MOST_READ_IN_VAIN

    def look_into_text(self, text: str, layer: int) -> None:
        waiting = list(self._values_in(text))[::-1]
        while waiting:
            value = waiting.pop()
            if isinstance(value, list):
                waiting += reversed(value)
            elif isinstance(value, str):
                if "{" in value and layer < _MOST_LAYERS:
                    self.look_into_text(value, layer + 1)
            elif isinstance(value, dict) and not self._calls_another(value):
                if self._visit(value):
                    self.has_found = True
                else:
                    waiting += reversed(value.values())

    def _calls_another(self, value: Mapping[str, Any]) -> bool:
        """Whether an object is a call of another tool."""
        name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
        return name is not None and not value.keys().isdisjoint(_ARGUMENT_KEYS) and not self._is_tool(name)

    def _is_tool(self, name: str) -> bool:
        return find_tool(name, (self._tool,)) is not None

    def _values_in(self, text: str) -> Iterator[Any]:
        """The whole text as JSON; else each object in it that is in no other one, behind all reasoning."""
        try:
            yield decode_json(text)
        except ValueError:
            spans = sorted([*self._spans(text), *self._tagged(text)], key=lambda span: span[:2])
            free = _Outside(spans)
            reasoning = free.last_end(_PATTERNS["reasoning_ends"], text, 0)
            if free.last_end(_PATTERNS["reasoning_begins"], text, reasoning) and _goes_on(text, max(free.ends)):
                return
            yield from (value for start, _, value in spans if start >= reasoning)

    def _spans(self, text: str) -> Iterator[tuple[int, int, Any]]:
        """Each complete object in a text, with its place; where it is written as in a string, that string."""
        begin = _OBJECT.search(text)
        while begin and self._left > 0:
            start = begin.start()
            found = self._encoded_at(text, start) if begin["encoded"] else self._object_at(text, start)
            if found and self._is_called(text, start):
                yield start, *found
            begin = _OBJECT.search(text, found[0] if found else start + 1)

    def _object_at(self, text: str, start: int) -> tuple[int, Any] | None:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            # Python counts the lines up to its place.
            self._left -= error.pos - start + error.pos // _LINES_FASTER_BY
        except ValueError:
            # Such an error does not say where it is.
            self._left -= len(text) - start
        else:
            return end, value
        return self._almost_object_at(text, start) if self._is_lenient else None

    def _almost_object_at(self, text: str, start: int) -> tuple[int, Any] | None:
        """An object that is complete and only almost JSON. Strings are told apart from its own beginning on, so that
        nothing inside of them is changed."""
        end = _end_of_braces(text, start)
        self._left -= _SCANNED_SLOWER_BY * ((end or len(text)) - start)
        with suppress(ValueError):
            return (end, decode_json(_PATTERNS["not_quite_json"].sub(_mended_part, text[start:end]))) if end else None
        return None

    def _encoded_at(self, text: str, start: int) -> tuple[int, Any] | None:
        """What is written as in a string of JSON from here on, if that begins with a complete object."""
        found = _IN_A_STRING.match(text, start)
        end = found.end() if found else start
        self._left -= end - start
        try:
            decoded: str = json.loads(f'"{text[start:end]}"', strict=False)
        except ValueError:
            return None
        begins = _ENCODED_AGAIN.match(decoded) or self._object_at(decoded, 0)
        return (end, decoded) if begins else None

    def _is_called(self, text: str, start: int) -> bool:
        """Whether no other tool is named right before a place."""
        named = _PATTERNS["name_before"].search(text, max(0, start - _LONGEST_NAME), start)
        return named is None or self._is_tool(named[1])

    def _tagged(self, text: str) -> Iterator[tuple[int, int, Any]]:
        """Each call of the tool that has a tag for every field. Without its last tag it may lack fields."""
        begin = _PATTERNS["call_tag"].search(text)
        while begin:
            end = text.find(f"</{begin['tag']}>", begin.end())
            if end < 0:
                return
            fields = _fields_in(text[begin.end() : end])
            if fields and self._is_tool(begin["name"]):
                yield begin.start(), end, fields
            begin = _PATTERNS["call_tag"].search(text, end)


def _end_of_braces(text: str, start: int) -> int | None:
    """Where the brace that opens at a place is closed."""
    depth = 0
    for found in _PATTERNS["string_or_brace"].finditer(text, start):
        depth += (found[0] == "{") - (found[0] == "}")
        if not depth:
            return found.end()
    return None


def _mended_part(found: re.Match[str]) -> str:
    return found["text"] or _WORDS.get(found["word"], "")


class _Outside:
    """The places of a text that are part of none of these objects."""

    def __init__(self, spans: list[tuple[int, int, Any]]) -> None:
        self._starts = [start for start, _, _ in spans]
        # The furthest end of all that begins before a place.
        self.ends = [0, *accumulate((end for _, end, _ in spans), max)]

    def last_end(self, tags: re.Pattern[str], text: str, since: int) -> int:
        """The end of the last tag that is part of no object; 0 if there is none."""
        places = ((tag.start(), tag.end()) for tag in tags.finditer(text, since))
        free = (end for start, end in places if self.ends[bisect_right(self._starts, start)] <= start)
        return max(free, default=0)


def _goes_on(text: str, place: int) -> bool:
    """Whether words follow: the last object in reasoning that is not closed was no answer, then."""
    return any(found["word"] for found in _PATTERNS["words_outside_of_tags"].finditer(text, place))


def _fields_in(text: str) -> dict[str, str]:
    """The fields that have a tag each; none where one has two values."""
    fields: dict[str, str] = {}
    begin = _PATTERNS["field_tag"].search(text)
    while begin:
        name, end = begin["name"] or begin["key"], text.find(f"</{begin['tag'] or begin['value']}>", begin.end())
        value = text[begin.end() : end].strip()
        if end < 0 or fields.setdefault(name, value) != value:
            return {}
        begin = _PATTERNS["field_tag"].search(text, end)
    return fields


def _with_each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        for key, one in pairs:
            if value[key] != one:
                raise ValueError(f"the key {key[:80]!r} has two values")
    return value


# Not strict: line ends and tabs may stand in strings as they are.
_DECODER = json.JSONDecoder(strict=False, parse_constant=refuse_constant, object_pairs_hook=_with_each_key_once)
