"""What a change of some definitions would reach: they are asked about by name, and need not have changed."""

from collections.abc import Iterator, Mapping, Sequence

from codesum_pipeline.answers.agent_tools.call import ToolContext, documents_meant
from codesum_pipeline.answers.agent_tools.changed_symbols import SymbolChangeKind
from codesum_pipeline.answers.agent_tools.footprints import Footprint, WalkStarts, footprints
from codesum_pipeline.answers.agent_tools.graph_role import is_test_document
from codesum_pipeline.answers.agent_tools.graph_subjects import GraphSubject, find_subject, subject_of
from codesum_pipeline.answers.agent_tools.impact_page import ChangedDefinition, ImpactPage
from codesum_pipeline.answers.agent_tools.impact_report import (
    ImpactLists,
    ImpactReport,
    fields_of_users,
    report_of,
)
from codesum_pipeline.answers.agent_tools.relations import files_of
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError


def report_uses(
    call: ToolContext,
    repo: str,
    names: Sequence[str],
    *,
    steps: int | None = None,
    lists: ImpactLists = ImpactLists.ALL,
) -> ImpactReport:
    """What reaches some definitions, in at most so many steps."""
    subjects = _subjects(call, repo, names)
    keys = [*dict.fromkeys(subject.documents.repo for subject in subjects)]
    if len(keys) > 1:
        raise ConfigurationError(f"the definitions are of several repositories, {', '.join(keys)}: name one as repo")
    ours = subjects[0].documents
    ids = [subject.constant or ours[subject.number].id for subject in subjects]
    starts = WalkStarts({number: steps for each in subjects for number, steps in _begun(each).items()})
    prints = list(footprints(call, ours, call.sources(ours.parts), starts, steps=steps))
    changes = [_described(subject, prints[0], ids) for subject in subjects]
    page = ImpactPage(as_of=call.as_of([each.documents.repo for each in prints]), repo=ours.repo, asked=ids)
    page.notes, page.steps = call.notes, steps or 0
    return report_of(page, prints, changes, lists=lists)


def _subjects(call: ToolContext, repo: str, names: Sequence[str]) -> list[GraphSubject]:
    """What is meant, each once."""
    found = call.each_found(names, lambda name: _subject(call, name, repo))
    return [*{(each.documents.repo, each.number, each.constant): each for each in found}.values()]


def _subject(call: ToolContext, name: str, repo: str) -> GraphSubject:
    """What a name means: a definition before a file that is called so, since that is what somebody changes."""
    subject = find_subject(call, name, repo)
    if not subject.is_place or subject.row.id in (name, name.rstrip("/")):
        return subject
    meant = documents_meant(call.current([repo] if repo else []), name)
    definitions = [each for each in meant if each.level in (Level.FUNCTION, Level.CLASS)]
    best = max(
        definitions, key=lambda each: (not each.index.arrays["is_test"][each.row], each.importance), default=None
    )
    return subject if best is None else subject_of(call, best)


def _begun(subject: GraphSubject) -> Mapping[int, int]:
    """A definition with what is in it, by the steps to each; of a constant, what uses it."""
    if subject.constant:
        return dict.fromkeys(subject.reader.users_of(subject.constant), 1)
    return dict.fromkeys(_inside(subject), 0)


def _inside(subject: GraphSubject) -> Iterator[int]:
    documents, number = subject.documents, subject.number
    if documents[number].level in (Level.FILE, Level.MODULE):
        yield from (one for file in files_of(documents, number) for one in documents.inside_file(file))
        return
    waiting = [number]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += documents.children(one)


def _described(subject: GraphSubject, own: Footprint, asked: Sequence[str]) -> ChangedDefinition:
    documents, row = subject.documents, subject.row
    users = subject.reader.users_of(subject.constant) if subject.constant else own.reach.users(subject.number)
    summary = "" if subject.constant else documents[subject.number].shown()["summary"]
    return ChangedDefinition(
        kind=SymbolChangeKind.ASKED,
        id=row.id,
        path=row.path,
        line=row.start_line,
        end_line=None if subject.constant else row.end_line,
        signature=subject.signature,
        headline=str(summary or ""),
        **fields_of_users(documents, users, asked),
        is_test=not subject.constant and is_test_document(documents, subject.number),
    )
