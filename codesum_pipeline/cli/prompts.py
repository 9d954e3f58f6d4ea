"""`codesum prompts`: the templates of what a language model is told."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from codesum_pipeline.cli.commands import CommandGroup
from codesum_pipeline.cli.failures import complain
from codesum_pipeline.cli.invocation import invocation, make_home
from codesum_pipeline.cli.options import switch
from codesum_pipeline.cli.render import escaped, note, on_terminal, safe_json, show, table
from codesum_pipeline.intents.file import Intents
from codesum_pipeline.intents.templates import FIELDS, delete_digest_template, rename_digest_template
from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.llm.digest_templates import ROLLUP_SUFFIX, load_digest_template
from codesum_pipeline.llm.fitting_templates import fitting_template, fitting_templates
from codesum_pipeline.llm.templates import (
    ASK_TEMPLATES,
    COMPACTION_NAME,
    HISTORY,
    SHORT_NAME,
    FoundTemplate,
    ResolvedTemplate,
    TemplateKind,
    delete_template,
    find_for,
    find_short,
    find_template,
    list_templates,
    load_template,
    rename_template,
    resolve,
    resolve_short,
    save_template_atomic,
)
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.intents import Intent
from codesum_pipeline.store.layout import edited

prompts = CommandGroup("prompts")

Kind = Annotated[
    TemplateKind, typer.Argument(help="Of the system turn, or of the user's turn (instruction); those of digests.")
]
Name = Annotated[str, typer.Argument(help="A level (function, class, file, module), default, or a name of your own.")]
AsJson = Annotated[bool, switch("--json", "Print JSON, one object per line.")]

_COMPACT = "codesum compact"
# The system template that each level is written with by the model that is set.
_Systems = Mapping[Level, FoundTemplate | None]


@prompts.command("list")
def list_(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List all templates: whose they are, and which levels and intents use them.

    A template of your own comes before the package's; a level uses the one of its name, else [bold]default[/], and
    [bold]short[/] where the model's prompt has no room for that one.
    """
    folder, used, intents = _folder(ctx), _used_systems(ctx), _known_intents(ctx)
    rows = [
        _listed(folder, used, intents, kind, name) for kind in TemplateKind for name in list_templates(folder, kind)
    ]
    if as_json:
        for row in rows:
            typer.echo(safe_json(row))
        return
    columns = ("kind", "name", "from", "used for", "path")
    cells = [(*list(row.values())[:3], _uses(row), row["path"]) for row in rows]
    show(table(columns, cells))


@prompts.command("show")
def show_(ctx: typer.Context, kind: Kind, name: Name, as_json: AsJson = False) -> None:
    """Print a template as it is written."""
    folder = _folder(ctx)
    text = load_template(folder, kind, name)
    if as_json:
        typer.echo(safe_json(_listed(folder, _used_systems(ctx), _known_intents(ctx), kind, name) | {"text": text}))
    else:
        typer.echo(escaped(text) if on_terminal() else text, nl=False)


@prompts.command()
def check(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Check every template, and say which ones each level is written with by the model that is set.

    What could not be used is named with its placeholder; the exit code is 2 then.
    """
    folder = _folder(ctx)
    problems = [problem for kind in TemplateKind for problem in _problems(folder, kind)]
    if problems:
        raise ConfigurationError("; ".join(problems))
    llm = invocation(ctx).settings.llm
    used = fitting_templates(folder, LEVELS, language=llm.language, max_prompt_chars=prompt_chars(llm))
    rows = [row for level in LEVELS for row in _checked(folder, used[level], language=llm.language)]
    if as_json:
        for row in rows:
            typer.echo(safe_json(row))
        return
    cells = [("yes" if row["is_used"] else None, *list(row.values())[1:]) for row in rows]
    show(table(("used", *list(rows[0])[1:]), cells, right=("characters",)))


@prompts.command()
def save(
    ctx: typer.Context,
    kind: Kind,
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new text; - reads it from standard input.")],
) -> None:
    """Save a template of your own, if it can be used as it stands."""
    make_home(invocation(ctx).settings)
    folder, text = _folder(ctx), _text(file)
    path = edited(folder, lambda: save_template_atomic(folder, kind, name, text))
    _tell_saved(ctx, kind, name, f"saved {path}")


@prompts.command()
def rename(
    ctx: typer.Context,
    kind: Kind,
    name: Name,
    new_name: Annotated[str, typer.Argument(help="A name that no template of your own has yet.")],
) -> None:
    """Give a template of your own another name, as that of the level that shall use it.

    Intents that use one of a digest are changed, too.
    """
    if kind in FIELDS:
        make_home(invocation(ctx).settings)
        folder, intents = _folder(ctx), _intents(ctx)
        path, _ = edited(folder, lambda: rename_digest_template(intents, folder, kind, name, new_name))
        edited(intents.file, lambda: None)
    else:
        folder = _folder(ctx)
        path = edited(folder, lambda: rename_template(folder, kind, name, new_name))
    _tell_saved(ctx, kind, new_name, f"renamed to {path}")


@prompts.command()
def delete(ctx: typer.Context, kind: Kind, name: Name) -> None:
    """Delete a template of your own; the package's stay, and are used again. One that intents use is not deleted."""
    folder = _folder(ctx)
    if kind in FIELDS:
        make_home(invocation(ctx).settings)
        users = edited(folder, lambda: delete_digest_template(_intents(ctx), folder, kind, name))
    else:
        users = []
        edited(folder, lambda: delete_template(folder, kind, name))
    note(f"deleted {kind}/{name} in {folder}")
    if users:
        note(f"the package's {kind}/{name} is used from now on by {', '.join(users)}")


def _folder(ctx: typer.Context) -> Path:
    return invocation(ctx).settings.prompts_dir


def _intents(ctx: typer.Context) -> Intents:
    return Intents(invocation(ctx).settings.digests.intents_file)


def _known_intents(ctx: typer.Context) -> Sequence[Intent]:
    """The intents; where their file cannot be read, that is told, and templates are shown all the same."""
    try:
        return _intents(ctx).survey().intents
    except ConfigurationError as error:
        complain(str(error))
        return ()


def _listed(folder: Path, used: _Systems, intents: Sequence[Intent], kind: TemplateKind, name: str) -> dict[str, Any]:
    found = find_template(folder, kind, name)
    return {
        "kind": kind.value,
        "name": name,
        "from": "package" if found.is_packaged else "project",
        "levels": _levels_of(folder, used, found),
        "intents": _users_of(found, intents),
        "path": str(found.path),
    }


def _users_of(found: FoundTemplate, intents: Sequence[Intent]) -> list[str]:
    """The intents whose digests or roll-ups a template is used for."""
    named = {
        TemplateKind.DIGEST_SYSTEM: lambda intent: intent.system_template,
        TemplateKind.DIGEST_INSTRUCTION: lambda intent: intent.instruction_template,
    }.get(found.kind)
    names = {found.name, found.name.removesuffix(ROLLUP_SUFFIX)}
    return [intent.name for intent in intents if named and named(intent) in names]


def _uses(row: Mapping[str, Any]) -> str | None:
    return ", ".join(row["levels"]) or _digests_of(row["name"], row["intents"]) or _other_use(row)


def _digests_of(name: str, intents: Sequence[str]) -> str:
    what = "roll-ups" if name.endswith(ROLLUP_SUFFIX) else "digests"
    return f"{what} of {', '.join(intents)}" if intents else ""


def _other_use(row: Mapping[str, Any]) -> str | None:
    if row["kind"] != TemplateKind.SYSTEM:
        return None
    return "codesum ask" if row["name"] in ASK_TEMPLATES else _COMPACT if row["name"] == COMPACTION_NAME else None


def _levels_of(folder: Path, used: _Systems, found: FoundTemplate) -> list[str]:
    """The levels that a template is used for with the model that is set."""
    if found.kind is TemplateKind.SYSTEM:
        return [level.value for level in LEVELS if used[level] == found]
    if found.kind is TemplateKind.INSTRUCTION:
        return [level.value for level in LEVELS if find_for(folder, found.kind, level) == found]
    return []


def _used_systems(ctx: typer.Context) -> _Systems:
    llm, folder = invocation(ctx).settings.llm, _folder(ctx)
    most = prompt_chars(llm)
    return {level: _used_system(folder, level, language=llm.language, max_prompt_chars=most) for level in LEVELS}


def _used_system(folder: Path, level: Level, *, language: str, max_prompt_chars: int) -> FoundTemplate | None:
    """The system template of a level: the full one, too, where neither can be used as it stands."""
    try:
        names = fitting_template(folder, level, language=language, max_prompt_chars=max_prompt_chars).names
    except ConfigurationError:
        names = ()
    is_short = f"{TemplateKind.SYSTEM}/{SHORT_NAME}" in names
    return find_short(folder, level) if is_short else find_for(folder, TemplateKind.SYSTEM, level)


def _checked(folder: Path, used: ResolvedTemplate, *, language: str) -> Iterator[dict[str, Any]]:
    """A level's full templates and its short ones, and which of both are used with the model that is set."""
    level = used.level
    full = resolve(folder, level, language=language)
    short = resolve_short(folder, level, language=language)
    paths = (find_for(folder, TemplateKind.SYSTEM, level), find_short(folder, level))
    for template, system in zip((full, short), paths, strict=True):
        if template and system:
            yield {
                "is_used": template == used,
                "level": level.value,
                "system": str(system.path),
                "instruction": str(find_for(folder, TemplateKind.INSTRUCTION, level).path),
                "characters": template.characters,
                "digest": template.digest,
            }


def _problems(folder: Path, kind: TemplateKind) -> list[str]:
    problems = []
    for name in list_templates(folder, kind):
        try:
            load_template(folder, kind, name)
        except ConfigurationError as error:
            problems.append(str(error))
    return problems


def _text(file: Path) -> str:
    data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file} is not UTF-8: {error.reason} at byte {error.start}") from error


def _tell_saved(ctx: typer.Context, kind: TemplateKind, name: str, done: str) -> None:
    if kind in FIELDS:
        _tell_saved_for_digests(ctx, kind, name, done)
        return
    folder = _folder(ctx)
    found = find_template(folder, kind, name)
    if levels := _levels_of(folder, _used_systems(ctx), found):
        note(f"{done}: used for {', '.join(levels)}")
        note("texts of these levels are written again by the next run; `codesum plan --llm` says at what price")
    else:
        note(f"{done}: {_why_unused(folder, found)}")


def _tell_saved_for_digests(ctx: typer.Context, kind: TemplateKind, name: str, done: str) -> None:
    template = load_digest_template(_folder(ctx), kind, name)
    users = _users_of(find_template(_folder(ctx), kind, name), _known_intents(ctx))
    note(f"{done}: {f'used for {_digests_of(name, users)}' if users else 'no intent uses a template of this name'}")
    if template.has_history:
        note(f"it has {{{HISTORY}}}: a roll-up can be written with it, a digest cannot")


def _why_unused(folder: Path, found: FoundTemplate) -> str:
    if found.kind is TemplateKind.SYSTEM and found.name in ASK_TEMPLATES:
        return "used by `codesum ask` from the next question on"
    if found.kind is TemplateKind.SYSTEM and found.name == COMPACTION_NAME:
        return f"used by `{_COMPACT}`; attestations that pin the text of before are refused"
    if found in [find_short(folder, level) for level in LEVELS]:
        return (
            "it stands in where the full template does not fit; with the model that is set no level is written with it"
        )
    if found.kind is TemplateKind.SYSTEM and found in [find_for(folder, found.kind, level) for level in LEVELS]:
        return f"the prompt of the model that is set has no room for it, and {found.kind}/{SHORT_NAME} stands in"
    return "no level uses a template of this name"
