"""Prompt templates: Markdown files that a person may edit, with strict placeholders.

`<kind>/<name>.md` is in the project's folder or in the copy that ships with the
package, which is never written. The names with a meaning are those of the levels
and `default`, which is used for every level without a template of its own; the
whole project's folder comes before the package's copy. A file is read at each
use, so that an edit counts from the next run on.

`system/short` is used for every level whose system template does not fit the
model's prompt. A project's own system template is never replaced by the
package's short one: a project with its own template writes its own short one.

Braces belong to placeholders: a literal brace is doubled. Values are put in
once and never parsed, whatever they hold.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from string import Formatter

from msgspec import Struct

import codesum_pipeline
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import (
    CodesumError,
    ConfigurationError,
    TemplateNotFound,
    TemplateRenderError,
)
from codesum_pipeline.foundation.data_model.hashing import canonical_json
from codesum_pipeline.foundation.store.atomic import explain_refused_writes, write_text_atomically
from codesum_pipeline.texts.llm.answer_shapes import AnswerTool
from codesum_pipeline.texts.llm.pins import blake3_of

MAX_TEMPLATE_BYTES = 64 * 1024
DEFAULT_NAME = "default"
SHORT_NAME = "short"
# System templates of questions: of a turn with tools, and of writing up an overview.
TURN_NAME, SYNTHESIS_NAME = ASK_TEMPLATES = ("ask", "synthesis")
# The template of the text that replaces old rows.
COMPACTION_NAME = "compaction"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SUFFIX = ".md"


class TemplateKind(StrEnum):
    """The system turn, the same for all documents of a level, and the user's turn, filled for each; both of digests."""

    SYSTEM = "system"
    INSTRUCTION = "instruction"
    DIGEST_SYSTEM = "digest_system"
    DIGEST_INSTRUCTION = "digest_instruction"


HISTORY = "history"
_TABLE = packaged_table(__package__, "placeholders")
# By the kind of a template, its placeholders and what they stand for.
PLACEHOLDERS: Mapping[str, Mapping[str, str]] = _TABLE["meanings"]
FILLED, _NEEDED = (
    {Level(level): frozenset(names) for level, names in _TABLE[what].items()} for what in ("filled", "needed")
)


class FoundTemplate(Struct, frozen=True):
    """The path of a template; one that ships with the package is read-only."""

    kind: TemplateKind
    name: str
    path: Path
    is_packaged: bool


class ResolvedTemplate(Struct, frozen=True):
    """The two templates of one level: `system` as it is sent, `instruction` as it is written.

    `digest` covers both raw texts and the language: it is what a request pins. `names` are those of the templates.
    `tool` replaces the level's tool where the answer is another text.
    """

    level: Level
    system: str
    instruction: str
    digest: str
    names: tuple[str, ...] = ()
    tool: AnswerTool | None = None

    def render(self, **fields: str) -> str:
        """The user's turn. `fields` are all placeholders of an instruction; those that do not apply are empty."""
        return fill_template(TemplateKind.INSTRUCTION, self.level, self.instruction, fields)

    @property
    def wrapper_chars(self) -> int:
        """Characters of the user's turn when every placeholder is empty."""
        return len(self.render(**dict.fromkeys(PLACEHOLDERS[TemplateKind.INSTRUCTION], "")))

    @property
    def characters(self) -> int:
        """Those of both turns without any material."""
        return len(self.system) + self.wrapper_chars


def resolve_template(prompts_dir: Path | None, level: Level, *, language: str) -> ResolvedTemplate:
    """The templates of a level; raises `TemplateRenderError` if one of them cannot be used."""
    return _resolved(prompts_dir, level, find_level_template(prompts_dir, TemplateKind.SYSTEM, level), language)


def resolve_short_template(prompts_dir: Path | None, level: Level, *, language: str) -> ResolvedTemplate | None:
    """The templates of a level with the short system template; None if there is none for it."""
    short = find_short_template(prompts_dir, level)
    return _resolved(prompts_dir, level, short, language) if short else None


def _resolved(prompts_dir: Path | None, level: Level, system: FoundTemplate, language: str) -> ResolvedTemplate:
    instruction = find_level_template(prompts_dir, TemplateKind.INSTRUCTION, level)
    system_text, instruction_text = _read(system), _read(instruction)
    return ResolvedTemplate(
        level=level,
        system=fill_template(system.kind, system.name, system_text, {"language": language}),
        instruction=instruction_text,
        digest=digest_of_texts(system_text, instruction_text, language=language),
        names=tuple(f"{template.kind}/{template.name}" for template in (system, instruction)),
    )


def digest_of_texts(system: str, instruction: str, *, language: str) -> str:
    """What a request pins of its two templates: their texts as they are written, and the language."""
    return blake3_of(canonical_json({"system": system, "instruction": instruction, "language": language}))


def find_short_template(prompts_dir: Path | None, level: Level) -> FoundTemplate | None:
    """The short system template for a level: the project's, or the package's where the level uses the package's own."""
    found = find_template(prompts_dir, TemplateKind.SYSTEM, SHORT_NAME)
    if found.is_packaged and not find_level_template(prompts_dir, TemplateKind.SYSTEM, level).is_packaged:
        return None
    return found


def find_level_template(prompts_dir: Path | None, kind: TemplateKind, level: Level) -> FoundTemplate:
    """The template of a level: the project's own, its default, the package's own, its default."""
    if found := _first(prompts_dir, kind, level, DEFAULT_NAME):
        return found
    raise TemplateNotFound(f"there is no template {kind}/{level} and no {kind}/{DEFAULT_NAME}: reinstall the package")


def find_template(prompts_dir: Path | None, kind: TemplateKind, name: str) -> FoundTemplate:
    """A template by name, the project's before the package's; raises `TemplateNotFound`."""
    if found := _first(prompts_dir, kind, name):
        return found
    known = ", ".join(list_templates(prompts_dir, kind))
    raise TemplateNotFound(f"there is no template {kind}/{name}; there are: {known}")


def template_exists(prompts_dir: Path | None, kind: TemplateKind, name: str) -> bool:
    """Whether the project or the package has a template of that name."""
    return _first(prompts_dir, kind, name) is not None


def _first(prompts_dir: Path | None, kind: TemplateKind, *names: str) -> FoundTemplate | None:
    """The first of these templates that there is, in the project before the package."""
    for folder in _folders(prompts_dir):
        for name in names:
            path = _path_in(folder, kind, name)
            if path.is_file():
                return FoundTemplate(kind, name, path, folder == packaged_prompts())
    return None


def list_templates(prompts_dir: Path | None, kind: TemplateKind) -> list[str]:
    """All names of a kind, sorted. Files whose name cannot be one, and links that lead out, are no templates."""
    found = set()
    for folder in _folders(prompts_dir):
        for path in (folder / kind).glob(f"*{_SUFFIX}"):
            name = path.name.removesuffix(_SUFFIX)
            with suppress(ConfigurationError):
                found |= {name} if _path_in(folder, kind, name).is_file() else set()
    return sorted(found)


def load_template(prompts_dir: Path | None, kind: TemplateKind, name: str) -> str:
    """The text of a template that can be rendered; raises `TemplateNotFound` or `TemplateRenderError`."""
    return _read(find_template(prompts_dir, kind, name))


def render_system(prompts_dir: Path | None, name: str, *, language: str) -> str:
    """The system turn of a template."""
    text = load_template(prompts_dir, TemplateKind.SYSTEM, name)
    return fill_template(TemplateKind.SYSTEM, name, text, {"language": language})


def try_render(kind: TemplateKind, name: str, content: str) -> None:
    """Raise `TemplateRenderError` if a template of that name could not be used."""
    size = len(content.encode("utf-8", "surrogatepass"))
    if size > MAX_TEMPLATE_BYTES:
        raise TemplateRenderError(
            f"template {kind}/{name} has {size:,} bytes; at most {MAX_TEMPLATE_BYTES:,} are read: shorten it"
        )
    if not content.strip():
        raise TemplateRenderError(f"template {kind}/{name} is empty: write what the model shall be told")
    used = used_placeholders(kind, name, content)
    if kind is TemplateKind.INSTRUCTION:
        levels = [Level(name)] if name in _NEEDED else LEVELS if name == DEFAULT_NAME else ()
        for field in sorted(set().union(*(_NEEDED[level] for level in levels)) - used):
            raise TemplateRenderError(
                f"template {kind}/{name} lacks {{{field}}}: the model would not see what it is about"
            )
    if kind is TemplateKind.DIGEST_INSTRUCTION and used.isdisjoint({"articles", HISTORY}):
        raise TemplateRenderError(
            f"template {kind}/{name} lacks {{articles}} (or {{{HISTORY}}}, for a roll-up): the model would not see "
            "what it is about"
        )


def save_template_atomic(prompts_dir: Path, kind: TemplateKind, name: str, content: str) -> Path:
    """Write a template into the project's folder: a reader sees the old text or the new one."""
    path = _path_in(prompts_dir, kind, name)
    try_render(kind, name, content)
    _check_filled(kind, name, content)
    write_text_atomically(path, content)
    return path


def rename_templates(
    prompts_dir: Path, kind: TemplateKind, names: Mapping[str, str], change: Callable[[], object] = lambda: None
) -> None:
    """Give templates of the project, by their old names, new ones that are free.

    `change` is called while each template has both names; if it fails, the new ones go away again. After a crash in
    between, the same call completes the rename: a name with the same text counts as free.
    """
    texts, free = {}, []
    for old, new in names.items():
        old_path, path = own_template(prompts_dir, kind, old), _path_in(prompts_dir, kind, new)
        texts[new] = load_template(prompts_dir, kind, old)
        if not path.exists():
            free.append(path)
        elif path.samefile(old_path) or load_template(prompts_dir, kind, new) != texts[new]:
            raise ConfigurationError(f"template {kind}/{new} is there already, in {path}: delete it first")
    try:
        for new, text in texts.items():
            save_template_atomic(prompts_dir, kind, new, text)
        change()
    except CodesumError:
        for path in free:
            path.unlink(missing_ok=True)
        raise
    for old in names:
        delete_template(prompts_dir, kind, old)


def delete_template(prompts_dir: Path, kind: TemplateKind, name: str) -> None:
    """Remove a template of the project; raises `TemplateNotFound` if it has none of that name."""
    path = own_template(prompts_dir, kind, name)
    with explain_refused_writes(path):
        path.unlink()


def check_template_name(name: str) -> str:
    """The name, if a template can be called so; raises `ConfigurationError`."""
    if not _NAME.fullmatch(name) or ".." in name:
        raise ConfigurationError(
            f"template name {name!r}: use up to 100 letters, digits, '.', '_' and '-', "
            "beginning with a letter or digit and without '..'"
        )
    return name


def packaged_prompts() -> Path:
    """The copy that ships: in a wheel it lies in the package, in a checkout at the project's top."""
    package = Path(codesum_pipeline.__file__).parent
    inside = package / "prompts"
    return inside if inside.is_dir() else package.parent / "prompts"


def _folders(prompts_dir: Path | None) -> tuple[Path, ...]:
    return (packaged_prompts(),) if prompts_dir is None else (prompts_dir, packaged_prompts())


def _path_in(folder: Path, kind: TemplateKind, name: str) -> Path:
    """The file of a template, which may not be there; raises `ConfigurationError` if it would lie outside."""
    check_template_name(name)
    path = folder / kind / f"{name}{_SUFFIX}"
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ConfigurationError(f"template {path} is a link that leads out of {folder}: put a copy there instead")
    return path


def own_template(prompts_dir: Path, kind: TemplateKind, name: str) -> Path:
    """The file of a template that the project can change; raises `ConfigurationError` if it has none."""
    path = _path_in(prompts_dir, kind, name)
    if path.is_file():
        return path
    if template_exists(None, kind, name):
        raise ConfigurationError(
            f"template {kind}/{name} ships with the package and stays as it is: "
            f"save one of that name, and the one in {prompts_dir} is used"
        )
    raise TemplateNotFound(f"there is no template {kind}/{name} in {prompts_dir}")


def _read(template: FoundTemplate) -> str:
    try:
        with template.path.open("rb") as file:
            data = file.read(MAX_TEMPLATE_BYTES + 1)
    except OSError as error:
        raise TemplateRenderError(f"template {template.path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_TEMPLATE_BYTES:
        raise TemplateRenderError(
            f"template {template.path} is larger than the {MAX_TEMPLATE_BYTES:,} bytes that are read: shorten it"
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TemplateRenderError(
            f"template {template.path} is not UTF-8: {error.reason} at byte {error.start}"
        ) from error
    try_render(template.kind, template.name, text)
    return text


def _check_filled(kind: TemplateKind, name: str, content: str) -> None:
    """Refuse what is surely a mistake when it is written; a template that has it already can be used."""
    if kind is TemplateKind.INSTRUCTION and name in set(Level):
        used = used_placeholders(kind, name, content)
        for field in sorted(used - FILLED[Level(name)]):
            raise TemplateRenderError(f"template {kind}/{name}: {{{field}}} is always empty at this level: remove it")


def used_placeholders(kind: TemplateKind, name: str, text: str) -> set[str]:
    """The placeholders in a template's text."""
    return {field for _, field in _pieces(kind, name, text) if field}


def fill_template(kind: TemplateKind, name: str, text: str, fields: dict[str, str]) -> str:
    """The text with a value for each placeholder of its kind."""
    if fields.keys() != PLACEHOLDERS[kind].keys():
        odd = ", ".join(sorted(fields.keys() ^ PLACEHOLDERS[kind].keys()))
        raise TemplateRenderError(f"template {kind}/{name}: each placeholder takes one value, not so: {odd}")
    return "".join(literal + (fields[field] if field else "") for literal, field in _pieces(kind, name, text))


def _pieces(kind: TemplateKind, name: str, text: str) -> list[tuple[str, str | None]]:
    """Literal text, each with the placeholder after it; raises `TemplateRenderError` naming what is none."""
    known = PLACEHOLDERS[kind]
    try:
        parsed = list(Formatter().parse(text))
    except ValueError as error:
        raise TemplateRenderError(
            f"template {kind}/{name}: {error}; a brace that is no placeholder is doubled"
        ) from error
    for _, field, format_spec, conversion in parsed:
        if field is not None and (field not in known or format_spec or conversion):
            written = field + (f"!{conversion}" if conversion else "") + (f":{format_spec}" if format_spec else "")
            allowed = ", ".join(f"{{{name}}}" for name in known)
            raise TemplateRenderError(
                f"template {kind}/{name}: unknown placeholder {{{written}}}; {kind} templates know {allowed}, "
                "and a brace that is none is doubled"
            )
    return [(literal, field) for literal, field, _, _ in parsed]
