"""Scala 2 and 3, with braces or by indentation.

A class and its companion object share their name, so the object has a suffix;
the members of both have the class's name before theirs. An extension
belongs to the type it extends. A value bound to a function is a function, one
bound to an anonymous class is a class.
"""

from collections.abc import Iterator

import tree_sitter_scala
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.kin import next_sibling_of, parent_of
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, find_field
from codesum_pipeline.languages.declarations.spec import split_words

TYPES = split_words("class_definition trait_definition object_definition enum_definition package_object")
VALUES = split_words("val_definition var_definition val_declaration var_declaration")
BLOCKS = ("block", "indented_block")
FUNCTION_VALUES = ("lambda_expression", "case_block")
_FUNCTION = hooks.definition_reader(SymbolType.FUNCTION, hooks.node_after_annotations)


def _is_alone(block: Node) -> bool:
    """Whether an indented block is one expression after a definition's `=`, where it could also be written."""
    around = parent_of(block) if _lone_child(block) is not None else None
    return around is not None and around.type in VALUES | {"function_definition", "given_definition"}


def _lone_child(block: Node) -> Node | None:
    """The only node of a block; None if it has several, or none."""
    shown = [child for child in block.children if not child.is_extra]
    return shown[0] if len(shown) == 1 else None


def _bound(node: Node, field: str = "value") -> Node | None:
    """What a definition is bound to, on whatever line that is."""
    value = find_field(node, field)
    return (_lone_child(value) or value) if value is not None and value.type == "indented_block" else value


def _name(node: Node | None, *fields: str) -> str:
    """A name without the backticks that let it have blanks."""
    return raw_text(node, *fields).strip("`")


def _value(node: Node) -> DefinitionHead | None:
    """A value bound to a function, or to an object of a class without a name."""
    pattern, value = find_field(node, "pattern"), _bound(node)
    if pattern is None or value is None or pattern.type not in ("identifier", "operator_identifier"):
        return None
    type_, body = SymbolType.CLASS, _class_body(value)
    if value.type in FUNCTION_VALUES:
        type_, body = SymbolType.FUNCTION, value if value.type == "case_block" else value.children[-1]
    head = hooks.node_after_annotations(node)
    return DefinitionHead((_name(pattern),), type_, body, head) if body is not None else None


def _class_body(value: Node) -> Node | None:
    """The body in `new Finder { … }`."""
    last = value.children[-1] if value.type == "instance_expression" else None
    return last if last is not None and last.type == "template_body" else None


def _given_definition(node: Node) -> DefinitionHead | None:
    """A given with a body is a class, one with a value a function; without a name, Scala calls it by its type."""
    body = _bound(node, "body")
    if body is None:
        return None
    name = _name(node, "name") or "_".join(["given", *_type_names(find_field(node, "return_type"))])
    made_body = (child_of_type(node, "with") or body) if body.type == "with_template_body" else _class_body(body)
    type_ = SymbolType.FUNCTION if made_body is None else SymbolType.CLASS
    return DefinitionHead((name,), type_, made_body or body, hooks.node_after_annotations(node))


def _type_names(type_: Node | None) -> Iterator[str]:
    waiting = [type_] if type_ is not None else []
    while waiting:
        node = waiting.pop()
        if node.type == "type_identifier":
            yield raw_text(node)
        waiting.extend(reversed(node.children))


def _extension(node: Node) -> DefinitionHead | None:
    for parameters in node.children_by_field_name("parameters"):
        for parameter in parameters.named_children if parameters.type == "parameters" else ():
            for name in _type_names(find_field(parameter, "type")):
                return DefinitionHead((name,), None)
    return None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    value = _bound(node)
    holder = value if value is not None and value.type == "lambda_expression" else node
    for parameters in holder.children_by_field_name("parameters"):
        if parameters.type == "identifier":
            yield Parameter(text(parameters), None, None, "positional")
        for child in parameters.named_children:
            if child.type in ("parameter", "binding"):
                type_ = find_field(child, "type")
                is_open = type_ is not None and type_.type == "repeated_parameter_type"
                kind = "var_positional" if is_open else "positional"
                default = field_text(child, "default_value", text) or None
                yield Parameter(_name(child, "name"), text(type_).removesuffix("*") or None, default, kind)


def _bases(node: Node, text: Text) -> Iterator[str]:
    if node.type == "given_definition":
        yield field_text(node, "return_type", text)
        return
    value = _bound(node)
    if value is not None and value.named_children:
        type_ = value.named_children[0]
        yield from map(text, type_.named_children if type_.type == "compound_type" else [type_])
    extends = find_field(node, "extend")
    yield from (text(base) for base in (extends.children_by_field_name("type") if extends else ()) if base.is_named)


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    yield from hooks.modifiers_before(node, text, ("Test",))
    if child_of_type(node, "case"):
        yield "case"


def _infix_call(node: Node, text: Text) -> CallSyntax | None:
    """`items map price`; symbols are mostly those of numbers and lists."""
    operator = find_field(node, "operator")
    is_name = operator is not None and operator.type == "identifier"
    return CallSyntax(field_text(node, "left", text), text(operator)) if is_name else None


def _made(creation: Node, text: Text) -> str:
    """The class of a new object, without what is mixed in."""
    type_ = creation.named_children[0] if creation.named_children else None
    if type_ is not None and type_.type == "compound_type":
        type_ = find_field(type_, "base")
    return text(type_) if type_ is not None and "type" in type_.type else ""


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`import a.b, c.{d as e, f => g, *}`: a path ends at a comma."""
    path: list[str] = []
    for child in [*node.children[1:], None]:
        if child is None or child.type == ",":
            if path:
                module = ".".join(path[:-1])
                yield ImportSyntax(module or path[-1], path[-1] if module else None)
            path = []
        elif child.type in ("identifier", "operator_identifier"):
            path.append(_name(child))
        elif child.type != ".":
            for selector in child.children if child.type == "namespace_selectors" else [child]:
                yield from _selected(".".join(path), selector, text)
            path = []


def _selected(module: str, selector: Node, text: Text) -> Iterator[ImportSyntax]:
    if selector.type == "namespace_wildcard":
        yield ImportSyntax(module, "*")
    elif selector.type in ("arrow_renamed_identifier", "as_renamed_identifier"):
        alias = field_text(selector, "alias", text)
        if alias and alias != "_":
            yield ImportSyntax(module, field_text(selector, "name", text), alias)
    elif selector.is_named and not selector.is_extra:
        yield ImportSyntax(module, _name(selector))


def _package(node: Node, text: Text) -> str:
    """The package; several clauses at the top of a file are one path."""
    names = []
    clause: Node | None = node
    while clause is not None and clause.type == "package_clause":
        names.append(field_text(clause, "name", text))
        clause = next_sibling_of(clause, is_named=True)
    return ".".join(names)


def _typed_value(node: Node, text: Text) -> Iterator[TypedName]:
    """A value that says its type, or is `new Item(…)` or `Item(…)`: what begins with a capital is a class."""
    value, type_ = _bound(node), field_text(node, "type", text)
    if type_ or value is None or value.type not in ("instance_expression", "call_expression"):
        yield TypedName(_value_name(node), type_)
    elif value.type == "instance_expression":
        yield TypedName(_value_name(node), _made(value, text))
    else:
        function = find_field(value, "function")
        name = text(function) if function and function.type in ("identifier", "field_expression") else ""
        is_class = name.rpartition(".")[2][:1].isupper() and name.replace(".", "").isidentifier()
        yield TypedName(_value_name(node), name if is_class else "")


def _value_name(node: Node) -> str:
    pattern = find_field(node, "pattern") or find_field(node, "name")
    return _name(pattern) if pattern is not None and "identifier" in pattern.type else ""


def _field(node: Node, text: Text) -> Iterator[str]:
    yield from (hooks.member_text(name, field_text(node, "type", text)) for name in _global(node, text))


def _member(node: Node, text: Text) -> list[str]:
    return [_name(node, "name")]


def _global(node: Node, text: Text) -> Iterator[str]:
    name = _value_name(node)
    if name and _value(node) is None:
        yield name


def _result(body: Node) -> Node | None:
    """An expression, or the last one of a block."""
    last: Node | None = body
    while last is not None and last.type in BLOCKS:
        last = hooks.last_expression(last, ())
    is_none = last is None or last.type in ("case_block", "return_expression", "throw_expression")
    return None if is_none or (last and ("definition" in last.type or "declaration" in last.type)) else last


DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_scala.language, spec={"flat": {"indented_block": _is_alone}}),
    definitions={
        **dict.fromkeys(TYPES, hooks.definition_reader(SymbolType.CLASS, hooks.node_after_annotations)),
        "function_definition function_declaration": _FUNCTION,
        "val_definition var_definition": _value,
        "given_definition": _given_definition,
        "extension_definition": _extension,
    },
    result=_result,
    fields={
        **dict.fromkeys(VALUES, _field),
        # The parameters of a class are known in all of it; those of an enum's case are not its own.
        "class_parameter": hooks.directly_in(
            TYPES, lambda node, text: [f"{_name(node, 'name')}: {field_text(node, 'type', text)}"]
        ),
        "simple_enum_case full_enum_case type_definition": _member,
    },
    calls={
        "call_expression": hooks.call_reader("function", "field_expression value . field", around="generic_function"),
        "infix_expression": _infix_call,
        "instance_expression": lambda node, text: hooks.call_of_path(_made(node, text).partition("[")[0], is_new=True),
    },
    imports={"import_declaration export_declaration": _import},
    reexports={"export_declaration": _import},
    typed={
        **dict.fromkeys(VALUES, _typed_value),
        "parameter class_parameter binding": hooks.typed_name_reader(),
        "typed_pattern": hooks.typed_name_reader("pattern"),
    },
    parameters=_parameters,
    return_type=hooks.field_reader("return_type"),
    bases=_bases,
    modifiers=_modifiers,
    is_public=lambda parts, modifiers: not any(word.startswith("private") for word in modifiers),
    package={"package_clause": _package},
    globals={**dict.fromkeys(VALUES, _global), "type_definition": _member},
)
