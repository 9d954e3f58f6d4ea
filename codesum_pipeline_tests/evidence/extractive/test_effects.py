"""What functions do to the world, in each language, and what they only seem to do."""

import re

import pytest
from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.code_facts import CodeFacts
from codesum_pipeline.evidence.extractive.composing import MAX_ITEM, MAX_SIDE_EFFECTS
from codesum_pipeline.evidence.extractive.effects import effects_in_prose, effects_of
from codesum_pipeline.evidence.extractive.known_calls import Effect, effect_kinds, known_calls
from codesum_pipeline.foundation.data_model.symbol import Fact, Form
from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline_tests.evidence.extractive.effect_cases import EFFECTS, FUNCTIONS, NO_EFFECTS, function_with
from codesum_pipeline_tests.evidence.extractive.shown_inputs import function_in


def effects_in(language: str, statement: str) -> list[str]:
    return [one.text for one in effects_of(CodeFacts(function_with(language, statement)))]


def effects_of_python(source: str) -> list[Effect]:
    return effects_of(CodeFacts(function_in(source)))


@pytest.mark.parametrize("language", EFFECTS)
def test_each_statement_has_its_effect_and_no_other(language):
    found = {statement: effects_in(language, statement) for statement in EFFECTS[language]}

    assert found == {statement: [effect] for statement, effect in EFFECTS[language].items()}


@pytest.mark.parametrize("language", NO_EFFECTS)
def test_what_only_looks_like_an_effect_is_none(language):
    found = {statement: effects_in(language, statement) for statement in NO_EFFECTS[language]}

    assert {statement: effects for statement, effects in found.items() if effects} == {}


def test_every_language_has_a_table_and_cases():
    assert {*EFFECTS} == {*NO_EFFECTS} == {*PARSERS}
    assert all(known_calls(language) is not None for language in PARSERS)


@pytest.mark.parametrize("language", PARSERS)
def test_a_table_names_known_effects_alone(language):
    known = known_calls(language)

    named = {*known.chains.values(), *known.methods.values(), *known.of_receivers.values(), *dict(known.words)}
    assert named <= {*effect_kinds()}
    assert {kind.kind for kind in effect_kinds().values()} <= {"reads", "writes", "emits", "mutates", "computes"}
    assert {other for kind in effect_kinds().values() for other in kind.unless.split()} <= {*effect_kinds()}


def test_several_calls_of_a_kind_are_told_once():
    source = "def f(a):\n    os.remove(a)\n    os.unlink(a.other)\n    os.getenv('A_B')\n    os.getenv('C')\n"

    assert [one.text for one in effects_of_python(source)] == ["deletes files", "reads A_B and C from the environment"]


def test_an_error_has_its_condition_and_its_message():
    source = (
        "def f(value):\n    if value < 0:\n        raise ValueError('value must be positive')\n"
        "    if value is None:\n        raise KeyError(value)\n"
    )
    first, second = effects_of_python(source)

    assert (first.text, first.line) == ("raises ValueError when value < 0: value must be positive", 3)
    assert first.brief == "raises a value error: value must be positive"
    assert (second.text, second.brief) == (
        "raises KeyError when value is None",
        "raises a key error when value is None",
    )


def test_an_error_that_is_only_passed_on_is_left_out():
    assert effects_in("javascript", "try { g() } catch (e) { throw e }") == []


def test_names_of_a_function_itself_are_no_library():
    assert effects_of_python("def f(requests):\n    return requests.get('a')\n") == []
    assert effects_of_python("def f(a):\n    requests = a.all()\n    return requests.get('a')\n") == []
    assert [one.text for one in effects_of_python("def f(a):\n    return requests.get('a')\n")] == [
        "sends an HTTP request"
    ]


def test_documentation_and_texts_have_no_effects():
    source = 'def f(a):\n    """Reads os.environ["HOME"]."""\n    return "os.environ[\'HOME\'] and sys.argv"\n'

    assert effects_of_python(source) == []


def test_changed_state_is_named_by_fields_and_arguments():
    source = (
        "class A:\n    def move(self, options, size):\n        self.base_url = size\n        self.rows[size] = 1\n"
        "        options.size = size\n"
    )

    assert [one.text for one in effects_of(CodeFacts(function_in(source, "A.move")))] == [
        "changes its argument options",
        "changes its base URL and rows",
    ]


def test_a_constructor_says_nothing_of_its_fields():
    assert effects_of(CodeFacts(function_in("class A:\n    def __init__(self, x):\n        self.x_size = x\n"))) == []


def test_values_that_are_copied_do_not_change_for_the_caller():
    assert effects_in("go", "b.size = 1") == [] and effects_in("rust", "b.size = 1") == []
    assert effects_in("php", '$a["size"] = 1') == []
    assert effects_in("php", '$b["size"] = 1') == ["changes its argument"]


def test_prose_tells_three_effects_and_one_error():
    source = (
        "def f(path, rows):\n    if not rows:\n        raise ValueError('no rows are left')\n"
        "    with open(path, 'w') as file:\n        file.write(json.dumps(rows))\n    logger.info('saved the rows')\n"
        "    time.sleep(1)\n"
    )

    effects = effects_of_python(source)
    assert (
        effects_in_prose(effects) == "Writes a file, encodes JSON and sleeps; raises a value error: no rows are left."
    )
    assert effects_in_prose(effects, 1, headline="Writes a file") == (
        "Encodes JSON; raises a value error: no rows are left."
    )
    assert effects_in_prose([]) == ""


def test_prose_repeats_nothing_of_the_headline():
    effects = effects_of_python("def f(path):\n    os.remove(path)\n")

    assert effects_in_prose(effects, headline="Deletes the file of a user") == ""


@pytest.mark.parametrize("language", FUNCTIONS)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(" * 100_000, id="only brackets"),
        pytest.param("a = " * 50_000, id="assignments without end"),
        pytest.param("a, " * 50_000 + "= 1", id="many targets"),
        pytest.param("rm -" + "r" * 200_000, id="a long option"),
        pytest.param("open(" + "'" * 200_000, id="only quotes"),
        pytest.param('os.environ["' + "A" * 200_000, id="a long name"),
        pytest.param("open(" * 50_000, id="one call many times"),
        pytest.param(" " * 200_000 + "lock (a)", id="only blanks"),
        pytest.param("\u202e\x1b[31m" + "%s{}…" * 5000, id="controls and gaps"),
    ],
)
def test_hostile_code_has_bounded_effects(language, text):
    function = function_with(language, next(iter(EFFECTS[language])))
    facts = replace(
        function.facts,
        calls=(*function.facts.calls, *(replace(one, said=text, when=text[:80]) for one in function.facts.calls)),
        raises=(Fact(text[:80], 1, ("ValueError",), said=text, when=text[:80]), Fact(text[:80], 1, said=text)),
        writes=(Fact(text[:80], 1, ("a", "size"), Form.NAME), Fact(text[:80], 1, ("self", text[:80]), Form.NAME)),
    )
    hostile = replace(function, canonical_source=f"{function.canonical_source}\n{text}", facts=facts)

    effects = effects_of(CodeFacts(hostile))
    assert len(effects) <= MAX_SIDE_EFFECTS and effects == effects_of(CodeFacts(hostile))
    assert all(len(one.text) <= MAX_ITEM and one.text.isprintable() for one in effects)
    assert len(effects_in_prose(effects)) <= 250


def test_each_effect_is_shown_by_a_line_of_the_function():
    for language, cases in EFFECTS.items():
        for statement in cases:
            function = function_with(language, statement)
            lines = function.canonical_source.split("\n")
            assert all(1 <= one.line <= len(lines) for one in effects_of(CodeFacts(function)))


def test_no_phrase_is_a_sentence_or_a_name_of_code():
    for kind in effect_kinds().values():
        for phrase in filter(None, (kind.one, kind.many)):
            assert re.fullmatch(r"[a-z][A-Za-z' -]*(?:64)?", phrase), phrase
