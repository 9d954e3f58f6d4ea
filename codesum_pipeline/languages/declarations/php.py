"""PHP."""

from collections.abc import Iterable, Iterator, Sequence

import tree_sitter_php
from msgspec.structs import replace
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.expression import ROOT
from codesum_pipeline.foundation.data_model.possible_values import UNKNOWN, ExternalValue, ModuleValue, Value
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Key, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.handed_names import find_text_of_php
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, field_children, find_field
from codesum_pipeline.languages.declarations.projects import join_path
from codesum_pipeline.languages.declarations.rules import Member, Outside, ResolvedImport, Rules
from codesum_pipeline.languages.declarations.spec import split_words

_NAMES = ("name", "qualified_name")
_TEST_ATTRIBUTES = ("Test", "DataProvider", "TestWith")
_PARAMETERS = split_words("simple_parameter property_promotion_parameter variadic_parameter")


def _bound_function(node: Node) -> DefinitionHead | None:
    """`$name = function (…) { … }`, and an anonymous class given to a variable."""
    left, right = find_field(node, "left"), find_field(node, "right")
    if left is None or left.type != "variable_name" or right is None:
        return None
    name = raw_text(left).removeprefix("$")
    if right.type == "anonymous_function":
        return DefinitionHead((name,), SymbolType.FUNCTION, find_field(right, "body"))
    made = child_of_type(right, "anonymous_class") if right.type == "object_creation_expression" else None
    return DefinitionHead((name,), SymbolType.CLASS, find_field(made, "body")) if made is not None else None


def _namespace(node: Node) -> DefinitionHead | None:
    """`namespace A { … }` is a scope without a part in names, like the namespace of a whole file."""
    body = find_field(node, "body")
    return DefinitionHead((), None, body) if body is not None else None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    for child in field_children(find_field(node, "right") or node, "parameters"):
        if child.type in _PARAMETERS:
            kind = "var_positional" if child.type == "variadic_parameter" else "positional"
            yield replace(hooks.read_parameter(child, text, kind), name=field_text(child, "name", text).lstrip("$"))


def _bases(node: Node, text: Text) -> Iterator[str]:
    """What a class extends, implements and uses (traits)."""
    for clause in (*node.named_children, *field_children(node, "body")):
        if clause.type in ("base_clause", "class_interface_clause", "use_declaration"):
            yield from (text(child) for child in clause.named_children if child.type in _NAMES)


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    for group in field_children(node, "attributes"):
        for attribute in group.named_children:
            if attribute.named_children and text(attribute.named_children[0]).endswith(_TEST_ATTRIBUTES):
                yield "test"
    yield from (text(child) for child in node.named_children if child.type.endswith("_modifier"))


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = find_field(node, "function")
    return hooks.call_of_path(text(function), "\\") if function is not None and function.type in _NAMES else None


def _member_call(node: Node, text: Text) -> CallSyntax | None:
    """`$a->f()` and `A::f()`."""
    name, owner = find_field(node, "name"), find_field(node, "object")
    if name is None or name.type != "name":
        return None
    return CallSyntax(text(owner or find_field(node, "scope")), text(name), mark="->" if owner is not None else "::")


def _use(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`use A\\B;`, `use function A\\f;`, `use A\\{B, C as D};`."""
    prefix, group = text(child_of_type(node, "namespace_name")), find_field(node, "body")
    for clause in (group or node).named_children:
        named = [child for child in clause.named_children if child.type in ("namespace_name", *_NAMES)]
        if clause.type == "namespace_use_clause" and named:
            whole = f"{prefix}\\{text(named[0])}" if group is not None else text(named[0])
            yield hooks.import_of_path(whole.strip("\\"), "\\", text(named[1]) if len(named) > 1 else None)


def _include(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`require __DIR__ . '/x.php'`: the part that is a literal."""
    waiting = list(node.named_children)
    while waiting:
        part = waiting.pop()
        if part.type in ("string", "encapsed_string"):
            if path := raw_text(part).strip("'\""):
                yield ImportSyntax(path.lstrip("/"))
            return
        if part.type in ("binary_expression", "parenthesized_expression"):
            waiting.extend(part.named_children)


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    type_, name = field_text(node, "type", text), field_text(node, "name", text)
    if type_ and name:
        yield TypedName(name, type_)
        if node.type == "property_promotion_parameter":
            yield TypedName(f"$this->{name.removeprefix('$')}", type_)


def _properties(node: Node, text: Text) -> Iterator[TypedName]:
    """The properties that a declaration names, with the type that it says."""
    type_ = field_text(node, "type", text)
    for element in node.named_children:
        if element.type == "property_element":
            yield TypedName(field_text(element, "name", text).removeprefix("$"), type_)


def _typed_by_value(node: Node, text: Text) -> Iterator[TypedName]:
    """`$x = new Foo(…)`, `$this->x = new Foo(…)`."""
    left, right = find_field(node, "left"), find_field(node, "right")
    made = child_of_type(right, *_NAMES) if right and right.type == "object_creation_expression" else None
    if left is not None and made is not None and left.type in ("variable_name", "member_access_expression"):
        yield TypedName(text(left), text(made))


def _constants(node: Node, text: Text) -> Iterator[str]:
    for element in node.named_children:
        if element.type == "const_element" and element.named_children:
            yield text(element.named_children[0])


DECLARATION = Declaration(
    **syntax_beside(
        __file__,
        tree_sitter_php.language_php,
        spec={"respelled": {"string encapsed_string": hooks.spell_plain}},
        uses={"find_handed": find_text_of_php},
    ),
    definitions={
        "function_definition method_declaration": hooks.definition_reader(SymbolType.FUNCTION),
        "class_declaration interface_declaration trait_declaration enum_declaration": hooks.definition_reader(
            SymbolType.CLASS
        ),
        "assignment_expression": _bound_function,
        "namespace_definition": _namespace,
    },
    fields={
        "property_declaration": hooks.members_reader(_properties),
        "enum_case": hooks.texts_of_fields("name"),
        "const_declaration": _constants,
    },
    calls={
        "function_call_expression": _call,
        "member_call_expression nullsafe_member_call_expression scoped_call_expression": _member_call,
        "object_creation_expression": lambda node, text: CallSyntax(
            "", text(child_of_type(node, *_NAMES)), is_new=True
        ),
    },
    imports={
        "namespace_use_declaration": _use,
        "require_expression require_once_expression include_expression include_once_expression": _include,
    },
    typed={
        "simple_parameter variadic_parameter property_promotion_parameter": _typed,
        "property_declaration": lambda node, text: (one for one in _properties(node, text) if one.type),
        "assignment_expression": _typed_by_value,
    },
    parameters=_parameters,
    return_type=lambda node, text: field_text(find_field(node, "right") or node, "return_type", text),
    bases=_bases,
    modifiers=_modifiers,
    package={"namespace_definition": hooks.field_reader("name")},
    globals={"const_declaration": _constants},
)


class PhpRules(Rules):
    """A name comes from a `use`, from the namespace of the file, or from outside of all namespaces."""

    languages = frozenset({"php"})
    separator = "\\"
    constructors = ("__construct",)

    def unit_of(self, file: ScopedFile) -> Key:
        return _parts(file.package or "")

    def spaces_of(self, file: ScopedFile) -> Iterable[Key]:
        return (file.unit, ())

    def value_of_full_name(self, names: Sequence[str]) -> Value:
        """A name that begins with `\\` is no namespace's."""
        return ExternalValue(self.separator.join(names[1:])) if names[0] == ROOT else UNKNOWN

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        if "/" in row.module or row.module.endswith(".php"):
            path = join_path(file.folder, row.module.lstrip("/"))
            if path in self.projects.paths:
                yield ResolvedImport(None, None, (path,))
            return
        whole = "\\".join(part for part in (row.module, row.name) if part)
        parts = _parts(whole)
        if not parts:
            return
        name = row.alias or parts[-1]
        if parts in self.tree.entries:
            yield ResolvedImport(Member(parts[:-1], parts[-1]), name, self.files_of(parts))
        elif parts in self.tree.spaces:
            yield ResolvedImport(ModuleValue(parts), name)
        elif parts[:1] not in self.tree.spaces:
            yield ResolvedImport(Outside(parts[0], "\\".join(parts[1:])), name)


def _parts(namespace: str) -> Key:
    return tuple(part for part in namespace.split("\\") if part)
