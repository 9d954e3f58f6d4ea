"""What a shell completes: the keys of the registry. Only repos.yaml is read, and whatever goes wrong is silent."""

import typer

from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.languages import LANGUAGES


def complete_keys(ctx: typer.Context, incomplete: str) -> list[str]:
    """The registered keys that begin so, but for those that were typed already."""
    typed = {str(word) for value in ctx.params.values() if isinstance(value, list | tuple) for word in value}
    return [entry.key for entry in _entries(ctx) if entry.key not in typed and _begins(entry.key, incomplete)]


def complete_languages(incomplete: str) -> list[str]:
    """The names of languages that begin so."""
    return [name for name in sorted(LANGUAGES) if _begins(name, incomplete)]


def complete_intents(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of intents that begin so."""
    from codesum_pipeline.intents.file import Intents

    try:
        flags = ctx.find_root().params
        settings = Invocation({name: flags.get(name) for name in ("home", "settings_file")}).settings
        survey = Intents(settings.digests.intents_file).survey()
    except (CodesumError, OSError, ValueError):
        return []
    names = [*(intent.name for intent in survey.intents), *survey.problems]
    return [name for name in sorted(names) if _begins(name, incomplete)]


def _begins(key: str, incomplete: str) -> bool:
    return key.startswith(incomplete)


def _entries(ctx: typer.Context) -> list[RepositoryEntry]:
    """Nobody reads an error while a shell completes, and its text would be typed."""
    try:
        flags = ctx.find_root().params
        named = {name: flags.get(name) for name in ("home", "settings_file")}
        return Invocation(named).registry.entries()
    except (CodesumError, OSError, ValueError):
        return []
