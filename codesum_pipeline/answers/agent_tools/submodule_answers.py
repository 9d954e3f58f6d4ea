"""Submodules in answers: which are not in the index of the repository around them, what leads into these, and which a
token does not open."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from codesum_pipeline.foundation.data_model.errors import CodesumError, NotIndexedFile
from codesum_pipeline.foundation.data_model.file import Submodule
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, shorten_text, some_of
from codesum_pipeline.foundation.data_model.repository import ReadableScope, RepositoryEntry
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.source.files.origins import is_below
from codesum_pipeline.source.git.locations import address_of, key_base, slug_of

_NAMED = 5
_PARTS = re.compile(r"[/.:\\]+")
_OF_C = (".c", ".cc", ".cpp", ".cxx", ".cu", ".h", ".hh", ".hpp", ".hxx", ".inl", ".m", ".mm")


def read_submodules(layout: HomeLayout, key: str, *, hidden: Collection[str] = ()) -> list[Submodule]:
    """The submodules of a repository's last build, without those below some folders; none where its table cannot be
    read."""
    # Importing takes a third of a second, for which answers about others do not wait.
    from codesum_pipeline.foundation.store.tables import tables_of

    try:
        found = tables_of(layout).read_rows_or_empty("submodules", key, Submodule)
    except CodesumError:
        return []
    return [each for each in found if not is_below(each.path, hidden)]


def told_left_out(key: str, submodules: Sequence[Submodule]) -> str | None:
    """Which of them are not in the index, and what brings them in; None if all are."""
    names = [one_line(each.path) for each in submodules if not each.is_indexed]
    if not names:
        return None
    are, failed = "is" if len(names) == 1 else "are", any(each.problem for each in submodules)
    way = f"`codesum status {key}` says why" if failed else f"`codesum index {key} --submodules` sets submodules = true"
    return f"{count_noun(len(names), 'submodule')} {are} not indexed: {some_of(names, _NAMED)} ({way})"


def check_submodule(
    layout: HomeLayout, keys: Sequence[str], text: str, *, hidden_in: Callable[[str], Collection[str]]
) -> None:
    """Raise `NotIndexedFile` for a text that names a file or folder of a submodule that is not in the index;
    `hidden_in` are the folders of a repository that the caller may not read."""
    path = text.partition(SEPARATOR)[0].partition(":")[0].removeprefix("./").rstrip("/")
    for key in dict.fromkeys(keys):
        for each in read_submodules(layout, key, hidden=hidden_in(key)) if path else ():
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


def closed_folders(
    submodules: Collection[tuple[str, str]], scope: ReadableScope, registered: Mapping[str, RepositoryEntry]
) -> tuple[str, ...]:
    """The submodules, by folder and address, that a token does not name: its holder reads the repository without them.

    One that is registered as a whole is named as that is, however its address is written here; a registered key names
    no other repository.
    """
    whole: dict[str, list[RepositoryEntry]] = defaultdict(list)
    for entry in registered.values() if submodules else ():
        if not entry.subdir and (place := address_of(entry.location)):
            whole[place].append(entry)

    def opens(path: str, address: str) -> bool:
        key = key_base(address or path)
        unknown = RepositoryEntry("" if key in registered else key, address or "/")
        same = whole.get(address_of(unknown.location) or "", [unknown])
        return any(scope.opens(entry.key, slug_of(entry.location)) for entry in same)

    return tuple(dict.fromkeys(path for path, address in submodules if not opens(path, address)))
