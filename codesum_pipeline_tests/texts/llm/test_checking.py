"""An answer is taken, put right by rule, or sent back in words."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.evidence.leaks import leaked_names
from codesum_pipeline.foundation.data_model.document import Citation, InputSpec, Level, Returns, WrittenText
from codesum_pipeline.texts.llm.answer_repairs import repair_value
from codesum_pipeline.texts.llm.answer_shapes import answer_tool
from codesum_pipeline.texts.llm.checking import AnswerBounds, AnswerProblem, read_answer
from codesum_pipeline.texts.llm.pins import AnswerForm
from codesum_pipeline_tests.texts.llm.making import function_answer, responding, upper_answer

FUNCTION = AnswerBounds(Level.FUNCTION, line_count=10)
CLASS = AnswerBounds(Level.CLASS, line_count=None, child_names=("add", "total"))


def read(
    answer: Mapping[str, Any] | str, bounds: AnswerBounds = FUNCTION, form: AnswerForm = AnswerForm.TOOL
) -> WrittenText:
    return read_answer(responding(answer), form, bounds)


def complaint(
    answer: Mapping[str, Any] | str, bounds: AnswerBounds = FUNCTION, form: AnswerForm = AnswerForm.TOOL
) -> str:
    """What the model is told, without the frame."""
    with pytest.raises(AnswerProblem) as raised:
        read(answer, bounds, form)
    lines = str(raised.value).splitlines()
    return "\n".join(line.removeprefix("- ") for line in lines if line.startswith("- ")) or lines[0]


def without(name: str, **changed: Any) -> dict[str, Any]:
    return {field: value for field, value in function_answer(**changed).items() if field != name}


def test_a_good_answer_of_a_function_becomes_its_text() -> None:
    assert read(function_answer(invariants=["the sum is never below 0"], citations=[
        {"field": name, "start_line": 2, "end_line": 10}
        for name in ("purpose", "inputs", "returns", "side_effects", "invariants")
    ])) == WrittenText(
        summary="Adds up the prices of an order and takes the discount off.",
        business_intent="Tells a buyer what an order costs.",
        keywords=("price", "order", "discount"),
        returns=Returns("int", "an amount in cents", "The sum of all its prices."),
        inputs=(InputSpec("order", "Order", "The order whose prices are added up."),),
        side_effects=("reads the discounts of the shop",),
        invariants=("the sum is never below 0",),
        citations=tuple(
            Citation(name, 2, 10) for name in ("summary", "inputs", "returns", "side_effects", "invariants")
        ),
    )  # fmt: skip


def test_a_good_answer_of_an_upper_level_names_its_parts() -> None:
    items = [
        {"text": "Adds up what was ordered", "children": ["add", "total"]},
        {"text": "total is rounded to whole cents", "children": ["total"]},
    ]

    assert read(upper_answer(responsibilities=items), CLASS) == WrittenText(
        summary="Keeps the lines of an order and tells what they cost together.",
        business_intent="Tells a buyer what an order costs.",
        keywords=("price", "order", "total"),
        responsibilities=("add, total: Adds up what was ordered", "total is rounded to whole cents"),
    )


# What the table in `repairs` puts right.
@pytest.mark.parametrize(
    ("answer", "plain"),
    [
        pytest.param(function_answer(mood="good"), function_answer(), id="an unknown field is left out"),
        pytest.param(without("side_effects"), function_answer(side_effects=[]), id="a missing list is empty"),
        pytest.param(without("invariants"), function_answer(invariants=None), id="what may be null is null if missing"),
        pytest.param(function_answer(side_effects=None), function_answer(side_effects=[]), id="null is no item"),
        pytest.param(function_answer(returns="null"), function_answer(returns=None), id="'null' is null"),
        pytest.param(function_answer(invariants="None"), function_answer(invariants=None), id="'None' is null"),
        pytest.param(
            function_answer(keywords='["price", "order", "sum"]'),
            function_answer(keywords=["price", "order", "sum"]),
            id="a list in a string is read",
        ),
        pytest.param(
            function_answer(citations=json.dumps(function_answer()["citations"])),
            function_answer(),
            id="a list of objects in a string is read",
        ),
        pytest.param(
            function_answer(citations=json.dumps(json.dumps(function_answer()["citations"]))),
            function_answer(),
            id="a list that was encoded twice is read",
        ),
        pytest.param(
            function_answer(
                returns=json.dumps(function_answer()["returns"]).replace("in cents", "in\n cents"),
            ),
            function_answer(),
            id="an object in a string is read, with raw line ends in it",
        ),
        pytest.param(
            function_answer(purpose=" Adds \x1b[31mup\x1b[0m the\n\n prices\u202e of\x00 an\u200b order, all. "),
            function_answer(purpose="Adds up the prices of an order, all."),
            id="escape sequences, invisible characters and line feeds go",
        ),
        pytest.param(
            function_answer(keywords=["Price", "price", "order", "sum"]),
            function_answer(keywords=["Price", "order", "sum"]),
            id="the same keyword counts once",
        ),
        pytest.param(
            function_answer(citations=[
                {"field": each["field"], "start_line": " 1", "end_line": 3.0} for each in function_answer()["citations"]
            ]),
            function_answer(),
            id="a number in a string is the number",
        ),
    ],
)  # fmt: skip
def test_what_can_be_put_right_by_rule_is(answer: dict[str, Any], plain: dict[str, Any]) -> None:
    assert read(answer) == read(plain)


NO_NUMBER = "citations.3.start_line: Input should be a valid integer"


def cited(name: str, start: object, end: object) -> dict[str, Any]:
    """A good answer with one citation changed or added."""
    others = [each for each in function_answer()["citations"] if each["field"] != name]
    return function_answer(citations=[*others, {"field": name, "start_line": start, "end_line": end}])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(
            function_answer(purpose="Adds up."),
            "purpose: String should have at least 30 characters (it has 8)",
            id="too short",
        ),
        pytest.param(
            function_answer(purpose="a" * 401),
            "purpose: String should have at most 400 characters (it has 401)",
            id="too long",
        ),
        pytest.param(
            function_answer(purpose="This function adds up the prices of an order."),
            "purpose: must not open with 'This function': start with a verb",
            id="a forbidden opening",
        ),
        pytest.param(
            function_answer(keywords=["price", "order"]),
            "keywords: List should have at least 3 items after validation, not 2 (it has 2)",
            id="too few keywords",
        ),
        pytest.param(
            function_answer(side_effects=["changes the world at large"]),
            r"side_effects.0: String should match pattern '\b([Rr]eads|[Ww]rites|[Ee]mits|[Rr]aises|[Mm]utates)\b'",
            id="an effect without its verb",
        ),
        pytest.param(
            function_answer(business_intent=True), "business_intent: Input should be a valid string", id="true, no text"
        ),
        pytest.param(
            function_answer(returns="True"),
            "returns: Input should be a valid dictionary or instance of ReturnsAnswer",
            id="'True', no object",
        ),
        pytest.param(cited("purpose", "True", 3), NO_NUMBER, id="'True', no number"),
        pytest.param(cited("purpose", True, 3), NO_NUMBER, id="true, no number"),
        pytest.param(
            function_answer(keywords="price, order, discount"), "keywords: Input should be a valid list", id="no list"
        ),
        pytest.param(without("purpose"), "purpose: Field required", id="a missing text"),
        pytest.param(
            cited("purpose", 4, 11),
            "citations: purpose cites lines 4-11; the code has lines 1-10, and a range starts before it ends",
            id="lines that were not shown",
        ),
        pytest.param(
            cited("purpose", 4, 3),
            "citations: purpose cites lines 4-3; the code has lines 1-10, and a range starts before it ends",
            id="an end before its start",
        ),
        pytest.param(
            function_answer(citations=[{"field": "purpose", "start_line": 1, "end_line": 1}]),
            "citations: inputs is filled and not cited\n"
            "citations: returns is filled and not cited\n"
            "citations: side_effects is filled and not cited",
            id="filled and not cited",
        ),
        pytest.param(
            function_answer(purpose="Adds up prices <script>alert(1)</script> of an order."),
            "purpose: must not hold markup: found '<script>'; name an element without angle brackets",
            id="markup",
        ),
        pytest.param(
            "All prices are added up.",
            "You answered in text. Call the tool emit_symbol_summary with every field instead.",
            id="text, no tool call",
        ),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_goes_back_in_words(answer: Mapping[str, Any] | str, expected: str) -> None:
    assert complaint(answer) == expected


def test_types_in_angle_brackets_are_no_markup() -> None:
    details = "A Map<String, List<int>> or Box<T>, never null."

    returned = {"type": "Map<K, V>", "type_summary": "a map of lists", "details": details}

    assert read(function_answer(returns=returned)).returns == Returns("Map<K, V>", "a map of lists", details)


def test_a_responsibility_names_only_listed_parts() -> None:
    items = [{"text": "Ships what was ordered", "children": ["add", "ship"]}]

    found = complaint(upper_answer(responsibilities=items), CLASS)

    assert found == "responsibilities.0.children: 'ship' is not the name of a listed part"


def test_without_listed_parts_there_are_no_responsibilities() -> None:
    assert read(upper_answer(), AnswerBounds(Level.FILE, line_count=None)).responsibilities == ()


def test_a_citation_of_an_empty_field_is_left_out() -> None:
    answer = function_answer(returns=None)

    assert [each.field for each in read(answer).citations] == ["summary", "inputs", "side_effects"]


@pytest.mark.parametrize("form", [AnswerForm.JSON_SCHEMA, AnswerForm.JSON_TEXT])
def test_an_answer_in_json_needs_no_tool_call(form: AnswerForm) -> None:
    assert read(json.dumps(function_answer()), form=form) == read(function_answer())


def test_json_in_text_may_stand_in_a_fence() -> None:
    fenced = f"Here it is:\n```json\n{json.dumps(function_answer(), indent=1)}\n```\nAnything else?"

    assert read(fenced, form=AnswerForm.JSON_TEXT) == read(function_answer())


@pytest.mark.parametrize(
    "broken", ['{"purpose": ', "{]", "", "[1]", "null", '{"a": NaN}', "[" * 100_000, '{"n": ' + "9" * 10_000 + "}"]
)  # fmt: skip
@pytest.mark.parametrize("form", [form for form in AnswerForm if form is not AnswerForm.TEXT])
def test_broken_json_goes_back(broken: str, form: AnswerForm) -> None:
    with pytest.raises(AnswerProblem):
        read_answer(responding(broken, has_tool_call=True), form, FUNCTION)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@given(changed=st.dictionaries(st.sampled_from(sorted(function_answer())), JSON, max_size=4))
def test_any_json_is_taken_within_all_bounds_or_sent_back(changed: dict[str, Any]) -> None:
    try:
        written = read(function_answer(**changed))
    except AnswerProblem as problem:
        assert str(problem).isprintable() or "\n" in str(problem)
    else:
        assert 30 <= len(written.summary) <= 400
        assert 3 <= len(written.keywords) <= 12
        assert all(1 <= each.start_line <= each.end_line <= 10 for each in written.citations)


@given(JSON)
def test_putting_right_twice_changes_nothing(value: Any) -> None:
    schema = answer_tool(Level.FUNCTION).schema
    once = repair_value({"purpose": value, "returns": value, "keywords": value, "citations": value}, schema)

    assert repair_value(once, schema) == once


@pytest.mark.parametrize(
    ("text", "name", "is_leak"),
    [
        pytest.param("Called by load_order to add up.", "shop.load_order", True, id="an underscore"),
        pytest.param("Used by Shop.load for sums.", "Shop.load", True, id="a dot"),
        pytest.param("Used by Shop::load for sums.", "src/a.py::Shop::load", True, id="an id's name with colons"),
        pytest.param("Helps OrderBook with sums.", "OrderBook", True, id="inner capitals"),
        pytest.param("Copies it with dup2 first.", "os.dup2", True, id="a digit"),
        pytest.param("Calls load() for sums.", "Shop.load", True, id="a word as a call"),
        pytest.param("Joins it by path.join first.", "os.path.join", True, id="the last parts of a dotted name"),
        pytest.param("Asks is_valid first.", "a.rb::Order::is_valid?", True, id="a name without its mark"),
        pytest.param("Falls back to pick_one.", "a.py::Shop::pick_one#3fa91c", True, id="one of several definitions"),
        pytest.param("Sets `ref` or `build`.", "Shop.ref", False, id="a word in backticks"),
        pytest.param("Runs ``:colorscheme`` at the start.", "vim.colorscheme", False, id="a command like a callee"),
        pytest.param("Ships the item(s) at once.", "Shop.item", False, id="a plural in brackets"),
        pytest.param("Hashes with sha256 on GitHub.", "hashlib.sha256", False, id="a term with a digit"),
        pytest.param("Fetches from GitHub in JavaScript.", "GitHub", False, id="a proper name"),
        pytest.param("Lists all URLs and IDs.", "URLs", False, id="a plural of capitals"),
        pytest.param("Reads setup.cfg at example.org.", "setup.cfg", False, id="a file's name"),
        pytest.param("They load the order.", "Shop.load", False, id="a word of English"),
        pytest.param("`add` and load the `rest`.", "Shop.load", False, id="a word between two code spans"),
        pytest.param("Reloads reload_orders_now.", "reload_orders", False, id="part of a longer name"),
        pytest.param("Reads settings.toml.", "src/settings.py", False, id="another file"),
        pytest.param("Reads what settings.py holds.", "src/settings.py", True, id="a file"),
    ],
)
def test_a_name_leaks_where_it_looks_like_code(text: str, name: str, is_leak: bool) -> None:
    assert bool(leaked_names([text], [name])) == is_leak


def test_own_names_are_no_leaks() -> None:
    assert leaked_names(["Overrides Base.load_order as load_order."], ["a.py::Base::load_order"], {"load_order"}) == []


def test_a_leaked_name_goes_back_and_elsewhere_it_may_stand() -> None:
    bounds = AnswerBounds(Level.FUNCTION, line_count=10, hidden_names=("shop.load_order",))

    found = complaint(function_answer(business_intent="Helps load_order with its sums."), bounds)

    assert found == "purpose, business_intent: must not name the caller or callee 'load_order'"
    assert read(function_answer(side_effects=["reads what load_order left"]), bounds)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("reload_order, then load_order", ["load_order"]),
        ("load_orders and preload_order", []),
        ("load_order() and load_order", ["load_order"]),
        ("run, rerun() and run()", ["run"]),
        ("run and rerun()", []),
    ],
)
def test_a_name_is_found_where_it_stands_as_a_whole(text: str, found: list[str]) -> None:
    assert leaked_names([text], ["a.py::load_order", "a.py::run"]) == found
