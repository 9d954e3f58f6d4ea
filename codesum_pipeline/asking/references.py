"""The files that a result speaks of."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from codesum_pipeline.asking.repository_files import FileRef

_PATH = re.compile(r"[\w.@+\-/\[\]()]+")
# As in every fusion of ranks; see `retrieval/fusion.py`.
RANK_OFFSET = 60
_EDGES = ".,;()[]"
_LINES = re.compile(r":\d+(?:-\d+)?$")


def referenced_files(text: str, known: Mapping[FileRef, float], fitting: Sequence[FileRef] = ()) -> list[FileRef]:
    """The known files that a text names, best first.

    `known` says how important each is, `fitting` are those that fit the question, best first.

    Three rankings are fused: by how often a file is named, by importance, by fit. The order in which files are named
    says nothing: most lists are alphabetical. Ties break by how often, then by path.
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
        for path in _forms(word) & by_path.keys():
            named.update(dict.fromkeys(by_path[path], count))
    return named


def _ranks(values: Mapping[FileRef, float]) -> dict[FileRef, int]:
    """The rank of each, from 0 for the highest; equal values share one."""
    places = {value: place for place, value in enumerate(sorted(set(values.values()), reverse=True))}
    return {file: places[value] for file, value in values.items()}


def _forms(found: str) -> set[str]:
    """A word as it stands, and without the punctuation of the sentence around it."""
    bare = _LINES.sub("", found)
    ended = bare.rstrip(_EDGES)
    return {bare, ended, bare.strip(_EDGES), ended.removeprefix("./")}
