"""The options that every server of ours has."""

from collections.abc import Sequence
from typing import Annotated

import typer

from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.lookup import catalogue_of
from codesum_pipeline.tools.catalogue import Catalogue

HostNames = Annotated[
    list[str] | None,
    typer.Option(
        "--host-name", metavar="NAME", show_default=False, help="Another name that clients call the HTTP server by."
    ),
]
ServedRepos = Annotated[
    list[str] | None,
    typer.Option(
        "--repo",
        metavar="KEY",
        show_default=False,
        autocompletion=complete_keys,
        help="Serve this repository and no other; can be repeated.",
    ),
]


def served_catalogue(called: Invocation, names: Sequence[str]) -> Catalogue:
    """What the home of a call holds, or of that the named repositories."""
    return catalogue_of(called).limited_to(names)
