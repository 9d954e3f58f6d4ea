"""A newcomer finds out from the help alone."""

import re
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from codesum_pipeline.builds.compaction.compactable_rows import KINDS
from codesum_pipeline.foundation.data_model.document import LEVELS
from codesum_pipeline.foundation.data_model.standing_question import DEFAULT_THRESHOLD
from codesum_pipeline.foundation.language_facts.file_languages import LANGUAGES
from codesum_pipeline.indexes.file_formats.version_folder import LANES
from codesum_pipeline.ways_in.cli import options
from codesum_pipeline.ways_in.cli.cli_app import COMMANDS, app, load_command
from codesum_pipeline_tests.ways_in.cli.terminal import on_a_terminal

NAMES = [command.name for command in COMMANDS]


def parameters_of(name):
    """The parameters of a command, or of each command of a group."""
    command = load_command(name)
    return [each for part in (command, *getattr(command, "commands", {}).values()) for each in part.params]


def test_the_overview_lists_every_command():
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})

    assert result.exit_code == 0
    for command in COMMANDS:
        assert command.name in result.stdout
        assert command.help.split(",")[0] in result.stdout


def test_the_overview_names_the_exit_codes():
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "400"})

    for code in range(5):
        assert f"{code} " in result.stdout.rpartition("Exit codes:")[2]


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_a_command_says_the_same_in_the_overview_and_in_its_own_help(command):
    assert load_command(command.name).help.split("\n\n")[0].replace("\n", " ") == command.help


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_and_option_is_explained(name):
    for parameter in parameters_of(name):
        assert parameter.help and parameter.help.endswith("."), parameter.name


def test_every_global_option_is_explained():
    for parameter in typer.main.get_command(app).params:
        assert parameter.help, parameter.name


@pytest.mark.parametrize("name", NAMES)
def test_a_commands_help_can_be_read(name):
    result = CliRunner().invoke(app, [name, "--help"], prog_name="codesum", env={"COLUMNS": "100"})

    assert result.exit_code == 0
    assert f"Usage: codesum {name}" in result.stdout


def test_the_table_of_options_describes_nothing_that_no_command_has():
    table = tomllib.loads(Path(options.__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    known = {name: {each.name for each in parameters_of(name)} for name in NAMES}
    known["codesum"] = {each.name for each in typer.main.get_command(app).params}

    assert table["shared"].keys() <= set().union(*known.values())
    for name in table.keys() - {"shared"}:
        parts = {key: value for key, value in table[name].items() if key not in load_parts(name)}
        assert parts.keys() <= known[name], name
        for part in table[name].keys() & load_parts(name):
            assert table[name][part].keys() <= {each.name for each in load_command(name).commands[part].params}, part


def load_parts(name):
    """The names of the commands of a group."""
    return set() if name == "codesum" else getattr(load_command(name), "commands", {}).keys()


@pytest.mark.parametrize(
    ("name", "part", "parameter", "values"),
    [
        ("prompts", "show", "name", LEVELS), ("attest", "new", "kind", KINDS),
        ("intent", "add", "threshold", [str(DEFAULT_THRESHOLD)]),
    ],
)  # fmt: skip
def test_a_help_that_names_values_names_those_that_count(name, part, parameter, values):
    (help,) = [each.help for each in load_command(name).commands[part].params if each.name == parameter]

    assert all(value in help for value in values)


@pytest.mark.parametrize(
    ("name", "option", "values"),
    [
        ("search", "--level", LEVELS), ("search", "--lane", LANES), ("search", "--language", sorted(LANGUAGES)),
        ("eval", "--level", LEVELS), ("eval", "--lane", LANES),
    ],
)  # fmt: skip
def test_the_help_of_an_option_lists_every_value_of_a_closed_set(name, option, values):
    (help,) = [parameter.help for parameter in load_command(name).params if option in parameter.opts]

    assert ", ".join(values) in help


def test_an_unknown_command_names_the_nearest():
    result = CliRunner().invoke(app, ["serach", "x"])

    assert result.exit_code == 2
    assert "'search'" in result.stderr


@pytest.mark.parametrize("name", ["prompts", "cache"])
def test_a_group_explains_its_switches_as_commands_do(name):
    shown = CliRunner().invoke(app, [name, "--help"], prog_name="codesum", env={"COLUMNS": "100"}).stdout

    assert "<bool>" not in shown
    assert "completion" not in shown


def test_a_paragraph_of_a_help_is_broken_where_the_terminal_ends():
    shown = CliRunner().invoke(app, ["doctor", "--help"], prog_name="codesum", env={"COLUMNS": "800"}).stdout

    assert "Every published index is compared" in shown
    assert [line.strip()[-1] for line in shown.splitlines() if line.startswith(" Every published")] == ["."]


@pytest.mark.parametrize("width", [80, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["", *NAMES, "prompts save", "cache prune"])
def test_no_terminal_cuts_the_name_of_an_option(name, width, tmp_path):
    command = typer.main.get_command(app)
    for part in name.split():
        command = command.commands[part] if hasattr(command, "commands") and command.name != "codesum" else None
        command = command or load_command(part)

    shown = "\n".join(on_a_terminal(*name.split(), "--help", cwd=tmp_path, width=width))

    names = [names for parameter in command.params for names in (*parameter.opts, *parameter.secondary_opts)]
    options = [option for option in names if option.startswith("--")]
    assert [option for option in options if not re.search(rf"{option}(?![\w-])", shown)] == []
    for parameter in command.params:
        if parameter.metavar:
            assert parameter.metavar in shown
    # The terminal itself breaks what is longer than a line, such as a list of choices.
    assert width == 40 or ("│" in shown and all(len(line) <= width for line in shown.splitlines()))
