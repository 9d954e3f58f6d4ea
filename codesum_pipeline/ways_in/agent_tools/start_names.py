"""The names of commands, routes and programs, by the document that they start, as the last build wrote them."""

from collections.abc import Iterable

from codesum_pipeline.search.overviews.published_starts import PublishedStarts
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.graph_role import StartNames, role_of


def start_names(call: ToolContext, repo: str) -> StartNames:
    """What starts in a repository, without what is declared in files that differ in the caller's work tree; nothing
    where the names are of another version than the index that answers."""
    index = call.index(repo)
    manifest, tree = index.version.manifest, call.trees.tree(index)
    found = PublishedStarts.read(call.catalogue.layout, repo)
    if found is None or (found.commit, found.content_digest) != (manifest["commit"], manifest["content_digest"]):
        return {}
    differing = frozenset(tree.found.paths) if tree.found else frozenset()
    return {id_: each for id_, each in found.names.items() if id_.partition("::")[0] not in differing}


def roles_in_lines(call: ToolContext, documents: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What the graph says first of some documents, by repository and id; empty where it says nothing."""
    starts: dict[str, StartNames] = {}
    found = {}
    for repo, id_ in documents:
        if repo not in starts:
            starts[repo] = start_names(call, repo)
        number = call.documents(repo).number(id_)
        found[repo, id_] = "" if number is None else role_of(call.documents(repo), number, starts[repo]).first_line
    return found
