"""The names of commands, routes and programs, by the document that they start, from the last build's overview."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from codesum_pipeline.foundation.data_model.errors import BrokenStore, MissingTable
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.graph_role import StartNames, role_of
from codesum_pipeline.ways_in.agent_tools.overview_tool import read_overview

_MOST_REMEMBERED = 64


def start_names(call: ToolContext, repo: str) -> StartNames:
    """What starts in a repository, without what is declared in files that differ in the caller's work tree; nothing
    where the overview is of another version than the index that answers."""
    index = call.index(repo)
    manifest, tree = index.version.manifest, call.trees.tree(index)
    try:
        names = _names_of(call.catalogue.layout, repo, manifest["commit"], manifest["content_digest"])
    except (MissingTable, BrokenStore):
        return {}
    differing = frozenset(tree.found.paths) if tree.found else frozenset()
    return {id_: each for id_, each in names.items() if id_.partition("::")[0] not in differing}


def role_in_a_line(call: ToolContext, repo: str, id_: str) -> str:
    """What the graph says first of a document; empty where it says nothing, or the tree lacks the document."""
    documents = call.documents(repo)
    number = documents.number(id_)
    return "" if number is None else role_of(documents, number, start_names(call, repo)).first_line


# A server answers many questions from one version. A failure is not remembered: the page may be written soon.
@lru_cache(maxsize=_MOST_REMEMBERED)
def _names_of(layout: HomeLayout, repo: str, commit: str, digest: str) -> Mapping[str, Sequence[str]]:
    row = read_overview(layout, repo)
    if (row["commit"], row["content_digest"]) != (commit, digest):
        raise MissingTable(f"repository {repo!r}: the overview is of another version than the index")
    names: dict[str, list[str]] = defaultdict(list)
    for each in json.loads(row["facts"]).get("started", ()):
        names[each["id"]].append(f"{each['kind']} {each['name']}")
    return dict(names)
