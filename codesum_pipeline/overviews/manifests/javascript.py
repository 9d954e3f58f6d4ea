"""JavaScript and PHP: package.json and composer.json, which are alike."""

from collections.abc import Iterator, Mapping
from typing import Any

from codesum_pipeline.overviews.manifests.manifest import (
    Dependency,
    DependencyScope,
    EntryKind,
    EntryPoint,
    Manifest,
    ManifestLines,
    read_json,
    table,
    text_of,
    texts,
)

_NPM = {
    "dependencies": DependencyScope.RUN,
    "peerDependencies": DependencyScope.RUN,
    "optionalDependencies": DependencyScope.RUN,
    "devDependencies": DependencyScope.DEV,
}
_COMPOSER = {"require": DependencyScope.RUN, "require-dev": DependencyScope.DEV}


def read_package_json(path: str, text: str) -> Manifest:
    """npm's, also of Yarn, pnpm and Bun."""
    content, lines = read_json(text), ManifestLines(text)
    name = text_of(content, "name")
    found = _dependencies(path, lines, content, _NPM, "npm")
    return Manifest(path, (name,) if name else (), tuple(found), tuple(_npm_entries(path, lines, content, name)))


def _npm_entries(path: str, lines: ManifestLines, content: Mapping[str, Any], name: str | None) -> Iterator[EntryPoint]:
    commands = content.get("bin")
    if isinstance(commands, str) and name:
        yield EntryPoint(name.rpartition("/")[2], EntryKind.COMMAND, path, lines.of("bin"), commands)
    for command, target in table(content, "bin").items():
        if isinstance(target, str):
            yield EntryPoint(command, EntryKind.COMMAND, path, lines.of("bin", command), target)
    start = table(content, "scripts").get("start")
    if isinstance(start, str):
        yield EntryPoint("npm start", EntryKind.APPLICATION, path, lines.of("scripts", "start"), start)
    for field in ("exports", "module", "main"):
        target = _exported(content.get(field))
        if target and name:
            yield EntryPoint(name, EntryKind.LIBRARY, path, lines.of(field), target)
            return


def _exported(target: object) -> str | None:
    """The first file that an `exports` field leads to."""
    for _ in range(8):
        if isinstance(target, str):
            return target
        if not isinstance(target, dict) or not target:
            return None
        target = next((target[key] for key in (".", "import", "default", "require") if key in target), None)
    return None


def read_composer_json(path: str, text: str) -> Manifest:
    """PHP's."""
    content, lines = read_json(text), ManifestLines(text)
    name = text_of(content, "name")
    found = [each for each in _dependencies(path, lines, content, _COMPOSER, "packagist") if "/" in each.name]
    commands = [
        EntryPoint(target.rpartition("/")[2], EntryKind.COMMAND, path, lines.of("bin", target), target)
        for target in texts(content.get("bin"))
    ]
    return Manifest(path, (name,) if name else (), tuple(found), tuple(commands))


def _dependencies(
    path: str, lines: ManifestLines, content: Mapping[str, Any], sections: Mapping[str, DependencyScope], ecosystem: str
) -> Iterator[Dependency]:
    for section, scope in sections.items():
        for name, wanted in table(content, section).items():
            constraint = wanted if isinstance(wanted, str) else None
            yield Dependency(ecosystem, name, constraint, path, lines.of(f'"{section}"', name), scope)
