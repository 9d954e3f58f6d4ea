"""What the resolver must know about a language that is read by a table: calls by a unique name, or not at all."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from codesum_pipeline.foundation.data_model.possible_values import (
    UNKNOWN,
    ClassValue,
    FunctionValue,
    ModuleValue,
    Reason,
    Value,
)
from codesum_pipeline.foundation.data_model.scopes import Key, Scope, ScopedFile
from codesum_pipeline.languages.declarations.name_tree import NameTree, Table
from codesum_pipeline.languages.declarations.rules import Rules
from codesum_pipeline.languages.outlines.outline_table import outline_tables


class OutlineRules(Rules):
    """A name is one of the file; else the only definition of that name in all files of the language. What stands before
    a name may be a file without its ending. An interface and its implementation are files that differ in their endings
    alone: the first by name stands for both. Where folders share names, only those of its own are meant."""

    names_files = False
    sees_members = True
    has_overloads = True
    folders_share = False

    def unit_of(self, file: ScopedFile) -> Key:
        return (file.folder,) if self.folders_share else super().unit_of(file)

    def use_tree(self, tree: NameTree) -> None:
        super().use_tree(tree)
        stems: defaultdict[str, list[str]] = defaultdict(list)
        for path, file in sorted(tree.files.items()):
            stems[file.stem.lower()].append(path)
        self._stems: Table[str, list[str]] = tree.table("stems", stems)

    def value_of_called(self, file: ScopedFile, name: str, count: int) -> Value:
        return self._only(name)

    def value_of_root(self, scope: Scope, name: str) -> Value:
        found = self._only(name)
        paths: Sequence[str] = self._stems.get(name.lower(), ()) if not isinstance(found, ClassValue) else ()
        return ModuleValue((paths[0],)) if _is_one(paths) else found

    def _only(self, name: str) -> Value:
        found: Sequence[Scope] = () if self.folders_share else self.tree.by_name.get(name, ())
        if len({one.parts for one in found[:2]}) != 1 or not _is_one([one.file.path for one in found]):
            return UNKNOWN
        one = found[0]
        return ClassValue(one, Reason.UNIQUE_NAME) if one.is_class else FunctionValue.of([one], Reason.UNIQUE_NAME)


def _is_one(paths: Sequence[str]) -> bool:
    """Whether it is one file, or two that differ in their endings alone."""
    return len(paths) == 1 or (len(paths) == 2 and paths[0] != paths[1] and len({*map(_without_ending, paths)}) == 1)


def _without_ending(path: str) -> str:
    return path.rpartition(".")[0]


@cache
def rules_of_outlines() -> tuple[type[Rules], ...]:
    """The rules of each language with a table; a language is a family by itself."""
    return tuple(
        type(
            f"{name}Rules",
            (OutlineRules,),
            {
                "languages": frozenset({name}),
                "folders_share": table.folders_share,
                "sees_members": table.sees_members,
            },
        )
        for name, table in outline_tables().items()
    )
