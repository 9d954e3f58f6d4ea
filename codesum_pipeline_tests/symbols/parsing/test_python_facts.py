"""What Python definitions say about themselves."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Fact, Form, Parameter, SymbolFacts
from codesum_pipeline.symbols.parsing.parsers import PARSERS


def facts(source: str) -> SymbolFacts:
    return PARSERS["python"].parse(source.encode(), "a.py").symbols[0].facts


def texts(found: tuple[Fact, ...]) -> list[str]:
    return [fact.text for fact in found]


def test_all_facts_of_a_function_carry_their_canonical_lines() -> None:
    source = '''
@decorate(one())
async def fetch(self, url: str, *, retries: int = compute(), **options) -> Response:
    """Fetch it."""
    global COUNT
    # a comment

    COUNT += 1
    self.last = url
    cache[url], local = await self.client.get(
        url, **options), 1
    if not local:
        raise FetchError(f"no {url}") from None
    return cache[url]
'''
    assert facts(source) == SymbolFacts(
        parameters=(
            Parameter("self", None, None, "receiver"),
            Parameter("url", "str", None, "positional"),
            Parameter("retries", "int", "compute()", "keyword"),
            Parameter("options", None, None, "var_keyword"),
        ),
        return_type="Response",
        returned=(Fact("cache[url]", 10, ("cache",), Form.ITEM),),
        raises=(Fact('FetchError(f"no {url}")', 9, ("FetchError",), Form.CALL, "no {url}", "not local"),),
        writes=(
            Fact("COUNT", 5, ("COUNT",), Form.NAME),
            Fact("self.last", 6, ("self", "last"), Form.NAME),
            Fact("cache[url]", 7, ("cache",), Form.ITEM),
        ),
        calls=(
            Fact("self.client.get", 7, ("self", "client", "get"), Form.CALL),
            Fact("FetchError", 9, ("FetchError",), Form.CALL, "no {url}", "not local"),
        ),
        fields=(),
        literals=("no {url}",),
        attributes=("last", "client"),
        conditions=("not local",),
        signature_line=2,
        docstring_line=3,
        is_generator=False,
        is_async=True,
    )


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("a, /, b", [("a", "positional"), ("b", "positional")]),
        ("a, *, b", [("a", "positional"), ("b", "keyword")]),
        ("*a, b=1, **c", [("a", "var_positional"), ("b", "keyword"), ("c", "var_keyword")]),
        ("*a: int, **c: str", [("a", "var_positional"), ("c", "var_keyword")]),
        ("cls, self", [("cls", "receiver"), ("self", "positional")]),
        ("x, self", [("x", "positional"), ("self", "positional")]),
        ("self: 'A'", [("self", "receiver")]),
        ("# c\n a,  # d\n b # e\n", [("a", "positional"), ("b", "positional")]),
    ],
)
def test_parameters_have_the_kind_that_their_place_gives(parameters: str, expected: list[tuple[str, str]]) -> None:
    assert [(p.name, p.kind) for p in facts(f"def f({parameters}): pass").parameters] == expected


def test_annotations_and_defaults_are_canonical() -> None:
    assert facts("def f(a:dict[str,int]={'x' :1}): pass").parameters == (
        Parameter("a", "dict[str, int]", '{"x": 1}', "positional"),
    )


def test_a_generator_returns_what_it_yields() -> None:
    found = facts("def f():\n    x = yield\n    yield a, b\n    yield from g()\n")

    assert (texts(found.returned), found.is_generator) == (["a, b", "from g()"], True)


def test_what_is_nested_is_not_looked_into() -> None:
    source = """
def f():
    def g():
        yield 1
        h()
        raise X
    class A:
        y = z()
    return g
"""
    found = facts(source)

    assert (texts(found.returned), found.calls, found.raises, found.is_generator) == (["g"], (), (), False)


def test_a_bare_raise_says_nothing() -> None:
    assert facts("def f():\n    try: x\n    except E: raise\n").raises == ()


def test_texts_are_distinct_in_source_order_with_their_first_line() -> None:
    assert facts("def f():\n    b()\n    a(b())\n    b()\n").calls == (
        Fact("b", 2, ("b",), Form.CALL),
        Fact("a", 3, ("a",), Form.CALL),
    )


def test_chained_calls_name_what_is_called() -> None:
    assert texts(facts("def f():\n    return a.b(x).c(y)\n").calls) == ["a.b(x).c", "a.b"]


def test_texts_are_bounded_in_length_and_number() -> None:
    calls = "".join(f"    {'x' * 100}{n}()\n    y{n}()\n" for n in range(60))

    found = texts(facts(f"def f():\n{calls}").calls)

    assert (len(found), max(map(len, found)), found[0]) == (40, 80, "x" * 79 + "…")


def test_a_literal_of_several_lines_is_one_line_of_text() -> None:
    assert texts(facts('def f():\n    return g("""a\n      b""")\n').returned) == ['g("""a b""")']


def test_a_class_has_the_fields_that_its_own_body_binds() -> None:
    source = """
class A(B):
    __slots__ = ("x",)
    x: int = 1
    y: list[int]
    a, b = 1, 2
    if x:
        c = field(default_factory=list)
    other.attribute = 3
    def m(self):
        self.z = 1
"""
    found = facts(source)

    assert texts(found.fields) == ["x: int", "y: list[int]", "a", "b", "c"]
    assert (texts(found.calls), texts(found.writes), found.parameters) == (["field"], ["other.attribute"], ())


def test_the_facts_are_those_of_the_canonical_source() -> None:
    source = "class A:\n  def f(self, a=1, # c\n    *b):\n      # d\n\n      self.x = g(  a)\n      return  -a\n"
    symbol = PARSERS["python"].parse(source.encode(), "a/b.py").symbols[1]

    again = PARSERS["python"].parse(symbol.canonical_source.encode(), "c.py").symbols[0]

    assert again.facts == symbol.facts
