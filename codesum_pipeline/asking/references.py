"""The files that a result speaks of."""

import re
from collections import Counter
from collections.abc import Mapping

from codesum_pipeline.asking.repository_files import FileRef

_PATH = re.compile(r"[\w.@+\-/\[\]()]+")
_EDGES = ".,;()[]"
_LINES = re.compile(r":\d+(?:-\d+)?$")


def referenced_files(text: str, known: Mapping[FileRef, float]) -> list[FileRef]:
    """The known files that a text names: those named most often first, then the most important, then by path.

    The order in which they are named says nothing: most lists are alphabetical.
    """
    by_path: dict[str, list[FileRef]] = {}
    for file in known:
        by_path.setdefault(file.path, []).append(file)
    named = Counter(
        file for found in _PATH.findall(text) for form in _forms(found) if form in by_path for file in by_path[form]
    )
    return sorted(named, key=lambda file: (-named[file], -known[file], file.repo, file.path))


def _forms(found: str) -> set[str]:
    """A word as it stands, and without the punctuation of the sentence around it."""
    bare = _LINES.sub("", found)
    ended = bare.rstrip(_EDGES)
    return {bare, ended, bare.strip(_EDGES), ended.removeprefix("./")}
