"""A template that intents use is not deleted."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, TemplateNotFound
from codesum_pipeline.notifications.intents.intent_templates import delete_digest_template
from codesum_pipeline.notifications.intents.intents_file import Intents
from codesum_pipeline.texts.llm.templates import TemplateKind, save_template_atomic, template_exists

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


def own(prompts: Path) -> list[str]:
    return sorted(path.stem for path in (prompts / SYSTEM).glob("*.md"))


def all_are_there(intents: Intents, prompts: Path) -> bool:
    return all(
        template_exists(prompts, SYSTEM, each.system_template)
        and template_exists(prompts, INSTRUCTION, each.instruction_template)
        for each in intents.survey().intents
    )


def test_only_ones_own_templates_are_deleted(intents: Intents, prompts: Path) -> None:
    with pytest.raises(ConfigurationError, match="digest_system/default ships with the package and stays"):
        delete_digest_template(intents, prompts, SYSTEM, "default")
    with pytest.raises(TemplateNotFound, match="there is no template digest_system/gone"):
        delete_digest_template(intents, prompts, SYSTEM, "gone")


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


def test_nothing_is_deleted_while_nobody_can_see_who_uses_it(intents: Intents, prompts: Path) -> None:
    intents.file.write_text(WRITTEN + "  d: {text: t\n")

    with pytest.raises(ConfigurationError, match=r"which intents use template digest_system/ours: intents.yaml:1"):
        delete_digest_template(intents, prompts, SYSTEM, "ours")
    assert own(prompts) == ["ours"]


def test_an_intent_that_is_broken_otherwise_counts_as_a_user(intents: Intents, prompts: Path) -> None:
    intents.file.write_text("intents:\n  d: {txt: t, system: ours}\n")

    with pytest.raises(ConfigurationError, match="is used by d"):
        delete_digest_template(intents, prompts, SYSTEM, "ours")


def test_without_any_intents_templates_are_deleted_freely(tmp_path: Path, prompts: Path) -> None:
    none = Intents(tmp_path / "other" / "intents.yaml")

    assert delete_digest_template(none, prompts, SYSTEM, "ours") == []
    assert not none.file.exists()


def test_the_template_for_rollups_is_kept_while_it_is_used(intents: Intents, prompts: Path) -> None:
    save_template_atomic(prompts, SYSTEM, "ours-history", "{history}")

    with pytest.raises(ConfigurationError, match="ours-history is used by a, b"):
        delete_digest_template(intents, prompts, SYSTEM, "ours-history")
