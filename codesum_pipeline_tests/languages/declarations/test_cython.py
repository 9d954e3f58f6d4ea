"""Cython is read by the grammar of Python."""

import pytest

from codesum_pipeline.languages.declarations.python.cython import as_python, changed_parts
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("cdef int f(int a, double b=2):\n    return a\n", ["f"], id="a function of C"),
        pytest.param("cpdef f(a):\n    return a\n", ["f"], id="one for both, without a type"),
        pytest.param("cdef inline bint f(x) noexcept nogil: return 1\n", ["f"], id="a body on the line of the head"),
        pytest.param(
            "cdef int f(\n    int a,  # (one\n    b,\n) except? -1:\n    return 1\n", ["f"], id="a head of lines"
        ),
        pytest.param("cdef int *f(int **a): return a[0]\n", ["f"], id="a pointer as the result"),
        pytest.param("cdef (int, double) f(x):\n    return 1, 2.0\n", ["f"], id="a tuple as the result"),
        pytest.param("cpdef double[:, ::1] f(double[:, ::1] a): return a\n", ["f"], id="views of memory"),
        pytest.param("cdef vector[pair[int, int]]* f(): pass\n", ["f"], id="templates"),
        pytest.param('cdef public int f "c_f"(int a): pass\n', ["f"], id="a name in C beside its own"),
        pytest.param("cdef void f() with gil: pass\ncdef void g() except +: pass\n", ["f", "g"], id="what is behind"),
        pytest.param("def f(int a, np.ndarray[int, ndim=1] b not None, *c): pass\n", ["f"], id="types of parameters"),
        pytest.param("cdef int f(int (*cb)(int), int a[3]): pass\n", ["f"], id="a function as a parameter"),
        pytest.param("cdef class A(B) [object C, type D]:\n    def f(self): pass\n", ["A", "A::f"], id="a class"),
        pytest.param("cdef class A:\n    cdef int a, *b\n    cdef f(self): pass\n", ["A", "A::f"], id="fields"),
        pytest.param(
            "cdef class A:\n    property p:\n        def __get__(self): pass\n",
            ["A", "A::p", "A::p::__get__"],
            id="a property of the old style",
        ),
        pytest.param("@cython.final\ncdef class A: pass\n", ["A"], id="a decorated class on one line"),
        pytest.param("ctypedef struct a:\n    int x\n    double *y\n", ["a"], id="a structure"),
        pytest.param("cdef packed struct a:\n    char x[3]\n", ["a"], id="a packed one"),
        pytest.param("cpdef enum A:\n    X = 1\n    Y\n", ["A"], id="an enumeration"),
        pytest.param("ctypedef fused a:\n    int\n    unsigned long\n", ["a"], id="fused types"),
        pytest.param(
            'cdef extern from "x.h" nogil:\n    int f(int)\n    struct a:\n        int x\n    int Y\ndef g(): pass\n',
            ["a", "g"],
            id="what is only announced is none",
        ),
        pytest.param("cdef int f(int)\ncdef class A\ndef g(): pass\n", ["g"], id="so are heads alone"),
        pytest.param(
            "cdef:\n    int a = 1, b\n    double f(x):\n        return x\n", ["f"], id="a block of declarations"
        ),
        pytest.param("cdef int a = <int>b, c = &d, *e\ndef f(): pass\n", ["f"], id="casts and addresses"),
        pytest.param(
            "cdef f():\n    if a < <int>b: x = new A()\n    return <double*>x\n", ["f"], id="amid expressions"
        ),
        pytest.param("cdef f():\n    for i from 0 <= i < n by 2: pass\n", ["f"], id="a loop of the old style"),
        pytest.param("DEF N = 10\nIF N > 1:\n    cdef f(): pass\nELSE:\n    pass\n", ["f"], id="conditions"),
        pytest.param("cdef long a = 0xFFULL, b = sizeof(int *)\ncdef f(): pass\n", ["f"], id="numbers and sizes"),
        pytest.param('cdef char a = c"x"\ncdef f(): pass\n', ["f"], id="a character"),
        pytest.param("from a cimport b as c, d\ncimport e\ncdef f(): pass\n", ["f"], id="imports"),
        pytest.param('include "a.pxi"\ncdef int x; cdef int y\ncdef f(): pass\n', ["f"], id="two statements in a line"),
        pytest.param(
            "cdef int (*p)(int)\nctypedef int (*q)(void *)\ncdef f(): pass\n", ["f"], id="pointers to functions"
        ),
    ],
)
def test_definitions_are_found(source: str, names: list[str]) -> None:
    parsed = parse("python", source)

    assert [symbol.id.removeprefix("file::") for symbol in parsed.symbols] == names
    assert parsed.facts.syntax_errors == 0


SOURCE = '''
from libc.stdlib cimport malloc
cdef class Store(Base):
    """Holds rows."""
    cdef double *rows, total

    cdef double sum(self, double[:]   rows, int n=3)   nogil except? -1:
        """Adds rows."""
        cdef int i = 0, \\
            j
        return <double>add(rows)
'''


def test_what_c_adds_stays_in_the_canonical_source() -> None:
    parsed = parse("python", SOURCE)

    assert parsed.facts.source.split("\n") == [
        "from libc.stdlib cimport malloc",
        "cdef class Store(Base):",
        '    """Holds rows."""',
        "    cdef double * rows, total",
        "    cdef double sum(self, double[:] rows, int n=3) nogil except? -1:",
        '        """Adds rows."""',
        "        cdef int i = 0, j",
        "        return <double> add(rows)",
    ]
    assert [(imported.module, imported.name) for imported in parsed.facts.imports] == [("libc.stdlib", "malloc")]


def test_a_function_says_its_head_parameters_and_docstring() -> None:
    function = symbols_by_name("python", SOURCE)["Store::sum"]

    assert function.signature == "cdef double sum(self, double[:] rows, int n=3) nogil except? -1"
    assert [(one.name, one.default, one.kind) for one in function.facts.parameters] == [
        ("self", None, "receiver"),
        ("rows", None, "positional"),
        ("n", "3", "positional"),
    ]
    assert (function.docstring, function.start_line, function.end_line) == ("Adds rows.", 7, 11)
    assert [call.text for call in function.facts.calls] == ["add"]


def test_another_layout_is_the_same_content_and_another_type_is_not() -> None:
    source = parse("python", SOURCE).facts

    assert parse("python", SOURCE.replace("]   rows", "]  rows")).facts.source == source.source
    assert parse("python", SOURCE.replace("double[:]", "float[:]")).facts.content_hash != source.content_hash


def test_a_function_that_does_not_parse_is_counted_and_leaves_the_others() -> None:
    parsed = parse(
        "python", "cdef int f(int a):\n    return a\ncdef int g(int a:\n    return\ncdef int h(): return 1\n"
    )

    assert {"f", "h"} <= {symbol.name for symbol in parsed.symbols}
    assert parsed.facts.syntax_errors > 0


def test_python_is_shown_to_the_grammar_as_it_is() -> None:
    source = b'def f(a: int, *, b=3, **c) -> int:\n    return a < b > 1 and a & ~b\nx = "cdef int y"\n# cdef int z\n'

    assert as_python(source) == source
    assert changed_parts(source) == []


@pytest.mark.parametrize(
    "piece",
    [
        b"cdef int f(",
        b"cdef ",
        b"(",
        b'"""',
        b"cdef int a, ",
        b"<int>",
        b"cdef class A[",
        b"ctypedef struct a:\n ",
        b"&x,",
    ],
)
def test_what_is_shown_is_as_long_whatever_is_never_closed(piece: bytes) -> None:
    source = b"cimport a\n" + piece * 5_000

    assert len(as_python(source)) == len(source)
