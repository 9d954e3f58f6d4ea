"""Swift."""

import re
from collections.abc import Iterator

import tree_sitter_swift
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
from codesum_pipeline.languages.hooks import child_of, field_text, hidden_by, raw_text, unknown_words
from codesum_pipeline.languages.spec import BRACKETS, LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists
from codesum_pipeline.model.symbols import Parameter, SymbolType

# Among the cases of a `switch`, a condition of the compiler costs it all that follows.
_CONDITION = re.compile(rb"^[ \t]*#(?:if|elseif|else|endif)\b[^\n]*", re.M)
_ARGUMENTS = rb"\((?:[^()]|\((?:[^()]|\([^()]{0,400}\)){0,400}\)){0,2000}\)"
# A function that another language defines has no body.
_FOREIGN = re.compile(
    rb"@(?:_silgen_name|_extern)\([^()\n]*\)\s+(?:[a-z]+\s+){0,4}func\s+\w+(?:<[^<>(){}]{0,400}>)?[ \t]*"
    + _ARGUMENTS
    + rb"(?:[ \t]*(?:async|throws))*(?:[ \t]*->[^\n{]*)?(?=\n|$)"
)


def _unknown(source: bytes) -> Iterator[tuple[int, int]]:
    """The compiler's conditions, and functions without a body."""
    for pattern in (_CONDITION, _FOREIGN):
        yield from (match.span() for match in pattern.finditer(source))


_BODIES = words("class_body protocol_body enum_class_body computed_property willset_didset_block")
_STATEMENTS = words("""
    function_body if_statement guard_statement for_statement while_statement repeat_while_statement do_statement
    catch_block switch_statement computed_getter computed_setter computed_modify didset_clause willset_clause
    lambda_literal
""")

SPEC = LanguageSpec(
    name="swift",
    version=5,
    grammar=tree_sitter_swift.language,
    lines=words("switch_entry"),
    blocks=words("source_file"),
    braced=_BODIES | _STATEMENTS,
    hanging=words("switch_entry"),
    rows=_BODIES | {"source_file", "statements"},
    atoms=words("line_string_literal multi_line_string_literal raw_string_literal regex_literal directive"),
    deep=words("line_string_literal multi_line_string_literal raw_string_literal"),
    comments=words("comment multiline_comment shebang_line"),
    branches=words("""
        if_statement guard_statement for_statement while_statement repeat_while_statement switch_entry catch_block
    """),
    lists=lists("value_arguments array_literal dictionary_literal"),
    tokens=BRACKETS
    | spaced(r"""
        TIGHT  . ..< ...
        COMMA  : ;
        CLOSE  ?
        STEP   ! bang ++ --
        PREFIX @ # \ ~
        EITHER & - +
    """),
    tokens_in=spaced_in("""
        PREFIX    pattern|prefix_expression|if_statement|guard_statement|while_statement .
           array_literal|array_type|dictionary_literal|dictionary_type [
        INFIX     ternary_expression ?  ternary_expression :
        CLOSE     as_operator ?  type_parameters|type_arguments >  parameter ...
        OPEN      type_parameters|type_arguments <
        OMITTED   statements|class_body|protocol_body|enum_class_body|enum_entry|source_file ;
        WORD      function_declaration ==  function_declaration <  function_declaration >  function_declaration +
           function_declaration -  function_declaration *  function_declaration /  init_declaration init
           subscript_declaration subscript  visibility_modifier private  visibility_modifier fileprivate
           visibility_modifier internal  visibility_modifier public
    """),
)

_PARTS = words("struct class enum protocol func let var typealias")
_MEMBERS = {"init_declaration": "init", "deinit_declaration": "deinit", "subscript_declaration": "subscript"}


def _function(node: Node) -> DefinitionHead | None:
    name = _MEMBERS.get(node.type) or raw_text(node.child_by_field_name("name"))
    body = node.child_by_field_name("body") or child_of(node, "computed_property")
    return DefinitionHead((name,), SymbolType.FUNCTION, body) if name else None


def _type(node: Node) -> DefinitionHead | None:
    """A class, struct, enum, actor or protocol; what an extension holds belongs to the type it extends."""
    name = raw_text(node.child_by_field_name("name"))
    body = node.child_by_field_name("body")
    if not name:
        return None
    if raw_text(node.child_by_field_name("declaration_kind")) == "extension":
        return DefinitionHead(tuple(name.partition("<")[0].split(".")), None, body)
    return DefinitionHead((name,), SymbolType.CLASS, body)


def _property(node: Node) -> DefinitionHead | None:
    """A computed property, or a variable that holds a closure."""
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("computed_value") or node.child_by_field_name("value")
    if name is None or body is None or body.type not in ("computed_property", "lambda_literal"):
        return None
    return DefinitionHead((raw_text(name),), SymbolType.FUNCTION, body)


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    holder = node.child_by_field_name("value") if node.type == "property_declaration" else node
    if holder is None or holder.type == "lambda_literal":
        return
    found: Parameter | None = None
    for number, child in enumerate(holder.children):
        if child.type == "parameter":
            if found is not None:
                yield found
            rest = any(part.type == "..." for part in child.children)
            kind = "var_positional" if rest else "positional"
            found = Parameter(field_text(child, "name", text), _said_type(child, text), None, kind)
        elif found is not None and holder.field_name_for_child(number) == "default_value":
            found = Parameter(found.name, found.type, text(child), found.kind)
    if found is not None:
        yield found


def _said_type(node: Node, text: Text) -> str | None:
    """What stands behind the colon."""
    types = [child for child in _after(node, ":") if child.type != "parameter_modifiers"]
    return text(types[0]) if types else None


def _after(node: Node, token: str) -> list[Node]:
    """The named children behind the first token of a kind."""
    position = next((number for number, child in enumerate(node.children) if child.type == token), None)
    return [] if position is None else [child for child in node.children[position + 1 :] if child.is_named]


def _return_type(node: Node, text: Text) -> str | None:
    if node.type == "property_declaration":
        annotation = child_of(node, "type_annotation")
        return _said_type(annotation, text) if annotation is not None else None
    types = _after(node, "->")
    return text(types[0]) if types else None


def _bases(node: Node, text: Text) -> Iterator[str]:
    for child in node.named_children:
        if child.type == "inheritance_specifier":
            yield field_text(child, "inherits_from", text) or text(child)


def _extension(node: Node, text: Text) -> Extension | None:
    """`extension Type: Protocol`."""
    if raw_text(node.child_by_field_name("declaration_kind")) != "extension":
        return None
    return Extension(field_text(node, "name", text), tuple(_bases(node, text)))


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    for child in node.children:
        if child.type == "modifiers":
            for word in child.named_children:
                if word.type != "attribute":
                    yield text(word)
                elif text(child_of(word, "user_type")) == "Test":
                    yield "test"
        elif child.type in ("async", "throws"):
            yield child.type


def _call(node: Node, text: Text) -> CallSyntax | None:
    """`f()`, `Type()`, `a.b()`; `a[0]` is one to the grammar, but calls nothing that has a name."""
    function = node.named_children[0] if node.named_children else None
    arguments = child_of(child_of(node, "call_suffix"), "value_arguments")
    if function is None or (arguments is not None and arguments.children[0].type == "["):
        return None
    if function.type == "navigation_expression":
        target, suffix = function.child_by_field_name("target"), function.child_by_field_name("suffix")
        return CallSyntax(text(target), text(suffix).lstrip("."))
    if function.type != "simple_identifier":
        return None
    name = text(function)
    return CallSyntax("", name, is_new=name[:1].isupper())


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`import A` takes a module, `import struct A.B` one name of it."""
    path = text(child_of(node, "identifier"))
    is_part = any(
        child.type in ("struct", "class", "enum", "protocol", "func", "let", "var") for child in node.children
    )
    module, _, name = path.rpartition(".")
    if path:
        yield ImportSyntax(module, name) if is_part and module else ImportSyntax(path)


def _exported_module(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`@_exported import X`."""
    words = raw_text(node.named_children[0]) if node.named_children else ""
    path = next((text(child) for child in node.named_children if child.type == "identifier"), "")
    if "@_exported" in words and path:
        yield ImportSyntax(path, "*")


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    if type_ := _said_type(node, text):
        yield TypedName(field_text(node, "name", text), type_)


def _typed_property(node: Node, text: Text) -> Iterator[TypedName]:
    """`var x: T`, and `let x = T(…)`."""
    name = field_text(node, "name", text)
    annotation, value = child_of(node, "type_annotation"), node.child_by_field_name("value")
    said = _said_type(annotation, text) if annotation is not None else None
    made = _call(value, text) if value is not None and value.type == "call_expression" else None
    if name and said:
        yield TypedName(name, said)
    elif name and made is not None and made.is_new:
        yield TypedName(name, made.name)


def _stored(node: Node, text: Text) -> Iterator[str]:
    """The stored properties that a declaration names."""
    if node.child_by_field_name("computed_value") is None:
        said = _return_type(node, text)
        for name in node.children_by_field_name("name"):
            yield f"{text(name)}: {said}" if said else text(name)


def _cases(node: Node, text: Text) -> Iterator[str]:
    for child in node.named_children:
        if child.type == "simple_identifier":
            yield text(child)


def _global(node: Node, text: Text) -> Iterator[str]:
    if node.child_by_field_name("computed_value") is None and _property(node) is None:
        yield from (text(name) for name in node.children_by_field_name("name"))


def _result(body: Node) -> Node | None:
    """The one expression of a body is its value, if there is to be one."""
    function = body.parent
    if body.type == "function_body" and (function is None or all(child.type != "->" for child in function.children)):
        return None
    statements = child_of(body, "statements")
    only = statements.named_children[0] if statements is not None and statements.named_child_count == 1 else None
    is_statement = only is None or only.type.endswith(("_statement", "_declaration")) or only.type == "assignment"
    return None if is_statement else only


_BEFORE = (
    r"(?:@[\w.]+(?:\([^()]*\))?[ \t]+)*(?:(?:public|private|fileprivate|internal|open|package|final|static|class"
    r"|override|mutating|nonmutating|required|convenience|indirect|dynamic|optional|nonisolated|prefix|postfix|infix"
    r"|private\(set\))[ \t]+)*"
)
# Lines that look like a definition.
_LINES = (
    # Defined elsewhere, mostly in another language: it has no name here.
    r"[ \t]*@(?:_silgen_name|_extern)\([^()\n]*\)\s[^\n]*\bfunc\b",
    rf"[ \t]*{_BEFORE}func[ \t]+(?P<name>\w+|`\w+`)[ \t]*[(<]",
    rf"[ \t]*{_BEFORE}(?:class|struct|enum|protocol|actor)[ \t]+"
    r"(?P<name>(?!func\b|var\b|let\b|subscript\b)[A-Za-z_]\w*)(?=(?:[^;{}()]|\([^;{}()]*\))*\{)",
)

DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(library_words=words("open public"), methods_decide=True),
    definition_lines=_LINES,
    definitions={
        "function_declaration protocol_function_declaration": _function,
        "init_declaration deinit_declaration subscript_declaration": _function,
        "class_declaration protocol_declaration": _type,
        "property_declaration": _property,
    },
    docs=Docs.MARKED,
    doc_marks=("///", "/**"),
    hiding=unknown_words(_unknown),
    facts=Facts(
        returns=words("control_transfer_statement"),
        raising_words=words("throw_keyword"),
        assignments={"assignment": "target"},
        raising_calls=words("fatalError preconditionFailure"),
        closures=words("lambda_literal"),
        fields={"property_declaration protocol_property_declaration": _stored, "enum_entry": _cases},
        result=_result,
    ),
    calls={"call_expression": _call},
    imports={"import_declaration": _import},
    reexports={"import_declaration": _exported_module},
    typed={"parameter": _typed, "property_declaration": _typed_property},
    parameters=_parameters,
    return_type=_return_type,
    bases=_bases,
    extensions={"class_declaration": _extension},
    modifiers=_modifiers,
    # Without a word, the whole module may use it.
    is_public=hidden_by("private fileprivate"),
    globals={"property_declaration": _global},
)
