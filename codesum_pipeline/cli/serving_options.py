"""The options that every server of ours has."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Annotated

import typer

from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.first_index import FirstIndex
from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.lookup import catalogue_of
from codesum_pipeline.following.follower import Follower
from codesum_pipeline.overlays.settler import Settler
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


@contextmanager
def served_catalogue(called: Invocation, names: Sequence[str]) -> Iterator[Catalogue]:
    """What the home of a call holds, or of that the named repositories, kept up to date while a server runs.

    The checkout of the current folder is indexed, unless it is or others are named.
    """
    follower = Follower(called.settings.home)
    catalogue = replace(catalogue_of(called), settler=Settler(), follower=follower)
    with closing(follower):
        if names:
            yield catalogue.limited_to(names)
            return
        with FirstIndex(called).running() as first:
            yield replace(catalogue, first_index=first.state)
