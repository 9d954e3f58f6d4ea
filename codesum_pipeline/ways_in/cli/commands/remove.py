"""`codesum remove`: stop indexing a repository, or delete all that is kept of it."""

from codesum_pipeline.ways_in.cli.forgetting import forget_repository
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import show_parts


def remove(invocation: Invocation, key: str, purge: bool = False) -> None:
    """Stop indexing a repository; with --purge, delete all that is kept of it.

    Without --purge, its index stays and can be searched with --repo, and [bold]codesum add KEY[/] puts it back. With
    --purge, KEY may also be a repository that was taken out of repos.yaml by hand. The repository itself is never
    touched.
    """
    if purge:
        home = invocation.home
        is_registered = key not in home.unregistered_keys()
        if is_registered and key not in home.registry.survey().problems:
            key = home.registry.get(key).key
        forget_repository(home, key, is_registered=is_registered)
        show_parts(f"{key}: deleted")
        return
    key = invocation.registry.get(key).key
    invocation.registry.remove(key)
    show_parts(f"{key}: no longer indexed; `codesum add {key}` puts it back")
