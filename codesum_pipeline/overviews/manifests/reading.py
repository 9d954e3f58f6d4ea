"""The readers of manifests, by the names of files."""

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase, translate

from codesum_pipeline.overviews.manifests import javascript, jvm, others, python
from codesum_pipeline.overviews.manifests.manifest import Manifest

Reader = Callable[[str, str], Manifest]

# No person writes a longer manifest.
LARGEST_CHARS = 400_000

# By patterns of file names; the first that matches decides.
_READERS: tuple[tuple[str, Reader], ...] = (
    ("pyproject.toml", python.read_pyproject),
    ("setup.cfg", python.read_setup_cfg),
    ("setup.py", python.read_setup_py),
    ("pipfile", python.read_pipfile),
    ("requirements*.txt", python.read_requirements),
    ("requirements*.in", python.read_requirements),
    ("*-requirements.txt", python.read_requirements),
    ("package.json", javascript.read_package_json),
    ("composer.json", javascript.read_composer_json),
    ("cargo.toml", others.read_cargo),
    ("go.mod", others.read_go_mod),
    ("pom.xml", jvm.read_pom),
    ("*.gradle", jvm.read_gradle),
    ("*.gradle.kts", jvm.read_gradle_kts),
    ("*.versions.toml", jvm.read_version_catalogue),
    ("*.sbt", jvm.read_sbt),
    ("build.sc", jvm.read_sbt),
    ("build.mill", jvm.read_sbt),
    ("*.csproj", others.read_dotnet),
    ("*.fsproj", others.read_dotnet),
    ("*.vbproj", others.read_dotnet),
    ("directory.build.props", others.read_dotnet),
    ("directory.packages.props", others.read_dotnet),
    ("packages.config", others.read_dotnet),
    ("gemfile", others.read_gems),
    ("*.gemspec", others.read_gems),
    ("mix.exs", others.read_mix),
    ("package.swift", others.read_swift_package),
    ("*.cabal", others.read_cabal),
    ("package.yaml", others.read_hpack),
    ("*.rockspec", others.read_rockspec),
    ("build.zig.zon", others.read_zon),
    ("build.zig", others.read_build_zig),
    ("cmakelists.txt", others.read_cmake),
    ("meson.build", others.read_meson),
    ("dockerfile*", others.read_dockerfile),
    ("*.dockerfile", others.read_dockerfile),
    ("containerfile", others.read_dockerfile),
    ("docker-compose*.y*ml", others.read_compose),
    ("compose*.y*ml", others.read_compose),
)
# Tried first, since most files are no manifests.
_ANY = re.compile("|".join(translate(pattern) for pattern, _ in _READERS))
# Folders whose text files are requirements, whatever their names.
_FOLDERS: Mapping[str, Reader] = {"requirements": python.read_requirements}
# Scala's dependencies may stand in the sources of the build.
_BUILD_SOURCES = "project/*.scala"


def reader_of(path: str) -> Reader | None:
    """The reader of a manifest; None for another file."""
    folder, _, name = path.lower().rpartition("/")
    if _ANY.match(name):
        return next(reader for pattern, reader in _READERS if fnmatchcase(name, pattern))
    if name.endswith(".scala") and fnmatchcase(path, _BUILD_SOURCES):
        return jvm.read_sbt
    return _FOLDERS.get(folder.rpartition("/")[2]) if name.endswith((".txt", ".in")) else None


def manifest_paths(paths: Iterable[str]) -> list[str]:
    """The manifests among some files, those nearest the root first."""
    return sorted((path for path in paths if reader_of(path)), key=lambda path: (path.count("/"), path))
