"""The options and arguments of commands: what the table beside this module says of them, and what a shell completes.

A parameter of a command is described below the command's name, else below that of its group or in `shared`: by a
sentence for the help alone, or by more that Typer takes. An `argument` has no name on the command line but one for the
help; `names` are those of an option that is not called like its parameter. A sentence alone changes only that of a less
particular table.
"""

import inspect
import tomllib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Annotated, Any, get_origin

import typer

from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.ways_in.cli.invocation import Invocation

_CALL = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
# Parameters that are none of the command line.
_GIVEN: dict[str, Callable[[typer.Context], Any]] = {
    "ctx": lambda ctx: ctx,
    "invocation": lambda ctx: ctx.find_object(Invocation),
}


@cache
def _words() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def with_words(function: Callable[..., None], *path: str) -> Callable[..., None]:
    """The command at a path such as `digest`, `list`, for Typer: with its parameters described.

    One that is called `invocation` is the call that the command belongs to, `ctx` is Typer's own.
    """
    table = _words()
    tables = [table["shared"], *(table := table.get(name, {}) for name in path)]
    signature = inspect.signature(function)
    described = [_described(each, tables) for name, each in signature.parameters.items() if name not in _GIVEN]

    @wraps(function)
    def run(ctx: typer.Context, **values: Any) -> None:
        function(**{name: give(ctx) for name, give in _GIVEN.items() if name in signature.parameters}, **values)

    run.__signature__ = signature.replace(parameters=[_CALL, *described])  # type: ignore[attr-defined]
    return run


def _described(parameter: inspect.Parameter, tables: Sequence[Mapping[str, Any]]) -> inspect.Parameter:
    """The parameter with what the last table says that has it; one that describes itself stays as it is."""
    if get_origin(parameter.annotation) is Annotated:
        return parameter
    words: dict[str, Any] = {}
    for table in tables:
        found = table.get(parameter.name, {})
        words = {**words, "help": found} if isinstance(found, str) else found or words
    named = [f"--{parameter.name.replace('_', '-')}"]
    more = {name: value for name, value in words.items() if name not in ("argument", "names", "completes")}
    more["autocompletion"] = _COMPLETIONS.get(words.get("completes", ""))
    if "argument" in words:
        described: Any = typer.Argument(metavar=words["argument"] or None, **more)
    else:
        described = typer.Option(*words.get("names", named), **more)
    return parameter.replace(annotation=Annotated[parameter.annotation, described])


def complete_keys(ctx: typer.Context, incomplete: str) -> list[str]:
    """The registered keys that begin so, but for those that were typed already."""
    typed = {str(word) for value in ctx.params.values() if isinstance(value, list | tuple) for word in value}
    return _completed(ctx, incomplete, lambda call: [each.key for each in call.registry.entries()], typed)


def complete_intents(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of intents that begin so."""

    def names(call: Invocation) -> Iterable[str]:
        # Only where a shell completes an intent, these are read.
        from codesum_pipeline.notifications.intents.intents_file import Intents

        survey = Intents(call.settings.digests.intents_file, call.layout.files).survey()
        return sorted({*(intent.name for intent in survey.intents), *survey.problems})

    return _completed(ctx, incomplete, names)


def _completed(
    ctx: typer.Context, incomplete: str, names: Callable[[Invocation], Iterable[str]], typed: Container[str] = ()
) -> list[str]:
    """Completion prints no errors, since the shell would type their text."""
    flags = ctx.find_root().params
    try:
        known = names(Invocation({name: flags.get(name) for name in ("home", "settings_file")}))
    except (CodesumError, OSError, ValueError):
        return []
    return [name for name in known if name.startswith(incomplete) and name not in typed]


_COMPLETIONS = {"keys": complete_keys, "intents": complete_intents}
