"""Python sources for the laws: those of installed packages, and the same programs laid out differently."""

import ast
import importlib.util
import io
import random
import tokenize
from collections.abc import Iterator
from pathlib import Path

BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
STRINGS = {
    tokenize.STRING,
    *(
        getattr(tokenize, name)
        for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
        if hasattr(tokenize, name)
    ),
}
DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


def package_files(package: str, *, step: int = 1) -> list[Path]:
    """The Python files of an installed package that are UTF-8 and parse, of every `step` files one."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    return [path for path in sorted(Path(spec.origin).parent.rglob("*.py"))[::step] if _parses(path)]


def meaning(source: str | bytes) -> str:
    """The syntax tree as text; of docstrings only the words, since their margin is layout.

    That a text was written with a `u`, which the tree also keeps, means nothing.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            constant = node.body[0].value  # type: ignore[attr-defined]
            constant.value = " ".join(constant.value.split())
    return ast.dump(tree)


def laid_out_anew(source: str, seed: int) -> str:
    """The same tokens with other blanks, comments, blank lines, indents and line breaks inside brackets."""
    chance = random.Random(seed)
    indent = chance.choice((" ", "  ", "   ", "\t", "        "))
    return "".join(_write(list(tokenize.generate_tokens(io.StringIO(source).readline)), indent, chance))


def _write(tokens: list[tokenize.TokenInfo], indent: str, chance: random.Random) -> Iterator[str]:
    depth = brackets = 0
    is_line_start = True
    for token in tokens:
        # The grammar takes a line left of its block for the block's end, even inside brackets.
        deeper = indent * (depth + 1)
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            depth += 1 if token.type == tokenize.INDENT else -1
        elif token.type == tokenize.NEWLINE:
            yield chance.choice(("", "  # a comment: (", "   "))
            yield chance.choice(("\n", "\n\n", f"\n{indent * depth}# another, with 'quotes\n", "\n \t\n"))
            is_line_start = True
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
            if is_line_start:
                yield indent * depth
            elif brackets:
                yield chance.choice((" ", "  ", f"\n{deeper}", f" # inside\n{deeper}", f"\n\n{deeper}  "))
            else:
                yield chance.choice((" ", "  ", f" \\\n{deeper}", "\t"))
            is_line_start = False
            brackets += BRACKETS.get(token.string, 0) if token.type == tokenize.OP else 0
            yield token.string


def has_formatted_strings(source: str) -> bool:
    """Whether putting tokens apart would change a literal: f-strings are several tokens from Python 3.12 on."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return any(tokenize.tok_name[token.type].startswith("FSTRING") for token in tokens)


def _parses(path: Path) -> bool:
    data = path.read_bytes()
    try:
        data.decode()
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return b"\r" not in data and not data.startswith(b"\xef\xbb\xbf")
