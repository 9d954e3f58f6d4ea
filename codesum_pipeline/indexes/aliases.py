"""The names under which files hand on definitions of others: `pkg.Name`, `crate.Name`, a name after `as`."""

from collections.abc import Iterator

from codesum_pipeline.graph.reexports import ENTRY_STEMS, HandedOn, handed_on, read_imports
from codesum_pipeline.store.tables import TableStore

# Folders that no one says when naming what is in them.
_UNSAID = frozenset({"src", "lib", "source", "sources", "include", "packages", "crates"})
_CRATE_ROOTS = ("lib.rs", "main.rs")
_NAMELESS = frozenset({"default", "*"})


def read_aliases(tables: TableStore, key: str, ids: list[str]) -> list[tuple[str, str]]:
    """(name, id of the document) of all that is handed on, sorted."""
    found = handed_on(tables, key, imports=lambda: read_imports(tables, key), ids=lambda: ids)
    return sorted({(name, one.target) for one in found for name in alias_names(one, key)})


def alias_names(handed: HandedOn, repository: str) -> Iterator[str]:
    """What a person may call it: its name there, and that behind the last one or two parts of the module; the entry at
    the root goes by the name of the repository."""
    if handed.name in _NAMELESS:
        return
    yield handed.name
    folder, _, file_name = handed.path.rpartition("/")
    stem = file_name.partition(".")[0]
    parts = [part for part in folder.split("/") if part and part.lower() not in _UNSAID]
    parts += [] if stem in ENTRY_STEMS else [stem]
    parts = parts or [repository]
    if handed.path.endswith(".rs"):
        parts = [part.replace("-", "_") for part in parts]
    for count in (1, 2):
        if len(parts) >= count:
            yield ".".join([*parts[-count:], handed.name])
    if file_name in _CRATE_ROOTS:
        yield f"crate.{handed.name}"
