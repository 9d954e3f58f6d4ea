"""Small changes to the spelling of a Python program, as formatters and people make them.

Whether one changes the program is for `ast` to say.
"""

import ast
import io
import random
import re
import tokenize
import warnings
from collections.abc import Callable, Iterator

# From, up to, and what stands there instead; as bytes of the source.
Edit = tuple[int, int, bytes]


def edits(kind: str, source: str, seed: int) -> list[Edit]:
    """All changes of one kind, in some order."""
    found = list(KINDS[kind](source))
    return random.Random(seed).sample(found, len(found))


def edited(source: str, edit: Edit) -> str:
    """The source with one change made."""
    start, end, text = edit
    data = source.encode()
    return (data[:start] + text + data[end:]).decode()


def brackets(source: str) -> Iterator[Edit]:
    """Brackets around each expression."""
    starts = _row_starts(source)
    data = source.encode()
    tree = ast.parse(source)
    # What is in formatted texts has no place of its own before Python 3.12, and a docstring's margin is layout.
    left_out = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    left_out |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    # No formatter puts brackets around a part of a pattern; after the star of a target the grammar reads none.
    left_out |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Starred)}
    tuples = [node for node in ast.walk(tree) if isinstance(node, ast.Tuple)]
    left_out |= {id(node) for node in tuples if any(isinstance(item, ast.Starred) for item in node.elts)}
    left_out |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.pattern) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and id(node) not in left_out and not _is_soft(node):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            yield start, end, b"(" + data[start:end] + b")"


def no_brackets(source: str) -> Iterator[Edit]:
    """Each pair of brackets taken away."""
    data = source.encode()
    opened: list[int] = []
    for kind, text, start, end in _tokens(source):
        if kind == tokenize.OP and text in "([{":
            opened.append(start)
        elif kind == tokenize.OP and text in ")]}":
            first = opened.pop()
            # A star without brackets around it is one that the grammar reads otherwise.
            if text == ")" and b"*" not in data[first:end]:
                yield first, end, b" " + data[first + 1 : start] + b" "


def commas(source: str) -> Iterator[Edit]:
    """A comma before each closing bracket, or none where there is one."""
    before = ""
    last = (0, 0)
    for kind, text, start, end in _tokens(source):
        if kind == tokenize.OP and text in ")]}":
            yield (*last, b"") if before == "," else (start, start, b",")
        before, last = text, (start, end)


def texts(source: str) -> Iterator[Edit]:
    """Each text between other quotes, with another prefix, in two pieces, or with escapes."""
    for kind, text, start, end in _tokens(source):
        if kind != tokenize.STRING:
            continue
        match = re.fullmatch(r"""([A-Za-z]*)(['"]+?)(.*)\2""", text, re.DOTALL)
        assert match is not None
        prefix, _, body = match.groups()
        # Quotes in the fields of a formatted text keep those around it as they are.
        if "f" in prefix.lower() and re.search(r"""\{[^{}]*['"]""", body):
            continue
        forms = [f"{mark}{prefix}{q}{body}{q}" for q in ("'", '"', "'''", '"""') for mark in ("", "u", "R")]
        forms += [f"{prefix.upper()}{text[len(prefix) :]}", f"{prefix}'\\x4A' {text}"]
        # A docstring in pieces has no margin that is layout.
        is_alone = not source.encode()[:start].decode().rpartition("\n")[2].strip()
        is_raw = "r" in prefix.lower() and "\\" in text
        if "\n" not in text and not is_alone and not is_raw:
            forms += [f"{text} {prefix}''", f'{prefix}"{body[:1]}" {prefix}"{body[1:]}"']
        forms += [re.sub(r"""(?<!\\)['"](?!$)""", r"\\\g<0>", text)]
        yield from ((start, end, form.encode()) for form in forms)


def numbers(source: str) -> Iterator[Edit]:
    """Each number with other letters, with marks between its digits, or as another number."""
    for kind, text, start, end in _tokens(source):
        if kind == tokenize.NUMBER:
            forms = (text.upper(), text.lower(), text + "0", text.replace(".", ".0"), "0_0" + text, text.rstrip("0"))
            yield from ((start, end, form.encode() + b" ") for form in forms)


def heads(source: str) -> Iterator[Edit]:
    """Brackets of no bases, taken away or put in."""
    for match in re.finditer(r"class \w+(\(\))?:", source):
        start, end = (len(source[:at].encode()) for at in match.span())
        yield start, end, match.group().replace("()", "").replace(":", "():" * (match[1] is None) or ":").encode()


KINDS: dict[str, Callable[[str], Iterator[Edit]]] = {
    "brackets": brackets,
    "no brackets": no_brackets,
    "commas": commas,
    "texts": texts,
    "numbers": numbers,
    "no bases": heads,
}


def _is_soft(node: ast.expr) -> bool:
    """A name that begins a statement where it has no brackets."""
    return isinstance(node, ast.Name) and node.id in ("print", "exec", "match", "case", "type")


def parses(source: str) -> bool:
    """Whether this is a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(source)
        except (SyntaxError, ValueError):
            return False
    return True


def _row_starts(source: str) -> list[int]:
    starts = [0]
    for row in source.split("\n"):
        starts.append(starts[-1] + len(row.encode()) + 1)
    return starts


def _tokens(source: str) -> Iterator[tuple[int, str, int, int]]:
    """Kind, text, and the bytes where each token begins and ends."""
    rows, starts = source.split("\n"), _row_starts(source)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        start, end = (
            starts[line - 1] + len((rows[line - 1] if line <= len(rows) else "")[:column].encode())
            for line, column in (token.start, token.end)
        )
        if token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE):
            yield token.type, token.string, start, end
