"""Generated Python programs: statements nested in blocks, from awkward expressions."""

import ast

from hypothesis import strategies as st

EXPRESSIONS = (
    "x",
    "f(a, b=1, *c, **d)",
    "-x ** -y",
    "not a in b",
    "a is not b and c not in d",
    "x[1:2, ::3, ...]",
    "x[a + 1 :, f(b)]",
    "x[-1:]",
    "lambda: 0",
    "lambda x, *a, y=1, **k: (x, y)",
    "(yield_ := 3)",
    "[i async for i in x if i if not i]",
    "{**a, 'b': c, 'd': {1, 2}}",
    "{k: v for k, v in x}",
    "(x for x in y)",
    "f(x for x in y)",
    "1 .real + 1..real + 1.5.real",
    "1if x else-1",
    "a if b else (c,)",
    "'s' 'a' \"b\" rb''.x",
    "f'{a!r:>{w}} {b=}'",
    '"""two\n   lines"""',
    "'a\\\nb'",
    "x @ y // z % w",
    "a<b<=c!=d>>e<<f^g&h|~i",
    "(a, b), [c, *d]",
    "x.y[z](w)[0].v",
    "()",
    "((x))",
    "print (x)",
    "match(x)",
    "type.case",
    "é.ñ('日本')",
)
SIMPLE = (
    "pass",
    "return_ = {}",
    "{}",
    "x: int = {}",
    "x: 'list[int]'",
    "a = b = {}",
    "a, *b = {}",
    "x.y += {}",
    "del x, y[0]",
    "assert {}, 'no'",
    "raise X({}) from e",
    "global g",
    "import a.b as c, d",
    "from . import x",
    "from .. a import (b, c as d,)",
    "from x import *",
    "x = 1; y = {}; z = 2",
    "'''words\n  and more'''",
)
HEADS = (
    "if {}:",
    "for x, y in {}:",
    "while {}:",
    "with {} as x, y:",
    "with (a as b, c):",
    "async def g(a, /, b: int = {}, *, c=1, **k) -> list[int]:",
    "def f(self, *args: str):",
    "@dec({})\n{indent}@a.b\n{indent}def f():",
    "class A(B, metaclass={}):",
    "class C:",
    "match x:\n{indent} case [a, *b] | {{'k': _, **r}} if a:\n{indent}  pass\n{indent} case -1 | P(x=1, y=a.b) as z:",
)
TAILS = {"if": ("", "elif x:", "else:"), "while": ("", "else:"), "for": ("", "else:")}


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0) -> str:
    indent = "    " * depth
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        expression = draw(st.sampled_from(EXPRESSIONS))
        if depth < 3 and draw(st.booleans()):
            head = draw(st.sampled_from(HEADS))
            written = head.replace("{indent}", indent).replace("{{", "\1").replace("}}", "\2")
            written = written.replace("{}", expression).replace("\1", "{").replace("\2", "}")
            body = draw(blocks(depth + (2 if head.startswith("match") else 1)))
            lines.append(f"{indent}{written}\n{body}")
            tail = draw(st.sampled_from(TAILS.get(head.split()[0], ("",))))
            if tail:
                lines.append(f"{indent}{tail}\n{draw(blocks(depth + 1))}")
        else:
            lines.append(indent + draw(st.sampled_from(SIMPLE)).replace("{}", expression))
    return "\n".join(lines)


def programs() -> st.SearchStrategy[str]:
    """Programs that parse."""
    return blocks().map(lambda text: text + "\n").filter(_parses)


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True
