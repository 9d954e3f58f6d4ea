"""Elixir, in which definitions, imports and branches are calls: `defmodule`, `def`, `alias`, `if`."""

from collections.abc import Iterator

import tree_sitter_elixir
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.possible_values import ModuleValue
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Key, Scope, ScopedFile, UseExpression
from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import elixir_forms as forms
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.handed_names import find_capture_of_elixir
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import field_children, find_field
from codesum_pipeline.languages.declarations.rules import Member, Outside, ResolvedImport, Rules
from codesum_pipeline.languages.declarations.syntax_tables import words_beside

_WORDS = words_beside(__file__)
_MODULES, _TESTS, _CALLBACKS, _PREAMBLES = (_WORDS[name] for name in ("modules", "tests", "callbacks", "preambles"))
# What looks like a call and is a word of the language.
_NO_CALLS = _WORDS["others"] | forms.DEFINERS | _MODULES | _TESTS | _WORDS["imports"]


def _call_definition(node: Node) -> DefinitionHead | None:
    word = forms.called_word(node)
    if word in forms.DEFINERS:
        if len(node.children) > 1 and node.children[1].is_error:
            # A name in letters that the grammar does not know: what comes after it would be taken for the name.
            return None
        # Definitions of one name and number of arguments that follow each other are clauses of one.
        head = forms.head_of(node)
        name, clause = forms.head_name(head), f"{word}/{len(forms.arguments_of(head))}"
        return DefinitionHead((name,), SymbolType.FUNCTION, forms.body_of(node), clause=clause)
    if word in _MODULES:
        return _module(node, word)
    if word in _TESTS or word == "describe":
        first, body = forms.first_argument(node), forms.body_of(node)
        name = " ".join(raw_text(first).strip('"').split()) if first is not None and first.type == "string" else ""
        return DefinitionHead((name,), SymbolType.FUNCTION if word in _TESTS else None, body) if body else None
    return None


def _module(node: Node, word: str) -> DefinitionHead | None:
    """The implementation of a protocol is a module called by both: the protocol's name, then the type's."""
    first, body = forms.first_argument(node), forms.body_of(node)
    if first is None or first.type not in ("alias", "dot", "identifier", "atom") or body is None:
        return None
    parts = forms.module_parts(raw_text(first))
    if word == "defimpl" and (type_ := forms.keyword_value(node, "for")) is not None:
        parts = (*parts, *(forms.module_parts(raw_text(type_)) if type_.type == "alias" else (raw_text(type_),)))
    return DefinitionHead(parts, SymbolType.CLASS, body)


def _attribute_definition(node: Node) -> DefinitionHead | None:
    """`@callback name(…) :: type`."""
    if forms.attribute_name(node) not in _CALLBACKS:
        return None
    head = forms.type_head(node)
    name, clause = forms.head_name(head), f"callback/{len(forms.arguments_of(head))}"
    return DefinitionHead((name,), SymbolType.FUNCTION, clause=clause)


def _is_preamble(node: Node) -> bool:
    if node.type == "call":
        return forms.called_word(node) in _WORDS["preamble_calls"]
    return forms.attribute_name(node) in _PREAMBLES


def _uncalled(node: Node) -> tuple[int, int] | None:
    """The head of a definition looks like a call, and so does `@name value`; types are full of what does."""
    head, name = None, ""
    if node.type == "unary_operator" and (name := forms.attribute_name(node)):
        head = find_field(node, "operand")
    elif node.type == "call" and forms.called_word(node) in forms.DEFINERS:
        head = forms.head_of(node)
    if head is None:
        return None
    return head.start_byte, head.end_byte if name in _WORDS["typed"] else head.start_byte + 1


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    if node.type == "unary_operator":
        # A callback's `name :: type`, or the type alone.
        for argument in forms.arguments_of(forms.type_head(node)):
            is_named = forms.operator_of(argument) == "::"
            name = field_text(argument, "left", text) if is_named else text(argument)
            yield Parameter(name, field_text(argument, "right", text) if is_named else None, None, "positional")
    elif forms.called_word(node) in _TESTS:
        yield from (Parameter(text(context), None, None, "positional") for context in forms.plain_arguments(node)[1:])
    else:
        yield from (_parameter(argument, text) for argument in forms.arguments_of(forms.head_of(node)))


def _parameter(argument: Node, text: Text) -> Parameter:
    """`pattern = name`, `name \\\\ default`; any other pattern is the name."""
    default = None
    if forms.operator_of(argument) == "\\\\":
        default = field_text(argument, "right", text)
        argument = find_field(argument, "left") or argument
    name, struct = forms.named_pattern(argument)
    return Parameter(text(name), text(struct) or None, default, "positional")


def _return_type(node: Node, text: Text) -> str | None:
    """What the `@spec` above, or the callback itself, says."""
    spec = node if node.type == "unary_operator" else forms.attribute_above(node, "spec", _PREAMBLES)
    value = forms.attribute_value(spec)
    if forms.operator_of(value) == "when":
        value = find_field(value, "left")
    return field_text(value, "right", text) if forms.operator_of(value) == "::" else None


def _bases(node: Node, text: Text) -> Iterator[str]:
    """Behaviours, what the module uses, and the protocol that it implements."""
    if forms.called_word(node) == "defimpl":
        yield text(forms.first_argument(node))
    for child in _inside_block(node):
        if forms.attribute_name(child) == "behaviour":
            yield text(forms.attribute_value(child))
        elif forms.called_word(child) == "use":
            yield text(forms.first_argument(child))


def _inside_block(node: Node) -> list[Node]:
    """The contents of the `do` block at the end of a call."""
    return field_children(node.children[-1]) if node.children and node.children[-1].type == "do_block" else []


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    for preamble in preambles:
        if (name := forms.attribute_name(preamble)) in ("impl", "deprecated"):
            yield name
    word = forms.called_word(node) or forms.attribute_name(node)
    if word not in ("def", "defmodule"):
        yield "test" if word in _TESTS else word


def _inner_doc(node: Node, preambles: tuple[Node, ...]) -> tuple[Node, str] | None:
    """`@doc` above a function, `@moduledoc` in a module."""
    attributes = [preamble for preamble in preambles if forms.attribute_name(preamble) == "doc"]
    if forms.called_word(node) in _MODULES and node.children[-1].type == "do_block":
        attributes = [child for child in _inside_block(node) if forms.attribute_name(child) == "moduledoc"]
    for attribute in attributes:
        if doc := forms.string_value(forms.attribute_value(attribute)):
            return attribute, doc
    return None


def _call(node: Node, text: Text) -> CallSyntax | None:
    """Without arguments, `Module.name` is a call and `variable.name` a field."""
    target = find_field(node, "target")
    if target is not None and target.type == "identifier":
        name = text(target)
        return CallSyntax("", name) if name not in _NO_CALLS else None
    if target is not None and target.type == "dot":
        owner, name = find_field(target, "left"), field_text(target, "right", text)
        has_arguments = any(child.type in ("arguments", "do_block") for child in node.children[1:])
        if owner is not None and name and (has_arguments or owner.type == "alias"):
            return CallSyntax(text(owner), name)
    return None


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`alias A.{B, C}` names two modules, `import A, only: [f: 1]` one function."""
    word = forms.called_word(node)
    first = forms.first_argument(node) if word in _WORDS["imports"] else None
    if first is None:
        return
    several = find_field(first, "right") if first.type == "dot" else None
    if several is not None and several.type == "tuple":
        owner = field_text(first, "left", text)
        yield from (ImportSyntax(f"{owner}.{text(part)}") for part in several.named_children)
        return
    only = forms.keyword_value(node, "only") if word == "import" else None
    if only is not None and only.type == "list":
        yield from (ImportSyntax(text(first), name) for name in forms.keys_of(only, text))
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
                yield from forms.keys_of(child, text)


def _attribute(node: Node, text: Text) -> Iterator[str]:
    """`@name value` is a constant of its module; `@type name :: …` a type."""
    name = forms.attribute_name(node)
    if name in _WORDS["types"]:
        yield f"@{name} {forms.head_name(forms.type_head(node))}"
    elif name and name not in _WORDS["no_constants"]:
        yield f"@{name}"


DECLARATION = Declaration(
    **syntax_beside(
        __file__,
        tree_sitter_elixir.language,
        spec={
            "flat": {"body": forms.fits_line, "anonymous_function block": forms.has_one_row},
            "count_branches": forms.count_branches,
        },
        conditions={"branches": {"call": forms.branches_of_call}},
        uses={"find_handed": find_capture_of_elixir},
    ),
    definitions={"call": _call_definition, "unary_operator": _attribute_definition},
    is_preamble=_is_preamble,
    uncalled=_uncalled,
    fields={"call": _struct_fields, "unary_operator": _attribute},
    result=forms.result_of_body,
    calls={"call": _call},
    imports={"call": _import},
    typed={"binary_operator": _typed},
    parameters=_parameters,
    return_type=_return_type,
    bases=_bases,
    modifiers=_modifiers,
    inner_doc=_inner_doc,
)


class ElixirRules(Rules):
    """Modules by name, in one tree for all files."""

    languages = frozenset({"elixir"})
    names_files = False
    is_one_space = True
    sees_members = True
    is_merged = True
    has_overloads = True

    def inner_spaces(self, scope: Scope) -> Iterator[Key]:
        """Those of the outermost module and inside of it: what its name begins with is not around it."""
        entries, file, key = self.tree.entries, scope.file, scope.key
        sizes = range(1, len(key) + 1)
        least = next((size for size in sizes if any(one.file is file for one in entries.get(key[:size], ()))), 1)
        return (key[:size] for size in range(len(key), least - 1, -1))

    def meant_by(self, scope: Scope, use: UseExpression, found: Scope) -> Scope | None:
        """Behind the name of a module there are public functions alone."""
        return found if len(use.path) == 1 or _WORDS["private"].isdisjoint(found.modifiers) else None

    def scope_of_bases(self, class_: Scope) -> Scope:
        """`use` and `@behaviour` are in the module, below its aliases."""
        return class_

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        is_star = row.name == "*"
        parts = (*row.module.split("."), *((row.name or "").split(".") if row.name and not is_star else ()))
        key = next((key for key in ((".".join(parts),), parts) if key in self.tree.entries), None)
        name = None if is_star else row.alias or parts[-1]
        if key is not None:
            target = ModuleValue(key) if is_star else Member(key[:-1], key[-1])
            yield ResolvedImport(target, name, self.files_of(key), is_star)
        elif parts[:1] not in self.tree.spaces:
            yield ResolvedImport(Outside(".".join(parts), ""), name, (), is_star)
