"""The pages of docs/ that are written from the code: settings, commands, tools, tables, languages and rooms.

    python -m codesum_pipeline_tests.test_docs

writes all of them anew.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from importlib.resources import files
from itertools import chain
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from rich.text import Text

from codesum_pipeline.answers.agent_tools.tool_registry import TOOLS, Tool
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.marks import BY_RUN, group_of
from codesum_pipeline.foundation.store.columns import describe_column
from codesum_pipeline.foundation.store.schemas import SCHEMA_VERSION, TABLES
from codesum_pipeline.ways_in.cli.cli_app import COMMANDS, load_command
from codesum_pipeline_tests.languages.declarations.page import page as languages_page
from codesum_pipeline_tests.support.rooms import rooms_page

_SETTINGS = """# Settings

*Reference, written from the code.* A setting has its default, unless `codesum.toml` in the home gives a value; a
variable of the environment comes before that file, and an option of a command before both. In the environment a key
has the prefix `CODESUM_`, and `__` between its parts: `CODESUM_FILTER__MIN_LINES=5`. Lists and tables are written
there as JSON: `CODESUM_SKIP_PATTERNS='["docs/*", "*.min.js"]'`,
`CODESUM_LLM__PRICES='[{"model": "openai/own", "input": 0.5, "output": 1.0}]'`. An unknown key is an error that names
the nearest known one.

Some settings may be set for one run: in the launchpad of the Dagster UI under
`resources → codesum → config → settings`. They are marked; all others are refused there.

In a meaning, N is the value of the key.

| key | default | meaning |
|---|---|---|
"""

# By class and setting.
_SENTENCES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (files("codesum_pipeline.foundation.settings") / "settings.toml").read_text("utf-8")
)

_COMMANDS = """# Commands

*Reference, written from the code.* `codesum --help` lists the commands; `codesum index --help`, for one, says what
this page says, with examples. `--home PATH` before the command names the home, `--offline` forbids the network.
"""

_TOOLS = """# Tools for agents

*Reference, written from the code.* [For agents](agents.md) says how to set them up and how to read their answers. The
default of an argument is in brackets.

"""

_TABLES = f"""# Tables

*Reference, written from the code.* `codesum sql` reads every table of every repository; the column `repo` says of
which repository a row is. The version of the tables is {SCHEMA_VERSION}. Hashes are sha1 in lowercase hex unless said
otherwise; times are UTC, as ISO 8601.

## Columns of many tables

"""
# A column that so many tables have, with the same meaning, is explained once.
_MANY = 3

Column = tuple[str, str]


def settings_page() -> str:
    return _SETTINGS + "".join(_row(f"`{key}`", default, meaning) for key, default, meaning in settings_rows(Settings))


def settings_rows(model: type[BaseModel], prefix: str = "") -> list[tuple[str, str, str]]:
    """Key, default and meaning of each setting."""
    rows = []
    for name, field in model.model_fields.items():
        if group := group_of(field):
            rows += settings_rows(group, f"{prefix}{name}.")
            continue
        marked = " The config of a run may set it." if BY_RUN in field.metadata else ""
        rows.append((prefix + name, shown_default(field.default), describe_setting(model, name) + marked))
    return rows


def describe_setting(model: type[BaseModel], name: str) -> str:
    """What a setting means; empty for one that nobody described."""
    return next((found[name] for kind in model.__mro__ if name in (found := _SENTENCES.get(kind.__name__, {}))), "")


def shown_default(value: object) -> str:
    """A default as TOML has it; nothing for none."""
    if value in (PydanticUndefined, None):
        return ""
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{item}"' for item in value) + "]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def commands_page() -> str:
    panels: dict[str, list[str]] = {}
    for command in COMMANDS:
        sections = "".join(_command_sections(f"codesum {command.name}", load_command(command.name)))
        panels.setdefault(command.panel, []).append(sections)
    return _COMMANDS + "".join(f"\n## {panel}\n{''.join(sections)}" for panel, sections in panels.items())


def _command_sections(name: str, command: Any) -> Iterator[str]:
    """A command with its arguments and options, or each command of a group."""
    help_ = Text.from_markup((command.help or "").partition("\n\n")[0]).plain
    yield f"\n### `{name}`\n\n{' '.join(help_.split())}\n"
    commands: Mapping[str, Any] = getattr(command, "commands", {})
    rows = [] if commands else [_parameter_row(each) for each in command.params if not getattr(each, "hidden", False)]
    if rows:
        yield "\n" + "".join(rows)
    for below, each in commands.items():
        yield from _command_sections(f"{name} {below}", each)


def _parameter_row(parameter: Any) -> str:
    value = parameter.metavar or parameter.name.upper()
    if parameter.param_type_name == "argument":
        name = value
    else:
        is_switch = parameter.is_flag or parameter.count
        name = ", ".join([*parameter.opts, *parameter.secondary_opts]) + ("" if is_switch else f" {value}")
    return _line(name, " ".join(Text.from_markup(parameter.help or "").plain.split()))


def tools_page() -> str:
    default, others = [[_tool_section(tool) for tool in TOOLS if tool.is_default == each] for each in (True, False)]
    return (
        f"{_TOOLS}## What every agent has\n\n{''.join(default)}## With `codesum mcp --tools all`\n\n{''.join(others)}"
    )


def _tool_section(tool: Tool) -> str:
    lines = []
    for name, field in tool.arguments.model_fields.items():
        default = shown_default(tuple(field.default) if isinstance(field.default, list) else field.default)
        lines.append(_line(name, field.description or "", f" ({default})" if default.strip("`") else ""))
    return f"### `{tool.name}`\n\n{tool.description}\n\n{''.join(lines)}\n"


def tables_page() -> str:
    """Tables of the same columns stand together; a column that many of them have is explained once."""
    writers = {table: step.name for step in STEPS for table in step.writes}
    alike: dict[tuple[Column, ...], list[str]] = {}
    for name, spec in TABLES.items():
        alike.setdefault(tuple((column, describe_column(name, column)) for column in spec.schema.names), []).append(
            name
        )
    common = {each for each, count in Counter(chain.from_iterable(alike)).items() if count >= _MANY}
    sections = [_table_section(names, columns, common, writers) for columns, names in alike.items()]
    return f"{_TABLES}{''.join(_line(*each) for each in sorted(common))}{''.join(sections)}"


def _table_section(names: list[str], columns: Iterable[Column], common: Set[Column], writers: Mapping[str, str]) -> str:
    steps = ", ".join(dict.fromkeys(f"`{writers[name]}`" for name in names if name in writers))
    written = f"Written by {steps}; sorted" if steps else "Sorted"
    key = ", ".join(f"`{column}`" for column in TABLES[names[0]].sort_by)
    of_many = ", ".join(f"`{each[0]}`" for each in columns if each in common)
    also = f" It also has {of_many}." if of_many else ""
    own = "".join(_line(*each) for each in columns if each not in common)
    return f"\n## {', '.join(f'`{name}`' for name in names)}\n\n{written} by {key}.{also}\n\n{own}"


def _line(name: str, meaning: str, default: str = "") -> str:
    return f"- `{name}`{default}" + (f": {meaning}" if meaning else "") + "\n"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


PAGES: Mapping[str, Callable[[], str]] = {
    "settings": settings_page,
    "commands": commands_page,
    "tools": tools_page,
    "tables": tables_page,
    "languages": languages_page,
    "rooms": rooms_page,
}
