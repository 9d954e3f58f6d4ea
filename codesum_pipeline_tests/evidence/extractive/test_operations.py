"""What functions compute, in each language, and what they only seem to compute."""

import pytest
from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.code_facts import CodeFacts
from codesum_pipeline.evidence.extractive.composing import MAX_ITEM
from codesum_pipeline.evidence.extractive.effects import effects_in_prose, effects_of, operations_of
from codesum_pipeline.evidence.extractive.extractive_functions import write_function
from codesum_pipeline.evidence.extractive.known_calls import NamedBy, effect_kinds, known_calls
from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline_tests.evidence.extractive.effect_cases import FUNCTIONS, function_with
from codesum_pipeline_tests.evidence.extractive.operation_cases import NO_OPERATIONS, OPERATIONS
from codesum_pipeline_tests.evidence.extractive.shown_inputs import function_in


def operations_in(language: str, statement: str) -> list[str]:
    return [one.text for one in operations_of(CodeFacts(function_with(language, statement)))]


def operations_of_python(source: str) -> list[str]:
    return [one.text for one in operations_of(CodeFacts(function_in(source)))]


@pytest.mark.parametrize("language", OPERATIONS)
def test_each_statement_has_its_operation_and_no_other(language):
    found = {statement: operations_in(language, statement) for statement in OPERATIONS[language]}

    assert found == {statement: [one] if one else [] for statement, one in OPERATIONS[language].items()}


@pytest.mark.parametrize("language", NO_OPERATIONS)
def test_what_only_looks_like_an_operation_is_none(language):
    found = {statement: operations_in(language, statement) for statement in NO_OPERATIONS[language]}

    assert {statement: operations for statement, operations in found.items() if operations} == {}


def test_every_language_has_cases():
    assert {*OPERATIONS} == {*NO_OPERATIONS} == {*PARSERS}


@pytest.mark.parametrize("language", OPERATIONS)
def test_an_operation_is_no_side_effect(language):
    for statement in OPERATIONS[language]:
        function = function_with(language, statement)
        assert "computes" not in {one.kind for one in effects_of(CodeFacts(function))}
        assert not any(one.startswith("computes:") for one in write_function(function).text.side_effects)


@pytest.mark.parametrize("language", OPERATIONS)
def test_each_operation_is_shown_by_a_line_of_the_function(language):
    for statement in OPERATIONS[language]:
        function = function_with(language, statement)
        lines = function.canonical_source.split("\n")
        assert all(1 <= one.line <= len(lines) for one in operations_of(CodeFacts(function)))


def test_names_of_a_function_itself_are_no_library():
    assert operations_of_python("def f(sorted, a):\n    return sorted(a)\n") == []
    assert operations_of_python("def f(a):\n    re = a.engine()\n    return re.split('b', a)\n") == []
    assert operations_of_python("def f(a):\n    return re.split('b', a)\n") == ["splits text by a regular expression"]


def test_operations_are_told_in_the_order_of_the_lines():
    source = (
        "def f(a):\n    names = a.strip().split(',')\n    rows = sorted(names)\n"
        "    x = [math.sqrt(y) for y in a.sizes]\n    return itertools.groupby(rows)\n"
    )

    assert operations_of_python(source) == ["sorts names", "takes a square root", "groups rows"]


def test_separators_of_several_calls_are_told_together():
    source = "def f(a):\n    return a.b.split(':'), a.c.split('/'), a.d.split(a)\n"

    assert operations_of_python(source) == ["splits text at colons and slashes"]


def test_several_kinds_of_values_are_told_as_values():
    assert operations_of_python("def f(a):\n    return sorted(a.users), sorted(a.orders)\n") == ["sorts values"]


@pytest.mark.parametrize(
    "language, statement",
    [
        ("python", "x = sorted(users, key=lambda u: u.name)"),
        ("javascript", "users.sort((p, q) => p.name.localeCompare(q.name))"),
        ("typescript", "const x = _.sortBy(users, u => u.name)"),
        ("go", "sort.Slice(users, func(i, j int) bool { return users[i].Name < users[j].Name })"),
        ("rust", "self.users.sort_by_key(|u| u.name)"),
        ("kotlin", "val x = users.sortedBy { it.name }"),
        ("scala", "val x = users.sortBy(_.name)"),
        ("swift", "let x = users.sorted { $0.name < $1.name }"),
        ("c-sharp", "var x = users.OrderBy(u => u.Name)"),
        ("ruby", "x = users.sort_by(&:name)"),
        ("ruby", "x = users.sort_by { |u| u.name }"),
        ("elixir", "Enum.sort_by(users, & &1.name)"),
    ],
)
def test_values_are_sorted_by_a_field(language, statement):
    assert operations_in(language, statement)[0] == "sorts users by name"


def test_what_is_no_field_is_no_key():
    assert operations_in("kotlin", "val x = users.sortedBy { g(it) }") == ["sorts users"]
    assert operations_in("c-sharp", "var x = users.OrderBy(u => a.Rank)") == ["sorts users"]
    assert operations_in("kotlin", "val x = users.sumOf { it.size }") == ["adds up values"]
    source = "def f(a):\n    return sorted(a.users, key=lambda u: u.name.lower())\n"
    assert operations_of_python(source) == ["sorts users", "converts text to lower case"]


def test_a_separator_without_a_name_is_not_told():
    assert operations_of_python("def f(a):\n    return a.split('~~>'), 'x1'.join(a)\n") == []


def test_what_says_nothing_alone_is_told_beside_others():
    assert operations_of_python("def f(a):\n    return list(map(str, a))\n") == []
    assert operations_of_python("def f(a):\n    return list(map(str, sorted(a)))\n") == [
        "sorts values",
        "transforms values",
    ]


def test_prose_repeats_no_operation_of_the_headline():
    operations = operations_of(CodeFacts(function_in("def f(a):\n    return sorted(a)\n")))

    assert effects_in_prose(operations, headline="Sorts values") == ""
    assert effects_in_prose(operations, headline="Sorts the users of a team") == ""
    assert effects_in_prose(operations, headline="Lists the users of a team") == "Sorts values."


def test_each_operation_stands_in_a_table():
    tables = [known for language in PARSERS if (known := known_calls(language))]
    told = {name for one in tables for part in (one.chains, one.methods, one.of_receivers) for name in part.values()}
    told |= {name for one in tables for name, _ in one.words}

    assert {name for name, kind in effect_kinds().items() if kind.kind == "computes"} <= told


def test_only_operations_are_named_by_separators_and_values():
    named = {kind.kind for kind in effect_kinds().values() if kind.named_by not in (NamedBy.TEXT, NamedBy.MESSAGE)}

    assert named == {"computes"}
    assert all(kind.one or kind.named for kind in effect_kinds().values())


@pytest.mark.parametrize("language", FUNCTIONS)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("split(" * 30_000, id="one call many times"),
        pytest.param("x.split('" + "," * 100_000, id="a text without an end"),
        pytest.param("[x for x in " + "a." * 50_000, id="a long chain"),
        pytest.param("max(" * 40_000, id="calls in calls"),
        pytest.param(" " * 100_000 + ".replace(", id="only blanks"),
    ],
)
def test_hostile_code_has_bounded_operations(language, text):
    function = function_with(language, next(iter(OPERATIONS[language])))
    facts = replace(
        function.facts, calls=tuple([replace(one, text=f"{text[:90]}{one.text}") for one in function.facts.calls])
    )
    hostile = replace(function, canonical_source=f"{function.canonical_source}\n{text}")

    assert operations_of(CodeFacts(hostile)) == operations_of(CodeFacts(hostile))
    operations = operations_of(CodeFacts(replace(hostile, facts=facts)))
    assert len(operations) <= 3 and all(len(one.text) <= MAX_ITEM for one in operations)
