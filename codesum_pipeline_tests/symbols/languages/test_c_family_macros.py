"""Words that only the preprocessor understands do not hide the code around them."""

import pytest

from codesum_pipeline.symbols.languages.c_family.macros import mask_macros
from codesum_pipeline_tests.symbols.languages.cases import parse


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("class EXPORT_IT A : public B {\n public:\n  void f();\n};\n", ["A", "A::f"]),
        ("class EXPORT_IT(1) A {\n  void f();\n};\n", ["A", "A::f"]),
        ("class A {\n  Q_OBJECT\n  DISABLE_COPY(A)\n public:\n  void f();\n};\n", ["A", "A::f"]),
        ("BEGIN_NAMESPACE\nnamespace n {\nvoid f() {}\n}\nEND_NAMESPACE\n", ["n::f"]),
        ("EXPORT_IT NOTHROW const char *f(int a) { return 0; }\nint g() { return 1; }\n", ["f", "g"]),
        ("struct A {\n  int f() LOCKS(mu) { return 1; }\n  int g() { return 2; }\n};\n", ["A", "A::f", "A::g"]),
        ("EXPORT_IT template <class T> class A {\n  void f() {}\n};\n", ["A", "A::f"]),
        ("struct A {\n  CONSTEXPR_IT A(int b) : b_(b) {}\n  int b_;\n};\n", ["A", "A::A"]),
        ('#ifdef __cplusplus\nextern "C" {\n#endif\nint f() { return 1; }\n#ifdef __cplusplus\n}\n#endif\n', ["f"]),
        ("A::A(int b)\n    :\n#ifdef X\n      b_(b),\n#endif\n      c_(b) {\n}\nvoid f() {}\n", ["A::A", "f"]),
        ("#if __has_include(<v>)\n#include <v>\n#endif\nvoid f() {}\n", ["f"]),
        ("#define M(x) a /* one */ \\\n  b\nvoid f() {}\n", ["M", "f"]),
    ],
    ids=[
        "an export macro before a class's name",
        "one with arguments",
        "macros as members",
        "macros around a namespace",
        "macros before a function",
        "a macro after the parameters",
        "a macro before a template",
        "a macro before a constructor",
        "a linkage block for C++ alone",
        "a directive amid initialisers",
        "a condition on a header",
        "a comment amid a macro's body",
    ],
)
def test_definitions_around_macros_are_found(source: str, names: list[str]) -> None:
    parsed = parse("cpp", source)

    assert [symbol.id.removeprefix("file::") for symbol in parsed.symbols] == names
    assert parsed.facts.syntax_errors == 0
    assert parse("cpp", parsed.facts.source).facts.source == parsed.facts.source


def test_what_is_masked_stays_in_the_canonical_source_and_the_signature() -> None:
    parsed = parse("cpp", "EXPORT_IT int f() LOCKS(a) {\n  return 1;\n}\nBEGIN_IT\nclass EXPORT_IT A : B {};\n")

    assert parsed.facts.source == (
        "EXPORT_IT int f() LOCKS(a) {\n    return 1;\n}\nBEGIN_IT\nclass EXPORT_IT A : B {};"
    )
    assert [symbol.signature for symbol in parsed.symbols] == ["EXPORT_IT int f() LOCKS(a)", "class EXPORT_IT A : B"]


def test_ordinary_code_is_shown_to_the_grammar_as_it_is() -> None:
    source = (
        b"struct FOO bar;\nenum FOO kind : 3;\nDWORD f(int a) { if (a) { RETURN(a); } return FOO; }\n"
        b"enum { RED,\n  GREEN\n};\nint *p = FOO\n  + 1;\n#if A\nint x;\n#else\nint y;\n#endif\n"
    )

    assert mask_macros(source, True) == source


@pytest.mark.parametrize("piece", [b"/*", b'R"(', b"class A B<>", b"#if x\n", b"A(", b"EXPORT_IT a<b ", b"{", b"\\\n"])
def test_a_masked_source_is_as_long_even_where_nothing_is_ever_closed(piece: bytes) -> None:
    source = piece * 20_000

    assert len(mask_macros(source, True)) == len(source)
