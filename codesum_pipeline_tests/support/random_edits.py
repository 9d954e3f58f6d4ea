"""Random edits: each is an operation and a seed, so that a failing sequence shrinks to a short one."""

import ast
import random
import re
from collections.abc import Callable

from codesum_pipeline_tests.support.shop import SHOP, Files

Operation = Callable[[Files, random.Random], Files]

_NAMES = ("convert", "total", "audit", "ship", "refund", "label", "_hidden", "get_price")
_BODIES = (
    "    return round_cents(1.5)\n",
    '    """Count what is left."""\n    left = [part for part in (1, 2, 3) if part > 1]\n    return len(left)\n',
    "    for place in range(3):\n        if place:\n            raise ValueError(place)\n",
    '    """Sell a thing."""\n    cart = Cart("x")\n    cart.add(None)\n    return cart.total()\n',
    "    pass\n",
    "    with open('takings.txt') as file:\n        return convert(file.read(), 2.0)\n",
)
_IMPORTS = "from shop.cart import Cart\nfrom shop.money import convert, round_cents\n"


def add_function(files: Files, chance: random.Random) -> Files:
    path = chance.choice(_python(files))
    source = f"\n\ndef {chance.choice(_NAMES)}(argument={chance.randrange(9)}):\n{chance.choice(_BODIES)}"
    head = _IMPORTS if chance.random() < 0.5 and "round_cents" not in files[path] else ""
    return {**files, path: head + files[path] + source}


def add_class(files: Files, chance: random.Random) -> Files:
    path = chance.choice(_python(files))
    base = chance.choice(("", "(Record)", "(Cart)", "(Named, Record)"))
    body = chance.choice(_BODIES).replace("\n    ", "\n        ")
    return {
        **files,
        path: f"from shop.base import Named, Record\n{files[path]}\n\nclass Extra{chance.randrange(3)}{base}:\n"
        f"    def {chance.choice(_NAMES)}(self):\n    {body}",
    }


def delete_definition(files: Files, chance: random.Random) -> Files:
    return _with_definition(files, chance, lambda lines, start, end: [*lines[:start], *lines[end:]])


def duplicate_definition(files: Files, chance: random.Random) -> Files:
    return _with_definition(files, chance, lambda lines, start, end: [*lines, "\n\n", *lines[start:end]])


def move_definition(files: Files, chance: random.Random) -> Files:
    path, span = _definition(files, chance)
    if span is None:
        return files
    lines = files[path].splitlines(keepends=True)
    target = chance.choice([other for other in _python(files) if other != path] or [path])
    moved = {**files, path: "".join([*lines[: span[0]], *lines[span[1] :]])}
    return {**moved, target: moved[target] + "\n\n" + "".join(lines[span[0] : span[1]])}


def change_number(files: Files, chance: random.Random) -> Files:
    path = chance.choice(_python(files))
    found = list(re.finditer(r"\b\d+\b", files[path]))
    if not found:
        return files
    match = chance.choice(found)
    return {**files, path: files[path][: match.start()] + str(chance.randrange(100)) + files[path][match.end() :]}


def comment(files: Files, chance: random.Random) -> Files:
    path = chance.choice(_python(files))
    lines = files[path].splitlines(keepends=True)
    place = chance.randrange(len(lines) + 1)
    return {**files, path: "".join([*lines[:place], f"# note {chance.randrange(99)}\n", *lines[place:]])}


def docstring(files: Files, chance: random.Random) -> Files:
    path = chance.choice(_python(files))
    found = list(re.finditer(r'"""[^"]+"""', files[path]))
    if not found:
        return files
    match = chance.choice(found)
    text = chance.choice(('"""Now it does another thing."""', '"""Ship it.\n\n    Slowly.\n    """', '""""""'))
    return {**files, path: files[path][: match.start()] + text + files[path][match.end() :]}


def break_syntax(files: Files, chance: random.Random) -> Files:
    path = chance.choice(_python(files))
    lines = files[path].splitlines(keepends=True)
    place = chance.randrange(len(lines) + 1)
    return {**files, path: "".join([*lines[:place], "broken (((:\n", *lines[place:]])}


def repair_syntax(files: Files, chance: random.Random) -> Files:
    return {path: content.replace("broken (((:\n", "") for path, content in files.items()}


def rename_word(files: Files, chance: random.Random) -> Files:
    old, new = chance.sample(("identity", "reference", "amount", "total", "Record", "Cart", "Basket", "lines"), 2)
    return {
        path: re.sub(rf"\b{old}\b", new, content) if path.endswith(".py") else content
        for path, content in files.items()
    }


def rename_file(files: Files, chance: random.Random) -> Files:
    path = chance.choice(sorted(files))
    folder, _, name = path.rpartition("/")
    target = (
        chance.choice(("", "shop/", "shop/deep/er/", f"{folder}/" if folder else "")) + f"r{chance.randrange(5)}_{name}"
    )
    if any(_clash(target, other) for other in files):
        return files
    return {target if other == path else other: content for other, content in files.items()}


def rename_folder(files: Files, chance: random.Random) -> Files:
    folders = sorted({path.rpartition("/")[0] for path in files if "/" in path})
    if not folders:
        return files
    old = chance.choice(folders)
    new = chance.choice(("shop/moved", "moved", "shop/orders/moved"))
    if any(_clash(new, path) for path in files):
        return files
    return {
        new + path.removeprefix(old) if path.startswith(f"{old}/") else path: content for path, content in files.items()
    }


def change_kind(files: Files, chance: random.Random) -> Files:
    """A class becomes a function of the same name, or the other way round."""
    path = chance.choice(_python(files))
    found = list(re.finditer(r"^(class|def) (\w+)[^\n]*:$", files[path], re.MULTILINE))
    if not found:
        return files
    match = chance.choice(found)
    head = f"def {match[2]}(self):" if match[1] == "class" else f"class {match[2]}:"
    return {**files, path: files[path][: match.start()] + head + files[path][match.end() :]}


def file_to_folder(files: Files, chance: random.Random) -> Files:
    path = chance.choice(sorted(files))
    return {f"{other}/inner.py" if other == path else other: content for other, content in files.items()}


def change_token(files: Files, chance: random.Random) -> Files:
    """Delete, double or split one token: most of the time the file then does not parse."""
    path = chance.choice(_python(files))
    found = list(re.finditer(r"\w+|[^\w\s]+", files[path]))
    if not found:
        return files
    match = chance.choice(found)
    token = match[0]
    changed = chance.choice(("", f"{token} {token}", " ".join(token) if not token.isalnum() else token[::-1]))
    return {**files, path: files[path][: match.start()] + changed + files[path][match.end() :]}


def delete_file(files: Files, chance: random.Random) -> Files:
    gone = chance.choice(sorted(files))
    return {path: content for path, content in files.items() if path != gone} if len(files) > 6 else files


def bring_back(files: Files, chance: random.Random) -> Files:
    path = chance.choice(sorted(SHOP))
    return files if any(_clash(path, other) for other in files if other != path) else {**files, path: SHOP[path]}


def edit_readme(files: Files, chance: random.Random) -> Files:
    folder = chance.choice(sorted({path.rpartition("/")[0] for path in files}))
    path = f"{folder}/README.md" if folder else "README.md"
    return {**files, path: f"# {chance.choice(('Shop', 'Store'))}\n\nNumber {chance.randrange(4)} of many.\n"}


def add_odd_file(files: Files, chance: random.Random) -> Files:
    name, content = chance.choice(
        (
            ("empty.py", ""),
            ("data.bin", "\0\1\2"),
            ("ü ber.py", "def grüße():\n    return 'ß'\n"),
            (".gitignore", "*.log\n"),
            ("vendor/lib.py", "def vendored(a):\n    if a:\n        return a\n"),
            ("notes.txt", "Words only.\n" * chance.randrange(1, 4)),
        )
    )
    return {**files, name: content}


OPERATIONS: tuple[Operation, ...] = (
    add_function,
    add_class,
    delete_definition,
    duplicate_definition,
    move_definition,
    change_number,
    comment,
    docstring,
    break_syntax,
    repair_syntax,
    rename_word,
    rename_file,
    rename_folder,
    change_kind,
    file_to_folder,
    change_token,
    delete_file,
    bring_back,
    edit_readme,
    add_odd_file,
)


def change(files: Files, operation: Operation, chance: random.Random) -> Files:
    """The files after an operation; as they were where it would need a file and a folder of one name."""
    changed = operation(files, chance)
    folders = {folder for path in changed for folder in _folders(path)}
    return files if folders & changed.keys() else changed


def _folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def _python(files: Files) -> list[str]:
    found = sorted(path for path in files if path.endswith(".py"))
    return found or sorted(files)


def _clash(new: str, path: str) -> bool:
    return new == path or path.startswith(f"{new}/") or new.startswith(f"{path}/")


def _definition(files: Files, chance: random.Random) -> tuple[str, tuple[int, int] | None]:
    path = chance.choice(_python(files))
    try:
        tree = ast.parse(files[path])
    except (SyntaxError, ValueError):
        return path, None
    nodes = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    if not nodes:
        return path, None
    node = chance.choice(nodes)
    return path, (node.lineno - 1, node.end_lineno or node.lineno)


def _with_definition(files: Files, chance: random.Random, change: Callable[[list[str], int, int], list[str]]) -> Files:
    path, span = _definition(files, chance)
    if span is None:
        return files
    return {**files, path: "".join(change(files[path].splitlines(keepends=True), *span))}
