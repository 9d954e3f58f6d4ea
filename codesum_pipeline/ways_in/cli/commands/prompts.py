"""`codesum prompts`: the templates of the prompts for a language model."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import typer
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.standing_question import Intent
from codesum_pipeline.notifications.intents.intent_templates import (
    FIELDS,
    delete_digest_template,
    rename_digest_template,
)
from codesum_pipeline.texts.llm.budgets import prompt_chars
from codesum_pipeline.texts.llm.digest_templates import ROLLUP_SUFFIX, load_digest_template
from codesum_pipeline.texts.llm.templates import (
    ASK_TEMPLATES,
    COMPACTION_NAME,
    HISTORY,
    SHORT_NAME,
    FoundTemplate,
    TemplateKind,
    delete_template,
    find_level_template,
    find_short_template,
    find_template,
    list_templates,
    load_template,
    own_template,
    rename_templates,
    resolve_short_template,
    resolve_template,
    save_template_atomic,
)
from codesum_pipeline.texts.summaries.by_model.choosing import fitting_templates
from codesum_pipeline.ways_in.cli.cli_app import CommandGroup
from codesum_pipeline.ways_in.cli.invocation import Invocation, make_home
from codesum_pipeline.ways_in.cli.render import (
    complain,
    escape_text,
    is_on_terminal,
    make_table,
    print_json,
    show_parts,
    write_note,
)

prompts = CommandGroup("prompts")
T = TypeVar("T")


@prompts.command("list")
def list_(invocation: Invocation, as_json: bool = False) -> None:
    """List all templates: whose they are, and which levels and intents use them.

    A template of your own replaces the package's of the same name. A level uses the template of its name, else
    [bold]default[/], or [bold]short[/] where the model's prompt has no room for that.
    """
    own = _Templates(invocation)
    rows = [own.row(kind, name) for kind in TemplateKind for name in list_templates(own.folder, kind)]
    if as_json:
        print_json(*rows)
        return
    cells = [(*list(row.values())[:3], _uses(row), row["path"]) for row in rows]
    show_parts(make_table(("kind", "name", "from", "used for", "path"), cells))


@prompts.command("show")
def show_(invocation: Invocation, kind: TemplateKind, name: str, as_json: bool = False) -> None:
    """Print a template as it is written."""
    own = _Templates(invocation)
    text = load_template(own.folder, kind, name)
    if as_json:
        print_json(own.row(kind, name) | {"text": text})
    else:
        typer.echo(escape_text(text) if is_on_terminal() else text, nl=False)


@prompts.command()
def check(invocation: Invocation, as_json: bool = False) -> None:
    """Check every template, and say which ones the configured model gets for each level.

    A template that cannot be used is named with its placeholder; the exit code is 2 then.
    """
    own, problems = _Templates(invocation), []
    for kind in TemplateKind:
        for name in list_templates(own.folder, kind):
            try:
                load_template(own.folder, kind, name)
            except ConfigurationError as error:
                problems.append(str(error))
    if problems:
        raise ConfigurationError("; ".join(problems))
    rows = list(own.checked())
    if as_json:
        print_json(*rows)
        return
    cells = [("yes" if row["is_used"] else None, *list(row.values())[1:]) for row in rows]
    show_parts(make_table(("used", *list(rows[0])[1:]), cells, right=("characters",)))


@prompts.command()
def save(invocation: Invocation, kind: TemplateKind, name: str, file: Path) -> None:
    """Save a template of your own, if it is valid."""
    own = _Templates(invocation)
    make_home(own.invocation.settings)
    data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file} is not UTF-8: {error.reason} at byte {error.start}") from error
    path = own.edit(lambda: save_template_atomic(own.folder, kind, name, text))
    own.tell_saved(kind, name, f"saved {path}")


@prompts.command()
def rename(invocation: Invocation, kind: TemplateKind, name: str, new_name: str) -> None:
    """Rename a template of your own, for example to the level that shall use it.

    Intents that use one of a digest are changed, too.
    """
    own = _Templates(invocation)
    folder, intents = own.folder, own.invocation.home.intents
    if kind in FIELDS:
        make_home(own.invocation.settings)
        own.edit(lambda: rename_digest_template(intents, folder, kind, name, new_name))
        intents.files.edit(intents.file, lambda: None)
    else:
        own.edit(lambda: rename_templates(folder, kind, {name: new_name}))
    own.tell_saved(kind, new_name, f"renamed to {own_template(folder, kind, new_name)}")


@prompts.command()
def delete(invocation: Invocation, kind: TemplateKind, name: str) -> None:
    """Delete a template of your own; the package's is used again. A template that intents use is not deleted."""
    own, users = _Templates(invocation), []
    folder, intents = own.folder, own.invocation.home.intents
    if kind in FIELDS:
        make_home(own.invocation.settings)
        users = own.edit(lambda: delete_digest_template(intents, folder, kind, name))
    else:
        own.edit(lambda: delete_template(folder, kind, name))
    write_note(f"deleted {kind}/{name} in {folder}")
    if users:
        write_note(f"the package's {kind}/{name} is used from now on by {', '.join(users)}")


class _Templates(Struct, eq=False, dict=True):
    """The templates of a home, and what each is used for with the model that is set. Both are looked up once."""

    invocation: Invocation

    @property
    def folder(self) -> Path:
        return self.invocation.settings.prompts_dir

    def edit(self, edit: Callable[[], T]) -> T:
        """Do an edit of the templates, also where they lie in a bucket."""
        return self.invocation.layout.files.edit(self.folder, edit)

    @cached_property
    def intents(self) -> Sequence[Intent]:
        """If their file cannot be read, that is reported, and templates are shown all the same."""
        try:
            return self.invocation.home.intents.survey().intents
        except ConfigurationError as error:
            complain(str(error))
            return ()

    @cached_property
    def systems(self) -> Mapping[Level, FoundTemplate | None]:
        """The system template of each level: the full one, too, if neither can be used as it is."""
        llm, found = self.invocation.settings.llm, {}
        for level in LEVELS:
            try:
                most = prompt_chars(llm)
                fitting = fitting_templates(self.folder, [level], language=llm.language, max_prompt_chars=most)
                names = fitting[level].names
            except ConfigurationError:
                names = ()
            is_short = f"{TemplateKind.SYSTEM}/{SHORT_NAME}" in names
            full = find_level_template(self.folder, TemplateKind.SYSTEM, level)
            found[level] = find_short_template(self.folder, level) if is_short else full
        return found

    def row(self, kind: TemplateKind, name: str) -> dict[str, Any]:
        found = find_template(self.folder, kind, name)
        return {
            "kind": kind.value,
            "name": name,
            "from": "package" if found.is_packaged else "project",
            "levels": self.levels_of(found),
            "intents": self.users_of(found),
            "path": str(found.path),
        }

    def levels_of(self, found: FoundTemplate) -> list[str]:
        """The levels that a template is used for."""
        if found.kind is TemplateKind.SYSTEM:
            return [level.value for level in LEVELS if self.systems[level] == found]
        if found.kind is TemplateKind.INSTRUCTION:
            return [level.value for level in LEVELS if find_level_template(self.folder, found.kind, level) == found]
        return []

    def users_of(self, found: FoundTemplate) -> list[str]:
        """The intents whose digests or roll-ups a template is used for."""
        if found.kind not in FIELDS:
            return []
        names = {found.name, found.name.removesuffix(ROLLUP_SUFFIX)}
        is_system = found.kind is TemplateKind.DIGEST_SYSTEM
        return [
            intent.name
            for intent in self.intents
            if (intent.system_template if is_system else intent.instruction_template) in names
        ]

    def checked(self) -> Iterator[dict[str, Any]]:
        """Each level's full templates and its short ones, and which of both are used."""
        llm, folder = self.invocation.settings.llm, self.folder
        used = fitting_templates(folder, LEVELS, language=llm.language, max_prompt_chars=prompt_chars(llm))
        for level in LEVELS:
            full = (
                resolve_template(folder, level, language=llm.language),
                find_level_template(folder, TemplateKind.SYSTEM, level),
            )
            short = resolve_short_template(folder, level, language=llm.language), find_short_template(folder, level)
            for template, system in (full, short):
                if template and system:
                    yield {
                        "is_used": template == used[level],
                        "level": level.value,
                        "system": str(system.path),
                        "instruction": str(find_level_template(folder, TemplateKind.INSTRUCTION, level).path),
                        "characters": template.characters,
                        "digest": template.digest,
                    }

    def tell_saved(self, kind: TemplateKind, name: str, done: str) -> None:
        found = find_template(self.folder, kind, name)
        if kind in FIELDS:
            users = self.users_of(found)
            used = f"used for {_digests_of(name, users)}" if users else "no intent uses a template of this name"
            write_note(f"{done}: {used}")
            if load_digest_template(self.folder, kind, name).has_history:
                write_note(f"it has {{{HISTORY}}}: a roll-up can be written with it, a digest cannot")
        elif levels := self.levels_of(found):
            write_note(f"{done}: used for {', '.join(levels)}")
            write_note(
                "texts of these levels are written again by the next run; `codesum plan --llm` says at what price"
            )
        else:
            write_note(f"{done}: {self._why_unused(found)}")

    def _why_unused(self, found: FoundTemplate) -> str:
        is_system = found.kind is TemplateKind.SYSTEM
        if is_system and found.name in ASK_TEMPLATES:
            return "used by `codesum ask` from the next question on"
        if is_system and found.name == COMPACTION_NAME:
            return "used by `codesum compact`; attestations that pin the text of before are refused"
        short = [find_short_template(self.folder, level) for level in LEVELS]
        if found in [*short, *(find_level_template(self.folder, found.kind, level) for level in LEVELS)]:
            return "with the model that is set no level is written with it: `codesum prompts check` says which are used"
        return "no level uses a template of this name"


def _uses(row: Mapping[str, Any]) -> str | None:
    """The uses of a template, worded for a table."""
    if users := ", ".join(row["levels"]) or _digests_of(row["name"], row["intents"]):
        return users
    if row["kind"] != TemplateKind.SYSTEM:
        return None
    is_of_compaction = row["name"] == COMPACTION_NAME
    return "codesum ask" if row["name"] in ASK_TEMPLATES else "codesum compact" if is_of_compaction else None


def _digests_of(name: str, intents: Sequence[str]) -> str:
    what = "roll-ups" if name.endswith(ROLLUP_SUFFIX) else "digests"
    return f"{what} of {', '.join(intents)}" if intents else ""
