"""Finding one document in the published indexes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from codesum_pipeline.cli.completion import complete_keys
from codesum_pipeline.cli.failures import complain
from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.render import note
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.reader import IndexedDocument, PublishedIndex
from codesum_pipeline.tools.call import ToolContext, documents_with_id, no_such_document
from codesum_pipeline.tools.catalogue import IndexCatalogue

RepoOption = Annotated[
    str | None,
    typer.Option(
        "--repo",
        metavar="KEY",
        autocompletion=complete_keys,
        help="The repository, where several have a document with this id.",
    ),
]


def catalogue_of(called: Invocation) -> IndexCatalogue:
    """What the home of a call holds."""
    return IndexCatalogue(called.settings, called.layout, called.registry)


def open_published(called: Invocation, names: Sequence[str] = ()) -> list[PublishedIndex]:
    """As `IndexCatalogue.open_all`; what is left out is told on stderr."""
    return catalogue_of(called).open_all(names, tell=complain)


def find_document(
    called: Invocation, doc_id: str, *, repo: str | None, call: ToolContext | None = None
) -> IndexedDocument:
    """The one document with an id; of several, that of the folder's repository, and this is said.

    With a `call`, as the folder's work tree is. Raises `ConfigurationError` where there is none, or more than one.
    """
    indexes = open_published(called, [repo] if repo else [])
    indexes = call.current_of(indexes) if call else indexes
    found = documents_with_id(indexes, doc_id)
    if not found:
        raise no_such_document(doc_id, indexes)
    return found[0] if len(found) == 1 else _of_this_folder(called, doc_id, found)


def _of_this_folder(called: Invocation, doc_id: str, found: Sequence[IndexedDocument]) -> IndexedDocument:
    here = catalogue_of(called).keys_of_folder(Path.cwd())
    ours = [each for each in found if each.repo in here]
    if len(ours) != 1:
        keys = ", ".join(each.repo for each in found)
        raise ConfigurationError(f"document {doc_id!r} is in {len(found)} repositories ({keys}): choose with --repo")
    others = ", ".join(each.repo for each in found if each is not ours[0])
    note(f"{doc_id!r} of {ours[0].repo}, the repository of this folder; also in {others}: choose with --repo")
    return ours[0]
