"""Haskell, in which a function is its type signature and the equations after it."""

import re
from collections.abc import Container, Iterator, Sequence

from tree_sitter import Node

from codesum_pipeline.languages.conditional import directives, later_branches
from codesum_pipeline.languages.declaration import (
    CallSyntax,
    Declaration,
    DefinitionHead,
    Docs,
    Extension,
    Facts,
    ImportSyntax,
    Text,
)
from codesum_pipeline.languages.frameworks import FrameworkRules
from codesum_pipeline.languages.haskell.layout import ASIDE, SPEC
from codesum_pipeline.languages.hooks import field_reader, field_text, raw_text, unknown_words
from codesum_pipeline.languages.spec import words
from codesum_pipeline.model.symbols import Import, Parameter, Symbol, SymbolType

_LINE_MARK = re.compile(r"^(?:--+ ?(?:[|^] )?|[|^] )", re.M)


def _past(node: Node | None, kinds: frozenset[str]) -> Node | None:
    """The first sibling of another kind."""
    while node is not None and node.type in kinds:
        node = node.next_named_sibling
    return node


def _shown(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type not in ASIDE]


# Operators that give the function on their left an argument.
_APPLYING = words("$ $! <$> . =<< >>= >> <*> &")


def _name_of(node: Node) -> str:
    """`f` of `f x`, and of the infix ``x `f` y``; an operator without its parentheses."""
    name = node.child_by_field_name("name")
    head = node
    while name is None and (inner := _infix_head(head)) is not None:
        name, head = inner.child_by_field_name("operator") or inner.child_by_field_name("name"), inner
    return raw_text(name).strip("()` ")


def _infix_head(node: Node) -> Node | None:
    return next((c for c in node.named_children[:1] if c.type in ("infix", "function_head_parens", "parens")), None)


def _match_of(node: Node) -> Node | None:
    return next((child for child in node.children if child.type == "match"), None)


def _function(node: Node) -> DefinitionHead | None:
    name, body = _name_of(node), _match_of(node)
    return DefinitionHead((name,), SymbolType.FUNCTION, body) if name and body is not None else None


def _bind(node: Node) -> DefinitionHead | None:
    """A name without arguments is a function, but in a function only one bound to a lambda."""
    name, body = node.child_by_field_name("name"), _match_of(node)
    if name is None or body is None:
        return None
    value = body.child_by_field_name("expression")
    is_lambda = value is not None and value.type in ("lambda", "lambda_case", "lambda_cases")
    if not is_lambda and node.parent is not None and node.parent.type == "local_binds":
        return None
    return DefinitionHead((raw_text(name).strip("() "),), SymbolType.FUNCTION, body)


def _signature(node: Node) -> DefinitionHead | None:
    """A type signature is the head of the equations right after it; that of a class's method stands alone."""
    name = raw_text(node.child_by_field_name("name")).strip("() ")
    around = node.parent
    if not name or around is None:
        return None
    following = _past(node.next_named_sibling, ASIDE)
    if around.type == "class_declarations":
        return DefinitionHead((name,), SymbolType.FUNCTION)
    if following is None or following.type not in ("function", "bind") or _name_of(following) != name:
        # A pattern that binds several names gives the body, or a macro, which looks like no definition.
        equation = _past(following, ASIDE | {"signature"})
        pattern = equation.child_by_field_name("pattern") if equation is not None else None
        is_macro = pattern is None or name not in re.findall(r"[\w']+", raw_text(pattern))
        return (
            DefinitionHead((name,), SymbolType.FUNCTION, is_prototype=is_macro)
            if around.type == "declarations"
            else None
        )
    is_found = following.type == "function" or _bind(following) is not None
    return DefinitionHead((name,), SymbolType.FUNCTION) if is_found else None


def _type(node: Node) -> DefinitionHead | None:
    name = raw_text(node.child_by_field_name("name")).strip("() ")
    body = next((child for child in node.children if child.type in ("=", "where")), None)
    return DefinitionHead((name,), SymbolType.CLASS, body) if name else None


def _instance(node: Node) -> DefinitionHead | None:
    """What is in an instance belongs to the type."""
    patterns = node.child_by_field_name("patterns")
    name = raw_text(_head_of(patterns.named_children[0])) if patterns is not None and patterns.named_children else ""
    return DefinitionHead((name,), None) if name else None


def _head_of(type_: Node) -> Node:
    """The type that is applied to others."""
    while type_.named_children and type_.type in ("parens", "apply"):
        type_ = type_.named_children[0]
    return type_


def _foreign(node: Node) -> DefinitionHead | None:
    """`foreign import … name :: type`."""
    signature = node.child_by_field_name("signature")
    name = raw_text(signature.child_by_field_name("name")).strip("() ") if signature is not None else ""
    return DefinitionHead((name,), SymbolType.FUNCTION) if name else None


def _equation_of(node: Node) -> Node | None:
    following = _past(node.next_named_sibling, ASIDE) if node.type == "signature" else node
    return following if following is not None and following.type == "function" else None


def _patterns(equation: Node | None) -> list[Node]:
    if equation is None:
        return []
    patterns = equation.child_by_field_name("patterns")
    infix = _infix_head(equation)
    operands = (infix.child_by_field_name("left_operand"), infix.child_by_field_name("right_operand")) if infix else ()
    return [*filter(None, operands), *(_shown(patterns) if patterns is not None else ())]


def _type_steps(node: Node) -> list[Node]:
    """The types of `a -> b -> c`."""
    signature = node.child_by_field_name("signature") if node.type == "foreign_import" else node
    type_ = signature.child_by_field_name("type") if signature is not None else None
    while type_ is not None and type_.type in ("forall", "context"):
        type_ = type_.child_by_field_name("type")
    steps = []
    while type_ is not None and type_.type == "function":
        parameter, type_ = type_.child_by_field_name("parameter"), type_.child_by_field_name("result")
        steps.extend([parameter] if parameter is not None else [])
    return [*steps, *([type_] if type_ is not None else [])]


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    """The names are those of the first equation, the types those of the signature."""
    types = _type_steps(node)[:-1]
    names = _patterns(_equation_of(node))
    for number in range(max(len(types), len(names))):
        type_ = text(types[number]) if number < len(types) else None
        yield Parameter(text(names[number]) if number < len(names) else "_", type_, None, "positional")


def _return_type(node: Node, text: Text) -> str | None:
    steps = _type_steps(node)
    return text(steps[-1]) if steps else None


def _bases(node: Node, text: Text) -> Iterator[str]:
    """What a class asks of its types, and what a type derives."""
    context = node.child_by_field_name("context") if node.type == "class" else None
    asked = next(iter(_shown(context)), None) if context is not None else None
    for child in _shown(asked) if asked is not None and asked.type == "tuple" else filter(None, [asked]):
        if (head := _head_of(child)).type in ("name", "qualified"):
            yield text(head)
    for derived in node.children_by_field_name("deriving"):
        yield from filter(None, field_text(derived, "classes", text).strip("()").split(", "))


def _extension(node: Node, text: Text) -> Extension | None:
    """`instance Class Type`; a class of several types says nothing of one of them alone."""
    patterns = node.child_by_field_name("patterns")
    types = _shown(patterns) if patterns is not None else []
    type_ = _head_of(types[0]) if len(types) == 1 else None
    if type_ is None or type_.type not in ("name", "qualified"):
        return None
    return Extension(text(type_), (field_text(node, "name", text),))


def _call(node: Node, text: Text) -> CallSyntax | None:
    function = node.child_by_field_name("function")
    return _called(function, text)


def _infix_call(node: Node, text: Text) -> CallSyntax | None:
    """``x `f` y`` and `f $ x`, where that is not what is defined."""
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type == "infix_id":
        if node.parent is not None and node.parent.type in ("function", "function_head_parens"):
            return None
        receiver, _, name = text(operator).strip("`").rpartition(".")
        return CallSyntax(receiver, name)
    return _called(node.child_by_field_name("left_operand"), text) if text(operator) in _APPLYING else None


def _called(function: Node | None, text: Text) -> CallSyntax | None:
    """A variable that is applied; a constructor makes a value and is no call."""
    if function is None or function.type not in ("variable", "qualified"):
        return None
    receiver, _, name = text(function).rpartition(".")
    return CallSyntax(receiver, name) if name and not name[0].isupper() else None


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    module, alias = field_text(node, "module", text), field_text(node, "alias", text) or None
    words = {child.type for child in node.children}
    names = node.child_by_field_name("names")
    if names is not None and "hiding" not in words:
        yield from (
            ImportSyntax(module, text(name).partition("(")[0].strip() or text(name).strip("()"), None)
            for name in _shown(names)
        )
    if alias or "qualified" in words or names is None or "hiding" in words:
        yield ImportSyntax(
            module, None if "qualified" in words else "*" if names is None or "hiding" in words else None, alias
        )


def _export(node: Node, text: Text) -> Iterator[str]:
    for name in ("variable", "type", "operator"):
        if said := field_text(node, name, text).strip("()"):
            yield said


def _listed(node: Node, text: Text) -> Iterator[str]:
    """The names of an export list; `T(..)` where it has all of a class, and `*` where it has the module itself."""
    header = node.parent
    for child in node.named_children:
        if child.type == "module_export" and header is not None:
            yield from "*" if field_text(child, "module", text) == field_text(header, "module", text) else ""
        elif child.type == "export":
            yield from _export(child, text)
            for part in _shown(child.child_by_field_name("children") or child):
                name = text(part).strip("()")
                yield f"{field_text(child, 'type', text)}(..)" if part.type == "all_names" else name


def _is_listed(node: Node, parts: tuple[str, ...], listed: Container[str]) -> bool:
    """A class gives away the methods that it names; what is in an instance goes with its type."""
    if "*" in listed or (len(parts) == 1 and parts[0] in listed):
        return True
    if len(parts) == 1:
        return False
    if node.parent is not None and node.parent.type == "class_declarations":
        return parts[-1] in listed or f"{parts[-2]}(..)" in listed
    return not (parts[-2][:1].islower() or parts[-2][:1] == "_") and parts[-2] in listed


def _field(node: Node, text: Text) -> Iterator[str]:
    for name in node.children_by_field_name("name"):
        yield f"{text(name)} :: {field_text(node, 'type', text)}"


def _constructor(node: Node, text: Text) -> Iterator[str]:
    inner = node.child_by_field_name("constructor") or node
    yield field_text(inner, "name", text) or field_text(inner, "operator", text)


def _result(match: Node) -> Node | None:
    return match.child_by_field_name("expression") if match.type == "match" else None


# Lines that look like a definition.
_LINES = (
    r"(?P<name>[a-z_][\w']*)[ \t]+(?:::|∷|\xe2\x88\xb7)",
    r"(?:data|newtype|class)[ \t]+(?:instance\b|family[ \t]+)?(?:.*=>[ \t]*)?(?P<name>[A-Z][\w']*)",
)


def _exported_modules(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`module X (module Y, …)`."""
    own = field_text(node.parent, "module", text) if node.parent is not None else ""
    for child in node.named_children:
        if child.type == "module_export" and (module := field_text(child, "module", text)) != own:
            yield ImportSyntax(module, "*")


_unknown = unknown_words(later_branches)


_TEST_FRAMEWORKS = re.compile(r"Test\.(?:Hspec|Tasty|HUnit|Framework|Validity|Microspec)(?:\.|$)")


_TEST_NAME = re.compile(r"(?:prop|spec|test|unit)_")


def _is_test(symbol: Symbol, children: Sequence[Symbol], imports: Sequence[Import]) -> bool:
    return any(one.module.startswith("Test.") for one in imports) and bool(_TEST_NAME.match(symbol.name))


def _is_test_file(path: str, imports: Sequence[Import], symbols: Sequence[Symbol]) -> bool:
    """A library of a framework is none."""
    if path.startswith("Test/") or "/Test/" in path or not any(_TEST_FRAMEWORKS.match(one.module) for one in imports):
        return False
    return any(symbol.name in ("main", "spec", "test", "tests") for symbol in symbols)


DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(is_test=_is_test, is_test_file=_is_test_file, stands_beside=True),
    definition_lines=_LINES,
    definitions={
        "function": _function,
        "bind": _bind,
        "signature": _signature,
        "foreign_import": _foreign,
        "data_type newtype class type_family": _type,
        "instance": _instance,
    },
    hiding=lambda source, is_broken: (*directives(source), *_unknown(source, is_broken)),
    docs=Docs.MARKED,
    doc_marks=("-- |", "{-|", "{- |", "--|"),
    clauses=words("function"),
    heads=words("signature"),
    facts=Facts(
        raising_calls=words("error throw throwIO throwError fail undefined"),
        closures=words("lambda"),
        fields={"field": _field, "data_constructor gadt_constructor": _constructor},
        result=_result,
    ),
    calls={"apply": _call, "infix": _infix_call},
    imports={"import": _import},
    parameters=_parameters,
    return_type=_return_type,
    bases=_bases,
    extensions={"instance deriving_instance": _extension},
    # The lines after the first of a comment that the grammar takes for one.
    plain_doc=lambda said: _LINE_MARK.sub("", said),
    heading=words("header"),
    package={"header": field_reader("module")},
    exports={"export": _export},
    reexports={"exports": _exported_modules},
    listed={"exports": _listed},
    is_listed=_is_listed,
)
