"""Questions whose answer is known because somebody wrote it down: docstrings, held out.

The first sentence of a docstring says what its function or class does, in the
words of a person. Asked in an index from which the docstring was removed, it
is a fair question with one answer: whatever is found is found by name, code
and what was written about them.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.evaluation.docstring_removal import without_docstrings
from codesum_pipeline.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.evaluation.scratch import index_texts, scratch_of, write_texts
from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.files import SourceFile
from codesum_pipeline.model.guard import FailureGuard, guarded
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.parsing.symbols import parse_symbols
from codesum_pipeline.parsing.testing import is_among, read_tests
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.decoding import decode_text
from codesum_pipeline.source.git import BlobReader, run_git
from codesum_pipeline.source.mirror import make_scratch
from codesum_pipeline.store.rows import from_table, to_table
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.documentation.docstrings import read_doc_comment, read_docstring, without_name

CATEGORY = "docstring"
LEVELS_ASKED = (Level.FUNCTION, Level.CLASS)
# Fewer words name a thing rather than say what it does.
LEAST_WORDS = 4


@dataclass(frozen=True, slots=True)
class DocstringSource:
    """A function or class with a docstring, as `symbols` has it."""

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
    """Whether a question is a docstring of the repository: asked in a copy without it."""
    return question.source == "own" and question.category == CATEGORY


@contextmanager
def held_out(
    ws: Workspace,
    wanted: Sequence[tuple[DocstringSource, str]],
    *,
    guard: FailureGuard | None = None,
    progress: Progress,
) -> Iterator[tuple[PublishedIndex, list[Question]]]:
    """An index without the docstrings of some functions and classes, and the questions that these are."""
    with scratch_of(ws) as scratch:
        make_scratch(ws.layout.mirror(ws.key), scratch.layout.mirror(ws.key))
        _remove_docstrings(ws, scratch, [symbol for symbol, _ in wanted], guard)
        parse_symbols(scratch, progress=progress)
        write_texts(scratch, progress=progress)
        index = index_texts(scratch, progress=progress)
        gone = _without_docstring(scratch)
        yield index, [_question(ws, symbol, said) for symbol, said in wanted if symbol.id in gone]


def sample_documented(
    ws: Workspace, sample: int, *, guard: FailureGuard | None = None
) -> list[tuple[DocstringSource, str]]:
    """Up to `sample` functions and as many classes, those whose ids have the smallest hashes, with what their
    docstrings say first.

    A hash has nothing to do with what is likely to be found, and most of a
    sample stays the same from commit to commit.
    """
    files = ws.tables.read_rows("files", ws.key, SourceFile)
    left_out = {file.path for file in files if file.is_vendored} | read_tests(ws.tables, ws.key)
    table = ws.tables.read("symbols", ws.key, columns=list(DocstringSource.__slots__))
    rows = from_table(table.filter(pc.is_valid(table["docstring"])), DocstringSource)
    by_hash = sorted((row for row in rows if not is_among(left_out, row.id)), key=lambda row: _digest(row.id))
    found: list[tuple[DocstringSource, str]] = []
    for level in LEVELS_ASKED:
        told = ((row, _first_sentence(row, guard)) for row in by_hash if row.type == level)
        said = (pair for pair in told if _is_telling(*pair))
        found.extend(pair for pair, _ in zip(said, range(sample), strict=False))
    return found


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _first_sentence(symbol: DocstringSource, guard: FailureGuard | None) -> str:
    """Empty where there is none."""
    with guarded(guard, symbol.id):
        return _read_first_sentence(symbol)
    return ""


def _read_first_sentence(symbol: DocstringSource) -> str:
    if symbol.language == "python":
        sentences = read_docstring(symbol.docstring).sentences
    else:
        sentences = read_doc_comment(symbol.docstring or "", symbol.language, ()).sentences
        sentences = without_name(sentences, symbol.name) if sentences else ()
    return sentences[0] if sentences else ""


def _is_telling(symbol: DocstringSource, said: str) -> bool:
    """Whether a sentence is prose that says more than the name does."""
    return len(said.split()) >= LEAST_WORDS and not set(tokenize(said)) <= set(tokenize(symbol.qualified_name))


def _question(ws: Workspace, symbol: DocstringSource, said: str) -> Question:
    target = AnswerPlace(symbol.file_path, symbol.start_line, symbol.end_line, symbol.qualified_name, symbol.type)
    return Question(
        id=f"{CATEGORY}:{_digest(f'{symbol.id} {said}')[:16]}",
        query=said,
        relevant=(target,),
        category=CATEGORY,
        language=symbol.language,
        level=Level(symbol.type),
        source="own",
        repo=ws.key,
    )


def _remove_docstrings(
    ws: Workspace, scratch: Workspace, symbols: Sequence[DocstringSource], guard: FailureGuard | None
) -> None:
    """Write the files of these symbols again, without their docstrings, as blobs of the scratch's mirror."""
    starts: dict[str, set[int]] = {}
    for symbol in symbols:
        starts.setdefault(symbol.file_path, set()).add(symbol.start_line)
    files = ws.tables.read("files", ws.key)
    concerned = files.filter(pc.is_in(files["path"], pa.array(sorted(starts), pa.string())))
    rows = from_table(concerned, SourceFile)
    blobs = _write_blobs(scratch, _edited(ws, rows, starts, guard))
    changed = [
        SourceFile(
            path=row.path,
            blob=blob,
            size=row.size,
            mode=row.mode,
            language=row.language,
            status=row.status,
            reason=row.reason,
            is_test=row.is_test,
            is_vendored=row.is_vendored,
            rules=row.rules,
        )
        for row, blob in zip(rows, blobs, strict=True)
    ]
    others = files.filter(pc.invert(pc.is_in(files["path"], concerned["path"].combine_chunks())))
    scratch.tables.write("files", ws.key, pa.concat_tables([others, to_table(changed, SourceFile)]))


def _edited(
    ws: Workspace, files: Sequence[SourceFile], starts: Mapping[str, Collection[int]], guard: FailureGuard | None
) -> Iterator[bytes]:
    """The files without the docstrings; one that fails keeps them, and they are not asked for."""
    with BlobReader(ws.layout.mirror(ws.key)) as blobs:
        for file in files:
            text = edited = decode_text(blobs.read(file.blob), file.language)
            with guarded(guard, file.path):
                edited = without_docstrings(text, file.language, starts[file.path])
            yield edited.encode()


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


def _without_docstring(scratch: Workspace) -> set[str]:
    symbols = scratch.tables.read("symbols", scratch.key, columns=["id", "docstring"])
    return set(symbols.filter(pc.is_null(symbols["docstring"]))["id"].to_pylist())
