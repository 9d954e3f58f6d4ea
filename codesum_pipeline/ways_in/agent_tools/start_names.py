"""The names of commands, routes and programs, by the document that they start, as the last build wrote them."""

from collections.abc import Iterable

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.search.overviews.published_starts import PublishedStarts
from codesum_pipeline.texts.summaries.purposes import purpose_of
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.ways_in.agent_tools.graph_role import StartNames, role_of
from codesum_pipeline.ways_in.agent_tools.surroundings import called_names, names_of_callers

# Of calls and callers, the first are enough to recognise a function.
_MOST_NAMES = 4


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


def lines_beside(call: ToolContext, documents: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What the graph says first of some documents, by repository and id, in a line beside their texts; of a function
    that nobody describes, else what it calls or what calls it. The line is empty where the graph has neither."""
    starts: dict[str, StartNames] = {}
    found = {}
    for repo, id_ in documents:
        if repo not in starts:
            starts[repo] = start_names(call, repo)
        joined = call.documents(repo)
        number = joined.number(id_)
        found[repo, id_] = "" if number is None else _line_beside(joined, number, starts[repo])
    return found


def _line_beside(documents: JoinedDocuments, number: int, starts: StartNames) -> str:
    role = role_of(documents, number, starts).first_line
    if role or documents[number].level is not Level.FUNCTION:
        return role
    purpose = purpose_of(documents[number].document())
    if purpose and purpose.is_authors:
        return ""
    ways = (("Calls", called_names), ("Called by", names_of_callers))
    named = ((words, names(documents, number)[:_MOST_NAMES]) for words, names in ways)
    return next((f"{words} {', '.join(names)}" for words, names in named if names), "")
