"""The material of a synthesis besides the overview: the files that it names, and the project's own documents.

Where a budget of tokens is exceeded, pieces are left out in this order: the further files, the first one, documents
about plans and state, AGENTS.md. The primary document may be cut but is never left out.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.asking.repository_files import FileRef, RepositoryFiles
from codesum_pipeline.llm.marking import numbered
from codesum_pipeline.llm.prices import CHARS_PER_TOKEN

_PATH = re.compile(r"[\w.@+\-/\[\]()]+")
# As in every fusion of ranks; see `retrieval/fusion.py`.
RANK_OFFSET = 60
_EDGES = ".,;()[]"
_LINES = re.compile(r":\d+(?:-\d+)?$")


def referenced_files(text: str, known: Mapping[FileRef, float], fitting: Sequence[FileRef] = ()) -> list[FileRef]:
    """The known files that a text names, best first.

    `known` gives the importance of each file, `fitting` are the files that fit the question, best first.

    Three rankings are fused: by how often a file is named, by importance, by fit. The order in which files are named
    does not count, since most lists are alphabetical. Ties break by how often, then by path.
    """
    named = _counted(text, known)
    places = {file: -place for place, file in enumerate(fitting)}
    rankings = [_ranks(named), _ranks({file: known[file] for file in named})]
    rankings += [_ranks({file: places[file] for file in named if file in places})]
    worth = {file: sum(1 / (RANK_OFFSET + ranks[file]) for ranks in rankings if file in ranks) for file in named}
    return sorted(named, key=lambda file: (-worth[file], -named[file], file.repo, file.path))


def _counted(text: str, known: Mapping[FileRef, float]) -> Counter[FileRef]:
    by_path: dict[str, list[FileRef]] = {}
    for file in known:
        by_path.setdefault(file.path, []).append(file)
    words = Counter(_PATH.findall(text))
    named: Counter[FileRef] = Counter()
    for word, count in words.items():
        for path in _word_forms(word) & by_path.keys():
            named.update(dict.fromkeys(by_path[path], count))
    return named


def _ranks(values: Mapping[FileRef, float]) -> dict[FileRef, int]:
    """The rank of each, from 0 for the highest; equal values share one."""
    places = {value: place for place, value in enumerate(sorted(set(values.values()), reverse=True))}
    return {file: places[value] for file, value in values.items()}


def _word_forms(found: str) -> set[str]:
    """A word as written, and without the punctuation around it."""
    bare = _LINES.sub("", found)
    ended = bare.rstrip(_EDGES)
    return {bare, ended, bare.strip(_EDGES), ended.removeprefix("./")}


MAX_FILES = 5
FILE_LINES = 200
DOCUMENT_LINES = 500
BUDGET_TOKENS = 32_000
# A monorepo may have many roadmaps; those nearest to the root are taken.
_MAX_OF_A_KIND = 2
_CUT = "[cut here]"
_AGENTS = "agents.md"
_STATE = ("*roadmap*.md", "context.md")
# Where a project keeps its plans.
_FOLDERS = ("", "docs/", "doc/", ".github/")
_log = logging.getLogger(__name__)


class ShownFile(Struct, frozen=True):
    """The first lines of a file. A piece with a lower `rank` is left out first; one without a rank never."""

    file: FileRef
    text: str
    rank: int | None
    is_document: bool


class Material(Struct, frozen=True):
    """The pieces that fit, most important first, and the files that were left out."""

    pieces: tuple[ShownFile, ...]
    left_out: tuple[FileRef, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the sources."""
        return tuple(piece.file.path for piece in self.pieces if not piece.is_document)

    @property
    def documents(self) -> tuple[str, ...]:
        """The paths of the project's documents."""
        return tuple(piece.file.path for piece in self.pieces if piece.is_document)

    @property
    def characters(self) -> int:
        return sum(len(piece.text) for piece in self.pieces)


def gather(
    whole: str,
    sources: RepositoryFiles,
    *,
    question: str,
    repos: Sequence[str],
    primary: str,
    taken_tokens: int,
    mask: Callable[[str], str],
) -> Material:
    """The material beside an overview: `whole` is its text, `taken_tokens` the tokens of the rest of the prompt."""
    known = {file: value for file, value in sources.indexed_files().items() if file.repo in repos}
    documents = [piece for repo in repos for piece in _documents(sources, repo, primary)]
    shown = {piece.file for piece in documents}
    files = [file for file in referenced_files(whole, known, sources.fitting(question)) if file not in shown]
    pieces = [replace(piece, text=numbered(mask(piece.text))) for piece in (*documents, *_sources(sources, files))]
    return fit(pieces, BUDGET_TOKENS - taken_tokens)


def fit(pieces: Sequence[ShownFile], budget_tokens: int) -> Material:
    """The pieces that fit into a budget; where only those without a rank are left, they are cut evenly."""
    kept = sorted(pieces, key=lambda piece: (piece.rank is not None, -(piece.rank or 0)))
    left_out = []
    while _tokens(kept) > budget_tokens and kept and kept[-1].rank is not None:
        left_out.append(kept.pop())
    if _tokens(kept) > budget_tokens:
        each = max(0, int(budget_tokens * CHARS_PER_TOKEN / len(kept)) - len(_CUT) - 1)
        kept = [replace(piece, text=_cut(piece.text, each)) for piece in kept]
    if left_out:
        _log.info("left out of a synthesis: %s", ", ".join(piece.file.path for piece in left_out))
    return Material(tuple(kept), tuple(piece.file for piece in left_out))


def _sources(sources: RepositoryFiles, files: Sequence[FileRef]) -> list[ShownFile]:
    found: list[ShownFile] = []
    for file in files:
        text = sources.text(file)
        if text is not None and len(found) < MAX_FILES:
            found.append(ShownFile(file, _head(text, FILE_LINES), MAX_FILES - len(found), is_document=False))
    return found


def _documents(sources: RepositoryFiles, repo: str, primary: str) -> list[ShownFile]:
    """The documents of a repository."""
    found: list[ShownFile] = []
    root = sources.root(repo)
    inside = [path.removeprefix(root) for path in sources.paths(repo)]
    for names, rank in (((primary.lower(),), None), ((_AGENTS,), MAX_FILES + 2), (_STATE, MAX_FILES + 1)):
        for name in names:
            for path in _named(inside, name)[: 1 if rank is None else _MAX_OF_A_KIND]:
                file = FileRef(repo, f"{root}{path}")
                text = sources.text(file)
                if text and file not in {piece.file for piece in found}:
                    found.append(ShownFile(file, _head(text, DOCUMENT_LINES), rank, is_document=True))
    return found


def _named(paths: Sequence[str], pattern: str) -> list[str]:
    """The paths that match a pattern in any case: as a path, as a name, or as a name without its ending."""
    found = [path for path in paths if path.lower() == pattern]
    for path in paths:
        folder, name = path[: path.rfind("/") + 1].lower(), PurePosixPath(path).name.lower()
        is_meant = fnmatchcase(name, pattern) or PurePosixPath(name).stem == pattern
        if folder in _FOLDERS and is_meant:
            found.append(path)
    return sorted(dict.fromkeys(found), key=lambda path: (path.count("/"), not path.endswith(".md"), path))


def _head(text: str, lines: int) -> str:
    return "\n".join(text.split("\n", lines)[:lines]).rstrip("\n")


def _cut(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    whole_lines = text[:characters].rpartition("\n")[0] or text[:characters]
    return f"{whole_lines}\n{_CUT}"


def _tokens(pieces: Sequence[ShownFile]) -> float:
    return sum(len(piece.text) for piece in pieces) / CHARS_PER_TOKEN
