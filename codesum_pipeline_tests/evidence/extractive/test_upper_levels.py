"""Texts of classes, files and folders: their authors' words, else the headlines of what they hold."""

import random

import pytest
from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.extractive_parents import write_class, write_file, write_module
from codesum_pipeline.evidence.inputs import ClassInput
from codesum_pipeline.foundation.data_model.document import Level, PurposeSource
from codesum_pipeline.foundation.data_model.symbol import Reexport
from codesum_pipeline.symbols.parsing.facts import MAX_FACTS
from codesum_pipeline_tests.evidence.extractive.shown_inputs import child, class_input, file_input, module_input

METHODS = (
    child("authenticate", "Authenticates a user by a password.", keywords="authenticate password"),
    child("log_out", "Ends the session. Writes a file.", keywords="session logout"),
    child("__init__", "Constructor of login handler."),
    child("_query", "Asks a database.", keywords="query database"),
    child("name", "Short function name.", placeholder=True),
)


def test_a_class_without_its_authors_words_says_what_its_public_methods_do():
    written = write_class(class_input("LoginDoor", bases=("Base",), fields=("timeout: float", "_db"), children=METHODS))
    text = written.text

    assert written.purpose_source is PurposeSource.CHILDREN
    assert text.summary == "Authenticates a user by a password; ends the session."
    assert text.business_intent == "Part of auth/login."
    assert {"login", "authenticate", "door", "logout", "password", "timeout"} <= {*text.keywords}
    assert text.responsibilities == (
        "authenticate: Authenticates a user by a password.",
        "log_out: Ends the session. Writes a file.",
        "__init__: Constructor of login handler.",
        "_query: Asks a database.",
    )


OPENINGS = {
    "an author's words": ({"docstring": "Lets people in. By key."}, "python", "Lets people in. By key."),
    "an enum with a field": (
        {"name": "Colour", "modifiers": ("enum",), "fields": ("RED", "GREEN", "code: int")},
        "python",
        "Lists the possible colours: red, green.",
    ),
    "an enum": (
        {"name": "Colour", "modifiers": ("enum",), "fields": ("RED", "GREEN")},
        "python",
        "Lists the possible colours: red, green.",
    ),
    "a struct of Go": ({"name": "Row", "fields": ("Key string", "Cells []Cell")}, "go",
                       "Holds a list of cells and the text key."),
    "settings are listed": (
        {"name": "ServerConfig", "fields": ("host: str", "port: int")},
        "python",
        "Holds the settings of the server: the number port and the text host.",
    ),
    "values besides the first": (
        {"name": "Page", "fields": ("title: str", "author: str", "fmt: str")},
        "python",
        "Holds the texts title, author and fmt.",
    ),
    "a trait of Rust": ({"name": "Sink"}, "rust", "Trait sink."),
    "methods that only spell their names": (
        {"name": "Sheet", "children": (child("rows", "Rows."), child("cell_at", "Cell at."))},
        "python",
        "Class sheet.",
    ),
    "a module that holds classes": (
        {"name": "Rack", "children": (child("Request", "Reads what a browser sends.", level=Level.CLASS),)},
        "ruby",
        "Request: reads what a browser sends.",
    ),
}  # fmt: skip
_SIGNATURES = {"go": "type Row struct", "rust": "pub trait Sink", "ruby": "module Rack"}


@pytest.mark.parametrize(("fields", "language", "summary"), OPENINGS.values(), ids=OPENINGS.keys())
def test_a_class_opens_with_its_authors_words_or_its_kind_and_name(fields, language, summary):
    class_: ClassInput = replace(class_input(**fields), language=language)
    class_ = replace(class_, signature=_SIGNATURES.get(language, class_.signature))

    assert write_class(class_).text.summary.startswith(summary)


def test_a_file_says_what_its_definitions_do_classes_by_name():
    children = (
        child("Session", "Keeps cookies between requests.", level=Level.CLASS, keywords="session"),
        child("open_session", "Opens a session with a host.", keywords="open"),
        child("_close", "Closes a socket."),
    )
    file = file_input(imports=("requests",), constants=("MAX_AGE", "_PRIVATE"), children=children)
    written = write_file(replace(file, literals=("./local", "X-Session-Token", "requests")))

    assert written.purpose_source is PurposeSource.CHILDREN
    assert written.text.summary == "Session: keeps cookies between requests; opens a session with a host."
    assert written.text.business_intent == "Part of folder src/auth."
    assert {"session", "token", "login"} <= {*written.text.keywords}


def test_details_and_lists_of_names_are_no_headlines_of_what_holds_them():
    children = (
        child("Jar", "Holds path, age.", level=Level.CLASS),
        child("Pot", "Raises an error.", level=Level.CLASS),
        child("Router", "Router: matches a path; adds a route.", level=Level.CLASS),
    )

    assert write_file(file_input(children=children)).text.summary == "Router: matches a path."


def test_a_folder_that_only_holds_another_says_what_that_one_is_about():
    inner = child("zaxxer", "Pool: lends connections; driver: opens them.", level=Level.MODULE)

    assert write_module(module_input("src/com", children=(inner,))).text.summary == inner.summary


@pytest.mark.parametrize(
    ("fields", "summary"),
    [
        ({"constants": ("MAX_AGE", "LIMIT", "_X")}, "Defines max age, limit."),
        ({"children": (child("stem", "Stem."), child("path", "Path."))}, "Defines path, stem."),
        ({"imports": ("django.setup", "json.dumps")}, "Runs with the packages django, json."),
        ({}, "File login."),
    ],
    ids=("values", "names without headlines", "a script", "nothing"),
)
def test_a_file_without_any_headline_says_in_a_sentence_what_it_is(fields, summary):
    assert write_file(file_input(**fields)).text.summary == summary


def test_a_name_stands_alone_only_where_nothing_else_is_said():
    assert write_class(class_input("Door")).text.summary == "Class door."
    assert write_module(module_input()).text.summary == "Holds 0 parts."


@pytest.mark.parametrize(("path", "opening"), [("a.h", "Re-exports all of b.h."), ("a.cpp", "File a.")])
def test_only_a_header_hands_on_what_it_includes(path, opening):
    handed_on = (Reexport("*", None, "b.h"),)

    assert write_file(replace(file_input(path), language="cpp", reexports=handed_on)).text.summary.startswith(opening)


def test_a_files_author_speaks_first():
    docstring = "auth.login\n\nLets people in. Only by key. And by card. Passwords were given up in spring."
    text = write_file(file_input(docstring=docstring)).text

    assert text.summary == "Lets people in. Only by key. And by card."
    assert text.business_intent == "Part of folder src/auth."


def test_a_folder_is_told_by_its_readme_else_by_what_it_holds():
    children = (
        child("login.py", "Lets people in.", level=Level.FILE),
        child("keys", "Makes keys for doors.", level=Level.MODULE),
        child("data.json", "File data.", level=Level.FILE),
    )
    told = write_module(module_input(readme="# Auth\n\nChecks who is there.\n", children=children)).text
    untold = write_module(module_input(children=children)).text
    bare = write_module(module_input(children=children[2:])).text

    assert (told.summary, told.business_intent) == ("Auth: Checks who is there.", "Part of folder src.")
    assert untold.summary == "Makes keys for doors; login: lets people in."
    assert bare.summary == "Holds the JSON file data."


def test_a_folder_without_a_readme_has_the_words_of_the_file_that_speaks_for_it():
    entry = child("__init__.py", "Checks who is there. By key.", level=Level.FILE)
    silent = child("__init__.py", "Defines 2 names, such as open, close.", level=Level.FILE)

    assert write_module(module_input(children=(entry,))).text.summary == "Checks who is there."
    assert not write_module(module_input(children=(silent,))).text.summary.startswith("Defines")


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_children_does_not_matter(seed):
    shuffled = random.Random(seed).sample(METHODS, len(METHODS))

    assert write_class(class_input(children=tuple(shuffled))) == write_class(class_input(children=METHODS))


def test_of_as_many_fields_as_are_read_nobody_knows_how_many_more_there_are():
    fields = tuple(f"field_{number}" for number in range(MAX_FACTS))

    few = write_class(class_input("Form", fields=fields[:-1])).text.summary
    many = write_class(class_input("Form", fields=fields)).text.summary

    assert few.endswith(f", {MAX_FACTS - 11} more.")
    assert many.endswith(", and more.")
