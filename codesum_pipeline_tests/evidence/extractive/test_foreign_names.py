"""Extractive texts name nobody whom a change of the graph could rename."""

import pytest

from codesum_pipeline.evidence.extractive.extractive_functions import write_function
from codesum_pipeline.evidence.extractive.extractive_parents import write_class, write_file, write_module
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.words import _BRANDS
from codesum_pipeline.evidence.leaks import code_names, is_foreign_name, names_in
from codesum_pipeline_tests.evidence.extractive.shown_inputs import (
    child,
    class_input,
    file_input,
    function_in,
    module_input,
)

TALKATIVE = '''
class Parameter(BaseParameter):
    def get_default(self, ctx, is_call=True):
        """Looks `default_map` up by Context.lookup_default() first, as resolve_envvar of CliRunner does.

        Calls value() unless is_call is off, keeps it in cached_value, and is overridden by Option.get_default.
        """
        self.cached_value = ctx.lookup_default(self)
        return self.cached_value()
'''


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Calls load_rows first.", "Calls load rows first.", id="an underscore"),
        pytest.param("CliRunner starts it.", "CLI runner starts it.", id="inner capitals, at the start"),
        pytest.param("As Context.lookup_default() does.", "As Context lookup default does.", id="a dotted call"),
        pytest.param("Runs after load() ended.", "Runs after load ended.", id="a word as a call"),
        pytest.param("Copies by os.dup2 here.", "Copies by os dup 2 here.", id="a digit"),
        pytest.param("Ends. load_rows follows.", "Ends. Load rows follows.", id="at the start of a sentence"),
        pytest.param("Sets my_option and My.my_option.", "Sets my_option and My.my_option.", id="own names"),
        pytest.param("Sends .dataLost to #read of self.on_error.", "Sends data lost to #read of on error.", id="signs"),
        pytest.param("As Map#computeIfAbsent(Object, Function) is.", "As Map compute if absent is.", id="arguments"),
        pytest.param("Calls read_row/2 or a->next_row(b).", "Calls read row or next row.", id="arities and arrows"),
        pytest.param("Runs E.uninterruptibleMask_ here.", "Runs uninterruptible mask here.", id="a letter before it"),
        pytest.param(
            "Throws a java.io.EOFException then.", "Throws an EOF exception then.", id="packages and articles"
        ),
        pytest.param("Wraps AVAssetReader.", "Wraps AV asset reader.", id="capitals that stand together"),
        pytest.param("The 'E' of NaNs, ANDed, as in RFC7230.", "The 'E' of NaNs, ANDed, as in RFC7230.", id="terms"),
        pytest.param("Reads setup.cfg, e.g. in Node.js.", "Reads setup.cfg, e.g. in Node.js.", id="no code"),
    ],
)
def test_a_name_that_is_not_the_documents_own_is_said_in_words(text: str, expected: str) -> None:
    assert without_foreign_names(text, {"my_option", "my"}) == expected


def test_a_function_names_itself_its_parameters_and_attributes_and_nothing_else() -> None:
    text = write_function(function_in(TALKATIVE)).text

    assert text.summary.startswith(
        "Looks default map up by Context lookup default first, as resolve envvar of CLI runner does. Calls value unless"
        " is_call is off, keeps it in cached_value, and is overridden by Option.get_default."
    )


def test_an_upper_level_names_its_own_parts_and_nothing_else() -> None:
    statement = "Adds up rows for ReportMaker.fill_rows with add_row and RATE_NOW."
    made = [
        write_class(class_input("Sheet", docstring=statement, fields=("add_row",))),
        write_file(file_input(docstring=statement, constants=("RATE_NOW",), children=(child("add_row", statement),))),
        write_module(module_input(readme=f"# Sheets\n\n{statement}\n", children=(child("add_row", statement),))),
    ]

    assert [one.text.summary.partition(".")[0] for one in made] == [
        "Adds up rows for report maker fill rows with add_row and rate now",
        "Adds up rows for report maker fill rows with add_row and RATE_NOW",
        "Sheets: Adds up rows for report maker fill rows with add_row and rate now",
    ]


def test_no_written_text_has_a_name_that_could_be_a_neighbours() -> None:
    function = function_in(TALKATIVE)
    text = write_function(function).text
    own = names_in(function.qualified_name, "self ctx is_call cached_value")

    found = [match[0] for field in (text.summary, text.business_intent) for match in code_names(field)]
    assert [name for name in found if is_foreign_name(name, own)] == []


def test_proper_names_are_no_code() -> None:
    plain = {"DataFrame", "DiGraph"}

    assert {brand for brand in _BRANDS if is_foreign_name(brand, ())} == plain
