"""What an intent would have matched in the last commits: nothing is built, changed or paid for.

Each commit is compared with its first parent by parsing the files that it changed, before and after. What a document
says is taken from the published index where it has one with that content, else from its own comments and lines, so a
score may differ a little from that of the build of that time. Folders are not among the documents here.
"""

from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from codesum_pipeline.evidence.extractive.extractive_parents import author_opening_of_function
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import NotParsed, SkippedFile
from codesum_pipeline.foundation.data_model.file import EncodingEvidence
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE
from codesum_pipeline.foundation.data_model.standing_question import Intent, IntentMatch
from codesum_pipeline.foundation.language_facts.file_languages import TEXT
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.notifications.matching.changed_documents import changes_among
from codesum_pipeline.notifications.matching.document_differences import DocumentDifferences, Line
from codesum_pipeline.notifications.matching.scores import choose_matches, make_blob_reader, score_changes, score_of
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.content import judge_content, without_outputs
from codesum_pipeline.source.files.encodings import DeclaredEncoding
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.source.git.commit_history import (
    MOST_BYTES_PARSED,
    CommitChanges,
    FileChange,
    commits_with_changes,
)
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline.symbols.parsing.bounded import may_take_gigabytes
from codesum_pipeline.symbols.parsing.masks import masked_file
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline.symbols.parsing.text import ParsedFile

_USUAL_MODE = "100644"
# The columns of a symbol.
_AS_THEY_ARE = ("id", "qualified_name", "content_hash", "signature", "start_line", "end_line")


class PastMatches(Struct, frozen=True):
    """One commit, and how each document that it changed fits, best first; `matched` are those to be reported."""

    commit: CommitChanges
    matched: tuple[IntentMatch, ...]
    others: tuple[IntentMatch, ...]


def past_matches(
    ws: Workspace, intent: Intent, index: PublishedIndex, embedder: Embedder | None, *, commits: int
) -> Iterator[PastMatches]:
    """The last commits of the first-parent line, newest first, merges among them against their first parents."""
    with BlobReader(ws.layout.mirror(ws.key)) as blobs:
        versions = _Versions(ws, index, blobs)
        read = make_blob_reader(blobs)
        for commit in commits_with_changes(ws, commits, with_merges=True):
            stop_if_cancelled()
            changes = changes_among(
                versions.differing(commit.changes),
                repository=ws.key,
                before=commit.parent,
                after=commit.id,
                files={change.path: change for change in commit.changes},
                encodings=index.version.encodings,
                date=commit.committed_at,
            )
            (scored,) = score_changes(changes, [intent], index, embedder, read)
            matched = choose_matches(intent, scored)
            matched_ids = {found.change.document_id for found in matched}
            others = sorted(
                (found for found in scored if found.change.document_id not in matched_ids),
                key=lambda found: (-score_of(found), found.change.document_id),
            )
            yield PastMatches(commit, tuple(matched), tuple(others))


class _Versions:
    """The documents in versions of files."""

    def __init__(self, ws: Workspace, index: PublishedIndex, blobs: BlobReader) -> None:
        self._rules = PathRules.of(ws.entry, ws.settings)
        self._hash_policy, self._steps_per_byte = ws.settings.hash_policy, ws.settings.max_steps_per_byte
        self._index = index
        self._blobs = blobs
        # A file's version before one commit is its version after an earlier one.
        self._documents = cache(self._read)

    def differing(self, changes: tuple[FileChange, ...]) -> DocumentDifferences:
        """The differences between some files before and after."""
        found = DocumentDifferences()
        for change in changes:
            before, after = self._documents(change.path, change.before), self._documents(change.path, change.after)
            for side, lines, others in ((found.before, before, after), (found.after, after, before)):
                side.update({id_: line for id_, line in lines.items() if not _is_same(line, others.get(id_))})
        return found

    def _read(self, path: str, blob: str | None) -> dict[str, Line]:
        """The file and the functions and classes of one version of it; none of one that is not indexed."""
        if blob is None:
            return {}
        try:
            data = without_outputs(path, self._blobs.read(blob))
            # What another version was read in may still hold.
            said = self._index.version.encodings.get(path)
            declared = (DeclaredEncoding(said, EncodingEvidence.ATTRIBUTES),) if said else ()
            verdict = judge_content(path, data, declared)
            skipped = self._rules.why_skipped(path, mode=_USUAL_MODE, size=len(data))
            is_left_out = skipped or verdict.reason or not self._rules.allows(verdict.language)
            if is_left_out or verdict.encoding is None or len(data) > MOST_BYTES_PARSED:
                return {}
            # No worker is at hand that may end: such a file is one text.
            language = TEXT if may_take_gigabytes(data, verdict.language) else verdict.language
            parsed = parse_file(
                path, language, data,
                blob=blob, encoding=verdict.encoding.name, hash_policy=self._hash_policy,
                steps_per_byte=self._steps_per_byte,
            )  # fmt: skip
            parsed, _ = masked_file(parsed)
        except (SkippedFile, NotParsed):
            return {}
        found = {}
        for line in _lines(parsed, self._rules):
            # With the text of the published index, where that is of the same content.
            row = self._index.row(line["id"])
            known = None if row is None else self._index.document(row)
            found[line["id"]] = {**line, "summary": known["summary"]} if known and _is_same(line, known) else line
        return found


def _is_same(line: Line, other: Line | None) -> bool:
    return other is not None and bool(line["content_hash"] == other["content_hash"])


def _lines(parsed: ParsedFile, rules: PathRules) -> Iterator[Line]:
    """A parsed file as lines of documents, whose text is the author's own comment."""
    facts = parsed.facts
    path = facts.file_path
    of_file = {
        "file_path": path,
        "language": facts.language,
        "is_test": rules.is_test(path) or bool(facts.is_test),
        "is_vendored": rules.is_vendored(path),
    }
    yield {
        **of_file,
        "id": path,
        "type": Level.FILE.value,
        "qualified_name": None,
        "content_hash": facts.content_hash,
        "summary": author_opening_of_function(facts.docstring, facts.language, path),
        "signature": None,
        "start_line": None,
        "end_line": None,
        "parent_id": path.rpartition("/")[0] or ROOT_MODULE,
    }
    for symbol in parsed.symbols:
        yield {
            **of_file,
            **{name: getattr(symbol, name) for name in _AS_THEY_ARE},
            "type": symbol.type.value,
            "summary": author_opening_of_function(symbol.docstring, symbol.language, symbol.name),
            "is_test": of_file["is_test"] or bool(symbol.is_test),
            "parent_id": symbol.parent_id or path,
        }
