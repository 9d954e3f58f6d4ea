"""Which documents changed between the version of an index that was last compared and the one that is published now.

Only the innermost change is reported: a class, file or folder changes whenever something in it does, and is reported
only if nothing in it explains that, or if all of it was added or removed. A document that was only moved or renamed is
reported once, with its previous id. A candidate that was held back was not published, so its changes are not reported;
and the first comparison has nothing to compare with.

The baseline is the version that was last compared. A version folder goes when newer ones came, so its documents are
kept under a hard link of ours. A small file names the link; replacing that file moves the baseline, all at once.
"""

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import MissingTable, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState
from codesum_pipeline.foundation.store.atomic import explain_refused_writes, temporary_beside, write_text_atomically
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.file_formats.version_folder import DOCUMENTS, Version
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline.notifications.matching.document_differences import (
    DocumentDifferences,
    Line,
    differing_documents,
    find_renames,
)
from codesum_pipeline.source.git.commit_history import FileChange, files_between

_log = logging.getLogger(__name__)

_NAMED = "compared.json"


class Baseline(Struct, frozen=True):
    """One version: the sha256 of its manifest, its commit and tree, and the rules by which content was hashed."""

    digest: str
    commit: str
    tree: str
    hash_policy: Any

    @classmethod
    def of(cls, version: Version) -> "Baseline":
        manifest = version.manifest
        return cls(version.digest, manifest["commit"], manifest["tree"], manifest["hash_policy"])

    def documents(self, folder: Path) -> Path:
        """The lines of its documents."""
        return folder / f"{self.digest}.jsonl"


def read_baseline(folder: Path) -> Baseline | None:
    """The baseline; None if there is none, or where it cannot be read."""
    path = folder / _NAMED
    try:
        found = Baseline(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        _log.warning("%s cannot be read (%s): changes count from this build on", path, error)
        return None
    if not found.documents(folder).exists():
        _log.warning("%s is gone: changes count from this build on", found.documents(folder))
        return None
    return found


def hold_documents(folder: Path, version: Version) -> Path:
    """Keep a version's documents in `folder`, also when the version is deleted; the baseline does not move yet."""
    path = Baseline.of(version).documents(folder)
    source = version.folder / DOCUMENTS
    if path.exists():
        return path
    with explain_refused_writes(path):
        folder.mkdir(parents=True, exist_ok=True)
        temporary = temporary_beside(path)
        try:
            try:
                os.link(source, temporary)
            except FileNotFoundError:
                raise
            except OSError:
                # Not all file systems have hard links.
                shutil.copyfile(source, temporary)
            os.replace(temporary, path)
        finally:
            # A rename between two links to one file leaves both.
            temporary.unlink(missing_ok=True)
    return path


def move_baseline(folder: Path, version: Version) -> None:
    """Make a version whose documents are held the one that was last compared, and drop what was held before."""
    baseline = Baseline.of(version)
    write_text_atomically(folder / _NAMED, json.dumps(to_builtins(baseline), sort_keys=True))
    kept = {folder / _NAMED, baseline.documents(folder)}
    for path in folder.iterdir():
        if path not in kept:
            with suppress(OSError):
                path.unlink()


class VersionComparison(Struct, frozen=True):
    """What changed since `since`, which is None for the first comparison; in the order of the documents' ids.

    `keep` makes the published version the one to compare with. It is called once everything that depends on the changes
    is stored: until then each comparison reports the same changes again.
    """

    changes: tuple[DocumentChange, ...]
    version: Version
    since: Baseline | None
    folder: Path

    def keep(self) -> None:
        if self.since is None or self.since.digest != self.version.digest:
            move_baseline(self.folder, self.version)


def compare_published(ws: Workspace) -> VersionComparison | None:
    """What changed; None if nothing is published. The repository's lease is held, so nothing is published
    meanwhile."""
    version = published_version(ws.layout, ws.key)
    if version is None:
        return None
    folder = ws.layout.compared(ws.key)
    since = read_baseline(folder)
    if since is not None and since.digest == version.digest:
        return VersionComparison((), version, since, folder)
    documents = hold_documents(folder, version)
    if since is None:
        return VersionComparison((), version, None, folder)
    files = _changed_files(ws, since, version)
    now = Baseline.of(version)
    if files is None and since.hash_policy != now.hash_policy:
        _log.warning("%s: content is hashed by other rules now: changes count from this build on", ws.key)
        return VersionComparison((), version, since, folder)
    found = differing_documents(since.documents(folder), documents, files)
    changes = changes_among(
        found,
        repository=ws.key,
        before=since.commit,
        after=now.commit,
        files=files or {},
        encodings=version.encodings,
        date=_date(ws, now.commit),
    )
    return VersionComparison(changes, version, since, folder)


def changes_among(
    found: DocumentDifferences,
    *,
    repository: str,
    before: str,
    after: str,
    files: Mapping[str, FileChange],
    encodings: Mapping[str, str],
    date: str | None,
) -> tuple[DocumentChange, ...]:
    """The changes to report for all documents that differ between two commits; `encodings` are those of the files
    that are not in UTF-8, by path."""
    renames = find_renames(found)
    renamed = set(renames.values())
    reported = _innermost(found, renames)
    return tuple(
        DocumentChange(
            repository=repository,
            document_id=id_,
            level=Level(found.line(id_)["type"]),
            language=found.line(id_)["language"],
            before=_state(found.before.get(renames.get(id_, id_)), before, lambda file: file.before, files, encodings),
            after=_state(found.after.get(id_), after, lambda file: file.after, files, encodings),
            date=date,
            is_test=found.line(id_)["is_test"],
            is_vendored=found.line(id_)["is_vendored"],
            renamed_from=renames.get(id_),
        )
        for id_ in found.ids
        if id_ in reported and id_ not in renamed
    )


def _state(
    line: Line | None,
    commit: str,
    blob: Callable[[FileChange], str | None],
    files: Mapping[str, FileChange],
    encodings: Mapping[str, str],
) -> DocumentState | None:
    if line is None:
        return None
    path = line["file_path"]
    return DocumentState(
        name=line["qualified_name"] or path,
        file_path=path,
        commit=commit,
        content_hash=line["content_hash"],
        summary=line["summary"],
        signature=line["signature"],
        start_line=line["start_line"],
        end_line=line["end_line"],
        blob=blob(files[path]) if path in files else None,
        encoding=encodings.get(path),
    )


def _innermost(found: DocumentDifferences, renames: Mapping[str, str]) -> set[str]:
    """The documents that are reported, by their present ids, or removed ones by their last ids."""
    reported, explained = set[str](), set[str]()

    def depth(id_: str) -> tuple[bool, int, str]:
        line = found.line(id_)
        is_symbol = line["type"] in (Level.FUNCTION, Level.CLASS)
        return is_symbol, id_.count("::") if is_symbol else line["file_path"].count("/"), id_

    # Parts before what holds them.
    for id_ in sorted(found.ids, key=depth, reverse=True):
        if _is_reported(id_, found, renames, has_reported_parts=id_ in explained):
            reported.add(id_)
            explained |= {*_above(id_, found.after), *_above(renames.get(id_, id_), found.before)}
    return reported


def _is_reported(id_: str, found: DocumentDifferences, renames: Mapping[str, str], *, has_reported_parts: bool) -> bool:
    """Whether a document's change is explained neither by what contains it nor by its own parts."""
    line = found.line(id_)
    if id_ in renames:
        then = found.before[renames[id_]]
        came_along = renames.get(line["parent_id"]) == then["parent_id"]
        return not came_along or not (has_reported_parts or then["content_hash"] == line["content_hash"])
    if id_ in found.before and id_ in found.after:
        # A folder is what is in it.
        return line["type"] != Level.MODULE and not has_reported_parts
    # A function that came or went with the function around it is a part of it.
    side, other = (found.after, found.before) if id_ in found.after else (found.before, found.after)
    around = (above for above in _above(id_, side) if side[above]["type"] == Level.FUNCTION)
    return line["type"] != Level.FUNCTION or all(above in other or above in renames for above in around)


def _above(id_: str, lines: Mapping[str, Line]) -> Iterator[str]:
    """The documents around a document that differ, too, from the inside out."""
    line = lines.get(id_)
    while line is not None and (parent := line["parent_id"]) in lines:
        yield parent
        line = lines[parent]


def _changed_files(ws: Workspace, since: Baseline, version: Version) -> dict[str, FileChange] | None:
    """The files whose blobs differ between two trees; None if git does not know one of them any more."""
    mirror, timeout_s = ws.layout.mirror(ws.key), ws.settings.git_timeout_s
    try:
        found = files_between(mirror, since.tree, version.manifest["tree"], timeout_s=timeout_s)
    except RepositoryUnavailable as error:
        _log.warning("%s: its trees cannot be compared: %s", ws.key, error)
        return None
    return {change.path: change for change in found}


def _date(ws: Workspace, commit: str) -> str | None:
    """The date of a commit; None if it is not the last build's."""
    try:
        snapshots = ws.tables.read_rows("snapshot", ws.key, Snapshot)
    except MissingTable:
        return None
    return next((snapshot.committed_at for snapshot in snapshots if snapshot.commit == commit), None)
