"""Submodules in answers: which are not in the index of the repository around them, what leads into these, and which may
not be read by the holder of a token."""

import re
from collections.abc import Callable, Sequence

from codesum_pipeline.foundation.data_model.errors import CodesumError, NotIndexedFile
from codesum_pipeline.foundation.data_model.file import Submodule
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, shorten_text, some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry, RepositoryScope
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.source.git.locations import key_base, slug_of

_NAMED = 5
_PARTS = re.compile(r"[/.:\\]+")
_OF_C = (".c", ".cc", ".cpp", ".cxx", ".cu", ".h", ".hh", ".hpp", ".hxx", ".inl", ".m", ".mm")


def read_submodules(layout: HomeLayout, key: str) -> list[Submodule]:
    """The submodules of a repository's last build; none where its table cannot be read."""
    # Importing takes a third of a second, for which answers about others do not wait.
    from codesum_pipeline.foundation.store.tables import tables_of

    try:
        return tables_of(layout).read_rows_or_empty("submodules", key, Submodule)
    except CodesumError:
        return []


def told_left_out(key: str, submodules: Sequence[Submodule]) -> str | None:
    """Which of them are not in the index, and what brings them in; None if all are."""
    names = [one_line(each.path) for each in submodules if not each.is_indexed]
    if not names:
        return None
    are, failed = "is" if len(names) == 1 else "are", any(each.problem for each in submodules)
    way = f"`codesum status {key}` says why" if failed else f"`codesum index {key} --submodules` sets submodules = true"
    return f"{count_noun(len(names), 'submodule')} {are} not indexed: {some_of(names, _NAMED)} ({way})"


def check_submodule(layout: HomeLayout, keys: Sequence[str], text: str) -> None:
    """Raise `NotIndexedFile` for a text that names a file or folder of a submodule that is not in the index."""
    path = text.partition(SEPARATOR)[0].partition(":")[0].removeprefix("./").rstrip("/")
    for key in dict.fromkeys(keys):
        for each in read_submodules(layout, key) if path else ():
            if not each.is_indexed and f"{path}/".startswith(f"{each.path}/"):
                why = each.problem or f"`codesum index {key} --submodules` sets submodules = true"
                raise NotIndexedFile(
                    f"skipped: {shorten_text(one_line(path))} is in the submodule {one_line(each.path)} of {key}, "
                    f"which is not indexed: {one_line(why)}"
                )


def with_submodule(
    name: str, submodules: Sequence[Submodule], *, importer: str, has_folder: Callable[[str], bool]
) -> str:
    """An external name as the code writes it, and the submodule that it leads into, if it is certain enough that it
    does and that is not indexed. `importer` is the file that has the name."""
    for each in submodules:
        if not each.is_indexed and _leads_into(name, each.path, importer, has_folder):
            return f"{name} (in the submodule {one_line(each.path)}, which is not indexed)"
    return name


def _leads_into(name: str, path: str, importer: str, has_folder: Callable[[str], bool]) -> bool:
    parts = [part for part in _PARTS.split(name) if part]
    wanted = path.split("/")
    if len(wanted) > 1 and any(parts[at : at + len(wanted)] == wanted for at in range(len(parts))):
        return True
    if parts[:1] == wanted:
        return True
    if importer.endswith(_OF_C) and "/" in name and parts[:1] == wanted[-1:]:
        return True
    # A folder that holds nothing but submodules, of which an import keeps the first name.
    return len(parts) == 1 and parts == wanted[:1] and not has_folder(parts[0])


def hidden_folders(layout: HomeLayout, entry: RepositoryEntry, scope: RepositoryScope | None) -> tuple[str, ...]:
    """The submodules in an index that a token does not name: its holder reads the repository without them."""
    if scope is None or scope.is_everything or not entry.submodules:
        return ()
    return tuple(
        each.path
        for each in read_submodules(layout, entry.key)
        if each.is_indexed and not scope.opens(key_base(each.address or each.path), slug_of(each.address or "/"))
    )
