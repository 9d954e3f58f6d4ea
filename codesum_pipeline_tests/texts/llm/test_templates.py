"""Templates can be edited by a person and cannot be misread by the package."""

import os
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, TemplateNotFound, TemplateRenderError
from codesum_pipeline.texts.llm.budgets import FAIR_MATERIAL_CHARS, USABLE_SHARE
from codesum_pipeline.texts.llm.pins import blake3_of
from codesum_pipeline.texts.llm.templates import (
    MAX_TEMPLATE_BYTES,
    PLACEHOLDERS,
    TemplateKind,
    delete_template,
    fill_template,
    find_level_template,
    find_template,
    list_templates,
    load_template,
    packaged_prompts,
    rename_templates,
    render_system,
    resolve_short_template,
    resolve_template,
    save_template_atomic,
    template_exists,
    try_render,
)
from codesum_pipeline.texts.summaries.by_model.choosing import fitting_templates

SYSTEM, INSTRUCTION = TemplateKind.SYSTEM, TemplateKind.INSTRUCTION
PACKAGED = ["class", "default", "file", "function", "module"]
EMPTY = dict.fromkeys(PLACEHOLDERS[INSTRUCTION], "")


def put(folder: Path, kind: TemplateKind, name: str, content: str | bytes) -> Path:
    path = folder / kind / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_the_package_has_a_template_for_every_level() -> None:
    assert list_templates(None, INSTRUCTION) == PACKAGED
    assert list_templates(None, SYSTEM) == ["ask", "compaction", "default", "short", "synthesis"]
    for level in LEVELS:
        assert resolve_template(None, level, language="English").system.count("Write every text\nin English;") == 1


def test_a_saved_template_is_used_instead_of_the_packaged_one(tmp_path: Path) -> None:
    path = save_template_atomic(tmp_path, INSTRUCTION, "function", "Tell of {name}:\n{body}\n")

    assert path == tmp_path / "instruction" / "function.md"
    assert find_template(tmp_path, INSTRUCTION, "function").is_packaged is False
    resolved = resolve_template(tmp_path, Level.FUNCTION, language="German")
    assert resolved.render(**{**EMPTY, "name": "f", "body": "1| pass"}) == "Tell of f:\n1| pass\n"
    assert resolved.wrapper_chars == len("Tell of :\n\n")
    assert "in German;" in resolved.system


def test_a_projects_default_stands_for_every_level_that_it_has_no_template_for(tmp_path: Path) -> None:
    save_template_atomic(tmp_path, INSTRUCTION, "default", "{body}{children}")
    save_template_atomic(tmp_path, INSTRUCTION, "class", "{children}")

    assert [find_level_template(tmp_path, INSTRUCTION, level).name for level in LEVELS] == [
        "default",
        "class",
        "default",
        "default",
    ]
    assert find_level_template(tmp_path, SYSTEM, Level.CLASS).is_packaged


def test_an_edit_counts_at_once_and_changes_the_digest(tmp_path: Path) -> None:
    save_template_atomic(tmp_path, SYSTEM, "default", "One.")
    one = resolve_template(tmp_path, Level.FILE, language="English")
    save_template_atomic(tmp_path, SYSTEM, "default", "Two.")
    two = resolve_template(tmp_path, Level.FILE, language="English")

    assert (one.system, two.system) == ("One.", "Two.")
    assert one.digest != two.digest
    assert one.digest.startswith("blake3:") and len(one.digest) == len(blake3_of(""))
    assert resolve_template(tmp_path, Level.FILE, language="French").digest != two.digest
    assert resolve_template(tmp_path, Level.FILE, language="English") == two


def test_values_are_put_in_once_whatever_they_hold(tmp_path: Path) -> None:
    save_template_atomic(tmp_path, INSTRUCTION, "mine", "{{literal}} {body}|{name}")

    text = load_template(tmp_path, INSTRUCTION, "mine")
    rendered = fill_template(INSTRUCTION, "mine", text, {**EMPTY, "body": "{name} {0} }} {language}", "name": "n"})

    assert rendered == "{literal} {name} {0} }} {language}|n"


def test_every_placeholder_takes_one_value() -> None:
    with pytest.raises(TemplateRenderError, match="instruction/function: .*not so: body, context"):
        fill_template(INSTRUCTION, "function", "", {name: "" for name in EMPTY if name not in ("body", "context")})
    with pytest.raises(TemplateRenderError, match="not so: source"):
        fill_template(INSTRUCTION, "function", "", {**EMPTY, "source": ""})


@pytest.mark.parametrize(
    ("kind", "content", "named"),
    [
        pytest.param(SYSTEM, "in {langauge}", r"system/default: unknown placeholder \{langauge\}", id="a typing error"),
        pytest.param(SYSTEM, "{body}", r"unknown placeholder \{body\}", id="one of the other kind"),
        pytest.param(SYSTEM, "{}", r"unknown placeholder \{\}", id="no name"),
        pytest.param(SYSTEM, "{0}", r"unknown placeholder \{0\}", id="a number"),
        pytest.param(SYSTEM, "{language.__class__}", r"\{language.__class__\}", id="an attribute"),
        pytest.param(SYSTEM, "{language[0]}", r"\{language\[0\]\}", id="an item"),
        pytest.param(SYSTEM, "{language!r}", r"\{language!r\}", id="a conversion"),
        pytest.param(SYSTEM, "{language:>9}", r"\{language:>9\}", id="a format"),
        pytest.param(SYSTEM, 'say {"a": 1}', r'unknown placeholder \{"a": 1\}', id="JSON without doubled braces"),
        pytest.param(SYSTEM, "a } b", "system/default: Single '}' .* doubled", id="a stray brace"),
        pytest.param(SYSTEM, " \n", "is empty", id="nothing"),
        pytest.param(SYSTEM, "x" * (MAX_TEMPLATE_BYTES + 1), "at most 65,536", id="too large"),
        pytest.param(INSTRUCTION, "{name} {children}", r"lacks \{body\}", id="a default that shows no source"),
    ],
)
def test_a_template_that_cannot_be_used_is_neither_saved_nor_loaded(
    tmp_path: Path, kind: TemplateKind, content: str, named: str
) -> None:
    with pytest.raises(TemplateRenderError, match=named):
        try_render(kind, "default", content)
    with pytest.raises(TemplateRenderError, match=named):
        save_template_atomic(tmp_path, kind, "default", content)
    assert not list(tmp_path.rglob("*"))

    put(tmp_path, kind, "default", content)
    with pytest.raises(TemplateRenderError):
        load_template(tmp_path, kind, "default")
    with pytest.raises(TemplateRenderError):
        resolve_template(tmp_path, Level.FUNCTION, language="English")


@pytest.mark.parametrize(("level", "needed"), [("function", "body"), ("class", "children"), ("module", "children")])
def test_a_levels_template_must_show_what_it_is_about(level: str, needed: str) -> None:
    with pytest.raises(TemplateRenderError, match=rf"instruction/{level} lacks \{{{needed}\}}"):
        try_render(INSTRUCTION, level, "{name} {metadata}")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    put(tmp_path, SYSTEM, "default", b"caf\xe9")

    with pytest.raises(TemplateRenderError, match=r"default\.md is not UTF-8: .* at byte 3"):
        render_system(tmp_path, "default", language="English")


@pytest.mark.parametrize("name", ["", ".hidden", "..", "a/b", "../x", "a\\b", "a..b", "/etc/x", "a\n", "ü", "x" * 101])
def test_a_name_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    for act in (
        lambda: load_template(tmp_path, SYSTEM, name),
        lambda: template_exists(tmp_path, SYSTEM, name),
        lambda: save_template_atomic(tmp_path, SYSTEM, name, "x"),
        lambda: delete_template(tmp_path, SYSTEM, name),
        lambda: rename_templates(tmp_path, SYSTEM, {"default": name}),
    ):
        with pytest.raises(ConfigurationError):
            act()
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_that_leads_out_is_refused(tmp_path: Path, linked: str) -> None:
    folder, outside = tmp_path / "prompts", tmp_path / "outside"
    put(outside, SYSTEM, "default", "Secret.")
    if linked == "file":
        (folder / "system").mkdir(parents=True)
        (folder / "system" / "default.md").symlink_to(outside / "system" / "default.md")
    else:
        folder.mkdir()
        (folder / "system").symlink_to(outside / "system")

    for act in (
        lambda: load_template(folder, SYSTEM, "default"),
        lambda: save_template_atomic(folder, SYSTEM, "default", "x"),
        lambda: delete_template(folder, SYSTEM, "default"),
        lambda: resolve_template(folder, Level.CLASS, language="English"),
    ):
        with pytest.raises(ConfigurationError, match="link that leads out of"):
            act()
    assert (outside / "system" / "default.md").read_text() == "Secret."


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    put(tmp_path, SYSTEM, "mine", "Mine.")
    (tmp_path / "system" / "default.md").symlink_to("mine.md")

    assert load_template(tmp_path, SYSTEM, "default") == "Mine."


def test_only_templates_are_listed(tmp_path: Path) -> None:
    put(tmp_path, SYSTEM, "mine", "Mine.")
    for name in (".mine.md.12-ab.tmp", ".hidden.md", "with space.md", "notes.txt"):
        (tmp_path / "system" / name).write_text("x")
    (tmp_path / "system" / "out.md").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "system" / "pipe.md")

    assert list_templates(tmp_path, SYSTEM) == ["ask", "compaction", "default", "mine", "short", "synthesis"]


def test_a_failed_save_leaves_the_old_text_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_template_atomic(tmp_path, SYSTEM, "default", "Old.")

    def refuse(*_: object) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError):
        save_template_atomic(tmp_path, SYSTEM, "default", "New.")

    assert [(found, found.read_text()) for found in path.parent.iterdir()] == [(path, "Old.")]


def test_a_renamed_template_is_used_under_its_new_name(tmp_path: Path) -> None:
    save_template_atomic(tmp_path, INSTRUCTION, "terse", "{body}")

    rename_templates(tmp_path, INSTRUCTION, {"terse": "function"})

    assert not template_exists(tmp_path, INSTRUCTION, "terse")
    assert load_template(tmp_path, INSTRUCTION, "function") == "{body}"


def test_renaming_neither_overwrites_nor_makes_what_cannot_be_used(tmp_path: Path) -> None:
    save_template_atomic(tmp_path, INSTRUCTION, "terse", "{body}")
    save_template_atomic(tmp_path, INSTRUCTION, "function", "Keep {body}")

    with pytest.raises(ConfigurationError, match="is there already"):
        rename_templates(tmp_path, INSTRUCTION, {"terse": "function"})
    with pytest.raises(TemplateRenderError, match=r"instruction/class lacks \{children\}"):
        rename_templates(tmp_path, INSTRUCTION, {"terse": "class"})
    with pytest.raises(TemplateNotFound):
        rename_templates(tmp_path, INSTRUCTION, {"nowhere": "file"})
    assert load_template(tmp_path, INSTRUCTION, "function") == "Keep {body}"
    assert load_template(tmp_path, INSTRUCTION, "terse") == "{body}"


def test_a_deleted_template_gives_way_to_the_packaged_one(tmp_path: Path) -> None:
    before = resolve_template(tmp_path, Level.CLASS, language="English")
    save_template_atomic(tmp_path, INSTRUCTION, "class", "{children}")
    delete_template(tmp_path, INSTRUCTION, "class")

    assert resolve_template(tmp_path, Level.CLASS, language="English") == before


def test_what_ships_with_the_package_is_neither_deleted_nor_renamed(tmp_path: Path) -> None:
    for act in (
        lambda: delete_template(tmp_path, SYSTEM, "default"),
        lambda: rename_templates(tmp_path, SYSTEM, {"default": "other"}),
    ):
        with pytest.raises(ConfigurationError, match="ships with the package"):
            act()
    assert (packaged_prompts() / "system" / "default.md").is_file()


def test_a_missing_template_names_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(TemplateNotFound, match="no template instruction/clas; there are: class, default, file"):
        load_template(tmp_path, INSTRUCTION, "clas")
    with pytest.raises(TemplateNotFound, match=r"no template instruction/clas in .*"):
        delete_template(tmp_path, INSTRUCTION, "clas")


@pytest.mark.parametrize(
    ("level", "field"),
    [
        pytest.param("class", "context", id="a class has no callers"),
        pytest.param("class", "body", id="a class shows no code"),
        pytest.param("function", "metadata", id="a function shows its code"),
        pytest.param("module", "code_language", id="a folder has no language"),
    ],
)
def test_a_placeholder_that_is_always_empty_at_a_level_is_not_saved(tmp_path: Path, level: str, field: str) -> None:
    needed = "{body}" if level == "function" else "{children}"

    with pytest.raises(TemplateRenderError, match=rf"instruction/{level}: \{{{field}\}} is always empty at this level"):
        save_template_atomic(tmp_path, INSTRUCTION, level, f"{needed} {{{field}}}")
    save_template_atomic(tmp_path, INSTRUCTION, "mine", f"{needed} {{{field}}}")
    with pytest.raises(TemplateRenderError, match="is always empty"):
        rename_templates(tmp_path, INSTRUCTION, {"mine": level})


def chosen(folder: Path | None, max_prompt_chars: int) -> tuple[str, ...]:
    found = fitting_templates(folder, [Level.CLASS], language="English", max_prompt_chars=max_prompt_chars)
    return found[Level.CLASS].names


def test_the_short_template_is_taken_only_where_the_full_one_does_not_fit() -> None:
    full, short = (read(None, Level.CLASS, language="English") for read in (resolve_template, resolve_short_template))
    assert short
    fits = int((full.characters + FAIR_MATERIAL_CHARS) / USABLE_SHARE) + 1

    assert chosen(None, fits) == ("system/default", "instruction/class")
    assert chosen(None, fits - 2) == ("system/short", "instruction/class")
    assert full.digest != short.digest
    assert short.characters < full.characters / 3


def test_a_broken_short_template_stops_only_those_who_need_it(tmp_path: Path) -> None:
    put(tmp_path, SYSTEM, "short", "Write {langauge}.")

    assert chosen(tmp_path, 200_000) == ("system/default", "instruction/class")
    with pytest.raises(TemplateRenderError, match=r"system/short: unknown placeholder \{langauge\}"):
        chosen(tmp_path, 20_000)


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user other than root, who reads every file")
def test_a_template_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    path = put(tmp_path, SYSTEM, "default", "Write {language}.")
    path.chmod(0)

    with pytest.raises(TemplateRenderError, match=r"default\.md cannot be read: Permission denied"):
        resolve_template(tmp_path, Level.CLASS, language="English")


def test_the_digest_of_the_short_template_covers_its_text(tmp_path: Path) -> None:
    before = resolve_short_template(tmp_path, Level.CLASS, language="English")
    save_template_atomic(tmp_path, SYSTEM, "short", "Be brief, in {language}.")
    after = resolve_short_template(tmp_path, Level.CLASS, language="English")

    assert before and after
    assert (after.system, after.digest == before.digest) == ("Be brief, in English.", False)
    assert resolve_template(tmp_path, Level.CLASS, language="English") == resolve_template(
        None, Level.CLASS, language="English"
    )


def test_the_packages_short_template_never_stands_for_one_of_your_own(tmp_path: Path) -> None:
    save_template_atomic(tmp_path, SYSTEM, "default", "Our rules. " * 2_000)

    with pytest.raises(ConfigurationError) as raised:
        chosen(tmp_path, 20_000)
    assert str(raised.value).startswith(
        "llm.max_prompt_chars, or what the model takes, is 20,000 characters. Of the templates for level class, "
        "system/default (22,"
    )
    assert "save a short one (`codesum prompts save system short FILE`), or take a model, or a setting, of at" in str(
        raised.value
    )
    least = int(str(raised.value).rpartition(" ")[2].replace(",", ""))
    assert chosen(tmp_path, least) == ("system/default", "instruction/class")
    save_template_atomic(tmp_path, SYSTEM, "short", "Our rules, in short.")
    assert chosen(tmp_path, 20_000) == ("system/short", "instruction/class")


def test_where_no_template_fits_both_are_named() -> None:
    with pytest.raises(
        ConfigurationError, match=r"system/default \(.* and system/short \(.*\) take too much: take a model"
    ):
        chosen(None, 3_000)


@pytest.mark.parametrize("has_own", [False, True], ids=["of the package", "of one's own"])
def test_the_least_prompt_that_is_named_does_for_all_levels(tmp_path: Path, has_own: bool) -> None:
    if has_own:
        put(tmp_path, SYSTEM, "class", "Our rules. " * 1_000)
        put(tmp_path, INSTRUCTION, "file", "{body} {children}" + " Our words." * 2_000)
    with pytest.raises(ConfigurationError) as raised:
        fitting_templates(tmp_path, LEVELS, language="English", max_prompt_chars=3_000)
    least = int(str(raised.value).rpartition(" ")[2].replace(",", ""))

    assert list(fitting_templates(tmp_path, LEVELS, language="English", max_prompt_chars=least)) == list(LEVELS)
    with pytest.raises(ConfigurationError):
        fitting_templates(tmp_path, LEVELS, language="English", max_prompt_chars=least - 1)


def test_the_page_beside_the_templates_names_every_placeholder() -> None:
    page = (packaged_prompts() / "README.md").read_text(encoding="utf-8")

    for placeholders in PLACEHOLDERS.values():
        assert all(f"`{{{name}}}`" in page for name in placeholders)
