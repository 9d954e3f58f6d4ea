"""Canonical source by example."""

import pytest

from codesum_pipeline.symbols.parsing.parsers import PARSERS


def canonical(source: str) -> str:
    return PARSERS["python"].parse(source.encode(), "a.py").facts.source


def of_function(source: str) -> str:
    return PARSERS["python"].parse(source.encode(), "a.py").symbols[-1].canonical_source


SPACING = {
    "f( a,b = 1 )": "f(a, b=1)",
    "x:int=3": "x: int = 3",
    "def f(a,*args:int,k : str='x',** kw)->int :pass": 'def f(a, *args: int, k: str = "x", **kw) -> int:\n    pass',
    "def f(a,/,b=-1,*,c):pass": "def f(a, /, b=-1, *, c):\n    pass",
    "a [1 : 2]": "a[1:2]",
    "a[ : , 1:: 2, ... ]": "a[:, 1::2, ...]",
    "x = - y ** ~ z": "x = -y ** ~z",
    "x=a-b": "x = a - b",
    "x = not a": "x = not a",
    "a  not\\\n in b": "a not in b",
    "lambda  x,* y:x": "lambda x, *y: x",
    "lambda:0": "lambda: 0",
    "from .  import x": "from . import x",
    "from . . a import(b,c as d)": "from ..a import b, c as d",
    "from x import *": "from x import *",
    "@ dec . a(1)\ndef f():pass": "@dec.a(1)\ndef f():\n    pass",
    "x=a @ b": "x = a @ b",
    "print (x)": "print(x)",
    "f (x for x in y)": "f(x for x in y)",
    "x=(y for y in z)": "x = (y for y in z)",
    "{**a,'b':c}": '{**a, "b": c}',
    "if(y:=3):pass": "if y := 3:\n    pass",
    "1 .real": "1 .real",
    "1..real": "1.0.real",
    "1if x else-1": "1 if x else -1",
    "try:pass\nexcept*(A,B)as e:pass": "try:\n    pass\nexcept *(A, B) as e:\n    pass",
    "match x:\n case[a,* b]|P(x=- 1):pass": "match x:\n    case [a, *b] | P(x=-1):\n        pass",
    "type X[T:int]=list [T]": "type X[T: int] = list[T]",
    "print >>f,x": "print >> f, x",
    "async  def f():await(x)": "async def f():\n    await x",
    "a  =  b''  'c'": 'a = b"" "c"',
}


@pytest.mark.parametrize(("written", "shown"), SPACING.items())
def test_tokens_stand_as_one_table_says(written: str, shown: str) -> None:
    assert canonical(written) == shown


# One program each, as its author and a formatter write it.
SAME = {
    "trailing commas": ("f(a, )", "f(a)"),
    "a trailing comma after parameters": ("def f(a, *, b,): pass", "def f(a, *, b): pass"),
    "quotes": ("f('a')", 'f("a")'),
    "escaped quotes": ("x = 'it\\'s \"so\"'", 'x = "it\'s \\"so\\""'),
    "triple quotes on one line": ("x = '''a'''", "x = 'a'"),
    "quotes of a docstring": ("def f():\n    'Say.'", 'def f():\n    """ Say.  """'),
    "empty lines that end a docstring": ('"""A.\n\nB.\n\n"""', '"""A.\n\nB.\n"""'),
    "prefixes of texts": ("f(U'a', Rb'x', F'{y}')", "f('a', br'x', f'{y}')"),
    "escapes": (r"x = '\xAB\N{dash}'", r"x = '\xab\N{DASH}'"),
    "pieces of a text": ("x = ('a'\n     'b' f'{c}')", "x = f'ab{c}'"),
    "numbers": ("x = 0XFF + 1_000 + 1E5 + 1. + .5 + 10J", "x = 0xff + 1000 + 1e5 + 1.0 + 0.5 + 10j"),
    "brackets in brackets": ("print(((a)))", "print(a)"),
    "brackets around what a statement takes": (
        "def f():\n    if (a and b):\n        return (not (c))\n    while (a): assert (b), (c)",
        "def f():\n    if a and b:\n        return not c\n    while a: assert b, c",
    ),
    "brackets that operators bind like": ("x = (a * b) + (c ** d) - (-e)", "x = a * b + c**d - -e"),
    "brackets around tuples": ("for (a, b) in (c, d): x[(a, b)] = (a, b)", "for a, b in c, d: x[a, b] = a, b"),
    "one in brackets": ("x = (a,)", "x = a,"),
    "a target in two brackets": ("((a,)) = x", "a, = x"),
    "with": ("with (a as b, c,): pass", "with a as b, c: pass"),
    "with one": ("with (open(x)) as f: pass", "with open(x) as f: pass"),
    "imports": ("from a import (b, c,)", "from a import b, c"),
    "no bases": ("class A(): pass", "class A: pass"),
    "decorators": ("@(a.b)\ndef f(): pass", "@a.b\ndef f(): pass"),
    "a lambda's value": ("f(lambda: (a))", "f(lambda: a)"),
    "awaited": ("async def f(): await (g())", "async def f(): await g()"),
    "caught": ("try: pass\nexcept (A): pass", "try: pass\nexcept A: pass"),
    "named in a condition": ("if (a := b): pass", "if a := b: pass"),
    "cases": ("match (a):\n case (B): pass", "match a:\n case B: pass"),
    "statements on one line": ("a; b;", "a\nb"),
}


@pytest.mark.parametrize(("written", "formatted"), SAME.values(), ids=SAME)
def test_what_a_formatter_changes_is_the_same_program(written: str, formatted: str) -> None:
    assert written != formatted
    assert canonical(written) == canonical(formatted)


DIFFERENT = {
    "a tuple in a tuple, on two lines": ("(a, b) \\\n, c", "a, b, c"),
    "one is no tuple": ("x = (a,)", "x = (a)"),
    "one index is no tuple": ("x[a,]", "x[a]"),
    "a tuple of types": ("x: tuple[a,]", "x: tuple[a]"),
    "what operators bind": ("x = (a + b) * c", "x = a + b * c"),
    "what binds to the right": ("x = a - (b - c)", "x = a - b - c"),
    "signs bind less than powers": ("x = (-a) ** b", "x = -a ** b"),
    "compared in a chain": ("x = (a < b) < c", "x = a < b < c"),
    "and in and": ("x = a and (b and c)", "x = a and b and c"),
    "annotated": ("(a): int", "a: int"),
    "two deleted": ("del (a, b)", "del a, b"),
    "asserted": ("assert (a, b)", "assert a, b"),
    "two as one": ("with ((a, b)): pass", "with (a, b): pass"),
    "a call": ("@dec()\ndef f(): pass", "@dec\ndef f(): pass"),
    "raw": (r"x = r'\n'", r"x = '\n'"),
    "formatted": ("x = f'{a}'", "x = '{a}'"),
    "bytes": ("x = b'a'", "x = 'a'"),
    "digits after an escape": (r"x = '\1' '2'", r"x = '\12'"),
    "whole": ("x = 1.0", "x = 1"),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_the_syntax_tree_tells_apart_stays_apart(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_comments_and_blank_lines_go_and_docstrings_stay() -> None:
    source = '# a\n\ndef f():  # b\n    # c\n    """Say it."""\n\n    return 1  # d\n# e\n'

    assert canonical(source) == 'def f():\n    """Say it."""\n    return 1'


def test_a_statement_of_many_lines_is_one_line() -> None:
    assert canonical("x = f(\n    a,  # one\n    b\n    + c\n)\ny = \\\n  1\n") == "x = f(a, b + c)\ny = 1"


def test_statements_of_one_line_are_lines_of_their_own() -> None:
    assert canonical("a; b;\nif x: return_; y\nelse: z\n") == "a\nb\nif x:\n    return_\n    y\nelse:\n    z"


def test_a_line_break_that_ends_a_statement_counts() -> None:
    assert canonical("x = 1\n-y\n") != canonical("x = 1 - y\n")


def test_moving_a_statement_out_of_a_block_counts() -> None:
    assert canonical("if x:\n    a\n    b\n") != canonical("if x:\n    a\nb\n")


def test_any_indent_is_four_spaces() -> None:
    assert canonical("if x:\n\tif y:\n\t  z\n") == "if x:\n    if y:\n        z"


def test_a_definition_renders_the_same_at_any_depth() -> None:
    body = 'def f(x):\n    """Say.\n\n      More.\n    """\n    return """a\n  b"""\n'
    deeper = "class A:\n  if x:\n" + "".join(
        f"    {line}\n" if not line.startswith('  b"') else f"{line}\n" for line in body.splitlines()
    )

    assert of_function(deeper) == of_function(body)


def test_a_docstrings_margin_and_trailing_blanks_are_layout() -> None:
    shown = 'def f():\n    """Say.\n\n    Args:\n        x\n    """'

    assert of_function('def f():\n  """Say.  \n   \n  Args:\n      x\n  """\n') == shown
    assert of_function('def f():\n\t"""Say.\n\n\tArgs:\n\t    x\n\t"""\n') == shown


def test_a_docstrings_lines_keep_their_indents_among_each_other() -> None:
    assert of_function('def f():\n    """A.\n\n      b\n        c"""\n') == 'def f():\n    """A.\n\n    b\n      c"""'


def test_a_docstring_with_continued_lines_stays_as_written() -> None:
    source = 'def f():\n    """A\n       b \\\n  c\n    """'

    assert canonical(source) == source


def test_other_literals_keep_every_character_and_give_several_lines() -> None:
    assert canonical('x = f("""a\n\n   # no comment\n  b""",  1)\n') == 'x = f("""a\n\n   # no comment\n  b""", 1)'


def test_what_stands_in_a_formatted_string_is_kept_as_written() -> None:
    assert canonical("x = f'{ a !r:>{w} }'\n") == 'x = f"{ a !r:>{w} }"'


def test_text_beyond_ascii_is_kept() -> None:
    assert canonical("größe  = 'Ä\u2028\x85ö'  # ü\n") == 'größe = "Ä\u2028\x85ö"'


def test_what_does_not_parse_is_kept_token_by_token_on_its_lines() -> None:
    parsed = PARSERS["python"].parse(b"x = = 2\ny = 3\ndef f():\n    return 1\n", "a.py")

    assert parsed.facts.syntax_errors > 0
    assert parsed.facts.source.endswith("y = 3\ndef f():\n    return 1")
    assert parsed.facts.source.replace(" ", "").startswith("x==2\n")


def test_a_string_that_never_ends_loses_nothing() -> None:
    assert canonical("in\n    b\"lambda=asyncdel' {case ") == "in\nb\"\nlambda=asyncdel' {case"


def test_the_line_map_gives_the_real_line_of_each_canonical_one() -> None:
    source = (
        'x = 1\n\n@a\ndef f(  # c\n    b,\n):\n    """Say.\n\n    More."""\n    # d\n    return (\n        b\n    )\n\n'
    )

    symbol = PARSERS["python"].parse(source.encode(), "a.py").symbols[0]

    assert symbol.canonical_source.split("\n") == [
        "@a",
        "def f(b):",
        '    """Say.',
        "",
        '    More."""',
        "    return b",
    ]
    assert symbol.line_map == (3, 4, 7, 8, 9, 11)
    assert (symbol.start_line, symbol.end_line) == (3, 13)


DEPTH = 10_000


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "(" * DEPTH + "1" + ")" * DEPTH,
        "x = " + "[" * DEPTH,
        "x = " + "+".join("1" * DEPTH),
        "x = " + "-" * DEPTH + "1",
        "a" + ".b" * DEPTH,
        "f(" * DEPTH + ")" * DEPTH,
        "__all__ = " + "[" * DEPTH + "'x'" + "]" * DEPTH,
        "def f():\n  " + "(" * DEPTH + "'x'" + ")" * DEPTH,
        "if x:\n  y\n" + "elif x:\n  y\n" * DEPTH,
    ],
    ids=["brackets", "open brackets", "sum", "signs", "attributes", "calls", "exports", "docstring", "branches"],
)
def test_ten_thousand_levels_of_nesting_are_read(source: str) -> None:
    facts = PARSERS["python"].parse(source.encode(), "a.py").facts

    assert _bare(facts.source) == _bare(source)


def _bare(source: str) -> str:
    """The source without blanks, without the brackets that may say nothing, and with one kind of quotes."""
    return "".join(source.replace("'", '"').replace("(", "").replace(")", "").split())
