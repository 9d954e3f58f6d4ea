"""Reads a Python file's imports."""

from tree_sitter import Node

from codesum_pipeline.languages.python.references.expressions import ExpressionReader
from codesum_pipeline.languages.python.references.names import Bound, NameTable
from codesum_pipeline.languages.python.references.scopes import ScopeRanges


class ImportReader:
    """Binds imported names, and keeps what was imported from where."""

    def __init__(self, expressions: ExpressionReader, table: NameTable, ranges: ScopeRanges) -> None:
        self._expressions = expressions
        self._table = table
        self._ranges = ranges
        self._imports: list[tuple[int, str, int, str | None]] = []
        self._stars: list[tuple[int, int, str, int]] = []

    def read(self, captures: dict[str, list[Node]]) -> None:
        """Take in all captures of import statements."""
        for node in captures.get("import", ()):
            self._read_import(node)
        for node in captures.get("from", ()):
            self._read_from(node)

    def imported(self) -> list[list[str | int | None]]:
        """`[module, level, name]` in source order."""
        return [list(entry[1:]) for entry in sorted(self._imports, key=lambda entry: entry[0])]

    def stars(self) -> list[list[str | int]]:
        """`[scope, module, level]` in source order."""
        return [list(entry[1:]) for entry in sorted(self._stars, key=lambda entry: entry[0])]

    def _read_import(self, node: Node) -> None:
        scope = self._ranges.scope_at(node.start_byte)
        for child in node.children_by_field_name("name"):
            module, alias = self._name_and_alias(child)
            bound = Bound.MODULE if alias is None else Bound.ALIASED_MODULE
            name = alias or module.partition(".")[0]
            self._table.bind(scope, child.start_byte, name, [bound, module])
            self._imports.append((child.start_byte, module, 0, None))

    def _read_from(self, node: Node) -> None:
        source = node.child_by_field_name("module_name")
        if source is None:
            return
        scope = self._ranges.scope_at(node.start_byte)
        written = "".join(self._expressions.text(source).split())
        module = written.lstrip(".")
        level = len(written) - len(module)
        for child in node.children_by_field_name("name"):
            name, alias = self._name_and_alias(child)
            self._table.bind(scope, child.start_byte, alias or name, [Bound.IMPORTED, module, level, name])
            self._imports.append((child.start_byte, module, level, name))
        if any(child.type == "wildcard_import" for child in node.named_children):
            self._stars.append((node.start_byte, scope, module, level))
            self._imports.append((node.start_byte, module, level, "*"))

    def _name_and_alias(self, node: Node) -> tuple[str, str | None]:
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is None or alias is None:
            return "".join(self._expressions.text(node).split()), None
        return "".join(self._expressions.text(name).split()), self._expressions.text(alias)
