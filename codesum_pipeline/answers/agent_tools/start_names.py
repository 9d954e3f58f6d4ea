"""The names of commands, routes and programs, by the document that they start, as the last build wrote them."""

from collections.abc import Iterable

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.graph_role import StartNames, role_of
from codesum_pipeline.answers.agent_tools.surroundings import called_names, names_of_callers, names_of_referring
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.search.overviews.published_starts import PublishedStarts
from codesum_pipeline.texts.summaries.purposes import purpose_of

# Of each kind, the first are enough to recognise a document.
_MOST_NAMES = 4
# Overloads share a name, so a few more are read.
_MOST_READ = 40


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
    """The line beside the text of each document, by repository and id: what the graph says first of it. Where that is
    nothing and nobody describes the document, the line names what a function calls, else what calls or refers to it, or
    what a class or file defines."""
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
    role, level = role_of(documents, number, starts).first_line, documents[number].level
    if role or level is Level.MODULE:
        return role
    purpose = purpose_of(documents[number].document())
    if purpose and purpose.is_authors:
        return ""
    names = _LINES[level]
    named = ((words, find(documents, number)[:_MOST_NAMES]) for words, find in names)
    return next((f"{words} {', '.join(found)}" for words, found in named if found), "")


def _names_of_members(documents: JoinedDocuments, number: int) -> list[str]:
    """The own names of what a class or file defines, most important first."""
    inside = sorted(documents.children(number), key=lambda each: (-documents.importance[each], each))[:_MOST_READ]
    names = (one_line(without_suffix(documents[each].id).rpartition(SEPARATOR)[2]) for each in inside)
    return list(dict.fromkeys(names))


_LINES = {
    Level.FUNCTION: (("Calls", called_names), ("Called by", names_of_callers), ("Referenced by", names_of_referring)),
    Level.CLASS: (("Defines", _names_of_members),),
    Level.FILE: (("Defines", _names_of_members),),
}
