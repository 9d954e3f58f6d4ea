"""What a file re-exports, and whether that is all that it does."""

from collections.abc import Iterable, Sequence

from codesum_pipeline.foundation.data_model.symbol import Import, Reexport
from codesum_pipeline.languages.declarations.hook_values import ImportSyntax

_ALL = "*"


def reexports_of(
    handed_on: Iterable[ImportSyntax], imports: Sequence[Import], exports: Iterable[str]
) -> tuple[Reexport, ...]:
    """A file's re-exports, in source order: names that other files define and that are found here, too.

    A file says so by a statement of its language (`export … from`, `pub use`, an export list), or by listing the name
    of an import among what it exports: names, or `a as b`.
    """
    bound = {name: found for found in imports if found.scope_id is None and (name := _bound_name(found))}
    found = [*(_stated(statement, bound) for statement in handed_on), *(_listed(name, bound) for name in exports)]
    return tuple(dict.fromkeys(one for one in found if one is not None))


def are_all(
    reexports: Sequence[Reexport], *, symbols: int, globals_: Iterable[str], exports: Sequence[str] | None
) -> bool:
    """Whether a file only re-exports and defines nothing itself, but for names such as `__version__`."""
    names = {one.name for one in reexports}
    own = {name for name in globals_ if not (name.startswith("__") and name.endswith("__"))} - names
    listed = {name.rpartition(" as ")[2] for name in exports or ()}
    return bool(reexports) and not symbols and not own and (_ALL in names or listed <= names | {"default"})


def _bound_name(imported: Import) -> str:
    """What an import is called in its file; empty if it binds nothing that could be listed."""
    return imported.alias or ("" if imported.name in (None, _ALL) else imported.name or "")


def _stated(statement: ImportSyntax, bound: dict[str, Import]) -> Reexport | None:
    if statement.module:
        called = bound.get(statement.module)
        is_alias = statement.name == _ALL and called is not None and called.name in (None, _ALL)
        source = called.module if called is not None and is_alias else statement.module
        name = statement.alias or statement.name or source.rpartition("::")[2].rpartition("/")[2]
        return Reexport(name, statement.name, source) if name else None
    first, _, inner = (statement.name or "").partition(".")
    found = bound.get(first)
    if found is None:
        return None
    module = f"{found.module}.{found.name}" if found.name and inner else found.module
    return Reexport(statement.alias or first, inner or found.name, module)


def _listed(export: str, bound: dict[str, Import]) -> Reexport | None:
    inner, _, outer = export.partition(" as ")
    found = bound.get(inner)
    return None if found is None else Reexport(outer or inner, found.name, found.module)
