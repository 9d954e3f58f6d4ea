"""The first step: a repository's newest commit, and every file in it as a row.

A file's row is a function of its path, mode, blob and the rules. What the content decides is carried over from the last
table where path, blob and rules are the same, so an unchanged file is not read again.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.file import (
    NOTEBOOK,
    UTF_8,
    EncodingEvidence,
    FileStatus,
    SkipReason,
    Snapshot,
    SourceFile,
    Submodule,
)
from codesum_pipeline.foundation.data_model.guard import Failure, FailureGuard
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.moments import moment_of
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.language_facts.file_languages import TEXT, language_of_path
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.files.commit_fetching import bring_commit
from codesum_pipeline.source.files.content import CONTENT_REASONS, ContentDecision, judge_content
from codesum_pipeline.source.files.declared_encodings import DECLARING_FILES, DeclaredEncodings, read_declared
from codesum_pipeline.source.files.ignore_files import NO_IGNORE_RULES, IgnoreRules, is_ignore_file, rules_of_blobs
from codesum_pipeline.source.files.origins import foreign_folders, is_below
from codesum_pipeline.source.files.path_rules import RULES_VERSION, PathRules, readable_path
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline.source.git.mirror import Head, Mirror
from codesum_pipeline.source.git.remote import way_out
from codesum_pipeline.source.git.trees import FOLDER_MODE, MOST_ENTRIES, read_tree, tree_of_commit
from codesum_pipeline.source.masking.secrets import mask_secrets

_PROGRESS_EVERY = 200
# The licences in these files show who owns a folder, whether or not the files are indexed.
_HELD = frozenset({
    None, SkipReason.OUTSIDE_SUBDIR, SkipReason.EXCLUDED, SkipReason.NOT_INCLUDED, SkipReason.LANGUAGE,
    SkipReason.CODESUMIGNORE,
})  # fmt: skip
# Files whose problem is not how they are encoded.
_NO_DOUBT = frozenset({SkipReason.BINARY, SkipReason.NOTEBOOK, SkipReason.TOO_LARGE})
# Git's subject is the whole first paragraph.
_LONGEST_SUBJECT = 500


class SnapshotReport(Struct, frozen=True):
    """What a snapshot took in; `files_read` of the indexed and skipped ones were not carried over, `failed` of the
    skipped ones could not be judged. `scip_indexes` are the compilers' indexes, `scip_problems` say why others are
    not. `encodings` count the indexed files that are not in UTF-8, by encoding; `encoding_problems` name those files
    that were not read as it is declared, or not in full."""

    commit: str
    tree: str
    ref: str
    files_indexed: int
    files_skipped: int
    skipped_by_reason: Mapping[str, int]
    files_read: int
    bytes_indexed: int
    table_hash: str
    failed: int = 0
    failures: tuple[Failure, ...] = ()
    scip_indexes: int = 0
    scip_problems: tuple[str, ...] = ()
    encodings: Mapping[str, int] = field(default_factory=dict)
    encodings_guessed: int = 0
    encodings_in_doubt: int = 0
    encoding_problems: tuple[str, ...] = ()


class _TreeEntry(Struct, frozen=True):
    """One entry of a commit's tree."""

    path: str
    is_valid: bool
    mode: str
    blob: str
    size: int


def take_snapshot(ws: Workspace, *, index_state: str = "", progress: Progress = no_progress) -> SnapshotReport:
    """Fetch what the entry asks for and write the tables `snapshot` and `files`; `index_state` is noted in the first.

    Raises `ConfigurationError` for what a person has to change, and
    `RepositoryUnavailable` for what may work at another time.
    """
    mirror = Mirror(ws.layout.mirror(ws.key), timeout_s=ws.settings.git_timeout_s)
    head = bring_commit(ws.entry, mirror, ws.settings, named=ws.named, progress=progress)
    return snapshot_of(ws, mirror, head, index_state=index_state, progress=progress)


def snapshot_of(
    ws: Workspace,
    mirror: Mirror,
    head: Head,
    *,
    index_state: str = "",
    declared: DeclaredEncodings | None = None,
    is_filtered: bool = False,
    progress: Progress = no_progress,
) -> SnapshotReport:
    """As `take_snapshot`, of a commit that is in the mirror; `declared` holds in the tree around it. One that
    `is_filtered` lacks the files that the tree's own patterns leave out."""
    rules = PathRules.of(ws.entry, ws.settings)
    described = ["log", "--no-walk", "--no-color", "--encoding=UTF-8", "--format=%T%x00%ct%x00%s", head.commit]
    tree, seconds, subject = mirror.run_git(*described).decode("utf-8", "replace").rstrip("\n").split("\0", 2)
    committed_at = moment_of(seconds)
    # Masked before it is cut: what is cut in the middle of a secret may not look like one.
    subject = mask_secrets(subject[: 2 * _LONGEST_SUBJECT]).text[:_LONGEST_SUBJECT]
    snapshot = Snapshot(ws.key, head.commit, tree, head.ref, subject, committed_at, index_state)
    listed = _list_tree(mirror, head.commit)
    subdir = ws.entry.subdir
    if subdir and not any(entry.path.startswith(f"{subdir}/") for entry in listed):
        raise ConfigurationError(
            f"repos.yaml: {ws.key!r}: subdir {subdir!r} is not a folder of commit {snapshot.commit[:12]}: "
            "correct or drop it"
        )
    ignored = NO_IGNORE_RULES if is_filtered else _ignore_rules(listed, mirror)
    rules = replace(rules, ignored=ignored)
    known = {} if ws.force else {row.path: row for row in ws.tables.read_rows_or_empty("files", ws.key, SourceFile)}
    guard = FailureGuard()
    made_by = "" if declared else hash_of([RULES_VERSION, ws.memo_settings(), is_filtered, *_said_in_tree(listed)])
    if declared is None:
        declared = declared_in(mirror.git_dir, {entry.path: entry.blob for entry in listed}, rules)
    scan = _Scan(rules, declared, mirror, guard, bool(made_by) and ws.tables.note("files", ws.key) == made_by)
    rows, read = _classify(scan, listed, known, to_mend=way_out(ws.entry), progress=progress)
    rows = _with_foreign_folders(rows, rules, mirror)
    guard.add([*ignored.problems, *head.problems])
    for left in head.left_out:
        with guard.item(left.path.decode("utf-8", "replace")):
            path, is_valid = readable_path(left.path)
            entry = _TreeEntry(path, is_valid, mode="", blob="", size=left.size)
            reason = left.reason if is_valid else SkipReason.INVALID_PATH
            rows.append(_row(entry, rules, language_of_path(path) or TEXT, reason))
    # First, so that a build that is killed here is seen to have begun.
    written = ws.tables.write_rows("snapshot", ws.key, [snapshot], Snapshot)
    files = ws.tables.write("files", ws.key, to_table(rows, SourceFile), note=made_by)
    submodules = ws.tables.write_rows("submodules", ws.key, _submodules(rows, head, rules), Submodule)
    table_hash = hash_of([written.table_hash, files.table_hash, submodules.table_hash])
    return _report(snapshot, rows, guard, files_read=read, table_hash=table_hash)


def _report(
    snapshot: Snapshot, rows: Sequence[SourceFile], guard: FailureGuard, *, files_read: int, table_hash: str
) -> SnapshotReport:
    indexed = [row for row in rows if row.status is FileStatus.INDEXED]
    in_doubt = [row for row in rows if row.encoding_problem and row.reason not in _NO_DOUBT]
    return SnapshotReport(
        commit=snapshot.commit,
        tree=snapshot.tree,
        ref=snapshot.ref,
        files_indexed=len(indexed),
        files_skipped=len(rows) - len(indexed),
        skipped_by_reason=dict(sorted(Counter(str(row.reason) for row in rows if row.reason).items())),
        files_read=files_read,
        bytes_indexed=sum(row.size for row in indexed),
        table_hash=table_hash,
        failed=len(guard.failed),
        failures=guard.failures,
        encodings=dict(
            sorted(Counter(row.encoding for row in indexed if row.encoding not in (None, UTF_8, NOTEBOOK)).items())
        ),
        encodings_guessed=sum(row.encoding_evidence is EncodingEvidence.GUESS for row in indexed),
        encodings_in_doubt=len(in_doubt),
        encoding_problems=tuple(f"{row.path}: {row.encoding_problem}" for row in in_doubt),
    )


def declared_in(git_dir: Path, blobs: Mapping[str, str], rules: PathRules) -> DeclaredEncodings:
    """The encodings that the settings and the files of a tree declare; `blobs` are the tree's files by path."""
    if not any(path.rpartition("/")[2] in DECLARING_FILES for path in blobs):
        return DeclaredEncodings(rules.encodings)
    with BlobReader(git_dir) as reader:
        return read_declared(rules.encodings, blobs, lambda blob: next(reader.read_many([blob]), None))


class _Scan(Struct, frozen=True):
    """What the rows of one snapshot are made with; `is_as_last` says that the last one's were made with the same."""

    rules: PathRules
    declared: DeclaredEncodings
    mirror: Mirror
    guard: FailureGuard
    is_as_last: bool

    def version(self, path: str) -> str:
        """Everything besides its bytes that decides how a file's content is judged."""
        said = [f"{each.evidence} {each.name}" for each in self.declared.of(path)]
        return ", ".join([RULES_VERSION, *said])


def _submodules(rows: Iterable[SourceFile], head: Head, rules: PathRules) -> list[Submodule]:
    """Those that were joined or could not be, and those that nobody asked for."""
    known = {each.path for each in head.submodules}
    links = [row for row in rows if row.reason is SkipReason.SUBMODULE and row.path not in known]
    return [*head.submodules, *(Submodule(row.path, row.blob) for row in links if rules.may_index_below(row.path))]


def _list_tree(mirror: Mirror, commit: str) -> list[_TreeEntry]:
    """The entries of a commit by path; of two with one path, which only a broken tree has, the first.

    Raises `ConfigurationError` for more than `MOST_ENTRIES`.
    """
    by_path: dict[str, _TreeEntry] = {}
    tree = tree_of_commit(mirror.git_dir, commit)
    with closing(read_tree(tree, git_dir=mirror.git_dir, timeout_s=mirror.timeout_s, with_sizes=True)) as files:
        for number, file in enumerate(files):
            if number == MOST_ENTRIES:
                raise ConfigurationError(
                    f"commit {commit[:12]} holds more than {MOST_ENTRIES:,} files, more than are indexed as one "
                    "repository: set its ref to another commit, or split it"
                )
            path, is_valid = readable_path(file.path)
            by_path.setdefault(path, _TreeEntry(path, is_valid, file.mode, file.blob, file.size))
    folders = _folders_of(by_path)
    return [replace(by_path[path], is_valid=False) if path in folders else by_path[path] for path in sorted(by_path)]


def _ignore_rules(listed: Iterable[_TreeEntry], mirror: Mirror) -> IgnoreRules:
    entries = [*listed]
    blobs = {entry.path: (entry.mode, entry.blob, entry.size) for entry in entries if is_ignore_file(entry.path)}
    return rules_of_blobs(mirror.git_dir, blobs, paths=len(entries))


def _said_in_tree(listed: Sequence[_TreeEntry]) -> Iterator[object]:
    """What a tree says of others of its files, and how large it is where that counts."""
    for entry in listed:
        if is_ignore_file(entry.path):
            yield [entry.path, entry.mode, entry.blob, len(listed)]
        elif entry.path.rpartition("/")[2] in DECLARING_FILES:
            yield [entry.path, entry.blob]


def _folders_of(paths: Iterable[str]) -> set[str]:
    """All folders that contain paths. A file with a folder's name makes a tree that cannot be checked out."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _classify(
    scan: _Scan,
    listed: list[_TreeEntry],
    known: Mapping[str, SourceFile],
    *,
    to_mend: str,
    progress: Progress,
) -> tuple[list[SourceFile], int]:
    """A row for each entry, by path, and how many contents were read for them. One that fails is skipped."""
    rows: list[SourceFile] = []
    unread = []
    rules, guard = scan.rules, scan.guard
    for entry in listed:
        row = known.get(entry.path)
        if row and scan.is_as_last and _is_same(row, entry):
            # The folder may have been another's by its licence.
            rows.append(replace(row, is_vendored=rules.is_vendored(row.path)) if row.is_vendored else row)
            continue
        with guard.item(entry.path):
            reason = rules.why_skipped(entry.path, mode=entry.mode, size=entry.size)
            if not entry.is_valid:
                reason = SkipReason.INVALID_PATH
            if reason is not None:
                rows.append(_row(entry, rules, language_of_path(entry.path) or TEXT, reason))
            elif verdict := _carried(row, entry, scan):
                rows.append(_judged_row(entry, scan, verdict))
            else:
                unread.append(entry)
    rows.extend(_read_rows(scan, unread, to_mend=to_mend, progress=progress))
    # `_carried` takes no such row over, so the next build tries again.
    rows.extend(
        SourceFile(
            entry.path, entry.blob, entry.size, entry.mode, TEXT, FileStatus.SKIPPED, SkipReason.FAILED,
            is_test=False, is_vendored=False, rules=RULES_VERSION,
        )
        for entry in listed if entry.path in guard.failed
    )  # fmt: skip
    return sorted(rows, key=lambda row: row.path), len(unread)


def _with_foreign_folders(rows: list[SourceFile], rules: PathRules, mirror: Mirror) -> list[SourceFile]:
    """The rows, where those in folders that are others' by their licences are vendored."""
    blobs = {row.path: row.blob for row in rows if row.blob and row.reason in _HELD}
    sizes = {row.path: row.size for row in rows if row.path in blobs}

    def read(paths: Collection[str]) -> dict[str, str]:
        with BlobReader(mirror.git_dir) as reader:
            contents = reader.read_many(blobs[path] for path in paths)
            return {path: (data or b"").decode("utf-8", "replace") for path, data in zip(paths, contents, strict=True)}

    # The indexed folder is never foreign, wherever it is.
    around = f"{rules.subdir}/"
    folders = {folder for folder in foreign_folders(sizes, read) if not around.startswith(f"{folder}/")}
    return [replace(row, is_vendored=True) if is_below(row.path, folders) else row for row in rows]


def _is_same(row: SourceFile, entry: _TreeEntry) -> bool:
    """Whether a row that was made with the same rules would be made again; one of a path that cannot be follows from
    other paths, too."""
    is_judged = entry.is_valid and row.reason not in (SkipReason.FAILED, SkipReason.INVALID_PATH)
    return is_judged and (row.blob, row.mode, row.size) == (entry.blob, entry.mode, entry.size)


def _carried(row: SourceFile | None, entry: _TreeEntry, scan: _Scan) -> ContentDecision | None:
    """What the content decided last time, where that still holds."""
    if row is None or row.blob != entry.blob or row.rules != scan.version(entry.path):
        return None
    is_judged = row.status is FileStatus.INDEXED or row.reason in CONTENT_REASONS
    is_left_out = row.reason is SkipReason.LANGUAGE and not scan.rules.allows(row.language)
    if not (is_judged or is_left_out):
        return None
    return ContentDecision(row.language, row.reason, row.read_as, row.encoding_problem or "")


def _read_rows(scan: _Scan, unread: list[_TreeEntry], *, to_mend: str, progress: Progress) -> Iterator[SourceFile]:
    """Rows of files whose content has to be read; one content is in memory at a time. `to_mend` says what to do about
    one that is not there."""
    if not unread:
        return
    guard, declared = scan.guard, scan.declared
    with BlobReader(scan.mirror.git_dir) as blobs:
        contents = blobs.read_many(entry.blob for entry in unread)
        for done, (entry, data) in enumerate(zip(unread, contents, strict=True)):
            if done % _PROGRESS_EVERY == 0:
                progress("reading files", done, len(unread))
            if data is None:
                what = "folder" if entry.mode == FOLDER_MODE else "object"
                why = f"unreadable: {what} {entry.blob} is missing, or cannot be read: {to_mend}"
                guard.add([Failure(entry.path, why)])
                continue
            rows = []
            with guard.item(entry.path):
                said = declared.of(entry.path)
                judged = judge_content(entry.path, data, said, most_of_notebook=scan.rules.largest_bytes)
                rows = [_judged_row(entry, scan, judged)]
            yield from rows
    progress("reading files", len(unread), len(unread))


def _judged_row(entry: _TreeEntry, scan: _Scan, verdict: ContentDecision) -> SourceFile:
    """The allowlist overrides what the content decides, as it does for a name that says the language."""
    reason = verdict.reason if scan.rules.allows(verdict.language) else SkipReason.LANGUAGE
    encoding, row = verdict.encoding, _row(entry, scan.rules, verdict.language, reason)
    return replace(
        row,
        rules=scan.version(entry.path),
        encoding=encoding and encoding.name,
        encoding_evidence=encoding and encoding.evidence,
        encoding_problem=(encoding.problem if encoding else verdict.problem) or None,
    )


def _row(entry: _TreeEntry, rules: PathRules, language: str, reason: SkipReason | None) -> SourceFile:
    return SourceFile(
        path=entry.path,
        blob=entry.blob,
        size=entry.size,
        mode=entry.mode,
        language=language,
        status=FileStatus.INDEXED if reason is None else FileStatus.SKIPPED,
        reason=reason,
        is_test=rules.is_test(entry.path),
        is_vendored=rules.is_vendored(entry.path),
        rules=RULES_VERSION,
    )
