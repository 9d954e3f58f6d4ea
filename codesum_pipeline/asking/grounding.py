"""What a synthesis is shown besides the overview: files that it names, and what the project says of itself.

Within a budget of tokens, from what can be missed best to what cannot: the second and further files, the first one,
what describes plans and state, AGENTS.md. The primary document is cut, and never left out.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from codesum_pipeline.asking.references import referenced_files
from codesum_pipeline.asking.repository_files import FileRef, RepositoryFiles
from codesum_pipeline.llm.marking import numbered
from codesum_pipeline.llm.prices import CHARS_PER_TOKEN

MAX_FILES = 5
FILE_LINES = 200
DOCUMENT_LINES = 500
BUDGET_TOKENS = 32_000
# Of a monorepo's many roadmaps the nearest to the top.
_MAX_OF_A_KIND = 2
_CUT = "[cut here]"
_AGENTS = "agents.md"
_STATE = ("*roadmap*.md", "context.md")
# Where a project keeps its plans.
_FOLDERS = ("", "docs/", "doc/", ".github/")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file as it is shown: its first lines. A piece with a lower `rank` is left out first; None: never."""

    file: FileRef
    text: str
    rank: int | None
    is_document: bool


@dataclass(frozen=True, slots=True)
class Material:
    """The pieces that fit, most important first, and which were left out."""

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
    """The material beside an overview: `whole` is its text, `taken_tokens` are those that the model is shown of it."""
    known = {file: value for file, value in sources.indexed_files().items() if file.repo in repos}
    documents = [piece for repo in repos for piece in _documents(sources, repo, primary)]
    shown = {piece.file for piece in documents}
    files = [file for file in referenced_files(whole, known, sources.fitting(question)) if file not in shown]
    pieces = [replace(piece, text=numbered(mask(piece.text))) for piece in (*documents, *_sources(sources, files))]
    return fit(pieces, BUDGET_TOKENS - taken_tokens)


def fit(pieces: Sequence[ShownFile], budget_tokens: int) -> Material:
    """The pieces that a budget has room for; those without a rank share what is left when all else is out."""
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
    """The documents that a repository has, each of its lines counted from the top."""
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
    """The paths that a pattern means, without regard to case: as a path, as a name, and as one without its ending."""
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
