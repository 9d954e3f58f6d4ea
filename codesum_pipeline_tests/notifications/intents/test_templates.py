"""A template that intents use is renamed together with them, whatever happens meanwhile, and not deleted."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import CannotWrite, ConfigurationError, TemplateNotFound
from codesum_pipeline.notifications.intents.intent_templates import delete_digest_template, rename_digest_template
from codesum_pipeline.notifications.intents.intents_file import Intents
from codesum_pipeline.texts.llm import templates
from codesum_pipeline.texts.llm.templates import TemplateKind, save_template_atomic, template_exists
from codesum_pipeline_tests.support.small_disk import files_of_at_most

SYSTEM, INSTRUCTION = TemplateKind.DIGEST_SYSTEM, TemplateKind.DIGEST_INSTRUCTION
WRITTEN = """# By hand.
intents:
  a: {text: t, system: ours}    # the first
  b:
    text: t
    system: ours
    instruction: ours
    enabled: false
  c: {text: t}
"""


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    for kind, text in ((SYSTEM, "In {language}."), (INSTRUCTION, "{articles}")):
        save_template_atomic(tmp_path / "prompts", kind, "ours", text)
    return tmp_path / "prompts"


@pytest.fixture
def intents(tmp_path: Path) -> Intents:
    (tmp_path / "intents.yaml").write_text(WRITTEN)
    return Intents(tmp_path / "intents.yaml")


def state(intents: Intents, prompts: Path) -> tuple[set[str], list[str]]:
    """The system templates that intents name, and one's own that are there."""
    return {each.system_template for each in intents.survey().intents}, own(prompts)


def own(prompts: Path) -> list[str]:
    return sorted(path.stem for path in (prompts / SYSTEM).glob("*.md"))


def all_are_there(intents: Intents, prompts: Path) -> bool:
    return all(
        template_exists(prompts, SYSTEM, each.system_template)
        and template_exists(prompts, INSTRUCTION, each.instruction_template)
        for each in intents.survey().intents
    )


def test_a_rename_changes_the_intents_that_use_it_and_keeps_what_else_is_written(
    intents: Intents, prompts: Path
) -> None:
    rename_digest_template(intents, prompts, SYSTEM, "ours", "mine")

    assert (prompts / "digest_system" / "mine.md").read_text() == "In {language}."
    assert state(intents, prompts) == ({"mine", "default"}, ["mine"])
    assert intents.file.read_text() == WRITTEN.replace("system: ours", "system: mine")
    assert template_exists(prompts, INSTRUCTION, "ours")


def test_the_template_goes_back_where_the_intents_cannot_be_changed(intents: Intents, prompts: Path) -> None:
    intents.file.write_text(WRITTEN + "# long\n" * 3_000)
    before = intents.file.read_bytes()

    with pytest.raises(CannotWrite, match="file size limit"), files_of_at_most(10_000):
        rename_digest_template(intents, prompts, SYSTEM, "ours", "mine")

    assert intents.file.read_bytes() == before
    assert state(intents, prompts) == ({"ours", "default"}, ["ours"])


@pytest.mark.parametrize("step", ["save_template_atomic", "Intents.rename_template", "delete_template"])
@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
def test_a_rename_that_is_killed_leaves_every_intent_its_template_and_is_finished_by_the_next(
    intents: Intents, prompts: Path, step: str, is_done: bool
) -> None:
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_rename_killed, args=(intents, prompts, step, is_done))
    process.start()
    process.join(60)

    assert process.exitcode == -signal.SIGKILL
    assert all_are_there(intents, prompts)
    if not (step == "delete_template" and is_done):
        rename_digest_template(intents, prompts, SYSTEM, "ours", "mine")
    assert state(intents, prompts) == ({"mine", "default"}, ["mine"])
    assert intents.file.read_text() == WRITTEN.replace("system: ours", "system: mine")


def _rename_killed(intents: Intents, prompts: Path, step: str, is_done: bool) -> None:
    """The process ends just before or after one step, as by a power cut."""
    owner: object = Intents if step.startswith("Intents.") else templates
    name = step.removeprefix("Intents.")
    real: Callable[..., object] = getattr(owner, name)

    def killed(*arguments: object) -> None:
        if is_done:
            real(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, killed)
    rename_digest_template(intents, prompts, SYSTEM, "ours", "mine")


def test_a_rename_that_is_cut_short_between_two_deletes_is_finished_by_the_next(
    intents: Intents, prompts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_template_atomic(prompts, SYSTEM, "ours-history", "{history}")
    delete_template, deleted = templates.delete_template, []

    def delete_one(folder: Path, kind: TemplateKind, name: str) -> None:
        if deleted:
            raise KeyboardInterrupt
        deleted.append(name)
        delete_template(folder, kind, name)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(templates, "delete_template", delete_one)
        rename_digest_template(intents, prompts, SYSTEM, "ours", "mine")
    rename_digest_template(intents, prompts, SYSTEM, "ours", "mine")

    assert (len(deleted), own(prompts)) == (1, ["mine", "mine-history"])


@pytest.mark.parametrize("new", ["ours", "taken"])
def test_a_name_that_is_taken_is_refused_and_nothing_changes(intents: Intents, prompts: Path, new: str) -> None:
    save_template_atomic(prompts, SYSTEM, "taken", "Another.")

    with pytest.raises(ConfigurationError, match=f"template digest_system/{new} is there already, in "):
        rename_digest_template(intents, prompts, SYSTEM, "ours", new)

    assert state(intents, prompts) == ({"ours", "default"}, ["ours", "taken"])
    assert intents.file.read_text() == WRITTEN


def test_only_ones_own_templates_are_renamed_and_deleted(intents: Intents, prompts: Path) -> None:
    for change in (
        lambda name: rename_digest_template(intents, prompts, SYSTEM, name, "mine"),
        lambda name: delete_digest_template(intents, prompts, SYSTEM, name),
    ):
        with pytest.raises(ConfigurationError, match="digest_system/default ships with the package and stays"):
            change("default")
        with pytest.raises(TemplateNotFound, match="there is no template digest_system/gone"):
            change("gone")


def test_a_default_of_ones_own_takes_those_along_who_name_none(intents: Intents, prompts: Path) -> None:
    save_template_atomic(prompts, SYSTEM, "default", "In {language}, shortly.")

    rename_digest_template(intents, prompts, SYSTEM, "default", "short")

    assert intents.get("c").system_template == "short"


def test_a_template_that_intents_use_is_not_deleted(intents: Intents, prompts: Path) -> None:
    with pytest.raises(
        ConfigurationError,
        match="template digest_system/ours is used by a, b: have them use another one in intents.yaml first",
    ):
        delete_digest_template(intents, prompts, SYSTEM, "ours")
    assert template_exists(prompts, SYSTEM, "ours")

    save_template_atomic(prompts, SYSTEM, "unused", "In {language}.")
    assert delete_digest_template(intents, prompts, SYSTEM, "unused") == []
    assert not template_exists(prompts, SYSTEM, "unused")


def test_a_default_of_ones_own_is_deleted_and_the_packages_stands_in(intents: Intents, prompts: Path) -> None:
    save_template_atomic(prompts, SYSTEM, "default", "In {language}, shortly.")

    assert delete_digest_template(intents, prompts, SYSTEM, "default") == ["c"]
    assert all_are_there(intents, prompts)


def test_nothing_is_renamed_or_deleted_while_nobody_can_see_who_uses_it(intents: Intents, prompts: Path) -> None:
    intents.file.write_text(WRITTEN + "  d: {text: t\n")

    for change in (
        lambda: rename_digest_template(intents, prompts, SYSTEM, "ours", "mine"),
        lambda: delete_digest_template(intents, prompts, SYSTEM, "ours"),
    ):
        with pytest.raises(ConfigurationError, match=r"which intents use template digest_system/ours: intents.yaml:1"):
            change()
    assert state(intents, prompts)[1] == ["ours"]


def test_an_intent_that_is_broken_otherwise_counts_as_a_user(intents: Intents, prompts: Path) -> None:
    intents.file.write_text("intents:\n  d: {txt: t, system: ours}\n")

    rename_digest_template(intents, prompts, SYSTEM, "ours", "mine")
    with pytest.raises(ConfigurationError, match="is used by d"):
        delete_digest_template(intents, prompts, SYSTEM, "mine")


def test_without_any_intents_templates_are_renamed_and_deleted_freely(tmp_path: Path, prompts: Path) -> None:
    none = Intents(tmp_path / "other" / "intents.yaml")

    rename_digest_template(none, prompts, SYSTEM, "ours", "mine")
    assert delete_digest_template(none, prompts, SYSTEM, "mine") == []
    assert not none.file.exists()


def test_the_template_for_rollups_goes_along_and_is_kept_while_it_is_used(intents: Intents, prompts: Path) -> None:
    save_template_atomic(prompts, SYSTEM, "ours-history", "{history}")

    with pytest.raises(
        ConfigurationError, match="ours-history is used for roll-ups of a, b: rename digest_system/ours"
    ):
        rename_digest_template(intents, prompts, SYSTEM, "ours-history", "other")
    with pytest.raises(ConfigurationError, match="ours-history is used by a, b"):
        delete_digest_template(intents, prompts, SYSTEM, "ours-history")
    save_template_atomic(prompts, SYSTEM, "mine-history", "In {language}: {history}")
    with pytest.raises(ConfigurationError, match="digest_system/mine-history is there already"):
        rename_digest_template(intents, prompts, SYSTEM, "ours", "mine")
    assert (own(prompts), intents.file.read_text()) == (["mine-history", "ours", "ours-history"], WRITTEN)

    delete_digest_template(intents, prompts, SYSTEM, "mine-history")
    rename_digest_template(intents, prompts, SYSTEM, "ours", "mine")
    assert own(prompts) == ["mine", "mine-history"]
