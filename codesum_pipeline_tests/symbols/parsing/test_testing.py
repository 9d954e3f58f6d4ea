"""Test code is known by what stands in it, whatever the path of its file."""

import pytest

from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline_tests.support.homes import build


def judged(language: str, source: str, path: str = "src/file") -> tuple[bool | None, set[str]]:
    """Whether the file is a test, and the names of the definitions that are."""
    parsed = PARSERS[language].parse(source.encode(), path)
    return parsed.facts.is_test, {symbol.qualified_name for symbol in parsed.symbols if symbol.is_test}


RUST = """
pub fn area(side: u32) -> u32 { side * side }

#[cfg(test)]
mod tests {
    use super::*;
    fn half(side: u32) -> u32 { side / 2 }
    #[test]
    fn a_square() { assert_eq!(area(half(4)), 4) }
}

#[cfg(test)]
mod checks {
    pub struct Fake;
}

#[tokio::test]
async fn waits() {}
"""


def test_tests_at_the_end_of_a_source_file_are_tests_and_the_file_is_none() -> None:
    assert judged("rust", RUST) == (False, {"tests.half", "tests.a_square", "checks.Fake", "waits"})
    haskell = "import Test.QuickCheck\narea n = n * n\nprop_square n = area n >= n\nmain = print 1\n"
    assert judged("haskell", haskell) == (False, {"prop_square"})
    zig = 'pub fn area(side: u32) u32 {\n    return side * side;\n}\n\ntest "a square" {\n    _ = area(2);\n}\n'
    assert judged("zig", zig) == (False, {"test a square"})


WHOLE_FILES = {
    "Rust: nothing but tests": ("rust", "#[test]\nfn a() {}\n#[test]\nfn b() {}\n"),
    "JavaScript: describe and it": ("javascript", 'describe("a", () => { it("b", () => {}); });\n'),
    "JavaScript: node's test": ("javascript", 'import test from "node:test";\ntest("adds", () => {});\n'),
    "TypeScript: test.each": ("typescript", 'test.each([1, 2])("adds %i", (n) => {});\n'),
    "Ruby: RSpec": ("ruby", "RSpec.describe Cart do\n  it 'adds' do\n  end\nend\n"),
    "Ruby: Minitest": ("ruby", "class CartCheck < Minitest::Test\n  def test_add\n  end\nend\n"),
    "Lua: busted": ("lua", 'describe("cart", function() it("adds", function() end) end)\n'),
    "PHP: PHPUnit": ("php", "<?php\nclass CartCheck extends TestCase { public function testAdd() {} }\n"),
    "PHP: an attribute": ("php", "<?php\nclass CartCheck { #[Test] public function adds() {} }\n"),
    "PHP: Pest": ("php", "<?php\nit('adds', function () {});\n"),
    "Java: JUnit": ("java", "class CartCheck { @Test void adds() {} @BeforeEach void set() {} }\n"),
    "Java: JUnit 3": ("java", "class CartCheck extends TestCase { public void testAdd() {} }\n"),
    "Kotlin: an annotation": ("kotlin", "class CartCheck { @Test fun adds() {} }\n"),
    "Kotlin: Kotest": ("kotlin", 'class CartCheck : StringSpec({ "adds" { } })\n'),
    "C#: xUnit": ("c-sharp", "public class CartCheck { [Fact] public void Adds() {} }\n"),
    "C#: NUnit": ("c-sharp", "[TestFixture] public class CartCheck { [TestCase(1)] public void Adds(int n) {} }\n"),
    "Swift: XCTest": ("swift", "import XCTest\nfinal class CartCheck: XCTestCase { func testAdd() {} }\n"),
    "Swift: Testing": ("swift", "import Testing\n@Test func adds() {}\n"),
    "Scala: ScalaTest": ("scala", 'class CartCheck extends AnyFunSuite { test("adds") {} }\n'),
    "Elixir: ExUnit": (
        "elixir",
        'defmodule CartCheck do\n  use ExUnit.Case\n  test "adds" do\n    assert 1\n  end\nend\n',
    ),
    "Haskell: Hspec": (
        "haskell",
        "module CartCheck where\nimport Test.Hspec\nspec :: Spec\nspec = it \"adds\" $ 1 `shouldBe` 1\n",
    ),
    "C++: GoogleTest": ("cpp", '#include <gtest/gtest.h>\nTEST(Cart, Adds) { EXPECT_EQ(1, 1); }\n'),
    "C++: Catch": ("cpp", '#include "catch.hpp"\nTEST_CASE("cart adds") { REQUIRE(1); }\n'),
    "Go: a build tag": ("go", "//go:build integration\n\npackage cart\n\nfunc helper() {}\n"),
    "Go: a function of tests": ("go", "package cart\n\nfunc TestAdd(t *testing.T) {}\n"),
    "Python: pytest": ("python", "import pytest\n\n\ndef test_add():\n    pass\n"),
    "Python: unittest": (
        "python",
        "import unittest\n\n\nclass Cart(unittest.TestCase):\n    def test_add(self):\n        pass\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("language", "source"), WHOLE_FILES.values(), ids=WHOLE_FILES)
def test_a_file_of_tests_is_known_by_its_code(language: str, source: str) -> None:
    assert judged(language, source)[0] is True


OTHERS = {
    "a test client of an application": (
        "python",
        "class App:\n    def test_client(self):\n        return Client(self)\n",
    ),
    "a function that tests something": ("python", "def test_connection(host):\n    return ping(host)\n"),
    "a base class for others' tests": (
        "python",
        "import unittest\n\n\nclass TestCase(unittest.TestCase):\n    def fetch(self):\n        pass\n",
    ),
    "a base class that a library gives away": ("swift", "open class QuickSpec: XCTestCase { open func spec() {} }\n"),
    "a class that a test framework gives away": ("scala", "abstract class CatsSuite extends FunSuite { }\n"),
    "a runner of tests": ("java", "public class TestRunner extends BaseTestRunner { public void run() {} }\n"),
    "a framework's own functions": (
        "javascript",
        "export function describe(name, run) { run(); }\nexport const it = describe;\n",
    ),
    "a method that is called test": (
        "javascript",
        "const is = /x/.test(name);\nconst parts = schema.describe('words');\n",
    ),
    "another build tag": ("go", "//go:build linux && !integration\n\npackage cart\n\nfunc helper() {}\n"),
    "checks for others' tests": ("go", "package suite\n\nfunc Run(t *testing.T, suite Suite) {}\n"),
    "a framework's own module": (
        "haskell",
        "module Test.Hspec.Core where\nimport Test.Hspec.Tree\nrunSpec = undefined\n",
    ),
    "a description in a DSL": ("ruby", "class Cart\n  describe 'adds'\nend\n"),
}  # fmt: skip


@pytest.mark.parametrize(("language", "source"), OTHERS.values(), ids=OTHERS)
def test_what_only_sounds_like_a_test_is_none(language: str, source: str) -> None:
    assert judged(language, source) == (False, set())


def test_a_functions_document_is_a_test_where_its_file_is_none(git_repo, make_workspace) -> None:
    workspace = make_workspace(git_repo({"Cargo.toml": '[package]\nname = "a"\n', "src/lib.rs": RUST}).path)
    build(workspace, until="summary_documents")
    rows = workspace.tables.read("documents", workspace.key, columns=["id", "is_test"]).to_pylist()

    assert {row["id"] for row in rows if row["is_test"]} == {
        "src/lib.rs::tests::half",
        "src/lib.rs::tests::a_square",
        "src/lib.rs::checks::Fake",
        "src/lib.rs::waits",
    }


def test_a_file_that_is_a_test_by_its_code_makes_all_in_it_tests(git_repo, make_workspace) -> None:
    source = 'function helper() {\n  return 1;\n}\n\ndescribe("cart", () => { it("adds", () => helper()); });\n'
    workspace = make_workspace(git_repo({"checks/cart.js": source, "lib/cart.js": "function add() {}\n"}).path)
    build(workspace, until="summary_documents")
    rows = workspace.tables.read("documents", workspace.key, columns=["id", "is_test"]).to_pylist()

    assert {row["id"] for row in rows if row["is_test"]} == {"checks", "checks/cart.js", "checks/cart.js::helper"}
