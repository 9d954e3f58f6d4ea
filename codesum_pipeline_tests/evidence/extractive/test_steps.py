"""What functions do step by step, by the names of what they call; and what is no step of them."""

import pytest

from codesum_pipeline.evidence.extractive.code_facts import CodeFacts
from codesum_pipeline.evidence.extractive.composing import own_names
from codesum_pipeline.evidence.extractive.extractive_functions import write_function
from codesum_pipeline.evidence.extractive.results import said_as_written
from codesum_pipeline.evidence.extractive.steps import steps_in_prose
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline_tests.evidence.extractive.shown_inputs import function_in, function_of


def steps_in(path: str, source: str, name: str, *, said: str = "") -> str:
    language = language_of_path(path)
    assert language is not None
    parsed = parse_file(path, language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
    (function,) = [function_of(one) for one in parsed.symbols if one.qualified_name == name]
    code = CodeFacts(function)
    return steps_in_prose(code, said, own_names(function).union(said_as_written(code)))


PYTHON = "def start(self, path, config, order, force):\n    {}\n"
STEPS = {
    "the name of what is called": ("load_settings()", "Loads settings."),
    "several, in the order of the lines": (
        "load_settings()\n    open_connection()\n    register_routes()",
        "Loads settings, opens the connection and registers routes.",
    ),
    "what is asked, where the verb is about that": ("self.server.start()", "Starts the server."),
    "what is handed in, where the verb is about that": ("validate(order)", "Validates an order."),
    "a value that only a verb can name": ("found = parse_settings(force)", "Parses settings."),
    "what is saved": ("config.save()", "Saves the config."),
    "under its condition": ("if force:\n        clear_cache()", "Clears the cache when force."),
    "one condition of all": (
        "if force:\n        clear_cache()\n        reload_settings()",
        "Clears the cache and reloads settings when force.",
    ),
    "what is made": ("return Session(path)", "Creates a session."),
    "where something is got from": ("name = config.get_owner()", "Gets the owner from the config."),
}
NO_STEPS = {
    "an answer": "if is_open(path): pass",
    "what every program calls": "items.append(path); print(path)",
    "a name that may be a noun": "found = filter_options(path)",
    "a verb whose object is not known": "parse(path, config)",
    "a name that is no verb": "settings(path)",
    "what is run later": "later(lambda: drop_tables())",
    "a condition that names other code": "if Other.is_open(path):\n        clear_cache()",
    "what is raised": "raise SessionClosed(path)",
    "what has no name but its place": "self.jobs.remove_first()",
}


@pytest.mark.parametrize("case", STEPS)
def test_a_step_is_the_name_of_a_call_read_as_a_clause(case):
    body, steps = STEPS[case]

    assert steps_in("app.py", PYTHON.format(body), "start") == steps


@pytest.mark.parametrize("case", NO_STEPS)
def test_what_is_not_certain_is_no_step(case):
    assert steps_in("app.py", PYTHON.format(NO_STEPS[case]), "start") == ""


@pytest.mark.parametrize(
    ("path", "source", "name", "steps"),
    [
        pytest.param(
            "App.kt",
            "class App {\n fun open() {\n loadSettings()\n button.setListener { v ->\n dropTables()\n }\n }\n}",
            "App.open",
            "Loads settings and sets the listener.",
            id="a listener of Kotlin",
        ),
        pytest.param(
            "app.ts",
            "class App { open() {\n this.loadSettings();\n this.button.onClick(() => {\n this.dropTables();\n });\n} }",
            "App.open",
            "Loads settings.",
            id="a handler of TypeScript",
        ),
        pytest.param(
            "app.ts",
            "class App { open(rows) {\n  rows.forEach((row) => {\n    this.saveRow(row);\n  });\n} }",
            "App.open",
            "Saves the row.",
            id="a loop of TypeScript",
        ),
        pytest.param(
            "App.java",
            "class App { void open(Map rows) {\n  if (rows.isEmpty()) {\n    loadRows();\n  }\n} }",
            "App.open",
            "Loads rows when rows.isEmpty().",
            id="a condition of Java",
        ),
        pytest.param("app.go", "package a\nfunc Open() {\n\tdefer closeLog()\n}\n", "Open", "Closes the log.", id="Go"),
    ],
)
def test_steps_of_other_languages_are_those_that_are_run_at_once(path, source, name, steps):
    assert steps_in(path, source, name) == steps


def test_what_a_text_says_already_is_no_step():
    source = PYTHON.format("load_settings()\n    open_connection()")

    assert steps_in("app.py", source, "start", said="Loads settings of a user.") == "Opens the connection."


def test_a_test_says_what_it_does_without_its_checks():
    source = "def test_start(app):\n    open_connection()\n    assert_started(app)\n"

    assert steps_in("test_app.py", source, "test_start") == "Opens the connection."


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("def later(self, path):\n    self.client.do_ahead(path)\n", "Delegates to the client (do ahead)."),
        ("def later(self, path):\n    return super().later(path)\n", "Later."),
        ("def later(self, path):\n    return ahead(path)\n", "Later."),
        ("def later(self, path):\n    if path:\n        client.do_ahead(path)\n", "Later."),
    ],
)
def test_a_function_that_only_asks_another_says_whom(source, summary):
    assert write_function(function_in(source)).text.summary == summary


def test_an_author_who_says_more_than_the_name_is_not_interrupted():
    told = 'def start(path):\n    """Bring the service up, one part after the other."""\n    load_settings()\n'
    echo = 'def start_app(path):\n    """Start the app."""\n    load_settings()\n'

    assert write_function(function_in(told)).text.summary == "Bring the service up, one part after the other."
    assert write_function(function_in(echo)).text.summary == "Start the app. Loads settings."


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ('def kind(self):\n    return "asset"\n', 'Returns "asset".'),
        ("def owner_name(self):\n    return self.config.label\n", "Returns the label of its config."),
        ("def users(self):\n    return self.store.active_rows()\n", "Returns the active rows of its store."),
        ("def area(self):\n    return self.width * self.height\n", "Computes width * height."),
        ("def limit(self):\n    return 250\n", "Returns 250."),
    ],
)
def test_what_comes_back_is_said_as_the_code_says_it(source, summary):
    assert summary in write_function(function_in(source)).text.summary


@pytest.mark.parametrize(("text", "said"), [("rowsOfTable", True), ("RowsOfTable", False)])
def test_a_text_that_comes_back_is_said_as_it_is_written_or_not_at_all(text, said):
    summary = write_function(function_in(f'def kind(self):\n    return "{text}"\n')).text.summary

    assert (f'Returns "{text}".' in summary) is said
    assert "rows of table" not in summary.lower()


@pytest.mark.parametrize(("before", "steps"), [(1999, "Loads settings."), (2001, "")])
def test_a_call_too_far_from_its_head_is_no_step(before, steps):
    source = PYTHON.format("\n    ".join([*(f"x = {number}" for number in range(before)), "load_settings()"]))

    assert steps_in("app.py", source, "start") == steps


@pytest.mark.parametrize(("locals_", "summary"), [(199, "Sets its rows."), (200, "Later.")])
def test_of_many_assignments_the_first_are_read(locals_, summary):
    body = "".join(f"local{number} = {number};\n" for number in range(locals_))
    declared = "int " + ", int ".join(f"local{number}" for number in range(locals_))
    source = f"class A {{ void later({declared}) {{\n{body}rows = 1;\n}} }}"
    parsed = parse_file("A.java", "java", source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
    (function,) = [function_of(one) for one in parsed.symbols if one.name == "later"]

    assert write_function(function).text.summary == summary
