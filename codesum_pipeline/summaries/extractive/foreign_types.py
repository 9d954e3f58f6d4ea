"""A type of any language is put as Python writes it, so that one table has the words: `[]string` gives `list[str]`.

A type that has no such form stays as it is; what cannot be said is then left out.
"""

import re
from functools import lru_cache

from codesum_pipeline.summaries.extractive.word_lists import word_set

# What functions of these return is nothing.
NOTHING = word_set("void Void Unit unit () noreturn undefined !void")
_NAMES = {
    **dict.fromkeys(("string", "String", "&str", "NSString", "CharSequence", "string_view", "FilePath"), "str"),
    **dict.fromkeys(("Text", "std::string", "std::string_view", "binary"), "str"),
    **dict.fromkeys(
        (
            "integer", "Int", "Integer", "long", "Long", "short", "Short", "byte", "Byte", "uint", "ulong", "ushort",
            "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "i8", "i16", "i32", "i64", "i128",
            "u8", "u16", "u32", "u64", "u128", "usize", "isize", "size_t", "ssize_t", "int8_t", "int16_t", "int32_t",
            "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "Int32", "Int64", "UInt", "UInt32", "UInt64",
            "unsigned", "unsigned int", "unsigned long", "long long", "BigInteger", "bigint",
        ),
        "int",
    ),
    **dict.fromkeys(
        ("number", "Number", "double", "Double", "Float", "float32", "float64", "f32", "f64", "decimal", "BigDecimal"),
        "float",
    ),
    **dict.fromkeys(("boolean", "Boolean", "Bool"), "bool"),
    **dict.fromkeys(("void", "Void", "Unit", "unit", "()", "null", "nil", "undefined"), "None"),
    **dict.fromkeys(("never", "Never", "Nothing", "!", "noreturn"), "Never"),
    **dict.fromkeys(("any", "interface{}", "unknown", "mixed", "dynamic", "anytype", "anyopaque", "term"), "Any"),
    **dict.fromkeys(("Object", "AnyObject", "AnyRef", "id"), "object"),
    **dict.fromkeys(("[]byte", "&[u8]", "Vec<u8>", "ByteArray", "byte[]", "[]const u8", "[]u8", "Data"), "bytes"),
    **dict.fromkeys(("callable", "function", "Function", "Closure", "Runnable", "Action"), "Callable"),
    **dict.fromkeys(("PathBuf", "&Path", "Path"), "Path"),
    **dict.fromkeys(("Duration", "time.Duration", "TimeSpan"), "timedelta"), "Array": "list", "array": "list",
    "Error": "Error_", "error": "Error_", "table": "Table", "self": "Self", "static": "Self", "this": "Self",
    "Task": "None", "ValueTask": "None",
}  # fmt: skip
# Beyond this a type is too intricate to say.
_MAX_CHARS = 400
_GENERICS = {
    **dict.fromkeys(
        ("Array", "Vec", "vector", "List", "IList", "ArrayList", "MutableList", "ReadonlyArray", "IReadOnlyList"),
        "list",
    ),
    **dict.fromkeys(("Seq", "ArraySeq", "LazyList", "Sequence"), "Sequence"),
    **dict.fromkeys(("HashSet", "MutableSet", "BTreeSet", "ISet", "unordered_set", "Set", "ReadonlySet"), "set"),
    **dict.fromkeys(("Iterable", "IEnumerable", "Collection", "ICollection", "MutableCollection"), "Iterable"),
    **dict.fromkeys(("Iterator", "IntoIterator"), "Iterator"),
    **dict.fromkeys(
        (
            "Map", "HashMap", "BTreeMap", "Record", "Dictionary", "IDictionary", "MutableMap", "unordered_map", "map",
            "ReadonlyMap", "IReadOnlyDictionary",
        ),
        "Mapping",
    ),
    **dict.fromkeys(("Option", "Optional", "optional", "Maybe", "Nullable"), "Optional"),
    **dict.fromkeys(
        (
            "Promise", "Task", "ValueTask", "Future", "CompletableFuture", "PromiseLike", "Box", "Rc", "Arc", "Cow",
            "shared_ptr", "unique_ptr", "RefCell", "Readonly", "Partial", "IO", "Result",
        ),
        "Awaitable",
    ),
    **dict.fromkeys(("Func", "Action", "Predicate", "Function", "BiFunction", "Supplier", "Consumer"), "Callable"),
    **dict.fromkeys(("Class", "KClass"), "type"),
}  # fmt: skip
_MARKS = re.compile(
    r"^(?:(?:const|final|readonly|mut|dyn|impl|any|some|inout|borrowing|consuming|struct|comptime|out|ref|in|params)\s+"
    r"|@\w+\s+|&(?:'\w+\s+)?|\*+|\.\.\.|\\)+(?=\S)"
)
_TAIL = re.compile(r"(?:\s*(?:[&*]+|const|!!))+$")
_LIFETIME = re.compile(r"<\s*'\w+\s*>|'\w+\s*,\s*")
_BOUND = re.compile(r"^(?:\?\s*(?:extends|super)|out|in)\s+")
_GO_MAP = re.compile(r"map\[([^\[\]]*)\](.+)$", re.S)
_ARRAY_BEFORE = re.compile(r"\[(?:\d*|\*|:\w+)\](?:const\s+)?(\S.*)$", re.S)
_SLICE = re.compile(r"\[([^\[\]:;]+)(?:;[^\[\]]*)?\]$")
_SWIFT_MAP = re.compile(r"\[([^\[\]:]+):\s*([^\[\]]+)\]$")
_GENERIC = re.compile(r"([\w.:\\$]+)\s*[<\[](.*)[>\]]$", re.S)
_FUNCTION = re.compile(r"^(?:func|fn|fun|async)?\s*\(.*|.*(?:=>|->).*", re.S)
_ZIG_ERROR = re.compile(r"^(?:error\s*\{[^{}]*\}|[\w.]+)?\s*!(?=\S)")
_STRING_LITERAL = re.compile(r"""(?:"[^"]*"|'[^']*')$""")
_SEPARATOR = re.compile(r"::|\\")


@lru_cache(maxsize=8192)
def as_python(written: str, depth: int = 0) -> str:
    """The type in Python's notation."""
    text = _LIFETIME.sub("", written.strip())
    if text in _NAMES:
        return _NAMES[text]
    if depth > 4 or not text or len(text) > _MAX_CHARS:
        return "…"
    if len(members := _split(text, "|")) > 1:
        if all(map(_STRING_LITERAL.match, members)):
            return f"Literal[{', '.join(members)}]"
        return " | ".join(as_python(member, depth + 1) for member in members)
    return _shaped(text, depth) or _plain_name(text, depth)


def _shaped(text: str, depth: int) -> str:
    """A type with brackets or marks around it; empty for a name."""
    if text.startswith("?") or text.endswith("?"):
        return f"Optional[{as_python(text.strip('?'), depth + 1)}]"
    if text.endswith("[]"):
        return f"list[{as_python(text[:-2], depth + 1)}]"
    if text.startswith("(") and text.endswith(")") and "," not in text and not re.search("=>|->", text):
        return as_python(text[1:-1], depth + 1)
    if text.startswith("(") and text.endswith(")") and not re.search("=>|->", text):
        parts = [as_python(part.split(" ")[-1], depth + 1) for part in _split(text[1:-1], ",")]
        return f"tuple[{', '.join(parts)}]"
    if text.startswith("{"):
        return "Object_"
    if match := _GO_MAP.match(text) or _SWIFT_MAP.match(text):
        return f"Mapping[{as_python(match[1], depth + 1)}, {as_python(match[2], depth + 1)}]"
    if match := _ARRAY_BEFORE.match(text) or _SLICE.match(text):
        return f"list[{as_python(match[1], depth + 1)}]"
    if match := _GENERIC.match(text):
        return _generic(_SEPARATOR.sub(".", match[1]).rpartition(".")[2], match[2], depth)
    if _FUNCTION.match(text):
        return "Callable"
    if match := _ZIG_ERROR.match(text):
        return as_python(text[match.end() :], depth + 1)
    return ""


def _generic(name: str, arguments: str, depth: int) -> str:
    parts = [as_python(_BOUND.sub("", part.strip()), depth + 1) for part in _split(arguments, ",")]
    if _GENERICS.get(name) == "Awaitable":
        return parts[0] if parts else "…"
    return f"{_GENERICS[name]}[{', '.join(parts)}]" if name in _GENERICS and parts else name


def _plain_name(text: str, depth: int) -> str:
    bare = _TAIL.sub("", _MARKS.sub("", text)).strip()
    if bare != text:
        if bare == "char" and "*" in text:
            return "str"
        return as_python(bare, depth + 1)
    name = _SEPARATOR.sub(".", text).rpartition(".")[2]
    return _NAMES.get(name, name)


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators outside brackets, those of generics included."""
    parts, depth, start = [], 0, 0
    for position, char in enumerate(text):
        is_arrow = char == ">" and text[position - 1 : position] in ("-", "=")
        depth += (char in "([{<") - (char in ")]}" or (char == ">" and not is_arrow))
        if char == separator and not depth:
            parts.append(text[start:position].strip())
            start = position + 1
    return [part for part in (*parts, text[start:].strip()) if part]
