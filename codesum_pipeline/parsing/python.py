"""Python: its node types, and what one file of it gives."""

from collections.abc import Iterator
from functools import cache, partial

import tree_sitter_python
from tree_sitter import Tree

from codesum_pipeline.languages.python.brackets import (
    is_bare_call,
    is_bare_group,
    is_bare_target,
    is_bare_tuple,
    is_no_only_item,
)
from codesum_pipeline.languages.python.comments import without_comment_runs
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
from codesum_pipeline.model.hashing import HashPolicy
from codesum_pipeline.model.symbols import FileFacts, SymbolType
from codesum_pipeline.parsing.bounded import parse_within_bounds
from codesum_pipeline.parsing.canonical import call_places, lay_out
from codesum_pipeline.parsing.definitions import SyntaxDefinition, find_definitions
from codesum_pipeline.parsing.expressions import EXPRESSIONS_VERSION, FileTexts
from codesum_pipeline.parsing.grammar import Grammar, compile_grammar, parser_version
from codesum_pipeline.parsing.lost import with_lost_definitions
from codesum_pipeline.parsing.overloads import ids_of
from codesum_pipeline.parsing.parsed import ParsedFile, content_hash, count_lines
from codesum_pipeline.parsing.python_docstrings import docstring_node, docstring_text
from codesum_pipeline.parsing.python_module import IMPORT_STATEMENTS, read_exports, read_globals, read_imports
from codesum_pipeline.parsing.python_recovery import recovered_python
from codesum_pipeline.parsing.python_symbols import SymbolReader
from codesum_pipeline.parsing.recovery import RECOVERY_VERSION, Span, changed_spans, error_places
from codesum_pipeline.parsing.reexports import are_all, read_package_reexports
from codesum_pipeline.parsing.testing import FileEvidence, judge_tests, with_tests
from codesum_pipeline.parsing.walk import Mark, Tokens, bytes_as_characters, read_tokens

PYTHON = LanguageSpec(
    name="python",
    version=3,
    distribution="tree-sitter-python",
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
    definitions={"function_definition": SymbolType.FUNCTION, "class_definition": SymbolType.CLASS},
    wrappers=words("decorated_definition"),
    marked=words("""
        import_statement import_from_statement future_import_statement call return_statement raise_statement yield
        assignment augmented_assignment global_statement nonlocal_statement
    """),
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


@cache
def python_grammar() -> Grammar:
    """The compiled grammar, once per process."""
    return compile_grammar(PYTHON)


def python_parser(hash_policy: HashPolicy) -> str:
    """Everything besides its bytes that decides what is read from a Python file."""
    read = f"{RECOVERY_VERSION} references/{REFERENCES_VERSION} expressions/{EXPRESSIONS_VERSION}"
    return f"{parser_version(PYTHON)} {read} {hash_policy}"


def parse_python(
    source: bytes,
    file_path: str,
    *,
    blob: str = "",
    hash_policy: HashPolicy = HashPolicy.CANONICAL,
) -> ParsedFile:
    """The symbols and facts of one Python file or stub; `source` is UTF-8 with `\\n` line ends.

    Never fails on what is in the file: what does not parse is counted in
    `syntax_errors`, and the definitions around it are read.
    """
    tree, tokens, blanked = _read(source)
    definitions, outside = find_definitions(tokens, PYTHON)
    docstrings = [docstring_node(definition.node.child_by_field_name("body")) for definition in definitions]
    module_docstring = docstring_node(tree.root_node)
    margins = {node.start_byte for node in (module_docstring, *docstrings) if node}
    canonical = lay_out(tokens, source, margins)
    exports = read_exports(outside, tokens)
    texts = FileTexts.of(tokens)
    reader = SymbolReader(tokens, canonical, source, file_path, exports, hash_policy, texts, blanked)
    ids = ids_of(definitions, file_path, reader.overloads(definitions))
    symbols = tuple(
        [
            reader.symbol(definition, docstring, id=id_, parent_id=_parent_id(definition, ids))
            for definition, docstring, id_ in zip(definitions, docstrings, ids, strict=True)
        ]
    )
    file_source = canonical.source(0, len(canonical.texts))
    imports = read_imports(_scoped_imports(outside, definitions, ids), tokens, canonical)
    tests = judge_tests(symbols, FileEvidence(file_path, PYTHON.name, imports))
    reexports = read_package_reexports(file_path, imports, exports)
    globals_ = read_globals(outside, tokens)
    references = extract_references(tree, source, file_path, symbols)
    facts = FileFacts(
        file_path=file_path,
        blob=blob,
        language=PYTHON.name,
        parser=python_parser(hash_policy),
        content_hash=content_hash(hash_policy, file_source, source),
        source=file_source,
        lines=count_lines(source),
        docstring=docstring_text(canonical, module_docstring),
        imports=imports,
        globals=globals_,
        exports=exports,
        references=references.json,
        syntax_errors=len(tokens.errors),
        reexports=reexports,
        only_reexports=are_all(reexports, symbols=len(symbols), globals_=globals_, exports=exports),
        is_test=tests.is_test,
        literals=texts.literals_outside([(one.start_byte, one.end_byte) for one in definitions]),
        call_places=call_places(references, canonical),
    )
    return with_lost_definitions(ParsedFile(facts, with_tests(symbols, tests)), source, tree)


def _read(source: bytes) -> tuple[Tree, Tokens, tuple[Span, ...]]:
    """The tree and the tokens of a file, and what was blanked for reading the definitions around syntax errors."""
    grammar = python_grammar()
    parse = partial(parse_within_bounds, grammar.parser())
    shown = without_comment_runs(source)
    tree = first = parse(shown)
    blanked: tuple[Span, ...] = ()
    if first.root_node.has_error:
        best = recovered_python(source, shown, first, parse)
        tree, blanked = best.tree, changed_spans(shown, best.shown)
    tokens = read_tokens(tree, bytes_as_characters(source), grammar, is_mended=bool(blanked))
    if blanked:
        tokens.errors[:] = [start for start, _ in error_places(first.root_node)]
    return tree, tokens, blanked


def _parent_id(definition: SyntaxDefinition, ids: list[str]) -> str | None:
    return None if definition.parent is None else ids[definition.parent]


def _scoped_imports(
    outside: list[Mark], definitions: list[SyntaxDefinition], ids: list[str]
) -> Iterator[tuple[Mark, str | None]]:
    """The import statements with the symbol directly around each."""
    yield from ((mark, None) for mark in outside if mark[0] in IMPORT_STATEMENTS)
    for definition, id_ in zip(definitions, ids, strict=True):
        yield from ((mark, id_) for mark in definition.marks if mark[0] in IMPORT_STATEMENTS)
