"""A repository's parts: the folders, or files, that it divides into, and which of them use which.

The division begins with the root. While one part holds most of the code, or there are few parts, the largest is
replaced by its folders and files, so that a package in `src/` is shown by its contents.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct

from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.overviews.view import View

MOST_PARTS = 12
# With fewer, the largest part is divided further.
_FEW_PARTS = 5
# A part with a larger share of the code is divided.
_LARGEST_SHARE = 0.5
# A part with no larger share is not divided, however few parts there are.
_SMALL_SHARE = 0.25
# More files of one folder are one part together.
_FILES_ALONE = 14
# A link counts if it has this share of the uses of the heaviest link.
_LEAST_SHARE = 0.03
MOST_LINKS = 20
# A part with a smaller share of the code is only counted.
_LEAST_PART = 0.01


class RepositoryPart(Struct, frozen=True):
    """A folder (`path/`), the files directly in a folder (`path/*`), or a file; `size` counts files and definitions."""

    name: str
    paths: tuple[str, ...]
    size: int

    @property
    def folder(self) -> str | None:
        """The folder of a part; None for a file."""
        return self.name.rstrip("*").rstrip("/") or ROOT_MODULE if self.name.endswith(("/", "*")) else None


class Link(Struct, frozen=True):
    """One part uses another; `uses` counts the connections between them."""

    source: str
    target: str
    uses: int


class Division(Struct, frozen=True):
    """The largest parts by path, how many others there are, and the links between those shown."""

    parts: tuple[RepositoryPart, ...]
    others: int
    links: tuple[Link, ...]
    links_left_out: int

    def uses_of(self, part: str) -> list[str]:
        """The parts that a part uses, most used first."""
        return [link.target for link in self.links if link.source == part]


def divide(view: View) -> Division:
    """The parts of a repository's own programs."""
    sizes = {path: 1 + len(view.definitions[path]) for path in view.sources}
    parts = {"": list(view.sources)}
    while (divided := _to_divide(parts, sizes)) is not None:
        for name, paths in _divided(divided, parts.pop(divided)).items():
            parts[name] = paths
    found = [
        RepositoryPart(name, tuple(paths), sum(sizes[path] for path in paths)) for name, paths in parts.items() if paths
    ]
    # A part without definitions is left out where others have some.
    defining = [part for part in found if part.size > len(part.paths)] or found
    least = sum(sizes.values()) * _LEAST_PART if len(defining) > _FEW_PARTS else 0
    largest_first = sorted(defining, key=lambda part: (-part.size, part.name))[:MOST_PARTS]
    shown = sorted((part for part in largest_first if part.size >= least), key=lambda part: part.name)
    links = _links(shown, view.links)
    return Division(tuple(shown), len(found) - len(shown), tuple(links[:MOST_LINKS]), max(len(links) - MOST_LINKS, 0))


def _to_divide(parts: Mapping[str, Sequence[str]], sizes: Mapping[str, int]) -> str | None:
    """The largest part, if it should be divided and can be."""
    total = sum(sizes.values())
    weights = {name: sum(sizes[path] for path in paths) for name, paths in parts.items()}
    for name in sorted(parts, key=lambda name: (-weights[name], name)):
        is_large = weights[name] > total * _LARGEST_SHARE
        if not is_large and (len(parts) >= _FEW_PARTS or weights[name] <= total * _SMALL_SHARE):
            return None
        if len(parts[name]) > 1 and (is_large or not name.endswith("*")):
            return name
        # A single file with most of the code cannot be divided, and then the other parts need not be.
        if is_large and len(parts) > 1:
            return None
    return None


def _divided(name: str, paths: Iterable[str]) -> dict[str, list[str]]:
    """The folders in a part, and its files alone or, where there are many, together."""
    if name.endswith("*"):
        return {path: [path] for path in paths}
    found: dict[str, list[str]] = {}
    files = []
    for path in paths:
        folder, is_below, _ = path.removeprefix(name).partition("/")
        if is_below:
            found.setdefault(f"{name}{folder}/", []).append(path)
        else:
            files.append(path)
    if len(files) > _FILES_ALONE and found:
        return found | {f"{name}*": files}
    return found | {path: [path] for path in files}


def _links(parts: Sequence[RepositoryPart], uses: Mapping[tuple[str, str], int]) -> list[Link]:
    """The links between parts, heaviest first."""
    part_of = {path: part.name for part in parts for path in part.paths}
    found: Counter[tuple[str, str]] = Counter()
    for (source, target), count in uses.items():
        one, other = part_of.get(source), part_of.get(target)
        if one is not None and other is not None and one != other:
            found[one, other] += count
    heaviest = max(found.values(), default=0)
    links = [Link(*pair, count) for pair, count in found.items() if count >= heaviest * _LEAST_SHARE]
    return sorted(links, key=lambda link: (-link.uses, link.source, link.target))


def common_folder(parts: Iterable[RepositoryPart]) -> str:
    """The folder that all parts stand in, with its slash; empty for the root."""
    above = [part.name.rstrip("/").split("/")[:-1] for part in parts]
    same = takewhile(lambda names: len(set(names)) == 1, zip(*above, strict=False))
    return "".join(f"{names[0]}/" for names in same)
