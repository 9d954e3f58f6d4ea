"""The frameworks that are recognised, and by what: data, in `frameworks.toml`."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from importlib import resources

# PEP 503: runs of these are one dash in a name of PyPI.
_DASHES = re.compile(r"[-_.]+")
# An import of `a.b` is one of what `a` stands for; so are `a/b`, `a::b` and `a\b`.
_PART = re.compile(r"[^./:\\]+")
# Languages that share their libraries.
_FAMILY = {"typescript": "javascript", "tsx": "javascript", "c": "cpp"}


@dataclass(frozen=True, slots=True)
class Known:
    """A framework's name and kind."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Which frameworks packages, imports and files stand for."""

    kinds: tuple[str, ...]
    packages: Mapping[tuple[str, str], Known]
    package_patterns: tuple[tuple[str, re.Pattern[str], Known], ...]
    imports: Mapping[tuple[str, tuple[str, ...]], Known]
    files: tuple[tuple[re.Pattern[str], bool, Known], ...]

    def of_package(self, ecosystem: str, name: str) -> Known | None:
        """The framework that a dependency is, or is a part of."""
        plain = package_name(ecosystem, name)
        if found := self.packages.get((ecosystem, plain)):
            return found
        patterns = (
            known for where, pattern, known in self.package_patterns if where == ecosystem and pattern.match(plain)
        )
        return next(patterns, None)

    def of_import(self, language: str, module: str) -> Known | None:
        """The framework that an imported module belongs to: the longest of the declared ones."""
        language, parts = _FAMILY.get(language, language), tuple(_PART.findall(module))
        for length in range(len(parts), 0, -1):
            if found := self.imports.get((language, parts[:length])):
                return found
        return None

    def of_file(self, path: str) -> Iterator[Known]:
        """The frameworks that a file belongs to."""
        name = path.rpartition("/")[2]
        return (known for pattern, is_path, known in self.files if pattern.match(path if is_path else name))


def package_name(ecosystem: str, name: str) -> str:
    """A name as its registry compares it."""
    return _DASHES.sub("-", name).lower() if ecosystem == "pypi" else name.lower()


@lru_cache(maxsize=1)
def read_catalogue() -> Catalogue:
    """The catalogue that ships with the package."""
    text = (resources.files(__package__) / "frameworks.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    packages: dict[tuple[str, str], Known] = {}
    patterns, files = [], []
    imports: dict[tuple[str, tuple[str, ...]], Known] = {}
    for kind, frameworks in content.items():
        for name, marks in frameworks.items():
            known = Known(name, kind)
            for ecosystem, package in _pairs(marks, "packages"):
                if "*" in package:
                    patterns.append((ecosystem, re.compile(translate(package)), known))
                else:
                    packages[ecosystem, package] = known
            for language, module in _pairs(marks, "imports"):
                imports[_FAMILY.get(language, language), tuple(_PART.findall(module))] = known
            files += [(re.compile(translate(file)), "/" in file, known) for file in marks.get("files", ())]
    return Catalogue(tuple(content), packages, tuple(patterns), imports, tuple(files))


def _pairs(marks: Mapping[str, list[str]], field: str) -> list[tuple[str, str]]:
    return [(before, after) for mark in marks.get(field, ()) for before, _, after in [mark.partition(":")]]
