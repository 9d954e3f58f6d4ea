"""Which of a level's templates is used: the full one, or the short one where that leaves too little of the prompt."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.texts.llm.budgets import FAIR_MATERIAL_CHARS, LEAST_MATERIAL_CHARS, chars_left, least_prompt_chars
from codesum_pipeline.texts.llm.templates import (
    SHORT_NAME,
    ResolvedTemplate,
    TemplateKind,
    resolve_short_template,
    resolve_template,
)


def fitting_templates(
    prompts_dir: Path | None, levels: Iterable[Level], *, language: str, max_prompt_chars: int
) -> dict[Level, ResolvedTemplate]:
    """The templates of levels under this bound: a short one is read and used only where the full one does not fit.

    Raises `ConfigurationError` if neither can be used; the error names a bound that fits all of the levels.
    """
    found: dict[Level, ResolvedTemplate] = {}
    too_long: list[tuple[ResolvedTemplate, ...]] = []
    for level in levels:
        full = resolve_template(prompts_dir, level, language=language)
        needs_short = chars_left(max_prompt_chars, full.characters) < FAIR_MATERIAL_CHARS
        short = resolve_short_template(prompts_dir, level, language=language) if needs_short else None
        choices = (full, short) if short else (full,)
        # The full one before the short one, and one that leaves fair room before one that leaves little.
        for least in (FAIR_MATERIAL_CHARS, LEAST_MATERIAL_CHARS):
            for template in choices:
                if chars_left(max_prompt_chars, template.characters) >= least:
                    found.setdefault(level, template)
        if level not in found:
            too_long.append(choices)
    if too_long:
        raise ConfigurationError(_too_long(max(too_long, key=_least_chars), max_prompt_chars))
    return found


def _least_chars(choices: Iterable[ResolvedTemplate]) -> int:
    """The smallest prompt that one of these can be used in."""
    return least_prompt_chars(min(template.characters for template in choices))


def _too_long(choices: Sequence[ResolvedTemplate], max_prompt_chars: int) -> str:
    """What does not fit, and the ways out; of several levels, of the one that takes most."""
    full, *short = choices
    misfit = f"{full.names[0]} ({full.characters:,} characters with its instruction)"
    if short:
        misfit += f" and {short[0].names[0]} ({short[0].characters:,}) do not fit"
        way = ""
    else:
        misfit += (
            f" does not fit, and the package's {TemplateKind.SYSTEM}/{SHORT_NAME} never stands for one of your own"
        )
        way = f"save a short one (`codesum prompts save {TemplateKind.SYSTEM} {SHORT_NAME} FILE`), or "
    return (
        f"llm.max_prompt_chars, or what the model takes, is {max_prompt_chars:,} characters. Of the templates for "
        f"level {full.level.value}, {misfit}: {way}take a model, or a setting, of at least {_least_chars(choices):,}"
    )
