"""The names of commands, routes and programs, by the document that they start, as the last build wrote them."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import MissingTable
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.graph_role import StartNames, role_of

_MOST_REMEMBERED = 64


def start_names(call: ToolContext, repo: str) -> StartNames:
    """What starts in a repository, without what is declared in files that differ in the caller's work tree; nothing
    where they are of another version than the index that answers."""
    index = call.index(repo)
    manifest, tree = index.version.manifest, call.trees.tree(index)
    try:
        names = _names_of(call.catalogue.layout.start_names(repo), manifest["commit"], manifest["content_digest"])
    except (MissingTable, OSError, ValueError, KeyError):
        return {}
    differing = frozenset(tree.found.paths) if tree.found else frozenset()
    return {id_: each for id_, each in names.items() if id_.partition("::")[0] not in differing}


def role_in_a_line(call: ToolContext, repo: str, id_: str) -> str:
    """What the graph says first of a document; empty where it says nothing, or the tree lacks the document."""
    documents = call.documents(repo)
    number = documents.number(id_)
    return "" if number is None else role_of(documents, number, start_names(call, repo)).first_line


# A server answers many questions from one version. A missing file is not remembered: it may be written soon.
@lru_cache(maxsize=_MOST_REMEMBERED)
def _names_of(file: Path, commit: str, digest: str) -> Mapping[str, Sequence[str]]:
    found = json.loads(file.read_bytes())
    if (found["commit"], found["content_digest"]) != (commit, digest):
        raise MissingTable(f"{file} is of another version than the index")
    names: dict[str, list[str]] = found["names"]
    return names
