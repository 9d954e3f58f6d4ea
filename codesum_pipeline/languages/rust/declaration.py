"""Rust."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from codesum_pipeline.languages.declaration import (
    CallSyntax,
    Declaration,
    DefinitionHead,
    Docs,
    Extension,
    Facts,
    ImportSyntax,
    Text,
    TypedName,
)
from codesum_pipeline.languages.frameworks import FrameworkRules
from codesum_pipeline.languages.hooks import (
    defines,
    field_reader,
    field_text,
    first_values,
    names_in,
    of_public,
    raw_text,
)
from codesum_pipeline.languages.rust.layout import SPEC
from codesum_pipeline.languages.rust.macros import around_items, without_templates
from codesum_pipeline.languages.spec import Mark, Span, words
from codesum_pipeline.model.symbols import Parameter, SymbolType

ITEMS = words("""
    function_item function_signature_item struct_item enum_item union_item trait_item impl_item mod_item type_item
    const_item static_item use_declaration extern_crate_declaration foreign_mod_item macro_definition
    macro_invocation inner_attribute_item attribute_item associated_type let_declaration expression_statement
    empty_statement
""")


# Types that are called by a name, which may be one of the repository's.
_NAMED_TYPES = words("type_identifier scoped_type_identifier generic_type")


def _module(node: Node) -> DefinitionHead | None:
    body = node.child_by_field_name("body")
    name = raw_text(node.child_by_field_name("name"))
    return DefinitionHead((name,), None, body) if name and body is not None else None


def _impl(node: Node) -> DefinitionHead | None:
    """`impl … for Type`: what is in it belongs to the type."""
    name = _type_name(node.child_by_field_name("type"))
    return DefinitionHead((name,), None, node.child_by_field_name("body")) if name else None


def _type_name(node: Node | None) -> str:
    """The last name of a type, without references, paths and arguments."""
    while node is not None and node.type in ("reference_type", "pointer_type", "generic_type", "dynamic_type"):
        node = node.child_by_field_name("type") or node.child_by_field_name("trait")
    if node is not None and node.type == "scoped_type_identifier":
        node = node.child_by_field_name("name")
    return raw_text(node)


def _macro(node: Node) -> DefinitionHead | None:
    name = raw_text(node.child_by_field_name("name"))
    body = next((child for child in node.children if child.type in "{(["), None)
    return DefinitionHead((name,), SymbolType.FUNCTION, body) if name else None


def _closure(node: Node) -> DefinitionHead | None:
    """`let name = |…| …`, with a body that is a block: a function with a name."""
    value, pattern = node.child_by_field_name("value"), node.child_by_field_name("pattern")
    if value is None or value.type != "closure_expression" or pattern is None or pattern.type != "identifier":
        return None
    body = value.child_by_field_name("body")
    return DefinitionHead((raw_text(pattern),), SymbolType.FUNCTION, body) if body and body.type == "block" else None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    parameters = node.child_by_field_name("parameters")
    for child in parameters.named_children if parameters else ():
        if child.type == "self_parameter":
            yield Parameter("self", text(child), None, "receiver")
        elif child.type == "parameter":
            pattern = child.child_by_field_name("pattern")
            kind = "receiver" if pattern is not None and pattern.type == "self" else "positional"
            yield Parameter(text(pattern).removeprefix("mut "), field_text(child, "type", text), None, kind)
        elif child.type == "variadic_parameter":
            yield Parameter("...", None, None, "var_positional")


def _bases(node: Node, text: Text) -> Iterator[str]:
    """The traits that a trait extends; those that a type derives are attributes."""
    bounds = node.child_by_field_name("bounds")
    for child in bounds.named_children if bounds else ():
        if child.type != "lifetime":
            yield text(child)


def _extension(node: Node, text: Text) -> Extension | None:
    """`impl Trait for Type`; `impl !Trait` says that it has it not. What is derived is written by macros."""
    trait, type_ = node.child_by_field_name("trait"), node.child_by_field_name("type")
    while type_ is not None and type_.type in ("reference_type", "pointer_type"):
        type_ = type_.child_by_field_name("type")
    if trait is None or type_ is None or type_.type not in _NAMED_TYPES or any(c.type == "!" for c in node.children):
        return None
    return Extension(text(type_), (text(trait),))


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
    """Whether it stands in a public trait, or in an `impl` of any: whose, another file may say."""
    around = node.parent.parent if node.parent is not None and node.parent.type == "declaration_list" else None
    if around is None or around.type != "trait_item":
        return around is not None and around.type == "impl_item" and around.child_by_field_name("trait") is not None
    return any(child.type == "visibility_modifier" for child in around.children)


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "generic_function":
        function = function.child_by_field_name("function")
    if function is None:
        return None
    if function.type == "field_expression":
        return CallSyntax(field_text(function, "value", text), field_text(function, "field", text))
    if function.type == "scoped_identifier":
        return CallSyntax(field_text(function, "path", text), field_text(function, "name", text), mark="::")
    return CallSyntax("", text(function)) if function.type == "identifier" else None


def _macro_call(node: Node, text: Text) -> CallSyntax | None:
    receiver, _, name = field_text(node, "macro", text).rpartition("::")
    return CallSyntax(receiver, f"{name}!", mark="::") if name else None


def _struct_literal(node: Node, text: Text) -> CallSyntax | None:
    receiver, _, name = field_text(node, "name", text).rpartition("::")
    return CallSyntax(receiver, name.partition("<")[0], is_new=True, mark="::")


def _use(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`use a::{b, c::D as E, f::*}` takes three names."""
    argument = node.child_by_field_name("argument")
    waiting: list[tuple[str, Node | None]] = [("", argument)]
    while waiting:
        path, part = waiting.pop()
        if part is None or part.type in ("line_comment", "block_comment"):
            continue
        if part.type == "scoped_use_list":
            waiting.append((_joined(path, field_text(part, "path", text)), part.child_by_field_name("list")))
        elif part.type == "use_list":
            waiting.extend((path, child) for child in reversed(part.named_children))
        elif part.type == "use_wildcard":
            yield ImportSyntax(_joined(path, text(part.named_children[0]) if part.named_children else ""), "*")
        else:
            alias = field_text(part, "alias", text) or None
            whole = _joined(path, field_text(part, "path", text) if part.type == "use_as_clause" else text(part))
            module, _, name = whole.removesuffix("::self").rpartition("::")
            yield ImportSyntax(module or name, name if module else None, alias)


def _joined(path: str, name: str) -> str:
    return f"{path}::{name}" if path and name else path or name


def _module_file(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`mod name;` takes in a file."""
    if node.child_by_field_name("body") is None:
        yield ImportSyntax("self", field_text(node, "name", text))


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    name = node.child_by_field_name("pattern") or node.child_by_field_name("name")
    type_ = field_text(node, "type", text)
    if name is None or name.type not in ("identifier", "field_identifier"):
        return
    if type_:
        yield TypedName(text(name), type_)
    elif made := _made(node.child_by_field_name("value"), text):
        yield TypedName(text(name), made)


def _made(value: Node | None, text: Text) -> str:
    """The type that `Type { … }` or `Type::new(…)` is of; empty for any other value."""
    while value is not None and value.type in ("reference_expression", "try_expression", "await_expression"):
        value = value.child_by_field_name("value") or (value.named_children[0] if value.named_children else None)
    if value is not None and value.type == "struct_expression":
        return field_text(value, "name", text)
    function = value.child_by_field_name("function") if value is not None and value.type == "call_expression" else None
    if function is None or function.type != "scoped_identifier":
        return ""
    path, name = field_text(function, "path", text).partition("<")[0].rstrip(":"), field_text(function, "name", text)
    makes = name in ("new", "default") or name.startswith(("new_", "from_", "with_"))
    return path if makes and path.rpartition("::")[2][:1].isupper() else ""


def _field(node: Node, text: Text) -> Iterator[str]:
    yield f"{field_text(node, 'name', text)}: {field_text(node, 'type', text)}"


def _global(node: Node, text: Text) -> Iterator[str]:
    """Constants and aliases of a module, not of a type."""
    around = node.parent.parent if node.parent is not None else None
    if around is None or around.type not in ("impl_item", "trait_item"):
        yield field_text(node, "name", text)


def _result(body: Node) -> Node | None:
    """A block's last expression without `;` is its value."""
    last = next((child for child in reversed(body.named_children) if not child.is_extra), None)
    if last is None or last.type in ITEMS:
        return None
    return last


_BEFORE = (
    r"(?:pub(?:[ \t]*\([^()]*\))?[ \t]+)?"
    r"(?:(?:default|const|async|unsafe|safe|auto|extern(?:[ \t]+\"[^\"]*\")?)[ \t]+)*"
)


# Lines that look like a definition.
_LINES = (
    rf"[ \t]*{_BEFORE}fn[ \t]+(?:r#)?(?P<name>\w+)[ \t]*[(<]",
    rf"[ \t]*{_BEFORE}(?:struct|enum|trait)[ \t]+(?P<name>[A-Z]\w*)",
    r"[ \t]*(?:pub[ \t]+)?union[ \t]+(?P<name>[A-Z]\w*)(?=[^;{}]*\{)",
    r"[ \t]*macro_rules![ \t]*(?P<name>\w+)",
)


def _test_modules(outside: Sequence[Mark]) -> list[Span]:
    """The modules called `tests`, or compiled for tests alone."""
    return [
        (node.start_byte, node.end_byte)
        for kind, _, node in outside
        if kind == "mod_item" and node.child_by_field_name("body") is not None and _is_of_tests(node)
    ]


def _is_of_tests(module: Node) -> bool:
    name = module.child_by_field_name("name")
    if name is not None and name.text == b"tests":
        return True
    above = module.prev_named_sibling
    while above is not None and above.type in ("attribute_item", "line_comment", "block_comment"):
        text = (above.text or b"").replace(b" ", b"")
        if b"cfg(test)" in text or b"cfg(all(test" in text:
            return True
        above = above.prev_named_sibling
    return False


DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(modules=_test_modules, stands_beside=True, is_whole=True),
    definition_lines=_LINES,
    without_templates=without_templates,
    definitions={
        "function_item function_signature_item": defines(SymbolType.FUNCTION),
        "struct_item enum_item union_item trait_item": defines(SymbolType.CLASS),
        "mod_item": _module,
        "impl_item": _impl,
        "macro_definition": _macro,
        "let_declaration": _closure,
    },
    hiding=lambda source, is_broken: around_items(source),
    docs=Docs.MARKED,
    doc_marks=("///", "/**"),
    file_doc_marks=("//!", "/*!"),
    preambles=words("attribute_item"),
    facts=Facts(
        returns=words("return_expression"),
        yields=words("yield_expression"),
        assignments={"assignment_expression compound_assignment_expr": "left"},
        raising_calls=words("panic! unreachable! todo! unimplemented! bail!"),
        closures=words("closure_expression async_block"),
        fields={"field_declaration": _field, "enum_variant": names_in("name")},
        result=_result,
    ),
    calls={"call_expression": _call, "macro_invocation": _macro_call, "struct_expression": _struct_literal},
    imports={"use_declaration": _use, "mod_item": _module_file},
    typed={"parameter field_declaration let_declaration": _typed},
    bound={"let_declaration": first_values("pattern", "value", unless="type")},
    parameters=_parameters,
    return_type=field_reader("return_type"),
    bases=_bases,
    extensions={"impl_item": _extension},
    modifiers=_modifiers,
    is_public=lambda parts, modifiers: any(word.startswith("pub") for word in modifiers),
    reexports={"use_declaration": of_public(_use)},
    globals={"const_item static_item type_item": _global},
)
