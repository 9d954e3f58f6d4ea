"""Questions that nobody wrote for a benchmark, made from a repository itself, and the tree in which they are asked.

Five kinds, each with an answer that is known because somebody of the project put both side by side:

- `docstring`: the first sentence of a docstring, to its function or class; the docstring is taken out of the tree.
- `commit`: the first line of a commit, to the functions and files that it changed.
- `document`: a sentence of a README or manual that names one thing of the code, to the file that defines it; the name
  is taken out of the question, its paragraph out of the tree.
- `test`: the name of a test in words, to the file that is tested; that test file is taken out of the tree.
- `message`: the words of an error message without what is filled in, to the function that raises it.
"""

import hashlib
import random
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.file import UTF_8, FileStatus, SourceFile
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.lanes.tokens import split_identifier
from codesum_pipeline.search.evaluation.own_questions import (
    DocstringSource,
    commit_questions,
    sample_documented,
    without_docstrings,
)
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.source.files.encodings import decode_text
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline.symbols.parsing.parsers import PARSERS

KINDS = ("docstring", "commit", "document", "test", "message")
# How many questions of each kind a repository is asked at most, and how far back its commits are read.
MOST = {"docstring": 20, "commit": 30, "document": 15, "test": 20, "message": 12}
COMMITS = 400
_LEAST_WORDS, _MOST_WORDS = 4, 40
# Of the test files of a repository at most one in this many is taken out, for tests stand in the way of a search.
_TESTS_KEPT = 3

_PROSE = (".md", ".rst", ".txt", ".adoc")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`])")
_QUOTED_NAME = re.compile(r"`{1,2}([A-Za-z_][\w.:]*)(?:\(\))?`{1,2}")
_TEST_AFFIX = re.compile(r"^(?:test|spec)s?[_.-]?|[_.-]?(?:test|spec|tests|specs|t)$", re.IGNORECASE)
_TEST_NAME = re.compile(
    r"(?:\b(?:it|test|describe|specify|context|scenario|@test)\b[\s(]*(?P<quote>[\"'`])(?P<description>.+?)(?P=quote))"
    r"|(?:\b(?:def|func|fun|fn|function|void|Task|it)\s+[`]?(?P<name>(?:test|should|it)_?\w+|[A-Z]\w*_\w+_\w+)[`]?\s*\()"
)
_RAISED = re.compile(
    r"\b(?:raise|throw|panic|bail|ensure|fatal|fatalError|die|abort|error|Error|errors\.New|Errorf|err|eprintln|expect|"
    r"invalidArg|IllegalArgumentException|IllegalStateException|require|check|precondition)\w*!?\b[^\"']{0,60}"
    r"(?P<quote>[\"'])(?P<message>(?:(?!(?P=quote)).){15,160})(?P=quote)"
)
_FILLED_IN = re.compile(r"%[-+#0-9.*]*[a-zA-Z]|#?\$?\{[^}]*\}|\\\([^)]*\)|\$\w+|\\[nrt\"']|<[^>]*>")


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    language: str
    is_test: bool
    text: str


def make_questions(ws: Workspace, tree: Path) -> list[Question]:
    """Write the tree in which the questions about a parsed repository are asked, and give these.

    The same questions for the same commit.
    """
    chance = random.Random(ws.key)
    files = list(_read_files(ws))
    by_kind: dict[str, list[Made]] = {
        "docstring": _docstring_questions(ws),
        "commit": [(None, question) for question in commit_questions(ws, commits=COMMITS)],
        "document": [(None, question) for question in _document_questions(ws, files)],
        "test": [(None, question) for question in _test_questions(ws, files, chance)],
        "message": [(None, question) for question in _message_questions(ws, files)],
    }
    chosen = {kind: _sample_questions(some, MOST[kind], chance) for kind, some in by_kind.items()}
    tested = {question.source for _, question in chosen["test"]}
    starts: dict[str, set[int]] = {}
    for symbol, _ in chosen["docstring"]:
        if symbol is not None:
            starts.setdefault(symbol.file_path, set()).add(symbol.start_line)
    _write_tree(
        ws, tree, without=tested, starts=starts, paragraphs=[question.source for _, question in chosen["document"]]
    )
    questions = [_finish_question(ws, kind, question) for kind, some in chosen.items() for _, question in some]
    return [question for question in questions if not {target.file_path for target in question.relevant} & tested]


Made = tuple[DocstringSource | None, Question]


def _sample_questions(some: Sequence[Made], most: int, chance: random.Random) -> list[Made]:
    """Some of them, at most one for a question's words and at most four for one file."""
    shuffled = chance.sample(some, len(some))
    queries: set[str] = set()
    of_file: dict[str, int] = {}
    found: list[Made] = []
    for made in shuffled:
        question, path = made[1], made[1].relevant[0].file_path
        if question.query.lower() in queries or of_file.get(path, 0) >= _MOST_OF_A_FILE or len(found) == most:
            continue
        queries.add(question.query.lower())
        of_file[path] = of_file.get(path, 0) + 1
        found.append(made)
    return found


_MOST_OF_A_FILE = 4


def _finish_question(ws: Workspace, kind: str, question: Question) -> Question:
    digest = hashlib.sha1(f"{ws.key} {kind} {question.query}".encode(), usedforsecurity=False).hexdigest()
    return replace(
        question, id=f"{ws.key}:{kind}:{digest[:12]}", category=kind, repo=ws.key, level=None, source="own", commit=None
    )


def _read_files(ws: Workspace) -> Iterator[_File]:
    """The text files that are indexed and not vendored."""
    with BlobReader(ws.layout.mirror(ws.key)) as blobs:
        for file in ws.tables.read_rows("files", ws.key, SourceFile):
            if file.status is FileStatus.INDEXED and not file.is_vendored:
                text = decode_text(blobs.read(file.blob), file.encoding or UTF_8)
                yield _File(file.path, file.language, file.is_test, text)


def _docstring_questions(ws: Workspace) -> list[Made]:
    return [
        (symbol, _make_question(docstring, symbol.file_path, symbol.language, symbol))
        for symbol, docstring in sample_documented(ws, 4 * MOST["docstring"])
    ]


def _make_question(query: str, path: str, language: str, *symbols: "DocstringSource | _Place") -> Question:
    cited = tuple(AnswerPlace(path, each.start_line, each.end_line, each.qualified_name, each.type) for each in symbols)
    return Question(id="", query=query, relevant=(AnswerPlace(path),), cited_symbols=cited, language=language)


class _Place(Struct, frozen=True):
    """A definition, as `symbols` has it."""

    type: str
    name: str
    qualified_name: str
    file_path: str
    start_line: int
    end_line: int


def _code_files(files: Sequence[_File]) -> dict[str, _File]:
    return {file.path: file for file in files if file.language in PARSERS and not file.is_test}


def _document_questions(ws: Workspace, files: Sequence[_File]) -> Iterator[Question]:
    code = _code_files(files)
    defined: dict[str, list[_Place]] = {}
    for place in ws.tables.read_rows("symbols", ws.key, _Place):
        if place.file_path in code:
            defined.setdefault(place.name, []).append(place)
    for file in files:
        if not file.path.lower().endswith(_PROSE) or re.search(
            r"change|history|news|release", file.path, re.IGNORECASE
        ):
            continue
        sentences = (
            (paragraph, sentence)
            for paragraph in file.text.split("\n\n")
            for sentence in _SENTENCE.split(" ".join(paragraph.split()))
        )
        for paragraph, sentence in sentences:
            names = {quoted.rpartition(".")[2].rpartition(":")[2] for quoted in _QUOTED_NAME.findall(sentence)}
            known = [defined[name] for name in names if name in defined]
            paths = {place.file_path for places in known for place in places}
            words = " ".join(_QUOTED_NAME.sub(" ", sentence).replace("`", " ").split())
            if len(known) == 1 and len(paths) == 1 and _is_prose(words):
                path = paths.pop()
                symbols = known[0] if len(known[0]) == 1 else []
                yield replace(_make_question(words, path, code[path].language, *symbols), source=paragraph)


def _is_prose(words: str) -> bool:
    """Whether a text without its code is still a sentence."""
    letters = sum(character.isalpha() or character == " " for character in words)
    return 2 * _LEAST_WORDS <= len(words.split()) <= _MOST_WORDS and letters >= 0.9 * len(words)


def _test_questions(ws: Workspace, files: Sequence[_File], chance: random.Random) -> Iterator[Question]:
    """Of some test files with the name of exactly one other file; `source` is the test file."""
    by_stem: dict[str, list[_File]] = {}
    for file in _code_files(files).values():
        by_stem.setdefault(_plain_name(_file_stem(file.path)), []).append(file)
    tests = sorted((file for file in files if file.is_test and file.language in PARSERS), key=lambda file: file.path)
    for file in chance.sample(tests, -(-len(tests) // _TESTS_KEPT)):
        tested = by_stem.get(_plain_name(_TEST_AFFIX.sub("", _file_stem(file.path))), [])
        if len(tested) != 1:
            continue
        for found in _TEST_NAME.finditer(file.text):
            description = found["description"] or " ".join(split_identifier(found["name"]))
            words = [
                word for word in description.replace("_", " ").split() if word.lower() not in ("test", "should", "it")
            ]
            if _LEAST_WORDS <= len(words) <= _MOST_WORDS and " ".join(words).isascii():
                yield replace(
                    _make_question(" ".join(words), tested[0].path, tested[0].language), source=file.path, id=file.path
                )


def _file_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0].removesuffix(".test").removesuffix(".spec")


def _plain_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _message_questions(ws: Workspace, files: Sequence[_File]) -> Iterator[Question]:
    code = _code_files(files)
    places: dict[str, list[_Place]] = {}
    for place in ws.tables.read_rows("symbols", ws.key, _Place):
        places.setdefault(place.file_path, []).append(place)
    for file in code.values():
        for number, line in enumerate(file.text.split("\n"), start=1):
            found = _RAISED.search(line)
            words = _FILLED_IN.sub(" ", found["message"]).strip() if found else ""
            words = " ".join(re.sub(r"[^\w\s'-]", " ", words).split()).lower()
            if not _LEAST_WORDS <= len(words.split()) <= _MOST_WORDS:
                continue
            around = [place for place in places.get(file.path, ()) if place.start_line <= number <= place.end_line]
            innermost = min(around, key=lambda place: place.end_line - place.start_line, default=None)
            yield _make_question(words, file.path, file.language, *([innermost] if innermost else []))


def _write_tree(
    ws: Workspace, tree: Path, *, without: set[str], starts: Mapping[str, set[int]], paragraphs: Sequence[str]
) -> None:
    """The repository's files, but for some, and others with docstrings or paragraphs taken out."""
    unfinished = tree.with_name(f"{tree.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    with BlobReader(ws.layout.mirror(ws.key)) as blobs:
        for file in ws.tables.read_rows("files", ws.key, SourceFile):
            if file.status is not FileStatus.INDEXED or file.path in without:
                continue
            data = blobs.read(file.blob)
            if file.path in starts:
                text = decode_text(data, file.encoding or UTF_8)
                data = without_docstrings(text, file.path, file.language, starts[file.path]).encode()
            elif file.path.lower().endswith(_PROSE):
                text = decode_text(data, file.encoding or UTF_8)
                for paragraph in paragraphs:
                    text = text.replace(paragraph, "")
                data = text.encode()
            target = unfinished / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    unfinished.rename(tree)
