"""Questions from a repository's history: what a commit says it does, and the functions that it changed.

A commit's first line is how people of the project speak of their code. What it
changed is found by parsing the files before and after: a function is touched
when its canonical source differs, so comments and layout do not count.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

from codesum_pipeline.evaluation.questions import Question, Target
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import SkippedFile
from codesum_pipeline.model.files import FileStatus, Snapshot, SourceFile
from codesum_pipeline.model.guard import Guard, guarded
from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.model.symbols import SymbolType
from codesum_pipeline.parsing.parsers import PARSERS, parse_file
from codesum_pipeline.parsing.testing import read_tests
from codesum_pipeline.source.git import BlobReader, run_git
from codesum_pipeline.source.history import history_of
from codesum_pipeline.store.workspace import Workspace

_log = logging.getLogger(__name__)

CATEGORY = "commit"
LEAST_WORDS = 4
# What touches more is about more than its first line says.
MOST_FILES = 5
MOST_FUNCTIONS = 5
# Files of any kind: tests, change logs and documents come along with a change of code.
_MOST_FILES_OF_ANY_KIND = 20
# Larger ones take longer to parse twice than a question is worth.
_MOST_BYTES = 300_000

# `fix(scope)!: `, `[tag] `, `module: ` and `#123 - ` at the beginning; `(#123)` and `closes #123` anywhere.
_PREFIX = re.compile(r"^(?:\[[^\]]*\]\s*|(?:GH-|#)\d+\s*[-:]?\s*|[\w./-]+(?:\([^)]*\))?!?:\s+)+")
_REFERENCE = re.compile(
    r"\s*\((?:GH-|#|!)\d+(?:,\s*(?:GH-|#|!)\d+)*\)|(?:\b(?:closes?|fix(?:es)?|refs?|see)\s+)?(?:GH-|#)\d+\b",
    re.IGNORECASE,
)
# What such a commit changes has nothing to do with what its words mean.
_CHORE = re.compile(
    r"\b(?:merge|revert|reverts|bump|typos?|docstrings?|docs?|documentation|whitespace|lint|linter|flake8|mypy|ruff|black|isort|prettier|eslint|gofmt|"
    r"rustfmt|clippy|pre-commit|reformat|format(?:ting)? (?:code|with|files?)|code style|change ?log|release|version|"
    r"copyright|licen[cs]e|dependenc(?:y|ies)|dependabot|upgrade|submodule|wip)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Change:
    """One file before and after a commit, as blobs."""

    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class _Commit:
    id: str
    subject: str
    changes: list[_Change] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Function:
    """A function in one version of its file."""

    id: str
    parent_id: str | None
    content_hash: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a function stands now."""

    id: str
    type: SymbolType
    qualified_name: str
    file_path: str
    start_line: int
    end_line: int


def commit_questions(ws: Workspace, *, commits: int, guard: Guard | None = None) -> list[Question]:
    """Questions from the last `commits` commits of the first-parent line, newest first; none without a history.

    Merges are among them and ask nothing: what is asked then is the same however much of the history is at hand.
    """
    tests = read_tests(ws.tables, ws.key)
    files = {
        file.path: file
        for file in ws.tables.read_rows("files", ws.key, SourceFile)
        if file.status is FileStatus.INDEXED
        and file.language in PARSERS
        and file.path not in tests
        and not file.is_vendored
    }
    places = {place.id: place for place in ws.tables.read_rows("symbols", ws.key, _Place)}
    found = []
    with BlobReader(ws.layout.mirror(ws.key)) as blobs:
        # What one commit found a file to be, the one before it left.
        functions_of = cache(partial(_functions, blobs, files))
        for commit in _history(ws, commits):
            changes = [change for change in commit.changes if change.path in files]
            query = clean_subject(commit.subject)
            is_small = 1 <= len(changes) <= MOST_FILES and len(commit.changes) <= _MOST_FILES_OF_ANY_KIND
            if not (query and is_small):
                continue
            with guarded(guard, f"{CATEGORY}:{commit.id[:16]}"):
                touched = [places[id_] for id_ in _touched(functions_of, changes) if id_ in places]
                if len(touched) <= MOST_FUNCTIONS:
                    found.append(_question(ws, commit, query, changes, touched, files))
    return found


def clean_subject(subject: str) -> str:
    """What a commit's first line says in words; nothing where it says too little, or is about a chore."""
    text = _PREFIX.sub("", _REFERENCE.sub("", subject)).strip(" .,:;-")
    return text if len(text.split()) >= LEAST_WORDS and not _CHORE.search(subject) else ""


def _history(ws: Workspace, commits: int) -> Iterator[_Commit]:
    """Commits with one parent, each with the files that it changed. A folder's only commit has none."""
    (snapshot,) = ws.tables.read_rows("snapshot", ws.key, Snapshot)
    history = history_of(ws, snapshot.commit, commits=commits)
    if history.short_because:
        _log.warning(
            "%s: %d of its last %d commits are asked about; more of its history cannot be had: %s",
            ws.key, len(history.commits), commits, history.short_because,
        )  # fmt: skip
    if not history.commits:
        return
    switches = ["--no-walk=unsorted", "--stdin", "--min-parents=1", "--max-parents=1", "--no-renames", "--raw"]
    output = run_git(
        ["log", *switches, "--no-abbrev", "-z", "--format=%x01%H %s"],
        git_dir=ws.layout.mirror(ws.key),
        timeout_s=ws.options.scan.git_timeout_s,
        data="".join(f"{commit}\n" for commit in history.commits).encode(),
    )
    for part in output.decode("utf-8", "replace").split("\x01")[1:]:
        head, *rest = part.split("\0")
        id_, _, subject = head.strip().partition(" ")
        fields = [entry.lstrip("\n") for entry in rest if entry.strip()]
        changes = [_Change(path, *entry.split()[2:4]) for entry, path in zip(fields[::2], fields[1::2], strict=False)]
        yield _Commit(id_, subject, changes)


def _touched(functions_of: Callable[[str, str], list[_Function]], changes: Sequence[_Change]) -> list[str]:
    """The ids of the innermost functions that are new or say something else, in order."""
    found: list[str] = []
    for change in changes:
        before = {symbol.id: symbol.content_hash for symbol in functions_of(change.path, change.before)}
        after = functions_of(change.path, change.after)
        changed = [symbol for symbol in after if before.get(symbol.id) != symbol.content_hash]
        around = {symbol.parent_id for symbol in changed}
        found.extend(symbol.id for symbol in changed if symbol.id not in around)
    return found


def _functions(blobs: BlobReader, files: Mapping[str, SourceFile], path: str, blob: str) -> list[_Function]:
    """The functions of one version of a file; none where there is none, or none that can be read."""
    if not blob.strip("0"):
        return []
    try:
        data = blobs.read(blob)
        if len(data) > _MOST_BYTES:
            return []
        parsed = parse_file(path, files[path].language, data, blob=blob, hash_policy=HashPolicy.CANONICAL)
    except SkippedFile:
        return []
    return [
        _Function(symbol.id, symbol.parent_id, symbol.content_hash)
        for symbol in parsed.symbols
        if symbol.type is SymbolType.FUNCTION
    ]


def _question(
    ws: Workspace,
    commit: _Commit,
    query: str,
    changes: Sequence[_Change],
    touched: Sequence[_Place],
    files: Mapping[str, SourceFile],
) -> Question:
    return Question(
        id=f"{CATEGORY}:{commit.id[:16]}",
        query=query,
        relevant=tuple(Target(change.path) for change in changes),
        cited_symbols=tuple(
            Target(place.file_path, place.start_line, place.end_line, place.qualified_name, Level.FUNCTION)
            for place in touched
        ),
        category=CATEGORY,
        language=files[changes[0].path].language,
        source="own",
        repo=ws.key,
        commit=commit.id,
    )
