"""Go."""

import re
from collections.abc import Iterator, Sequence

import tree_sitter_go
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.possible_values import ModuleValue
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Key, Scope, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import Import, Parameter, Symbol, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.hook_values import DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.kin import parent_of
from codesum_pipeline.languages.declarations.name_tree import NameTree
from codesum_pipeline.languages.declarations.node_code import MAX_CHAIN, Code, Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, field_children, find_field
from codesum_pipeline.languages.declarations.projects import Projects, folders_above, join_path
from codesum_pipeline.languages.declarations.rules import Outside, ResolvedImport, Rules

_TEST_NAME = re.compile(r"(?:Test|Benchmark|Fuzz)(?:[^a-z]|$)")


def _method(node: Node) -> DefinitionHead:
    """A method belongs to its receiver's type, wherever that is declared."""
    type_ = find_field(next(iter(field_children(node, "receiver")), None), "type")
    while type_ is not None and type_.type in ("pointer_type", "generic_type", "parenthesized_type"):
        type_ = type_.child_by_field_name("type") or type_.named_children[0]
    owner = (raw_text(type_),) if type_ is not None else ()
    return DefinitionHead((*owner, raw_text(node, "name")), SymbolType.FUNCTION, find_field(node, "body"))


def _type(node: Node) -> DefinitionHead:
    body = child_of_type(find_field(node, "type"), "field_declaration_list", "{")
    return DefinitionHead((raw_text(node, "name"),), SymbolType.CLASS, body)


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    for field, kind in (("receiver", "receiver"), ("parameters", "positional")):
        for declared in field_children(node, field):
            kind = "var_positional" if declared.type == "variadic_parameter_declaration" else kind
            for name in declared.children_by_field_name("name"):
                yield Parameter(text(name), field_text(declared, "type", text), None, kind)


def _bases(node: Node, text: Text) -> Iterator[str]:
    """Embedded fields of a struct, embedded interfaces of an interface."""
    for child in field_children(node, "type"):
        if child.type == "field_declaration_list":
            for declared in child.named_children:
                if declared.type == "field_declaration" and find_field(declared, "name") is None:
                    yield field_text(declared, "type", text)
        elif child.type == "type_elem" and child.named_child_count == 1:
            yield text(child)


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    path, name = field_text(node, "path", text).strip('"`'), field_text(node, "name", text)
    if path:
        yield ImportSyntax(path, "*") if name == "." else ImportSyntax(path, None, name or None)


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    """Parameters, fields and variables that say their type."""
    type_ = field_text(node, "type", text)
    for name in node.children_by_field_name("name"):
        yield TypedName(text(name), type_)


def _typed_by_value(node: Node, text: Text) -> Iterator[TypedName]:
    """`x := T{…}`, `x := &T{…}` and `x := y.(T)` say their type."""
    for name, value in zip(field_children(node, "left"), field_children(node, "right"), strict=False):
        made = find_field(value, "operand") if value.type == "unary_expression" else value
        is_typed = made is not None and made.type in ("composite_literal", "type_assertion_expression")
        if name.type == "identifier" and is_typed:
            yield TypedName(text(name), field_text(made, "type", text))


def _typed_case(node: Node, text: Text) -> Iterator[TypedName]:
    """The variable of a type switch in a case of one type."""
    types = node.children_by_field_name("type")
    if len(types) == 1:
        yield from (TypedName(text(name), text(types[0])) for name in field_children(parent_of(node), "alias"))


def _items(node: Node, text: Text) -> Iterator[TypedName]:
    """The variables of a loop: the second is an element of what it goes through."""
    right = find_field(node, "right")
    is_short = right is not None and right.end_byte - right.start_byte <= MAX_CHAIN
    for number, name in enumerate(field_children(node, "left")):
        items = text(right) if number == 1 and is_short else ""
        yield TypedName(text(name), Code.of(f"{items}[0]", items, "[", "0", "]") if items else "")


def _is_test(symbol: Symbol, children: Sequence[Symbol], imports: Sequence[Import]) -> bool:
    types = {parameter.type for parameter in symbol.facts.parameters[:1]}
    return bool(_TEST_NAME.match(symbol.name)) and bool(types & {"*testing.T", "*testing.B", "*testing.F"})


DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_go.language, tests={"is_test": _is_test}),
    definitions={
        "function_declaration method_elem": hooks.definition_reader(SymbolType.FUNCTION),
        "method_declaration": _method,
        "type_spec type_alias": _type,
    },
    # A method is seen through its receiver alone.
    is_member=lambda node: node.type in ("method_declaration", "method_elem"),
    fields={"field_declaration": lambda node, text: (f"{one.name} {one.type}" for one in _typed(node, text))},
    calls={"call_expression": hooks.call_reader("function", "selector_expression operand . field")},
    imports={"import_spec": _import},
    typed={
        "parameter_declaration field_declaration var_spec": _typed,
        "short_var_declaration": _typed_by_value,
        "type_case": _typed_case,
    },
    bound={
        "short_var_declaration": hooks.first_values_reader("left", "right"),
        "range_clause": _items,
        # The variable of a type switch is no longer of the type that it had.
        "type_switch_statement": lambda node, text: (
            TypedName(text(name), "") for name in field_children(node, "alias")
        ),
        "var_spec": hooks.first_values_reader("name", "value", unless="type"),
    },
    parameters=_parameters,
    return_type=hooks.field_reader("result"),
    bases=_bases,
    is_public=lambda parts, modifiers: parts[-1][:1].isupper(),
    package={"package_clause": lambda node, text: text(next(iter(node.named_children), None))},
    globals={"const_spec var_spec": hooks.texts_of_fields("name")},
)


_MODULE = re.compile(r"^[^\S\n]*module\s+\"?([^\s\"]+)", re.MULTILINE)
_REPLACE = re.compile(r"^[^\S\n]*(?:replace\s+)?([^\s()]+)(?:\s+v\S+)?\s+=>\s+(\.{1,2}\S*)", re.MULTILINE)
_VERSION = re.compile(r"v\d+")
_LIBRARY = "std"


class GoRules(Rules):
    """The files of a folder share their names; `x_test` beside `x` is a package of its own."""

    languages = frozenset({"go"})
    names_files = False
    has_embedded = True

    def __init__(self, projects: Projects) -> None:
        super().__init__(projects)
        self._modules: list[tuple[str, str]] = []
        for path in projects.named("go.mod"):
            folder, text = path.rpartition("/")[0], projects.text_at(path) or ""
            module = _MODULE.search(text)
            if module is None:
                continue
            self._modules.append((module[1], folder))
            for replaced in _REPLACE.finditer(text):
                target = join_path(folder, replaced[2])
                if target is not None:
                    self._modules.append((replaced[1], target))
        self._modules.sort(key=lambda module: (-len(module[0]), *module))
        self._packages: dict[str, str] = {}

    def use_tree(self, tree: NameTree) -> None:
        super().use_tree(tree)
        for unit, files in sorted(tree.units.rows.items()):
            if len(unit) == 1:
                self._packages[unit[0]] = files[0].package or ""

    def unit_of(self, file: ScopedFile) -> Key:
        package = file.package or ""
        is_outer_test = package.endswith("_test") and file.path.endswith("_test.go")
        return (file.folder, package) if is_outer_test else (file.folder,)

    def inner_spaces(self, scope: Scope) -> Iterator[Key]:
        """Methods are seen only through their receiver."""
        yield from ()

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        folder = self._folder(file, row.module)
        is_star = row.name == "*"
        if row.alias in ("_", "."):
            return
        if folder is not None:
            name = row.alias or self._packages[folder]
            yield ResolvedImport(ModuleValue((folder,)), None if is_star else name, (), is_star)
        elif not self._is_own(row.module):
            name = row.alias or _package_name(row.module)
            yield ResolvedImport(Outside(row.module, ""), None if is_star else name, (), is_star)

    def _folder(self, file: ScopedFile, path: str) -> str | None:
        for module, folder in self._modules:
            # Packages of the language's own library are imported without its name; `unsafe` is one of the compiler.
            inner = path if module == _LIBRARY and path != "unsafe" else path[len(module) + 1 :]
            if inner == path or path == module or path.startswith(f"{module}/"):
                found = join_path(folder, inner)
                if found is not None and found in self._packages:
                    return found
        for above in folders_above(file.folder):
            vendored = f"{above}/vendor/{path}" if above else f"vendor/{path}"
            if vendored in self._packages:
                return vendored
        return None

    def _is_own(self, path: str) -> bool:
        return any(path == module or path.startswith(f"{module}/") for module, _ in self._modules)


def _package_name(path: str) -> str:
    """What a package outside is usually called: the last part of its path without version and mark of the language."""
    parts = [part for part in path.split("/") if not _VERSION.fullmatch(part)] or [path]
    return parts[-1].partition(".")[0].removeprefix("go-").removesuffix("-go")
