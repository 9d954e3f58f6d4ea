"""Rust: Cargo.toml."""

from collections.abc import Iterator, Mapping
from typing import Any

from codesum_pipeline.overviews.manifests.lines import ManifestLines
from codesum_pipeline.overviews.manifests.manifest import Dependency, DependencyScope, EntryKind, EntryPoint, Manifest
from codesum_pipeline.overviews.manifests.plain import read_toml, table, text_of

_SECTIONS = {
    "dependencies": DependencyScope.RUN,
    "dev-dependencies": DependencyScope.DEV,
    "build-dependencies": DependencyScope.BUILD,
}


def read_cargo(path: str, text: str) -> Manifest:
    """A crate, or a workspace whose crates take their dependencies from it."""
    content, lines = read_toml(text), ManifestLines(text)
    name = text_of(table(content, "package"), "name")
    tables = [("", content), ("workspace.", table(content, "workspace"))]
    tables += [(f"target.{key}.", table(each)) for key, each in table(content, "target").items()]
    found = [each for prefix, part in tables for each in _dependencies(path, lines, prefix, part)]
    commands = []
    binaries = content.get("bin")
    for binary in binaries if isinstance(binaries, list) else []:
        if called := text_of(table(binary), "name"):
            line = lines.of("[[bin]]", called)
            commands.append(EntryPoint(called, EntryKind.COMMAND, path, line, text_of(table(binary), "path")))
    return Manifest(path, (name,) if name else (), tuple(found), tuple(commands))


def _dependencies(path: str, lines: ManifestLines, prefix: str, part: Mapping[str, Any]) -> Iterator[Dependency]:
    for section, scope in _SECTIONS.items():
        for name, wanted in table(part, section).items():
            constraint = wanted if isinstance(wanted, str) else text_of(table(wanted), "version")
            real = text_of(table(wanted), "package") or name
            where = (f"{section}.{name}",) if f"{section}.{name}]" in lines.text else (f"{section}]", name)
            yield Dependency("crates", real, constraint, path, lines.of(*where), scope)
