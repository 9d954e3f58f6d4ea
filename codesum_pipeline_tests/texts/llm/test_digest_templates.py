"""Templates of digests: what may stand in them, and which of it has a value when."""

import re
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import TemplateNotFound, TemplateRenderError
from codesum_pipeline.texts.llm.digest_templates import DigestTemplate, load_digest_template
from codesum_pipeline.texts.llm.templates import TemplateKind, digest_of_texts, save_template_atomic

SYSTEM, INSTRUCTION = TemplateKind.DIGEST_SYSTEM, TemplateKind.DIGEST_INSTRUCTION


def saved(folder: Path, kind: TemplateKind, content: str) -> DigestTemplate:
    save_template_atomic(folder, kind, "ours", content)
    return load_digest_template(folder, kind, "ours")


@pytest.mark.parametrize("kind", [SYSTEM, INSTRUCTION])
def test_a_default_ships_and_digests_are_written_with_it(kind: TemplateKind) -> None:
    shipped = load_digest_template(None, kind, "default")

    values = {"language": "Finnish"} if kind is SYSTEM else {"intent_text": "How we pay?", "articles": "[1] a change"}
    filled = shipped.for_digest(**values)

    assert not shipped.has_history
    assert all(filled.count(value) == 1 for value in values.values())
    assert not re.search(r"\{\w+\}", filled)


@pytest.mark.parametrize(
    ("kind", "content", "values"),
    [
        (SYSTEM, "Write {language}. {history}", {"language": "Thai"}),
        (INSTRUCTION, "Of {intent_text}: {history}", {"intent_text": "pay"}),
    ],
)
def test_history_is_saved_fills_a_rollup_and_is_an_error_in_a_digest(
    tmp_path: Path, kind: TemplateKind, content: str, values: dict[str, str]
) -> None:
    template = saved(tmp_path, kind, content)

    assert template.has_history
    assert template.for_rollup(history="{articles} of May", **values).endswith("{articles} of May")
    with pytest.raises(TemplateRenderError, match=rf"template {kind}/ours: {{history}} has a value in a roll-up alone"):
        template.for_digest(**values, **({"articles": "x"} if kind is INSTRUCTION else {}))


def test_a_rollup_is_told_that_a_template_has_no_place_for_the_history(tmp_path: Path) -> None:
    template = saved(tmp_path, INSTRUCTION, "{intent_text}: {articles}")

    assert not template.has_history
    assert template.for_rollup(history="May", intent_text="pay") == "pay: "


@pytest.mark.parametrize(
    ("kind", "content", "problem"),
    [
        (SYSTEM, "{intent_text}", "digest_system/ours: unknown placeholder {intent_text}"),
        (SYSTEM, "{articles}", "digest_system/ours: unknown placeholder {articles}"),
        (INSTRUCTION, "{articles} {language}", "digest_instruction/ours: unknown placeholder {language}"),
        (INSTRUCTION, "{articles} {body}", "digest_instruction/ours: unknown placeholder {body}"),
        (INSTRUCTION, "{intent_text}", "digest_instruction/ours lacks {articles}"),
        (INSTRUCTION, "{articles} {", "digest_instruction/ours: "),
        (SYSTEM, " \n", "digest_system/ours is empty"),
    ],
)
def test_what_could_not_be_used_is_neither_saved_nor_read(
    tmp_path: Path, kind: TemplateKind, content: str, problem: str
) -> None:
    with pytest.raises(TemplateRenderError, match=re.escape(problem)):
        saved(tmp_path, kind, content)
    assert not list(tmp_path.iterdir())

    (tmp_path / kind).mkdir()
    (tmp_path / kind / "ours.md").write_text(content)
    with pytest.raises(TemplateRenderError, match=re.escape(problem)):
        load_digest_template(tmp_path, kind, "ours")


def test_a_template_that_is_nowhere_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(TemplateNotFound, match="no template digest_system/gone; there are: default, "):
        load_digest_template(tmp_path, SYSTEM, "gone")


def test_the_pin_changes_with_either_text_and_with_the_language(tmp_path: Path) -> None:
    system, instruction = (load_digest_template(None, kind, "default") for kind in (SYSTEM, INSTRUCTION))
    other_system, other_instruction = saved(tmp_path, SYSTEM, "{language}"), saved(tmp_path, INSTRUCTION, "{articles}")
    pins = {
        digest_of_texts(system.text, instruction.text, language="Thai"),
        digest_of_texts(system.text, instruction.text, language="Lao"),
        digest_of_texts(other_system.text, instruction.text, language="Thai"),
        digest_of_texts(system.text, other_instruction.text, language="Thai"),
    }

    assert len(pins) == 4
    assert all(pin.startswith("blake3:") for pin in pins)
