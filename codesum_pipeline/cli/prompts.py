"""`codesum prompts`: the templates of what a language model is told."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from codesum_pipeline.cli.commands import PlainCommand, PlainGroup
from codesum_pipeline.cli.home_folder import make_home
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.render import note, on_terminal, show, table
from codesum_pipeline.cli.safe_text import escaped, safe_json
from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.llm.templates import (
    SHORT_NAME,
    FoundTemplate,
    TemplateKind,
    delete_template,
    find_for,
    find_short,
    find_template,
    list_templates,
    load_template,
    rename_template,
    resolve,
    resolve_fitting,
    resolve_short,
    save_template_atomic,
)
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.options import LlmOptions

prompts = typer.Typer(
    name="prompts",
    cls=PlainGroup,
    add_completion=False,
    help="Show, check and change the templates of what a language model is told.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

Kind = Annotated[TemplateKind, typer.Argument(help="Of the system turn, or of the user's turn (instruction).")]
Name = Annotated[str, typer.Argument(help="A level (function, class, file, module), default, or a name of your own.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object per line.")]


@prompts.command("list", cls=PlainCommand)
def list_(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List all templates: whose they are, and which levels use them.

    A template of your own comes before the package's; a level uses the one of its name, else [bold]default[/], and
    [bold]short[/] where the model's prompt has no room for that one.
    """
    folder = _folder(ctx)
    rows = [_listed(folder, kind, name) for kind in TemplateKind for name in list_templates(folder, kind)]
    if as_json:
        for row in rows:
            typer.echo(safe_json(row))
        return
    columns = ("kind", "name", "from", "used for", "path")
    show(table(columns, [(*list(row.values())[:3], ", ".join(row["levels"]) or None, row["path"]) for row in rows]))


@prompts.command("show", cls=PlainCommand)
def show_(ctx: typer.Context, kind: Kind, name: Name, as_json: AsJson = False) -> None:
    """Print a template as it is written."""
    folder = _folder(ctx)
    text = load_template(folder, kind, name)
    if as_json:
        typer.echo(safe_json(_listed(folder, kind, name) | {"text": text}))
    else:
        typer.echo(escaped(text) if on_terminal() else text, nl=False)


@prompts.command(cls=PlainCommand)
def check(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Check every template, and say which ones each level is written with by the model that is set.

    What could not be used is named with its placeholder; the exit code is 2 then.
    """
    folder = _folder(ctx)
    problems = [problem for kind in TemplateKind for problem in _problems(folder, kind)]
    if problems:
        raise ConfigurationError("; ".join(problems))
    rows = [row for level in LEVELS for row in _checked(invocation(ctx).settings.options.llm, folder, level)]
    if as_json:
        for row in rows:
            typer.echo(safe_json(row))
        return
    cells = [("yes" if row["is_used"] else None, *list(row.values())[1:]) for row in rows]
    show(table(("used", *list(rows[0])[1:]), cells, right=("characters",)))


@prompts.command(cls=PlainCommand)
def save(
    ctx: typer.Context,
    kind: Kind,
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new text; - reads it from standard input.")],
) -> None:
    """Save a template of your own, if it can be used as it stands."""
    make_home(invocation(ctx).settings)
    path = save_template_atomic(_folder(ctx), kind, name, _text(file))
    _tell_saved(ctx, kind, name, f"saved {path}")


@prompts.command(cls=PlainCommand)
def rename(
    ctx: typer.Context,
    kind: Kind,
    name: Name,
    new_name: Annotated[str, typer.Argument(help="A name that no template of your own has yet.")],
) -> None:
    """Give a template of your own another name, as that of the level that shall use it."""
    path = rename_template(_folder(ctx), kind, name, new_name)
    _tell_saved(ctx, kind, new_name, f"renamed to {path}")


@prompts.command(cls=PlainCommand)
def delete(ctx: typer.Context, kind: Kind, name: Name) -> None:
    """Delete a template of your own; the package's stay, and are used again."""
    folder = _folder(ctx)
    delete_template(folder, kind, name)
    note(f"deleted {kind}/{name} in {folder}")


def _folder(ctx: typer.Context) -> Path:
    return Path(invocation(ctx).settings.options.llm.prompts_folder)


def _listed(folder: Path, kind: TemplateKind, name: str) -> dict[str, Any]:
    found = find_template(folder, kind, name)
    return {
        "kind": kind.value,
        "name": name,
        "from": "package" if found.is_packaged else "project",
        "levels": _levels_of(folder, found),
        "path": str(found.path),
    }


def _levels_of(folder: Path, found: FoundTemplate) -> list[str]:
    if (found.kind, found.name) == (TemplateKind.SYSTEM, SHORT_NAME):
        return [level.value for level in LEVELS if find_short(folder, level) == found]
    return [level.value for level in LEVELS if find_for(folder, found.kind, level) == found]


def _checked(llm: LlmOptions, folder: Path, level: Level) -> Iterator[dict[str, Any]]:
    """A level's full templates and its short ones, and which of both are used with the model that is set."""
    full = resolve(folder, level, language=llm.language)
    short = resolve_short(folder, level, language=llm.language)
    used = resolve_fitting(folder, level, language=llm.language, max_prompt_chars=prompt_chars(llm))
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
    folder = _folder(ctx)
    levels = _levels_of(folder, find_template(folder, kind, name))
    note(f"{done}: used for {', '.join(levels)}" if levels else f"{done}: no level uses a template of this name")
    if levels:
        note("texts of these levels are written again by the next run; `codesum plan --llm` says at what price")
