"""A type as it is written, in words: a list of orders, a map from texts to prices, a callback; nothing where it names
nothing that can be read."""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable
from codesum_pipeline.evidence.extractive.class_words import class_words
from codesum_pipeline.evidence.extractive.noun_phrases import is_known, is_phrase, is_plural, pluralize, with_a
from codesum_pipeline.evidence.extractive.verb_forms import grammar_words
from codesum_pipeline.evidence.extractive.words import name_in_words

TEXT, NUMBER, TRUTH = "text", "number", "true or false"
_BASIC = {
    **dict.fromkeys(class_words("text_types"), TEXT),
    **dict.fromkeys(class_words("number_types"), NUMBER),
    **dict.fromkeys(class_words("truth_types"), TRUTH),
}
_BYTES = class_words("byte_types")
_OPTIONAL = class_words("optional_types")
_LISTS = class_words("list_types")
_MAPS = class_words("map_types")
_SEE_THROUGH = class_words("see_through_types")
_OF_MANY = class_words("of_many")
_UNTOLD = class_words("untold_types")
_FORMS = class_words("type_forms")
_MASS = grammar_words("mass") - {TEXT}
_CALLED = ("=>", "->", "func(", "(*", "Fn(", "Func<", "Action<")
_MAYBE_CALLED = re.compile(r"\((?:suspend )?\(.{0,160}\) ?(?:\?|\| ?(?:null|undefined))")
_NOTHING = re.compile(r" ?\| ?(?:null|undefined|None)\b|\b(?:null|undefined|None) ?\| ?")
_BEFORE = re.compile(
    r"(?:readonly|const|final|mut|struct|enum|private|dyn|out|in|unsigned|signed|@\w+) |&(?:'\w+ )?(?:mut )?|\*"
)
_GENERIC = re.compile(r"([\w.:]{1,80})\s?[<\[](.{1,160})[>\]]")
_TEXTS = re.compile(r"[\"'][^\"'|]{1,30}[\"'](?: ?\| ?[\"'][^\"'|]{1,30}[\"']){0,3}")
_FIXED_ARRAY = re.compile(r"(\w{1,60}) ?\[[A-Z0-9_ +*]{0,40}\]")
_PLAIN = re.compile(r"[A-Za-z_][\w.:]{0,80}")
_VERSION = re.compile(r" [vV]\d{1,3}$")
_MAX_CHARS, _DEEPEST, _MOST_WORDS = 160, 3, 6


class TypePhrase(Struct, frozen=True):
    """A type: `said` is one of it without an article, or as many as there are; `shape` is how it holds that: a list,
    map, callback or choice."""

    said: str
    shape: str = ""
    is_optional: bool = False

    @property
    def is_basic(self) -> bool:
        """Whether it is a text, a number or a truth value."""
        return not self.shape and self.said in (TEXT, NUMBER, TRUTH)

    def one(self) -> str:
        """A thing with its article, a list or a map of things."""
        if self.shape in ("list", "map"):
            return f"a {self.shape} {'of' if self.shape == 'list' else 'from'} {self.said}"
        if self.shape:
            return "a callback" if self.shape == "callback" else self.said
        return self.said if self.said == TRUTH else one_of(self.said)

    def many(self) -> str:
        """Several of it: orders, lists of orders, maps from texts to prices."""
        if self.shape in ("list", "map"):
            return f"{self.shape}s {'of' if self.shape == 'list' else 'from'} {self.said}"
        if self.shape == "callback" or self.said == TEXT:
            return f"{self.said}s"
        head, of, rest = self.said.partition(" of ")
        first, _, last = head.rpartition(" ")
        return f"{first} {pluralize(last)}".strip() + of + rest


def one_of(said: str) -> str:
    """One such thing with its article; several of them without."""
    head = _VERSION.sub("", said.partition(" of ")[0]).rpartition(" ")[2]
    return said if is_plural(head) or head.lower() in _MASS else with_a(said)


@lru_cache(maxsize=65536)
def type_phrase(written: str, depth: int = 0) -> TypePhrase | None:
    """A written type in words; None where they would not be certain."""
    text = make_printable(written).strip()
    if not text or len(text) > _MAX_CHARS or depth > _DEEPEST:
        return None
    bare = _NOTHING.sub("", text)
    is_optional = bare.endswith("?") or any(_is_outside(text[: found.start()]) for found in _NOTHING.finditer(text))
    bare = bare.rstrip("?!* ").strip()
    while found := _BEFORE.match(bare):
        bare = bare[found.end() :]
    if any(mark in bare for mark in _CALLED):
        # What a callback gives back may be missing, too.
        return TypePhrase("callback", "callback", bool(_MAYBE_CALLED.fullmatch(text)))
    read = _read(bare, depth)
    return TypePhrase(read.said, read.shape, read.is_optional or is_optional) if read else None


def _is_outside(before: str) -> bool:
    """Whether what follows is about the whole type, and not about what a list or a callback is of."""
    return all(before.count(opens) == before.count(closes) for opens, closes in ("<>", "()", "[]")) or "=>" in before


def _read(bare: str, depth: int) -> TypePhrase | None:
    if bare.endswith("[]") or bare.startswith("[]"):
        return _list_of(bare.removesuffix("[]").removeprefix("[]"), depth)
    if bare.startswith("[") and bare.endswith("]"):
        key, colon, value = bare[1:-1].partition(":")
        return _map_of(key, value, depth) if colon else _list_of(bare[1:-1], depth)
    if array := _FIXED_ARRAY.fullmatch(bare):
        return TypePhrase(TEXT) if array[1] == "char" else _list_of(array[1], depth)
    if bare.startswith("map[") and "]" in bare:
        key, _, value = bare[4:].partition("]")
        return _map_of(key, value, depth)
    if _TEXTS.fullmatch(bare):
        return TypePhrase(" or ".join(f'"{part.strip()[1:-1]}"' for part in bare.split("|")), "choice")
    if " | " in bare and "<" not in bare:
        return _either(bare.split(" | "), depth)
    if generic := _GENERIC.fullmatch(bare):
        return _generic(generic[1].replace("::", ".").rpartition(".")[2], generic[2], depth)
    if basic := _BASIC.get(bare.lower().replace("::", ".").rpartition(".")[2]):
        return TypePhrase(basic)
    return TypePhrase(words) if (words := _own_words(bare)) else None


def _either(parts: Sequence[str], depth: int) -> TypePhrase | None:
    """One of two or three types, as `a show or a movie`."""
    read = [type_phrase(part, depth + 1) for part in parts]
    said = [one.one() for one in read if one and one.shape != "choice"]
    return TypePhrase(" or ".join(said), "choice") if len(said) == len(parts) <= _DEEPEST else None


def _generic(name: str, inner: str, depth: int) -> TypePhrase | None:
    key, comma, value = inner.partition(",")
    if comma:
        return _map_of(key, value, depth) if name in _MAPS and not {"<", "["} & set(key) else None
    if name in _LISTS:
        return _list_of(inner, depth)
    of = type_phrase(inner, depth + 1)
    if of is None:
        return None
    if name in _OPTIONAL:
        return TypePhrase(of.said, of.shape, True)
    words = _own_words(name)
    if name in _SEE_THROUGH or not words:
        return of if name in _SEE_THROUGH else None
    held = of.many() if words.rpartition(" ")[2] in _OF_MANY or of.shape else one_of(of.said)
    return TypePhrase(f"{words} of {held}") if of.said != TRUTH and of.shape != "choice" else None


def _list_of(inner: str, depth: int) -> TypePhrase | None:
    if inner.strip() in _BYTES:
        return TypePhrase("bytes", "list")
    of = type_phrase(inner, depth + 1)
    return TypePhrase(of.many(), "list") if of and of.shape != "choice" and of.said != TRUTH else None


def _map_of(key: str, value: str, depth: int) -> TypePhrase | None:
    one, of = type_phrase(key, depth + 1), type_phrase(value, depth + 1)
    if one is None or of is None or one.shape or of.shape == "choice" or TRUTH in (one.said, of.said):
        return None
    return TypePhrase(f"{one.many()} to {of.many()}", "map")


def _own_words(name: str) -> str:
    """The words of a type of the code's own; "" of one that says nothing, or that cannot be read."""
    if not _PLAIN.fullmatch(name):
        return ""
    last = name.replace("::", ".").rpartition(".")[2]
    spoken = [word for word in name_in_words(last).split(" ") if word.lower() not in _FORMS]
    words = tuple(word.lower() for word in spoken if not _VERSION.fullmatch(f" {word}"))
    is_sign = last.isupper() and ("_" in last or len(last) < len("abcd"))
    if last.lower() in _UNTOLD or len(last) < len("ab") or is_sign or not words:
        return ""
    is_read = is_phrase(words) or (is_phrase(words[-1:]) and len(words) <= _MOST_WORDS and all(map(_is_said, words)))
    return " ".join(spoken) if is_read else ""


def _is_said(word: str) -> bool:
    """Whether a word of a type can be read, as far as its letters show."""
    return is_known(word) or (word.isalpha() and len(word) >= len("word") and not set(word).isdisjoint("aeiouy"))
