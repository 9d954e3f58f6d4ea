"""Python."""

from collections.abc import Container, Sequence

import tree_sitter_python
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Import, Symbol, SymbolType
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.framework_rules import TEST, is_called_test
from codesum_pipeline.languages.declarations.hook_values import Docstrings
from codesum_pipeline.languages.declarations.hooks import definition_reader, field_reader
from codesum_pipeline.languages.declarations.python import (
    cython,
    literals,
    python_brackets,
    python_facts,
    python_recovery,
)
from codesum_pipeline.languages.declarations.python.references.python_references import extract_references
from codesum_pipeline.languages.declarations.spec import split_words

_FRAMEWORKS = split_words("pytest unittest nose hypothesis testtools")


def _is_listed(node: Node, parts: tuple[str, ...], listed: Container[str]) -> bool:
    """A name in `__all__` is public however it is spelled."""
    return parts[0] in listed and all(map(_is_public_name, parts[1:]))


def _is_public_name(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _is_test(symbol: Symbol, children: Sequence[Symbol], imports: Sequence[Import]) -> bool:
    """A class with test methods; a function at the top only where the file uses a framework: methods such as
    `test_client` are none."""
    if TEST not in symbol.modifiers:
        return False
    if symbol.type is SymbolType.CLASS:
        return any(map(is_called_test, children))
    return symbol.parent_id is None and any(one.module.partition(".")[0] in _FRAMEWORKS for one in imports)


DECLARATION = Declaration(
    **syntax_beside(
        __file__,
        tree_sitter_python.language,
        spec={
            "bare": {
                "parenthesized_expression": python_brackets.is_bare_group,
                "tuple": python_brackets.is_bare_tuple,
                "tuple_pattern": python_brackets.is_bare_target,
                "argument_list": python_brackets.is_bare_call,
            },
            "other_lists": {"type_parameter": python_brackets.is_no_only_item},
            "respelled": {
                "string": literals.spell_string,
                "concatenated_string": literals.spell_texts,
                "integer": literals.spell_integer,
                "float": literals.spell_float,
            },
            "merged": {"concatenated_string": literals.is_one_text},
        },
        tests={"is_test": _is_test},
    ),
    definitions={
        "function_definition": definition_reader(SymbolType.FUNCTION, lambda node: node),
        "class_definition": definition_reader(SymbolType.CLASS, lambda node: node),
    },
    docstrings=Docstrings(literals.docstring_node, literals.docstring_text, literals.is_ellipsis),
    masked=lambda source, is_broken: python_recovery.without_comment_runs(
        cython.as_python(source) if is_broken and cython.is_cython(source) else source
    ),
    rewritten=cython.changed_parts,
    is_mixed=cython.is_cython,
    definition_lines=python_recovery.LINES,
    hiding=python_recovery.hiding_parts,
    silent=python_recovery.silent_parts,
    callees={"call": lambda node: node.child(0)},
    targets=python_facts.assigned_targets,
    value_span=python_facts.value_span,
    imports={"import_statement import_from_statement future_import_statement": python_facts.read_import},
    parameters=python_facts.read_parameters,
    return_type=field_reader("return_type"),
    bases=python_facts.read_bases,
    modifiers=python_facts.read_modifiers,
    is_public=lambda parts, modifiers: all(map(_is_public_name, parts)),
    is_listed=_is_listed,
    made_exports=python_facts.read_exports,
    reexports_of_file=python_facts.read_reexports,
    globals={"assignment": python_facts.read_globals},
    references=extract_references,
)
