"""Go, Ruby, Rust, .NET, Elixir, Swift, Haskell, Lua, Zig, the C family and containers: one short reader each."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from codesum_pipeline.overviews.manifests.manifest import (
    Dependency,
    DependencyScope,
    EntryKind,
    EntryPoint,
    Manifest,
    ManifestLines,
    read_literals,
    read_toml,
    read_xml,
    short_lines,
    table,
    text_of,
    yaml_pairs,
)

_MODULE = re.compile(r"module\s+(\S+)")
_REQUIRED = re.compile(r"(?:require\s+)?(\S+)\s+(v\S+)")


def read_go_mod(path: str, text: str) -> Manifest:
    """The module and what it requires itself; what others require (`// indirect`) is left out."""
    names, found, block = [], [], ""
    for number, line in short_lines(text):
        said, _, comment = line.partition("//")
        said = said.strip()
        if said.endswith("("):
            block = said[:-1].strip()
        elif said == ")":
            block = ""
        elif match := _MODULE.fullmatch(said):
            names.append(match[1].strip('"'))
        elif (
            (block == "require" or said.startswith("require "))
            and "indirect" not in comment
            and (required := _REQUIRED.fullmatch(said))
        ):
            found.append(Dependency("go", required[1].strip('"'), required[2], path, number))
    return Manifest(path, tuple(names), tuple(found))


_DECLARING = {
    "gem": DependencyScope.RUN,
    "add_dependency": DependencyScope.RUN,
    "add_runtime_dependency": DependencyScope.RUN,
    "add_development_dependency": DependencyScope.DEV,
}


def read_gems(path: str, text: str) -> Manifest:
    """Each `gem "name", "constraint"`, or what a gemspec adds."""
    found: dict[int, Dependency] = {}
    names, commands = [], []
    for literal in read_literals(text, "ruby"):
        head = next(reversed(literal.under), "")
        if head in _DECLARING:
            known = found.get(literal.call)
            if known is None:
                scope = DependencyScope.DEV if "group" in literal.under else _DECLARING[head]
                found[literal.call] = Dependency("rubygems", literal.text, None, path, literal.line, scope)
            else:
                constraint = literal.text if known.constraint is None else f"{known.constraint}, {literal.text}"
                found[literal.call] = Dependency("rubygems", known.name, constraint, path, known.line, known.scope)
        elif head == "name":
            names.append(literal.text)
        elif head == "executables":
            commands.append(EntryPoint(literal.text, EntryKind.COMMAND, path, literal.line))
    return Manifest(path, tuple(names), tuple(found.values()), tuple(commands))


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
    found = [each for prefix, part in tables for each in _crates(path, lines, prefix, part)]
    commands = []
    binaries = content.get("bin")
    for binary in binaries if isinstance(binaries, list) else []:
        if called := text_of(table(binary), "name"):
            line = lines.of("[[bin]]", called)
            commands.append(EntryPoint(called, EntryKind.COMMAND, path, line, text_of(table(binary), "path")))
    return Manifest(path, (name,) if name else (), tuple(found), tuple(commands))


def _crates(path: str, lines: ManifestLines, prefix: str, part: Mapping[str, Any]) -> Iterator[Dependency]:
    for section, scope in _SECTIONS.items():
        for name, wanted in table(part, section).items():
            constraint = wanted if isinstance(wanted, str) else text_of(table(wanted), "version")
            real = text_of(table(wanted), "package") or name
            where = (f"{section}.{name}",) if f"{section}.{name}]" in lines.text else (f"{section}]", name)
            yield Dependency("crates", real, constraint, path, lines.of(*where), scope)


_TEST_SDK = "microsoft.net.test.sdk"


def read_dotnet(path: str, text: str) -> Manifest:
    """A .csproj, .fsproj or .vbproj, Directory.Build.props, Directory.Packages.props, packages.config."""
    root = read_xml(text)
    references = [*root.all("PackageReference"), *root.all("PackageVersion"), *root.all("GlobalPackageReference")]
    named = [(each, each.attributes.get("Include") or each.attributes.get("Update")) for each in references]
    named += [(each, each.attributes.get("id")) for each in root.all("package")]
    is_test = any((name or "").lower() == _TEST_SDK for _, name in named)
    scope = DependencyScope.DEV if is_test else DependencyScope.RUN
    found = [
        Dependency(
            "nuget",
            name,
            each.attributes.get("Version") or each.attributes.get("version") or each.text_of("Version"),
            path,
            each.line,
            scope,
        )
        for each, name in named
        if name
    ]
    found += [
        Dependency("msbuild", sdk.partition("/")[0], None, path, project.line, DependencyScope.BUILD)
        for project in root.all("Project")
        if (sdk := project.attributes.get("Sdk"))
    ]
    own = path.rpartition("/")[2].rpartition(".")[0]
    commands = [
        EntryPoint(own, EntryKind.APPLICATION, path, kind.line)
        for kind in root.all("OutputType")
        if kind.text.strip().lower() in ("exe", "winexe")
    ]
    packages = [each.text.strip() for each in root.all("PackageId") if each.text.strip()]
    return Manifest(path, (own, *packages), tuple(found), tuple(commands))


_FROM = re.compile(r"FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)
_START = re.compile(r"(?:CMD|ENTRYPOINT)\s+(.+)", re.IGNORECASE)


def read_dockerfile(path: str, text: str) -> Manifest:
    """The images that it begins with, and what the last stage starts."""
    found: list[Dependency] = []
    stages: set[str] = set()
    start: EntryPoint | None = None
    for number, line in short_lines(text):
        said = line.strip()
        if match := _FROM.fullmatch(said):
            if match[1].lower() not in stages:
                found += _image(path, number, match[1])
            stages.add((match[2] or "").lower())
            start = None
        elif (match := _START.fullmatch(said)) and start is None and match[1] != "[]":
            start = EntryPoint(path, EntryKind.CONTAINER, path, number, match[1])
    return Manifest(path, (), tuple(found), (start,) if start else ())


def read_compose(path: str, text: str) -> Manifest:
    """The images of its services."""
    found = [
        each
        for keys, value, line in yaml_pairs(text)
        if len(keys) == 3 and keys[0] == "services" and keys[2] == "image"
        for each in _image(path, line, value)
    ]
    return Manifest(path, (), tuple(found))


def _image(path: str, line: int, image: str) -> Iterator[Dependency]:
    """`registry/name:tag@digest`, of which the name decides."""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    if name and "$" not in name and name != "scratch":
        yield Dependency("image", name.lower(), tag or None, path, line)


_ATOM_KEY = re.compile(r"mod:\s*\{\s*([\w.]+)")
_CABAL_FIELD = re.compile(r"(\s*)([\w-]+)\s*:(.*)")
_CABAL_STANZA = re.compile(r"\s*(executable|test-suite|benchmark|library|foreign-library|common|flag)\b\s*(\S*)\s*$")
_CABAL_PACKAGE = re.compile(r"\s*,?\s*([A-Za-z][\w-]*)(?::[\w{}, -]+)?\s*([^,]*)")
_LUA_DEPENDENCY = re.compile(r"([\w.-]+(?:/[\w.-]+)?)\s*(.*)")
_CMAKE = re.compile(
    r"^[ \t]*(find_package|FetchContent_Declare|add_executable|CPMAddPackage|project)"
    r"\s*\(\s*\"?(?:NAME\s+)?(?:gh:)?([\w./+:${}-]+)[ \t]*([\w.]*)",
    re.MULTILINE | re.IGNORECASE,
)
_OF_TESTS = re.compile(r"(?:^|[_-])(?:tests?|bench(?:marks?)?)(?:[_-]|$)", re.IGNORECASE)
_MESON = re.compile(r"\b(dependency|executable|project)\s*\(\s*'([^']+)'")


def read_mix(path: str, text: str) -> Manifest:
    """Elixir's mix.exs: tuples of an atom and a constraint below `deps`."""
    literals = read_literals(text, "elixir")
    found = []
    for number, literal in enumerate(literals):
        if literal.before.rstrip().endswith("{") and literal.after.lstrip().startswith(",") and literal.text.islower():
            following = literals[number + 1] if number + 1 < len(literals) else None
            is_constraint = (
                following is not None and following.call == literal.call and not following.before.strip(", ")
            )
            constraint = following.text if following and is_constraint else None
            dev = any("only" in each.under for each in literals[number + 1 : number + 4] if each.line == literal.line)
            scope = DependencyScope.DEV if dev else DependencyScope.RUN
            found.append(Dependency("hex", literal.text, constraint, path, literal.line, scope))
    names = [
        literal.text for literal in literals if literal.under[-1:] == ("app:",) or literal.before.endswith("app: ")
    ]
    commands = [
        EntryPoint(match[1], EntryKind.APPLICATION, path, text.count("\n", 0, match.start()) + 1)
        for match in _ATOM_KEY.finditer(text)
    ]
    return Manifest(path, tuple(names), tuple(found), tuple(commands))


def read_swift_package(path: str, text: str) -> Manifest:
    """Package.swift: packages by URL, executable targets and products."""
    literals = read_literals(text, "swift")
    found, commands, names = [], [], []
    for number, literal in enumerate(literals):
        under = literal.under
        if under[-2:] == ("package", "url"):
            following = literals[number + 1] if number + 1 < len(literals) else None
            constraint = following.text if following and following.line - literal.line < 2 else None
            name = literal.text.rstrip("/").removesuffix(".git")
            name = "/".join(name.replace(":", "/").split("/")[-2:])
            is_version = constraint is not None and re.match(r"\d", constraint)
            found.append(Dependency("swift", name, constraint if is_version else None, path, literal.line))
        elif under[-2:] in (("executableTarget", "name"), ("executable", "name")):
            commands.append(EntryPoint(literal.text, EntryKind.COMMAND, path, literal.line))
        elif under[-2:] == ("Package", "name"):
            names.append(literal.text)
    return Manifest(path, tuple(names), tuple(found), tuple({each.name: each for each in commands}.values()))


def read_cabal(path: str, text: str) -> Manifest:
    """Haskell's *.cabal: `build-depends` of each stanza, and executables."""
    found: list[Dependency] = []
    commands, names = [], []
    stanza, field, depth = "", "", 0
    for number, line in short_lines(text):
        said = "" if line.lstrip().startswith("--") else line
        if match := _CABAL_STANZA.fullmatch(said):
            stanza, field = match[1], ""
            if stanza == "executable":
                commands.append(EntryPoint(match[2], EntryKind.COMMAND, path, number))
            continue
        if (match := _CABAL_FIELD.fullmatch(said)) and (not field or len(match[1]) <= depth):
            depth, field, said = len(match[1]), match[2].lower(), match[3]
            if field == "name" and not stanza:
                names.append(said.strip())
        if field == "build-depends" and said.strip():
            scope = DependencyScope.DEV if stanza in ("test-suite", "benchmark") else DependencyScope.RUN
            found += _cabal_packages(path, number, said, scope)
        elif field == "main-is" and commands and stanza == "executable" and said.strip():
            commands[-1] = replace(commands[-1], target=said.strip())
    return Manifest(path, tuple(names), tuple(found), tuple(commands))


def _cabal_packages(path: str, line: int, said: str, scope: DependencyScope) -> Iterator[Dependency]:
    for part in re.split(r",(?![^{]*\})", said):
        if match := _CABAL_PACKAGE.fullmatch(part):
            yield Dependency("hackage", match[1], match[2].strip() or None, path, line, scope)


def read_hpack(path: str, text: str) -> Manifest:
    """Haskell's package.yaml."""
    found, names = [], []
    commands: dict[str, EntryPoint] = {}
    for keys, value, line in yaml_pairs(text):
        if keys == ("name",):
            names.append(value)
        elif keys and keys[-1] == "dependencies" and (match := _CABAL_PACKAGE.fullmatch(value)):
            scope = DependencyScope.DEV if keys[0] in ("tests", "benchmarks") else DependencyScope.RUN
            found.append(Dependency("hackage", match[1], match[2].strip() or None, path, line, scope))
        elif keys[:1] == ("executables",) and keys[2:] == ("main",):
            commands[keys[1]] = EntryPoint(keys[1], EntryKind.COMMAND, path, line, value)
    return Manifest(path, tuple(names), tuple(found), tuple(commands.values()))


def read_rockspec(path: str, text: str) -> Manifest:
    """Lua's: `dependencies`, and the commands it installs."""
    found, commands, names = [], [], []
    for literal in read_literals(text, "lua"):
        under = literal.under
        if under[:1] in (("dependencies",), ("build_dependencies",), ("test_dependencies",)):
            if match := _LUA_DEPENDENCY.fullmatch(literal.text):
                scope = DependencyScope.RUN if under[0] == "dependencies" else DependencyScope.DEV
                found.append(Dependency("luarocks", match[1], match[2] or None, path, literal.line, scope))
        elif "bin" in under and "install" in under and literal.before.rstrip().endswith("="):
            name = literal.text.rpartition("/")[2]
            commands.append(EntryPoint(name, EntryKind.COMMAND, path, literal.line, literal.text))
        elif under == ("package",):
            names.append(literal.text)
    return Manifest(path, tuple(names), tuple(found), tuple(commands))


def read_zon(path: str, text: str) -> Manifest:
    """Zig's build.zig.zon: each dependency has a URL or a path."""
    found = {
        literal.under[-2]: Dependency("zig", literal.under[-2], None, path, literal.line)
        for literal in reversed(read_literals(text, "zig"))
        if len(literal.under) > 2 and literal.under[-3] == "dependencies" and literal.under[-1] in ("url", "path")
    }
    return Manifest(path, (), tuple(reversed(found.values())))


def read_build_zig(path: str, text: str) -> Manifest:
    """Zig's build.zig: the executables that it builds."""
    commands = [
        EntryPoint(literal.text, EntryKind.COMMAND, path, literal.line)
        for literal in read_literals(text, "zig")
        if literal.under[-2:] == ("addExecutable", "name")
    ]
    return Manifest(path, (), (), tuple(commands))


def read_cmake(path: str, text: str) -> Manifest:
    """CMakeLists.txt: no grammar of it is at hand; commands that begin a line are read."""
    found, commands, names = [], [], []
    for match in _CMAKE.finditer(text):
        command, name, version = match[1].lower(), match[2], match[3]
        line = text.count("\n", 0, match.start(1)) + 1
        if command == "add_executable" and "$" not in name and not _OF_TESTS.search(name):
            commands.append(EntryPoint(name, EntryKind.COMMAND, path, line))
        elif command == "project":
            names.append(name)
        elif command in ("find_package", "fetchcontent_declare", "cpmaddpackage"):
            is_version = re.fullmatch(r"\d[\w.]*", version)
            found.append(Dependency("cmake", name, version if is_version else None, path, line))
    return Manifest(path, tuple(names), tuple(found), tuple(commands))


def read_meson(path: str, text: str) -> Manifest:
    """meson.build: what it asks for by name and the executables that it builds."""
    found, commands, names = [], [], []
    for match in _MESON.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match[1] == "dependency":
            found.append(Dependency("cmake", match[2], None, path, line))
        elif match[1] == "executable":
            commands.append(EntryPoint(match[2], EntryKind.COMMAND, path, line))
        else:
            names.append(match[2])
    return Manifest(path, tuple(names), tuple(found), tuple(commands))
