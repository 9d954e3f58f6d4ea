"""C#.

A property, an indexer or an event is one function if it has code of its own,
and a field if it only holds a value. Members that implement an interface by
its name, operators and destructors are called as they are written. Namespaces
are packages. Both branches of an `#if` are read.
"""

import re
from collections.abc import Iterator
from html import unescape

from tree_sitter import Node

from codesum_pipeline.languages.annotations import MODIFIERS, after_annotations, annotations_and_words
from codesum_pipeline.languages.c_sharp.layout import SPEC, TYPES, holds_a_value
from codesum_pipeline.languages.conditional import later_branches
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
from codesum_pipeline.languages.hooks import field_reader, field_text, names_in, raw_text, unknown_words
from codesum_pipeline.languages.spec import words
from codesum_pipeline.model.symbols import Parameter, SymbolType

# Between the words of a struct, which it knows in one order only, as a modifier that it knows everywhere.
_REF = re.compile(rb"\bref(?=[ \t]+partial[ \t]+struct\b)")


# A name, if no lambda, function or type comes after it, as another name.
_ASYNC = re.compile(rb"(?<![\w.@])async(?=[ \t]*(?:[),;:?.\]}&|]|[=!]=|=[^>]))")


def _masked(source: bytes, is_broken: bool) -> bytes:
    """A source that the grammar can read, byte for byte as long, where it did not read it as it is."""
    return _ASYNC.sub(b"asynk", _REF.sub(b"new", source)) if is_broken else source


CREATIONS = words("object_creation_expression implicit_object_creation_expression")


FUNCTION_VALUES = words("lambda_expression anonymous_method_expression")


TEST_ATTRIBUTES = words("Fact Theory Test TestCase TestCaseSource TestMethod DataTestMethod")


ACCESS = words("public protected private internal")


def _defined(node: Node, type_: SymbolType, name: str = "", body: Node | None = None) -> DefinitionHead | None:
    name = name or raw_text(node.child_by_field_name("name"))
    body = body or node.child_by_field_name("body")
    return DefinitionHead((name,), type_, body, after_annotations(node)) if name else None


def _type(node: Node) -> DefinitionHead | None:
    return _defined(node, SymbolType.CLASS)


def _method(node: Node) -> DefinitionHead | None:
    return _defined(node, SymbolType.FUNCTION)


def _destructor(node: Node) -> DefinitionHead | None:
    return _defined(node, SymbolType.FUNCTION, f"~{raw_text(node.child_by_field_name('name'))}")


def _operator(node: Node) -> DefinitionHead | None:
    of = node.child_by_field_name("operator") or node.child_by_field_name("type")
    return _defined(node, SymbolType.FUNCTION, f"operator {raw_text(of)}") if of is not None else None


def _property(node: Node) -> DefinitionHead | None:
    """A property, indexer or event with code; an indexer is called `this`."""
    body = _accessors_with_code(node)
    if body is None:
        return None
    return _defined(node, SymbolType.FUNCTION, "this" if node.type == "indexer_declaration" else "", body)


def _accessors_with_code(node: Node) -> Node | None:
    value = node.child_by_field_name("value")
    if value is not None and value.type == "arrow_expression_clause":
        return value
    accessors = node.child_by_field_name("accessors")
    return accessors if accessors is not None and not holds_a_value(accessors) else None


def _variable(node: Node) -> DefinitionHead | None:
    """A variable bound to a function without a name."""
    name, value = node.child_by_field_name("name"), _function_value(node)
    if name is None or value is None:
        return None
    return DefinitionHead(
        (raw_text(name),), SymbolType.FUNCTION, value.child_by_field_name("body") or value.children[-1]
    )


def _function_value(declarator: Node) -> Node | None:
    last = declarator.children[-1] if declarator.children else None
    return last if last is not None and last.type in FUNCTION_VALUES else None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    if node.type == "variable_declarator":
        node = _function_value(node) or node
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        return
    if parameters.type == "implicit_parameter":
        yield Parameter(text(parameters), None, None, "positional")
    for child in parameters.named_children:
        if child.type == "parameter":
            yield _parameter(child, text)
    if name := field_text(parameters, "name", text):
        yield Parameter(name, field_text(parameters, "type", text), None, "var_positional")


def _parameter(node: Node, text: Text) -> Parameter:
    words = [text(child) for child in node.children if child.type == "modifier"]
    type_ = " ".join([*(word for word in words if word != "this"), field_text(node, "type", text)])
    last = node.children[-1]
    default = text(last) if len(node.children) > 1 and node.children[-2].type == "=" else None
    kind = "receiver" if "this" in words else "positional"
    return Parameter(field_text(node, "name", text), type_ or None, default, kind)


def _return_type(node: Node, text: Text) -> str | None:
    return field_text(node, "returns", text) or field_text(node, "type", text) or None


def _bases(node: Node, text: Text) -> Iterator[str]:
    bases = next((child for child in node.children if child.type == "base_list"), None)
    if bases is None or node.type == "enum_declaration":
        return
    for child in bases.named_children:
        if child.type == "primary_constructor_base_type":
            yield field_text(child, "type", text)
        elif child.type != "argument_list" and not child.is_extra:
            yield text(child)


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """The words before a definition; an interface's members are public without saying so."""
    declared = node
    while declared.type in ("variable_declarator", "variable_declaration") and declared.parent is not None:
        declared = declared.parent
    words: list[str] = []
    for child in annotations_and_words(declared):
        if child.type == "modifier":
            words.append(text(child))
        elif any(_is_test(attribute, text) for attribute in child.named_children):
            words.append("test")
    if ACCESS.isdisjoint(words) and _is_in_interface(declared):
        yield "public"
    yield from words


def _is_public(parts: tuple[str, ...], modifiers: tuple[str, ...]) -> bool:
    return "private" not in modifiers and ("public" in modifiers or "protected" in modifiers)


def _is_test(attribute: Node, text: Text) -> bool:
    return field_text(attribute, "name", text).rpartition(".")[2].removesuffix("Attribute") in TEST_ATTRIBUTES


def _is_in_interface(node: Node) -> bool:
    around = node.parent.parent if node.parent is not None else None
    return around is not None and around.type == "interface_declaration"


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = node.child_by_field_name("function")
    if function is None:
        return None
    if function.type == "member_access_expression":
        return CallSyntax(field_text(function, "expression", text), _plain(function.child_by_field_name("name"), text))
    if function.type == "conditional_access_expression":
        binding = function.named_children[-1]
        name = _plain(binding.child_by_field_name("name"), text) if binding.type == "member_binding_expression" else ""
        return CallSyntax(field_text(function, "condition", text), name) if name else None
    return CallSyntax("", _plain(function, text)) if function.type in ("identifier", "generic_name") else None


def _plain(name: Node | None, text: Text) -> str:
    """A name without type arguments."""
    return text(name.named_children[0] if name is not None and name.type == "generic_name" else name)


def _new(node: Node, text: Text) -> CallSyntax | None:
    receiver, _, name = _made(node, text).partition("<")[0].rpartition(".")
    return CallSyntax(receiver, name, is_new=True) if name else None


def _made(creation: Node, text: Text) -> str:
    """The type of a new object: that of the variable for a `new()`."""
    if creation.type == "object_creation_expression":
        return field_text(creation, "type", text)
    around = creation.parent
    if around is not None and around.type == "variable_declarator":
        around = around.parent
    if around is None or around.type not in ("variable_declaration", "property_declaration"):
        return ""
    return field_text(around, "type", text)


def _constructor_call(node: Node, text: Text) -> CallSyntax | None:
    words = [child.type for child in node.children if child.type in ("this", "base")]
    return CallSyntax("", words[0]) if words else None


def _using(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """A namespace gives all its names, and so does the class of a `using static`; an alias is one name."""
    alias = field_text(node, "name", text)
    path = text(node.named_children[-1]) if node.named_children else ""
    if alias:
        module, _, name = path.partition("<")[0].rpartition(".")
        yield ImportSyntax(module or name, name if module else None, alias)
    elif path:
        yield ImportSyntax(path, "*")


def _variables(node: Node, text: Text) -> Iterator[TypedName]:
    """Each variable of a declaration with its type, which is that of the new object for a `var`."""
    type_ = field_text(node, "type", text)
    for child in node.named_children:
        if child.type == "variable_declarator" and (name := field_text(child, "name", text)):
            value = child.children[-1]
            made = _made(value, text) if value.type == "object_creation_expression" else ""
            yield TypedName(name, made if type_ == "var" else type_)


def _fields(node: Node, text: Text) -> Iterator[str]:
    declared = next((child for child in node.named_children if child.type == "variable_declaration"), None)
    for variable in _variables(declared, text) if declared is not None else ():
        yield f"{variable.name}: {variable.type}"


def _held_property(node: Node, text: Text) -> Iterator[str]:
    if _accessors_with_code(node) is None:
        yield f"{field_text(node, 'name', text)}: {field_text(node, 'type', text)}"


def _component(node: Node, text: Text) -> Iterator[str]:
    """The parameters of a type are known in all of it."""
    around = node.parent.parent if node.parent is not None else None
    if around is not None and around.type in TYPES:
        yield f"{field_text(node, 'name', text)}: {field_text(node, 'type', text)}"


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    type_ = field_text(node, "type", text)
    name = node.child_by_field_name("left") if node.type == "foreach_statement" else node.child_by_field_name("name")
    if type_ != "var" and name is not None and name.type == "identifier":
        yield TypedName(text(name), type_)


def _result(body: Node) -> Node | None:
    """What an expression body gives: that of the getter for a property, nothing where nothing is returned."""
    if body.type == "accessor_list":
        getters = [
            child.child_by_field_name("body") for child in body.named_children if raw_text(child).startswith("get")
        ]
        return _result(getters[0]) if getters and getters[0] is not None else None
    if body.type != "arrow_expression_clause":
        return body if body.type != "block" else None
    around = body.parent
    returned = (around.child_by_field_name("returns") or around.child_by_field_name("type")) if around else None
    is_getter = around is not None and around.type == "accessor_declaration"
    return body.children[-1] if is_getter or (returned and raw_text(returned) != "void") else None


# Lines that look like a definition.
_LINES = (
    rf"[ \t]*{MODIFIERS}*(?:class|interface|enum|struct|record(?:[ \t]+(?:class|struct))?)[ \t]+"
    r"(?P<name>(?!class\b|struct\b)[A-Z]\w*)"
    r"[ \t]*(?:[<:{(].*)?$",
    # A bracket belongs to a type where it is a tuple: in `new A(new B(…))` it does not.
    rf"[ \t]*{MODIFIERS}+(?!class|new|return|record)"
    r"(?:[\w<>\[\],.? ]|(?<=[ \t<,])\((?:[^()\n]|\([^()\n]*\))*\))+[ \t](?:\w+\.)*"
    r"(?<!operator )(?P<name>(?!typeof\b)[A-Za-z_]\w*)[ \t]*(?:<[\w, ]+>)?\([^;=\"\n]*$",
)


_TAGS = (
    # What a tag refers to stands in its attribute: `<see cref="T:Store"/>`.
    (re.compile(r'<(?:see|seealso|paramref|typeparamref)\s+\w+="(?:[A-Z]:)?([^"]*)"\s*/>'), r"\1"),
    (re.compile(r'<(?:param|typeparam|exception|permission)\s+\w+="(?:[A-Z]:)?([^"]*)"\s*>\s*'), r"\1: "),
    (re.compile(r"<returns>\s*"), "Returns: "),
    (re.compile(r"</?[A-Za-z][^<>]*>"), ""),
)


def _plain_text(documentation: str) -> str:
    """The words of a comment; lines that hold nothing but tags go."""
    lines = []
    for line in documentation.split("\n"):
        shown = line
        for tag, text in _TAGS:
            shown = tag.sub(text, shown)
        if shown.strip() or shown == line:
            lines.append(unescape(shown.rstrip() if shown == line else shown.strip()))
    return "\n".join(lines).strip("\n")


DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(methods_decide=True),
    definition_lines=_LINES,
    definitions={
        **dict.fromkeys(TYPES | {"enum_declaration", "delegate_declaration"}, _type),
        "method_declaration constructor_declaration local_function_statement": _method,
        "destructor_declaration": _destructor,
        "operator_declaration conversion_operator_declaration": _operator,
        "property_declaration indexer_declaration event_declaration": _property,
        "variable_declarator": _variable,
    },
    masked=_masked,
    hiding=unknown_words(later_branches),
    docs=Docs.MARKED,
    doc_marks=("///", "/**"),
    plain_doc=_plain_text,
    facts=Facts(
        returns=words("return_statement"),
        raises=words("throw_statement throw_expression"),
        yields=words("yield_statement"),
        assignments={"assignment_expression": "left"},
        closures=FUNCTION_VALUES,
        delegations=words("constructor_initializer"),
        result=_result,
        fields={
            "field_declaration event_field_declaration": _fields,
            "property_declaration": _held_property,
            "enum_member_declaration": names_in("name"),
            "parameter": _component,
        },
    ),
    calls={
        "invocation_expression": _call,
        **dict.fromkeys(CREATIONS, _new),
        "constructor_initializer": _constructor_call,
    },
    imports={"using_directive": _using},
    typed={
        "variable_declaration": _variables,
        "parameter property_declaration foreach_statement": _typed,
        "catch_declaration declaration_pattern recursive_pattern declaration_expression": _typed,
    },
    parameters=_parameters,
    return_type=_return_type,
    bases=_bases,
    modifiers=_modifiers,
    is_public=_is_public,
    package={"namespace_declaration file_scoped_namespace_declaration": field_reader("name")},
)
