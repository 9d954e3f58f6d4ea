"""The catalogue of frameworks, read from `frameworks.toml`."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from importlib import resources

from msgspec import Struct

from codesum_pipeline.foundation.language_facts.language_profiles import profile_of

# PEP 503: runs of these are one dash in a name of PyPI.
_DASHES = re.compile(r"[-_.]+")
# The parts of an imported name: `a.b`, `a/b`, `a::b` and `a\b` belong to `a`.
_PART = re.compile(r"[^./:\\]+")


class KnownFramework(Struct, frozen=True):
    """A framework's name and kind."""

    name: str
    kind: str


class FrameworkCatalogue(Struct, frozen=True):
    """The frameworks of packages, imports and files."""

    kinds: tuple[str, ...]
    packages: Mapping[tuple[str, str], KnownFramework]
    package_patterns: tuple[tuple[str, str, KnownFramework], ...]
    imports: Mapping[tuple[str, tuple[str, ...]], KnownFramework]
    # By name, or by path where a slash is in it.
    files: Mapping[str, Sequence[KnownFramework]]
    file_patterns: tuple[tuple[str, KnownFramework], ...]
    any_pattern: re.Pattern[str]

    def of_package(self, ecosystem: str, name: str) -> KnownFramework | None:
        plain = package_name(ecosystem, name)
        if found := self.packages.get((ecosystem, plain)):
            return found
        patterns = (each[1:] for each in self.package_patterns if each[0] == ecosystem)
        return next((known for pattern, known in patterns if fnmatchcase(plain, pattern)), None)

    def of_import(self, language: str, module: str) -> KnownFramework | None:
        """The framework that an imported module belongs to, by the longest declared prefix."""
        language, parts = profile_of(language).family, tuple(_PART.findall(module))
        for length in range(len(parts), 0, -1):
            if found := self.imports.get((language, parts[:length])):
                return found
        return None

    def of_file(self, path: str) -> Iterator[KnownFramework]:
        name = path.rpartition("/")[2]
        for each in dict.fromkeys((name, path)):
            yield from self.files.get(each, ())
        # Few files match any pattern, so one pattern of all is tried first.
        if self.any_pattern.match(name) or self.any_pattern.match(path):
            for pattern, known in self.file_patterns:
                if fnmatchcase(path if "/" in pattern else name, pattern):
                    yield known


def package_name(ecosystem: str, name: str) -> str:
    """The form in which a registry compares names."""
    return _DASHES.sub("-", name).lower() if ecosystem == "pypi" else name.lower()


@lru_cache(maxsize=1)
def read_catalogue() -> FrameworkCatalogue:
    content = tomllib.loads((resources.files(__package__) / "frameworks.toml").read_text(encoding="utf-8"))
    every = [(KnownFramework(name, kind), marks) for kind, group in content.items() for name, marks in group.items()]
    packages = [(known, *pair) for known, marks in every for pair in _pairs(marks, "packages")]
    files = [(known, file) for known, marks in every for file in marks.get("files", ())]
    wild = [(known, file) for known, file in files if "*" in file]
    by_file: defaultdict[str, list[KnownFramework]] = defaultdict(list)
    for known, file in files:
        if "*" not in file:
            by_file[file].append(known)
    return FrameworkCatalogue(
        kinds=tuple(content),
        packages={(ecosystem, name): known for known, ecosystem, name in packages if "*" not in name},
        package_patterns=tuple((where, name, known) for known, where, name in packages if "*" in name),
        imports={
            (profile_of(language).family, tuple(_PART.findall(module))): known
            for known, marks in every
            for language, module in _pairs(marks, "imports")
        },
        files=by_file,
        file_patterns=tuple((file, known) for known, file in wild),
        any_pattern=re.compile("|".join(translate(file) for _, file in wild)),
    )


def _pairs(marks: Mapping[str, list[str]], field: str) -> list[tuple[str, str]]:
    return [(before, after) for mark in marks.get(field, ()) for before, _, after in [mark.partition(":")]]
