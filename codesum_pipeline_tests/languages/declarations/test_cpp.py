"""What is read from C++."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Import, Parameter
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.cpp_case import SOURCE
from codesum_pipeline_tests.languages.declarations.references import references_of


def test_classes_members_templates_and_what_is_defined_outside_of_the_class() -> None:
    found = symbols_by_name("cpp", SOURCE)

    assert {name: (symbol.type.value, symbol.parent_id) for name, symbol in found.items()} == {
        "SHAPES_CHECK": ("function", None),
        "shapes::detail::v2::Box": ("class", None),
        "shapes::Color": ("class", None),
        "shapes::Drawable": ("class", None),
        "shapes::Store": ("class", None),
        "shapes::Store::Store#c790da": ("function", "file::shapes::Store"),
        "shapes::Store::Store#14a957": ("function", "file::shapes::Store"),
        "shapes::Store::~Store#29effa": ("function", "file::shapes::Store"),
        "shapes::Store::size": ("function", "file::shapes::Store"),
        "shapes::Store::draw#0926d7": ("function", "file::shapes::Store"),
        "shapes::Store::operator[]": ("function", "file::shapes::Store"),
        "shapes::Store::operator bool": ("function", "file::shapes::Store"),
        "shapes::Store::clear": ("function", "file::shapes::Store"),
        "shapes::Store::operator<<": ("function", "file::shapes::Store"),
        "shapes::Store::Entry": ("class", "file::shapes::Store"),
        "shapes::Store::trace": ("function", "file::shapes::Store"),
        "shapes::Store::Store": ("function", "file::shapes::Store"),
        "shapes::Store::~Store": ("function", "file::shapes::Store"),
        "shapes::Store::draw": ("function", "file::shapes::Store"),
        "shapes::Store::draw::each": ("function", "file::shapes::Store::draw"),
        'shapes::operator""_deg': ("function", None),
        "shapes::make": ("function", None),
        "shapes::Traits": ("class", None),
        "shapes::helper": ("function", None),
        "shapes::StoreTest::IsEmpty": ("function", None),
    }


def test_access_labels_are_modifiers_of_the_members_below_them() -> None:
    found = symbols_by_name("cpp", SOURCE)

    assert found["shapes::Store::clear"].modifiers == ("public", "virtual", "abstract")
    assert found["shapes::Store::~Store#29effa"].modifiers == ("public", "virtual", "noexcept", "override")
    assert found["shapes::Store::trace"].modifiers == ("protected",)
    assert found["shapes::StoreTest::IsEmpty"].modifiers == ("test",)
    assert [name for name, symbol in found.items() if not symbol.is_public] == [
        "shapes::Store::Entry",
        "shapes::Store::trace",
        "shapes::helper",
    ]
    assert symbols_by_name("cpp", "class A { void f(); };")["A::f"].modifiers == ("private",)
    assert symbols_by_name("cpp", "struct A { void f(); };")["A::f"].is_public


def test_a_template_and_its_comment_belong_to_the_class() -> None:
    store = symbols_by_name("cpp", SOURCE)["shapes::Store"]

    assert store.docstring == "Keeps shapes.\n\n@tparam T what a shape is"
    assert store.signature == "template <class T> class SHAPES_EXPORT Store final : public Source<T>"
    assert store.bases == ("Source<T>",)
    assert [fact.text for fact in store.facts.fields] == [
        "name_: string",
        "first_: std::unique_ptr<T>",
        "items_: std::vector<std::unique_ptr<T>>",
    ]


def test_what_functions_say_about_themselves() -> None:
    found = symbols_by_name("cpp", SOURCE)
    make, draw, helper = found["shapes::make"], found["shapes::Store::draw"], found["shapes::helper"]

    assert make.facts.parameters == (
        Parameter("name", "const char *", None, "positional"),
        Parameter("color", "Color", "Color::Red", "positional"),
    )
    assert make.facts.return_type == "std::unique_ptr<Shape>"
    assert [fact.text for fact in make.facts.writes] == ["made->color", "this_thread->count"]
    assert helper.facts.parameters == (
        Parameter("numbers", "int (&)[4]", None, "positional"),
        Parameter("done", "void (*)(int)", None, "positional"),
        Parameter("rest", "auto &&...", None, "var_positional"),
    )
    assert draw.complexity == 5
    assert draw.signature == "template <class T> template <Drawable Canvas> void Store<T>::draw(Canvas &canvas) const"
    assert [fact.text for fact in draw.facts.raises] == ['std::runtime_error(R"(no "item")")']
    assert found["shapes::Store::Store"].signature == "template <class T> Store<T>::Store(string name, int limit)"


@pytest.mark.parametrize(
    ("source", "name", "signature", "return_type"),
    [
        ("int (*f(int a))(double) { return 0; }", "f", "int (*f(int a))(double)", "int (*)(double)"),
        ("auto f() -> int * { return 0; }", "f", "auto f() -> int *", "int *"),
        ("A &A::operator()(int i) && { return *this; }", "A::operator()", "A &A::operator()(int i) &&", "A &"),
        ("ns::A<T>::operator T *() const {}", "ns::A::operator T *", "ns::A<T>::operator T *() const", None),
        ("void *operator new [](size_t n) {}", "operator new[]", "void *operator new[](size_t n)", "void *"),
        ("A::A() : b(1), c{2} {}", "A::A", "A::A()", None),
        ("A::~A() = default;", "A::~A", "A::~A() = default", None),
        ('extern "C" const char *f(void) {}', "f", 'extern "C" const char *f(void)', "const char *"),
        ("template <> void f<int>(int) {}", "f", "template <> void f<int>(int)", "void"),
        ("[[nodiscard]] static bool f() {}", "f", "[[nodiscard]] static bool f()", "bool"),
        ("bool f() {};", "f", "bool f()", "bool"),
    ],
    ids=[
        "a function that returns one",
        "a trailing return type",
        "an operator of a class",
        "a conversion",
        "an allocation function",
        "a constructor with initialisers",
        "a destructor by default",
        "a linkage",
        "a specialisation",
        "an attribute",
        "a needless semicolon",
    ],
)
def test_a_function_is_found_whatever_its_declarator(
    source: str, name: str, signature: str, return_type: str | None
) -> None:
    found = symbols_by_name("cpp", source)

    assert {(key, symbol.signature, symbol.facts.return_type) for key, symbol in found.items()} == {
        (name, signature, return_type)
    }


def test_imports_calls_and_typed_names() -> None:
    facts = parse("cpp", SOURCE).facts
    references = references_of(facts)
    numbers = {symbol[0]: number for number, symbol in enumerate(references["symbols"])}

    assert facts.imports == (
        Import(module="memory", level=0, name="*", alias=None, scope_id=None, line=8),
        Import(module="string", level=0, name="*", alias=None, scope_id=None, line=9),
        Import(module="shapes/shape.h", level=0, name="*", alias=None, scope_id=None, line=10),
        Import(module="std", level=0, name="string", alias=None, scope_id=None, line=17),
    )
    assert [numbers["shapes::Store"], "first_", "std.unique_ptr<T>"] in references["typed"]
    assert [numbers["shapes::make"], "made", "Shape"] in references["typed"]
    assert [numbers["shapes::StoreTest::IsEmpty"], "store", "Store<Shape>"] in references["typed"]
    assert [numbers["shapes::make"], "", "Shape", 1] in references["calls"]
    assert [numbers["shapes::Store::draw"], "first_", "get", 0] in references["calls"]
    assert [numbers["shapes::Store::Store"], "std", "move", 0] in references["calls"]


def test_a_call_through_a_pointer_to_a_member_names_nothing() -> None:
    (symbol,) = parse("cpp", "void g(V v) {\n  (v.*(x.y))(5);\n  (v.*f)(1);\n  (*p)(2);\n  h();\n}\n").symbols

    assert [fact.text for fact in symbol.facts.calls] == ["h"]


def test_new_objects_and_made_pointers_say_the_type_of_a_variable() -> None:
    source = (
        "void f() {\n  auto a = new A(1);\n  auto b = std::make_unique<ns::B>(2);\n  auto c = C{3};\n  D d(4);\n}\n"
    )

    assert references_of(parse("cpp", source).facts)["typed"] == [
        [0, "a", "A"],
        [0, "b", "ns.B"],
        [0, "c", "C"],
        [0, "d", "D"],
    ]


def test_a_local_class_has_members_and_a_friend_is_none() -> None:
    source = (
        "void f() {\n  struct Local { int g() { return 1; } };\n}\n"
        "class A {\n  friend void h(A);\n  friend class B;\n};\n"
    )

    assert list(symbols_by_name("cpp", source)) == ["f", "f::Local", "f::Local::g", "A"]
