"""What the options before the command say: which home, with which settings."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import typer
from msgspec import Struct

from codesum_pipeline.cli.failures import complain
from codesum_pipeline.cli.usual_home import usual_home
from codesum_pipeline.homes.folders import for_reading
from codesum_pipeline.homes.loading import load_settings
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.source.registry import Registry
from codesum_pipeline.store.layout import HomeLayout, layout_of

# Of a home in a bucket these see what is published, and not what is being built here.
_READING = frozenset({
    "search", "show", "explain", "ask", "overview", "mcp", "web", "status", "repos", "plan", "sql", "doctor", "eval",
    "cost",
})  # fmt: skip


class Invocation(Struct, frozen=True, dict=True):
    """One call of `codesum`. Nothing is read until it is asked for."""

    flags: Mapping[str, Any]
    command: str = ""

    @cached_property
    def settings(self) -> Settings:
        found = load_settings({**self.flags, "home": self.flags.get("home") or usual_home(self.command, self.flags)})
        found.apply_mode()
        return for_reading(found) if self.command in _READING else found

    @cached_property
    def layout(self) -> HomeLayout:
        return layout_of(self.settings)

    @cached_property
    def registry(self) -> Registry:
        """What is registered, but for what a command left that was killed before it had fetched anything."""
        if self.layout.first_fetches.is_dir() and any(self.layout.first_fetches.iterdir()):
            # Rarely needed, and it imports what writes a home.
            from codesum_pipeline.cli.new_entries import take_back_of_killed

            take_back_of_killed(self.settings)
        return Registry(self.settings.repos_file)

    def entries(self) -> list[RepositoryEntry]:
        """The registry's entries; one that cannot be read is told, and does not silence the others."""
        survey = self.registry.survey()
        for problem in survey.problems.values():
            complain(f"left out: {problem}")
        return list(survey.entries)


@contextmanager
def with_modes_of_the_caller() -> Iterator[None]:
    """What the block creates is no part of the home: it gets the modes that the caller's shell gives."""
    of_the_home = os.umask(_UMASK_OF_THE_CALLER)
    try:
        yield
    finally:
        os.umask(of_the_home)


def _current_umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


_UMASK_OF_THE_CALLER = _current_umask()


def invocation(ctx: typer.Context) -> Invocation:
    """What the command was called with."""
    found = ctx.find_object(Invocation)
    if found is None:
        raise LookupError("a command runs below `codesum`, which makes the invocation")
    return found
