"""The options and arguments that several commands have, and what a shell completes of them."""

import difflib
from datetime import datetime
from typing import Annotated, Any

import typer

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.language_facts.file_languages import LANGUAGES
from codesum_pipeline.indexes.file_formats.version_folder import LANES, Lane
from codesum_pipeline.search.retrieval.shelf import WhichTests
from codesum_pipeline.ways_in.cli.invocation import Invocation


def option(metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    """An option with a value, whose help says what its default means."""
    return typer.Option(*names, metavar=metavar, help=help, show_default=False, **more)


def argument(metavar: str | None, help: str, **more: Any) -> Any:
    """An argument, whose help says what its default means."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, **more)


def key_option(help: str, *names: str) -> Any:
    """An option that takes the key of a repository."""
    return option("KEY", help, *names, autocompletion=complete_keys)


def key_argument(help: str) -> Any:
    """An argument that is the key of a repository."""
    return argument("KEY", help, autocompletion=complete_keys)


def switch(name: str, help: str) -> Any:
    """An option without a value, off unless it is given."""
    return typer.Option(name, help=help)


def complete_keys(ctx: typer.Context, incomplete: str) -> list[str]:
    """The registered keys that begin so, but for those that were typed already."""
    typed = {str(word) for value in ctx.params.values() if isinstance(value, list | tuple) for word in value}
    try:
        entries = _invocation_of(ctx).registry.entries()
    except (CodesumError, OSError, ValueError):
        return []
    return [entry.key for entry in entries if entry.key not in typed and entry.key.startswith(incomplete)]


def complete_intents(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of intents that begin so."""
    # Only where a shell completes an intent, these are read.
    from codesum_pipeline.notifications.intents.intents_file import Intents

    try:
        invocation = _invocation_of(ctx)
        survey = Intents(invocation.settings.digests.intents_file, invocation.layout.files).survey()
    except (CodesumError, OSError, ValueError):
        return []
    names = {*(intent.name for intent in survey.intents), *survey.problems}
    return [name for name in sorted(names) if name.startswith(incomplete)]


def _invocation_of(ctx: typer.Context) -> Invocation:
    """The call while a shell completes. Completion prints no errors, since the shell would type their text."""
    flags = ctx.find_root().params
    return Invocation({name: flags.get(name) for name in ("home", "settings_file")})


def _complete_languages(incomplete: str) -> list[str]:
    return [name for name in sorted(LANGUAGES) if name.startswith(incomplete)]


def _level(written: str) -> Level:
    if written in LEVELS:
        return Level(written)
    near = difflib.get_close_matches(written.lower(), map(str, LEVELS), n=1, cutoff=0.0)[0]
    raise ConfigurationError(f"no level {written!r}: levels are {', '.join(LEVELS)}; did you mean {near!r}?")


JsonOption = Annotated[bool, switch("--json", "Print one JSON object per line.")]
JsonOfRepositories = Annotated[bool, switch("--json", "Print one JSON object per repository.")]

# What is asked, and of what.
ReposOption = Annotated[
    list[str] | None, key_option("Only this repository (key or owner/name). Can be repeated.", "--repo")
]
DocumentArgument = Annotated[str, typer.Argument(metavar="ID", help="A document's id, as `codesum search` prints it.")]
DocumentRepoOption = Annotated[
    str | None, key_option("The repository, where several have a document with this id.", "--repo")
]
LevelsOption = Annotated[
    list[Level] | None,
    option(
        "LEVEL",
        f"Only documents of this level ({', '.join(LEVELS)}). Can be repeated.",
        "--level",
        parser=_level,
    ),
]
LanesOption = Annotated[
    list[Lane] | None,
    option(
        "LANE",
        f"Rank by this lane alone ({', '.join(LANES)}) instead of a weighted mix. Can be repeated.",
        "--lane",
    ),
]
LanguagesOption = Annotated[
    list[str] | None,
    option(
        "NAME",
        "Only this language, by its name or a file ending, such as python or py. Can be repeated. "
        f"Names: {', '.join(sorted(LANGUAGES))}.",
        "--language",
        autocompletion=_complete_languages,
    ),
]
PathsOption = Annotated[
    list[str] | None,
    option(
        "GLOB",
        "Only files and folders that match, as in .gitignore (src/, '*.go', 'docs/**/*.md'); "
        "with ! in front, all but these. Can be repeated.",
        "--path",
    ),
]
TestsOption = Annotated[
    WhichTests,
    typer.Option(
        "--tests",
        metavar="in|out|only",
        help="in: search test code, too; out: leave it out; only: search nothing else.",
    ),
]

# What is registered.
KeyOption = Annotated[
    str | None, option("KEY", "The repository's key. Default: the last part of the location.", "--key")
]
RefOption = Annotated[str | None, option("REF", "Branch, tag or commit. Default: the remote's HEAD.", "--ref")]
SubdirOption = Annotated[
    str | None,
    option(
        "FOLDER", "Index only this folder of the repository. A monorepo can be registered once per folder.", "--subdir"
    ),
]
IncludeOption = Annotated[
    list[str] | None, option("PATTERN", "Index only files that match, as in .gitignore. Can be repeated.", "--include")
]
ExcludeOption = Annotated[
    list[str] | None, option("PATTERN", "Leave out files that match, as in .gitignore. Can be repeated.", "--exclude")
]
WorktreeOption = Annotated[
    bool | None,
    option(
        None, "Read the folder as it is on the disk, committed or not. Default: its last commit.",
        "--worktree/--no-worktree",
    ),
]  # fmt: skip
SubmodulesOption = Annotated[
    bool | None,
    option(
        None, "Index submodules, too, each at its pinned commit. Default: they are left out, and named.",
        "--submodules/--no-submodules",
    ),
]  # fmt: skip
ScipOption = Annotated[
    list[str] | None,
    option(
        "PATH[@FOLDER]",
        "A SCIP index file; its paths are relative to FOLDER of the repository. Can be repeated.",
        "--scip",
    ),
]
ScipCommandOption = Annotated[
    str | None,
    option(
        "COMMAND",
        "A command that writes a SCIP index; each build of a new commit runs it in a sandbox.",
        "--scip-command",
    ),
]

# Digests.
IntentArgument = Annotated[str, argument("INTENT", "The name of an intent.", autocompletion=complete_intents)]
SinceOption = Annotated[datetime | None, option("DATE", "Only from this day on, UTC.", formats=["%Y-%m-%d"])]
UntilOption = Annotated[datetime | None, option("DATE", "Only before this day, UTC.", formats=["%Y-%m-%d"])]

# Servers.
PortOption = Annotated[
    int, typer.Option("--port", metavar="PORT", min=0, max=65_535, help="Where to listen; 0 is any free port.")
]
HostNames = Annotated[
    list[str] | None, option("NAME", "Another host name by which clients reach the HTTP server.", "--host-name")
]
ServedRepos = Annotated[list[str] | None, key_option("Serve this repository and no other; can be repeated.", "--repo")]
