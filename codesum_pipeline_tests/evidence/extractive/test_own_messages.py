"""What functions say themselves about what they do."""

import pytest
from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.code_facts import CodeFacts
from codesum_pipeline.evidence.extractive.own_messages import Said, clause_of, said_by
from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline_tests.evidence.extractive.shown_inputs import function_in, function_of
from codesum_pipeline_tests.evidence.extractive.test_effects import function_with


def said(source: str) -> str:
    found = said_by(CodeFacts(function_in(source)))
    return found.text if found else ""


@pytest.mark.parametrize(
    ("message", "clause"),
    [
        pytest.param("Saving provider data to disk", "Saves provider data to disk", id="a gerund"),
        pytest.param("Saved provider data to disk.", "Saves provider data to disk", id="a participle"),
        pytest.param("Copying files to the cache", "Copies files to the cache", id="y becomes ies"),
        pytest.param("Stopping the worker pool", "Stops the worker pool", id="a doubled letter"),
        pytest.param("[cache] --> Building the index", "Builds the index", id="tags before it"),
        pytest.param("Moved old rows … to queue …", "Moves old rows", id="values after nouns"),
        pytest.param("Starting worker pool … with pid …", "Starts worker pool", id="a number at the end"),
        pytest.param("Built the tree of nodes", "Builds the tree of nodes", id="an irregular participle"),
        pytest.param("Downloading … to …", "", id="a value is the object"),
        pytest.param("Moving rows to …", "", id="a value after a preposition"),
        pytest.param("Failed to save the data", "", id="a failure"),
        pytest.param("Skipping rows that are broken", "", id="what is not done"),
        pytest.param("Loading done", "", id="two words"),
        pytest.param("Settings of the server", "", id="no verb"),
        pytest.param("BUILDING THE WHOLE INDEX", "", id="shouted"),
        pytest.param("Parsing {a: [1, 2}] => x|y", "", id="code"),
        pytest.param("sending … … … … values now", "", id="mostly values"),
        pytest.param("Using the given path", "", id="a detail"),
    ],
)
def test_a_message_becomes_a_clause_in_the_third_person(message, clause):
    found = clause_of(message)

    assert (found.text if found else "") == clause


def test_a_message_of_progress_that_shares_verb_and_word_with_the_name_speaks_for_the_function():
    source = "def save_data(data):\n    data.check()\n    logger.info('Saving provider data to disk')\n    data.go()\n"

    assert said_by(CodeFacts(function_in(source))) == Said("Saves provider data to disk", 3)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def save(a):\n    if a:\n        log.info('Saving the data to disk')\n", id="under a condition"),
        pytest.param("def load(a):\n    logger.info('Sending the mail to users')\n", id="another verb than the name's"),
        pytest.param("def save(a):\n    logger.error('Saving the data to disk')\n", id="an error"),
        pytest.param("def save(a):\n    raise ValueError('Saving the data to disk')\n", id="what is raised"),
        pytest.param("def save(a):\n    a.log_file.write('Saving the data to disk')\n", id="no message"),
        pytest.param(
            "def dns(a):\n" + "    a.go()\n" * 60 + "    logger.info('Saving the data to disk')\n",
            id="a detail of a long function",
        ),
    ],
)
def test_a_message_that_is_not_about_the_whole_function_says_nothing(source):
    assert said(source) == ""


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param(
            "@app.command(help='Show the version of the server.')\ndef version():\n    print(1)\n",
            "Shows the version of the server",
            id="a command",
        ),
        pytest.param(
            "@router.get('/users', summary='List all users')\ndef users():\n    return 1\n",
            "Lists all users",
            id="a route",
        ),
        pytest.param(
            "@cli.command()\n@cli.option('--level', help='Set the log level of all')\ndef run(level):\n    return 1\n",
            "",
            id="an option of a command",
        ),
        pytest.param(
            "def main():\n    parser = argparse.ArgumentParser(description='Generate notes of a release')\n"
            "    parser.add_argument('--path', help='Read this path of a file')\n",
            "Generates notes of a release",
            id="a program",
        ),
        pytest.param(
            "def add_options():\n    parser = argparse.ArgumentParser(description='Generate notes of a release')\n",
            "",
            id="a function that is not the program",
        ),
    ],
)
def test_help_texts_of_what_a_function_is_speak_for_it(source, text):
    assert said(source) == text


def test_a_function_that_builds_a_command_defines_it():
    source = 'func newListCommand() *cobra.Command {{\n\treturn &cobra.Command{{Use: "ls", Short: "{}"}}\n}}\n'

    def clause(help_text):
        parsed = PARSERS["go"].parse(f"package p\n\n{source.format(help_text)}".encode(), "a.go")
        found = said_by(CodeFacts(function_of(parsed.symbols[0])))
        return found.text if found else ""

    assert clause("List branches of a repository") == "Defines the command that lists branches of a repository"
    assert clause("List or prune branches of a repository") == ""
    assert clause("Branches of a repository") == ""


def test_messages_are_known_by_the_tables_and_by_the_name_of_the_call():
    def clause(language, statement):
        function = replace(function_with(language, statement), name="remove_records")
        found = said_by(CodeFacts(function))
        return found.text if found else ""

    assert clause("bash", 'print_info "Removing the old records"') == "Removes the old records"
    assert clause("rust", 'info!("Removing the old records")') == "Removes the old records"
    assert clause("go", 'slog.Debug("Removing the old records")') == "Removes the old records"
    assert clause("java", 'this.parse("Removing the old records")') == ""
    assert clause("ruby", 'set_message "Removing the old records"') == ""


@pytest.mark.parametrize(
    "message", ["Saving " + "data " * 100_000, "Saving " + "…" * 100_000, "\u202e" * 1000, "-" * 100_000]
)
def test_hostile_messages_are_bounded(message):
    found = clause_of(message)

    assert found is None or len(found.text) <= 160
