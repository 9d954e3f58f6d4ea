"""The items of a digest: each is one change, with everything that is reported about it.

Matching finds documents at every level: a function that changed changes its
class, its file and its folder, and a new file brings all that is in it. One
change is one item: the containers of a changed document are reported with it, and
if everything in a container was added, removed or moved, it is reported with that.

Whatever cannot be read any more (a mirror that is gone, a commit that was
pushed away) is missing from its item, and the item goes on.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from enum import StrEnum
from itertools import chain

from msgspec import Struct

from codesum_pipeline.foundation.data_model.digest_record import DigestCitation
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, parent_modules
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState, IntentMatch
from codesum_pipeline.notifications.digests.change_sources import CitedFiles, RepositorySource, Subjects
from codesum_pipeline.notifications.digests.hunks import Hunk
from codesum_pipeline.source.masking.secrets import mask_secrets

# Only the best ones get lines and commits, since each needs two files to be read.
MOST_READ_ITEMS = 300

_Key = tuple[str, str]


class ChangeNature(StrEnum):
    """What happened to a document. `REWORDED`: only what is said about it changed."""

    ADDED = "added"
    CHANGED = "changed"
    MOVED = "moved"
    REMOVED = "removed"
    REWORDED = "reworded"


class Item(Struct, frozen=True):
    """One thing that changed.

    `change` is the best of its group, `alike` are the others, near-duplicates of it, best first. `parts` are changed
    documents that are reported with it: the contents of one that was added, removed or moved, else its containers.
    `before` and `after` are the texts about it without secrets, None if it was not, or is not, there. `subjects` are
    those of the commits that changed its file, newest first.
    """

    citation: DigestCitation
    change: DocumentChange
    before: str | None
    after: str | None
    hunk: Hunk | None = None
    subjects: tuple[str, ...] = ()
    alike: tuple[DocumentChange, ...] = ()
    parts: tuple[DocumentChange, ...] = ()

    @property
    def happening(self) -> ChangeNature:
        return happening_of(self.change)

    @property
    def texts(self) -> Iterator[str]:
        """All that can be shown of it."""
        return filter(None, (self.after, self.before, self.hunk.text if self.hunk else "", *self.subjects))

    @property
    def documents(self) -> int:
        """The number of changed documents that it reports."""
        return 1 + len(self.alike) + len(self.parts)


def happening_of(change: DocumentChange) -> ChangeNature:
    """What happened to a changed document."""
    before, after = change.before, change.after
    if before is None or after is None:
        return ChangeNature(change.kind)
    if (before.file_path, before.name) != (after.file_path, after.name):
        return ChangeNature.MOVED
    return ChangeNature.REWORDED if before.content_hash == after.content_hash else ChangeNature.CHANGED


def items_of(groups: Sequence[Sequence[IntentMatch]], sources: Mapping[str, RepositorySource]) -> list[Item]:
    """The items of one intent's matches, each group one item or part of another one, in the order of the groups.

    Of a repository that `sources` does not have no files are read, and its citations have no `source_name`.
    """
    matches = {_key(match.change): match for match in chain.from_iterable(groups)}
    tellers = _tellers(matches)
    parts: dict[_Key, list[DocumentChange]] = {}
    for key, teller in tellers.items():
        parts.setdefault(teller, []).append(matches[key].change)
    kept = (sorted((match for match in group if _key(match.change) not in tellers), key=_rank) for group in groups)
    reported = [group for group in kept if group]
    readable = {id(group) for group in sorted(reported, key=lambda group: _rank(group[0]))[:MOST_READ_ITEMS]}
    changes = [match.change for match in matches.values()]
    subjects = Subjects(sources, changes)
    with closing(CitedFiles(sources)) as files:
        return [
            _item(
                group,
                tuple(chain.from_iterable(parts.get(_key(match.change), ()) for match in group)),
                sources.get(group[0].change.repository),
                *((files.read_hunk(change), subjects.of(change)) if id(group) in readable else (None, ())),
            )
            for group in reported
            for change in [group[0].change]
        ]


def _item(
    group: Sequence[IntentMatch],
    parts: tuple[DocumentChange, ...],
    source: RepositorySource | None,
    hunk: Hunk | None,
    subjects: tuple[str, ...],
) -> Item:
    change, state = group[0].change, group[0].change.state
    return Item(
        citation=DigestCitation(
            document_id=change.document_id,
            name=one_line(state.name),
            place=state.place,
            repository=change.repository,
            date=change.date,
            source_name=source.name if source else None,
            score=group[0].score,
        ),
        change=change,
        before=_summary_of(change.before),
        after=_summary_of(change.after),
        hunk=hunk,
        subjects=subjects,
        alike=tuple(match.change for match in group[1:]),
        parts=parts,
    )


def _summary_of(state: DocumentState | None) -> str | None:
    return None if state is None else mask_secrets(clean_text(state.summary)).text.strip()


def _key(change: DocumentChange) -> _Key:
    return change.repository, change.document_id


def _rank(match: IntentMatch) -> tuple[bool, float, bool, str, str]:
    """The order of matches: better ones first, those without a score last, tests after what they may test."""
    change = match.change
    return match.score is None, -(match.score or 0.0), change.is_test, change.repository, change.document_id


def _tellers(matches: Mapping[_Key, IntentMatch]) -> dict[_Key, _Key]:
    """For each document that is no item of its own, the document whose item covers it."""
    wholes = {key: whole for key, match in matches.items() if (whole := _whole_around(key, match.change, matches))}
    tellers: dict[_Key, _Key] = {}
    inner = {ChangeNature.CHANGED, ChangeNature.REWORDED}
    for key in sorted(matches.keys() - wholes.keys(), key=lambda each: _rank(matches[each])):
        for container in _containers(key):
            if container in matches and happening_of(matches[container].change) in inner:
                tellers.setdefault(container, key)
    found = {**wholes, **tellers}
    outermost: dict[_Key, _Key] = {}
    for key, teller in found.items():
        while teller in found:
            teller = found[teller]
        outermost[key] = teller
    return outermost


def _whole_around(key: _Key, change: DocumentChange, matches: Mapping[_Key, IntentMatch]) -> _Key | None:
    """The outermost container that came or went as a whole, or moved, and this document with it, as it was."""
    happening = happening_of(change)
    if happening in (ChangeNature.CHANGED, ChangeNature.REWORDED):
        return None
    if change.before and change.after and change.before.content_hash != change.after.content_hash:
        return None
    around = [each for each in _containers(key) if each in matches and happening_of(matches[each].change) is happening]
    return around[-1] if around else None


def _containers(key: _Key) -> Iterator[_Key]:
    """The containers of a document, nearest first."""
    repository, id_ = key
    path, *names = id_.split(SEPARATOR)
    for count in range(len(names) - 1, -1, -1):
        yield repository, SEPARATOR.join((path, *names[:count]))
    yield from ((repository, folder) for folder in parent_modules(path) if folder != path)
