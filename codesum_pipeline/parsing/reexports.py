"""What a file hands on: names that others define and that are found here too.

A file says so in three ways: by a statement of its language (`export … from`,
`pub use`, an export list), by listing the name of an import among what it
exports, or, as a package's `__init__.py` does, by importing it.
"""

from collections.abc import Iterable, Sequence

from codesum_pipeline.languages.declaration import ImportSyntax
from codesum_pipeline.model.symbols import Import, Reexport

ALL = "*"


def read_reexports(
    handed_on: Iterable[ImportSyntax], imports: Sequence[Import], exports: Iterable[str]
) -> tuple[Reexport, ...]:
    """Each name once, in source order; `exports` are names, or `a as b`."""
    bound = {name: found for found in imports if found.scope_id is None and (name := _bound_name(found))}
    found = [*(_stated(said, bound) for said in handed_on), *(_listed(name, bound) for name in exports)]
    return tuple(dict.fromkeys(one for one in found if one is not None))


def are_all(
    reexports: Sequence[Reexport], *, symbols: int, globals_: Iterable[str], exports: Sequence[str] | None
) -> bool:
    """Whether a file hands on and defines nothing itself, but for names such as `__version__`."""
    names = {one.name for one in reexports}
    own = {name for name in globals_ if not (name.startswith("__") and name.endswith("__"))} - names
    listed = {name.rpartition(" as ")[2] for name in exports or ()}
    return bool(reexports) and not symbols and not own and (ALL in names or listed <= names | {"default"})


def _bound_name(imported: Import) -> str:
    """What an import is called in its file; empty where it binds nothing that could be listed."""
    return imported.alias or ("" if imported.name in (None, ALL) else imported.name or "")


def _stated(said: ImportSyntax, bound: dict[str, Import]) -> Reexport | None:
    if said.module:
        called = bound.get(said.module)
        is_alias = said.name == ALL and called is not None and called.name in (None, ALL)
        source = called.module if called is not None and is_alias else said.module
        name = said.alias or said.name or source.rpartition("::")[2].rpartition("/")[2]
        return Reexport(name, said.name, source) if name else None
    first, _, inner = (said.name or "").partition(".")
    found = bound.get(first)
    if found is None:
        return None
    module = f"{found.module}.{found.name}" if found.name and inner else found.module
    return Reexport(said.alias or first, inner or found.name, module)


def _listed(export: str, bound: dict[str, Import]) -> Reexport | None:
    inner, _, outer = export.partition(" as ")
    found = bound.get(inner)
    return None if found is None else Reexport(outer or inner, found.name, found.module)
