"""Which files, and which packages outside, a file imports."""

from collections.abc import Iterator

from codesum_pipeline.graph.facts import FileScopes
from codesum_pipeline.graph.module_paths import Absent, ModulePath
from codesum_pipeline.graph.resolver import Resolver


def imported(resolver: Resolver, file: FileScopes) -> Iterator[tuple[str, bool]]:
    """For each imported name the file it comes from, or the package outside and True.

    Nothing for a name whose place cannot be told.
    """
    for module, level, name in file.imports:
        target = _target(resolver, file, module, level, name)
        if target is Absent.EXTERNAL and module != "__future__":
            yield module.partition(".")[0], True
        elif isinstance(target, ModulePath) and target.file is not None and target.file != file.path:
            yield target.file, False


def _target(resolver: Resolver, file: FileScopes, module: str, level: int, name: str | None) -> ModulePath | Absent:
    paths = resolver.paths
    found = paths.relative(file.path, level, module) if level else paths.absolute(file.path, module)
    if name is None or name == "*" or found is Absent.MISSING:
        return found
    if not isinstance(found, ModulePath):
        # A folder without `__init__` is no module by itself, but what is in it may be.
        return paths.absolute(file.path, f"{module}.{name}")
    bound_in = resolver.files.get(found.file) if found.file is not None else None
    if bound_in is not None and name in bound_in.top.names and bound_in is not file:
        return found
    return paths.child(found, name) or found
