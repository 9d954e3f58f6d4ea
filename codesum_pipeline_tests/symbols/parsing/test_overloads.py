"""Which definitions of one name keep their ids when others come and go."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.ids import without_suffix
from codesum_pipeline.foundation.data_model.symbol import Symbol, SymbolType
from codesum_pipeline.symbols.parsing.overloads import ids_of
from codesum_pipeline.symbols.parsing.parsers import parse_file

# By language: what stands around them, and definitions that share a name, the one that keeps the plain id first.
CASES: dict[str, tuple[str, str, list[str]]] = {
    "python: overloads of __init__": (
        "python",
        "from typing import overload\nclass A:\n    x = 1\n{}",
        [
            "    def __init__(self, x): self.x = x\n",
            "    @overload\n    def __init__(self, x: int) -> None: ...\n",
            "    @overload\n    def __init__(self, x: str) -> None: ...\n",
            "    @overload\n    def __init__(self, x: bytes, y: int) -> None: ...\n",
        ],
    ),
    "python: a property": (
        "python",
        "class A:\n    x = 1\n{}",
        [
            "    @property\n    def total(self): return self.t\n",
            "    @total.setter\n    def total(self, t): self.t = t\n",
            "    @total.deleter\n    def total(self): del self.t\n",
        ],
    ),
    "python: conditional definitions": (
        "python",
        "import sys\n{}",
        [
            "if sys.version_info > (3, 12):\n    def f(x): return x\n",
            "if sys.platform == 'win32':\n    def f(x): return x + 1\n",
            "if sys.platform == 'darwin':\n    def f(x): return x + 2\n",
            "if TYPE_CHECKING:\n    def f(x): ...\n",
        ],
    ),
    "python: functions registered under one name": (
        "python",
        "{}",
        [
            "@show.register\ndef _(x: int): return 1\n",
            "@show.register\ndef _(x: bytes): return 2\n",
            "@show.register(str)\ndef _(x): return 3\n",
        ],
    ),
    "python: functions in overloads": (
        "python",
        "{}",
        [
            "def f():\n    def inner(x): return 1\n    return inner\n",
            "def f(x):\n    def inner(x, y): return 2\n    return inner\n",
            "def f(x, y):\n    def inner(x, y, z): return 3\n    return inner\n",
        ],
    ),
    "python: classes of one name with equal methods": (
        "python",
        "{}",
        [
            "class A:\n    def m(self): return 1\n",
            "class A(Base):\n    def m(self): return 1\n",
            "class A(Base, Other):\n    def m(self): return 1\n",
        ],
    ),
    "typescript: an interface in parts": (
        "typescript",
        "{}",
        [
            "interface A {\n  f(): void;\n}\n",
            "interface A {\n  f(x: number): void;\n  g(): void;\n}\n",
            "interface A {\n  f(x: string, y: number): void;\n  h(): void;\n}\n",
        ],
    ),
    "typescript: accessors": (
        "typescript",
        "class A {{\n{}}}\n",
        ["  public get x() { return 1 }\n", "  private set x(v) { this.v = v }\n"],
    ),
    "c++: overloads": (
        "cpp",
        "{}",
        [
            "int f() { return 1; }\n",
            "int f(int x) { return x; }\n",
            "template <class T> int f(T x) { return 2; }\n",
        ],
    ),
    "c++: members and what is declared of them": (
        "cpp",
        "struct A {{ int x; {} }};\nint A::f(int x) {{ return x; }}\n",
        ["int f(int x);", "int f(int x, int y);", "int f(double x) = delete;"],
    ),
    "c: branches of the preprocessor": (
        "c",
        "{}",
        [
            "#ifdef A\nint f(void) { return 1; }\n#endif\n",
            "#ifdef B\nint f(void) { return 2; }\n#endif\n",
            "#ifdef C\nint f(void) { return 3; }\n#endif\n",
        ],
    ),
    "java: overloads": (
        "java",
        "class A {{\n{}}}\n",
        [
            "  int f() { return 1; }\n",
            "  int f(int x) { return x; }\n",
            "  int f(String x) { return 2; }\n",
            "  abstract int f(char x);\n",
        ],
    ),
    "ruby: a class opened again": (
        "ruby",
        "{}",
        [
            "class A\n  def f(x) = 1\nend\n",
            "class A\n  def g(x) = 2\nend\n",
            "class A\n  def h(x) = 3\nend\n",
        ],
    ),
    "ruby: a method defined again": (
        "ruby",
        "class A\n{}end\n",
        ["  def f = 1\n", "  def f(x) = 2\n", "  def f(x, y) = 3\n"],
    ),
    "go: several init": (
        "go",
        "package a\n{}",
        ["func init() { a() }\n", "func init() { b() }\n", "func init() { c() }\n"],
    ),
    "rust: functions for one platform each": (
        "rust",
        "{}",
        [
            "#[cfg(unix)]\nfn f() -> u8 { 1 }\n",
            "#[cfg(windows)]\nfn f() -> u8 { 2 }\n",
            "#[cfg(feature = \"x\")]\nfn f() -> u8 { 3 }\n",
        ],
    ),
    "elixir: functions by number of arguments": (
        "elixir",
        "defmodule A do\n{}end\n",
        [
            "  def f(0), do: 1\n  def f(x), do: x\n",
            "  def f(0, y), do: y\n  def f(x, y), do: x + y\n",
            "  def f(x, y, z), do: x + y + z\n",
        ],
    ),
    "haskell: branches of the preprocessor": (
        "haskell",
        "module A where\n{}",
        ["f :: Int -> Int\nf x = x\n", "g :: Int\ng = 1\nf :: Int -> Integer\nf x = 2\n"],
    ),
    "scala: a class and its companion": (
        "scala",
        "{}",
        ["class A(val x: Int, val y: Int)\n", "object A { val x = 1 }\n"],
    ),
    "c-sharp: overloads": (
        "c-sharp",
        "class A {{\n{}}}\n",
        ["  int F() => 1;\n", "  int F(int x) => x;\n", "  int F(string x) { return 2; }\n"],
    ),
    "kotlin: overloads": (
        "kotlin",
        "class A {{\n{}}}\n",
        ["  fun f() = 1\n", "  fun f(x: Int) = x\n", "  fun f(x: String): Int { return 2 }\n"],
    ),
    "swift: overloads": (
        "swift",
        "struct A {{\n{}}}\n",
        ["  func f() -> Int { 1 }\n", "  func f(_ x: Int) -> Int { x }\n", "  func f(x: Int) -> Int { 2 }\n"],
    ),
}  # fmt: skip


Ids = dict[tuple[str, str], list[str]]


def symbols(language: str, source: str) -> tuple[Symbol, ...]:
    return parse_file("a", language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL).symbols


def ids_of_case(case: str, pieces: Sequence[str]) -> Ids:
    """By name and text, the ids of all but the class that holds the pieces: it has another text with each."""
    language, around, _ = CASES[case]
    holders = {symbol.id for symbol in symbols(language, around.format("")) if symbol.type is SymbolType.CLASS}
    ids: Ids = {}
    for symbol in symbols(language, around.format("".join(pieces))):
        if symbol.id not in holders:
            ids.setdefault((without_suffix(symbol.id), symbol.canonical_source), []).append(symbol.id)
    return ids


def moved(before: Ids, after: Ids) -> list[tuple[str, str]]:
    """The ids before and after of those that stand in both and have others; of twins, those that one alone has."""
    found = []
    for text in before.keys() & after.keys():
        old, new = Counter(before[text]), Counter(after[text])
        found += zip(sorted((old - new).elements()), sorted((new - old).elements()), strict=False)
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_implementation_keeps_the_plain_id_and_each_other_has_one_of_its_own(case: str) -> None:
    pieces = CASES[case][2]
    found = [id_ for ids in ids_of_case(case, pieces).values() for id_ in ids]
    alone = [id_ for ids in ids_of_case(case, pieces[:1]).values() for id_ in ids]

    assert len(set(found)) == len(found) >= len(pieces)
    assert {id_ for id_ in found if "#" not in id_} == {without_suffix(id_) for id_ in found}
    assert all(re.search("#[0-9a-f]{6}(-[0-9]+)?$", id_) for id_ in found if "#" in id_)
    assert set(alone) <= set(found)


@pytest.mark.parametrize("case", CASES)
def test_one_that_comes_or_goes_moves_no_other_unless_the_plain_id_is_handed_on(case: str) -> None:
    pieces = CASES[case][2]
    whole = ids_of_case(case, pieces)

    for gone in pieces[1:]:
        assert moved(whole, ids_of_case(case, [piece for piece in pieces if piece is not gone])) == []
    handed_on = moved(whole, ids_of_case(case, pieces[1:]))
    assert all("#" not in after for _, after in handed_on)
    assert max(Counter(after for _, after in handed_on).values(), default=0) <= 1


@pytest.mark.parametrize("case", CASES)
def test_their_order_in_a_file_moves_none(case: str) -> None:
    pieces = CASES[case][2]
    whole = ids_of_case(case, pieces)

    assert all(moved(whole, ids_of_case(case, order)) == [] for order in permutations(pieces))


FORMATTED = {
    "python": (
        "@overload\ndef f(x: 'int', *, y = (1)) -> int: ...\n@overload\ndef f(x: str) -> str: ...\n"
        "def f(x): return x\n",
        '@overload\ndef f(\n    x: "int",  # a number\n    *,\n    y=1,\n) -> int: ...\n\n\n'
        "@overload\ndef f(x: str) -> str: ...\n\n\ndef f(x):\n    return x\n",
    ),
    "typescript": (
        "class A { get x(){return 1} set x(v : number){} }",
        "class A {\n  get x() {\n    return 1;\n  }\n\n  // Sets.\n  set x(v: number) {}\n}\n",
    ),
    "java": (
        "class A { int f(){return 1;} int f(int x,int y){return x;} int f(String x){return 2;} }",
        "class A {\n  int f() {\n    return 1;\n  }\n\n"
        "  int f(\n      int x, /* second */ int y) {\n    return x;\n  }\n\n"
        "  int f(String x) {\n    return 2;\n  }\n}\n",
    ),
    "cpp": (
        "int f(int x){return x;}\nint f(int x,char* y){return 1;}\n",
        "int f(int x) { return x; }\n\nint f(int x,\n      char *y) {\n  return 1;\n}\n",
    ),
    "go": (
        "package a\nfunc init() {a()}\nfunc init() {b( )}\n",
        "package a\n\nfunc init() { a() }\n\n// Says what it is for.\nfunc init() { b() }\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", FORMATTED)
def test_a_formatter_moves_no_id(language: str) -> None:
    written, formatted = ([symbol.id for symbol in symbols(language, source)] for source in FORMATTED[language])

    assert written == formatted
    assert any("#" in id_ for id_ in written)


# Sources with places for documentation, and what may stand there.
DOCUMENTED = {
    "python": (
        "class A:\n    def f(self, x):{}\n        return 1\n    def f(self, x):{}\n        return 2\n"
        "    def f(self, x):{}\n        return 3\n",
        ("", '\n        """Says what it does."""', "\n        ..."),
    ),
    "go": (
        "package a\n\n{}func init() {{ c() }}\n\n{}func init() {{ b() }}\n\n{}func init() {{ a() }}\n",
        ("", "// Says what it does.\n", "// Zeroes all.\n"),
    ),
    "java": (
        "class A {{\n  {}int f() {{ return 1; }}\n  {}int f() {{ return 2; }}\n  {}int f() {{ return 3; }}\n}}\n",
        ("", "/** Says what it does. */\n", "/** Zeroes all. */\n"),
    ),
}


@pytest.mark.parametrize("language", DOCUMENTED)
def test_what_documents_them_is_no_part_of_ids(language: str) -> None:
    source, comments = DOCUMENTED[language]
    found = {tuple(one.id for one in symbols(language, source.format(*three))) for three in product(comments, repeat=3)}

    assert [sum("#" in id_ for id_ in ids) for ids in found] == [2]


def test_a_name_that_looks_like_an_overloads_id_gives_no_id_twice() -> None:
    source = "defmodule A do\n  def f(x), do: x\n  def f(x, y), do: x + y\n{}end\n"
    taken = next(one.id for one in symbols("elixir", source.format("")) if "#" in one.id)
    name = taken.rpartition("::")[2]
    found = [one.id for one in symbols("elixir", source.format(f'  test "{name}" do\n    1\n  end\n'))]

    assert len(set(found)) == len(found) == 4
    assert {"a::A::f", taken} < set(found)


@dataclass(frozen=True)
class Piece:
    """A definition as `ids_of` sees it."""

    rank: int
    signature: str
    source: str
    parts: tuple[str, ...] = ("f",)
    parent: int | None = None


pieces = st.builds(Piece, st.integers(0, 2), st.sampled_from(["()", "(x)", "(y)", "(x, y)"]), st.sampled_from("abcd"))


def ids_by_piece(definitions: Sequence[Piece]) -> dict[Piece, set[str]]:
    found: dict[Piece, set[str]] = {}
    ids = ids_of(
        definitions,
        "a",
        rank=lambda one: one.rank,
        signature=lambda one: one.signature,
        source=lambda one: one.source,
    )
    for piece, id_ in zip(definitions, ids, strict=True):
        found.setdefault(piece, set()).add(id_)
    return found


@given(st.lists(pieces, max_size=12), st.data())
def test_whatever_comes_goes_or_changes_its_place_at_most_one_other_id_moves(
    definitions: list[Piece], data: st.DataObject
) -> None:
    before = ids_by_piece(definitions)
    reordered = ids_by_piece(data.draw(st.permutations(definitions)))
    new = data.draw(pieces)
    after = ids_by_piece([*definitions, new])

    assert sum(map(len, before.values())) == len(definitions)
    assert reordered == before
    changed = {
        piece: before[piece] ^ after[piece] for piece in before if piece != new and before[piece] != after[piece]
    }
    # One gives up an id that the new one takes, or that none has, for another; of twins it may be the last.
    assert len(changed) <= 1
    assert all(len(ids) == 2 for ids in changed.values())
    assert len(after[new]) == len(before.get(new, ())) + 1
