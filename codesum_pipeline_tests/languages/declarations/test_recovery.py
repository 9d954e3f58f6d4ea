"""What a grammar does not know costs the definitions around it nothing."""

import pytest

from codesum_pipeline.symbols.parsing.lost_definitions import lines_of
from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline_tests.languages.declarations.cases import parse


def names(language: str, source: str) -> list[str]:
    return [symbol.id.removeprefix("file::") for symbol in parse(language, source).symbols]


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("kotlin", "@Target(A.B)\nannotation class C\n", ["C"]),
        ("kotlin", "@A(1) @B public expect annotation class C\n", ["C"]),
        ("kotlin", "@A\nexpect object B {\n  fun f()\n}\n", ["B", "B::f"]),
        ("kotlin", "@A(1)\nactual class B {\n  fun f() = 1\n}\n", ["B", "B::f"]),
        ("kotlin", "class A\ninternal constructor(val a: Int) : B {\n  fun f() = 1\n}\n", ["A", "A::f"]),
        (
            "kotlin",
            "class A {\n  fun f(x: Any) {\n    when (x) {\n      is Int if x > 1 -> g(x)\n      else -> h()\n    }\n"
            "  }\n\n  fun g() = 1\n}\n",
            ["A", "A::f", "A::g"],
        ),
        ("c", "DECLARE(const char *)\nf_g(void)\n{\n  return 1;\n}\n", ["f_g"]),
        ("c", "static struct a FOO_API *f(int a)\n{\n  return 0;\n}\nint CALLED main(void)\n{\n}\n", ["f", "main"]),
        (
            "c-sharp",
            "class A {\n  int F() => a\n#if NET\n   .b\n#else\n  .c(\n#endif\n;\n  void G() {}\n}\n",
            ["A", "A::F", "A::G"],
        ),
        ("haskell", "module A where\n#if W\nimport B\n#else\nimport C\nf :: Int -> Int\nf x = x\n#endif\n", ["f"]),
        ("haskell", "module A where\n\n-- | Says so.\nf :: Int -> Int\nINLINE_RULE(f, x, g)\n", ["f"]),
        (
            "rust",
            "cfg_if! {\n    if #[cfg(unix)] {\n        fn f() {}\n"
            "    } else {\n        mod m { pub fn g() {} }\n    }\n}\n",
            ["f", "m::g"],
        ),
        ("rust", "pin_project! {\n    #[derive(Debug)]\n    pub struct A { b: u8 }\n}\nfn f() {}\n", ["A", "f"]),
        ("rust", "macro_rules! m { () => { fn f() {} } }\n", ["m"]),
        ("cpp", "/*\n FREQUENTLY ASKED questions(\n*/\nvoid f() {}\nvoid g() { ( }\n", ["f", "g"]),
        ("cpp", "INLINE_IT a::a(int b)\n    : b_(b) {}\nvoid f() {}\n", ["a::a", "f"]),
        ("cpp", "struct A : B {\n  int* f() __MY_override {\n    a();\n  }\n};\n", ["A", "A::f"]),
        ("cpp", "class MY_API [[nodiscard]] A {\n  void f();\n};\n", ["A", "A::f"]),
        (
            "cpp",
            "class A : public B {\n  void f() override { CALLS(int, B,  /* none */\n  ); }\n  void g() {}\n};\n",
            ["A", "A::f", "A::g"],
        ),
        ("cpp", "class A {\n  void f(B::C^ a, D^ b)\n  {\n  }\n};\nvoid A::g(D^ d) {}\n", ["A", "A::f", "A::g"]),
        (
            "cpp",
            "class A : public B {\npublic:\n  MAKES(A, B)\n};\nclass C {\n  MAKES(C, B)\n};\nvoid f() {}\n",
            ["A", "C", "f"],
        ),
        ("kotlin", 'class A {\n  fun f() { g($$"A$b") }\n  fun g() {}\n}\n', ["A", "A::f", "A::g"]),
        ("haskell", "module A where\nf :: C ()\ng :: C ()\nf :<|> g = client a\n", ["f", "g"]),
        ("rust", "bitflags! {\n    struct A: u8 {\n        const B = 1 << 0;\n    }\n}\nfn f() {}\n", ["A", "f"]),
        ("rust", "fn f() {\n    quote! {\n        fn g() {}\n    }\n}\n", ["f"]),
        (
            "swift",
            "struct A {\n  func f() {\n    switch a {\n    #if X\n    case .b(let c):\n      g(c)\n    #endif\n"
            "    case .d(let e):\n      g(e)\n    }\n  }\n  func g() {}\n}\n",
            ["A", "A::f", "A::g"],
        ),
        (
            "swift",
            '@_silgen_name("f")\nfunc f<T>(_: T, g: (A) -> B) -> C\n\nstruct D: E {\n  func h() {}\n}\n',
            ["D", "D::h"],
        ),
        (
            "kotlin",
            "@A\n@B(c = 1)\nannotation class C\n\n@D\n@E(F::class)\ninterface G {\n  val a: Int\n}\nclass H\n",
            ["C", "G", "H"],
        ),
        ("c-sharp", "public readonly ref partial struct A {\n  public void F() {}\n}\n", ["A", "A::F"]),
        (
            "rust",
            "cfg_a! {\n  cfg_b! {\n    struct A;\n    impl A {\n      fn f() { g!(h); }\n    }\n  }\n"
            "    say!(a, b);\n    fn k() {}\n}\n",
            ["A", "A::f", "k"],
        ),
        ("bash", 'f() {\n  if [ "$a" \\= "$b" ]\n  b=(${c//./ })\n  # from left to right\n}\n', ["f"]),
        (
            "swift",
            "struct A {\n  func f() {\n    if ( {\n  }\n\n  func g() {\n    let )\n  }\n\n  func h() {}\n}\n",
            ["A", "A::f", "A::g", "A::h"],
        ),
        (
            "kotlin",
            "class A {\n  fun f() {\n    if ( {\n  }\n\n  fun g() {\n    let )\n  }\n\n  fun h() {}\n}\n",
            ["A", "A::f", "A::g", "A::h"],
        ),
    ],
    ids=[
        "an annotation class below an annotation with arguments",
        "one with other words",
        "an expected object",
        "an actual class",
        "a constructor on the line below the name",
        "a guard in a when",
        "a macro around the type of a function",
        "a macro between a type and a name",
        "a condition amid an expression",
        "a branch that the grammar does not read",
        "a signature whose body a macro gives",
        "items that a condition chooses in a macro",
        "an item in a macro",
        "a macro that defines macros",
        "words in capitals in a comment",
        "a macro before a constructor that is defined outside of its class",
        "a macro with small letters before a body",
        "an attribute beside a macro before a class",
        "an empty argument of a macro",
        "pointers of C++/CLI",
        "macros that stand for members",
        "a text with more marks",
        "names that one pattern binds",
        "a set of flags in a macro",
        "code that is quoted",
        "a condition among the cases of a switch",
        "a function that another language defines",
        "a class without a body below more than one annotation",
        "words of a struct in another order",
        "items in a macro that is in another",
        "an error behind the name that it costs",
        "a type and functions in it that do not parse",
        "a class and functions in it that do not parse",
    ],
)
def test_a_definition_beside_what_the_grammar_does_not_know_is_found(
    language: str, source: str, expected: list[str]
) -> None:
    assert names(language, source) == expected


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("c-sharp", "class A {\n  async Task F(bool async) {\n    if (async) { await G(async: async); }\n  }\n}\n"),
        ("cpp", "namespace a {\nMY_EXPORT B operator+(const B& a, const B& b);\n}\n"),
        ("cpp", "MY_EXPORT std::ostream& operator<<(std::ostream& s, const B& b) {\n  return s;\n}\n"),
        ("cpp", "template <class T> auto f() MY_NOEXCEPT -> decltype(g<T>(0)) {\n  return 1;\n}\n"),
    ],
    ids=["a parameter called async", "an operator", "one with a body", "a macro before the type that is returned"],
)
def test_what_the_language_or_a_macro_allows_is_no_syntax_error(language: str, source: str) -> None:
    parsed = parse(language, source)

    assert parsed.facts.syntax_errors == 0
    assert "asynk" not in parsed.facts.source


def test_annotations_beside_nothing_that_is_lost_stay_with_their_class() -> None:
    lost = "@A\n@B(c = 1)\nannotation class C\n\n"
    kept = "\n".join(f"val a{number} = 1" for number in range(60))
    parsed = parse("kotlin", f"{lost}{kept}\n\n/** Says. */\n@D\n@E(1)\nclass F {{\n  fun g() {{}}\n}}\n")

    assert [symbol.name for symbol in parsed.symbols] == ["C", "F", "g"]
    assert parsed.symbols[1].docstring == "Says."


SWALLOWED = """\
public class Outer {
  void first() { one(); }

  ?? what no grammar knows {{ (

  /** Says so. */
  void second(int a) {
    if (a > 1) { two(); }
  }

  static class Inner {
    int third() { return 3; }
  }
}
"""


def test_what_an_error_swallows_is_read_again_at_its_own_lines() -> None:
    parsed = parse("java", SWALLOWED)
    found = {symbol.name: (symbol.start_line, symbol.end_line) for symbol in parsed.symbols}

    assert found["first"] == (2, 2)
    assert found["second"] == (7, 9)
    assert found["Inner"] == (11, 13)
    assert found["third"] == (12, 12)
    assert next(symbol.docstring for symbol in parsed.symbols if symbol.name == "second") == "Says so."


def test_what_was_left_out_to_read_the_rest_stays_in_the_canonical_source() -> None:
    parsed = parse("java", SWALLOWED)

    assert "what no grammar knows" in parsed.facts.source
    assert parsed.facts.syntax_errors > 0


def test_a_definition_with_a_part_left_out_says_that_it_does_not_parse() -> None:
    parsed = parse("java", SWALLOWED)

    assert {symbol.name for symbol in parsed.symbols if symbol.has_syntax_errors} == {"Outer"}


def test_the_same_broken_file_is_always_read_the_same_way() -> None:
    assert parse("java", SWALLOWED) == parse("java", SWALLOWED)


def test_an_edit_of_what_was_left_out_changes_the_file() -> None:
    edited = parse("java", SWALLOWED.replace("no grammar", "nobody"))

    assert edited.facts.content_hash != parse("java", SWALLOWED).facts.content_hash


def test_where_nothing_is_lost_a_broken_file_is_read_as_it_is() -> None:
    parsed = parse("java", "class A {\n  void f() { int x = ; }\n  void g() {}\n}\n")

    assert [(symbol.name, symbol.has_syntax_errors) for symbol in parsed.symbols] == [
        ("A", True),
        ("f", True),
        ("g", False),
    ]


def test_an_error_that_the_grammar_does_not_show_counts_as_one() -> None:
    parsed = parse("python", "def f():\n    asyn/c with a as b:\n        pass\n")

    assert parsed.facts.syntax_errors == 1


def test_a_macro_around_items_is_no_syntax_error() -> None:
    parsed = parse("rust", "cfg_if! {\n    if #[cfg(unix)] {\n        /// Opens.\n        pub fn f() {}\n    }\n}\n")

    assert [(s.start_line, s.end_line, s.docstring, s.has_syntax_errors) for s in parsed.symbols] == [
        (4, 4, "Opens.", False)
    ]
    assert (parsed.facts.syntax_errors, parsed.facts.lost_definitions) == (0, None)
    assert "cfg_if! {" in parsed.facts.source


def test_what_is_lost_all_the_same_is_estimated() -> None:
    no_code = '"""\nclass E:\n"""\n# class F:\n'

    assert parse("python", f"def b(x:\n    return (\n\n\n{no_code}").facts.lost_definitions == 1


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("cpp", "void f() {\n  std::thread t([&]() {\n    g();\n  });\n"),
        ("cpp", "template <class T>\nstruct a<T, R (C::*)(A...)> {\n"),
        ("c-sharp", "  public static explicit operator string(A a)\n"),
        ("rust", "    quote! {\n        fn g() {}\n    }\n"),
        ("c-sharp", "            new TestCaseData(new Version(4, 0), Array.Empty<int>()),\n"),
        ("c-sharp", "            new A<IList<string>>(new List<string>()),\n"),
        ("cpp", "    requires range<R> AND (!viewable<R>)AND\n        is_made_from<T, R>)\n    {\n"),
        ("cpp", "    if(invoke(\n           pred, invoke(proj, *first), invoke(proj, *i)))\n    {\n"),
        ("cpp", "  My::Array made(\n      8.125,\n      std::array<int, 2>{\n"),
        ("cpp", "        span<char const*, size(texts)>{\n"),
        ("swift", "    struct s: T, position: V) -> Offset\n  {\n"),
        ("c", "static ALLOCATES(made)\n{\n  return 0;\n}\n"),
    ],
    ids=[
        "a variable made with a function", "a pointer to a member", "a conversion", "code that is quoted",
        "an object in a list", "an object of a generic type", "a requirement", "an argument that is a call",
        "a variable made with numbers", "an argument of a template", "the label of a parameter",
        "a macro that names its argument",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_definition_is_none(language: str, source: str) -> None:
    assert [line.name for line in lines_of(PARSERS[language].declaration, source.encode())] in ([], ["f"])


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("c-sharp", "    public static (int A, (string, int) B) Read(int x)\n    {\n", "Read"),
        ("c-sharp", "    private Task<(int, int)> Pair([In(nameof(A)), In(nameof(B))] int x)\n", "Pair"),
        ("c-sharp", "    public new Map<int, string> Made(\n", "Made"),
        ("swift", "public struct A: B<(Int) -> Void>,\n  C\n{\n", "A"),
        ("haskell", "f ∷ Int → Int\n", "f"),
        ("scala", "  def f$extension[A](a: A) = a\n", "f$extension"),
        ("java", "public final class A$B implements A {\n", "A$B"),
    ],
    ids=[
        "a tuple", "attributes of a parameter", "a member anew", "a base with a function", "a signature in Unicode",
        "a name with a dollar", "a class's name with one",
    ],
)  # fmt: skip
def test_what_defines_looks_like_a_definition(language: str, source: str, expected: str) -> None:
    assert [line.name for line in lines_of(PARSERS[language].declaration, source.encode())] == [expected]


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("scala", "object A {\n  def f = for {\n    a ← b\n  } yield a\n}\n", "        a ← b"),
        ("haskell", "module A where\n\nf ∷ ∀ a. Show a ⇒ a → IO a\nf x = g x\n", "f ∷ ∀ a. Show a ⇒ a → IO a"),
    ],
    ids=["scala", "haskell"],
)
def test_a_mark_that_is_no_ascii_costs_a_file_nothing(language: str, source: str, expected: str) -> None:
    parsed = parse(language, source)

    assert parsed.symbols[-1].name == "f"
    assert expected in parsed.facts.source.splitlines()


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("c", "/*\nint a(int b)\n{\n  return 1;\n}\n*/\nint g(void)\n{\n}\nint f( { }\n", ["g"]),
        ("cpp", "class A {\n  /*\n  int a() {\n  }\n  */\n  int g() {}\n  int f( { }\n};\n", ["A", "A::g", "A::f"]),
        ("java", "/*\nclass A {\n  int a() { }\n}\n*/\nclass B { int g() { }\n int f( { }\n}\n", ["B", "B::g", "B::f"]),
        ("rust", "/*\nfn a() {\n}\n*/\nfn g() {}\nfn f( { }\n", ["g", "f"]),
        ("rust", 'const X: &str = r#"\nfn a() {\n}\n"#;\nfn g() {}\nfn f( { }\n', ["g", "f"]),
        ("kotlin", "class A {\n  /*\n  fun a() {\n  }\n  */\n  fun g() {}\n  fun f( { }\n}\n", ["A", "A::g"]),
        ("swift", 'let x = """\nfunc a() {\n}\n"""\nfunc g() {}\nfunc f( { }\n', ["g", "f"]),
        ("go", "package a\n/*\nfunc a() {\n}\n*/\nfunc g() {}\nfunc f( { }\n", ["g", "f"]),
        ("javascript", "const x = `\nfunction a() {\n}\n`;\nfunction g() {}\nfunction f( { }\n", ["g"]),
        ("ruby", "=begin\ndef a\nend\n=end\ndef g; end\ndef f(\n", ["g"]),
        ("lua", "--[[\nfunction a()\nend\n]]\nfunction g() end\nfunction f( end\n", ["g"]),
        ("c-sharp", "/*\nclass A {\n}\n*/\nclass G {}\nclass F ( { }\n", ["G", "F"]),
        ("haskell", "module A where\n{- |\n> f 1\n-}\nf = 1\ng = 2\nh = )\n", ["f", "g"]),
        (
            "haskell",
            "{-\n\\begin{code}\nf = 1\n\\end{code}\n-}\nimport A.B (c)\nf = 1\nh = )\n",
            ["f"],
        ),
    ],
)
def test_comments_and_texts_of_a_file_that_does_not_parse_define_nothing(
    language: str, source: str, expected: list[str]
) -> None:
    assert names(language, source) == expected


def test_items_are_found_in_each_of_many_macros() -> None:
    methods = "".join(f"        pub fn f{number}(&self) {{ g(); }}\n" for number in range(19))
    macros = (f"own! {{\n    pub struct A{one};\n    impl A{one} {{\n{methods}    }}\n}}\n\n" for one in range(30))

    assert len(names("rust", "".join(macros))) == 30 * 20
