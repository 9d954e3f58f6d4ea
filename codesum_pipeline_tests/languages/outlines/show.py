"""Prints the tree of a file, and what the table of its language finds there.

`python -m codesum_pipeline_tests.languages.outlines.show FILE`; with `--grammar NAME` before there is a table, and with
`--findings` without the tree.
"""

import sys
from pathlib import Path

from tree_sitter import Node, Parser

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.language_facts.file_languages import language_of_file
from codesum_pipeline.languages.outlines.grammars import load_grammar
from codesum_pipeline.languages.outlines.outline_table import outline_tables
from codesum_pipeline.symbols.parsing.parsers import parse_file

_MOST_SHOWN = 60


def print_tree(node: Node, depth: int = 0, field: str | None = None) -> None:
    """Each node on a line: its field, its type, the text of a leaf; marks and words of the grammar in quotes."""
    text = (node.text or b"").decode(errors="replace")
    name = node.type if node.is_named else repr(node.type)
    leaf = f" {text[:_MOST_SHOWN]!r}" if node.is_named and not node.child_count else ""
    print(f"{'  ' * depth}{f'{field}: ' if field else ''}{name}{leaf}")
    cursor = node.walk()
    is_child = cursor.goto_first_child()
    while is_child and cursor.node is not None:
        print_tree(cursor.node, depth + 1, cursor.field_name)
        is_child = cursor.goto_next_sibling()


def print_findings(path: Path, language: str, data: bytes) -> None:
    """What a case says of a file."""
    read = parse_file(path.name, language, data, blob="", hash_policy=HashPolicy.CANONICAL)
    own = {symbol.id.partition("::")[2]: symbol for symbol in read.symbols}
    lists = {
        "found": {id_: (one.type.value, one.start_line, one.end_line) for id_, one in own.items()},
        "documented": {id_: one.docstring for id_, one in own.items() if one.docstring},
        "fields": {id_: tuple(f.text for f in one.facts.fields) for id_, one in own.items() if one.facts.fields},
        "calls": {id_: tuple(f.text for f in one.facts.calls) for id_, one in own.items() if one.facts.calls},
    }
    for name, found in lists.items():
        print(f"\n{name}={{")
        print("".join(f"    {id_!r}: {value!r},\n" for id_, value in found.items()) + "},")
    print(f"private=frozenset({[id_ for id_, one in own.items() if not one.is_public]}),")
    print(f"constants={read.facts.globals!r},")
    print(f"# syntax errors: {read.facts.syntax_errors}; file: {read.facts.docstring!r}; complexity, signature:")
    for id_, one in own.items():
        print(f"# {id_}: {one.complexity}, {one.signature}")


if __name__ == "__main__":
    *options, name = sys.argv[1:]
    file = Path(name)
    content = file.read_bytes()
    known = language_of_file(name, content)
    table = outline_tables().get(known)
    grammar = options[1] if options[:1] == ["--grammar"] else table.grammar if table else known
    if "--findings" not in options:
        print_tree(Parser(load_grammar(grammar)).parse(content).root_node)
    if table:
        print_findings(file, known, content)
