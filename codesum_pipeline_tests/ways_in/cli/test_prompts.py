"""Templates are listed, shown, checked and changed from the command line."""

import json
from pathlib import Path

import pytest

from codesum_pipeline.texts.llm.templates import packaged_prompts
from codesum_pipeline.ways_in.cli.cli_app import load_command


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def _rows(result) -> list[dict]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_templates_are_listed_with_whose_they_are_and_who_uses_them(codesum, home):
    codesum(home, "prompts", "save", "instruction", "class", "-", stdin="{name} {children}")
    table = codesum(home, "prompts", "list").stdout
    rows = {(row["kind"], row["name"]): row for row in _rows(codesum(home, "prompts", "list", "--json"))}

    assert table.splitlines()[0].split() == ["kind", "name", "from", "used", "for", "path"]
    assert rows["system", "default"] == {
        "kind": "system",
        "name": "default",
        "from": "package",
        "levels": ["function", "class", "file", "module"],
        "intents": [],
        "path": str(packaged_prompts() / "system" / "default.md"),
    }
    assert rows["instruction", "class"]["from"] == "project"
    assert rows["instruction", "class"]["levels"] == ["class"]
    assert rows["instruction", "default"]["levels"] == []


def test_a_template_is_shown_as_it_is_written(codesum, home):
    packaged = (packaged_prompts() / "instruction" / "file.md").read_text()

    assert codesum(home, "prompts", "show", "instruction", "file").stdout == packaged
    assert _rows(codesum(home, "prompts", "show", "instruction", "file", "--json"))[0]["text"] == packaged


def test_a_template_is_saved_renamed_and_deleted(codesum, home, tmp_path):
    (tmp_path / "new.md").write_text("Describe {body}\n")

    saved = codesum(home, "prompts", "save", "instruction", "terse", tmp_path / "new.md")
    renamed = codesum(home, "prompts", "rename", "instruction", "terse", "function")
    shown = codesum(home, "prompts", "show", "instruction", "function")
    deleted = codesum(home, "prompts", "delete", "instruction", "function")

    assert [result.exit_code for result in (saved, renamed, shown, deleted)] == [0, 0, 0, 0]
    assert "no level uses a template of this name" in saved.stderr
    assert "used for function" in renamed.stderr
    assert "codesum plan --llm" in renamed.stderr
    assert shown.stdout == "Describe {body}\n"
    assert not list((home / "prompts" / "instruction").iterdir())


def test_templates_lie_where_the_setting_says(codesum, home):
    home.mkdir()
    (home / "codesum.toml").write_text('prompts_dir = "../ours"\n')
    codesum(home, "prompts", "save", "system", "default", "-", stdin="Write {language}.")

    assert (home.parent / "ours" / "system" / "default.md").read_text() == "Write {language}."


def test_a_template_with_an_unknown_placeholder_is_not_saved(codesum, home):
    result = codesum(home, "prompts", "save", "instruction", "function", "-", stdin="{body} {langauge}")

    assert result.exit_code == 2
    assert "instruction/function: unknown placeholder {langauge}" in result.stderr
    assert not (home / "prompts").exists()


def test_a_check_says_what_each_level_is_written_with(codesum, home):
    rows = _rows(codesum(home, "prompts", "check", "--json"))

    assert [row["level"] for row in rows[::2]] == ["function", "class", "file", "module"]
    assert [Path(row["system"]).name for row in rows] == ["default.md", "short.md"] * 4
    assert [row["is_used"] for row in rows] == [True, False] * 4
    assert len({row["digest"] for row in rows}) == 8
    assert all(row["digest"].startswith("blake3:") for row in rows)
    assert all(row["characters"] > 20_000 for row in rows[::2])
    assert all(row["characters"] < 7_000 for row in rows[1::2])
    assert "characters" in codesum(home, "prompts", "check").stdout


def test_a_check_says_that_a_small_model_is_told_the_short_template(codesum, home):
    home.mkdir()
    (home / "codesum.toml").write_text("[llm]\nmax_prompt_chars = 30000\n")

    rows = _rows(codesum(home, "prompts", "check", "--json"))

    assert [row["is_used"] for row in rows] == [False, True] * 4


def test_a_check_names_a_setting_that_is_enough_for_every_level(codesum, home):
    home.mkdir()
    settings = home / "codesum.toml"
    settings.write_text("[llm]\nmax_prompt_chars = 3000\n")

    refused = codesum(home, "prompts", "check")
    least = refused.stderr.rpartition(" ")[2].strip().replace(",", "")
    settings.write_text(f"[llm]\nmax_prompt_chars = {least}\n")

    assert refused.exit_code == 2
    assert codesum(home, "prompts", "check").exit_code == 0


def set_prompt(home, characters):
    home.mkdir(exist_ok=True)
    (home / "codesum.toml").write_text(f"[llm]\nmax_prompt_chars = {characters}\n")


def listed_levels(codesum, home):
    return {(row["kind"], row["name"]): row["levels"] for row in _rows(codesum(home, "prompts", "list", "--json"))}


def test_a_short_template_that_is_used_is_listed_and_saved_like_the_others(codesum, home):
    set_prompt(home, 30_000)
    saved = codesum(home, "prompts", "save", "system", "short", "-", stdin="Briefly, in {language}.")
    levels = listed_levels(codesum, home)

    assert "used for function, class, file, module" in saved.stderr
    assert "texts of these levels are written again" in saved.stderr
    assert levels["system", "short"] == ["function", "class", "file", "module"]
    assert levels["system", "default"] == []
    assert codesum(home, "prompts", "show", "system", "short").stdout == "Briefly, in {language}."


def test_a_short_template_that_no_level_needs_is_not_said_to_be_used(codesum, home):
    saved = codesum(home, "prompts", "save", "system", "short", "-", stdin="Briefly, in {language}.")

    assert "no level is written with it: `codesum prompts check` says which are used" in saved.stderr
    assert "used for" not in saved.stderr and "written again" not in saved.stderr
    assert listed_levels(codesum, home)["system", "short"] == []


def test_a_full_template_that_does_not_fit_is_not_said_to_be_used(codesum, home):
    set_prompt(home, 30_000)
    codesum(home, "prompts", "save", "system", "short", "-", stdin="Briefly, in {language}.")
    saved = codesum(home, "prompts", "save", "system", "default", "-", stdin="At length. " * 2_500)

    assert "no level is written with it" in saved.stderr
    assert "written again" not in saved.stderr
    assert listed_levels(codesum, home)["system", "default"] == []


def test_templates_are_listed_where_one_of_them_cannot_be_used(codesum, home):
    (home / "prompts/system").mkdir(parents=True)
    (home / "prompts/system/class.md").write_text("{oops}")

    assert listed_levels(codesum, home)["system", "class"] == ["class"]


def test_a_check_names_every_template_that_cannot_be_used(codesum, home):
    for name in ("class", "spare"):
        file = home / "prompts" / "instruction" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{children} {oops}")

    result = codesum(home, "prompts", "check")

    assert result.exit_code == 2
    assert "instruction/class: unknown placeholder {oops}" in result.stderr
    assert "instruction/spare: unknown placeholder {oops}" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("show", "system", "../../etc/passwd"), id="a name that leads out"),
        pytest.param(("show", "system", "none"), id="a template that is nowhere"),
        pytest.param(("delete", "system", "default"), id="one that ships with the package"),
        pytest.param(("show", "sytem", "default"), id="an unknown kind"),
    ],
)
def test_a_wrong_call_ends_with_a_line_and_a_code(codesum, home, arguments):
    result = codesum(home, "prompts", *arguments)

    assert result.exit_code == 2
    assert result.stderr.strip()


def test_every_command_of_the_group_is_explained():
    group = load_command("prompts")

    assert sorted(group.commands) == ["check", "delete", "list", "rename", "save", "show"]
    for command in group.commands.values():
        assert command.help
        assert all(parameter.help and parameter.help.endswith(".") for parameter in command.params)


def test_a_template_of_digests_is_saved_used_renamed_and_kept_while_it_is_used(codesum, home):
    saved = codesum(home, "prompts", "save", "digest_system", "ours", "-", stdin="In {language}.")
    codesum(home, "intent", "add", "login", "How users log in", "--system", "ours")
    again = codesum(home, "prompts", "save", "digest_system", "ours", "-", stdin="In {language}, shortly.")
    renamed = codesum(home, "prompts", "rename", "digest_system", "ours", "mine")
    refused = codesum(home, "prompts", "delete", "digest_system", "mine")
    rows = {(row["kind"], row["name"]): row for row in _rows(codesum(home, "prompts", "list", "--json"))}
    (intent,) = _rows(codesum(home, "intent", "list", "--json"))

    assert "ours.md: no intent uses a template of this name" in saved.stderr
    assert "ours.md: used for digests of login" in again.stderr
    assert "mine.md: used for digests of login" in renamed.stderr
    assert (refused.exit_code, "digest_system/mine is used by login" in refused.stderr) == (2, True)
    assert rows["digest_system", "mine"]["intents"] == rows["digest_instruction", "default"]["intents"] == ["login"]
    assert rows["digest_system", "default"]["intents"] == rows["system", "default"]["intents"] == []
    assert rows["digest_instruction", "default"]["levels"] == []
    assert (intent["system"], intent["errors"]) == ("mine", [])
    assert "digests of login" in codesum(home, "prompts", "list").stdout


def test_a_template_of_digests_is_checked_and_its_history_is_remarked_upon(codesum, home):
    saved = codesum(home, "prompts", "save", "digest_instruction", "months", "-", stdin="{intent_text} {history}")
    wrong = codesum(home, "prompts", "save", "digest_instruction", "x", "-", stdin="{articls}")
    shown = codesum(home, "prompts", "show", "digest_instruction", "months")
    fine = codesum(home, "prompts", "check")
    (home / "prompts" / "digest_instruction" / "bad.md").write_text("{body}")
    checked = codesum(home, "prompts", "check")
    deleted = codesum(home, "prompts", "delete", "digest_instruction", "months")

    assert "it has {history}: a roll-up can be written with it, a digest cannot" in saved.stderr
    assert (wrong.exit_code, "unknown placeholder {articls}" in wrong.stderr) == (2, True)
    assert shown.stdout == "{intent_text} {history}"
    assert (fine.exit_code, checked.exit_code, deleted.exit_code) == (0, 2, 0)
    assert "digest_instruction/bad: unknown placeholder {body}" in checked.stderr


def test_templates_are_listed_beside_intents_that_cannot_be_read(codesum, home):
    home.mkdir()
    (home / "intents.yaml").write_text("intents: [\n")

    listed = codesum(home, "prompts", "list", "--json")

    assert listed.exit_code == 0
    assert "intents.yaml:2: not valid YAML" in listed.stderr
    assert ("digest_system", "default") in {(row["kind"], row["name"]) for row in _rows(listed)}
