"""Scala 2 and 3, with braces or by indentation.

A class and its companion object share their name, so the object has a suffix;
the members of both have the class's name before theirs. An extension
belongs to the type it extends. A value bound to a function is a function, one
bound to an anonymous class is a class.
"""

from collections.abc import Iterator

import tree_sitter_scala
from tree_sitter import Node

from codesum_pipeline.languages.annotations import ANNOTATIONS, SPEC_BASES, after_annotations, annotations_and_words
from codesum_pipeline.languages.declaration import (
    CallSyntax,
    Declaration,
    DefinitionHead,
    Docs,
    Facts,
    ImportSyntax,
    Text,
    TypedName,
)
from codesum_pipeline.languages.frameworks import FrameworkRules
from codesum_pipeline.languages.hooks import defines, field_reader, field_text, raw_text, typed_name
from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists
from codesum_pipeline.model.symbols import Parameter, SymbolType

TYPES = words("class_definition trait_definition object_definition enum_definition package_object")
VALUES = words("val_definition var_definition val_declaration var_declaration")
BRACED = words("template_body enum_body block case_block case_clause refinement")
INDENTED = words("indented_block indented_cases with_template_body enumerators")
BLOCKS = words("block indented_block")


def _is_alone(block: Node) -> bool:
    """Whether an indented block is one expression after a definition's `=`, where it may stand as well."""
    around = block.parent if lone_child(block) is not None else None
    return around is not None and around.type in VALUES | {"function_definition", "given_definition"}


def lone_child(block: Node) -> Node | None:
    """What stands alone in a block; None where there is more, or nothing."""
    shown = [child for child in block.children if not child.is_extra]
    return shown[0] if len(shown) == 1 else None


SPEC = LanguageSpec(
    name="scala",
    version=5,
    grammar=tree_sitter_scala.language,
    blocks=INDENTED | {"compilation_unit"},
    braced=BRACED,
    # Bodies without braces: `object A:`, `case 1 =>`.
    openers=words(": =>"),
    rows=BRACED | INDENTED | {"compilation_unit"},
    hanging=words("extension_definition"),
    flat={"indented_block": _is_alone},
    restarts=words("end_marker"),
    atoms=words("""
        string character_literal interpolated_string_expression end_marker vararg using_directive xml_expression
    """),
    deep=words("interpolated_string_expression"),
    comments=words("comment block_comment"),
    branches=words("if_expression while_expression do_while_expression for_expression case_clause"),
    lists=lists("""
        arguments parameters class_parameters type_arguments type_parameters tuple_expression tuple_type
    """),
    tokens=BRACKETS
    | spaced("""
        TIGHT  . #
        COMMA  : ;
        PREFIX @
        INFIX  operator_identifier
    """),
    tokens_in=spaced_in("""
        OMITTED   compilation_unit|template_body|enum_body|block|indented_block|case_clause ;  refinement ;
        PREFIX    prefix_expression|covariant_type_parameter +  prefix_expression|contravariant_type_parameter -
           prefix_expression !  prefix_expression ~  splice_expression ${  quote_expression '
        WORD      function_definition|function_declaration|arguments|field_expression operator_identifier
           namespace_selectors operator_identifier
        OPEN      namespace_selectors {
        TIGHT     access_qualifier [
        INFIX     infix_expression identifier  capture_pattern @
           covariant_type_parameter|contravariant_type_parameter|type_parameters :
        CLOSE     repeated_parameter_type|repeat_pattern *
        SPACED    lambda_expression =>
    """),
)


FUNCTION_VALUES = words("lambda_expression case_block")


def _bound(node: Node, field: str = "value") -> Node | None:
    """What a definition is bound to, on whatever line that stands."""
    value = node.child_by_field_name(field)
    return (lone_child(value) or value) if value is not None and value.type == "indented_block" else value


def _defined(node: Node, type_: SymbolType, name: str = "", body: Node | None = None) -> DefinitionHead | None:
    name = name or _name(node.child_by_field_name("name"))
    body = body or node.child_by_field_name("body")
    return DefinitionHead((name,), type_, body, after_annotations(node)) if name else None


def _name(node: Node | None) -> str:
    """A name without the backticks that let it have blanks."""
    return raw_text(node).strip("`")


def _value(node: Node) -> DefinitionHead | None:
    """A value bound to a function, or to an object of a class without a name."""
    pattern, value = node.child_by_field_name("pattern"), _bound(node)
    if pattern is None or value is None or pattern.type not in ("identifier", "operator_identifier"):
        return None
    if value.type in FUNCTION_VALUES:
        body = value if value.type == "case_block" else value.children[-1]
        return _defined(node, SymbolType.FUNCTION, _name(pattern), body)
    made = _class_body(value)
    return _defined(node, SymbolType.CLASS, _name(pattern), made) if made is not None else None


def _class_body(value: Node | None) -> Node | None:
    """The body in `new Finder { … }`."""
    last = value.children[-1] if value is not None and value.type == "instance_expression" else None
    return last if last is not None and last.type == "template_body" else None


def _given(node: Node) -> DefinitionHead | None:
    """A given with a body is a class, one with a value a function; without a name, Scala calls it by its type."""
    type_, body = node.child_by_field_name("return_type"), _bound(node, "body")
    if body is None:
        return None
    name = _name(node.child_by_field_name("name")) or "_".join(["given", *_type_names(type_)])
    if body.type == "with_template_body":
        mark = next((child for child in node.children if child.type == "with"), body)
        return _defined(node, SymbolType.CLASS, name, mark)
    made = _class_body(body)
    return _defined(node, SymbolType.CLASS if made is not None else SymbolType.FUNCTION, name, made or body)


def _type_names(type_: Node | None) -> Iterator[str]:
    waiting = [type_] if type_ is not None else []
    while waiting:
        node = waiting.pop()
        if node.type == "type_identifier":
            yield raw_text(node)
        waiting.extend(reversed(node.children))


def _extension(node: Node) -> DefinitionHead | None:
    for parameters in node.children_by_field_name("parameters"):
        for parameter in parameters.named_children:
            names = list(_type_names(parameter.child_by_field_name("type")))
            if parameters.type == "parameters" and names:
                return DefinitionHead((names[0],), None)
    return None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    value = _bound(node)
    holder = value if value is not None and value.type == "lambda_expression" else node
    for parameters in holder.children_by_field_name("parameters"):
        if parameters.type == "identifier":
            yield Parameter(text(parameters), None, None, "positional")
        for child in parameters.named_children:
            if child.type in ("parameter", "binding"):
                yield _parameter(child, text)


def _parameter(node: Node, text: Text) -> Parameter:
    type_ = node.child_by_field_name("type")
    kind = "var_positional" if type_ is not None and type_.type == "repeated_parameter_type" else "positional"
    default = field_text(node, "default_value", text) or None
    return Parameter(_name(node.child_by_field_name("name")), text(type_).removesuffix("*") or None, default, kind)


def _bases(node: Node, text: Text) -> Iterator[str]:
    if node.type == "given_definition":
        yield field_text(node, "return_type", text)
        return
    made = _bound(node)
    if made is not None and made.named_children:
        type_ = made.named_children[0]
        yield from map(text, type_.named_children if type_.type == "compound_type" else [type_])
    extends = node.child_by_field_name("extend")
    for base in extends.children_by_field_name("type") if extends else ():
        if base.is_named:
            yield text(base)


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    for child in annotations_and_words(node):
        if child.type not in ANNOTATIONS:
            yield text(child)
        elif field_text(child, "name", text).rpartition(".")[2] == "Test":
            yield "test"
    if any(child.type == "case" for child in node.children):
        yield "case"


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "generic_function":
        function = function.child_by_field_name("function")
    if function is None:
        return None
    if function.type == "field_expression":
        return CallSyntax(field_text(function, "value", text), _name(function.child_by_field_name("field")))
    return CallSyntax("", text(function)) if function.type == "identifier" else None


def _infix_call(node: Node, text: Text) -> CallSyntax | None:
    """`items map price`; symbols are mostly those of numbers and lists."""
    operator = node.child_by_field_name("operator")
    if operator is None or operator.type != "identifier":
        return None
    return CallSyntax(field_text(node, "left", text), text(operator))


def _new(node: Node, text: Text) -> CallSyntax | None:
    receiver, _, name = _made(node, text).partition("[")[0].rpartition(".")
    return CallSyntax(receiver, name, is_new=True) if name else None


def _made(creation: Node, text: Text) -> str:
    """The class of a new object, without what is mixed in."""
    type_ = creation.named_children[0] if creation.named_children else None
    if type_ is not None and type_.type == "compound_type":
        type_ = type_.child_by_field_name("base")
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
            selectors = child.children if child.type == "namespace_selectors" else [child]
            for selector in selectors:
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
        clause = clause.next_named_sibling
    return ".".join(names)


def _typed_pattern(node: Node, text: Text) -> Iterator[TypedName]:
    """`case circle: Circle`."""
    yield TypedName(field_text(node, "pattern", text), field_text(node, "type", text))


def _typed_value(node: Node, text: Text) -> Iterator[TypedName]:
    """A value that says its type, or is `new Item(…)` or `Item(…)`: what begins with a capital is a class."""
    name, value = _value_name(node), _bound(node)
    type_: str = field_text(node, "type", text)
    if not type_ and value is not None and value.type == "instance_expression":
        type_ = _made(value, text)
    elif not type_ and value is not None and value.type == "call_expression":
        made = value.child_by_field_name("function")
        called = text(made) if made is not None and made.type in ("identifier", "field_expression") else ""
        type_ = called if called.rpartition(".")[2][:1].isupper() and called.replace(".", "").isidentifier() else ""
    yield TypedName(name, type_)


def _value_name(node: Node) -> str:
    pattern = node.child_by_field_name("pattern") or node.child_by_field_name("name")
    return _name(pattern) if pattern is not None and "identifier" in pattern.type else ""


def _field(node: Node, text: Text) -> Iterator[str]:
    name = _value_name(node)
    if name and _value(node) is None:
        type_ = field_text(node, "type", text)
        yield f"{name}: {type_}" if type_ else name


def _component(node: Node, text: Text) -> Iterator[str]:
    """The parameters of a class are known in all of it; those of an enum's case are not its own."""
    around = node.parent.parent if node.parent is not None else None
    if around is not None and around.type in TYPES:
        yield f"{_name(node.child_by_field_name('name'))}: {field_text(node, 'type', text)}"


def _member(node: Node, text: Text) -> Iterator[str]:
    yield _name(node.child_by_field_name("name"))


def _global(node: Node, text: Text) -> Iterator[str]:
    name = _value_name(node)
    if name and _value(node) is None:
        yield name


def _result(body: Node) -> Node | None:
    """An expression, or the last one of a block."""
    last: Node | None = body
    while last is not None and last.type in BLOCKS:
        last = next((child for child in reversed(last.named_children) if not child.is_extra), None)
    if last is None or last.type in ("case_block", "return_expression", "throw_expression"):
        return None
    return last if "definition" not in last.type and "declaration" not in last.type else None


_BEFORE = (
    r"(?:@\w+(?:\([^()]*\))?[ \t]+)*(?:(?:override|final|private|protected|private\[\w+\]|protected\[\w+\]|implicit"
    r"|inline|transparent|lazy|abstract|sealed|case|open|opaque|infix|package)[ \t]+)*"
)
# Lines that look like a definition.
_LINES = (
    rf"[ \t]*{_BEFORE}def[ \t]+(?P<name>[A-Za-z_][\w$]*?(?:_[=!+~*/<>|&-]+|(?![\w$]))|`[^`]+`)",
    rf"[ \t]*{_BEFORE}(?:class|trait|object)[ \t]+(?P<name>[A-Za-z_]\w*)",
)

DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(specs=SPEC_BASES),
    definition_lines=_LINES,
    definitions={
        **dict.fromkeys(TYPES, defines(SymbolType.CLASS, after_annotations)),
        "function_definition function_declaration": defines(SymbolType.FUNCTION, after_annotations),
        "val_definition var_definition": _value,
        "given_definition": _given,
        "extension_definition": _extension,
    },
    companions=words("object_definition"),
    docs=Docs.MARKED,
    doc_marks=("/**",),
    facts=Facts(
        returns=words("return_expression"),
        raises=words("throw_expression"),
        assignments={"assignment_expression": "left"},
        result=_result,
        fields={
            **dict.fromkeys(VALUES, _field),
            "class_parameter": _component,
            "simple_enum_case full_enum_case type_definition": _member,
        },
    ),
    calls={"call_expression": _call, "infix_expression": _infix_call, "instance_expression": _new},
    imports={"import_declaration export_declaration": _import},
    reexports={"export_declaration": _import},
    typed={
        **dict.fromkeys(VALUES, _typed_value),
        "parameter class_parameter binding": typed_name,
        "typed_pattern": _typed_pattern,
    },
    parameters=_parameters,
    return_type=field_reader("return_type"),
    bases=_bases,
    modifiers=_modifiers,
    is_public=lambda parts, modifiers: not any(word.startswith("private") for word in modifiers),
    package={"package_clause": _package},
    globals={**dict.fromkeys(VALUES, _global), "type_definition": _member},
)
