"""A type annotation in words: `dict[str, int] | None` gives `a dict of strings to integers, or nothing`."""

import re
from functools import lru_cache

from codesum_pipeline.summaries.extractive.scanning import split_top
from codesum_pipeline.summaries.extractive.words import is_plural, spoken, with_article

_SIMPLE = {
    "str": ("a string", "strings"), "int": ("an integer", "integers"), "float": ("a number", "numbers"),
    "bool": ("true or false", "booleans"), "bytes": ("bytes", "bytes"), "None": ("nothing", "nothing"),
    "NoneType": ("nothing", "nothing"), "Any": ("any value", "any values"), "object": ("any object", "objects"),
    "Path": ("a path", "paths"), "datetime": ("a date and time", "dates and times"), "date": ("a date", "dates"),
    "timedelta": ("a duration", "durations"), "Self": ("an instance of its class", "instances of the class"),
    "NoReturn": ("nothing: it never returns", ""), "Never": ("nothing: it never returns", ""),
    "list": ("a list", "lists"), "dict": ("a dict", "dicts"), "set": ("a set", "sets"), "tuple": ("a tuple", "tuples"),
    "List": ("a list", "lists"), "Dict": ("a dict", "dicts"), "Set": ("a set", "sets"), "Tuple": ("a tuple", "tuples"),
    "Callable": ("a function", "functions"), "ndarray": ("an array", "arrays"), "Tensor": ("a tensor", "tensors"),
    "DataFrame": ("a data frame", "data frames"), "type": ("a class", "classes"), "Type": ("a class", "classes"),
    "complex": ("a complex number", "complex numbers"), "frozenset": ("a frozen set", "frozen sets"),
}  # fmt: skip
_CONTAINERS = {
    "list": "a list of {}", "List": "a list of {}", "Sequence": "a sequence of {}", "Iterable": "an iterable of {}",
    "Iterator": "an iterator over {}", "Generator": "a generator of {}",
    "AsyncIterator": "an asynchronous iterator over {}", "AsyncGenerator": "an asynchronous generator of {}",
    "AsyncIterable": "an asynchronous iterable of {}", "set": "a set of {}", "Set": "a set of {}",
    "frozenset": "a frozen set of {}", "FrozenSet": "a frozen set of {}", "AbstractSet": "a set of {}",
    "Collection": "a collection of {}", "deque": "a deque of {}", "MutableSequence": "a sequence of {}",
}  # fmt: skip
_MAPPINGS = {
    "dict": "dict",
    "Dict": "dict",
    "Mapping": "mapping",
    "MutableMapping": "mapping",
    "defaultdict": "dict",
    "OrderedDict": "dict",
}
_TRANSPARENT = frozenset(
    ("Awaitable", "Coroutine", "Final", "ClassVar", "Annotated", "Required", "NotRequired", "ReadOnly")
)
_GENERIC = re.compile(r"([\w.]+)\s*\[(.*)\]$", re.S)
_TYPE_VARIABLE = re.compile(r"^[tp] (?=\w)")
_DOTTED = re.compile(r"[^\W\d][\w.]*$")


@lru_cache(maxsize=8192)
def type_words(annotation: str) -> str:
    """A noun phrase for one value of the type; empty for a type too intricate to say."""
    return _words(annotation.strip().strip("\"'"), 0)


def _words(text: str, depth: int) -> str:
    if depth > 3 or not text or "…" in text:
        return ""
    members = [part.strip() for part in split_top(text, "|")]
    if len(members) > 1:
        return _union(members, depth)
    if match := _GENERIC.match(text):
        return _generic(match[1].rpartition(".")[2], [part.strip() for part in split_top(match[2])], depth)
    if text.startswith(("'", '"')):
        return _words(text.strip("\"'"), depth + 1)
    name = text.rpartition(".")[2]
    if not _DOTTED.match(text) or (name.isupper() and len(name) > 3):
        return ""
    if name in _SIMPLE:
        return _SIMPLE[name][0]
    said = _TYPE_VARIABLE.sub("", spoken(name.strip("_")))
    return with_article(said) if len(said) > 1 and (len(name) > 2) else ""


def _union(members: list[str], depth: int) -> str:
    parts = [_words(member, depth + 1) for member in members if member not in ("None", "NoneType")]
    if not parts or not all(parts) or len(parts) > 3:
        return ""
    said = " or ".join(dict.fromkeys(parts))
    return f"{said}, or nothing" if len(parts) < len(members) else said


def _generic(name: str, arguments: list[str], depth: int) -> str:
    if not arguments:
        return ""
    if name == "Optional":
        return _union([*arguments, "None"], depth)
    if name == "Union":
        return _union(arguments, depth)
    if name in _TRANSPARENT:
        return _words(arguments[-1] if name == "Coroutine" else arguments[0], depth + 1)
    if name in _CONTAINERS:
        inner = _plural(arguments[0], depth)
        return _CONTAINERS[name].format(inner if inner not in ("", "nothing") else "items")
    if name in _MAPPINGS:
        pair = [_plural(argument, depth) for argument in arguments[:2]]
        return f"a {_MAPPINGS[name]} of {' to '.join(pair)}" if len(pair) == 2 and all(pair) else f"a {_MAPPINGS[name]}"
    if name in ("tuple", "Tuple"):
        if arguments[-1] == "...":
            return f"a tuple of {_plural(arguments[0], depth) or 'items'}"
        if len(arguments) == 2 and arguments[0] == arguments[1] and (both := _plural(arguments[0], depth)):
            return f"a pair of {both}"
        parts = [_words(argument, depth + 1) for argument in arguments]
        return (
            f"a tuple of {', '.join(parts[:-1])} and {parts[-1]}" if 1 < len(parts) <= 4 and all(parts) else "a tuple"
        )
    if name == "Literal":
        return f"one of {', '.join(arguments[:4])}" if len(arguments) > 1 else f"always {arguments[0]}"
    if name in ("type", "Type"):
        inner = _words(arguments[0], depth + 1)
        return f"a class: {inner}" if inner else "a class"
    if name in ("Callable",):
        return "a function"
    return with_article(spoken(name)) if len(name) > 2 else ""


def _plural(text: str, depth: int) -> str:
    name = text.strip("\"' ").rpartition(".")[2]
    if name in _SIMPLE:
        return _SIMPLE[name][1]
    words = _words(text, depth + 1)
    if not words or " or " in words or words.startswith(("one of", "always")):
        return ""
    bare = words.removeprefix("a ").removeprefix("an ")
    if " of " in bare or " over " in bare:
        head, _, tail = bare.partition(" of ")
        return f"{head}s of {tail}" if tail else ""
    if is_plural(bare):
        return bare
    if bare.endswith(("s", "x", "ch", "sh")):
        return f"{bare}es"
    return f"{bare[:-1]}ies" if bare.endswith("y") and bare[-2:-1] not in "aeiou" else f"{bare}s"
