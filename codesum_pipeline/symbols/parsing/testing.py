"""Which definitions of a file, and whether all of it, are tests, judged by its content.

What a file's path says is known before it is read (`source.rules`). Here the
code decides: the language's own marks of a test, the base class or the calls of
a test framework, a build tag. A source file with tests at its end is no test,
but those are.
"""

import re
from collections.abc import Callable, Collection, Sequence

import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.symbol import Import, Symbol, SymbolType
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.languages.declarations.framework_rules import TEST, FrameworkRules, is_called_test
from codesum_pipeline.languages.declarations.spec import Mark, split_words
from codesum_pipeline.symbols.parsing.facts import CallReader

_TEST_BASE = re.compile(
    r"(?:^|[.:\\])(?:\w*TestCase|XCTestCase|QuickSpec|AsyncSpec|Minitest::(?:Test|Spec)|ActionDispatch::IntegrationTest"
    r"|ExUnit\.Case|testing::Test|testing::TestWithParam(?:<.*>)?)$"
)
# What is tested, as the first argument: its name or a word on it.
_TITLES = split_words("argument constant scope_resolution")
_VARIANTS = split_words("concurrent each only serial skip")


class FileEvidence(Struct, frozen=True):
    """What a file says besides its definitions: imports, whether it calls a test framework outside of them, its first
    bytes, and whether a definition is in a module of tests."""

    path: str
    rules: FrameworkRules
    imports: Sequence[Import] = ()
    calls_tests: bool = False
    head: bytes = b""
    is_in_tests: Callable[[Symbol], bool] = lambda symbol: False


class FileTesting(Struct, frozen=True):
    """Whether a file as a whole tests others, and the ids of those of its definitions that do."""

    is_test: bool
    ids: frozenset[str]


def judge_tests(symbols: Sequence[Symbol], evidence: FileEvidence) -> FileTesting:
    """Judge one file by its content; `symbols` come before those inside of them."""
    children: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.parent_id is not None:
            children.setdefault(symbol.parent_id, []).append(symbol)
    found: set[str] = set()
    for symbol in symbols:
        if symbol.parent_id in found or _is_test(symbol, children.get(symbol.id, ()), evidence):
            found.add(symbol.id)
    top = [symbol.id for symbol in symbols if symbol.parent_id is None]
    return FileTesting(_is_test_file(symbols, top, found, evidence), frozenset(found))


def with_tests(symbols: Sequence[Symbol], verdict: FileTesting) -> tuple[Symbol, ...]:
    """The symbols of a file, each with whether it is a test."""
    return tuple([replace(symbol, is_test=symbol.id in verdict.ids) for symbol in symbols])


def _is_test(symbol: Symbol, children: Sequence[Symbol], evidence: FileEvidence) -> bool:
    """Whether a definition is a test, if nothing around it is one."""
    rules = evidence.rules
    if rules.is_test is not None:
        return rules.is_test(symbol, children, evidence.imports)
    if TEST in symbol.modifiers or evidence.is_in_tests(symbol):
        return True
    if rules.signatures is not None and rules.signatures.match(symbol.signature):
        return True
    if symbol.type is not SymbolType.CLASS:
        return False
    bases = {base.partition("[")[0].rpartition(".")[2] for base in symbol.bases}
    if bases & rules.specs and not {"abstract", "open", "trait"} & {*symbol.modifiers}:
        return True
    if any(map(_TEST_BASE.search, symbol.bases)):
        is_library = rules.library_words & {*symbol.modifiers}
        return not is_library and (not rules.needs_methods or any(map(is_called_test, children)))
    return rules.methods_decide and any(TEST in child.modifiers for child in children)


def _is_test_file(
    symbols: Sequence[Symbol], top: Sequence[str], found: Collection[str], evidence: FileEvidence
) -> bool:
    rules = evidence.rules
    if evidence.calls_tests or (rules.tag is not None and rules.tag.search(evidence.head)):
        return True
    if rules.is_test_file(evidence.path, evidence.imports, symbols):
        return True
    tests = sum(id_ in found for id_ in top)
    if rules.stands_beside:
        return rules.is_whole and bool(tests) and tests == len(top)
    return tests * 2 > len(top) if tests else False


def has_test_calls(outside: Sequence[Mark], kinds: Collection[str], calls: CallReader, wanted: Collection[str]) -> bool:
    """Whether the file calls a test framework outside of all definitions: `describe("…", …)`, `test.each(…)`."""
    for kind, _, node in outside if wanted else ():
        called = calls.read(kind, node) if kind in kinds else None
        if called is None:
            continue
        first = called.receiver.partition(".")[0] or called.name
        if first in wanted and (called.name in _VARIANTS or _tells(node)):
            return True
    return False


def _tells(call: Node) -> bool:
    arguments = call.child_by_field_name("arguments")
    first = next((child for child in arguments.named_children if not child.is_extra), None) if arguments else None
    return first is not None and (first.type in _TITLES or "string" in first.type)


def read_tests(tables: TableStore, key: str) -> frozenset[str]:
    """The paths of files and the ids of definitions that test others, as path or code says."""
    return frozenset((*_flagged(tables, key, "files", "path"), *read_tests_in_code(tables, key)))


def read_test_files(tables: TableStore, key: str) -> frozenset[str]:
    """The paths of files that test others, as path or code says."""
    return frozenset((*_flagged(tables, key, "files", "path"), *_flagged(tables, key, "file_facts", "file_path")))


def read_tests_in_code(tables: TableStore, key: str) -> list[str]:
    """The files and definitions that are tests by what their code says."""
    return [*_flagged(tables, key, "file_facts", "file_path"), *_flagged(tables, key, "symbols", "id")]


def is_among_tests(tests: Collection[str], id_: str) -> bool:
    """Whether a document is a test: by its id, or since its file is one."""
    return id_ in tests or id_.partition(SEPARATOR)[0] in tests


def _flagged(tables: TableStore, key: str, table: str, name: str) -> list[str]:
    found = tables.read_or_empty(table, key, columns=[name, "is_test"])
    names: list[str] = found.column(name).filter(pc.fill_null(found.column("is_test"), False)).to_pylist()
    return names
