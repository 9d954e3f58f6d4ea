"""The documents say what the code does. `python -m codesum_pipeline_tests.test_docs` writes docs/settings.md anew."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from codesum_pipeline.foundation.settings.channel_settings import ChatSettings, EmailSettings, WebhookChannelSettings
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.marks import BY_RUN, group_of
from codesum_pipeline_tests.symbols.languages.page import PAGE, page

ROOT = Path(__file__).parent.parent
DELIVERY_PAGE = ROOT / "docs" / "delivery.md"
SETTINGS_PAGE = ROOT / "docs" / "settings.md"

HEAD = """# Settings

Defaults < `codesum.toml` in the home < environment < flags. The environment
names a key with the prefix `CODESUM_` and `__` between its parts:
`CODESUM_FILTER__MIN_LINES=5`. An unknown key is an error that names the
nearest known one. Lists and tables are written there as JSON:
`CODESUM_SKIP_PATTERNS='["docs/*", "*.min.js"]'`,
`CODESUM_LLM__PRICES='[{"model": "openai/own", "input": 0.5, "output": 1.0}]'`.

The config of a run, as the launchpad of the Dagster UI takes it, may set what
is marked, for that run, under `resources → codesum → config → settings`; all
else is refused there.

In a meaning, N is the value of the key.

| key | default | meaning |
|---|---|---|
"""


def settings_page() -> str:
    """The page that docs/settings.md must be."""
    return HEAD + "".join(f"| `{key}` | {default} | {meaning} |\n" for key, default, meaning in _rows(Settings, ""))


def _rows(model: type[BaseModel], prefix: str) -> list[tuple[str, str, str]]:
    rows = []
    for name, field in model.model_fields.items():
        if group := group_of(field):
            rows += _rows(group, f"{prefix}{name}.")
            continue
        default = "" if field.default in (PydanticUndefined, None) else f"`{_shown(field.default)}`"
        marked = " The config of a run may set it." if BY_RUN in field.metadata else ""
        rows.append((prefix + name, default, (field.description or "") + marked))
    return rows


def channel_table() -> str:
    """The rows of docs/delivery.md about the keys of channels; a key that all kinds have stands once."""
    kinds = {"email": EmailSettings, "webhook": WebhookChannelSettings, "chats": ChatSettings}
    rows: dict[tuple[str, str, str], list[str]] = {}
    for kind, model in kinds.items():
        for name, field in model.model_fields.items():
            default = "" if field.default in (PydanticUndefined, None, "") else f"`{_shown(field.default)}`"
            rows.setdefault((field.alias or name, default, field.description or ""), []).append(kind)
    lines = [
        (key, ", ".join(have) if len(have) < len(kinds) else "all", default, meaning)
        for (key, default, meaning), have in rows.items()
    ]
    return "".join(f"| `{key}` | {have} | {default} | {meaning} |\n" for key, have, default, meaning in lines)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_the_settings_page_lists_every_setting_as_it_is() -> None:
    assert SETTINGS_PAGE.read_text(encoding="utf-8") == settings_page()


def test_the_languages_page_says_what_the_declarations_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_setting_says_what_it_means() -> None:
    assert [key for key, _, meaning in _rows(Settings, "") if not meaning] == []


def test_the_delivery_page_lists_every_key_of_a_channel_as_it_is() -> None:
    assert channel_table() in DELIVERY_PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "docs/commands.md"])
def test_every_command_that_a_page_names_exists(page: str) -> None:
    from typer.main import get_command

    from codesum_pipeline.ways_in.cli.cli_app import app

    named = set(re.findall(r"\bcodesum ([a-z]+)\b", (ROOT / page).read_text(encoding="utf-8")))
    command = get_command(app)

    assert named and named <= set(command.list_commands(None)), named  # type: ignore[attr-defined, arg-type]


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/internals.md"])
def test_every_module_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", text)
    for room, rows in re.findall(r"^\| part of `(\S+)` .*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE):
        named += [f"{room}/{part}" for row in rows.splitlines() for part in re.findall(r"`([^`]+)`", row.split("|")[1])]
    lost = [
        name
        for name in named
        if not any((top / (name + end)).exists() for top in (ROOT, ROOT / "codesum_pipeline") for end in ("", ".py"))
    ]

    assert named and not lost


if __name__ == "__main__":
    SETTINGS_PAGE.write_text(settings_page(), encoding="utf-8")
