"""Which definitions of a file, and whether all of it, test others: by what stands in it.

What a file's path says is known before it is read (`source.rules`). Here the
code decides: the language's own marks of a test, the base class or the calls of
a test framework, a build tag. A source file with tests at its end is no test,
but those are.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow.compute as pc

from codesum_pipeline.model.ids import SEPARATOR
from codesum_pipeline.model.symbols import Import, Symbol, SymbolType
from codesum_pipeline.store.tables import TableStore

TEST = "test"
# Calls at the top of a file that are given a text, or what is tested, and a body.
TEST_CALLS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), frozenset({"describe", "it", "test", "suite", "context"})),
    "ruby": frozenset({"describe", "RSpec", "shared_examples"}),
    "lua": frozenset({"describe", "it"}),
    "php": frozenset({"describe", "it", "test"}),
}
# Classes are tests where they have some.
_METHODS_DECIDE = frozenset({"java", "kotlin", "c-sharp", "php", "swift", "ruby", "elixir"})
_TEST_BASE = re.compile(
    r"(?:^|[.:\\])(?:\w*TestCase|XCTestCase|QuickSpec|AsyncSpec|Minitest::(?:Test|Spec)|ActionDispatch::IntegrationTest"
    r"|ExUnit\.Case|testing::Test|testing::TestWithParam(?:<.*>)?)$"
)
# Bases whose classes hold tests as calls in their bodies: Scala's and Kotlin's frameworks.
_SPEC_BASES = frozenset({
    "AnyFunSuite", "AnyFunSpec", "AnyFlatSpec", "AnyWordSpec", "AnyFreeSpec", "AnyFeatureSpec", "AnyPropSpec",
    "AsyncFunSuite", "AsyncFlatSpec", "AsyncWordSpec", "FunSuite", "CatsEffectSuite", "ScalaCheckSuite", "FlatSpec",
    "WordSpec", "ZIOSpecDefault", "TestSuite", "StringSpec", "FunSpec", "ShouldSpec", "BehaviorSpec", "DescribeSpec",
    "FreeSpec", "ExpectSpec", "AnnotationSpec",
})  # fmt: skip
_PYTHON_FRAMEWORKS = frozenset({"pytest", "unittest", "nose", "hypothesis", "testtools"})
_HASKELL_FRAMEWORKS = re.compile(r"Test\.(?:Hspec|Tasty|HUnit|Framework|Validity|Microspec)(?:\.|$)")
_HASKELL_PROPERTIES = re.compile(r"(?:prop|spec|test|unit)_")
_MACROS = re.compile(r"(?:TYPED_)?TEST(?:_\w+)?\(|TEMPLATE_TEST_CASE\w*\(|SCENARIO\(|BOOST_\w*TEST_CASE\w*\(|MU_TEST\(")
_GO_TESTS = re.compile(r"(?:Test|Benchmark|Fuzz)(?:[^a-z]|$)")
_GO_TAG = re.compile(
    rb"^//go:build (?:.*[ (])?(?:integration|e2e|acceptance|functional|smoke|unit|tests?)(?:[ )&|]|$)", re.M
)
# Tests stand beside what they test.
_MIXED = frozenset({"haskell", "rust", "zig"})


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """What a file says besides its definitions: imports, whether it calls a test framework outside of them, its first
    bytes, and whether a definition stands in a module of tests."""

    path: str
    language: str
    imports: Sequence[Import] = ()
    calls_tests: bool = False
    head: bytes = b""
    is_in_tests: Callable[[Symbol], bool] = lambda symbol: False


@dataclass(frozen=True, slots=True)
class FileTesting:
    """Whether a file as a whole tests others, and the ids of those of its definitions that do."""

    is_test: bool
    ids: frozenset[str]


def judge_tests(symbols: Sequence[Symbol], told: FileEvidence) -> FileTesting:
    """Judge one file by what stands in it; `symbols` come before those inside of them."""
    children: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.parent_id is not None:
            children.setdefault(symbol.parent_id, []).append(symbol)
    found: set[str] = set()
    for symbol in symbols:
        if symbol.parent_id in found or _is_test(symbol, children.get(symbol.id, ()), told):
            found.add(symbol.id)
    top = [symbol.id for symbol in symbols if symbol.parent_id is None]
    return FileTesting(_is_test_file(symbols, top, found, told), frozenset(found))


def with_tests(symbols: Sequence[Symbol], verdict: FileTesting) -> tuple[Symbol, ...]:
    """The symbols of a file with what is known of each."""
    return tuple([replace(symbol, is_test=symbol.id in verdict.ids) for symbol in symbols])


def _is_test(symbol: Symbol, children: Sequence[Symbol], told: FileEvidence) -> bool:
    """Whether a definition that stands in no test is one."""
    is_class, is_marked = symbol.type is SymbolType.CLASS, TEST in symbol.modifiers
    if told.language == "python":
        return _is_python_test(symbol, children, told)
    if told.language == "go":
        types = {parameter.type for parameter in symbol.facts.parameters[:1]}
        return bool(_GO_TESTS.match(symbol.name)) and bool(types & {"*testing.T", "*testing.B", "*testing.F"})
    if told.language == "haskell":
        uses = any(one.module.startswith("Test.") for one in told.imports)
        return uses and bool(_HASKELL_PROPERTIES.match(symbol.name))
    if is_marked or told.is_in_tests(symbol) or (told.language in ("c", "cpp") and _MACROS.match(symbol.signature)):
        return True
    if not is_class:
        return False
    if told.language in ("scala", "kotlin"):
        bases = {base.partition("[")[0].rpartition(".")[2] for base in symbol.bases}
        if bases & _SPEC_BASES and not {"abstract", "open", "trait"} & {*symbol.modifiers}:
            return True
    if any(map(_TEST_BASE.search, symbol.bases)):
        is_library = told.language == "swift" and {"open", "public"} & {*symbol.modifiers}
        return not is_library and (told.language in ("cpp", "elixir") or any(map(_is_called_test, children)))
    return told.language in _METHODS_DECIDE and any(TEST in child.modifiers for child in children)


def _is_python_test(symbol: Symbol, children: Sequence[Symbol], told: FileEvidence) -> bool:
    """A class with test methods; a function at the top only where the file uses a framework: methods such as
    `test_client` are none."""
    if TEST not in symbol.modifiers:
        return False
    if symbol.type is SymbolType.CLASS:
        return any(map(_is_called_test, children))
    uses = {found.module.partition(".")[0] for found in told.imports}
    return symbol.parent_id is None and bool(uses & _PYTHON_FRAMEWORKS)


def _is_called_test(symbol: Symbol) -> bool:
    return TEST in symbol.modifiers or symbol.name.startswith(("test", "spec"))


def _is_test_file(symbols: Sequence[Symbol], top: Sequence[str], found: Collection[str], told: FileEvidence) -> bool:
    if told.calls_tests or (told.language == "go" and _GO_TAG.search(told.head)):
        return True
    if told.language == "haskell" and not told.path.startswith("Test/") and "/Test/" not in told.path:
        uses = any(_HASKELL_FRAMEWORKS.match(one.module) for one in told.imports)
        return uses and any(symbol.name in ("main", "spec", "test", "tests") for symbol in symbols)
    tests = sum(id_ in found for id_ in top)
    if told.language in _MIXED:
        return told.language == "rust" and bool(tests) and tests == len(top)
    return tests * 2 > len(top) if tests else False


def read_tests(tables: TableStore, key: str) -> frozenset[str]:
    """The paths of files and the ids of definitions that test others, as path or code says."""
    return frozenset((*_flagged(tables, key, "files", "path"), *read_tests_in_code(tables, key)))


def read_tests_in_code(tables: TableStore, key: str) -> list[str]:
    """Those of which the code says it."""
    return [*_flagged(tables, key, "file_facts", "file_path"), *_flagged(tables, key, "symbols", "id")]


def is_among(tests: Collection[str], id_: str) -> bool:
    """Whether a document is a test: by its id, or since its file is one."""
    return id_ in tests or id_.partition(SEPARATOR)[0] in tests


def _flagged(tables: TableStore, key: str, table: str, name: str) -> list[str]:
    found = tables.read_or_empty(table, key, columns=[name, "is_test"])
    names: list[str] = found.column(name).filter(pc.fill_null(found.column("is_test"), False)).to_pylist()
    return names
