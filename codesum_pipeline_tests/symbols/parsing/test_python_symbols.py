"""Definitions of Python files as symbols."""

import hashlib

import pytest

from codesum_pipeline.foundation.data_model.hashing import HashPolicy, sha1_hex
from codesum_pipeline.foundation.data_model.symbol import Symbol, SymbolType
from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline_tests.symbols.parsing.expected import expected_definitions
from codesum_pipeline_tests.symbols.parsing.sources import package_files


def symbols(source: str, *, policy: HashPolicy = HashPolicy.CANONICAL) -> tuple[Symbol, ...]:
    return PARSERS["python"].parse(source.encode(), "src/a.py", hash_policy=policy).symbols


def only(source: str) -> Symbol:
    (symbol,) = symbols(source)
    return symbol


def by_name(source: str) -> dict[str, Symbol]:
    return {symbol.qualified_name: symbol for symbol in symbols(source)}


def test_every_definition_is_a_symbol_with_its_parent() -> None:
    source = """
class A:
    def m(self):
        def inner():
            class B: pass
    class C:
        async def n(self): pass
def f(): pass
"""
    assert [(s.id, s.type, s.parent_id) for s in symbols(source)] == [
        ("src/a.py::A", SymbolType.CLASS, None),
        ("src/a.py::A::m", SymbolType.FUNCTION, "src/a.py::A"),
        ("src/a.py::A::m::inner", SymbolType.FUNCTION, "src/a.py::A::m"),
        ("src/a.py::A::m::inner::B", SymbolType.CLASS, "src/a.py::A::m::inner"),
        ("src/a.py::A::C", SymbolType.CLASS, "src/a.py::A"),
        ("src/a.py::A::C::n", SymbolType.FUNCTION, "src/a.py::A::C"),
        ("src/a.py::f", SymbolType.FUNCTION, None),
    ]


def test_conditional_definitions_are_symbols_with_ids_of_their_own() -> None:
    source = """
if TYPE_CHECKING:
    def f(x: int) -> int: ...
else:
    try:
        def f(x): return x
    except ImportError:
        class f(Base):
            def m(self): pass
"""
    assert [(s.id, s.qualified_name, s.parent_id) for s in symbols(source)] == [
        ("src/a.py::f#6c8bd6", "f", None),
        ("src/a.py::f", "f", None),
        ("src/a.py::f#8ea440", "f", None),
        ("src/a.py::f::m", "f.m", "src/a.py::f#8ea440"),
    ]


def test_methods_of_classes_of_one_name_are_told_apart() -> None:
    source = "class A:\n    def m(self): pass\nclass A:\n    def m(self): pass\n"

    assert [(s.id, s.parent_id) for s in symbols(source)] == [
        ("src/a.py::A", None),
        ("src/a.py::A::m", "src/a.py::A"),
        ("src/a.py::A#fcbb02-2", None),
        ("src/a.py::A::m#baad8c-2", "src/a.py::A#fcbb02-2"),
    ]


def test_overloads_and_property_setters_share_a_name() -> None:
    source = """
class A:
    @overload
    def f(self, x: int) -> int: ...
    @overload
    def f(self, x: str) -> str: ...
    def f(self, x): return x
    @property
    def p(self): return 1
    @p.setter
    def p(self, v): pass
"""
    assert [(s.id, s.modifiers) for s in symbols(source)[1:]] == [
        ("src/a.py::A::f#2313dc", ("overload",)),
        ("src/a.py::A::f#fc4aaf", ("overload",)),
        ("src/a.py::A::f", ()),
        ("src/a.py::A::p", ("property",)),
        ("src/a.py::A::p#2cd2c8", ("setter",)),
    ]


def test_decorators_belong_to_the_definition() -> None:
    symbol = only("x = 1\n@a\n# between\n@b(\n  1\n)\ndef f():\n    pass\n")

    assert (symbol.start_line, symbol.end_line) == (2, 8)
    assert symbol.canonical_source == "@a\n@b(1)\ndef f():\n    pass"


def test_a_decorated_definition_without_a_name_does_not_lend_its_decorators() -> None:
    source = "@a\ndef (): pass\ndef g(): pass\n"

    (symbol,) = symbols(source)

    assert symbol.canonical_source == "def g():\n    pass"


def test_lines_after_a_definition_do_not_belong_to_it() -> None:
    assert only("def f():\n    pass\n    # the end\n\n\n").end_line == 2


@pytest.mark.parametrize(
    ("source", "signature"),
    [
        ("async  def f( self,x:int=1 )->str :pass", "async def f(self, x: int = 1) -> str"),
        ("class A ( B , metaclass = M ): pass", "class A(B, metaclass=M)"),
        ("class A : pass", "class A"),
        ("def f[T](x:T)->T:pass", "def f[T](x: T) -> T"),
        ("def f(x=lambda:0):pass", "def f(x=lambda: 0)"),
        ('def f(x="""a\n   b"""):pass', 'def f(x="""a b""")'),
        ("def größe(ä): pass", "def größe(ä)"),
    ],
)
def test_a_signature_is_one_line(source: str, signature: str) -> None:
    assert only(source).signature == signature


@pytest.mark.parametrize(
    ("literal", "docstring"),
    [
        ('"""Say it.\n\n      More.\n    """', "Say it.\n\nMore."),
        ("'short'", "short"),
        ("r'raw \\n'", "raw \\n"),
        ("'a\\tb'", "a\tb".expandtabs()),
        ("u'old'", "old"),
        ("'one ' 'two'", "one two"),
        ("('in brackets')", "in brackets"),
        ('"""ends in \\""""', 'ends in "'),
        ('"""a"b"""', 'a"b'),
        ("f'{x}'", None),
        ("b'bytes'", None),
        ("'a' + 'b'", None),
        ("''", None),
        ("1", None),
        ("'grün'", "grün"),
        ("'\\d'", "\\d"),
        ("'half \\ud800 a pair'", "half \\ud800 a pair"),
    ],
)
def test_a_docstring_is_the_first_literal_without_its_margin(literal: str, docstring: str | None) -> None:
    assert only(f"def f():\n    # first\n    {literal}\n    return 1\n").docstring == docstring


@pytest.mark.parametrize(
    ("source", "modifiers"),
    [
        ("async def f(): pass", ("async",)),
        ("@staticmethod\ndef f(): pass", ("staticmethod",)),
        ("@functools.cached_property\ndef f(self): pass", ("property", "cached")),
        ("@functools.lru_cache(maxsize=None)\ndef f(): pass", ("cached",)),
        ("@abc.abstractmethod\n@property\ndef f(self): pass", ("property", "abstract")),
        ("@contextlib.asynccontextmanager\nasync def f(): yield", ("async", "contextmanager")),
        ("@typing.final\n@override\ndef f(self): pass", ("override", "final")),
        ("@pytest.fixture\ndef test_data(): pass", ("fixture",)),
        ("def test_it(): pass", ("test",)),
        ("def testing(): pass", ()),
        ("@dataclass(frozen=True)\nclass A: pass", ("dataclass",)),
        ("@attr.s\nclass A: pass", ("dataclass",)),
        ("class A(enum.IntEnum): pass", ("enum",)),
        ("class A(Protocol[T]): pass", ("protocol",)),
        ("class A(B, metaclass=abc.ABCMeta): pass", ("abstract",)),
        ("class A(errors.NotFoundError): pass", ("exception",)),
        ("class A(NamedTuple): pass", ("namedtuple",)),
        ("class TestA: pass", ("test",)),
        ("class Testament: pass", ()),
        ("@wraps(f)\ndef f(): pass", ()),
    ],
)
def test_modifiers_come_from_decorators_bases_and_names(source: str, modifiers: tuple[str, ...]) -> None:
    assert only(source).modifiers == modifiers


def test_bases_are_kept_as_written() -> None:
    assert only("class A( b.C[ int ], *rest, metaclass=M, # c\n **kw): pass").bases == ("b.C[int]", "*rest", "**kw")


def test_a_private_part_makes_a_name_private_and_a_dunder_does_not() -> None:
    source = "class A:\n  def __init__(self): pass\n  def _m(self): pass\nclass _B:\n  def m(self): pass\n"

    assert {name: s.is_public for name, s in by_name(source).items()} == {
        "A": True,
        "A.__init__": True,
        "A._m": False,
        "_B": False,
        "_B.m": False,
    }


def test_what_a_file_exports_is_public_and_nothing_else_at_its_top_level() -> None:
    source = "__all__ = ['f', '_g']\ndef f(): pass\ndef _g(): pass\ndef h():\n  def i(): pass\n"

    assert {name: s.is_public for name, s in by_name(source).items()} == {
        "f": True,
        "_g": True,
        "h": False,
        "h.i": False,
    }


def test_complexity_counts_the_statements_that_branch_and_those_nested_in_the_definition() -> None:
    source = """
def f(x):
    if x: pass
    elif y: pass
    else: pass
    for a in x: pass
    while x: break
    try: pass
    except A: pass
    except B: pass
    finally: pass
    with x: pass
    assert x
    y = 1 if x else 2
    z = [a for a in x if a and b]
    match x:
        case 1: pass
    def g():
        async for b in x:
            async with b: pass
"""
    assert {name: s.complexity for name, s in by_name(source).items()} == {"f": 11, "f.g": 3}


def test_the_line_count_leaves_the_docstring_out() -> None:
    assert (
        only('def f():\n    """Say.\n\n    More.\n    """\n    # c\n    return g(\n        1\n    )\n').line_count == 2
    )


def test_the_content_hash_is_that_of_the_canonical_source() -> None:
    symbol = only("def f( x ):\n  return x # c\n")

    assert symbol.content_hash == sha1_hex("def f(x):\n    return x")


def test_under_the_raw_policy_the_content_hash_is_that_of_the_bytes_of_the_span() -> None:
    (symbol,) = symbols("a = 1\n@b\ndef f( x ):\n  return x # c\n", policy=HashPolicy.RAW)

    assert symbol.content_hash == hashlib.sha256(b"@b\ndef f( x ):\n  return x").hexdigest()


@pytest.mark.parametrize(
    "broken",
    ["x = g(a", "x = {a: 1,", "x = 'abc", "if x", "x = = 1", "def (", "<<<<<<< HEAD", "raise E, 'old'", "? $"],
)
def test_the_symbols_around_an_error_are_read(broken: str) -> None:
    source = f"""
def f():
    return 1

class A:
    def m(self):
        {broken}
        return 2

def h():
    pass
"""

    found = {s.qualified_name: s for s in symbols(source)}

    assert {"f", "A", "A.m", "h"} <= set(found)
    assert found["h"].canonical_source == "def h():\n    pass"


def test_stubs_are_read_like_sources() -> None:
    assert [
        s.id for s in PARSERS["python"].parse(b"def f(x: int) -> str: ...\nclass A: x: int\n", "a.pyi").symbols
    ] == [
        "a.pyi::f",
        "a.pyi::A",
    ]


def test_an_empty_file_has_no_symbols() -> None:
    parsed = PARSERS["python"].parse(b"", "a.py")

    assert (parsed.symbols, parsed.facts.source, parsed.facts.lines, parsed.facts.docstring) == ((), "", 0, None)


@pytest.mark.parametrize("package", [pytest.param("rich", marks=pytest.mark.slow), "typer"])
def test_symbols_are_those_that_the_standard_library_sees(package: str) -> None:
    for path in package_files(package):
        found = [
            (s.start_line, s.end_line, s.qualified_name, s.type, s.complexity, s.bases and len(s.bases))
            for s in symbols(path.read_text("utf-8"))
        ]
        assert sorted(found) == sorted(expected_definitions(path.read_bytes())), path
