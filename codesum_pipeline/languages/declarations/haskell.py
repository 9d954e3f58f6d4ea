"""Haskell, in which a function is its type signature and the equations after it."""

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice

import tree_sitter_haskell
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.possible_values import ModuleValue
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Key, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import Import, Parameter, Symbol, SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.condition_syntax import Branch, Sense
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.haskell_masks import is_literate, mask_foreign_parts
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, DefinitionHead, Extension, ImportSyntax
from codesum_pipeline.languages.declarations.kin import grandparent_of, parent_of, siblings_after, siblings_before
from codesum_pipeline.languages.declarations.node_code import Text, field_text, raw_text, short_text
from codesum_pipeline.languages.declarations.nodes import child_of_type, field_children, find_field
from codesum_pipeline.languages.declarations.plain_lines import directive_lines, later_branches
from codesum_pipeline.languages.declarations.rules import Member, Outside, ResolvedImport, Rules
from codesum_pipeline.languages.declarations.spec import split_words

_ASIDE = split_words("comment haddock pragma cpp")
# Where the name is in a pattern that is applied to others.
_APPLIED = {"apply": "function", "record": "constructor", "infix": "operator"}
# Types without a name of their own.
_NO_OWNERS = split_words("variable kind_application literal promoted")
# Operators that give the function on their left an argument.
_APPLYING = split_words("$ $! <$> . =<< >>= >> <*> &")
_LINE_MARK = re.compile(r"^(?:--+ ?(?:[|^] )?|[|^] )", re.M)
_TEST_FRAMEWORKS = re.compile(r"Test\.(?:Hspec|Tasty|HUnit|Framework|Validity|Microspec)(?:\.|$)")
_TEST_NAME = re.compile(r"(?:prop|spec|test|unit)_")
_unknown = hooks.unknown_words_reader(later_branches)


# So many comments and signatures may lie between a signature and its equations.
_MOST_BETWEEN = 1_000


def _is_inline(rows: Node) -> bool:
    """Whether rows are between braces of their own, or in a guard."""
    if any(child.type == "{" for child in rows.children[:2]):
        return True
    around = grandparent_of(rows) if rows.type == "local_binds" else None
    return around is not None and around.type == "guards"


def _is_unguarded(match: Node) -> bool:
    return not match.children or match.children[0].type != "|"


def _is_head(where: Node) -> bool:
    """Whether the `where` of a module, class or type, which ends its line."""
    after = next((sibling for sibling in siblings_after(where) if sibling.type not in _ASIDE), None)
    return after is None or after.type != "local_binds"


def _ends_inline(word: Node) -> bool:
    """Whether the `in` of a `let` on one line."""
    before = next((sibling for sibling in siblings_before(word) if sibling.type not in _ASIDE), None)
    return before is None or before.type != "local_binds" or _is_inline(before)


def _count_branches(node: Node) -> int:
    if node.type == "match":
        return int(not _is_unguarded(node) and raw_text(node, "guards") not in ("otherwise", "True"))
    return int(node.type != "alternative" or raw_text(node, "pattern") != "_")


def _past(node: Node, kinds: frozenset[str]) -> Node | None:
    """The first sibling after a node that is of another kind."""
    near = islice(siblings_after(node, is_named=True), _MOST_BETWEEN)
    return next((after for after in near if after.type not in kinds), None)


def _past_signatures(node: Node, name: str) -> Node | None:
    """What follows a signature, behind the others of its name: each branch of a condition may have one."""
    near = islice(siblings_after(node, is_named=True), _MOST_BETWEEN)
    beside = (after for after in near if after.type not in _ASIDE)
    return next((after for after in beside if after.type != "signature" or _plain(after) != name), None)


def _shown(node: Node | None, *fields: str) -> list[Node]:
    return [child for child in field_children(node, *fields) if child.type not in _ASIDE]


def _plain(node: Node | None) -> str:
    """A name without the parentheses around an operator."""
    return raw_text(node, "name").strip("() ")


def _name_of(node: Node) -> str:
    """`f` of `f x`, and of the infix ``x `f` y``; an operator without its parentheses."""
    name, head = find_field(node, "name"), node
    while name is None and (inner := _infix_head(head)) is not None:
        name, head = find_field(inner, "operator") or find_field(inner, "name"), inner
    return raw_text(name).strip("()` ")


def _infix_head(node: Node) -> Node | None:
    return next((c for c in node.named_children[:1] if c.type in ("infix", "function_head_parens", "parens")), None)


def _function(node: Node) -> DefinitionHead | None:
    name, body = _name_of(node), child_of_type(node, "match")
    return DefinitionHead((name,), SymbolType.FUNCTION, body) if body is not None else None


def _bind(node: Node) -> DefinitionHead | None:
    """A name without arguments is a function, but in a function only one bound to a lambda."""
    body = child_of_type(node, "match")
    if find_field(node, "name") is None or body is None:
        return None
    value = find_field(body, "expression")
    is_lambda = value is not None and value.type in ("lambda", "lambda_case", "lambda_cases")
    around = parent_of(node)
    is_local = around is not None and around.type == "local_binds"
    return DefinitionHead((_plain(node),), SymbolType.FUNCTION, body) if is_lambda or not is_local else None


def _signature(node: Node) -> DefinitionHead | None:
    """A type signature is the head of the equations right after it; that of a class's method has no equations."""
    name, around = _plain(node), parent_of(node)
    if not name or around is None:
        return None
    after = _past_signatures(node, name)
    is_found, is_macro = around.type == "class_declarations", False
    if not is_found and (after is None or after.type not in ("function", "bind") or _name_of(after) != name):
        # A pattern that binds several names gives the body, or a macro, which looks like no definition.
        pattern = find_field(_past(node, _ASIDE | {"signature"}), "pattern")
        is_macro = pattern is None or name not in re.findall(r"[\w']+", raw_text(pattern))
        is_found = around.type == "declarations"
    elif not is_found and after is not None:
        is_found = after.type == "function" or _bind(after) is not None
    return DefinitionHead((name,), SymbolType.FUNCTION, is_prototype=is_macro) if is_found else None


def _instance(node: Node) -> DefinitionHead:
    """What is in an instance belongs to the type: of several, to the last one that has a name."""
    heads = [_head_of(type_) for type_ in _instance_types(node)]
    owner = next((head for head in reversed(heads) if head.type not in _NO_OWNERS), next(iter(heads), None))
    return DefinitionHead((_bare(owner),) if owner is not None else (), None)


def _instance_types(node: Node) -> Sequence[Node]:
    """What a class is applied to, before or between its name."""
    holder = node
    while holder.type != "infix" and find_field(holder, "patterns") is None:
        inner = child_of_type(holder, "parens", "infix")
        if inner is None:
            return []
        holder = inner
    operands = (find_field(holder, "left_operand"), find_field(holder, "right_operand"))
    return [*field_children(holder, "patterns"), *filter(None, operands)]


def _head_of(type_: Node) -> Node:
    """The type that is applied to others."""
    while type_.named_children and type_.type in ("parens", "apply", "signature", "infix"):
        operator = find_field(type_, "operator") if type_.type == "infix" else None
        type_ = operator or type_.named_children[0]
    return type_


def _bare(node: Node | None) -> str:
    """A name as it is, an operator without its parentheses."""
    written = raw_text(node)
    return written.strip("() ") if node is not None and node.type == "prefix_id" else written


def _type(node: Node) -> DefinitionHead:
    """A type, a class or a family; an operator between its parameters is a name, too."""
    name = _plain(node) or raw_text(child_of_type(node, "infix"), "operator")
    return DefinitionHead((name.strip("` "),), SymbolType.CLASS, child_of_type(node, "=", "where"))


def _type_instance(node: Node) -> DefinitionHead | None:
    """An instance of a family has the family's name; the default in a class is none."""
    around = parent_of(node)
    return _type(node) if around is None or around.type != "class_declarations" else None


def _pattern_synonym(node: Node) -> DefinitionHead:
    """A pattern with a name: a signature, or an equation."""
    inner = child_of_type(node, "signature", "equation")
    head = find_field(inner, "synonym")
    while head is not None and head.type in _APPLIED:
        head = find_field(head, _APPLIED[head.type])
    return DefinitionHead((_bare(head),), SymbolType.FUNCTION, child_of_type(inner, "=", "<-"))


def _patterns(node: Node) -> list[Node]:
    """What the first equation of a definition takes."""
    equation = _past(node, _ASIDE) if node.type == "signature" else node
    if equation is None or equation.type != "function":
        return []
    infix = _infix_head(equation)
    return [
        *filter(None, (find_field(infix, "left_operand"), find_field(infix, "right_operand"))),
        *_shown(equation, "patterns"),
    ]


def _type_steps(node: Node) -> list[Node]:
    """The types of `a -> b -> c`."""
    type_ = find_field(node, "signature", "type") if node.type == "foreign_import" else find_field(node, "type")
    while type_ is not None and type_.type in ("forall", "context"):
        type_ = find_field(type_, "type")
    steps = []
    while type_ is not None and type_.type == "function":
        steps.append(find_field(type_, "parameter"))
        type_ = find_field(type_, "result")
    return [*filter(None, [*steps, type_])]


def _parameters(node: Node, text: Text) -> Iterator[Parameter]:
    """The names are those of the first equation, the types those of the signature."""
    types, names = _type_steps(node)[:-1], _patterns(node)
    for number in range(max(len(types), len(names))):
        type_ = text(types[number]) if number < len(types) else None
        yield Parameter(text(names[number]) if number < len(names) else "_", type_, None, "positional")


def _return_type(node: Node, text: Text) -> str | None:
    steps = _type_steps(node)
    return text(steps[-1]) if steps else None


def _bases(node: Node, text: Text) -> Iterator[str]:
    """What a class asks of its types, and what a type derives."""
    for context in _shown(node, "context")[:1] if node.type == "class" else ():
        for child in _shown(context) if context.type == "tuple" else [context]:
            if (head := _head_of(child)).type in ("name", "qualified"):
                yield text(head)
    for derived in node.children_by_field_name("deriving"):
        yield from filter(None, field_text(derived, "classes", text).strip("()").split(", "))


def _extension(node: Node, text: Text) -> Extension | None:
    """`instance Class Type`; a class of several types says nothing of one of them alone."""
    types = _shown(node, "patterns")
    type_ = _head_of(types[0]) if len(types) == 1 else None
    if type_ is None or type_.type not in ("name", "qualified"):
        return None
    return Extension(text(type_), (field_text(node, "name", text),))


def _infix_call(node: Node, text: Text) -> CallSyntax | None:
    """``x `f` y`` and `f $ x`, where that is not what is defined."""
    operator = find_field(node, "operator")
    if operator is not None and operator.type == "infix_id":
        around = parent_of(node)
        if around is not None and around.type in ("function", "function_head_parens"):
            return None
        return hooks.call_of_path(text(operator).strip("`"))
    return _called(find_field(node, "left_operand"), text) if text(operator) in _APPLYING else None


def _called(function: Node | None, text: Text) -> CallSyntax | None:
    """A variable that is applied; a constructor makes a value and is no call."""
    if function is None or function.type not in ("variable", "qualified"):
        return None
    called = hooks.call_of_path(text(function))
    return called if not called.name[:1].isupper() else None


def _import(node: Node, text: Text) -> Iterator[ImportSyntax]:
    module, alias = field_text(node, "module", text), field_text(node, "alias", text) or None
    is_qualified = child_of_type(node, "qualified") is not None
    has_all = find_field(node, "names") is None or child_of_type(node, "hiding") is not None
    for name in _shown(node, "names") if not has_all else ():
        yield ImportSyntax(module, text(name).partition("(")[0].strip() or text(name).strip("()"), None)
    if alias or is_qualified or has_all:
        yield ImportSyntax(module, "*" if has_all and not is_qualified else None, alias)


def _export(node: Node, text: Text) -> Iterator[str]:
    for name in ("variable", "type", "operator"):
        if exported := field_text(node, name, text).strip("()"):
            yield exported


def _listed(node: Node, text: Text) -> Iterator[str]:
    """The names of an export list; `T(..)` where it has all of a class, and `*` where it has the module itself."""
    own = field_text(parent_of(node), "module", text)
    for child in node.named_children:
        if child.type == "module_export":
            yield from "*" if field_text(child, "module", text) == own else ""
        elif child.type == "export":
            yield from _export(child, text)
            for part in _shown(find_field(child, "children") or child):
                all_names = f"{field_text(child, 'type', text)}(..)"
                yield all_names if part.type == "all_names" else text(part).strip("()")


def _is_listed(node: Node, parts: tuple[str, ...], listed: Container[str]) -> bool:
    """A class gives away the methods that it names; what is in an instance goes with its type."""
    if "*" in listed or len(parts) == 1:
        return "*" in listed or parts[0] in listed
    around = parent_of(node)
    if around is not None and around.type == "class_declarations":
        return parts[-1] in listed or f"{parts[-2]}(..)" in listed
    return not (parts[-2][:1].islower() or parts[-2][:1] == "_") and parts[-2] in listed


def _field(node: Node, text: Text) -> Iterator[str]:
    for name in node.children_by_field_name("name"):
        yield f"{text(name)} :: {field_text(node, 'type', text)}"


def _constructor(node: Node, text: Text) -> Iterator[str]:
    inner = find_field(node, "constructor") or node
    yield field_text(inner, "name", text) or field_text(inner, "operator", text)


def _exported_modules(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`module X (module Y, …)`."""
    own = field_text(parent_of(node), "module", text)
    for child in node.named_children:
        if child.type == "module_export" and (module := field_text(child, "module", text)) != own:
            yield ImportSyntax(module, "*")


def _is_test(symbol: Symbol, children: Sequence[Symbol], imports: Sequence[Import]) -> bool:
    return any(one.module.startswith("Test.") for one in imports) and bool(_TEST_NAME.match(symbol.name))


def _is_test_file(path: str, imports: Sequence[Import], symbols: Sequence[Symbol]) -> bool:
    """A library of a framework is none."""
    if path.startswith("Test/") or "/Test/" in path or not any(_TEST_FRAMEWORKS.match(one.module) for one in imports):
        return False
    return any(symbol.name in ("main", "spec", "test", "tests") for symbol in symbols)


def _guarded_action(node: Node) -> Iterator[Branch]:
    """`when condition $ action` and `unless condition (action)`."""
    fields = ("left_operand", "right_operand") if node.type == "infix" else ("function", "argument")
    applied, action = map(node.child_by_field_name, fields)
    function = find_field(applied, "function")
    word = short_text(function) if function is not None and function.type == "variable" else ""
    condition = find_field(applied, "argument")
    if word in ("when", "unless") and condition is not None and action is not None:
        tested = (condition.start_byte, condition.end_byte)
        yield Branch(action.start_byte, action.end_byte, Sense.HOLDS if word == "when" else Sense.FAILS, (tested,))


DECLARATION = Declaration(
    **syntax_beside(
        __file__,
        tree_sitter_haskell.language,
        spec={
            "flat": {
                "match": _is_unguarded,
                "where": _is_head,
                "in": _ends_inline,
                "local_binds do alternatives": _is_inline,
            },
            "count_branches": _count_branches,
        },
        tests={"is_test": _is_test, "is_test_file": _is_test_file},
        conditions={"branches": {"infix apply": _guarded_action}},
    ),
    masked=mask_foreign_parts,
    is_mixed=is_literate,
    definitions={
        "function": _function,
        "bind": _bind,
        "signature": _signature,
        # `foreign import … name :: type`.
        "foreign_import": lambda node: DefinitionHead((_plain(find_field(node, "signature")),), SymbolType.FUNCTION),
        "data_type newtype class type_family data_family": _type,
        "type_instance": _type_instance,
        "pattern_synonym": _pattern_synonym,
        "instance": _instance,
    },
    leaves_out=lambda source: b"#else" in source or b"#elif" in source,
    hiding=lambda source, is_broken: (*directive_lines(source), *_unknown(source, is_broken)),
    fields={"field": _field, "data_constructor gadt_constructor": _constructor},
    result=lambda match: find_field(match, "expression") if match.type == "match" else None,
    calls={"apply": lambda node, text: _called(find_field(node, "function"), text), "infix": _infix_call},
    imports={"import": _import},
    parameters=_parameters,
    return_type=_return_type,
    bases=_bases,
    extensions={"instance deriving_instance": _extension},
    # The lines after the first of a comment that the grammar takes for one.
    plain_doc=lambda comment: _LINE_MARK.sub("", comment),
    package={"header": hooks.field_reader("module")},
    exports={"export": _export},
    reexports={"exports": _exported_modules},
    listed={"exports": _listed},
    is_listed=_is_listed,
)


class HaskellRules(Rules):
    """Each file is a module with the name in its head."""

    languages = frozenset({"haskell"})
    names_files = False

    def unit_of(self, file: ScopedFile) -> Key:
        return (file.package or file.path,)

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        held = self.tree.units.get((row.module,), [])
        files = tuple(found.path for found in held) if len(held) == 1 else ()
        is_whole = row.name in (None, "*")
        name = row.alias or (row.module if row.name is None else row.name)
        if held:
            if row.name == "*":
                yield ResolvedImport(ModuleValue((row.module,)), None, files, is_star=True, is_handed_on=True)
                if row.alias:
                    yield ResolvedImport(ModuleValue((row.module,)), row.alias)
            else:
                target = ModuleValue((row.module,)) if is_whole else Member((row.module,), row.name or "")
                yield ResolvedImport(target, name, files, is_handed_on=True)
        else:
            outside = Outside(row.module, row.name if row.name not in (None, "*") else "")
            yield ResolvedImport(outside, None if row.name == "*" else name, (), row.name == "*")
