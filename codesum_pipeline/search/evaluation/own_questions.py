"""Ground truth that a repository has itself, free and offline: its docstrings and its history.

The first sentence of a docstring says in a person's words what a function or class does. An index from which the
docstring was removed is asked this sentence: the function is then found only by its name, its code and the texts made
from these.

The first line of a commit's message shows how the project's people speak of their code. The files are parsed before and
after the commit: a function is changed when its canonical source differs, so comments and layout do not count.
"""

import hashlib
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.evidence.author_texts.docstrings import read_doc_comment, read_docstring, without_name
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import NotParsed, SkippedFile
from codesum_pipeline.foundation.data_model.file import UTF_8, FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.guard import FailureGuard, guard_item
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait
from codesum_pipeline.foundation.store.rows import from_table, to_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.lanes.tokens import tokenize
from codesum_pipeline.indexes.publishing.namespaces import nesting_classes
from codesum_pipeline.search.evaluation.evaluate import EvaluationSetup, QuestionResult, ask_questions
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.search.evaluation.scratch import index_texts, scratch_of, write_texts
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.content import without_outputs
from codesum_pipeline.source.files.encodings import decode_text
from codesum_pipeline.source.git.commit_history import MOST_BYTES_PARSED, FileChange, commits_with_changes
from codesum_pipeline.source.git.git import BlobReader, run_git
from codesum_pipeline.source.git.mirror import make_scratch
from codesum_pipeline.symbols.parsing.bounded import may_take_gigabytes
from codesum_pipeline.symbols.parsing.masks import masked_file
from codesum_pipeline.symbols.parsing.parsers import documentation_spans, parse_file, reads_definitions
from codesum_pipeline.symbols.parsing.symbols_step import parse_symbols
from codesum_pipeline.symbols.parsing.testing import is_among_tests, read_tests

COMMIT_CATEGORY = "commit"
_LEAST_WORDS_OF_SUBJECT = 4
# A commit that changes more is about more than its first line says.
MOST_FILES = 5
MOST_FUNCTIONS = 5
# Files of any kind: tests, change logs and documents come along with a change of code.
_MOST_FILES_OF_ANY_KIND = 20

# `fix(scope)!: `, `[tag] `, `module: ` and `#123 - ` at the beginning; `(#123)` and `closes #123` anywhere.
_PREFIX = re.compile(r"^(?:\[[^\]]*\]\s*|(?:GH-|#)\d+\s*[-:]?\s*|[\w./-]+(?:\([^)]*\))?!?:\s+)+")
_REFERENCE = re.compile(
    r"(?<!\s)\s*+\((?:GH-|#|!)\d+(?:,\s*(?:GH-|#|!)\d+)*\)|(?:\b(?:closes?|fix(?:es)?|refs?|see)\s+)?(?:GH-|#)\d+\b",
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
    """The place of a function of the index."""

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
        and reads_definitions(file.language)
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
            with guard_item(guard, f"{COMMIT_CATEGORY}:{commit.id[:16]}"):
                touched = [places[id_] for id_ in _touched(functions_of, changes) if id_ in places]
                if len(touched) <= MOST_FUNCTIONS:
                    found.append(
                        Question(
                            id=f"{COMMIT_CATEGORY}:{commit.id[:16]}",
                            query=query,
                            relevant=tuple(AnswerPlace(change.path) for change in changes),
                            cited_symbols=tuple(
                                AnswerPlace(
                                    each.file_path, each.start_line, each.end_line, each.qualified_name, Level.FUNCTION
                                )
                                for each in touched
                            ),
                            category=COMMIT_CATEGORY,
                            language=files[changes[0].path].language,
                            source="own",
                            repo=ws.key,
                            commit=commit.id,
                        )
                    )
    return found


def clean_subject(subject: str) -> str:
    """The words of a commit's first line; empty if there are too few, or it is about a chore."""
    text = _PREFIX.sub("", _REFERENCE.sub("", subject)).strip(" .,:;-")
    return text if len(text.split()) >= _LEAST_WORDS_OF_SUBJECT and not _CHORE.search(subject) else ""


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
    """The functions of one version of a file; none if it does not exist or cannot be read."""
    if blob is None:
        return []
    try:
        data = without_outputs(path, blobs.read(blob))
        if len(data) > MOST_BYTES_PARSED or may_take_gigabytes(data, files[path].language):
            return []
        file = files[path]
        # An earlier version says itself what it is read as, if it is not known from outside.
        encoding = file.encoding if blob == file.blob or file.is_declared_elsewhere else None
        parsed = parse_file(path, file.language, data, blob=blob, encoding=encoding, hash_policy=HashPolicy.CANONICAL)
        parsed, _ = masked_file(parsed)
    except (SkippedFile, NotParsed):
        return []
    return [
        _Function(symbol.id, symbol.parent_id, symbol.content_hash)
        for symbol in parsed.symbols
        if symbol.type is SymbolType.FUNCTION
    ]


CATEGORY = "docstring"
QUESTION_LEVELS = (Level.FUNCTION, Level.CLASS)
# Fewer words are a name rather than a description.
LEAST_WORDS = 4


class DocstringSource(Struct, frozen=True):
    """A function or class with a docstring: columns of `symbols`."""

    id: str
    type: str
    name: str
    qualified_name: str
    file_path: str
    language: str
    start_line: int
    end_line: int
    docstring: str | None


def is_held_out(question: Question) -> bool:
    """Whether a question is a docstring of the repository, which is asked in a copy without it."""
    return question.source == "own" and question.category == CATEGORY


@contextmanager
def hold_out_docstrings(
    ws: Workspace,
    wanted: Sequence[tuple[DocstringSource, str]],
    *,
    guard: FailureGuard | None = None,
    progress: Progress,
) -> Iterator[tuple[PublishedIndex, list[Question]]]:
    """An index without the docstrings of some functions and classes, and the questions made of these."""
    with scratch_of(ws) as scratch:
        make_scratch(ws.layout.mirror(ws.key), scratch.layout.mirror(ws.key))
        _remove_docstrings(ws, scratch, [symbol for symbol, _ in wanted], guard)
        parse_symbols(scratch, progress=progress)
        write_texts(scratch, progress=progress)
        index = index_texts(scratch, progress=progress)
        symbols = scratch.tables.read("symbols", scratch.key, columns=["id", "docstring"])
        gone = set(symbols.filter(pc.is_null(symbols["docstring"]))["id"].to_pylist())
        yield index, [_question(ws, symbol, sentence) for symbol, sentence in wanted if symbol.id in gone]


def sample_documented(
    ws: Workspace, sample: int, *, guard: FailureGuard | None = None
) -> list[tuple[DocstringSource, str]]:
    """Up to `sample` functions and as many classes, those whose ids have the smallest hashes, with the first sentences
    of their docstrings.

    A hash does not depend on how easily a function is found, and most of a sample stays the same from commit to commit.
    """
    files = ws.tables.read_rows("files", ws.key, SourceFile)
    left_out = {file.path for file in files if file.is_vendored} | read_tests(ws.tables, ws.key)
    # Without its documentation such a class would be a namespace, which is no hit.
    nesting = {each.id for each in nesting_classes(ws.tables, ws.key)}
    table = ws.tables.read("symbols", ws.key, columns=list(DocstringSource.__struct_fields__))
    rows = from_table(table.filter(pc.is_valid(table["docstring"])), DocstringSource)
    kept = (row for row in rows if row.id not in nesting and not is_among_tests(left_out, row.id))
    by_hash = sorted(kept, key=lambda row: _digest(row.id))
    found: list[tuple[DocstringSource, str]] = []
    for level in QUESTION_LEVELS:
        pairs = ((row, _first_sentence(row, guard)) for row in by_hash if row.type == level)
        telling = (pair for pair in pairs if _is_telling(*pair))
        found.extend(pair for pair, _ in zip(telling, range(sample), strict=False))
    return found


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _first_sentence(symbol: DocstringSource, guard: FailureGuard | None) -> str:
    """The first sentence of a docstring, or an empty text."""
    with guard_item(guard, symbol.id):
        if has_trait(symbol.language, Trait.DOCSTRINGS):
            sentences = read_docstring(symbol.docstring).sentences
        else:
            sentences = read_doc_comment(symbol.docstring or "", symbol.language, ()).sentences
            sentences = without_name(sentences, symbol.name) if sentences else ()
        return sentences[0] if sentences else ""
    return ""


def _is_telling(symbol: DocstringSource, sentence: str) -> bool:
    """Whether a sentence is prose with more words than the name has."""
    return len(sentence.split()) >= LEAST_WORDS and not set(tokenize(sentence)) <= set(tokenize(symbol.qualified_name))


def _question(ws: Workspace, symbol: DocstringSource, sentence: str) -> Question:
    target = AnswerPlace(symbol.file_path, symbol.start_line, symbol.end_line, symbol.qualified_name, symbol.type)
    return Question(
        id=f"{CATEGORY}:{_digest(f'{symbol.id} {sentence}')[:16]}",
        query=sentence,
        relevant=(target,),
        category=CATEGORY,
        language=symbol.language,
        level=Level(symbol.type),
        source="own",
        repo=ws.key,
    )


def without_docstrings(text: str, path: str, language: str, starts: Container[int]) -> str:
    """The text without what documents the definitions that start in these lines (1-based); all stay in their lines."""
    data = text.encode()
    for start, end in reversed(documentation_spans(path, language, data, starts)):
        # A body may hold nothing but its docstring, and a definition begins with its attributes.
        instead = b"..." if has_trait(language, Trait.DOCSTRINGS) else b""
        if data.startswith(b"@", start):
            instead = data[start:end].split()[0] + b" false"
        data = data[:start] + instead + b"\n" * data.count(b"\n", start, end) + data[end:]
    return data.decode()


def _remove_docstrings(
    ws: Workspace, scratch: Workspace, symbols: Sequence[DocstringSource], guard: FailureGuard | None
) -> None:
    """Write the files of these symbols without their docstrings, as blobs of the scratch's mirror."""
    starts: dict[str, set[int]] = {}
    for symbol in symbols:
        starts.setdefault(symbol.file_path, set()).add(symbol.start_line)
    files = ws.tables.read("files", ws.key)
    concerned = files.filter(pc.is_in(files["path"], pa.array(sorted(starts), pa.string())))
    rows = from_table(concerned, SourceFile)

    def edited() -> Iterator[bytes]:
        """A file that fails keeps its docstrings, and they give no questions."""
        with BlobReader(ws.layout.mirror(ws.key)) as reader:
            for file in rows:
                text = without = decode_text(reader.read(file.blob), file.encoding or UTF_8)
                with guard_item(guard, file.path):
                    without = without_docstrings(text, file.path, file.language, starts[file.path])
                yield without.encode()

    blobs = _write_blobs(scratch, edited())
    changed = [replace(row, blob=blob, encoding=UTF_8) for row, blob in zip(rows, blobs, strict=True)]
    others = files.filter(pc.invert(pc.is_in(files["path"], concerned["path"].combine_chunks())))
    scratch.tables.write("files", ws.key, pa.concat_tables([others, to_table(changed, SourceFile)]))


def _write_blobs(scratch: Workspace, contents: Iterator[bytes]) -> list[str]:
    """The object ids of new blobs, all written by one process."""
    folder = scratch.layout.home / "edited"
    folder.mkdir(parents=True)
    paths = []
    for number, content in enumerate(contents):
        paths.append(folder / str(number))
        paths[-1].write_bytes(content)
    arguments = ["hash-object", "-w", "--no-filters", "--stdin-paths"]
    names = "".join(f"{path}\n" for path in paths).encode()
    git_dir = scratch.layout.mirror(scratch.key)
    return run_git(arguments, git_dir=git_dir, timeout_s=scratch.settings.git_timeout_s, data=names).decode().split()


# Raised with each change of the questions, which makes earlier answers incomparable.
OWN_QUESTIONS_VERSION = "5"
DEFAULT_SAMPLE = 200
DEFAULT_COMMITS = 300


def ask_own_questions(
    ws: Workspace,
    index: PublishedIndex,
    *,
    setups: Sequence[EvaluationSetup],
    sample: int = DEFAULT_SAMPLE,
    commits: int = DEFAULT_COMMITS,
    guard: FailureGuard | None = None,
    progress: Progress = no_progress,
) -> list[QuestionResult]:
    """The answers to a repository's own questions, in each of several ways.

    `index` is made from the tables of `ws`. Docstrings of up to `sample` functions and classes are asked in a copy
    without them, the messages of the last `commits` commits in `index` itself. A `guard` collects failures; without
    one they are raised.
    """
    embedder = embedder_of(ws.settings)
    questions = commit_questions(ws, commits=commits, guard=guard)
    answers = ask_questions([index], questions, embedder=embedder, setups=setups, guard=guard, progress=progress)
    if wanted := sample_documented(ws, sample, guard=guard):
        with hold_out_docstrings(ws, wanted, guard=guard, progress=progress) as (without, questions):
            answers += ask_questions(
                [without], questions, embedder=embedder, setups=setups, guard=guard, progress=progress
            )
    return answers
