"""What the options before the command say: which home, with which settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import typer

from codesum_pipeline.cli.failures import complain
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.settings import Settings, load_settings
from codesum_pipeline.source.registry import Registry
from codesum_pipeline.store.layout import HomeLayout


@dataclass(frozen=True)
class Invocation:
    """One call of `codesum`. Nothing is read until it is asked for."""

    flags: Mapping[str, Any]

    @cached_property
    def settings(self) -> Settings:
        return load_settings(self.flags)

    @cached_property
    def layout(self) -> HomeLayout:
        return HomeLayout(self.settings.home)

    @cached_property
    def registry(self) -> Registry:
        return Registry(self.settings.repos_file or self.layout.repos_file)

    def entries(self) -> list[RepositoryEntry]:
        """The registry's entries; one that cannot be read is told, and does not silence the others."""
        survey = self.registry.survey()
        for problem in survey.problems.values():
            complain(f"left out: {problem}")
        return list(survey.entries)


def invocation(ctx: typer.Context) -> Invocation:
    """What the command was called with."""
    found = ctx.find_object(Invocation)
    if found is None:
        raise LookupError("a command runs below `codesum`, which makes the invocation")
    return found
