"""The home of a command that names none, in a folder that has none upward.

A checkout that `search`, `mcp` or `web` sees for the first time is indexed in the user's data folder, so that it gets
no folder that it did not ask for. What is indexed there, or in the main work tree of a linked one, is found again by
every command.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from codesum_pipeline.homes.folders import check_is_own, user_home
from codesum_pipeline.homes.loading import load_settings, nearest_home
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.source.registry import Registry
from codesum_pipeline.tools.catalogue import Checkout, checkout_of, entries_of

# These index a checkout by themselves where nobody did.
_INDEX_ON_FIRST_USE = frozenset({"search", "mcp", "web"})
# What these make belongs to the folder that they are called in.
_MAKE_A_HOME = frozenset({"add", "index", "plan", "dev"})


def usual_home(command: str, flags: Mapping[str, Any]) -> Path | None:
    """Where a command looks in the current folder; None leaves it to the environment, and else to a new home there.

    Raises `ConfigurationError` for a home that is not the user's own.
    """
    folder = Path.cwd()
    if os.environ.get("CODESUM_HOME"):
        return None
    if nearest := nearest_home(folder):
        return nearest
    checkout = checkout_of(folder)
    if checkout:
        known = next((home for home in _others(checkout) if _knows(home, checkout, flags)), None)
        return known or (_own_user_home() if command in _INDEX_ON_FIRST_USE else None)
    return _own_user_home() if command not in _MAKE_A_HOME and user_home().is_dir() else None


def main_work_tree(checkout: Checkout) -> Path | None:
    """The work tree that a linked one belongs to; None for the main one itself, and where there is none."""
    main = checkout.git_dir.parent
    is_linked = checkout.git_dir.name == ".git" and main != checkout.root
    return main if is_linked and checkout_of(main) == Checkout(main, checkout.git_dir) else None


def _others(checkout: Checkout) -> Iterator[Path]:
    """The homes of this user that may know a checkout, though they do not lie above it."""
    main = main_work_tree(checkout)
    # One that is not the user's own is refused where it would be used.
    with suppress(ConfigurationError):
        if main and (home := nearest_home(main)):
            yield home
    with suppress(ConfigurationError):
        if user_home().is_dir():
            check_is_own(user_home())
            yield user_home()


def _own_user_home() -> Path:
    home = user_home()
    if home.is_dir():
        check_is_own(home)
    return home


def _knows(home: Path, checkout: Checkout, flags: Mapping[str, Any]) -> bool:
    settings = load_settings({**flags, "home": home})
    registry = Registry(settings.repos_file)
    return bool(entries_of(checkout, registry.survey().entries))
