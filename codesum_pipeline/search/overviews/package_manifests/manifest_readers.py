"""The readers of manifests, by the names of files; and those of manifests that are programs, or have a format of their
own. These are never run, nor parsed: patterns find what their authors usually write."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase, translate

from msgspec.structs import replace

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.search.overviews.package_manifests import structured
from codesum_pipeline.search.overviews.package_manifests.manifest import (
    DEV,
    RUN,
    Dependency,
    DependencyScope,
    EntryKind,
    EntryPoint,
    Fact,
    Manifest,
    read_haskell_package,
    read_image,
    read_requirement,
    short_lines,
)

Reader = Callable[[str, str], Iterable[Fact]]

# No person writes a longer manifest.
_LARGEST_CHARS = 400_000
_DEV_FILE = re.compile(r"(?:dev|test|lint|docs?|ci|typing)", re.IGNORECASE)
_QUOTED = re.compile(r"['\"]([^'\"]*)['\"]")
_STRING = r"""(?:"[^"\n]*+"|'[^'\n]*+')"""
_VALUE = re.compile(rf"({_STRING})(?P<is_key>\s*+\]?\s*+[=:])?")


def _without_comments(text: str, mark: str) -> str:
    """The text without comments and overlong lines; all others stay in their places."""
    lines = dict(short_lines(re.sub(rf"(?m)(?:^|(?<=\s)){mark}[^\n]*+", "", text) if mark else text))
    return "\n".join(lines.get(number, "") for number in range(1, text.count("\n") + 2))


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _program_reader(ecosystem: str, patterns: Sequence[str], comment: str = "") -> Reader:
    """A reader that finds what `program_patterns.toml` says."""
    compiled = [re.compile(pattern, re.MULTILINE) for pattern in patterns]

    def read(path: str, text: str) -> Iterator[Fact]:
        shown, is_dev = _without_comments(text, comment), False
        matches = (match for pattern in compiled for match in pattern.finditer(shown))
        for match in sorted(matches, key=lambda found: found.start()):
            groups = {name: value for name, value in match.groupdict().items() if value is not None}
            is_dev = "begins" in groups or (is_dev and "ends" not in groups)
            for name in groups.keys() & {*DependencyScope}:
                scope = DEV if is_dev or "test" in groups else DependencyScope(name)
                version = groups.get("version", "")
                constraint = ", ".join(_QUOTED.findall(version)) or version.strip()
                found = Dependency(ecosystem, groups[name], constraint or None, _line(shown, match.start(name)), scope)
                if "organisation" in groups:
                    found = replace(found, ecosystem="maven", name=f"{groups['organisation']}:{found.name}")
                yield found
            for kind in groups.keys() & {EntryKind.COMMAND, EntryKind.APPLICATION}:
                yield EntryPoint(groups[kind], EntryKind(kind), path, _line(shown, match.start(kind)))
            if "own" in groups:
                yield groups["own"]

    return read


def _texts_in(text: str, names: str, comment: str) -> Iterator[tuple[str, int, str]]:
    """Each quoted text in a list or a table of one of some `names`: the name, the line, and the text; no keys."""
    shown = _without_comments(text, comment)
    bracketed = "|".join(rf"\{one}(?:[^\"'\{one}\{other}]|{_STRING})*+\{other}" for one, other in ("[]", "()", "{}"))
    pattern = rf"\b(?P<name>{names})['\"]?\s*+[=:]\s*+(?P<values>{bracketed})"
    for found in re.finditer(pattern, shown):
        for each in _VALUE.finditer(shown, *found.span("values")):
            if not each["is_key"]:
                yield found["name"], _line(shown, each.start()), each[1][1:-1]


_SETUP_NAME = re.compile(r"(?:^[ \t]*+|\bsetup\([ \t]*+)name[ \t]*+=[ \t]*+['\"]([\w.-]++)['\"]", re.MULTILINE)


def _read_setup_py(path: str, text: str) -> Iterator[Fact]:
    """The lists that are given to `setup(...)`."""
    names = "install_requires|setup_requires|tests_require|extras_require|console_scripts"
    for kind, line, said in _texts_in(text, names, "#"):
        if kind == "console_scripts":
            name, _, target = (part.strip() for part in said.partition("="))
            yield EntryPoint(name, EntryKind.COMMAND, path, line, target)
        else:
            yield from read_requirement(line, said, RUN if kind == "install_requires" else DEV)
    yield from _SETUP_NAME.findall(text)[:1]


def _read_requirements(path: str, text: str) -> Iterator[Fact]:
    """A requirements file: one requirement a line; options, URLs and other files are ignored."""
    scope = DEV if _DEV_FILE.search(path) else RUN
    for number, line in short_lines(text):
        yield from read_requirement(number, re.sub(r"(?<!\s)\s++(?:--hash=|#).*|\\$", "", line), scope)


_LUA_DEPENDENCY = re.compile(r"([\w.-]+(?:/[\w.-]+)?)\s*(.*)")
_LUA_NAME = re.compile(r"^package\s*=\s*['\"]([^'\"\n]++)", re.MULTILINE)


def _read_rockspec(path: str, text: str) -> Iterator[Fact]:
    """Lua's: `dependencies`, and the commands it installs."""
    for kind, line, said in _texts_in(text, "(?:build_|test_)?dependencies|bin", "--"):
        if kind == "bin":
            yield EntryPoint(said.rpartition("/")[2], EntryKind.COMMAND, path, line, said)
        elif match := _LUA_DEPENDENCY.fullmatch(said):
            yield Dependency("luarocks", match[1], match[2] or None, line, RUN if kind == "dependencies" else DEV)
    yield from _LUA_NAME.findall(text)


_CABAL_FIELD = re.compile(r"(\s*)([\w-]+)\s*:(.*)")
_CABAL_STANZA = re.compile(r"\s*(executable|test-suite|benchmark|library|foreign-library|common|flag)\b\s*(\S*)\s*$")


def _read_cabal(path: str, text: str) -> Iterator[Fact]:
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


_FROM = re.compile(r"FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)
_START = re.compile(r"(?:CMD|ENTRYPOINT)\s+(.+)", re.IGNORECASE)


def _read_dockerfile(path: str, text: str) -> Iterator[Fact]:
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


_PROGRAMS = {name: _program_reader(**table) for name, table in packaged_table(__package__, "program_patterns").items()}
# By patterns of file names; the first that matches decides.
_READERS: dict[str, Reader] = {
    "pyproject.toml": structured.read_pyproject,
    "setup.cfg": structured.read_setup_cfg,
    "setup.py": _read_setup_py,
    "pipfile": structured.read_pipfile,
    **dict.fromkeys(("requirements*.txt", "requirements*.in", "*-requirements.txt"), _read_requirements),
    "package.json": structured.read_package_json,
    "composer.json": structured.read_composer_json,
    "cargo.toml": structured.read_cargo,
    "pom.xml": structured.read_pom,
    **dict.fromkeys(("*.csproj", "*.fsproj", "*.vbproj", "packages.config"), structured.read_dotnet),
    **dict.fromkeys(("directory.build.props", "directory.packages.props"), structured.read_dotnet),
    "*.cabal": _read_cabal,
    "package.yaml": structured.read_hpack,
    "*.rockspec": _read_rockspec,
    **dict.fromkeys(("dockerfile*", "*.dockerfile", "containerfile"), _read_dockerfile),
    **dict.fromkeys(("docker-compose*.y*ml", "compose*.y*ml"), structured.read_compose),
    **_PROGRAMS,
    **dict.fromkeys(("build.sc", "build.mill"), _PROGRAMS["*.sbt"]),
    "*.gemspec": _PROGRAMS["gemfile"],
}
# Tried first, since most files are no manifests.
_ANY = re.compile("|".join(map(translate, _READERS)))
# Scala's dependencies may be in the sources of the build.
_BUILD_SOURCES = "project/*.scala"


def _reader_of(path: str) -> Reader | None:
    folder, _, name = path.lower().rpartition("/")
    if _ANY.match(name):
        return next(reader for pattern, reader in _READERS.items() if fnmatchcase(name, pattern))
    if name.endswith(".scala") and fnmatchcase(path, _BUILD_SOURCES):
        return _PROGRAMS["*.sbt"]
    # The text files of such a folder are requirements, whatever their names.
    is_required = folder.rpartition("/")[2] == "requirements" and name.endswith((".txt", ".in"))
    return _read_requirements if is_required else None


def manifest_paths(paths: Iterable[str]) -> list[str]:
    """The manifests among some files, those nearest the root first."""
    return sorted((path for path in paths if _reader_of(path)), key=lambda path: (path.count("/"), path))


def read_manifest(path: str, text: str) -> Manifest | None:
    """A manifest; None for another file, and for a text that is too long. Raises `MalformedManifest`."""
    reader = _reader_of(path)
    if reader is None or len(text) > _LARGEST_CHARS:
        return None
    facts = [*reader(path, text)]
    return Manifest(
        path,
        tuple(fact for fact in facts if isinstance(fact, str)),
        tuple(fact for fact in facts if isinstance(fact, Dependency)),
        tuple(fact for fact in facts if isinstance(fact, EntryPoint)),
    )
