"""Which files are manifests, and which reader each has."""

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase

from codesum_pipeline.overviews.manifests import (
    containers,
    dotnet,
    go,
    javascript,
    jvm,
    others,
    python,
    ruby,
    rust,
)
from codesum_pipeline.overviews.manifests.manifest import Manifest

Reader = Callable[[str, str], Manifest]

# Beyond it a manifest was written by no person.
LARGEST_CHARS = 400_000

# By name, `*` for anything; the first that fits.
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
    ("cargo.toml", rust.read_cargo),
    ("go.mod", go.read_go_mod),
    ("pom.xml", jvm.read_pom),
    ("*.gradle", jvm.read_gradle),
    ("*.gradle.kts", jvm.read_gradle_kts),
    ("*.versions.toml", jvm.read_version_catalogue),
    ("*.sbt", jvm.read_sbt),
    ("build.sc", jvm.read_sbt),
    ("build.mill", jvm.read_sbt),
    ("*.csproj", dotnet.read_project),
    ("*.fsproj", dotnet.read_project),
    ("*.vbproj", dotnet.read_project),
    ("directory.build.props", dotnet.read_project),
    ("directory.packages.props", dotnet.read_project),
    ("packages.config", dotnet.read_project),
    ("gemfile", ruby.read_gems),
    ("*.gemspec", ruby.read_gems),
    ("mix.exs", others.read_mix),
    ("package.swift", others.read_swift_package),
    ("*.cabal", others.read_cabal),
    ("package.yaml", others.read_hpack),
    ("*.rockspec", others.read_rockspec),
    ("build.zig.zon", others.read_zon),
    ("build.zig", others.read_build_zig),
    ("cmakelists.txt", others.read_cmake),
    ("meson.build", others.read_meson),
    ("dockerfile*", containers.read_dockerfile),
    ("*.dockerfile", containers.read_dockerfile),
    ("containerfile", containers.read_dockerfile),
    ("docker-compose*.y*ml", containers.read_compose),
    ("compose*.y*ml", containers.read_compose),
)
# Folders whose files are requirements, whatever they are called.
_FOLDERS: Mapping[str, Reader] = {"requirements": python.read_requirements}
# Scala's dependencies may stand in the sources of the build.
_BUILD_SOURCES = "project/*.scala"


def reader_of(path: str) -> Reader | None:
    """The reader of a manifest; None for a file that is none."""
    folder, _, name = path.lower().rpartition("/")
    for pattern, reader in _READERS:
        if fnmatchcase(name, pattern):
            return reader
    if fnmatchcase(path, _BUILD_SOURCES):
        return jvm.read_sbt
    return _FOLDERS.get(folder.rpartition("/")[2]) if name.endswith((".txt", ".in")) else None


def manifest_paths(paths: Iterable[str]) -> list[str]:
    """The manifests among some files, those nearest the root first."""
    return sorted((path for path in paths if reader_of(path)), key=lambda path: (path.count("/"), path))
