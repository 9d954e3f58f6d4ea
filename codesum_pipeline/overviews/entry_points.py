"""Where execution begins, or a reader of a library: commands, main functions, scripts, containers."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from codesum_pipeline.overviews.manifests.manifest import EntryKind, EntryPoint
from codesum_pipeline.overviews.sources import MAIN_GUARD, OverviewSources

_KINDS = tuple(EntryKind)
# By what every tool of a language starts, without a manifest's word.
_CONVENTIONS = {
    "src/lib.rs": EntryKind.LIBRARY,
    "src/root.zig": EntryKind.LIBRARY,
    "public/index.php": EntryKind.APPLICATION,
    "config.ru": EntryKind.APPLICATION,
    "manage.py": EntryKind.COMMAND,
    "artisan": EntryKind.COMMAND,
}
_SCRIPT_FOLDERS = frozenset({"bin", "exe", "script", "scripts", "sbin", "libexec", "tools"})


def find_entry_points(sources: OverviewSources) -> list[EntryPoint]:
    """All that are found, commands first; each place once, under what says most of it."""
    found = [*_declared(sources), *_mains(sources), *_conventional(sources), *_scripts(sources)]
    by_place: dict[tuple[str, int], EntryPoint] = {}
    started = {entry.path for entry in found if entry.kind is EntryKind.MAIN or entry.line > 1}
    for entry in found:
        # An executable file whose own line says where it begins.
        if entry.kind is not EntryKind.SCRIPT or entry.line > 1 or entry.path not in started:
            by_place.setdefault((entry.path, entry.line), entry)
    return sorted(by_place.values(), key=_order)


def _order(entry: EntryPoint) -> tuple[int, int, str, int]:
    return _KINDS.index(entry.kind), entry.path.count("/"), entry.path, entry.line


def _declared(sources: OverviewSources) -> Iterator[EntryPoint]:
    for manifest in sources.manifests:
        yield from manifest.entry_points


def _mains(sources: OverviewSources) -> Iterator[EntryPoint]:
    """A `main` by where it stands: of Go the folder names the program, elsewhere the file does."""
    for main in sources.mains:
        if main.path in sources.beside:
            continue
        path = PurePosixPath(main.path)
        is_named_by_folder = path.stem in ("main", "__main__", "Main", "Program", "mod", "index")
        folder = path.parent.name if path.parent.name not in ("src", "") else ""
        name = folder if is_named_by_folder and folder else path.name
        kind = EntryKind.SCRIPT if main.name == MAIN_GUARD else EntryKind.MAIN
        yield EntryPoint(name, kind, main.path, main.line)


def _conventional(sources: OverviewSources) -> Iterator[EntryPoint]:
    for path in sources.paths:
        for ending, kind in _CONVENTIONS.items():
            if path not in sources.beside and (path == ending or path.endswith(f"/{ending}")):
                name = path.removesuffix(ending).rstrip("/").rpartition("/")[2] or ending
                yield EntryPoint(name, kind, path, 1)


def _scripts(sources: OverviewSources) -> Iterator[EntryPoint]:
    """Executable files in the root or in a folder for them."""
    for path in sources.paths:
        folder, _, name = path.rpartition("/")
        is_place = not name.startswith(".") and (not folder or folder.rpartition("/")[2] in _SCRIPT_FOLDERS)
        if path in sources.executable and path not in sources.beside and is_place:
            yield EntryPoint(name, EntryKind.SCRIPT, path, 1)
