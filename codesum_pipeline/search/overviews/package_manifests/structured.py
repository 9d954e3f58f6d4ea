"""Manifests whose format has a parser: JSON, TOML, YAML, XML and INI."""

import configparser
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from codesum_pipeline.search.overviews.package_manifests.manifest import (
    BUILD,
    DEV,
    RUN,
    Dependency,
    DependencyScope,
    EntryKind,
    EntryPoint,
    Fact,
    MalformedManifest,
    line_of,
    read_coordinate,
    read_haskell_package,
    read_image,
    read_json,
    read_requirement,
    read_toml,
    read_xml,
    table_of,
    text_of,
    texts_of,
    yaml_pairs,
)


def read_pyproject(path: str, text: str) -> Iterator[Fact]:
    """PEP 621 and PEP 735, Poetry, and the build system."""
    content = read_toml(text)
    project, poetry = table_of(content, "project"), table_of(content, "tool", "poetry")
    required: list[tuple[str, str, object, DependencyScope]] = [
        ("[project]", "dependencies", project.get("dependencies"), RUN),
        ("[build-system]", "requires", table_of(content, "build-system").get("requires"), BUILD),
    ]
    for section, groups in (("optional-dependencies", table_of(project, "optional-dependencies")),
                            ("[dependency-groups]", table_of(content, "dependency-groups"))):  # fmt: skip
        required += [(section, name, members, DEV) for name, members in groups.items()]
    for section, name, members, scope in required:
        yield from _requirements(text, (section, name), texts_of(members), scope)
    sections = {
        "[tool.poetry.dependencies]": (table_of(poetry, "dependencies"), RUN),
        "[tool.poetry.dev-dependencies]": (table_of(poetry, "dev-dependencies"), DEV),
    }
    for name, group in table_of(poetry, "group").items():
        sections[f"[tool.poetry.group.{name}.dependencies]"] = table_of(group, "dependencies"), DEV
    for section, (members, scope) in sections.items():
        for name, wanted in members.items():
            yield Dependency("pypi", name, _version(wanted), line_of(text, section, name), scope)
    for section, group in (
        ("[project.scripts]", table_of(project, "scripts")),
        ("[project.gui-scripts]", table_of(project, "gui-scripts")),
        ("[tool.poetry.scripts]", table_of(poetry, "scripts")),
    ):
        for name, target in group.items():
            if isinstance(target, str):
                yield EntryPoint(name, EntryKind.COMMAND, path, line_of(text, section, name), target)
    yield from filter(None, (text_of(project, "name"), text_of(poetry, "name")))


def _version(wanted: object) -> str | None:
    """The constraint of a dependency that is a text, or a table with its version."""
    return wanted if isinstance(wanted, str) else text_of(table_of(wanted), "version")


def _requirements(text: str, where: tuple[str, ...], wanted: Iterable[str], scope: DependencyScope) -> Iterator[Fact]:
    for each in wanted:
        line = line_of(text, *where, re.split(r"[\s\[<>=!~;@(]", each.strip(), maxsplit=1)[0])
        yield from read_requirement(line, each, scope)


def read_setup_cfg(path: str, text: str) -> Iterator[Fact]:
    """Setuptools' declarative settings."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise MalformedManifest(f"not valid INI: {error}") from error
    extras = "options.extras_require"
    options = [("options", "install_requires", RUN)]
    options += [(extras, name, DEV) for name in (parser.options(extras) if parser.has_section(extras) else ())]
    for section, option, scope in options:
        wanted = parser.get(section, option, fallback="").splitlines()
        yield from _requirements(text, (f"[{section}]", option), wanted, scope)
    section = "options.entry_points"
    for script in parser.get(section, "console_scripts", fallback="").splitlines():
        name, is_script, target = (part.strip() for part in script.partition("="))
        if is_script:
            yield EntryPoint(name, EntryKind.COMMAND, path, line_of(text, f"[{section}]", name), target)
    yield from filter(None, [parser.get("metadata", "name", fallback="")])


def read_pipfile(_path: str, text: str) -> Iterator[Fact]:
    """Pipenv's."""
    content = read_toml(text)
    for section, scope in (("packages", RUN), ("dev-packages", DEV)):
        for name, wanted in table_of(content, section).items():
            constraint = wanted if isinstance(wanted, str) else None
            yield Dependency("pypi", name, constraint, line_of(text, f"[{section}]", name), scope)


_NPM = {"dependencies": RUN, "peerDependencies": RUN, "optionalDependencies": RUN, "devDependencies": DEV}
_COMPOSER = {"require": RUN, "require-dev": DEV}


def read_package_json(path: str, text: str) -> Iterator[Fact]:
    """npm's, also of Yarn, pnpm and Bun."""
    content = read_json(text)
    name, commands = text_of(content, "name"), content.get("bin")
    yield from _in_sections(text, content, _NPM, "npm")
    if name:
        yield name
        if isinstance(commands, str):
            yield EntryPoint(name.rpartition("/")[2], EntryKind.COMMAND, path, line_of(text, "bin"), commands)
    for command, target in table_of(commands).items():
        if isinstance(target, str):
            yield EntryPoint(command, EntryKind.COMMAND, path, line_of(text, "bin", command), target)
    start = table_of(content, "scripts").get("start")
    if isinstance(start, str):
        yield EntryPoint("npm start", EntryKind.APPLICATION, path, line_of(text, "scripts", "start"), start)
    exported = ((field, _exported(content.get(field))) for field in ("exports", "module", "main"))
    field, target = next((each for each in exported if each[1]), ("", None))
    if name and target:
        yield EntryPoint(name, EntryKind.LIBRARY, path, line_of(text, field), target)


def _exported(target: object) -> str | None:
    """The first file that an `exports` field leads to."""
    for _ in range(8):
        if isinstance(target, str):
            return target
        if not isinstance(target, dict) or not target:
            return None
        target = next((target[key] for key in (".", "import", "default", "require") if key in target), None)
    return None


def read_composer_json(path: str, text: str) -> Iterator[Fact]:
    """PHP's."""
    content = read_json(text)
    yield from (each for each in _in_sections(text, content, _COMPOSER, "packagist") if "/" in each.name)
    for target in texts_of(content.get("bin")):
        yield EntryPoint(target.rpartition("/")[2], EntryKind.COMMAND, path, line_of(text, "bin", target), target)
    yield from filter(None, [text_of(content, "name")])


def _in_sections(
    text: str, content: Mapping[str, Any], sections: Mapping[str, DependencyScope], ecosystem: str
) -> Iterator[Dependency]:
    for section, scope in sections.items():
        for name, wanted in table_of(content, section).items():
            constraint = wanted if isinstance(wanted, str) else None
            yield Dependency(ecosystem, name, constraint, line_of(text, f'"{section}"', name), scope)


def read_cargo(path: str, text: str) -> Iterator[Fact]:
    """A crate, or a workspace whose crates take their dependencies from it."""
    content = read_toml(text)
    targets = table_of(content, "target").values()
    for part in (content, table_of(content, "workspace"), *map(table_of, targets)):
        for section, scope in (("dependencies", RUN), ("dev-dependencies", DEV), ("build-dependencies", BUILD)):
            for name, wanted in table_of(part, section).items():
                real = text_of(table_of(wanted), "package") or name
                where = (f"{section}.{name}",) if f"{section}.{name}]" in text else (f"{section}]", name)
                yield Dependency("crates", real, _version(wanted), line_of(text, *where), scope)
    binaries = content.get("bin")
    for binary in map(table_of, binaries if isinstance(binaries, list) else []):
        if called := text_of(binary, "name"):
            line = line_of(text, "[[bin]]", called)
            yield EntryPoint(called, EntryKind.COMMAND, path, line, text_of(binary, "path"))
    yield from filter(None, [text_of(table_of(content, "package"), "name")])


def read_pom(_path: str, text: str) -> Iterator[Fact]:
    """Maven's: dependencies, managed ones too, plugins and the parent."""
    project = read_xml(text)
    for kind in ("dependency", "plugin", "parent"):
        for element in project.all(kind):
            if artifact := element.text_of("artifactId"):
                group = element.text_of("groupId") or "org.apache.maven.plugins"
                scope = BUILD if kind == "plugin" else DEV if element.text_of("scope") == "test" else RUN
                line = next(child.line for child in element.children if child.name == "artifactId")
                yield Dependency("maven", f"{group}:{artifact}", element.text_of("version"), line, scope)
    for root in project.children:
        parent, artifact = root.child("parent"), root.text_of("artifactId")
        if artifact:
            yield f"{root.text_of('groupId') or (parent and parent.text_of('groupId')) or ''}:{artifact}"


def read_version_catalogue(_path: str, text: str) -> Iterator[Fact]:
    """Gradle's libs.versions.toml."""
    content = read_toml(text)
    for alias, library in table_of(content, "libraries").items():
        line, fields = line_of(text, "[libraries]", alias), table_of(library)
        if module := library if isinstance(library, str) else text_of(fields, "module"):
            yield from read_coordinate(line, module, "")
        elif (group := text_of(fields, "group")) and (name := text_of(fields, "name")):
            yield Dependency("maven", f"{group}:{name}", None, line)
    for alias, plugin in table_of(content, "plugins").items():
        if id_ := plugin.partition(":")[0] if isinstance(plugin, str) else text_of(table_of(plugin), "id"):
            yield Dependency("gradle", id_, None, line_of(text, "[plugins]", alias), BUILD)


_TEST_SDK = "microsoft.net.test.sdk"


def read_dotnet(path: str, text: str) -> Iterator[Fact]:
    """A .csproj, .fsproj or .vbproj, Directory.Build.props, Directory.Packages.props, packages.config."""
    root, own = read_xml(text), path.rpartition("/")[2].rpartition(".")[0]
    references = [*root.all("PackageReference"), *root.all("PackageVersion"), *root.all("GlobalPackageReference")]
    named = [(each, each.attributes.get("Include") or each.attributes.get("Update")) for each in references]
    named += [(each, each.attributes.get("id")) for each in root.all("package")]
    scope = DEV if any((name or "").lower() == _TEST_SDK for _, name in named) else RUN
    for each, name in named:
        if name:
            attributes = each.attributes
            version = attributes.get("Version") or attributes.get("version") or each.text_of("Version")
            yield Dependency("nuget", name, version, each.line, scope)
    for project in root.all("Project"):
        if sdk := project.attributes.get("Sdk"):
            yield Dependency("msbuild", sdk.partition("/")[0], None, project.line, BUILD)
    for kind in root.all("OutputType"):
        if kind.text.strip().lower() in ("exe", "winexe"):
            yield EntryPoint(own, EntryKind.APPLICATION, path, kind.line)
    yield own
    yield from filter(None, (each.text.strip() for each in root.all("PackageId")))


def read_compose(_path: str, text: str) -> Iterator[Fact]:
    """The images of its services."""
    for keys, value, line in yaml_pairs(text):
        if len(keys) == 3 and keys[0] == "services" and keys[2] == "image":
            yield from read_image(line, value)


def read_hpack(path: str, text: str) -> Iterator[Fact]:
    """Haskell's package.yaml."""
    commands: dict[str, EntryPoint] = {}
    for keys, value, line in yaml_pairs(text):
        if keys == ("name",):
            yield value
        elif keys and keys[-1] == "dependencies":
            yield from read_haskell_package(line, value, DEV if keys[0] in ("tests", "benchmarks") else RUN)
        elif keys[:1] == ("executables",) and keys[2:] == ("main",):
            commands[keys[1]] = EntryPoint(keys[1], EntryKind.COMMAND, path, line, value)
    yield from commands.values()
