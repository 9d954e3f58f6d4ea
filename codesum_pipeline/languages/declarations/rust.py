"""Rust."""

import re
from collections.abc import Iterator, Sequence

import tree_sitter_rust
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.hook_values import (
    CallSyntax,
    DefinitionHead,
    Extension,
    ImportSyntax,
    TypedName,
)
from codesum_pipeline.languages.declarations.kin import grandparent_of, parent_of, siblings_before
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, field_children, find_field
from codesum_pipeline.languages.declarations.rust_macros import around_items, without_templates
from codesum_pipeline.languages.declarations.spec import Mark, Span, split_words

ITEMS = split_words("""
    function_item function_signature_item struct_item enum_item union_item trait_item impl_item mod_item type_item
    const_item static_item use_declaration extern_crate_declaration foreign_mod_item macro_definition
    macro_invocation inner_attribute_item attribute_item associated_type let_declaration expression_statement
    empty_statement
""")
_MODULE = hooks.definition_reader(None)
_ABOVE_ITEMS = ("attribute_item", "line_comment", "block_comment")
_CONDITION = re.compile(r"#\[\s*cfg\s*\((.*)\)\s*\]", re.DOTALL)
# Types that are called by a name, which may be one of the repository's.
_NAMED_TYPES = split_words("type_identifier scoped_type_identifier generic_type")


def _impl(node: Node) -> DefinitionHead:
    """`impl … for Type`: what is in it belongs to the last name of the type, without references and arguments."""
    type_ = find_field(node, "type")
    while type_ is not None and type_.type in ("reference_type", "pointer_type", "generic_type", "dynamic_type"):
        type_ = find_field(type_, "type") or find_field(type_, "trait")
    if type_ is not None and type_.type == "scoped_type_identifier":
        type_ = find_field(type_, "name")
    # What a macro makes a type of has no name.
    parts = () if type_ is not None and type_.type == "macro_invocation" else (raw_text(type_),)
    return DefinitionHead(parts, None, find_field(node, "body"))


def _closure(node: Node) -> DefinitionHead | None:
    """`let name = |…| …`, with a body that is a block: a function with a name."""
    value, pattern = find_field(node, "value"), find_field(node, "pattern")
    body = find_field(value, "body") if value is not None and value.type == "closure_expression" else None
    is_function = body is not None and body.type == "block" and pattern is not None and pattern.type == "identifier"
    return DefinitionHead((raw_text(pattern),), SymbolType.FUNCTION, body) if is_function else None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    for child in field_children(node, "parameters"):
        if child.type == "self_parameter":
            yield Parameter("self", text(child), None, "receiver")
        elif child.type == "parameter":
            pattern = find_field(child, "pattern")
            kind = "receiver" if pattern is not None and pattern.type == "self" else "positional"
            yield Parameter(text(pattern).removeprefix("mut "), field_text(child, "type", text), None, kind)
        elif child.type == "variadic_parameter":
            yield Parameter("...", None, None, "var_positional")


def _extension(node: Node, text: Text) -> Extension | None:
    """`impl Trait for Type`; `impl !Trait` says that it has it not. What is derived is written by macros."""
    trait, type_ = find_field(node, "trait"), find_field(node, "type")
    while type_ is not None and type_.type in ("reference_type", "pointer_type"):
        type_ = find_field(type_, "type")
    is_named = type_ is not None and type_.type in _NAMED_TYPES and child_of_type(node, "!") is None
    return Extension(text(type_), (text(trait),)) if trait is not None and is_named else None


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """The words before a definition; what a trait asks for is as public as the trait, without saying so."""
    if _is_of_public_trait(node):
        yield "pub"
    for preamble in preambles:
        attribute = text(preamble).removeprefix("#[").removesuffix("]")
        if attribute.rpartition("::")[2] in ("test", "bench") or attribute == "cfg(test)":
            yield "test"
    for child in node.children:
        if child.type == "visibility_modifier":
            yield text(child)
        elif child.type == "function_modifiers":
            yield from filter(str.isalpha, text(child).split())
        elif child.type in ("name", "identifier", "type_identifier"):
            return
        elif child.type == "unsafe":
            yield "unsafe"


def _is_of_public_trait(node: Node) -> bool:
    """Whether it is in a public trait, or in an `impl` of any trait, which may be defined in another file."""
    around = grandparent_of(node)
    is_of_impl = around is not None and around.type == "impl_item" and find_field(around, "trait") is not None
    is_of_trait = around is not None and around.type == "trait_item"
    return is_of_impl or (is_of_trait and child_of_type(around, "visibility_modifier") is not None)


def _condition(node: Node, text: Text) -> str:
    """What has to be true for a definition to be there: its `#[cfg(…)]` and those of what is around it."""
    conditions = []
    around: Node | None = node
    while around is not None:
        for above in siblings_before(around, is_named=True) if around.type.endswith("_item") else ():
            if above.type not in _ABOVE_ITEMS:
                break
            if found := _CONDITION.fullmatch(raw_text(above)):
                conditions.append(found[1])
        around = parent_of(around)
    return ",".join(conditions)


def _macro_call(node: Node, text: Text) -> CallSyntax:
    macro = field_text(node, "macro", text)
    return hooks.call_of_path(macro and f"{macro}!", "::")


def _struct_literal(node: Node, text: Text) -> CallSyntax:
    receiver, _, name = field_text(node, "name", text).rpartition("::")
    return CallSyntax(receiver, name.partition("<")[0], is_new=True, mark="::")


def _use(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`use a::{b, c::D as E, f::*}` takes three names."""
    waiting: list[tuple[str, Node | None]] = [("", find_field(node, "argument"))]
    while waiting:
        path, part = waiting.pop()
        if part is None or part.type in ("line_comment", "block_comment"):
            continue
        if part.type == "scoped_use_list":
            waiting.append((_joined(path, field_text(part, "path", text)), find_field(part, "list")))
        elif part.type == "use_list":
            waiting.extend((path, child) for child in reversed(part.named_children))
        elif part.type == "use_wildcard":
            yield ImportSyntax(_joined(path, text(next(iter(part.named_children), None))), "*")
        else:
            whole = _joined(path, field_text(part, "path", text) if part.type == "use_as_clause" else text(part))
            yield hooks.import_of_path(whole.removesuffix("::self"), "::", field_text(part, "alias", text))


def _joined(path: str, name: str) -> str:
    return f"{path}::{name}" if path and name else path or name


def _module_file(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`mod name;` takes in a file."""
    if find_field(node, "body") is None:
        yield ImportSyntax("self", field_text(node, "name", text))


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    name = find_field(node, "pattern") or find_field(node, "name")
    if name is None or name.type not in ("identifier", "field_identifier"):
        return
    if type_ := field_text(node, "type", text) or _made(find_field(node, "value"), text):
        yield TypedName(text(name), type_)


def _made(value: Node | None, text: Text) -> str:
    """The type that `Type { … }` or `Type::new(…)` is of; empty for any other value."""
    while value is not None and value.type in ("reference_expression", "try_expression", "await_expression"):
        value = find_field(value, "value") or next(iter(value.named_children), None)
    if value is not None and value.type == "struct_expression":
        return field_text(value, "name", text)
    function = find_field(value, "function") if value is not None and value.type == "call_expression" else None
    if function is None or function.type != "scoped_identifier":
        return ""
    path, name = field_text(function, "path", text).partition("<")[0].rstrip(":"), field_text(function, "name", text)
    makes = name in ("new", "default") or name.startswith(("new_", "from_", "with_"))
    return path if makes and path.rpartition("::")[2][:1].isupper() else ""


def _global(node: Node, text: Text) -> list[str]:
    """Constants and aliases of a module, not of a type."""
    around = grandparent_of(node)
    is_of_type = around is not None and around.type in ("impl_item", "trait_item")
    return [field_text(node, "name", text)] if not is_of_type else []


def _test_modules(outside: Sequence[Mark]) -> list[Span]:
    """The modules called `tests`, or compiled for tests alone."""
    modules = (node for kind, _, node in outside if kind == "mod_item" and find_field(node, "body") is not None)
    return [(node.start_byte, node.end_byte) for node in modules if _is_of_tests(node)]


def _is_of_tests(module: Node) -> bool:
    for above in siblings_before(module, is_named=True):
        if above.type not in _ABOVE_ITEMS:
            break
        text = (above.text or b"").replace(b" ", b"")
        if b"cfg(test)" in text or b"cfg(all(test" in text:
            return True
    return raw_text(module, "name") == "tests"


DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_rust.language, tests={"modules": _test_modules}),
    without_templates=without_templates,
    definitions={
        "function_item function_signature_item": hooks.definition_reader(SymbolType.FUNCTION),
        "struct_item enum_item union_item trait_item": hooks.definition_reader(SymbolType.CLASS),
        "mod_item": lambda node: _MODULE(node) if find_field(node, "body") is not None else None,
        "impl_item": _impl,
        "macro_definition": lambda node: DefinitionHead(
            (raw_text(node, "name"),), SymbolType.FUNCTION, child_of_type(node, "{", "(", "[")
        ),
        "let_declaration": _closure,
    },
    hiding=lambda source, is_broken: around_items(source),
    fields={"field_declaration": hooks.read_typed_member, "enum_variant": hooks.texts_of_fields("name")},
    # A block's last expression without `;` is its value.
    result=lambda body: hooks.last_expression(body, ITEMS),
    calls={
        "call_expression": hooks.call_reader(
            "function", "field_expression value . field  scoped_identifier path :: name", around="generic_function"
        ),
        "macro_invocation": _macro_call,
        "struct_expression": _struct_literal,
    },
    imports={"use_declaration": _use, "mod_item": _module_file},
    typed={"parameter field_declaration let_declaration": _typed},
    bound={"let_declaration": hooks.first_values_reader("pattern", "value", unless="type")},
    parameters=_parameters,
    return_type=hooks.field_reader("return_type"),
    # The traits that a trait extends; those that a type derives are attributes.
    bases=lambda node, text: (text(child) for child in field_children(node, "bounds") if child.type != "lifetime"),
    extensions={"impl_item": _extension},
    condition=_condition,
    modifiers=_modifiers,
    is_public=lambda parts, modifiers: any(word.startswith("pub") for word in modifiers),
    reexports={"use_declaration": hooks.public_imports_reader(_use)},
    globals={"const_item static_item type_item": _global},
)
