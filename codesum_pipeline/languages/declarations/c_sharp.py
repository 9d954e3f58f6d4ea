"""C#.

A property, an indexer or an event is one function if it has code of its own,
and a field if it only holds a value. A member that implements an interface by
its name (`IEnumerable.GetEnumerator`) has the name of the member alone, by which
it is called; operators and destructors are called as they are written (`operator +`,
`~Store`). Namespaces are packages. Both branches of an `#if` are read, unless they are torn. The members of
`extension(string text) {…}` are those of the class around it: the grammar is not shown its head and its braces.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import tree_sitter_c_sharp
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.possible_values import UNKNOWN, ExternalValue, ModuleValue, Value
from codesum_pipeline.foundation.data_model.scopes import Binding, ImportRow, Key, Scope, ScopedFile, UseExpression
from codesum_pipeline.foundation.data_model.symbol import Parameter, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, DefinitionHead, ImportSyntax, TypedName
from codesum_pipeline.languages.declarations.kin import grandparent_of, parent_of
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, field_children, find_field
from codesum_pipeline.languages.declarations.rules import Member, Outside, ResolvedImport, Rules
from codesum_pipeline.languages.declarations.spans import blanked_out
from codesum_pipeline.languages.declarations.spec import Span, split_words
from codesum_pipeline.languages.declarations.syntax_tables import patterns_beside
from codesum_pipeline.languages.declarations.torn_branches import torn_branches

TYPES = split_words("class_declaration struct_declaration interface_declaration record_declaration")
FUNCTION_VALUES = ("lambda_expression", "anonymous_method_expression")
TEST_ATTRIBUTES = split_words("Fact Theory Test TestCase TestCaseSource TestMethod DataTestMethod")
ACCESS = split_words("public protected private internal")
_PATTERNS = patterns_beside(__file__)
_TAGS = (
    # A tag's attribute says what the tag refers to: `<see cref="T:Store"/>`.
    (re.compile(r'<(?:see|seealso|paramref|typeparamref)\s+\w+="(?:[A-Z]:)?([^"]*)"\s*/>'), r"\1"),
    (re.compile(r'<(?:param|typeparam|exception|permission)\s+\w+="(?:[A-Z]:)?([^"]*)"\s*>\s*'), r"\1: "),
    (re.compile(r"<returns>\s*"), "Returns: "),
    (re.compile(r"</?[A-Za-z][^<>]*>"), ""),
)


def _rewritten_parts(source: bytes) -> list[Span]:
    """The parts of a source that did not parse, in order, none in another."""
    found: list[Span] = []
    parts = torn_branches(source) if b"#" in source else []
    for start, end in sorted([*parts, *_around_extensions(source)]):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _around_extensions(source: bytes) -> list[Span]:
    """Each head of such a block up to its brace, and the brace that closes it, in order."""
    found: list[Span] = []
    if b"extension" not in source or not _PATTERNS["extension"].search(source):
        return found
    # For each open brace, whether it is that of an extension.
    opened: list[bool] = []
    head: re.Match[bytes] | None = None
    for token in _PATTERNS["token"].finditer(source):
        if token["extension"]:
            head = token
        elif token["open"]:
            opened.append(False)
        elif token["close"] and opened and opened.pop():
            found.append(token.span("close"))
        if head is not None:
            found.append(head.span("extension"))
            opened.append(True)
            head = None
    return sorted(found)


def _masked(source: bytes, is_broken: bool) -> bytes:
    """A source that the grammar can read, byte for byte as long. It takes some blocks of extensions for constructors;
    the rest is masked where it did not read the source as it is."""
    if not is_broken:
        return blanked_out(source, _around_extensions(source))
    shown = _PATTERNS["quoting_text"].sub(_with_other_quotes, blanked_out(source, _rewritten_parts(source)))
    return _PATTERNS["async"].sub(b"asynk", _PATTERNS["ref"].sub(b"new", shown))


def _with_other_quotes(match: re.Match[bytes]) -> bytes:
    return match["opened"] + match["text"].replace(b'""', b"''")


def _holds_a_value(accessors: Node) -> bool:
    """Whether no accessor has a body: `{ get; set; }`."""
    return not any(find_field(child, "body") for child in accessors.named_children)


def _defined(node: Node, type_: SymbolType, name: str = "", body: Node | None = None) -> DefinitionHead:
    parts, head = (name or raw_text(node, "name"),), hooks.node_after_annotations(node)
    return DefinitionHead(parts, type_, body or find_field(node, "body"), head)


def _method(node: Node) -> DefinitionHead:
    of = find_field(node, "operator") or find_field(node, "type") if "operator" in node.type else None
    name = f"~{raw_text(node, 'name')}" if node.type == "destructor_declaration" else ""
    if of is not None:
        # Of `operator +=`, the grammar does not know the second sign.
        name = f"operator {raw_text(of)}{raw_text(of.next_sibling) if _is_equals_sign(of.next_sibling) else ''}"
    return _defined(node, SymbolType.FUNCTION, name)


def _is_equals_sign(node: Node | None) -> bool:
    return node is not None and node.is_error and node.text == b"="


def _property(node: Node) -> DefinitionHead | None:
    """A property, indexer or event with code; an indexer is called `this`."""
    body, name = _accessors_with_code(node), "this" if node.type == "indexer_declaration" else ""
    return _defined(node, SymbolType.FUNCTION, name, body) if body is not None else None


def _accessors_with_code(node: Node) -> Node | None:
    value = find_field(node, "value")
    if value is not None and value.type == "arrow_expression_clause":
        return value
    accessors = find_field(node, "accessors")
    return accessors if accessors is not None and not _holds_a_value(accessors) else None


def _variable(node: Node) -> DefinitionHead | None:
    """A variable bound to a function without a name."""
    name, value = find_field(node, "name"), _function_value(node)
    if name is None or value is None:
        return None
    return DefinitionHead((raw_text(name),), SymbolType.FUNCTION, find_field(value, "body") or value.children[-1])


def _function_value(declarator: Node) -> Node | None:
    last = declarator.children[-1] if declarator.type == "variable_declarator" and declarator.children else None
    return last if last is not None and last.type in FUNCTION_VALUES else None


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    parameters = find_field(_function_value(node) or node, "parameters")
    if parameters is None:
        return
    if parameters.type == "implicit_parameter":
        yield Parameter(text(parameters), None, None, "positional")
    for child in parameters.named_children:
        if child.type == "parameter":
            words = [text(word) for word in child.children if word.type == "modifier"]
            type_ = " ".join([*(word for word in words if word != "this"), field_text(child, "type", text)])
            has_default = len(child.children) > 1 and child.children[-2].type == "="
            default = text(child.children[-1]) if has_default else None
            kind = "receiver" if "this" in words else "positional"
            yield Parameter(field_text(child, "name", text), type_ or None, default, kind)
    if name := field_text(parameters, "name", text):
        yield Parameter(name, field_text(parameters, "type", text), None, "var_positional")


def _bases(node: Node, text: Text) -> Iterator[str]:
    bases = child_of_type(node, "base_list") if node.type != "enum_declaration" else None
    for child in bases.named_children if bases is not None else ():
        if child.type == "primary_constructor_base_type":
            yield field_text(child, "type", text)
        elif child.type != "argument_list" and not child.is_extra:
            yield text(child)


def _modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> Iterator[str]:
    """The words before a definition; an interface's members are public without saying so."""
    declared = node
    while declared.type in ("variable_declarator", "variable_declaration") and (outer := parent_of(declared)):
        declared = outer
    words = hooks.modifiers_before(declared, text, TEST_ATTRIBUTES)
    around = grandparent_of(declared)
    if ACCESS.isdisjoint(words) and around is not None and around.type == "interface_declaration":
        yield "public"
    yield from words


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = find_field(node, "function")
    if function is None:
        return None
    if function.type == "member_access_expression":
        return CallSyntax(field_text(function, "expression", text), _plain(find_field(function, "name"), text))
    if function.type == "conditional_access_expression":
        binding = function.named_children[-1]
        name = _plain(find_field(binding, "name"), text) if binding.type == "member_binding_expression" else ""
        return CallSyntax(field_text(function, "condition", text), name)
    return CallSyntax("", _plain(function, text)) if function.type in ("identifier", "generic_name") else None


def _plain(name: Node | None, text: Text) -> str:
    """A name without type arguments."""
    return text(name.named_children[0] if name is not None and name.type == "generic_name" else name)


def _made(creation: Node, text: Text) -> str:
    """The type of a new object: that of the variable for a `new()`."""
    if creation.type == "object_creation_expression":
        return field_text(creation, "type", text)
    around = parent_of(creation)
    if around is not None and around.type == "variable_declarator":
        around = parent_of(around)
    is_declared = around is not None and around.type in ("variable_declaration", "property_declaration")
    return field_text(around, "type", text) if is_declared else ""


def _constructor_call(node: Node, text: Text) -> CallSyntax | None:
    word = child_of_type(node, "this", "base")
    return CallSyntax("", word.type) if word is not None else None


def _using(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`using` imports all names of a namespace, `using static` those of a class; with an alias it imports one name."""
    alias = field_text(node, "name", text)
    path = text(node.named_children[-1]) if node.named_children else ""
    if alias:
        yield hooks.import_of_path(path.partition("<")[0], ".", alias)
    elif path:
        yield ImportSyntax(path, "*")


def _variables(node: Node | None, text: Text) -> Iterator[TypedName]:
    """Each variable of a declaration with its type, which is that of the new object for a `var`."""
    type_ = field_text(node, "type", text)
    for child in field_children(node):
        if child.type == "variable_declarator" and (name := field_text(child, "name", text)):
            value = child.children[-1]
            made_type = _made(value, text) if value.type == "object_creation_expression" else ""
            yield TypedName(name, made_type if type_ == "var" else type_)


def _fields(node: Node, text: Text) -> Iterator[str]:
    declared = next((child for child in node.named_children if child.type == "variable_declaration"), None)
    return (f"{variable.name}: {variable.type}" for variable in _variables(declared, text))


def _held_property(node: Node, text: Text) -> Iterator[str]:
    if _accessors_with_code(node) is None:
        yield from hooks.read_typed_member(node, text)


def _typed(node: Node, text: Text) -> Iterator[TypedName]:
    type_, name = field_text(node, "type", text), find_field(node, "left") or find_field(node, "name")
    if type_ != "var" and name is not None and name.type == "identifier":
        yield TypedName(text(name), type_)


def _result(body: Node) -> Node | None:
    """What an expression body gives: that of the getter for a property, nothing if nothing is returned."""
    if body.type == "accessor_list":
        getters = [find_field(child, "body") for child in body.named_children if raw_text(child).startswith("get")]
        return _result(getters[0]) if getters and getters[0] is not None else None
    if body.type != "arrow_expression_clause":
        return body if body.type != "block" else None
    around = parent_of(body)
    returned = raw_text(find_field(around, "returns") or find_field(around, "type"))
    is_getter = around is not None and around.type == "accessor_declaration"
    return body.children[-1] if is_getter or returned not in ("", "void") else None


DECLARATION = Declaration(
    **syntax_beside(__file__, tree_sitter_c_sharp.language, spec={"flat": {"accessor_list": _holds_a_value}}),
    definitions={
        **dict.fromkeys(
            TYPES | {"enum_declaration", "delegate_declaration"}, lambda node: _defined(node, SymbolType.CLASS)
        ),
        "method_declaration constructor_declaration local_function_statement destructor_declaration": _method,
        "operator_declaration conversion_operator_declaration": _method,
        "property_declaration indexer_declaration event_declaration": _property,
        "variable_declarator": _variable,
    },
    masked=_masked,
    rewritten=_rewritten_parts,
    plain_doc=hooks.plain_text_reader(_TAGS, keeps_margin=False),
    result=_result,
    fields={
        "field_declaration event_field_declaration": _fields,
        "property_declaration": _held_property,
        "enum_member_declaration": hooks.texts_of_fields("name"),
        # The parameters of a type are known in all of it.
        "parameter": hooks.directly_in(TYPES, hooks.read_typed_member),
    },
    calls={
        "invocation_expression": _call,
        "object_creation_expression implicit_object_creation_expression": lambda node, text: hooks.call_of_path(
            _made(node, text).partition("<")[0], is_new=True
        ),
        "constructor_initializer": _constructor_call,
    },
    imports={"using_directive": _using},
    typed={
        "variable_declaration": _variables,
        "parameter property_declaration foreach_statement": _typed,
        "catch_declaration declaration_pattern recursive_pattern declaration_expression": _typed,
    },
    parameters=_parameters,
    return_type=lambda node, text: field_text(node, "returns", text) or field_text(node, "type", text),
    bases=_bases,
    modifiers=_modifiers,
    package={"namespace_declaration file_scoped_namespace_declaration": hooks.field_reader("name")},
)


class CSharpRules(Rules):
    """Files share namespaces. A partial class has the members of all its parts."""

    languages = frozenset({"c-sharp"})
    names_files = False
    sees_members = True
    has_overloads = True
    is_merged = True

    def unit_of(self, file: ScopedFile) -> Key:
        return tuple(file.package.split(".")) if file.package else ()

    def spaces_of(self, file: ScopedFile) -> Iterable[Key]:
        return [file.unit[:size] for size in range(len(file.unit), -1, -1)]

    def value_of_root(self, scope: Scope, name: str) -> Value:
        """A whole name begins with a namespace of the platform."""
        return ExternalValue(name) if name in ("System", "Microsoft") and (name,) not in self.tree.spaces else UNKNOWN

    def meant_by(self, scope: Scope, use: UseExpression, found: Scope) -> Scope | None:
        """`Option` and `Option<T>` have one name: what one overrides is a member of the other, without code there."""
        if "override" not in found.modifiers or any(one is found.parent for one in scope.around()):
            return found
        fields = self.tree.fields(found.key[:-1], found.name)
        return None if any(holder is not found.parent for holder, _ in fields) else found

    def is_type_before_member(self, scope: Scope, name: str, meant: Scope, fields: Sequence[Binding]) -> bool:
        """Of a property with the name of its type: `Mode Mode`, with `Mode.Fast` or with static members behind it."""
        if not meant.is_class or any(type_ is None or type_.names[-1] != name for _, type_ in fields):
            return False
        # What only has values: an enumeration.
        is_plain = not (meant.names or meant.bases or self.tree.derived.get(meant.key))
        file = scope.file
        calls, uses = file.code()
        read = [use.path for use in uses if file.scopes[use.scope] is scope and use.path[0].name == name]
        called = [
            (*call.receiver, call)
            for call in calls
            if file.scopes[call.scope] is scope and call.receiver and call.receiver[0].name == name
        ]
        members = {path[1].name for path in (*read, *called) if len(path) > 1}
        entries = [self.tree.entries.get((*meant.key, member), ()) for member in members]
        if is_plain and not called and not any(entries):
            return bool(members)
        return bool(entries) and all(
            found and all(one.is_class or "static" in one.modifiers for one in found) for found in entries
        )

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        parts = tuple(row.module.removeprefix("global::").split("."))
        if row.name not in (None, "*"):
            parts = (*parts, row.name or "")
        is_star = row.name == "*"
        name = None if is_star else row.alias or parts[-1]
        if parts in self.tree.entries and not is_star:
            yield ResolvedImport(Member(parts[:-1], parts[-1]), name)
        elif parts in self.tree.spaces or parts in self.tree.entries:
            yield ResolvedImport(ModuleValue(parts), name, (), is_star)
        elif parts[:1] not in self.tree.spaces:
            yield ResolvedImport(Outside(".".join(parts), ""), name, (), is_star)
