"""The readers of manifests, by the names of files."""

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase, translate

from codesum_pipeline.search.overviews.package_manifests import programs, structured
from codesum_pipeline.search.overviews.package_manifests.manifest import Dependency, EntryPoint, Fact, Manifest

Reader = Callable[[str, str], Iterable[Fact]]

# No person writes a longer manifest.
_LARGEST_CHARS = 400_000

# By patterns of file names; the first that matches decides.
_READERS: tuple[tuple[str, Reader], ...] = (
    ("pyproject.toml", structured.read_pyproject),
    ("setup.cfg", structured.read_setup_cfg),
    ("setup.py", programs.read_setup_py),
    ("pipfile", structured.read_pipfile),
    ("requirements*.txt", programs.read_requirements),
    ("requirements*.in", programs.read_requirements),
    ("*-requirements.txt", programs.read_requirements),
    ("package.json", structured.read_package_json),
    ("composer.json", structured.read_composer_json),
    ("cargo.toml", structured.read_cargo),
    ("go.mod", programs.read_go_mod),
    ("pom.xml", structured.read_pom),
    ("*.gradle", programs.read_gradle),
    ("*.gradle.kts", programs.read_gradle_kts),
    ("*.versions.toml", structured.read_version_catalogue),
    ("*.sbt", programs.read_sbt),
    ("build.sc", programs.read_sbt),
    ("build.mill", programs.read_sbt),
    ("*.csproj", structured.read_dotnet),
    ("*.fsproj", structured.read_dotnet),
    ("*.vbproj", structured.read_dotnet),
    ("directory.build.props", structured.read_dotnet),
    ("directory.packages.props", structured.read_dotnet),
    ("packages.config", structured.read_dotnet),
    ("gemfile", programs.read_gems),
    ("*.gemspec", programs.read_gems),
    ("mix.exs", programs.read_mix),
    ("package.swift", programs.read_swift_package),
    ("*.cabal", programs.read_cabal),
    ("package.yaml", structured.read_hpack),
    ("*.rockspec", programs.read_rockspec),
    ("build.zig.zon", programs.read_zon),
    ("build.zig", programs.read_build_zig),
    ("cmakelists.txt", programs.read_cmake),
    ("meson.build", programs.read_meson),
    ("dockerfile*", programs.read_dockerfile),
    ("*.dockerfile", programs.read_dockerfile),
    ("containerfile", programs.read_dockerfile),
    ("docker-compose*.y*ml", structured.read_compose),
    ("compose*.y*ml", structured.read_compose),
)
# Tried first, since most files are no manifests.
_ANY = re.compile("|".join(translate(pattern) for pattern, _ in _READERS))
# Folders whose text files are requirements, whatever their names.
_FOLDERS: Mapping[str, Reader] = {"requirements": programs.read_requirements}
# Scala's dependencies may be in the sources of the build.
_BUILD_SOURCES = "project/*.scala"


def _reader_of(path: str) -> Reader | None:
    folder, _, name = path.lower().rpartition("/")
    if _ANY.match(name):
        return next(reader for pattern, reader in _READERS if fnmatchcase(name, pattern))
    if name.endswith(".scala") and fnmatchcase(path, _BUILD_SOURCES):
        return programs.read_sbt
    return _FOLDERS.get(folder.rpartition("/")[2]) if name.endswith((".txt", ".in")) else None


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
