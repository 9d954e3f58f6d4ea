"""Records of what files of declared languages ask of others, and the answers that the next build compares them with.

Tables of all files belong to one owner for each family. The names that a scope binds, and all that a file exports,
belong to the file. An answer shows a scope by its head: where it is and all that it and the scopes around it say but
for the names that they bind.
"""

from collections import Counter
from collections.abc import Iterable, Set
from typing import Any

from codesum_pipeline.foundation.data_model.hashing import canonical_json
from codesum_pipeline.foundation.data_model.scopes import Scope, ScopedFile
from codesum_pipeline.graph.resolvers.cells import (
    ABSENT,
    EXPORTED,
    LISTED,
    Answers,
    LookupRecord,
    exported_answer,
    hash_answer,
    name_key,
    owner_of,
    pack_record,
)
from codesum_pipeline.languages.declarations.name_tree import HAS, NAME, NameTree, Question
from codesum_pipeline.languages.declarations.rules import Rules

# Questions that every file asks, the second with its imports as answer; and one about a file's exports.
_PROJECT_FILES = "project files"
OWN_FILE = "of the file itself"
_EXPORTED = "exported"
# Makes the key of whether a table has a row from that of the row.
_WHETHER = 1


class DeclaredLookups:
    """The records of one family's files, from what is asked of its `tree`."""

    def __init__(self, tree: NameTree, rules: Rules) -> None:
        self._tree = tree
        # Whose the tables are.
        self.owner = hash_answer(f"names\0{','.join(sorted(rules.languages))}")
        self._cells: dict[Question, tuple[bytes, ...]] = {}
        self._heads: dict[Scope, int] = {}
        self._frames: dict[Scope, int] = {}
        self._places: dict[ScopedFile, dict[Scope, str]] = {}
        tree.table(_PROJECT_FILES).rows[""] = canonical_json(rules.read_in_projects())

    def begin(self, file: ScopedFile) -> None:
        """Begin with a file."""
        self._tree.begin(file)
        self._tree.asked |= {(_PROJECT_FILES, ""), (OWN_FILE, file.path)}

    def note_exports(self, file: ScopedFile) -> None:
        """Note that everything is read that a file exports."""
        if not self._tree.is_own(file):
            self._tree.asked.add((_EXPORTED, file))

    def record(self) -> LookupRecord | None:
        """What the file has asked for; None if that is too much."""
        return pack_record(self._tree.asked, self._cells, lambda question: [self._cell(question)])

    def answers(self, paths: Iterable[str], wanted: Set[int]) -> dict[int, Answers]:
        """The answers of the files at these paths, by owner, and of those to questions about tables that are wanted."""
        files = (self._tree.known_files.rows.get(path) for path in paths)
        found: dict[int, Answers] = {owner_of(file.path): self._of_file(file) for file in files if file is not None}
        of_tables = found[self.owner] = {}
        for kind, table in self._tree.tables.items():
            for about in table.rows:
                key = self._table_key(kind, about)
                if key in wanted:
                    of_tables[key] = self._shown_answer(table.rows[about])
                if key ^ _WHETHER in wanted:
                    of_tables[key ^ _WHETHER] = LISTED
        return found

    def _of_file(self, file: ScopedFile) -> Answers:
        found = {EXPORTED: exported_answer(file)}
        for scope in file.scopes:
            for name, bindings in scope.names.items():
                found[name_key(self._place(scope), name)] = self._shown_answer(bindings)
        return found

    def _cell(self, question: Question) -> tuple[int, int, int]:
        """The owner, key and answer of what a question is about."""
        kind, about = question
        if kind == NAME:
            scope, name = about
            answer = self._shown_answer(scope.names[name]) if name in scope.names else ABSENT
            return owner_of(scope.file.path), name_key(self._place(scope), name), answer
        if kind == _EXPORTED:
            return owner_of(about.path), EXPORTED, exported_answer(about)
        of_table = kind.removeprefix(HAS)
        rows, key = self._tree.tables[of_table].rows, self._table_key(of_table, about)
        if kind != of_table:
            return self.owner, key ^ _WHETHER, LISTED if about in rows else ABSENT
        return self.owner, key, self._shown_answer(rows[about]) if about in rows else ABSENT

    def _table_key(self, kind: str, about: Any) -> int:
        named = f"{about.file.path}\0{self._place(about)}" if isinstance(about, Scope) else repr(about)
        return hash_answer(f"{kind}\0{named}")

    def _shown_answer(self, row: Any) -> int:
        return hash_answer(self._shown(row))

    def _shown(self, value: Any) -> str:
        """A text that is the same in every build in which a value says the same."""
        if isinstance(value, Scope):
            return f"{self._head(value):x}"
        if isinstance(value, ScopedFile):
            return f"{self._head(value.top):x}"
        if type(value) in (list, tuple):
            return f"[{','.join(map(self._shown, value))}]"
        if isinstance(value, frozenset):
            return repr(sorted(value))
        parts = getattr(value, "__struct_fields__", None) or getattr(value, "__dataclass_fields__", None)
        if parts is None:
            return repr(value)
        return f"{type(value).__name__}({','.join(self._shown(getattr(value, part)) for part in parts)})"

    def _head(self, scope: Scope) -> int:
        """The hash of what a scope says."""
        if scope not in self._heads:
            results = [(self._frame(at), chain) for at, chain in scope.results]
            self._heads[scope] = hash_answer(repr((self._frame(scope), results)))
        return self._heads[scope]

    def _frame(self, scope: Scope) -> int:
        """The hash of what a scope and those around it say, but for results."""
        chain = []
        one: Scope | None = scope
        while one is not None and one not in self._frames:
            chain.append(one)
            one = one.parent
        around = 0 if one is None else self._frames[one]
        for one in reversed(chain):
            around = self._frames[one] = hash_answer(repr((around, *self._says(one))))
        return around

    def _says(self, scope: Scope) -> list[Any]:
        file = scope.file
        if scope.is_top:
            return [file.path, file.language, file.package, file.unit, file.has_blocks]
        return [
            *[self._place(scope), scope.kind, scope.id, scope.parts, scope.bases, scope.returns, [*scope.modifiers]],
            *[scope.least, scope.most, scope.is_member, scope.condition, scope.is_apart, bool(scope.names)],
        ]

    def _place(self, scope: Scope) -> str:
        """A name for a scope in its file: a definition's id; a block is numbered among those of its definition."""
        if scope.number < 0:
            return f"\0{scope.parts}"
        places = self._places.get(scope.file)
        if places is None:
            places, beside = self._places.setdefault(scope.file, {}), Counter[Scope]()
            for one in scope.file.scopes:
                owner = one.definition
                beside[owner] += one is not owner
                places[one] = owner.id or "" if one is owner else f"{owner.id or ''}\0{beside[owner]}"
        return places[scope]
