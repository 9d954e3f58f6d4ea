"""Sources that no person writes: nesting, chains, lengths and texts without an end, of any size and in every language.

Some kinds are written for a language (`hostile_forms.toml`). The others are made of what languages have in common,
and are given to all of them, whether it is their syntax or not: what does not parse is hostile, too.
"""

import random
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

_FORMS = Path(__file__).with_name("hostile_forms.toml")
_NUMBER = "§"
# What opens, a text in the middle, and what closes: in each other, in place of a value.
_NESTED = {
    "parentheses": ("(", "a", ")"),
    "brackets": ("[", "a", "]"),
    "braces": ("{", "a", "}"),
    "calls in calls": ("f(", "a", ")"),
    "calls in calls with two arguments": ("f(a, ", "a", ")"),
    "members in calls": ("a.b(", "a", ")"),
    "angles": ("a<", "a", ">"),
    "conditions": ("a ? b : ", "a", ""),
    "choices": ("if a then b else ", "a", ""),
    "assignments": ("a = ", "a", ""),
    "lambdas": ("(a) => ", "a", ""),
    "functions": ("function() { return ", "a", " }"),
    "not": ("!", "a", ""),
    "minus": ("-", "a", ""),
    "stars": ("*", "a", ""),
    "new": ("new ", "a()", ""),
    "casts": ("(a) ", "a", ""),
    "interpolated with a dollar": ('"${', "a", '}"'),
    "interpolated with a number sign": ('"#{', "a", '}"'),
}
# Parts that follow a first value.
_CHAINED = {
    "calls": ".b(c)",
    "calls of functions": ".b(() => c)",
    "calls with a string": '.b("c")',
    "calls with blocks": ".b { c }",
    "safe calls": "?.b(c)",
    "arrow calls": "->b(c)",
    "static calls": "::b(c)",
    "colon calls": ":b(c)",
    "numbered calls": ".b§(c§)",
    "called results": "(c)",
    "members": ".b",
    "paths": "::b",
    "items": "[0]",
    "items of members": ".b[0]",
    "sums": " + a",
    "comparisons": " < a",
    "conjunctions": " && a",
    "and": " and a",
    "pipes": " | a",
    "pipes of calls": " |> b(c)",
    "joined strings": ' + "a"',
    "strings side by side": ' "a"',
    "dots": " . a",
    "words": " a",
    "commas": ", a",
    "assigned": " = a",
    "keys": ', "a": 1',
    "open angles": "<a",
    "semicolons": "; a",
}
# What begins a text, a comment or a block that never ends.
_ENDLESS = {
    "double quote": '"', "single quote": "'", "backtick": "`", "triple quotes": '"""', "triple single quotes": "'''",
    "block comment": "/*", "document": "<<EOF\n", "document with a dash": "<<-'EOF'\n", "long bracket": "[==[",
    "Haskell comment": "{-", "raw string of C++": 'R"x(', "raw string of Rust": 'r#"', "string at": '@"',
    "interpolation": '"${', "interpolation of a template": "`${", "interpolation of Ruby": '"#{', "percent": "%q(",
    "parenthesis": "(", "bracket": "[", "brace": "{", "angle": "a<", "call": "a(", "element": "<a ", "regex": "/",
    "question": "a ? ", "arrow": "a => ", "directive": "#if A\n", "backslash": "\\",
}  # fmt: skip
_TOKENS = (
    *"(){}[]<>.,;:=+-*/%&|!?@#$~^\\\"'`",
    *("a", "b", "C", "1", "0x1", "if", "else", "def", "fn", "func", "class", "end", "do", "return", "import", "case"),
    *("new", "struct", "type", "let", "var", "::", "->", "=>", "/*", "*/", "//", "--", "${", "#{", '"""'),
    *("\n", "\n", "\n", " ", " ", "  "),
)  # fmt: skip


class HostileSource(Struct, frozen=True):
    """One kind of source of one language, of any size."""

    language: str
    file: str
    kind: str
    head: str
    unit: str
    middle: str = ""
    close: str = ""
    tail: str = ""

    @property
    def id(self) -> str:
        return f"{self.language}: {self.kind}"

    def of_size(self, size: int) -> str:
        """The source with about so many bytes, at least one repetition."""
        fixed = len((self.head + self.middle + self.tail).encode())
        width = len((self.unit + self.close).encode())
        numbers = (self.unit + self.close).count(_NUMBER)
        count = max(1, (size - fixed) // (width + numbers * 3))
        return self.repeated(count)

    def repeated(self, count: int) -> str:
        """The source with so many repetitions."""
        if _NUMBER not in self.unit:
            units = self.unit * count
        else:
            units = "".join([self.unit.replace(_NUMBER, str(number)) for number in range(count)])
        return f"{self.head}{units}{self.middle}{self.close * count}{self.tail}"


class HostileNoise(Struct, frozen=True):
    """Tokens of many languages in an order without sense, always the same."""

    language: str
    file: str
    kind: str = "noise"

    @property
    def id(self) -> str:
        return f"{self.language}: {self.kind}"

    def of_size(self, size: int) -> str:
        """The source with about so many bytes."""
        drawn = random.Random(self.language)
        return " ".join(drawn.choices(_TOKENS, k=size // 3))


Hostile = HostileSource | HostileNoise


@cache
def hostile_sources() -> tuple[Hostile, ...]:
    """All kinds of all languages."""
    by_language: Mapping[str, Mapping[str, Any]] = tomllib.loads(_FORMS.read_text(encoding="utf-8"))
    return tuple(source for language, forms in by_language.items() for source in _of_language(language, forms))


def _of_language(language: str, forms: Mapping[str, Any]) -> Iterator[Hostile]:
    file, (head, tail) = forms["file"], forms["value"]
    for kind, parts in forms.items():
        if kind not in ("file", "value"):
            fields = parts if len(parts) != 3 else [parts[0], parts[1], "", "", parts[2]]
            yield HostileSource(language, file, kind, *fields)
    for kind, (opening, middle, close) in _NESTED.items():
        yield HostileSource(language, file, f"nested: {kind}", head, opening, middle, close, tail)
        lines = (f"{opening}\n", middle, f"{close}\n" if close else "")
        yield HostileSource(language, file, f"nested: {kind}, over lines", head, *lines, tail)
    for kind, unit in _CHAINED.items():
        yield HostileSource(language, file, f"chain of {kind}", f"{head}a", unit, "", "", tail)
        yield HostileSource(language, file, f"chain of {kind}, over lines", f"{head}a\n", f"{unit}\n", "", "", tail)
    for kind, opening in _ENDLESS.items():
        yield HostileSource(language, file, f"without an end: {kind}, once", f"{head}{opening}", "a b(c);\n")
        yield HostileSource(language, file, f"without an end: {kind}", head, opening)
        yield HostileSource(language, file, f"without an end: {kind}, on each line", head, f"{opening}\n")
        yield HostileSource(language, file, f"without an end: {kind}, each in a value", "", f"{head}{opening}\n")
    yield HostileSource(language, file, "long name", head, "a", "", "", tail)
    yield HostileSource(language, file, "long number", head, "1", "", "", tail)
    yield HostileSource(language, file, "long string", f'{head}"', "a b ", "", "", f'"{tail}')
    yield HostileSource(language, file, "long string of lines", f'{head}"""', "a b\n", "", "", f'"""{tail}')
    yield HostileSource(language, file, "escapes", f'{head}"', '\\"', "", "", f'"{tail}')
    yield HostileSource(language, file, "base64", f'{head}"', "QUJDRA9+/x", "", "", f'"{tail}')
    yield HostileSource(language, file, "list", f"{head}[", "1, ", "2", "", f"]{tail}")
    yield HostileSource(language, file, "list of strings", f"{head}[\n", '"a§",\n', '"b"', "", f"]{tail}")
    yield HostileSource(language, file, "blank lines", head, "\n", "a", "", tail)
    yield HostileSource(language, file, "blanks", head, " ", "a", "", tail)
    yield HostileSource(language, file, "braces that open and close", head, "{}", "", "", tail)
    yield HostileSource(language, file, "values", "", f"{head}a{tail}")
    yield HostileSource(language, file, "broken values", "", f"{head}a(\n")
    yield HostileSource(language, file, "letters of two bytes", f'{head}"', "é", "", "", f'"{tail}')
    yield HostileNoise(language, file)
