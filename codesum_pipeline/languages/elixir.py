"""Elixir, in which definitions, imports and branches are calls: `defmodule`, `def`, `alias`, `if`."""

from collections.abc import Iterator

import tree_sitter_elixir
from tree_sitter import Node

from codesum_pipeline.languages import elixir_forms as forms
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
from codesum_pipeline.languages.hooks import field_text, hidden_by, raw_text
from codesum_pipeline.languages.spec import LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.model.symbols import Parameter, SymbolType

_SECTIONS = words("else_block rescue_block catch_block after_block")
_ROWS = _SECTIONS | {"source", "do_block", "body", "anonymous_function", "block"}

SPEC = LanguageSpec(
    name="elixir",
    version=2,
    grammar=tree_sitter_elixir.language,
    blocks=words("source body"),
    rows=_ROWS,
    braced=words("do_block anonymous_function"),
    parened=words("block"),
    openers=words("do fn"),
    closers=words("end"),
    outdented=_SECTIONS,
    flat={"body": forms.fits_line, "anonymous_function block": forms.has_one_row},
    atoms=words("string charlist sigil quoted_atom quoted_keyword"),
    deep=words("string charlist sigil"),
    trimmed=words("keyword quoted_keyword"),
    comments=words("comment"),
    branches=_SECTIONS | {"call", "do_block", "anonymous_function"},
    count_branches=forms.count_branches,
    tokens=spaced("""
        PREFIX ( [ { << % @ ^ !
        CLOSE  ) ] } >>
        COMMA  , ;
        TIGHT  . .. //
        APART  &
        WORD   ... nil true false
    """),
    tokens_in=spaced_in("""
        OMITTED   stab_clause|rescue_block|anonymous_function|source|body|do_block|block ;
           catch_block|else_block|after_block ;
        OPEN      arguments (  access_call [
        TIGHT     map {
        PREFIX    unary_operator -  unary_operator +  unary_operator ~~~
    """),
)

_MODULES = words("defmodule defprotocol defimpl")
_TESTS = words("test property")
_CALLBACKS = words("callback macrocallback")
# Attributes that say something about the definition after them.
_PREAMBLES = words("doc spec impl deprecated since dialyzer compile tag decorate doc_since")
# Calls that say something about it: the attributes of a component of Phoenix.
_PREAMBLE_CALLS = words("attr slot")
_TYPES = words("type typep opaque")
# Attributes whose value is a type, in which the names of types look like calls.
_TYPED_ATTRIBUTES = _TYPES | _CALLBACKS | {"spec"}
# Attributes that are no constants of the module.
_OTHER_ATTRIBUTES = (
    _PREAMBLES
    | _CALLBACKS
    | words("""
    moduledoc typedoc behaviour optional_callbacks spec derive enforce_keys before_compile after_compile
    on_definition on_load external_resource moduletag describetag
""")
)
_IMPORTS = words("alias import require use")
# What looks like a call and is a word of the language.
_WORDS = (
    forms.DEFINERS
    | _MODULES
    | _TESTS
    | _IMPORTS
    | words("""
    defstruct defexception describe if unless case cond with for receive try quote unquote unquote_splicing fn super
    __MODULE__
""")
)


def _call_definition(node: Node) -> DefinitionHead | None:
    word = forms.called_word(node)
    if word in forms.DEFINERS:
        return _function(node, word)
    if word in _MODULES:
        return _module(node, word)
    if word in _TESTS or word == "describe":
        first = forms.first_argument(node)
        name = " ".join(raw_text(first).strip('"').split()) if first is not None and first.type == "string" else ""
        body = forms.body_of(node)
        return DefinitionHead((name,), SymbolType.FUNCTION if word in _TESTS else None, body) if name and body else None
    return None


def _function(node: Node, word: str) -> DefinitionHead | None:
    """Definitions of one name and number of arguments that follow each other are clauses of one."""
    head = forms.head_of(node)
    name = forms.head_name(head)
    if not name or head is None:
        return None
    return DefinitionHead(
        (name,), SymbolType.FUNCTION, forms.body_of(node), clause=f"{word}/{len(forms.arguments_of(head))}"
    )


def _module(node: Node, word: str) -> DefinitionHead | None:
    """The implementation of a protocol is a module called by both: the protocol's name, then the type's."""
    first, body = forms.first_argument(node), forms.body_of(node)
    if first is None or first.type not in ("alias", "dot", "identifier", "atom") or body is None:
        return None
    parts = forms.module_parts(raw_text(first))
    if word == "defimpl" and (type_ := forms.keyword_value(node, "for")) is not None:
        parts = (*parts, *(forms.module_parts(raw_text(type_)) if type_.type == "alias" else (raw_text(type_),)))
    return DefinitionHead(parts, SymbolType.CLASS, body) if parts else None


def _attribute_definition(node: Node) -> DefinitionHead | None:
    """`@callback name(…) :: type`."""
    if forms.attribute_name(node) not in _CALLBACKS:
        return None
    head = forms.type_head(node)
    name = forms.head_name(head)
    return (
        DefinitionHead((name,), SymbolType.FUNCTION, clause=f"callback/{len(forms.arguments_of(head))}")
        if name
        else None
    )


def _is_preamble(node: Node) -> bool:
    if node.type == "call":
        return forms.called_word(node) in _PREAMBLE_CALLS
    return forms.attribute_name(node) in _PREAMBLES


def _uncalled(node: Node) -> tuple[int, int] | None:
    """The head of a definition looks like a call, and so does `@name value`; types are full of what does."""
    if node.type == "unary_operator":
        operand = node.child_by_field_name("operand")
        if operand is None or not (name := forms.attribute_name(node)):
            return None
        return operand.start_byte, operand.end_byte if name in _TYPED_ATTRIBUTES else operand.start_byte + 1
    if node.type == "call" and forms.called_word(node) in forms.DEFINERS:
        head = forms.head_of(node)
        return (head.start_byte, head.start_byte + 1) if head is not None else None
    return None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    if node.type == "unary_operator":
        yield from (_typed_parameter(argument, text) for argument in forms.arguments_of(forms.type_head(node)))
    elif forms.called_word(node) in _TESTS:
        yield from (Parameter(text(context), None, None, "positional") for context in forms.plain_arguments(node)[1:])
    else:
        head = forms.head_of(node)
        yield from (_parameter(argument, text) for argument in (forms.arguments_of(head) if head else ()))


def _parameter(argument: Node, text: Text) -> Parameter:
    """`pattern = name`, `name \\\\ default`; any other pattern is the name."""
    default = None
    if forms.operator_of(argument) == "\\\\":
        default = field_text(argument, "right", text)
        argument = argument.child_by_field_name("left") or argument
    name, struct = forms.named_pattern(argument)
    return Parameter(text(name), text(struct) or None, default, "positional")


def _typed_parameter(argument: Node, text: Text) -> Parameter:
    """A callback's `name :: type`, or the type alone."""
    if forms.operator_of(argument) == "::":
        return Parameter(field_text(argument, "left", text), field_text(argument, "right", text), None, "positional")
    return Parameter(text(argument), None, None, "positional")


def _return_type(node: Node, text: Text) -> str | None:
    """What the `@spec` above, or the callback itself, says."""
    said = node if node.type == "unary_operator" else forms.attribute_above(node, "spec", _PREAMBLES)
    value = forms.attribute_value(said) if said is not None else None
    if value is not None and forms.operator_of(value) == "when":
        value = value.child_by_field_name("left")
    return field_text(value, "right", text) if value is not None and forms.operator_of(value) == "::" else None


def _bases(node: Node, text: Text) -> Iterator[str]:
    """Behaviours, what the module uses, and the protocol that it implements."""
    if forms.called_word(node) == "defimpl":
        yield text(forms.first_argument(node))
    body = node.children[-1] if node.children and node.children[-1].type == "do_block" else None
    for child in body.named_children if body is not None else ():
        if forms.attribute_name(child) == "behaviour":
            yield text(forms.attribute_value(child))
        elif forms.called_word(child) == "use":
            yield text(forms.first_argument(child))


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    for preamble in preambles:
        if (name := forms.attribute_name(preamble)) in ("impl", "deprecated"):
            yield name
    word = forms.called_word(node) or forms.attribute_name(node)
    if word in _TESTS:
        yield "test"
    elif word not in ("def", "defmodule"):
        yield word


def _inner_doc(node: Node, preambles: tuple[Node, ...]) -> tuple[Node, str] | None:
    """`@doc` above a function, `@moduledoc` in a module."""
    said = [preamble for preamble in preambles if forms.attribute_name(preamble) == "doc"]
    if forms.called_word(node) in _MODULES and node.children[-1].type == "do_block":
        inside = node.children[-1].named_children
        said = [child for child in inside if forms.attribute_name(child) == "moduledoc"]
    for attribute in said:
        if doc := forms.string_value(forms.attribute_value(attribute)):
            return attribute, doc
    return None


def _call(node: Node, text: Text) -> CallSyntax | None:
    """Without arguments, `Module.name` is a call and `variable.name` a field."""
    target = node.child_by_field_name("target")
    if target is None:
        return None
    if target.type == "identifier":
        name = text(target)
        return CallSyntax("", name) if name not in _WORDS else None
    if target.type == "dot":
        owner, name = target.child_by_field_name("left"), field_text(target, "right", text)
        has_arguments = any(child.type in ("arguments", "do_block") for child in node.children[1:])
        if owner is not None and name and (has_arguments or owner.type == "alias"):
            return CallSyntax(text(owner), name)
    return None


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`alias A.{B, C}` names two modules, `import A, only: [f: 1]` one function."""
    word = forms.called_word(node)
    first = forms.first_argument(node) if word in _IMPORTS else None
    if first is None:
        return
    several = first.child_by_field_name("right") if first.type == "dot" else None
    if several is not None and several.type == "tuple":
        owner = field_text(first, "left", text)
        yield from (ImportSyntax(f"{owner}.{text(part)}") for part in several.named_children)
        return
    only = forms.keyword_value(node, "only") if word == "import" else None
    if only is not None and only.type == "list":
        yield from (ImportSyntax(text(first), name.removesuffix(":")) for name in forms.keys_of(only, text))
    elif word in ("import", "use"):
        yield ImportSyntax(text(first), "*")
    else:
        yield ImportSyntax(text(first), None, text(forms.keyword_value(node, "as")) or None)


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    """`%Struct{…} = name` and `name = %Struct{…}`."""
    if forms.operator_of(node) == "=":
        name, struct = forms.named_pattern(node)
        if struct is not None and name.type == "identifier":
            yield TypedName(text(name), text(struct))


def _struct_fields(node: Node, text: Text) -> Iterator[str]:
    """The fields of `defstruct` and `defexception`."""
    if forms.called_word(node) not in ("defstruct", "defexception"):
        return
    for argument in forms.plain_arguments(node):
        for child in argument.named_children if argument.type == "list" else (argument,):
            if child.type == "atom":
                yield text(child).removeprefix(":")
            elif child.type == "keywords":
                yield from (key.removesuffix(":") for key in forms.keys_of(child, text))


def _attribute(node: Node, text: Text) -> Iterator[str]:
    """`@name value` is a constant of its module; `@type name :: …` a type."""
    name = forms.attribute_name(node)
    if name in _TYPES:
        yield f"@{name} {forms.head_name(forms.type_head(node))}"
    elif name and name not in _OTHER_ATTRIBUTES:
        yield f"@{name}"


# Lines that look like a definition.
_LINES = (
    r"[ \t]*(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate)[ \t]+"
    r"(?P<name>[a-z_]\w*[?!]?)(?:[ \t]*\(|[ \t]|,|$)",
    r"[ \t]*(?:defmodule|defprotocol)[ \t]+(?:[\w.]+\.)?(?P<name>[A-Z]\w*)[ \t]",
)

DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(needs_methods=False, methods_decide=True),
    definition_lines=_LINES,
    definitions={"call": _call_definition, "unary_operator": _attribute_definition},
    docs=Docs.ADJACENT,
    preambles=words("unary_operator call"),
    is_preamble=_is_preamble,
    uncalled=_uncalled,
    clauses=words("call unary_operator"),
    facts=Facts(
        raising_calls=words("raise reraise throw exit"),
        closures=words("anonymous_function"),
        fields={"call": _struct_fields, "unary_operator": _attribute},
        result=forms.result,
    ),
    calls={"call": _call},
    imports={"call": _import},
    typed={"binary_operator": _typed},
    parameters=_parameters,
    return_type=_return_type,
    bases=_bases,
    modifiers=_modifiers,
    is_public=hidden_by("defp defmacrop defguardp"),
    inner_doc=_inner_doc,
)
