"""Texts of classes, files and folders, from their heads and their children's texts."""

import random
from dataclasses import replace

import pytest

from codesum_pipeline.model.documents import Level, PurposeSource
from codesum_pipeline.summaries.extractive import write_class, write_file, write_module
from codesum_pipeline_tests.summaries.extractive.shown_inputs import (
    child,
    class_input,
    file_input,
    module_input,
    says,
)

METHODS = (
    child("authenticate", "Authenticates a user by a password.", keywords="authenticate password"),
    child("log_out", "Logs the user out.", keywords="session logout"),
    child("is_open", "Tells whether the handler is open.", keywords="open handler"),
    child("_query", "Queries the database.", keywords="query database"),
    child("name", "The name of the handler.", placeholder=True),
)


def test_a_class_says_what_it_is_holds_and_can():
    written = write_class(class_input(bases=("BaseHandler",), fields=("timeout: float", "_db"), children=METHODS))
    text = written.text

    assert written.purpose_source is PurposeSource.NAME
    assert says(text.summary, "login handler", "base handler", "timeout", "authenticate", "log out")
    assert says(text.business_intent, "class", "base handler")
    assert {"login", "authenticate", "handler", "logout", "password", "timeout"} <= {*text.keywords}
    assert text.responsibilities == (
        "authenticate: Authenticates a user by a password.",
        "is_open: Tells whether the handler is open.",
        "log_out: Logs the user out.",
        "_query: Queries the database.",
    )


KINDS = {
    "an error": (
        {"name": "PortError", "modifiers": ("exception",), "bases": ("ValueError",)},
        "Signals a port error, a kind of value error.",
    ),
    "an enumeration": (
        {"name": "Colour", "modifiers": ("enum",), "fields": ("RED", "GREEN")},
        "Enumerates colour",
    ),
    "a record": ({"name": "Row", "modifiers": ("dataclass",), "fields": ("key: str",)}, "Describes a row."),
    "a protocol": ({"name": "Writer", "modifiers": ("protocol",)}, "Defines what every writer must offer."),
    "a mixin": ({"name": "ColourMixin"}, "Mixin that adds colour to a class."),
    "a docstring": ({"docstring": "Lets people in."}, "Lets people in."),
}


@pytest.mark.parametrize(("fields", "summary"), KINDS.values(), ids=KINDS.keys())
def test_a_class_is_named_for_its_kind(fields, summary):
    assert write_class(class_input(**fields)).text.summary.startswith(summary)


def test_a_class_that_only_holds_classes_lets_them_speak():
    runtime = child("Runtime", "Sets a response header, in seconds. More.", level=Level.CLASS, keywords="header")
    empty = child("Empty", "Class Empty without members of its own.", level=Level.CLASS, placeholder=True)
    of_one = replace(class_input("Rack", children=(runtime,)), language="ruby", signature="module Rack")
    of_two = class_input("Rack", children=(runtime, empty))
    said = "Holds the class Runtime (sets a response header, in seconds)."

    assert write_class(of_one).text.summary == said
    assert write_class(of_one).purpose_source is PurposeSource.CHILDREN
    assert (
        write_class(of_two).text.summary == "Holds the classes Runtime (sets a response header, in seconds) and Empty."
    )
    assert write_class(replace(of_two, fields=("x",))).text.summary.startswith("Represents a rack.")
    assert write_class(replace(of_two, docstring="Racks things up.")).text.summary.startswith("Racks things up.")


def test_a_class_that_only_holds_classes_is_told_above_by_their_names():
    one = child("Auth", "Holds the class Basic (checks a password).", level=Level.CLASS)
    many = child("Auth", "Holds the classes Basic (checks a password) and Digest (checks a hash).", level=Level.CLASS)
    above = replace(class_input("Rack", children=(one,)), language="ruby", signature="module Rack")

    assert write_class(above).text.summary == "Holds the class Auth::Basic (checks a password)."
    assert write_file(replace(file_input(children=(one,)), language="ruby")).text.summary == (
        "Defines the class Auth::Basic (checks a password)."
    )
    assert write_file(file_input(children=(one,), docstring="Lets people in.")).text.summary == (
        "Lets people in. Defines the class Auth.Basic."
    )
    assert write_file(file_input(children=(many,))).text.summary == (
        "Defines the class Auth, which holds the classes Basic (checks a password) and Digest (checks a hash)."
    )


def test_a_file_says_what_it_defines():
    children = (
        child("LoginHandler", "Lets people log in.", level=Level.CLASS, keywords="login people"),
        child("parse_token", "Parses a token.", keywords="token parse"),
    )
    given = file_input(imports=("json", "requests.Session"), constants=("MAX_AGE",), children=children)

    written = write_file(given)

    assert written.purpose_source is PurposeSource.CHILDREN
    assert says(written.text.summary, "class LoginHandler", "lets people log in", "parse a token", "MAX_AGE")
    assert says(written.text.business_intent, "requests")
    assert {"login", "people", "token", "parse", "requests"} <= {*written.text.keywords}
    assert written.text.responsibilities == ("LoginHandler: Lets people log in.", "parse_token: Parses a token.")


FILES = {
    "a docstring comes first": (file_input(docstring="Log people in.\n\nWith tokens."), "Log people in."),
    "an index brings names together": (
        file_input("src/auth/__init__.py", imports=(".login.LoginHandler", ".token.parse")),
        "Entry of the package auth: brings together LoginHandler and parse.",
    ),
    "a test file tells what it tests": (
        file_input("tests/test_login.py", children=(child("test_a_bad_password_is_refused", "Checks that."),)),
        "Tests login: a bad password is refused.",
    ),
    "a star import passes on": (file_input(imports=(".runtime.*",)), "Passes on what runtime defines."),
    "several star imports pass on": (file_input(imports=(".a.*", ".b.*")), "Passes on what a and b define."),
    "a trait and its companion are named once": (
        file_input(children=2 * (child("Monoid", "Adds two values.", level=Level.CLASS),)),
        "Defines the class Monoid (adds two values).",
    ),
    "a heading that repeats the module's name says nothing": (
        file_input(docstring="auth.login\n~~~~~~~~~~\n\nLog people in."),
        "Log people in.",
    ),
}


@pytest.mark.parametrize(("given", "summary"), FILES.values(), ids=FILES.keys())
def test_a_file_opens_with_what_it_is_for(given, summary):
    assert write_file(given).text.summary.startswith(summary)


README = """# Auth

[![build](https://ci.example/badge.svg)](https://ci.example)

Auth lets **people** log in, with [tokens](https://example.org) or passwords. It is small.

## Usage
"""


def test_a_folder_is_told_by_its_readme():
    children = (child("login.py", "Logs people in.", level=Level.FILE, keywords="login people"),)

    written = write_module(module_input(readme=README, children=children))

    assert written.purpose_source is PurposeSource.TEXT
    assert written.text.summary.startswith("Auth lets people log in, with tokens or passwords. It is small.")
    assert says(written.text.summary, "login.py")
    assert says(written.text.business_intent, "auth", "login")
    assert {"auth", "login", "passwords", "tokens"} <= {*written.text.keywords}
    assert written.text.responsibilities == ("login.py: Logs people in.",)


def test_a_folder_without_a_readme_is_told_by_its_package_or_its_files():
    files = (
        child("login.py", "Logs people in. More.", level=Level.FILE, keywords="login"),
        child("token.py", "Makes tokens.", level=Level.FILE, keywords="token"),
    )
    package = child("__init__.py", "Who may do what.", level=Level.FILE, keywords="rights")

    by_files = write_module(module_input(children=files)).text.summary
    by_package = write_module(module_input(children=(*files, package))).text.summary

    assert says(by_files, "auth", "2 files", "login.py", "logs people in", "token.py", "makes tokens")
    assert by_package.startswith("Who may do what.")
    assert says(by_package, "login.py", "token.py")


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_children_does_not_matter(seed):
    shuffled = list(METHODS)
    random.Random(seed).shuffle(shuffled)
    children = tuple(shuffled)

    assert write_class(class_input(children=children)) == write_class(class_input(children=METHODS))
    assert write_file(file_input(children=children)) == write_file(file_input(children=METHODS))
    assert write_module(module_input(children=children)) == write_module(module_input(children=METHODS))


def test_public_children_come_before_private_ones_and_placeholders_are_not_told():
    told = write_class(class_input(children=METHODS)).text.responsibilities

    assert told[-1].startswith("_query") and not any(one.startswith("name:") for one in told)
