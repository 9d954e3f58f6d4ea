"""Words that only the preprocessor understands do not hide the code around them."""

import pytest

from codesum_pipeline.languages.declarations.c_family.macros import mask_macros
from codesum_pipeline_tests.languages.declarations.cases import parse


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


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("static __printf(2, 3) int f(const char *a, ...)\n{\n}\n", ["f"], id="arguments before a type"),
        pytest.param("int * __attribute__((used)) a(void) { return 0; }\n", ["a"], id="an attribute behind a star"),
        pytest.param("int __attribute__((used)) *a(void) { return 0; }\n", ["a"], id="an attribute before a star"),
        pytest.param("static noinline int f(struct p *q)\n{ return 0; }\n", ["f"], id="a word before a built-in type"),
        pytest.param("static notrace void f(void) { }\n", ["f"], id="a word before void"),
        pytest.param(
            "static __latent struct task *f(int a)\n\t__must_hold(l)\n\t__releases(l)\n{\n}\n",
            ["f"],
            id="macros behind the parameters",
        ),
        pytest.param("static void __sched_it f(void) { }\n", ["f"], id="a word behind the type"),
        pytest.param("static CURLcode __nonnull((1)) f(int *p) { return 0; }\n", ["f"], id="arguments behind a type"),
        pytest.param("asmlinkage __visible void __init __no_it f(void)\n{\n}\n", ["f"], id="words on both sides"),
        pytest.param("EXPORTED jint CALLED\nf(Env *e, jobject o)\n{ return 0; }\n", ["f"], id="a name on its own line"),
        pytest.param("int WINAPI_IT f(HINST h) { return 0; }\n", ["f"], id="a calling convention"),
        pytest.param("SYSCALL_IT3(open, int, flags)\n{\n}\nint f(void) { }\n", ["open", "f"], id="a macro names it"),
        pytest.param("void NAME_IT(f)(int a) { }\n", ["f"], id="a macro makes the name"),
        pytest.param("int (*f(int c))(int, int) { return 0; }\n", ["f"], id="a pointer to a function as the result"),
        pytest.param("int f(a, b)\n\tint a;\n\tchar *b;\n{\n}\n", ["f"], id="K&R"),
        pytest.param("char *\nf(a)\n\tregister char *a;\n{\n}\nint g(void) { }\n", ["f", "g"], id="K&R with a pointer"),
        pytest.param("struct s *f(a, b) int (*a)(); struct s b[]; {\n}\n", ["f"], id="K&R on one line"),
        pytest.param(
            "int x;\nf(a, b)\n{\n  g(a);\n}\nmain()\n{\n  f(1, 2);\n}\ng(a)\nint a;\n{\n}\n",
            ["f", "main", "g"],
            id="K&R without a type",
        ),
        pytest.param("static f(a) char a; { }\nint g(void) { }\n", ["f", "g"], id="K&R with a storage class alone"),
        pytest.param("struct PK a { int x; };\nstruct __packed __al(4) b { int x; };\n", ["a", "b"], id="structures"),
        pytest.param("enum PACKED_IT a { X };\nunion API u { int x; };\n", ["a", "u"], id="enumerations and unions"),
    ],
)
def test_functions_and_structures_of_c_are_found_under_their_names(source: str, names: list[str]) -> None:
    assert [symbol.id.removeprefix("file::") for symbol in parse("c", source).symbols] == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("class API A { void f() {} };\n", ["A", "A::f"], id="a short macro"),
        pytest.param("class EXPORT_A EXPORT_B A : B { };\n", ["A"], id="two macros"),
        pytest.param("class [[nodiscard]] EXPORT_IT A { };\n", ["A"], id="an attribute before the macro"),
        pytest.param("enum class EXPORT_IT A : int { X };\n", ["A"], id="an enumeration"),
        pytest.param(
            "class Ab IT_FINAL : public B {\n  void f() {}\n};\n", ["Ab", "Ab::f"], id="a macro behind the name"
        ),
        pytest.param(
            "class API Ab FINAL {\n  void f() {}\n};\n", ["Ab", "Ab::f"], id="macros on both sides of the name"
        ),
        pytest.param("class API IT_FINAL {};\n", ["IT_FINAL"], id="a name like a macro"),
        pytest.param("enum class [[nodiscard]] A : int { X };\nenum [[x]] B { Y };\n", ["A", "B"], id="an attribute"),
        pytest.param(
            "class A {\n  int f() const REQUIRES_IT(mu) ALSO_IT;\n  B<int> size_ GUARDED_BY(mu);\n"
            "  int* most_ GUARDED_BY(mu) = 1;\n  void SET_IT(int);\n  NO_COPY(A);\n  int B_C(int a);\n};\n",
            ["A", "A::f", "A::SET_IT", "A::NO_COPY", "A::B_C"],
            id="macros behind members",
        ),
        pytest.param("module;\n#include <v>\nexport module a.b:part;\nimport std;\nint f() {}\n", ["f"], id="a module"),
        pytest.param("export module a;\nexport int f() {}\nexport auto g() -> int {}\n", ["f", "g"], id="functions"),
        pytest.param("export module a;\nexport class A { };\nexport enum class E { X };\n", ["A", "E"], id="classes"),
        pytest.param("export template <class T> class A {\n  void f() {}\n};\n", ["A", "A::f"], id="a template"),
        pytest.param("export template <class T> concept A = true;\nexport using X = int;\n", ["A"], id="a concept"),
        pytest.param("export namespace n { int f() {} }\n", ["n::f"], id="a namespace"),
        pytest.param("export {\n  int f() {}\n  class A {};\n}\n", ["f", "A"], id="a block"),
        pytest.param('export extern "C" int f() {}\nexport [[nodiscard]] int g() {}\n', ["f", "g"], id="a linkage"),
        pytest.param('export import a;\nimport <v>;\nimport "x.h";\nimport :p;\nint f() {}\n', ["f"], id="imports"),
        pytest.param("module a;\nmodule :private;\nint f() { int module = 1; return module; }\n", ["f"], id="words"),
    ],
)
def test_modules_of_cpp_and_macros_before_a_class_hide_nothing(source: str, names: list[str]) -> None:
    parsed = parse("cpp", source)

    assert [symbol.id.removeprefix("file::") for symbol in parsed.symbols] == names
    assert parsed.facts.syntax_errors == 0


def test_parameters_in_the_old_style_that_the_grammar_misreads_have_their_names() -> None:
    source = "char *f(a, b)\n\tregister char *a; /* it, too */\n\tint b;\n{\n}\n"
    (function,) = parse("c", source).symbols

    assert [(one.name, one.type) for one in function.facts.parameters] == [("a", None), ("b", None)]


@pytest.mark.parametrize(("count", "names"), [(61, ["f", "g"]), (62, ["g"])])
def test_a_function_with_more_declarations_of_parameters_costs_itself_alone(count: int, names: list[str]) -> None:
    listed = ", ".join(f"a{number}" for number in range(count))
    declared = "".join(f"char *a{number};\n" for number in range(count))
    symbols = parse("c", f"char *f({listed})\n{declared}{{\n}}\nint g(void)\n{{\n}}\n").symbols

    assert [symbol.name for symbol in symbols] == names
    assert all({one.type for one in symbol.facts.parameters} == {None} for symbol in symbols[:-1])


def test_a_line_in_a_macros_body_is_no_lost_definition() -> None:
    parsed = parse("cpp", "#define M(x) \\\n  class Helper { \\\n  };\nint f( { }\n")

    assert parsed.facts.syntax_errors > 0
    assert parsed.facts.lost_definitions == 1
