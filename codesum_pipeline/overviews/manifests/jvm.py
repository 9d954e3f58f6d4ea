"""Java, Kotlin and Scala: pom.xml, Gradle's files, version catalogues, build.sbt and Mill's."""

import re
from collections.abc import Iterator, Sequence

from codesum_pipeline.overviews.manifests.manifest import (
    Dependency,
    DependencyScope,
    EntryKind,
    EntryPoint,
    Literal,
    Manifest,
    ManifestLines,
    read_literals,
    read_toml,
    read_xml,
    short_lines,
    table,
    text_of,
)

_COORDINATE = re.compile(r"([\w.-]+):([\w.${}-]+)(?::([^:@]+))?.*")
# There is no grammar of Groovy here: only these two forms of its files are read.
_GROOVY_DEPENDENCY = re.compile(r"^\s*(\w+)[\s(]+(?:platform\()?['\"]([\w.-]+:[\w.${}-]+(?::[^'\"]+)?)['\"]")
_GROOVY_PLUGIN = re.compile(
    r"^\s*(?:id[\s(]+|apply\s+plugin:\s*)['\"]([\w.-]+)['\"]\)?(?:\s+version[\s(]+['\"]([^'\"]+)['\"])?"
)

_JOINED = frozenset({"%", "%%", "%%%"})
_SBT_TEST = re.compile(r"\s*%\s*(?:\w[\w.]*\s*%\s*)?\"?(?:Test|IntegrationTest|test)\b")


def read_pom(path: str, text: str) -> Manifest:
    """Maven's: dependencies, managed ones too, plugins and the parent."""
    project = read_xml(text)
    found = []
    for kind in ("dependency", "plugin", "parent"):
        for element in project.all(kind):
            artifact = element.text_of("artifactId")
            if artifact is None:
                continue
            group = element.text_of("groupId") or "org.apache.maven.plugins"
            scope = (
                DependencyScope.BUILD
                if kind == "plugin"
                else DependencyScope.DEV
                if element.text_of("scope") == "test"
                else DependencyScope.RUN
            )
            line = next(child.line for child in element.children if child.name == "artifactId")
            found.append(Dependency("maven", f"{group}:{artifact}", element.text_of("version"), path, line, scope))
    names = [
        f"{root.text_of('groupId') or (parent and parent.text_of('groupId')) or ''}:{artifact}"
        for root in project.children
        if (artifact := root.text_of("artifactId"))
        for parent in [root.child("parent")]
    ]
    return Manifest(path, tuple(names), tuple(found))


def read_gradle(path: str, text: str) -> Manifest:
    """Gradle's in Groovy."""
    found: list[Dependency] = []
    for number, line in short_lines(text):
        if match := _GROOVY_DEPENDENCY.match(line):
            found += _coordinate(path, number, match[2], match[1])
        elif match := _GROOVY_PLUGIN.match(line):
            found.append(Dependency("gradle", match[1], match[2], path, number, DependencyScope.BUILD))
    return Manifest(path, (), tuple(found))


def read_gradle_kts(path: str, text: str) -> Manifest:
    """Gradle's in Kotlin."""
    found: list[Dependency] = []
    commands = []
    literals = read_literals(text, "kotlin")
    for number, literal in enumerate(literals):
        head = next(reversed(literal.under), "")
        if head == "id" or (head == "kotlin" and "plugins" in literal.under):
            is_versioned = literal.after.strip(") ").startswith("version") and number + 1 < len(literals)
            version = literals[number + 1].text if is_versioned else None
            name = literal.text if head == "id" else f"org.jetbrains.kotlin.{literal.text}"
            found.append(Dependency("gradle", name, version, path, literal.line, DependencyScope.BUILD))
        elif head == "mainClass" or (head == "set" and "mainClass" in literal.before):
            commands.append(EntryPoint(literal.text, EntryKind.APPLICATION, path, literal.line))
        else:
            found += _coordinate(path, literal.line, literal.text, head)
    return Manifest(path, (), tuple(found), tuple(commands))


def read_version_catalogue(path: str, text: str) -> Manifest:
    """Gradle's libs.versions.toml."""
    content, lines = read_toml(text), ManifestLines(text)
    found: list[Dependency] = []
    for alias, library in table(content, "libraries").items():
        line = lines.of("[libraries]", alias)
        if isinstance(library, str):
            found += _coordinate(path, line, library, "")
        elif module := text_of(table(library), "module"):
            found += _coordinate(path, line, module, "")
        elif (group := text_of(table(library), "group")) and (name := text_of(table(library), "name")):
            found.append(Dependency("maven", f"{group}:{name}", None, path, line))
    for alias, plugin in table(content, "plugins").items():
        name = plugin.partition(":")[0] if isinstance(plugin, str) else text_of(table(plugin), "id")
        if name:
            found.append(Dependency("gradle", name, None, path, lines.of("[plugins]", alias), DependencyScope.BUILD))
    return Manifest(path, (), tuple(found))


def _coordinate(path: str, line: int, text: str, configuration: str) -> Iterator[Dependency]:
    match = _COORDINATE.fullmatch(text)
    if match and "." in match[1]:
        scope = DependencyScope.DEV if "test" in configuration.lower() else DependencyScope.RUN
        yield Dependency("maven", f"{match[1]}:{match[2]}", match[3], path, line, scope)


def read_sbt(path: str, text: str) -> Manifest:
    """Scala's: `"organisation" %% "name" % "version"`, also of plugins; Mill's `ivy"organisation::name:version"`."""
    found: list[Dependency] = []
    names = []
    chain: list[Literal] = []
    for literal in read_literals(text, "scala"):
        is_joined = bool(chain) and chain[-1].after.strip() in _JOINED
        if not is_joined:
            found += _sbt_dependency(path, chain)
            chain = []
        chain.append(literal)
        if literal.under[-1:] == ("name",):
            names.append(literal.text)
        elif "::" in literal.text:
            found += _coordinate(path, literal.line, literal.text.replace(":::", ":").replace("::", ":"), "")
    found += _sbt_dependency(path, chain)
    return Manifest(path, tuple(names), tuple(found))


def _sbt_dependency(path: str, chain: Sequence[Literal]) -> Iterator[Dependency]:
    """The strings of one chain of operators: organisation, name and, unless a value stands there, the version."""
    if len(chain) > 1:
        name = f"{chain[0].text}:{chain[1].text}"
        version = chain[2].text if len(chain) > 2 and chain[2].text.lower() != "test" else None
        is_test = bool(_SBT_TEST.match(chain[-1].after)) or chain[-1].text.lower() == "test"
        yield Dependency(
            "maven", name, version, path, chain[0].line, DependencyScope.DEV if is_test else DependencyScope.RUN
        )
