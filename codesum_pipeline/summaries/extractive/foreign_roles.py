"""What other languages than Python tell by names, modifiers and types of parameters."""

import re

from codesum_pipeline.model.symbols import Parameter
from codesum_pipeline.summaries.inputs import ClassInput, FunctionInput

_CONSTRUCTORS = frozenset(("constructor", "init", "__construct", "initialize", "this"))
_SPECIAL = {
    "deinit": "__del__", "__destruct": "__del__", "toString": "__str__", "ToString": "__str__", "__toString": "__str__",
    "to_s": "__str__", "equals": "__eq__", "Equals": "__eq__", "hashCode": "__hash__", "GetHashCode": "__hash__",
    "__get": "__getattr__", "__set": "__setattr__", "__invoke": "__call__", "operator()": "__call__",
    "operator==": "__eq__", "operator!=": "__ne__", "operator<": "__lt__", "operator[]": "__getitem__",
    "inspect": "__repr__", "__tostring": "__str__", "__index": "__getattr__", "__call": "__call__",
}  # fmt: skip
_GO_TEST = re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])")
_GO_BENCHMARK = re.compile(r"Benchmark_?([^a-z].*)")
_TESTING = re.compile(r"\*testing\.|\btesting\.TB\b")
# Parameters whose type alone tells what they are for.
_KNOWN = {
    "*testing.T": "What the test reports to: its state and its log.",
    "*testing.B": "What the benchmark reports to: its timer and its log.",
    "*testing.F": "What the fuzz test reports to, and its seeds.",
    "*testing.M": "The tests of the package, to run.",
    "context.Context": "The context: deadlines, cancellation and values of the request.",
    "http.ResponseWriter": "Where the HTTP response is written to.",
    "*http.Request": "The HTTP request to answer.",
    "CancellationToken": "Tells when the work is cancelled.",
    "std.mem.Allocator": "Allocates the memory that is needed.",
    "Allocator": "Allocates the memory that is needed.",
    "&mut std::fmt::Formatter<'_>": "Where the formatted text is written to.",
    "&mut fmt::Formatter<'_>": "Where the formatted text is written to.",
    "&mut fmt::Formatter": "Where the formatted text is written to.",
}
_KINDS = {
    "interface": "interface", "struct": "struct", "trait": "trait", "protocol": "protocol", "enum": "enumeration",
    "union": "union", "module": "module", "namespace": "namespace", "record": "record", "object": "object",
    "extension": "extension", "actor": "actor", "impl": "implementation", "defmodule": "module", "type": "type",
    "typealias": "type", "typedef": "type", "defprotocol": "protocol", "annotation": "annotation", "data": "data type",
    "newtype": "type", "instance": "instance",
}  # fmt: skip
_SIGNATURE_WORD = re.compile(r"@\w+(?:\([^()]*\))?|[A-Za-z_]+")


def known_parameter(parameter: Parameter) -> str:
    """What a parameter is for where its type says it; empty elsewhere."""
    return _KNOWN.get(parameter.type or "", "")


def special_name(given: FunctionInput, outer: str | None) -> str:
    """Python's name for a method that its language knows by name; empty for any other."""
    if outer is None:
        return ""
    if is_constructor(given, outer):
        return "__init__"
    return "__del__" if given.name.startswith("~") else _SPECIAL.get(given.name, "")


def is_constructor(given: FunctionInput, outer: str | None) -> bool:
    """Whether it makes an instance: it has the name of its class, or the name its language gives to makers."""
    return outer is not None and (given.name == outer or given.name in _CONSTRUCTORS)


def is_test(given: FunctionInput) -> bool:
    """Whether it is marked as a test, or named as its language's test runner wants."""
    if "test" in given.modifiers:
        return True
    if given.language == "go":
        taken = any(_TESTING.search(parameter.type or "") for parameter in given.facts.parameters)
        return taken and _GO_TEST.match(given.name) is not None
    return given.language in ("swift", "php", "ruby", "java", "kotlin") and bool(re.match(r"test(?![a-z])", given.name))


def tested_name(name: str) -> str:
    """A test's name without what only says that it is one, so that a sentence can be made of it."""
    bare = re.sub(r"^(?:[Tt]est(?:That)?|Benchmark|Fuzz|Example)_?(?![a-z])", "", name)
    return f"test_{bare}" if bare else name


def measured_name(given: FunctionInput) -> str:
    """What a benchmark of Go measures, as it is named; empty for any other function."""
    found = _GO_BENCHMARK.fullmatch(given.name) if given.language == "go" else None
    return found[1] if found else ""


def kind_of(given: ClassInput) -> str:
    """What a type is called in its language, from the first word of its signature that tells; else a class."""
    found = [_KINDS[word] for word in _SIGNATURE_WORD.findall(given.signature.partition("(")[0]) if word in _KINDS]
    if "class" in given.signature.split() or not found:
        return "class"
    # `type Store struct` is a struct, `type Id = string` a type.
    return next((kind for kind in found if kind not in ("type", "data type")), found[0])


def field_name(field: str, language: str) -> str:
    """The name of a field as written: `Request *http.Request` in Go, `name: string` elsewhere."""
    name = field.partition(":")[0].strip()
    name = name.partition(" ")[0] if language == "go" else name.rpartition(" ")[2]
    return name.strip("@$*&")
