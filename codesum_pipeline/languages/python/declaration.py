"""Python."""

from collections.abc import Container, Sequence

import tree_sitter_python
from tree_sitter import Node

from codesum_pipeline.languages.declaration import Declaration, DefinitionHead, Docs, Docstrings
from codesum_pipeline.languages.frameworks import TEST, FrameworkRules, is_called_test
from codesum_pipeline.languages.hooks import field_text, raw_text
from codesum_pipeline.languages.python.brackets import (
    is_bare_call,
    is_bare_group,
    is_bare_target,
    is_bare_tuple,
    is_no_only_item,
)
from codesum_pipeline.languages.python.comments import without_comment_runs
from codesum_pipeline.languages.python.docstrings import docstring_node, docstring_text, is_ellipsis
from codesum_pipeline.languages.python.facts import FACTS, bases, parameters, type_of
from codesum_pipeline.languages.python.modifiers import modifiers
from codesum_pipeline.languages.python.module import read_exports, read_globals, read_import, read_reexports
from codesum_pipeline.languages.python.recovery import LINES, hiding, silent
from codesum_pipeline.languages.python.references.reading import REFERENCES_VERSION, extract_references
from codesum_pipeline.languages.python.spelling import (
    is_one_text,
    spell_float,
    spell_integer,
    spell_string,
    spell_texts,
)
from codesum_pipeline.languages.spec import LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import lists
from codesum_pipeline.model.symbols import Import, Symbol, SymbolType

SPEC = LanguageSpec(
    name="python",
    version=3,
    grammar=tree_sitter_python.language,
    lines=words("""
        import_statement import_from_statement future_import_statement print_statement exec_statement
        assert_statement expression_statement return_statement delete_statement raise_statement pass_statement
        break_statement continue_statement global_statement nonlocal_statement type_alias_statement if_statement
        elif_clause else_clause for_statement while_statement try_statement except_clause finally_clause
        with_statement match_statement case_clause function_definition class_definition decorated_definition
        decorator
    """),
    blocks=words("module block"),
    atoms=words("string"),
    dropped=words("comment line_continuation ;"),
    # These statements and no others: comprehensions, `match` and boolean operators do not count.
    branches=words("""
        if_statement elif_clause for_statement while_statement except_clause with_statement assert_statement
    """),
    wrappers=words("decorated_definition"),
    bare={
        "parenthesized_expression": is_bare_group,
        "tuple": is_bare_tuple,
        "tuple_pattern": is_bare_target,
        "argument_list": is_bare_call,
    },
    lists={
        **lists(
            """
        argument_list parameters list dictionary set import_from_statement future_import_statement with_clause
        list_pattern class_pattern dict_pattern
    """,
            tuples="tuple tuple_pattern subscript",
        ),
        "type_parameter": is_no_only_item,
    },
    respelled={
        "string": spell_string,
        "concatenated_string": spell_texts,
        "integer": spell_integer,
        "float": spell_float,
    },
    merged={"concatenated_string": is_one_text},
    tokens=spaced("""
        NUMBER integer
        WORD   _
        OPEN   ( [ {
        CLOSE  ) ] }
        COMMA  , :
        TIGHT  .
        EITHER - + ~ * ** @
    """),
    tokens_in=spaced_in("""
        OMITTED   import_from_statement|future_import_statement|with_clause (
           import_from_statement|future_import_statement|with_clause )
        OPEN      slice :
        TIGHT     keyword_argument|keyword_pattern|default_parameter =
        PREFIX    import_prefix .
        SPACED    import_from_statement import
    """),
)


def _definition(node: Node) -> DefinitionHead | None:
    name = raw_text(node.child_by_field_name("name"))
    return DefinitionHead((name,), type_of(node), node.child_by_field_name("body"), head=node) if name else None


def _is_public(parts: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return all(map(_is_public_name, parts))


def _is_listed(node: Node, parts: tuple[str, ...], listed: Container[str]) -> bool:
    """A name in `__all__` is public however it is spelled."""
    return parts[0] in listed and all(map(_is_public_name, parts[1:]))


def _is_public_name(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


_FRAMEWORKS = words("pytest unittest nose hypothesis testtools")


def _is_test(symbol: Symbol, children: Sequence[Symbol], imports: Sequence[Import]) -> bool:
    """A class with test methods; a function at the top only where the file uses a framework: methods such as
    `test_client` are none."""
    if TEST not in symbol.modifiers:
        return False
    if symbol.type is SymbolType.CLASS:
        return any(map(is_called_test, children))
    return symbol.parent_id is None and any(one.module.partition(".")[0] in _FRAMEWORKS for one in imports)


DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(is_test=_is_test),
    definitions={"function_definition class_definition": _definition},
    docs=Docs.ADJACENT,
    docstrings=Docstrings(docstring_node, docstring_text, is_ellipsis),
    masked=lambda source, is_broken: without_comment_runs(source),
    hiding=hiding,
    silent=silent,
    definition_lines=LINES,
    preambles=words("decorator"),
    facts=FACTS,
    imports={"import_statement import_from_statement future_import_statement": read_import},
    parameters=parameters,
    return_type=lambda node, text: field_text(node, "return_type", text) or None,
    bases=bases,
    modifiers=modifiers,
    unbound="staticmethod",
    # Least an implementation of its name is what adds to a property, then an overload, then a stub.
    ranks={"overload": 2, "setter": 3, "deleter": 3},
    telling_marks=words(":"),
    is_public=_is_public,
    is_listed=_is_listed,
    made_exports=read_exports,
    handed_on=read_reexports,
    globals={"assignment": read_globals},
    references=extract_references,
    references_version=REFERENCES_VERSION,
)
