"""A type as it is written, in words: a list of orders, a map from texts to prices, a callback; nothing where it names
nothing that can be read."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable
from codesum_pipeline.evidence.extractive.name_grammar import (
    grammar_words,
    is_known,
    is_phrase,
    is_plural,
    pluralize,
    with_a,
)
from codesum_pipeline.evidence.extractive.words import (
    in_a_row,
    list_first,
    name_in_words,
    name_words,
    shared_prefix,
)
from codesum_pipeline.evidence.inputs import ClassInput
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait


def class_words(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(packaged_table(__package__, "class_words")[name].split())


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
    if generic := _GENERIC.fullmatch(bare):
        return _generic(generic[1].replace("::", ".").rpartition(".")[2], generic[2], depth)
    if basic := _BASIC.get(bare.lower().replace("::", ".").rpartition(".")[2]):
        return TypePhrase(basic)
    return TypePhrase(words) if (words := _own_words(bare)) else None


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


_MAX_FIELDS, _MAX_READ, _MAX_INNER, _MAX_INNER_CHARS = 5, 60, 3, 400
_OPTIONAL_FIELD = re.compile(r"(?<!\w)(\w{1,60})\?\s?:")
_INNER = re.compile(r"(?<!\w)(\w{1,60})\??:")
_VALUE = re.compile(
    r"(?<!\w)(\w{1,60})(?: ?: ?[\w.<>\[\]?]{1,40})? ?= ?"
    r"(?:(?:(\"[^\"\n]{0,200}\"|'[^'\n]{0,200}')|(-?\d[\d_.]{0,20})|([Tt]rue|[Ff]alse));?$"
    r"|new ([A-Z]\w{1,60})\()"
)
_NO_FIELDS = ("def ", "fun ", "func ", "function ", "@", "return ", "public function", "if ", "for ")
_MARK = " (optional)"
# What fields of a basic type are called together; "" of those that have none.
_GROUPS = {NUMBER: "number", TEXT: "text", TRUTH: "flag", "": ""}

_Types = dict[str, TypePhrase | str | None]


def record_of_types(class_: ClassInput, fields: Sequence[str]) -> str:
    """`Holds a sync store, a list of scrobble items and the text service ID (optional)`; "" where no field has a type
    that can be told. `fields` are the names of those that may be said."""
    types, within = _types_of(class_)
    # A parameter of a constructor and the property that keeps it are one field.
    fields = [*{name_words(name): name for name in reversed(fields) if name not in within}.values()][::-1]
    told = [name for name in fields if name in types]
    told = [name for name in told if not name.isupper()] or told
    if not told or len(told) * 2 < len(fields):
        return ""
    prefix = shared_prefix(told)
    optional = set(_OPTIONAL_FIELD.findall(class_.own_source))
    missing = [name for name in told if name in optional or getattr(types[name], "is_optional", False)]
    are_all = len(missing) == len(told) > 1
    phrases: list[tuple[str, int]] = []
    # By its type the names of fields that are told together.
    alike: defaultdict[TypePhrase, list[str]] = defaultdict(list)
    basic: defaultdict[str, list[str]] = defaultdict(list)
    for name in told:
        type_, spoken = types[name], name_in_words(name, prefix).removeprefix("m ")
        mark = _MARK if name in missing and not are_all else ""
        if isinstance(type_, str):
            phrases.append((f"{spoken}{type_}", 1))
        elif type_ is None or type_.is_basic:
            kind = _GROUPS[type_.said] if type_ else ""
            basic[kind].append(f"{spoken}{mark}")
        elif phrase := _without_name(spoken, type_, mark):
            phrases.append((phrase, 1))
        else:
            alike[replace(type_, is_optional=False)].append(f"{spoken}{mark}")
    if not phrases and not alike and set(basic) <= {""}:
        return ""
    phrases += [(_of_type(type_, names), min(len(names), _MAX_FIELDS)) for type_, names in alike.items()]
    is_whole = len(class_.fields) < _MAX_READ and len(told) == len(fields)
    listed = _listed(phrases, basic, len(told), is_whole=is_whole)
    return f"Holds {listed}{', all optional' if are_all else ''}"


def _listed(
    phrases: Sequence[tuple[str, int]], basic: Mapping[str, Sequence[str]], count: int, *, is_whole: bool
) -> str:
    """The phrases, each of so many fields, then the names of basic fields by their types; of many the first, and how
    many more of `count` fields there are."""
    parts = [phrase for phrase, _ in phrases[:_MAX_FIELDS]]
    room = _MAX_FIELDS - len(parts)
    more = count - sum(number for _, number in phrases[:_MAX_FIELDS])
    for kind in _GROUPS.values():
        names = list(basic.get(kind, ()))[:room]
        room -= len(names)
        more -= len(names)
        if names:
            noun = f"{kind}{'s' * (len(names) > 1)} " if kind else ""
            parts.append(f"the {noun}{in_a_row(names)}")
    if more:
        parts.append(f"{more} more" if is_whole else "more")
    return in_a_row(parts, ", and " if any(" and " in part for part in parts) else " and ")


def _types_of(class_: ClassInput) -> tuple[_Types, set[str]]:
    """By name the types of fields: the names in a record that is written within, None of what cannot be read. And the
    names in such records, which are left out."""
    follows = has_trait(class_.language, Trait.TYPE_FOLLOWS_NAME)
    found: _Types = {}
    within: set[str] = set()
    texts: set[str] = set()
    cut: list[str] = []
    values = _types_of_values(class_)
    for field in class_.fields[:_MAX_READ]:
        name, sign, written = field.partition(" " if follows else ":")
        name, written = name.strip().strip("@$*&"), written.strip()
        if (plain := _plain(field).partition("{")[0]) in texts or any(plain.startswith(text) for text in cut):
            within.add(name)
        if name in within or not (sign or name in values):
            continue
        if written.startswith("{"):
            written = written[: _MAX_INNER_CHARS * 4]
            parts = [_plain(part) for part in re.split(r"[;{}]", written)]
            cut.extend(part.removesuffix("…") for part in parts if len(part) > 1 and part.endswith("…"))
            texts.update(parts)
            inner = list_first([name_in_words(one) for one in _INNER.findall(written)], _MAX_INNER)
            found.setdefault(name, f" ({inner})" if inner else None)
        else:
            found.setdefault(name, type_phrase(written) if sign else values[name])
    return found, within


def _plain(field: str) -> str:
    """A field's text as it can be compared: without blanks, a mark that it may be missing, and words before it."""
    return "".join(field.replace("?:", ":").removeprefix("readonly ").split())


def _types_of_values(class_: ClassInput) -> dict[str, TypePhrase]:
    """The types of fields without written ones, by what they are set to."""
    found: dict[str, TypePhrase] = {}
    for line in class_.own_source.split("\n")[1:]:
        value = None if line.lstrip().startswith(_NO_FIELDS) else _VALUE.search(line)
        if value:
            name, text, number, truth, made = value.groups()
            read = TypePhrase(TEXT if text else NUMBER if number else TRUTH) if text or number or truth else None
            if read := read or type_phrase(made):
                found.setdefault(name, read)
    return found


def _without_name(spoken: str, type_: TypePhrase, mark: str) -> str:
    """`a sync store` of what is called store, `a list of scrobble items` of items; "" where the name says more."""
    name, kind = spoken.lower().split(" "), type_.said.lower().split(" ")
    if type_.shape == "choice":
        return f"the {spoken} {type_.said}{mark}"
    if type_.shape == "list":
        many = [*name[:-1], name[-1] if is_plural(name[-1]) else pluralize(name[-1])]
        return f"{type_.one()}{mark}" if kind[-len(many) :] == many else ""
    if type_.shape:
        return ""
    if set(name) <= set(kind):
        return f"{type_.one()}{mark}"
    return f"{one_of(spoken)}{mark}" if kind == name[-len(kind) :] else ""


def _of_type(type_: TypePhrase, names: Sequence[str]) -> str:
    """`an ident (alias ID)`, `lists of texts (hosts and limitations)`: fields of one type by what they are called."""
    if names == [type_.said]:
        return type_.one()
    if len(names) == 1:
        return f"{type_.one()} ({names[0].replace(_MARK, ', optional')})"
    return f"{type_.many()} ({in_a_row(names[:_MAX_FIELDS])})"
