"""Texts of classes, files and folders state what they hold, from their heads and their children's names."""

import random

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Level, PurposeSource
from codesum_pipeline.foundation.data_model.symbol import Reexport
from codesum_pipeline.symbols.parsing.facts import MAX_FACTS
from codesum_pipeline.texts.summaries.extractive.extractive_parents import write_class, write_file, write_module
from codesum_pipeline.texts.summaries.inputs import ClassInput
from codesum_pipeline_tests.texts.summaries.extractive.shown_inputs import child, class_input, file_input, module_input

METHODS = (
    child("authenticate", "Authenticates a user by a password.", keywords="authenticate password"),
    child("log_out", "Calls session drop.", keywords="session logout"),
    child("__init__", "Constructor of login handler."),
    child("_query", "Query.", keywords="query database"),
    child("name", "Short function name.", placeholder=True),
)


def test_a_class_says_what_it_extends_holds_and_offers():
    written = write_class(class_input(bases=("BaseHandler",), fields=("timeout: float", "_db"), children=METHODS))
    text = written.text

    assert written.purpose_source is PurposeSource.NAME
    assert text.summary == ("Extends base handler. Fields: timeout. Methods: authenticate, log out, name.")
    assert text.business_intent == "Part of auth/login."
    assert {"login", "authenticate", "handler", "logout", "password", "timeout"} <= {*text.keywords}
    assert text.responsibilities == (
        "authenticate: Authenticates a user by a password.",
        "log_out: Calls session drop.",
        "__init__: Constructor of login handler.",
        "_query: Query.",
    )


OPENINGS = {
    "an author's words": ({"docstring": "Lets people in. By key."}, "python", "Lets people in. By key."),
    "an enum": (
        {"name": "Colour", "modifiers": ("enum",), "fields": ("RED", "GREEN")},
        "python",
        "Values: red, green.",
    ),
    "a struct of Go": (
        {"name": "Row", "fields": ("Key string", "Cells []Cell")},
        "go",
        "Fields: key, cells.",
    ),
    "a trait of Rust": ({"name": "Sink"}, "rust", "Trait sink."),
    "a test case": (
        {"name": "TestRows", "children": tuple(child(f"test_{n}", "Test.") for n in "abc")},
        "python",
        "Tests: a, b, c.",
    ),
    "a module that holds classes": (
        {"name": "Rack", "children": (child("Request", "Class request.", level=Level.CLASS),)},
        "ruby",
        "Holds request.",
    ),
}  # fmt: skip
_SIGNATURES = {"go": "type Row struct", "rust": "pub trait Sink", "ruby": "module Rack"}


@pytest.mark.parametrize(("fields", "language", "summary"), OPENINGS.values(), ids=OPENINGS.keys())
def test_a_class_opens_with_its_authors_words_or_its_kind_and_name(fields, language, summary):
    class_: ClassInput = replace(class_input(**fields), language=language)
    class_ = replace(class_, signature=_SIGNATURES.get(language, class_.signature))

    assert write_class(class_).text.summary.startswith(summary)


def test_the_prefix_of_a_library_is_left_out_of_what_it_holds():
    children = tuple(child(f"curl_easy_{name}", "Does.") for name in ("init", "perform", "cleanup"))

    assert write_file(file_input("lib/easy.py", children=children)).text.summary == (
        "Functions: cleanup, init, perform."
    )


def test_a_file_says_what_it_defines_exports_and_imports():
    children = (
        child("Session", "Class session.", level=Level.CLASS, keywords="session"),
        child("open_session", "Open session.", keywords="open"),
        child("_close", "Close."),
    )
    file = file_input(
        imports=(".hooks.on_open", "requests", "json.dumps"),
        constants=("MAX_AGE", "_PRIVATE"),
        exports=("Session", "on_open", "MAX_AGE"),
        children=children,
    )
    handed_on = (Reexport("on_open", "on_open", ".hooks"),)
    written = write_file(replace(file, reexports=handed_on, literals=("./local", "X-Session-Token", "requests")))

    assert written.purpose_source is PurposeSource.CHILDREN
    assert written.text.summary == (
        "Classes: session. Functions: open session. Constants: max age. Re-exports on_open from"
        ' hooks. Mentions "X-Session-Token". Imports requests, json.'
    )
    assert written.text.business_intent == "Part of folder src/auth."
    assert {"session", "token", "login"} <= {*written.text.keywords}


def test_only_names_in_capitals_are_called_constants():
    text = write_file(file_input("src/count.js", constants=("count", "formatError", "@end"))).text

    assert text.summary.startswith("Defines count, format error.")


def test_a_name_opens_a_text_only_where_nothing_else_is_said():
    assert write_class(class_input()).text.summary == "Class login handler. Part of auth/login."
    assert write_class(class_input(bases=("Handler",))).text.summary == "Extends handler. Part of auth/login."
    assert write_file(file_input()).text.summary == "File login. Part of folder src/auth."
    assert write_module(module_input()).text.summary == "Folder auth. Part of folder src."


def test_a_class_does_not_extend_its_own_name():
    assert write_class(class_input("Logger", bases=("ILogger", "IDisposable"))).text.summary.startswith(
        "Extends ILogger, disposable."
    )


@pytest.mark.parametrize(("path", "opening"), [("a.h", "Re-exports all of b.h."), ("a.cpp", "File a. Part of")])
def test_only_a_header_hands_on_what_it_includes(path, opening):
    handed_on = (Reexport("*", None, "b.h"),)

    assert write_file(replace(file_input(path), language="cpp", reexports=handed_on)).text.summary.startswith(opening)


def test_a_files_author_speaks_first_and_goes_on_in_its_purpose():
    docstring = "auth.login\n\nLets people in. Only by key. And by card. Passwords were given up in spring."
    text = write_file(file_input(docstring=docstring)).text

    assert text.summary.startswith("Lets people in. Only by key. And by card.")
    assert text.business_intent == "Passwords were given up in spring."


def test_a_folder_is_told_by_its_readme_and_by_what_it_holds():
    children = (
        child("login.py", "Lets people in.", level=Level.FILE),
        child("keys", "Folder keys.", level=Level.MODULE),
    )
    text = write_module(module_input(readme="# Auth\n\nChecks who is there.\n", children=children)).text

    assert text.summary == "Auth: Checks who is there. Folders: keys. Files: login."
    assert text.business_intent == "Part of folder src."


def test_a_folder_without_a_readme_has_the_words_of_the_file_that_speaks_for_it():
    entry = child("__init__.py", "Checks who is there. Classes: gate.", level=Level.FILE)
    silent = child("__init__.py", "Imports os.", level=Level.FILE)

    assert write_module(module_input(children=(entry,))).text.summary.startswith("Checks who is there. Files: init.")
    assert write_module(module_input(children=(silent,))).text.summary.startswith("Files: init.")


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_children_does_not_matter(seed):
    shuffled = random.Random(seed).sample(METHODS, len(METHODS))

    assert write_class(class_input(children=tuple(shuffled))) == write_class(class_input(children=METHODS))


def test_no_sentence_is_made_of_a_name():
    """What composing verbs and nouns used to give."""
    names = ("path", "stem", "user_for_uid", "partition", "losing")
    children = tuple(child(name, f"{name}.") for name in names)
    text = write_file(file_input("app/flask.py", children=children)).text

    assert text.summary == "Functions: losing, partition, path, stem, user for uid."
    assert text.business_intent == "Part of folder app."


def test_a_file_names_its_only_class_once_and_packages_by_what_tells_them_apart():
    store = child("Store", "Methods: open. Part of src/store.", level=Level.CLASS)
    file = replace(
        file_input(children=(store,)),
        id="src/store.test.ts",
        name="store.test.ts",
        language="typescript",
        docstring=None,
        imports=("node:fs/promises.read", "@scope/pkg/x.y"),
        globals=(),
        literals=("node:fs/promises",),
    )

    assert write_file(file).text.summary == "Store. Methods: open. Imports node fs, scope pkg."


def test_of_as_many_fields_as_are_read_nobody_knows_how_many_more_there_are():
    fields = tuple(f"field_{number}" for number in range(MAX_FACTS))

    few = write_class(class_input("Form", fields=fields[:-1])).text.summary
    many = write_class(class_input("Form", fields=fields)).text.summary

    assert few.endswith(f", {MAX_FACTS - 11} more.")
    assert many.endswith(", and more.")
