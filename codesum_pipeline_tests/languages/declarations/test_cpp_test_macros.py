"""Tests that macros of C++ make are found under their titles."""

import pytest

from codesum_pipeline_tests.languages.declarations.cases import parse


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param('TEST_CASE("a b", "[tag]") { f(); }', ["a b"], id="a title"),
        pytest.param('TEST_CASE("a" * test_suite("s") * skip()) { f(); }', ["a"], id="decorated"),
        pytest.param('DOCTEST_TEST_CASE("a" * timeout(0.5)) {\n  f();\n}', ["a"], id="decorated by a number"),
        pytest.param('TEST_CASE("a " "b"\n  "c", "[t]")\n{\n  f();\n}', ["a bc"], id="a title in pieces"),
        pytest.param('TEST_CASE("a" "b" * skip()) { f(); }', ["ab"], id="pieces and a decorator"),
        pytest.param('TEST_CASE(R"(a "b")") { f(); }', ['a "b"'], id="a raw title"),
        pytest.param('TEST_CASE(u8"ü") { f(); }', ["ü"], id="a title with a prefix"),
        pytest.param('TEST_CASE("a (b) {c}") { f(); }', ["a (b) {c}"], id="brackets in a title"),
        pytest.param('SCENARIO("s") { GIVEN("g") { WHEN("w") { f(); } } }', ["s"], id="steps are parts of a scenario"),
        pytest.param(
            'TEST_CASE("a") {\n  SECTION("s") { f(); }\n  SUBCASE("t") { g(); }\n}', ["a"], id="sections are parts"
        ),
        pytest.param('TEST_CASE_METHOD(F, "a", "[t]") { f(); }', ["F::a"], id="the method of a class"),
        pytest.param('TEST_CASE_FIXTURE(ns::F<int>, "a" * skip()) { f(); }', ["F::a"], id="of a scoped class"),
        pytest.param('TEST_CASE_TEMPLATE("a", T, int, float) { f(); }', ["a"], id="built-in types behind the title"),
        pytest.param('TEST_CASE_TEMPLATE("a" * s(), T,\n  int8_t, uint64_t) { f(); }', ["a"], id="types with a size"),
        pytest.param('TEMPLATE_TEST_CASE("a", "[t]", int, unsigned int) { f(); }', ["a"], id="types of two words"),
        pytest.param('TEMPLATE_TEST_CASE_METHOD(F, "a", "[t]", char) { f(); }', ["F::a"], id="a class and types"),
        pytest.param('TEMPLATE_PRODUCT_TEST_CASE("a", "", (V, W), (int, float)) { f(); }', ["a"], id="lists of types"),
        pytest.param("BOOST_AUTO_TEST_CASE(a, *utf::tolerance(1)) { f(); }", ["a"], id="a name and a decorator"),
        pytest.param("BOOST_DATA_TEST_CASE(a, xrange(3) ^ make(v), x, y) { f(); }", ["a"], id="a name and data"),
        pytest.param("TYPED_TEST(F, A) { f(); }", ["F::A"], id="a class and a name"),
        pytest.param('TEST_CASE("a") try { f(); } catch (...) { g(); }', ["a"], id="a block that catches"),
        pytest.param(
            'TEST_SUITE("s") {\nint k() { return 1; }\nTEST_CASE("a" * skip()) { f(); }\n}',
            ["s", "s::k", "s::a"],
            id="in a suite",
        ),
        pytest.param(
            'TEST_SUITE("s" * skip()) {\nTEST_SUITE("t") {\nTEST_CASE_FIXTURE(F, "a") { f(); }\n}\n}',
            ["s", "s::t", "s::t::F::a"],
            id="in a suite in a suite",
        ),
        pytest.param('namespace n {\nTEST_CASE("a") { f(); }\n}', ["n::a"], id="in a namespace"),
        pytest.param('TEST_CASE(std::string("a")) { f(); }', [], id="a title that is computed is none"),
        pytest.param('void g() { IF("a" * 2) { f(); } }', ["g"], id="a macro in a function makes no test"),
    ],
)
def test_a_test_has_the_title_that_its_macro_is_given(source: str, names: list[str]) -> None:
    parsed = parse("cpp", f"{source}\nint after() {{ return 1; }}\n")

    assert [symbol.id.removeprefix("file::") for symbol in parsed.symbols] == [*names, "after"]
    assert parse("cpp", parsed.facts.source).facts.source == parsed.facts.source


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("class A : B { Q_OBJECT public: void m(); int n() { return 1; } };\n", id="on one line"),
        pytest.param("class A : public B {\n  Q_OBJECT public:\n  void m();\n  int n() {}\n};\n", id="before a label"),
        pytest.param("struct A { NO_COPY(A) NO_MOVE(A) private: void m(); int n() {} };\n", id="several macros"),
        pytest.param(
            "class A { Q_OBJECT public slots: void m(); protected: int n() {} };\n", id="a label of two words"
        ),
        pytest.param("class A { int k; OBJECT_OF(B) protected: void m(); int n() {} };\n", id="after a member"),
    ],
)
def test_a_macro_before_a_label_hides_no_member(source: str) -> None:
    parsed = parse("cpp", source)

    assert [symbol.id.removeprefix("file::") for symbol in parsed.symbols] == ["A", "A::m", "A::n"]
    assert parse("cpp", parsed.facts.source).facts.source == parsed.facts.source
