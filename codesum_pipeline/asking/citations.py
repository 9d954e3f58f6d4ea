"""Citations of an answer, `path:line` or `path:from-to`, held against the sources that the index stands for."""

import re
from dataclasses import dataclass

from codesum_pipeline.asking.repository_files import FileRef, RepositoryFiles
from codesum_pipeline.source.languages import language_of_path

_CITATION = re.compile(
    r"(?<![\w/.:@-])(?:\./)?(?P<path>(?:[\w.@+~\-]+/)*[\w.@+~\-]+):L?(?P<first>\d{1,9})(?:[-\u2013]L?(?P<last>\d{1,9}))?(?![\w/])"
)
# What stands around a citation and is nothing without it.
_ALONE = re.compile(r"[ \t]?(?:\(\s*(?:[,;]\s*)*\)|\[\s*(?:[,;]\s*)*\]|``)")
_DROPPED = "\0"


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A text whose citations all resolve; how many it has, and how many were taken out."""

    text: str
    kept: int
    dropped: int


def check_citations(text: str, sources: RepositoryFiles) -> CheckedText:
    """Take out what names lines that the sources do not have."""
    kept = dropped = 0

    def judged(match: re.Match[str]) -> str:
        nonlocal kept, dropped
        verdict = _resolves(match, sources)
        if verdict is None:
            return match[0]
        kept, dropped = kept + verdict, dropped + (not verdict)
        return match[0] if verdict else _DROPPED

    checked = _CITATION.sub(judged, text)
    return CheckedText(_without_dropped(checked) if dropped else text, kept, dropped)


def _resolves(match: re.Match[str], sources: RepositoryFiles) -> bool | None:
    """Whether the lines are there; None for what is no citation: a port, a time."""
    path, first = match["path"], int(match["first"])
    last = int(match["last"] or first)
    texts = [text for repo in sources.repos if (text := sources.text(FileRef(repo, path))) is not None]
    if not texts and "/" not in path and language_of_path(path) is None:
        return None
    return any(1 <= first <= last <= len(text.removesuffix("\n").split("\n")) for text in texts)


def _without_dropped(text: str) -> str:
    """The text without the dropped citations, and without the brackets that held nothing else."""
    marked = re.sub(rf"`{_DROPPED}`", _DROPPED, text)
    marked = re.sub(rf"{_DROPPED}\s*[,;]\s*(?=\S)|[,;]\s*{_DROPPED}", "", marked)
    bare = re.sub(rf"[ \t]?[(\[]\s*{_DROPPED}\s*[)\]]|[ \t]?{_DROPPED}", "", marked)
    return bare.replace(_DROPPED, "")
