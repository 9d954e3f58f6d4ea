"""Python: pyproject.toml, setup.cfg, setup.py, requirements files, Pipfile."""

import configparser
import re
from collections.abc import Iterable, Iterator

from codesum_pipeline.overviews.manifests.manifest import (
    Dependency,
    DependencyScope,
    EntryKind,
    EntryPoint,
    MalformedManifest,
    Manifest,
    ManifestLines,
    read_literals,
    read_toml,
    short_lines,
    table,
    text_of,
    texts,
)

_LONGEST = 1_000
_DEV_FILE = re.compile(r"(?:dev|test|lint|docs?|ci|typing)", re.IGNORECASE)


def read_pyproject(path: str, text: str) -> Manifest:
    """PEP 621 and PEP 735, Poetry, and the build system."""
    content, lines = read_toml(text), ManifestLines(text)
    project, poetry = table(content, "project"), table(content, "tool", "poetry")
    found = [
        *_requirements(
            path, lines, ("[project]", "dependencies"), texts(project.get("dependencies")), DependencyScope.RUN
        ),
        *_requirements(
            path,
            lines,
            ("[build-system]", "requires"),
            texts(table(content, "build-system").get("requires")),
            DependencyScope.BUILD,
        ),
    ]
    for section, groups in (("optional-dependencies", table(project, "optional-dependencies")),
                            ("[dependency-groups]", table(content, "dependency-groups"))):  # fmt: skip
        for name, members in groups.items():
            found += _requirements(path, lines, (section, name), texts(members), DependencyScope.DEV)
    groups = {name: table(group, "dependencies") for name, group in table(poetry, "group").items()}
    sections = {
        "[tool.poetry.dependencies]": (table(poetry, "dependencies"), DependencyScope.RUN),
        "[tool.poetry.dev-dependencies]": (table(poetry, "dev-dependencies"), DependencyScope.DEV),
        **{f"[tool.poetry.group.{name}.dependencies]": (each, DependencyScope.DEV) for name, each in groups.items()},
    }
    for section, (members, scope) in sections.items():
        for name, wanted in members.items():
            constraint = wanted if isinstance(wanted, str) else text_of(table(wanted), "version")
            found.append(Dependency("pypi", name, constraint, path, lines.of(section, name), scope))
    commands = [
        EntryPoint(name, EntryKind.COMMAND, path, lines.of(section, name), target)
        for section, group in (
            ("[project.scripts]", table(project, "scripts")),
            ("[project.gui-scripts]", table(project, "gui-scripts")),
            ("[tool.poetry.scripts]", table(poetry, "scripts")),
        )
        for name, target in group.items()
        if isinstance(target, str)
    ]
    names = [called for part in (project, poetry) if (called := text_of(part, "name"))]
    return Manifest(path, tuple(names), tuple(found), tuple(commands))


def read_setup_cfg(path: str, text: str) -> Manifest:
    """Setuptools' declarative settings."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise MalformedManifest(f"not valid INI: {error}") from error
    lines = ManifestLines(text)
    found = list(_listed(path, lines, parser, "options", "install_requires", DependencyScope.RUN))
    if parser.has_section("options.extras_require"):
        for name in parser.options("options.extras_require"):
            found += _listed(path, lines, parser, "options.extras_require", name, DependencyScope.DEV)
    section = "options.entry_points"
    scripts = parser.get(section, "console_scripts", fallback="").splitlines()
    name = parser.get("metadata", "name", fallback="")
    return Manifest(path, (name,) if name else (), tuple(found), tuple(_commands(path, lines, scripts, f"[{section}]")))


def _listed(
    path: str,
    lines: ManifestLines,
    parser: configparser.RawConfigParser,
    section: str,
    option: str,
    scope: DependencyScope,
) -> Iterator[Dependency]:
    wanted = parser.get(section, option, fallback="").splitlines()
    return _requirements(path, lines, (f"[{section}]", option), wanted, scope)


def _commands(path: str, lines: ManifestLines, scripts: Iterable[str], section: str) -> Iterator[EntryPoint]:
    for script in scripts:
        name, is_script, target = (part.strip() for part in script.partition("="))
        if is_script:
            yield EntryPoint(name, EntryKind.COMMAND, path, lines.of(section, name), target)


def read_setup_py(path: str, text: str) -> Manifest:
    """The literal arguments of `setup(...)`; nothing is run."""
    names, found, commands = [], [], []
    for literal in read_literals(text, "python"):
        under = literal.under
        if "install_requires" in under or "setup_requires" in under or "tests_require" in under:
            scope = DependencyScope.RUN if "install_requires" in under else DependencyScope.DEV
            found += _requirement(path, literal.line, literal.text, scope)
        elif "extras_require" in under and under[-1] != literal.text:
            found += _requirement(path, literal.line, literal.text, DependencyScope.DEV)
        elif "console_scripts" in under and "=" in literal.text:
            name, _, target = (part.strip() for part in literal.text.partition("="))
            commands.append(EntryPoint(name, EntryKind.COMMAND, path, literal.line, target))
        elif under[-2:] == ("setup", "name"):
            names.append(literal.text)
    return Manifest(path, tuple(names), tuple(found), tuple(commands))


def read_requirements(path: str, text: str) -> Manifest:
    """A requirements file: one requirement a line; options, URLs and other files are ignored."""
    scope = DependencyScope.DEV if _DEV_FILE.search(path) else DependencyScope.RUN
    found: list[Dependency] = []
    for number, line in short_lines(text):
        found += _requirement(path, number, re.sub(r"\s+--hash=.*|\s+#.*|\\$", "", line), scope)
    return Manifest(path, (), tuple(found))


def read_pipfile(path: str, text: str) -> Manifest:
    """Pipenv's."""
    content, lines = read_toml(text), ManifestLines(text)
    found = [
        Dependency(
            "pypi", name, wanted if isinstance(wanted, str) else None, path, lines.of(f"[{section}]", name), scope
        )
        for section, scope in (("packages", DependencyScope.RUN), ("dev-packages", DependencyScope.DEV))
        for name, wanted in table(content, section).items()
    ]
    return Manifest(path, (), tuple(found))


def _requirements(
    path: str, lines: ManifestLines, where: tuple[str, ...], wanted: Iterable[str], scope: DependencyScope
) -> Iterator[Dependency]:
    for text in wanted:
        for found in _requirement(path, 0, text, scope):
            line = lines.of(*where, re.split(r"[\s\[<>=!~;@(]", text.strip(), maxsplit=1)[0])
            yield Dependency("pypi", found.name, found.constraint, path, line, scope)


def _requirement(path: str, line: int, text: str, scope: DependencyScope) -> list[Dependency]:
    """One requirement; none where the text is no requirement."""
    if len(text) > _LONGEST:
        return []
    # Most builds read no manifest anew.
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        wanted = Requirement(text.strip())
    except InvalidRequirement:
        return []
    return [Dependency("pypi", wanted.name, str(wanted.specifier) or None, path, line, scope)]
