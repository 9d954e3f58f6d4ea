"""Manifests that are programs or have a format of their own: read by their language's grammar, or line by line."""

import re
from collections.abc import Iterator

from msgspec.structs import replace

from codesum_pipeline.search.overviews.package_manifests.manifest import (
    BUILD,
    DEV,
    RUN,
    Dependency,
    EntryKind,
    EntryPoint,
    Fact,
    Literal,
    read_coordinate,
    read_haskell_package,
    read_image,
    read_literals,
    read_requirement,
    short_lines,
)

_DEV_FILE = re.compile(r"(?:dev|test|lint|docs?|ci|typing)", re.IGNORECASE)


def read_setup_py(path: str, text: str) -> Iterator[Fact]:
    """The literal arguments of `setup(...)`; nothing is run."""
    for literal in read_literals(text, "python"):
        under = literal.under
        if "install_requires" in under or "setup_requires" in under or "tests_require" in under:
            yield from read_requirement(literal.line, literal.text, RUN if "install_requires" in under else DEV)
        elif "extras_require" in under and under[-1] != literal.text:
            yield from read_requirement(literal.line, literal.text, DEV)
        elif "console_scripts" in under and "=" in literal.text:
            name, _, target = (part.strip() for part in literal.text.partition("="))
            yield EntryPoint(name, EntryKind.COMMAND, path, literal.line, target)
        elif under[-2:] == ("setup", "name"):
            yield literal.text


def read_requirements(path: str, text: str) -> Iterator[Fact]:
    """A requirements file: one requirement a line; options, URLs and other files are ignored."""
    scope = DEV if _DEV_FILE.search(path) else RUN
    for number, line in short_lines(text):
        yield from read_requirement(number, re.sub(r"(?<!\s)\s++(?:--hash=|#).*|\\$", "", line), scope)


_MODULE = re.compile(r"module\s+(\S+)")
_REQUIRED = re.compile(r"(?:require\s+)?(\S+)\s+(v\S+)")


def read_go_mod(_path: str, text: str) -> Iterator[Fact]:
    """The module and what it requires itself; what others require (`// indirect`) is left out."""
    block = ""
    for number, line in short_lines(text):
        directive, _, comment = line.partition("//")
        directive = directive.strip()
        if directive.endswith("("):
            block = directive[:-1].strip()
        elif directive == ")":
            block = ""
        elif match := _MODULE.fullmatch(directive):
            yield match[1].strip('"')
        elif (
            (match := _REQUIRED.fullmatch(directive))
            and "indirect" not in comment
            and (block == "require" or directive.startswith("require "))
        ):
            yield Dependency("go", match[1].strip('"'), match[2], number)


_DECLARING = {"gem": RUN, "add_dependency": RUN, "add_runtime_dependency": RUN, "add_development_dependency": DEV}


def read_gems(path: str, text: str) -> Iterator[Fact]:
    """Each `gem "name", "constraint"`, or what a gemspec adds."""
    found: dict[int, Dependency] = {}
    for literal in read_literals(text, "ruby"):
        head = next(reversed(literal.under), "")
        if head in _DECLARING:
            known = found.get(literal.call)
            if known is None:
                scope = DEV if "group" in literal.under else _DECLARING[head]
                found[literal.call] = Dependency("rubygems", literal.text, None, literal.line, scope)
            else:
                constraint = literal.text if known.constraint is None else f"{known.constraint}, {literal.text}"
                found[literal.call] = replace(known, constraint=constraint)
        elif head == "name":
            yield literal.text
        elif head == "executables":
            yield EntryPoint(literal.text, EntryKind.COMMAND, path, literal.line)
    yield from found.values()


# There is no grammar of Groovy here: only these two forms of its files are read.
_GROOVY_DEPENDENCY = re.compile(r"^\s*(\w+)[\s(]+(?:platform\()?['\"]([\w.-]+:[\w.${}-]+(?::[^'\"]+)?)['\"]")
_GROOVY_PLUGIN = re.compile(
    r"^\s*(?:id[\s(]+|apply\s+plugin:\s*)['\"]([\w.-]+)['\"]\)?(?:\s+version[\s(]+['\"]([^'\"]+)['\"])?"
)


def read_gradle(_path: str, text: str) -> Iterator[Fact]:
    """Gradle's in Groovy."""
    for number, line in short_lines(text):
        if match := _GROOVY_DEPENDENCY.match(line):
            yield from read_coordinate(number, match[2], match[1])
        elif match := _GROOVY_PLUGIN.match(line):
            yield Dependency("gradle", match[1], match[2], number, BUILD)


def read_gradle_kts(path: str, text: str) -> Iterator[Fact]:
    """Gradle's in Kotlin."""
    for literal, following in _with_following(read_literals(text, "kotlin")):
        head = next(reversed(literal.under), "")
        if head == "id" or (head == "kotlin" and "plugins" in literal.under):
            is_versioned = following and literal.after.strip(") ").startswith("version")
            name = literal.text if head == "id" else f"org.jetbrains.kotlin.{literal.text}"
            version = following.text if following and is_versioned else None
            yield Dependency("gradle", name, version, literal.line, BUILD)
        elif head == "mainClass" or (head == "set" and "mainClass" in literal.before):
            yield EntryPoint(literal.text, EntryKind.APPLICATION, path, literal.line)
        else:
            yield from read_coordinate(literal.line, literal.text, head)


def _with_following(literals: list[Literal]) -> Iterator[tuple[Literal, Literal | None]]:
    return zip(literals, (*literals[1:], None), strict=False)


_SBT_TEST = re.compile(r"\s*%\s*(?:\w[\w.]*\s*%\s*)?\"?(?:Test|IntegrationTest|test)\b")


def read_sbt(_path: str, text: str) -> Iterator[Fact]:
    """Scala's: `"organisation" %% "name" % "version"`, also of plugins; Mill's `ivy"organisation::name:version"`."""
    chain: list[Literal] = []
    for literal, following in _with_following(read_literals(text, "scala")):
        chain.append(literal)
        if literal.under[-1:] == ("name",):
            yield literal.text
        elif "::" in literal.text:
            yield from read_coordinate(literal.line, literal.text.replace(":::", ":").replace("::", ":"), "")
        if following and literal.after.strip() in ("%", "%%", "%%%"):
            continue
        # Organisation, name and, unless a value replaces it, the version.
        if len(chain) > 1:
            version = chain[2].text if len(chain) > 2 and chain[2].text.lower() != "test" else None
            is_test = _SBT_TEST.match(literal.after) or literal.text.lower() == "test"
            name = f"{chain[0].text}:{chain[1].text}"
            yield Dependency("maven", name, version, chain[0].line, DEV if is_test else RUN)
        chain = []


def read_mix(path: str, text: str) -> Iterator[Fact]:
    """Elixir's mix.exs: tuples of an atom and a constraint below `deps`."""
    literals = read_literals(text, "elixir")
    for number, (literal, following) in enumerate(_with_following(literals)):
        if literal.before.rstrip().endswith("{") and literal.after.lstrip().startswith(",") and literal.text.islower():
            is_constraint = following and following.call == literal.call and not following.before.strip(", ")
            constraint = following.text if following and is_constraint else None
            dev = any("only" in each.under for each in literals[number + 1 : number + 4] if each.line == literal.line)
            yield Dependency("hex", literal.text, constraint, literal.line, DEV if dev else RUN)
        if literal.under[-1:] == ("app:",) or literal.before.endswith("app: "):
            yield literal.text
    for match in re.finditer(r"mod:\s*\{\s*([\w.]+)", text):
        yield EntryPoint(match[1], EntryKind.APPLICATION, path, _line(text, match.start()))


def read_swift_package(path: str, text: str) -> Iterator[Fact]:
    """Package.swift: packages by URL, executable targets and products."""
    commands: dict[str, EntryPoint] = {}
    for literal, following in _with_following(read_literals(text, "swift")):
        within = literal.under[-2:]
        if within == ("package", "url"):
            constraint = following.text if following and following.line - literal.line < 2 else ""
            name = "/".join(literal.text.rstrip("/").removesuffix(".git").replace(":", "/").split("/")[-2:])
            yield Dependency("swift", name, constraint if re.match(r"\d", constraint) else None, literal.line)
        elif within in (("executableTarget", "name"), ("executable", "name")):
            commands[literal.text] = EntryPoint(literal.text, EntryKind.COMMAND, path, literal.line)
        elif within == ("Package", "name"):
            yield literal.text
    yield from commands.values()


_CABAL_FIELD = re.compile(r"(\s*)([\w-]+)\s*:(.*)")
_CABAL_STANZA = re.compile(r"\s*(executable|test-suite|benchmark|library|foreign-library|common|flag)\b\s*(\S*)\s*$")


def read_cabal(path: str, text: str) -> Iterator[Fact]:
    """Haskell's *.cabal: `build-depends` of each stanza, and executables."""
    commands: list[EntryPoint] = []
    stanza, field, depth = "", "", 0
    for number, line in short_lines(text):
        content = "" if line.lstrip().startswith("--") else line
        if match := _CABAL_STANZA.fullmatch(content):
            stanza, field = match[1], ""
            if stanza == "executable":
                commands.append(EntryPoint(match[2], EntryKind.COMMAND, path, number))
            continue
        if (match := _CABAL_FIELD.fullmatch(content)) and (not field or len(match[1]) <= depth):
            depth, field, content = len(match[1]), match[2].lower(), match[3]
            if field == "name" and not stanza:
                yield content.strip()
        if field == "build-depends" and content.strip():
            for part in re.split(r",(?![^{}]{0,2000}+\})", content):
                yield from read_haskell_package(number, part, DEV if stanza in ("test-suite", "benchmark") else RUN)
        elif field == "main-is" and commands and stanza == "executable" and content.strip():
            commands[-1] = replace(commands[-1], target=content.strip())
    yield from commands


_LUA_DEPENDENCY = re.compile(r"([\w.-]+(?:/[\w.-]+)?)\s*(.*)")


def read_rockspec(path: str, text: str) -> Iterator[Fact]:
    """Lua's: `dependencies`, and the commands it installs."""
    for literal in read_literals(text, "lua"):
        under = literal.under
        if under[:1] in (("dependencies",), ("build_dependencies",), ("test_dependencies",)):
            if match := _LUA_DEPENDENCY.fullmatch(literal.text):
                scope = RUN if under[0] == "dependencies" else DEV
                yield Dependency("luarocks", match[1], match[2] or None, literal.line, scope)
        elif "bin" in under and "install" in under and literal.before.rstrip().endswith("="):
            name = literal.text.rpartition("/")[2]
            yield EntryPoint(name, EntryKind.COMMAND, path, literal.line, literal.text)
        elif under == ("package",):
            yield literal.text


def read_zon(_path: str, text: str) -> Iterator[Fact]:
    """Zig's build.zig.zon: each dependency has a URL or a path."""
    found: dict[str, Dependency] = {}
    for literal in reversed(read_literals(text, "zig")):
        if literal.under[-3:-2] == ("dependencies",) and literal.under[-1] in ("url", "path"):
            found[literal.under[-2]] = Dependency("zig", literal.under[-2], None, literal.line)
    yield from reversed(found.values())


def read_build_zig(path: str, text: str) -> Iterator[Fact]:
    """Zig's build.zig: the executables that it builds."""
    for literal in read_literals(text, "zig"):
        if literal.under[-2:] == ("addExecutable", "name"):
            yield EntryPoint(literal.text, EntryKind.COMMAND, path, literal.line)


_CMAKE = re.compile(
    r"^[ \t]*(find_package|FetchContent_Declare|add_executable|CPMAddPackage|project)"
    r"\s*\(\s*\"?(?:NAME\s+)?(?:gh:)?([\w./+:${}-]+)[ \t]*([\w.]*)",
    re.MULTILINE | re.IGNORECASE,
)
_OF_TESTS = re.compile(r"(?:^|[_-])(?:tests?|bench(?:marks?)?)(?:[_-]|$)", re.IGNORECASE)


def read_cmake(path: str, text: str) -> Iterator[Fact]:
    """CMakeLists.txt: no grammar of it is at hand; commands that begin a line are read."""
    for match in _CMAKE.finditer(text):
        command, name, version = match[1].lower(), match[2], match[3]
        line = _line(text, match.start(1))
        if command == "project":
            yield name
        elif command != "add_executable":
            yield Dependency("cmake", name, version if re.fullmatch(r"\d[\w.]*", version) else None, line)
        elif "$" not in name and not _OF_TESTS.search(name):
            yield EntryPoint(name, EntryKind.COMMAND, path, line)


def read_meson(path: str, text: str) -> Iterator[Fact]:
    """meson.build: what it asks for by name and the executables that it builds."""
    for match in re.finditer(r"\b(dependency|executable|project)\s*\(\s*'([^']+)'", text):
        line = _line(text, match.start())
        if match[1] == "dependency":
            yield Dependency("cmake", match[2], None, line)
        elif match[1] == "executable":
            yield EntryPoint(match[2], EntryKind.COMMAND, path, line)
        else:
            yield match[2]


_FROM = re.compile(r"FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)
_START = re.compile(r"(?:CMD|ENTRYPOINT)\s+(.+)", re.IGNORECASE)


def read_dockerfile(path: str, text: str) -> Iterator[Fact]:
    """The images that it begins with, and what the last stage starts."""
    stages: set[str] = set()
    start: EntryPoint | None = None
    for number, line in short_lines(text):
        instruction = line.strip()
        if match := _FROM.fullmatch(instruction):
            if match[1].lower() not in stages:
                yield from read_image(number, match[1])
            stages.add((match[2] or "").lower())
            start = None
        elif (match := _START.fullmatch(instruction)) and start is None and match[1] != "[]":
            start = EntryPoint(path, EntryKind.CONTAINER, path, number, match[1])
    if start:
        yield start


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
