"""What functions do to the world, in the languages that are read by a table."""

import pytest

from codesum_pipeline.evidence.extractive.code_facts import CodeFacts
from codesum_pipeline.evidence.extractive.effects import effects_of
from codesum_pipeline.evidence.extractive.known_calls import effect_kinds, known_calls
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.languages.outlines.outline_table import outline_tables
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline_tests.evidence.extractive.shown_inputs import function_of

KNOWN = sorted(language for language in outline_tables() if known_calls(language) is not None)
# A function with calls, and what it does; what only looks like one of those calls does nothing.
DOES = {
    "clojure": (
        "(defn keep [a]\n  (spit a (slurp a)))\n(defn idle [spit]\n  (inc spit))\n",
        ["writes a file", "reads a file"],
    ),
    "dart": (
        "void keep() {\n  file.writeAsString(jsonEncode(a));\n}\nvoid idle() {\n  store.writeAsString(a);\n}\n",
        ["writes a file", "encodes JSON"],
    ),
    "erlang": (
        "keep(A) ->\n    file:write_file(A, b),\n    gen_server:cast(A, b).\nidle(A) ->\n    store:write_file(A, b).\n",
        ["writes a file", "sends a message to a process"],
    ),
    "groovy": (
        "def keep(a) {\n    System.exit(1)\n}\ndef idle(a) {\n    store.exit(1)\n}\n",
        ["can end the process"],
    ),
    "julia": (
        "function keep(a)\n    mkpath(a)\n    rm(a)\nend\nfunction idle(a)\n    Store.mkpath(a)\nend\n",
        ["deletes a file or a folder", "creates a folder"],
    ),
    "perl": (
        "sub keep {\n    unlink($a);\n    decode_json($b);\n}\nsub idle {\n    $self->unlink($a);\n}\n",
        ["deletes a file", "decodes JSON"],
    ),
    "powershell": (
        "function Keep {\n    Remove-Item $a\n    Invoke-WebRequest $b\n}\nfunction Idle {\n    Remove-User $a\n}\n",
        ["deletes a file or a folder", "sends an HTTP request"],
    ),
    "r": (
        "keep <- function(a) {\n  saveRDS(a, b)\n  DBI::dbExecute(c, d)\n}\nidle <- function(a) {\n  a$saveRDS(b)\n}\n",
        ["writes a file", "runs an SQL statement"],
    ),
}


def test_each_table_of_effects_has_a_case() -> None:
    assert {*DOES} == {*KNOWN}


@pytest.mark.parametrize("language", KNOWN)
def test_a_table_names_known_effects_alone(language: str) -> None:
    known = known_calls(language)

    assert known is not None
    assert {*known.chains.values(), *known.methods.values(), *known.of_receivers.values()} <= {*effect_kinds()}


@pytest.mark.parametrize("language", DOES)
def test_a_function_has_the_effects_of_its_calls_and_no_others(language: str) -> None:
    source, does = DOES[language]
    read = parse_file("a", language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
    functions = [function_of(one) for one in read.symbols if one.type is SymbolType.FUNCTION]

    assert [one.name.lower() for one in functions] == ["keep", "idle"]
    assert [[one.text for one in effects_of(CodeFacts(function))] for function in functions] == [does, []]
