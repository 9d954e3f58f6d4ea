"""Python."""

from collections.abc import Container, Sequence

import tree_sitter_python
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Import, Symbol, SymbolType
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.framework_rules import TEST, is_called_test
from codesum_pipeline.languages.declarations.hook_values import Docstrings
from codesum_pipeline.languages.declarations.hooks import definition_reader, field_reader
from codesum_pipeline.languages.declarations.python.cython import as_python, changed_parts, is_cython
from codesum_pipeline.languages.declarations.python.literals import (
    docstring_node,
    docstring_text,
    is_ellipsis,
    is_one_text,
    spell_float,
    spell_integer,
    spell_string,
    spell_texts,
)
from codesum_pipeline.languages.declarations.python.python_brackets import (
    is_bare_call,
    is_bare_group,
    is_bare_target,
    is_bare_tuple,
    is_no_only_item,
)
from codesum_pipeline.languages.declarations.python.python_facts import (
    assigned_targets,
    read_bases,
    read_exports,
    read_globals,
    read_import,
    read_modifiers,
    read_parameters,
    read_reexports,
    value_span,
)
from codesum_pipeline.languages.declarations.python.python_recovery import (
    LINES,
    hiding_parts,
    silent_parts,
    without_comment_runs,
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
                "parenthesized_expression": is_bare_group,
                "tuple": is_bare_tuple,
                "tuple_pattern": is_bare_target,
                "argument_list": is_bare_call,
            },
            "other_lists": {"type_parameter": is_no_only_item},
            "respelled": {
                "string": spell_string,
                "concatenated_string": spell_texts,
                "integer": spell_integer,
                "float": spell_float,
            },
            "merged": {"concatenated_string": is_one_text},
        },
        tests={"is_test": _is_test},
    ),
    definitions={
        "function_definition": definition_reader(SymbolType.FUNCTION, lambda node: node),
        "class_definition": definition_reader(SymbolType.CLASS, lambda node: node),
    },
    docstrings=Docstrings(docstring_node, docstring_text, is_ellipsis),
    masked=lambda source, is_broken: without_comment_runs(
        as_python(source) if is_broken and is_cython(source) else source
    ),
    rewritten=changed_parts,
    is_mixed=is_cython,
    definition_lines=LINES,
    hiding=hiding_parts,
    silent=silent_parts,
    callees={"call": lambda node: node.child(0)},
    targets=assigned_targets,
    value_span=value_span,
    imports={"import_statement import_from_statement future_import_statement": read_import},
    parameters=read_parameters,
    return_type=field_reader("return_type"),
    bases=read_bases,
    modifiers=read_modifiers,
    is_public=lambda parts, modifiers: all(map(_is_public_name, parts)),
    is_listed=_is_listed,
    made_exports=read_exports,
    reexports_of_file=read_reexports,
    globals={"assignment": read_globals},
    references=extract_references,
)
