"""`codesum remove`: stop indexing a repository, or delete all that is kept of it."""

from typing import TYPE_CHECKING, Annotated

import typer

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.ways_in.cli.forgetting import forget_repository
from codesum_pipeline.ways_in.cli.invocation import invocation_of
from codesum_pipeline.ways_in.cli.options import key_argument, switch
from codesum_pipeline.ways_in.cli.render import show_parts

if TYPE_CHECKING:
    from codesum_pipeline.builds.codesum_home.wiring import Home


def remove(
    ctx: typer.Context,
    key: Annotated[str, key_argument("The repository, as [bold]codesum repos[/] lists it.")],
    purge: Annotated[bool, switch("--purge", "Delete its index, tables, mirror and registration as well.")] = False,
) -> None:
    """Stop indexing a repository; with --purge, delete all that is kept of it.

    Without --purge, its index stays and can be searched with --repo, and [bold]codesum add KEY[/] puts it back. With
    --purge, KEY may also be a repository that was taken out of repos.yaml by hand, and end in `*` where one key alone
    begins so. The repository itself is never touched.
    """
    invocation = invocation_of(ctx)
    if purge:
        found, is_registered = _whole_key(invocation.home, key)
        forget_repository(invocation.home, found, is_registered=is_registered)
        show_parts(f"{key}: deleted")
        return
    key = invocation.registry.get(key).key
    invocation.registry.remove(key)
    show_parts(f"{key}: no longer indexed; `codesum add {key}` puts it back")


def _whole_key(home: "Home", key: str) -> tuple[str, bool]:
    """The key that is meant, and whether it is registered; raises `ConfigurationError`."""
    survey, others = home.registry.survey(), home.unregistered_keys()
    if not key.endswith("*"):
        is_registered = key not in others
        return (home.registry.get(key).key if is_registered and key not in survey.problems else key), is_registered
    known = [*(entry.key for entry in survey.entries), *survey.problems, *others]
    begun = [each for each in known if each.startswith(key[:-1])]
    if len(begun) != 1:
        raise ConfigurationError(f"{key}: {count_noun(len(begun), 'key')} begin so: name one of them")
    return begun[0], begun[0] not in others
