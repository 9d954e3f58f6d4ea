"""A type as it is written, in words: a list of orders, a map from texts to prices, a callback; nothing where it names
nothing that can be read."""

import re
from functools import lru_cache

from msgspec import Struct

from codesum_pipeline.texts.summaries.author_texts.plain_sentences import make_printable
from codesum_pipeline.texts.summaries.extractive.noun_phrases import is_known, is_phrase, is_plural, pluralize, with_a
from codesum_pipeline.texts.summaries.extractive.words import name_in_words, name_words

TEXT, NUMBER, TRUTH = "text", "number", "true or false"
_BASIC = {
    **dict.fromkeys("string str char char* nsstring charsequence text &str wxstring qstring".split(), TEXT),
    **dict.fromkeys(
        "int integer number long short float double decimal byte uint size_t bigdecimal bigint i8 i16 i32 i64 u8 u16 u32 "
        "u64 usize isize f32 f64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 cgfloat int8_t int16_t "
        "int32_t int64_t uint8_t uint16_t uint32_t uint64_t".split(),
        NUMBER,
    ),
    **dict.fromkeys("bool boolean true false".split(), TRUTH),
}
_OPTIONAL = frozenset(("Option", "Optional", "Maybe", "Nullable"))
_LISTS = frozenset((
    "List", "Array", "Vec", "Set", "Seq", "Collection", "Iterable", "ArrayList", "MutableList", "IEnumerable", "IList",
    "ICollection", "IReadOnlyList", "IReadOnlyCollection", "LinkedList", "Sequence", "HashSet", "MutableSet", "list",
    "set", "frozenset", "Vector", "vector", "QList", "ImmutableList", "ReadonlyArray", "VecDeque", "BTreeSet",
))  # fmt: skip
_MAPS = frozenset((
    "Map", "HashMap", "Record", "MutableMap", "Dictionary", "IDictionary", "dict", "Mapping", "BTreeMap", "Hash",
    "LinkedHashMap", "TreeMap", "ConcurrentHashMap", "QMap", "map", "unordered_map", "IReadOnlyDictionary",
    "ConcurrentDictionary", "ImmutableMap",
))  # fmt: skip
# What such a type is about is what it holds.
_SEE_THROUGH = frozenset((
    "Box", "Arc", "Rc", "Promise", "Future", "Task", "Single", "Readonly", "Cow", "ValueTask", "shared_ptr",
    "unique_ptr", "Lazy", "Mutex", "RwLock", "Required", "Deferred", "CompletableFuture", "ActionResult",
))  # fmt: skip
_OF_MANY = frozenset("flow stream observable page channel iterator queue stack pool publisher subject batch".split())
_CALLED = ("=>", "->", "func(", "(*", "Fn(", "Func<", "Action<")
_NOTHING = re.compile(r" ?\| ?(?:null|undefined|None)\b|\b(?:null|undefined|None) ?\| ?")
_BEFORE = re.compile(r"(?:readonly|const|final|mut|struct|enum|private|dyn|out|in|@\w+) |&(?:'\w+ )?(?:mut )?|\*")
_GENERIC = re.compile(r"([\w.:]+)\s?[<\[](.+)[>\]]")
_TEXTS = re.compile(r"[\"'][^\"'|]{1,30}[\"'](?: ?\| ?[\"'][^\"'|]{1,30}[\"']){1,3}")
_PLAIN = re.compile(r"[A-Za-z_][\w.:]{0,80}")
# The class around such a type says what it is of.
_PARTS = frozenset(("factory", "builder", "type", "kind", "state", "status", "config", "options", "params", "data"))
_UNTOLD = frozenset(("any", "unknown", "object", "void", "unit", "never", "self", "this", "t", "auto", "var", "val"))
# How such a type is used, not what it is.
_FORMS = frozenset(("dto", "dtos", "impl", "entity"))
_MAX_CHARS, _DEEPEST, _MOST_WORDS = 160, 3, 6


class TypePhrase(Struct, frozen=True):
    """A type: `said` is one of it without an article, or as many as there are; `shape` how it holds that."""

    said: str
    shape: str = ""
    is_optional: bool = False

    @property
    def is_basic(self) -> bool:
        return not self.shape and self.said in (TEXT, NUMBER, TRUTH)


@lru_cache(maxsize=65536)
def type_phrase(written: str, depth: int = 0) -> TypePhrase | None:
    """A written type in words; None where they would not be certain."""
    text = make_printable(written).strip()
    if not text or len(text) > _MAX_CHARS or depth > _DEEPEST:
        return None
    bare = _NOTHING.sub("", text)
    is_optional = bare != text or bare.endswith("?")
    bare = bare.rstrip("?!* ").strip()
    while found := _BEFORE.match(bare):
        bare = bare[found.end() :]
    if any(mark in bare for mark in _CALLED):
        return TypePhrase("callback", "callback", is_optional)
    found = _read(bare, depth)
    return TypePhrase(found.said, found.shape, found.is_optional or is_optional) if found else None


def _read(bare: str, depth: int) -> TypePhrase | None:
    if bare.endswith("[]") or bare.startswith("[]"):
        return _many(bare.removesuffix("[]").removeprefix("[]"), depth)
    if bare.startswith("[") and bare.endswith("]"):
        key, colon, value = bare[1:-1].partition(":")
        return _mapping(key, value, depth) if colon else _many(bare[1:-1], depth)
    if bare.startswith("map[") and "]" in bare:
        key, _, value = bare[4:].partition("]")
        return _mapping(key, value, depth)
    if _TEXTS.fullmatch(bare):
        return TypePhrase(" or ".join(f'"{part.strip(chr(32) + chr(39) + chr(34))}"' for part in bare.split("|")), "choice")
    if generic := _GENERIC.fullmatch(bare):
        return _generic(generic[1], generic[2], depth)
    if basic := _BASIC.get(bare.lower().removeprefix("system.")):
        return TypePhrase(basic)
    return TypePhrase(words) if (words := _own_words(bare)) else None


def _generic(outer: str, inner: str, depth: int) -> TypePhrase | None:
    name = outer.replace("::", ".").rpartition(".")[2]
    if name in _MAPS and ("," in inner):
        key, _, value = inner.partition(",")
        return None if "<" in key or "[" in key else _mapping(key, value, depth)
    if "," in inner:
        return None
    if name in _LISTS:
        return _many(inner, depth)
    of = type_phrase(inner, depth + 1)
    if of is None:
        return None
    if name in _OPTIONAL:
        return TypePhrase(of.said, of.shape, True)
    if name in _SEE_THROUGH:
        return of
    words = _own_words(name)
    held = many_of(of) if words.rpartition(" ")[2] in _OF_MANY or of.shape else one_of(of.said)
    return TypePhrase(f"{words} of {held}") if words and of.said != TRUTH else None


def _many(inner: str, depth: int) -> TypePhrase | None:
    of = type_phrase(inner, depth + 1)
    if inner.strip() in ("u8", "byte", "uint8", "Byte", "UInt8", "uint8_t"):
        return TypePhrase("bytes", "list")
    return TypePhrase(many_of(of), "list") if of and of.shape != "choice" and of.said != TRUTH else None


def _mapping(key: str, value: str, depth: int) -> TypePhrase | None:
    one, of = type_phrase(key, depth + 1), type_phrase(value, depth + 1)
    if one is None or of is None or one.shape or of.shape == "choice" or TRUTH in (one.said, of.said):
        return None
    return TypePhrase(f"{many_of(one)} to {many_of(of)}", "map")


def many_of(one: TypePhrase) -> str:
    """Several of a type: orders, lists of orders, maps from texts to prices."""
    if one.shape == "list":
        return f"lists of {one.said}"
    if one.shape == "map":
        return f"maps from {one.said}"
    if one.said == TEXT:
        return "texts"
    head, of, rest = one.said.partition(" of ")
    first, _, last = head.rpartition(" ")
    return f"{first} {pluralize(last)}".strip() + of + rest


def _own_words(name: str) -> str:
    """The words of a type of the code's own; "" of one that says nothing, or that cannot be read."""
    if not _PLAIN.fullmatch(name):
        return ""
    *around, last = name.replace("::", ".").split(".")
    if around and around[-1][:1].isupper() and name_words(last)[-1:] and name_words(last)[-1] in _PARTS:
        last = f"{around[-1]}_{last}"
    spoken = name_in_words(last)
    words = tuple(word for word in spoken.lower().split(" ") if word not in _FORMS) or ("",)
    if last.lower() in _UNTOLD or len(last) < len("ab") or (last.isupper() and len(last) < len("abcd")):
        return ""
    is_read = is_phrase(words) or (is_phrase(words[-1:]) and len(words) <= _MOST_WORDS and all(map(_is_said, words)))
    return " ".join(word for word in spoken.split(" ") if word.lower() not in _FORMS) if is_read else ""


def _is_said(word: str) -> bool:
    """Whether a word of a type can be read, as far as its letters show."""
    return is_known(word) or (word.isalpha() and len(word) >= len("word") and not set(word).isdisjoint("aeiouy"))


def one_of(said: str) -> str:
    """One such thing with its article; several of them without."""
    return said if is_plural(said.partition(" of ")[0].rpartition(" ")[2]) else with_a(said)
