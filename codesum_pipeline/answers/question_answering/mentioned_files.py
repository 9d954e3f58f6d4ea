"""The files that a text about repositories mentions, those first that a reader should see first.

The order is that of mentions, then of importance, then what fits the question comes first, and then what defines more.
A list of files is often alphabetical, and ties are many: neither the place of a mention nor the alphabet counts. What a
build has bundled comes last, since its sources are there, too.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from codesum_pipeline.answers.question_answering.citations import FileRef, FileStanding

_WORD = re.compile(r"[\w.@+\-/\[\]()]+")
# As `DocumentRow.line` and `FrameworkEntry.line` write them.
_ROW = re.compile(r"\s*(?P<path>\S.*?):\d+(?:-\d+)?  ")
_EDGES = ".,;()[]"
_LINES = re.compile(r":\d+(?:-\d+)?$")
# Sums of PageRank differ in their last digits by the order in which they were added.
_DIGITS = 9


def rank_mentioned(
    text: str,
    known: Mapping[FileRef, FileStanding],
    *,
    fitting: Sequence[FileRef] = (),
) -> list[FileRef]:
    """The known files that a text mentions, best first; `fitting` are those that fit the question, best first."""
    mentions = count_mentions(text, known)
    places = {file: place for place, file in enumerate(fitting)}

    def order(file: FileRef) -> tuple[object, ...]:
        facts = known[file]
        return (
            facts.is_bundled,
            -mentions[file],
            -round(facts.importance, _DIGITS),
            places.get(file, len(places)),
            -facts.definitions,
            # The same in each run, and no alphabet.
            hashlib.sha256(f"{file.repo} {file.path}".encode("utf-8", "surrogatepass")).digest(),
        )

    return sorted(mentions, key=order)


def count_mentions(text: str, known: Collection[FileRef]) -> Counter[FileRef]:
    """How often a text mentions each file: by its path, by a name that no other file has, or as a module, `a.b.c`.

    The rows of lists, which begin with a place, mention a file once together, and nothing else: else the files with the
    most definitions would be first, and the scripts and manifests that frameworks are known by.
    """
    names = _FileNames(known)
    found: Counter[FileRef] = Counter()
    listed: set[FileRef] = set()
    for line in text.split("\n"):
        if (row := _ROW.match(line)) and (files := names.files_named(row["path"])):
            listed |= files
        else:
            for word in _WORD.findall(line):
                found.update(names.files_named(word))
    found.update(listed)
    return found


class _FileNames:
    """The files that a word may name."""

    def __init__(self, known: Collection[FileRef]) -> None:
        self._by_path: defaultdict[str, set[FileRef]] = defaultdict(set)
        self._by_name: defaultdict[str, set[FileRef]] = defaultdict(set)
        for file in known:
            self._by_path[file.path].add(file)
            for name in _names_of(file.path):
                self._by_name[name].add(file)
        self._named: dict[str, frozenset[FileRef]] = {}

    def files_named(self, word: str) -> frozenset[FileRef]:
        if word not in self._named:
            forms = _word_forms(word)
            paths = {file for form in forms for file in self._by_path.get(form, ())}
            only = (files for form in forms if len(files := self._by_name.get(form, ())) == 1)
            self._named[word] = frozenset(paths or {file for files in only for file in files})
        return self._named[word]


def _names_of(path: str) -> Iterator[str]:
    """The file's name with its ending, and its module as a dotted name: of `src/a/b.py` `src.a.b` and `a.b`."""
    *folders, name = path.split("/")
    stem = name.partition(".")[0]
    if not stem:
        return
    if "." in name:
        yield name
    parts = folders if stem in _OF_FOLDERS else [*folders, stem]
    for start in range(len(parts) - 1):
        yield ".".join(parts[start:])


# Files that stand for their folder.
_OF_FOLDERS = ("__init__", "index", "mod")


def _word_forms(found: str) -> set[str]:
    """A word as written, and without the punctuation around it."""
    bare = _LINES.sub("", found)
    ended = bare.rstrip(_EDGES)
    return {bare, ended, bare.strip(_EDGES), ended.removeprefix("./")}
