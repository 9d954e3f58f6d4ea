"""Questions from a repository's history: the first line of a commit's message, and the functions that it changed.

The first line shows how the project's people speak of their code. The files are parsed before and after the commit: a
function is changed when its canonical source differs, so comments and layout do not count.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from msgspec import Struct

from codesum_pipeline.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import SkippedFile
from codesum_pipeline.model.files import FileStatus, SourceFile
from codesum_pipeline.model.guard import FailureGuard, guarded
from codesum_pipeline.model.hashing import HashPolicy
from codesum_pipeline.model.symbols import SymbolType
from codesum_pipeline.parsing.parsers import PARSERS, parse_file
from codesum_pipeline.parsing.testing import read_tests
from codesum_pipeline.source.git import BlobReader
from codesum_pipeline.source.history import MOST_BYTES_PARSED, CommitChanges, FileChange, commits_with_changes
from codesum_pipeline.store.workspace import Workspace

CATEGORY = "commit"
LEAST_WORDS = 4
# A commit that changes more is about more than its first line says.
MOST_FILES = 5
MOST_FUNCTIONS = 5
# Files of any kind: tests, change logs and documents come along with a change of code.
_MOST_FILES_OF_ANY_KIND = 20

# `fix(scope)!: `, `[tag] `, `module: ` and `#123 - ` at the beginning; `(#123)` and `closes #123` anywhere.
_PREFIX = re.compile(r"^(?:\[[^\]]*\]\s*|(?:GH-|#)\d+\s*[-:]?\s*|[\w./-]+(?:\([^)]*\))?!?:\s+)+")
_REFERENCE = re.compile(
    r"\s*\((?:GH-|#|!)\d+(?:,\s*(?:GH-|#|!)\d+)*\)|(?:\b(?:closes?|fix(?:es)?|refs?|see)\s+)?(?:GH-|#)\d+\b",
    re.IGNORECASE,
)
# The changes of such commits have nothing to do with the words of their messages.
_CHORE = re.compile(
    r"\b(?:merge|revert|reverts|bump|typos?|docstrings?|docs?|documentation|whitespace|lint|linter|flake8|mypy|ruff|black|isort|prettier|eslint|gofmt|"
    r"rustfmt|clippy|pre-commit|reformat|format(?:ting)? (?:code|with|files?)|code style|change ?log|release|version|"
    r"copyright|licen[cs]e|dependenc(?:y|ies)|dependabot|upgrade|submodule|wip)\b",
    re.IGNORECASE,
)


class _Function(Struct, frozen=True):
    """A function in one version of its file."""

    id: str
    parent_id: str | None
    content_hash: str


class _FunctionPlace(Struct, frozen=True):
    """Where a function of the index stands."""

    id: str
    type: SymbolType
    qualified_name: str
    file_path: str
    start_line: int
    end_line: int


def commit_questions(ws: Workspace, *, commits: int, guard: FailureGuard | None = None) -> list[Question]:
    """Questions from the last `commits` commits of the first-parent line, newest first; none without a history.

    Merges count among them and give no question, so that the questions do not depend on how much history is at hand.
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
    places = {place.id: place for place in ws.tables.read_rows("symbols", ws.key, _FunctionPlace)}
    found = []
    with BlobReader(ws.layout.mirror(ws.key)) as blobs:
        # The version of a file before one commit is the version after an earlier one.
        functions_of = cache(partial(_functions, blobs, files))
        for commit in commits_with_changes(ws, commits):
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
    """The words of a commit's first line; empty where there are too few, or it is about a chore."""
    text = _PREFIX.sub("", _REFERENCE.sub("", subject)).strip(" .,:;-")
    return text if len(text.split()) >= LEAST_WORDS and not _CHORE.search(subject) else ""


def _touched(functions_of: Callable[[str, str | None], list[_Function]], changes: Sequence[FileChange]) -> list[str]:
    """The ids of the innermost functions that are new or whose code differs, in order."""
    found: list[str] = []
    for change in changes:
        before = {symbol.id: symbol.content_hash for symbol in functions_of(change.path, change.before)}
        after = functions_of(change.path, change.after)
        changed = [symbol for symbol in after if before.get(symbol.id) != symbol.content_hash]
        around = {symbol.parent_id for symbol in changed}
        found.extend(symbol.id for symbol in changed if symbol.id not in around)
    return found


def _functions(blobs: BlobReader, files: Mapping[str, SourceFile], path: str, blob: str | None) -> list[_Function]:
    """The functions of one version of a file; none where it does not exist or cannot be read."""
    if blob is None:
        return []
    try:
        data = blobs.read(blob)
        if len(data) > MOST_BYTES_PARSED:
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
    commit: CommitChanges,
    query: str,
    changes: Sequence[FileChange],
    touched: Sequence[_FunctionPlace],
    files: Mapping[str, SourceFile],
) -> Question:
    return Question(
        id=f"{CATEGORY}:{commit.id[:16]}",
        query=query,
        relevant=tuple(AnswerPlace(change.path) for change in changes),
        cited_symbols=tuple(
            AnswerPlace(place.file_path, place.start_line, place.end_line, place.qualified_name, Level.FUNCTION)
            for place in touched
        ),
        category=CATEGORY,
        language=files[changes[0].path].language,
        source="own",
        repo=ws.key,
        commit=commit.id,
    )
