"""The one object of an answer, found in any wrapping and never in what was shown, in a time that the length bounds."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.texts.llm import answer_objects
from codesum_pipeline.texts.llm.answer_objects import visit_objects
from codesum_pipeline.texts.llm.answer_shapes import MAX_OUTPUT_BYTES, TOOL_NAME, find_tool
from codesum_pipeline.texts.llm.checking import AnswerBounds, AnswerProblem, read_answer
from codesum_pipeline.texts.llm.pins import AnswerForm, SummaryResponse
from codesum_pipeline.texts.llm.shown_objects import stands_in
from codesum_pipeline.texts.llm.templates import render_system
from codesum_pipeline_tests.support.llm_server.odd_answers import NAMES, SHAPES, TEXT_SHAPES
from codesum_pipeline_tests.texts.llm.making import function_answer

BOUNDS = AnswerBounds(Level.FUNCTION, line_count=10)
# How many strings of JSON each adds around the answer.
ENCODINGS = {
    "encoded twice": 1,
    "encoded three times": 2,
    "encoded, an extra brace": 1,
    "encoded, no quotes around it": 1,
    "a string in arguments": 1,
    "a broken string in arguments": 1,
    "in a call": 1,
}
MOST_ENCODINGS = 3
WITHOUT_BRACES = {
    *("encoded twice", "encoded three times", "encoded, no quotes around it", "fenced", "a fence without an end"),
    *("a closing tag", "an end mark", "raw line ends", "in a list", "twice the same", "a string in arguments"),
}
# These can be put around anything; the others read the answer.
AROUND = (
    "plain",
    "prose with braces",
    "<tool_call>",
    "[TOOL_CALLS] and a list",
    "<function=>",
    "channels",
    "reasoning",
)
LETTERS = st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="<>`*")
WORDS = st.text(LETTERS, min_size=30, max_size=60)


@st.composite
def wrappings(draw: st.DrawFn) -> list[str]:
    """Names of shapes, to be put around an answer one after another."""
    names = draw(st.lists(st.sampled_from(sorted(SHAPES)), max_size=4, unique=True))
    while sum(ENCODINGS.get(name, 0) for name in names) > MOST_ENCODINGS:
        names.pop()
    return names


def wrapped(text: str, names: Sequence[str], around: str = "plain") -> str:
    for name in names:
        text = SHAPES[name](text)
    return TEXT_SHAPES[around](text)


def read(claim: str, bounds: AnswerBounds = BOUNDS, *, is_call: bool = False) -> Any:
    return read_answer(SummaryResponse(claim, is_call, None, ""), AnswerForm.TOOL, bounds)


def found_in(claim: str) -> list[dict[str, Any]]:
    """Each object of an answer."""
    found: list[dict[str, Any]] = []

    def note(value: dict[str, Any]) -> bool:
        found.append(value)
        return False

    visit_objects(claim, TOOL_NAME, note)
    return found


@given(names=wrappings(), around=st.sampled_from(AROUND), intent=WORDS)
@settings(max_examples=400, deadline=None)
def test_a_valid_answer_is_found_in_any_composition_of_shapes(names: list[str], around: str, intent: str) -> None:
    answer = function_answer(business_intent=f"Keeps {intent}")
    text = json.dumps(answer)

    assert read(wrapped(text, names, around)) == read(text, is_call=True)


SYSTEM = render_system(None, "default", language="English")
EXAMPLES = [part.partition("\n```")[0] for part in SYSTEM.split("```json\n")[1:]]
CODE = f"1| # {json.dumps(function_answer())}\n2| def total(order): ...\n"
PROMPT = (SYSTEM, CODE)
QUOTES = st.one_of(
    st.sampled_from([*EXAMPLES, CODE, json.dumps(function_answer())]),
    st.tuples(st.integers(0, len(SYSTEM)), st.integers(0, len(SYSTEM))).map(lambda ends: SYSTEM[min(ends) : max(ends)]),
)


@given(quotes=st.lists(QUOTES, min_size=1, max_size=4), names=wrappings())
@settings(max_examples=200, deadline=None)
def test_no_answer_is_found_in_what_is_quoted_from_the_prompt(quotes: list[str], names: list[str]) -> None:
    for level in (Level.FUNCTION, Level.CLASS):
        with pytest.raises(AnswerProblem):
            read(wrapped("\n".join(quotes), names), AnswerBounds(level, line_count=100, shown=PROMPT))


@given(names=wrappings(), end=st.floats(0, 1, exclude_max=True))
@settings(max_examples=200, deadline=None)
def test_no_end_of_a_cut_answer_is_invented(names: list[str], end: float) -> None:
    answer = json.dumps(function_answer())
    cut = answer[: int(len(answer) * end)]

    with pytest.raises(AnswerProblem):
        read(wrapped(cut, [name for name in names if name in WITHOUT_BRACES]))


def test_what_an_answer_says_about_tags_and_braces_stays_as_it_is() -> None:
    answer = function_answer(
        business_intent='Strips <think>{"a": 1}</think> and [/THINK] from a text, ,} also.',
        side_effects=['reads {"name": "x", "arguments": {}} from a `</think>` tag'],
    )
    text = json.dumps(answer)

    for name, shape in {**SHAPES, **TEXT_SHAPES}.items():
        if "draft" not in name and "reasoning without its first" not in name:
            assert read(shape(text)) == read(text, is_call=True), name


def test_nothing_inside_of_a_string_is_mended() -> None:
    answer = function_answer(
        business_intent="Reads None, True and [1, 2,] or {3,} of a text.",
        returns={
            "type": "Callable[[], None]",
            "type_summary": "a function, or None",
            "details": "It gives {None,}. Always.",
        },
    )
    text = json.dumps(answer)

    # A quote that is never closed is no reason to take strings for what is between them.
    assert read(f'Here it is, as "asked: {text[:-1]},}}') == read(text, is_call=True)
    assert read(f'{{"name": "emit_symbol_summary", "arguments": {text}') == read(text, is_call=True)


LENGTH = MAX_OUTPUT_BYTES


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param(unit, id=unit)
        for unit in (
            *("{", "}", "[", '"', "\\", '{"', '{"a":', '{"a":[', '{"a":"', '{\\"', '{\\"a\\":1,', '"\\', "{}", "{\\"),
            *(
                ",",
                ", ",
                ",}",
                "</think>",
                "{}</think>",
                "<function=a>",
                "<arg_key>a</arg_key>",
                '{"a":NaN,',
                "\\u007b",
            ),
            *('{"purpose":1}', '{"purpose":1', "<tool_call>a", "[TOOL_CALLS]a", '"{', "{ ", "{\n", "</a", "```json\n{"),
            *("<function=emit_symbol_summary><parameter=purpose>", '{"a":99999999999999999999'),
        )
    ],
)
def test_hostile_texts_are_read_with_bounded_work(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = CountingDecoder()
    monkeypatch.setattr(answer_objects, "_DECODER", decoder)
    claim = (unit * LENGTH)[:LENGTH]

    for text in (claim, f'{{"a": "{claim}', json.dumps(claim)):
        decoder.reads = 0
        with pytest.raises(AnswerProblem):
            read(text)
        assert decoder.reads <= 3 * LENGTH


class CountingDecoder:
    """The decoder, and how many starts it was tried at."""

    def __init__(self) -> None:
        self._real = answer_objects._DECODER
        self.reads = 0

    def decode(self, text: str) -> Any:
        self.reads += 1
        return self._real.decode(text)

    def raw_decode(self, text: str, start: int = 0) -> Any:
        self.reads += 1
        return self._real.raw_decode(text, start)


def test_a_search_that_reads_too_much_in_vain_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each start reads on to the end before it fails.
    nested = '{"a":' * 400
    claim = f"{nested} {json.dumps(function_answer())}"

    assert read(claim) == read(json.dumps(function_answer()), is_call=True)

    monkeypatch.setattr(answer_objects, "_MOST_READ_IN_VAIN", 100_000)
    with pytest.raises(AnswerProblem):
        read(claim)


def test_braces_without_an_end_to_their_depth_are_refused() -> None:
    for text in ('{"a":' * 100_000, f"Look: {'[' * 100_000}", '{"a":' * 100_000 + "1" + "}" * 100_000):
        with pytest.raises(AnswerProblem):
            read(text)


def test_more_objects_than_can_be_meant_are_refused() -> None:
    claim = "".join(json.dumps({"purpose": f"the number {number}"}) for number in range(40))

    with pytest.raises(AnswerProblem, match="more than 32 objects"):
        read(claim)


def test_objects_are_visited_from_the_outside_inwards_and_each_once() -> None:
    claim = 'x {"a": {"b": [{"c": 1}], "d": "{\\"e\\": 2}"}} {"f": 3}'

    found = found_in(claim)

    assert found[0]["a"]["b"] == [{"c": 1}]
    inner = [next(iter(value)) for value in found]
    assert inner[: inner.index("f") + 1] == ["a", "b", "c", "e", "f"]
    assert all(first != second for first, second in pairwise(inner))


@pytest.mark.parametrize("written", NAMES.values(), ids=NAMES)
def test_a_tools_name_is_known_in_any_way_of_writing(written: str | None) -> None:
    assert find_tool(written or "", (TOOL_NAME,)) == TOOL_NAME


@pytest.mark.parametrize("written", ["show_weather", "emit", "emit_symbol", "my_emit_symbol_summary_2", "-", "."])
def test_another_tools_name_is_none_of_ours(written: str) -> None:
    assert find_tool(written, (TOOL_NAME,)) is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("search", "search"),
        ("Search", "search"),
        ("functions.search", "search"),
        ("search_symbols", "search_symbols"),
        ("searchSymbols", "search_symbols"),
        ("web_search", None),
        ("search.search_symbols", None),
        ("", None),
    ],
)
def test_of_several_tools_the_one_is_meant_that_is_named(written: str, meant: str | None) -> None:
    assert find_tool(written, ("search", "search_symbols", "read")) == meant


def test_an_object_stands_in_a_text_only_with_all_its_longer_texts_behind_their_names() -> None:
    value = {"purpose": "Adds up the prices of an order.", "business_intent": "Tells buyers what it costs.", "n": 3}
    other = {**value, "purpose": "Multiplies the prices of an order."}

    assert stands_in(value, ["nothing", json.dumps(value | {"n": 4}, indent=3)])
    assert not stands_in(value, [json.dumps(other), f"{value['purpose']} {value['business_intent']}", ""])
    assert not stands_in({"claims": []}, ['{"claims": []}'])
    assert stands_in({"claims": [{"text": "It ends.", "quote": "end = 8"}]}, ['{"quote":"end = 8","text":"It ends."}'])
