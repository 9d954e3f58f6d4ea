"""Python.

Long runs of comment lines are blanked before the grammar sees them: tree-sitter-python looks past all comments that
follow each time it meets one, so that the time for a run of them grows with its square: 4,000 lines of 40 characters
took 7 s. What stays is as long as it was, byte for byte and line for line, and comments say nothing to later steps.
"""

import re
from collections.abc import Container, Sequence

import tree_sitter_python
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Import, Symbol, SymbolType
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.framework_rules import TEST, is_called_test
from codesum_pipeline.languages.declarations.hook_values import Docstrings
from codesum_pipeline.languages.declarations.hooks import definition_reader, field_reader
from codesum_pipeline.languages.declarations.python import cython, literals, python_brackets, python_facts
from codesum_pipeline.languages.declarations.python.references.python_references import extract_references
from codesum_pipeline.languages.declarations.spec import split_words

# So long a run takes 20 ms.
_LONGEST_RUN = 200

_LINES = rb"(?:^[ \t\f]*+\#[^\n]*+\n(?:[ \t\f]*+\n)*+){%d,}+" % (_LONGEST_RUN + 1)
_ANY_LONG_RUN = re.compile(_LINES, re.MULTILINE)
# Strings are passed over whole: what looks like a comment in one is text.
_RUN_OR_STRING = re.compile(
    rb"(?P<run>%b)|\#[^\n]*+"
    rb'|"{3}(?:[^\\"]|\\.|"(?!""))*+(?:"{3})?+'
    rb"|'{3}(?:[^\\']|\\.|'(?!''))*+(?:'{3})?+"
    rb'|"(?:[^"\\\n]|\\.)*+"?+'
    rb"|'(?:[^'\\\n]|\\.)*+'?+" % _LINES,
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(rb"\#[^\n]*")
_FRAMEWORKS = split_words("pytest unittest nose hypothesis testtools")


def _without_comment_runs(source: bytes) -> bytes:
    """The source with blanks in place of the comments of runs longer than `_LONGEST_RUN` lines."""
    if not _ANY_LONG_RUN.search(source):
        return source
    return _RUN_OR_STRING.sub(_blanked, source)


def _blanked(match: re.Match[bytes]) -> bytes:
    run = match["run"]
    return match[0] if run is None else _COMMENT.sub(lambda comment: b" " * len(comment[0]), run)


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
    masked=lambda source, is_broken: _without_comment_runs(
        cython.as_python(source) if is_broken and cython.is_cython(source) else source
    ),
    rewritten=cython.changed_parts,
    is_mixed=cython.is_cython,
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
