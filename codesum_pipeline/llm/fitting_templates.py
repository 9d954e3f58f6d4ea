"""Which of a level's templates is used: the full one, or the short one where that leaves too little of the prompt."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.llm.budgets import FAIR_MATERIAL_CHARS, LEAST_MATERIAL_CHARS, chars_left, least_prompt_chars
from codesum_pipeline.llm.templates import SHORT_NAME, ResolvedTemplate, TemplateKind, resolve, resolve_short
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError


def fitting_templates(
    prompts_dir: Path | None, levels: Iterable[Level], *, language: str, max_prompt_chars: int
) -> dict[Level, ResolvedTemplate]:
    """The templates of levels under this bound: a short one is read and used only where the full one does not fit.

    Raises `ConfigurationError` where neither can be used; the error names a bound that fits all of the levels.
    """
    found: dict[Level, ResolvedTemplate] = {}
    too_long: list[_Choice] = []
    for level in levels:
        choice = _Choice.of(prompts_dir, level, language, max_prompt_chars)
        fitting = choice.fitting(max_prompt_chars)
        if fitting:
            found[level] = fitting
        else:
            too_long.append(choice)
    if too_long:
        raise ConfigurationError(_too_long(max(too_long, key=lambda choice: choice.least), max_prompt_chars))
    return found


class _Choice(Struct, frozen=True):
    """A level's templates; the short one only where it is needed and there is one."""

    full: ResolvedTemplate
    short: ResolvedTemplate | None

    @classmethod
    def of(cls, prompts_dir: Path | None, level: Level, language: str, max_prompt_chars: int) -> "_Choice":
        full = resolve(prompts_dir, level, language=language)
        if chars_left(max_prompt_chars, full.characters) >= FAIR_MATERIAL_CHARS:
            return cls(full, None)
        return cls(full, resolve_short(prompts_dir, level, language=language))

    @property
    def _both(self) -> tuple[ResolvedTemplate, ...]:
        return (self.full, self.short) if self.short else (self.full,)

    @property
    def least(self) -> int:
        """The smallest prompt that one of them can be used in."""
        return least_prompt_chars(min(template.characters for template in self._both))

    def fitting(self, max_prompt_chars: int) -> ResolvedTemplate | None:
        """The full one before the short one, and one that leaves fair room before one that leaves little."""
        for least in (FAIR_MATERIAL_CHARS, LEAST_MATERIAL_CHARS):
            for template in self._both:
                if chars_left(max_prompt_chars, template.characters) >= least:
                    return template
        return None


def _too_long(choice: _Choice, max_prompt_chars: int) -> str:
    """What does not fit, and the ways out; of several levels, of the one that takes most."""
    full, short = choice.full, choice.short
    told = f"{full.names[0]} ({full.characters:,} characters with its instruction)"
    if short:
        told += f" and {short.names[0]} ({short.characters:,}) do not fit"
        way = ""
    else:
        told += f" does not fit, and the package's {TemplateKind.SYSTEM}/{SHORT_NAME} never stands for one of your own"
        way = f"save a short one (`codesum prompts save {TemplateKind.SYSTEM} {SHORT_NAME} FILE`), or "
    return (
        f"llm.max_prompt_chars, or what the model takes, is {max_prompt_chars:,} characters. Of the templates for "
        f"level {full.level.value}, {told}: {way}take a model, or a setting, of at least {choice.least:,}"
    )
