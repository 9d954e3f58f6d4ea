"""The words of a name become phrases: verb and object, predicate and complement."""

from collections.abc import Sequence
from functools import lru_cache

from codesum_pipeline.summaries.extractive.frequencies import word_bucket
from codesum_pipeline.summaries.extractive.verbs import (
    HEAD_NOUNS,
    MOSTLY_NOUNS,
    as_verb,
    is_third_person,
    takes_particle,
)
from codesum_pipeline.summaries.extractive.word_lists import word_set
from codesum_pipeline.summaries.extractive.words import is_plural, name_words, spoken_word, with_article

# A name's object takes `a` after these, `the` after all other verbs: they bring something new.
_INDEFINITE = word_set(
    """
    add allocate append assemble attach await build choose collect compile compose compute construct create
    declare define derive draw emit enqueue find fork format generate insert inject instantiate invoke issue
    join launch make match mock open parse pick plot post prepend press print produce push queue raise receive
    recognize register render request send simulate spawn start submit subscribe summarize synthesize throw
    trigger tokenize upload use validate wait wrap yield accept announce ask calculate decode encode escape
    evaluate execute extract
    """
)
PREPOSITIONS = word_set(
    """
    by from to for with in on at into of as if and or without per via until after before against between over
    under through while when unless using like than about onto off within during since except not
    """
)
PREDICATES = {
    "is": "is", "are": "are", "has": "has", "have": "have", "can": "can", "should": "should", "must": "must",
    "will": "will", "was": "was", "were": "were", "does": "does", "needs": "needs", "contains": "contains",
    "supports": "supports", "allows": "allows", "accepts": "accepts", "requires": "requires", "exists": "exists",
    "equals": "equals", "matches": "matches", "looks": "looks", "uses": "uses", "could": "could", "may": "may",
    "includes": "includes", "wants": "wants", "implements": "implements", "startswith": "starts with",
    "endswith": "ends with", "isinstance": "is an instance", "did": "did", "isa": "is a",
}  # fmt: skip
_ADJECTIVE_ENDINGS = ("able", "ible", "ed", "ful", "less", "ous", "ive", "ic", "al", "ing", "ary")
# Glued to what follows in many names: `getlist`, `putheader`.
_GLUED_VERBS = ("get", "set", "put")
_MAX_GLUED_BUCKET = 6


@lru_cache(maxsize=32768)
def told_words(name: str) -> tuple[str, ...]:
    """The words of a function's name; `getlist` is two."""
    words = name_words(name)
    if len(words) == 1:
        for verb in _GLUED_VERBS:
            rest = words[0][len(verb) :]
            if words[0].startswith(verb) and len(rest) > 3 and word_bucket(rest) <= _MAX_GLUED_BUCKET:
                return verb, rest
    return words


def verb_phrase(name: str) -> str | None:
    """`parse_header` gives `parse a header`: infinitive, for lists of what something can do; None for a noun."""
    words = list(told_words(name))
    if not words or (verb := opening_verb(words)) is None:
        return None
    base, particle, rest = verb
    if len(rest) > 1 and rest[0] in ("and", "or") and (second := as_verb(rest[1])):
        return " ".join(filter(None, (base, rest[0], *second, object_phrase(rest[2:], second[0]))))
    if rest and rest[0] == particle:
        particle = ""
    return without_dangling(" ".join(filter(None, (base, particle, object_phrase(rest, base)))))


def opening_verb(words: list[str], *, noun_if_alone: bool = False) -> tuple[str, str, list[str]] | None:
    """The verb, its particle and the words after it, or None where the words are a noun phrase."""
    found = as_verb(words[0])
    if found is None:
        return None
    base, particle = found
    rest = words[1:]
    if words[0] in MOSTLY_NOUNS:
        if not rest and noun_if_alone:
            return None
        if (
            rest
            and rest[-1] in HEAD_NOUNS
            and len(rest) == 1
            and base not in ("list", "test", "sort", "query", "filter", "set", "hash", "format", "load")
        ):
            return None
    if (
        rest
        and takes_particle(rest[0])
        and not particle
        and (len(rest) == 1 or rest[0] in ("up", "down", "out", "off"))
    ):
        particle, rest = rest[0], rest[1:]
    return base, particle, rest


def object_phrase(words: Sequence[str], verb: str) -> str:
    """The words after a verb with the article they need: `a header`, `the rows by name`."""
    if (
        words
        and words[0] in PREDICATES
        and verb in ("ensure", "check", "assert", "verify", "determine", "expect", "test")
    ):
        joint = "whether" if verb in ("check", "determine", "test") else "that"
        return f"{joint} it {predicate_words(words[0], words[1:])}"
    if verb == "test" and is_third_person(words):
        return f"that it {' '.join(map(spoken_word, words))}"
    cut = next((k for k, word in enumerate(words) if word in PREPOSITIONS), len(words))
    head = " ".join(map(spoken_word, words[:cut]))
    if head:
        head = _articled(head, verb, is_whole=cut == len(words))
    tail = _tail(words[cut:])
    return f"{head} {tail}".strip()


def _articled(head: str, verb: str, *, is_whole: bool) -> str:
    last = head.rsplit(" ", 1)[-1]
    if last in (
        "async",
        "sync",
        "once",
        "now",
        "safely",
        "recursively",
        "lazily",
        "maybe",
        "again",
        "here",
        "twice",
        "back",
    ):
        first = head.rpartition(" ")[0]
        adverb = {"async": "asynchronously", "sync": "synchronously"}.get(last, last)
        return f"{_articled(first, verb, is_whole=True)} {adverb}" if first else adverb
    if (" " not in head and head.endswith(("ly", "ed"))) or last.isdigit():
        return head
    if is_plural(head) and verb not in ("get", "set"):
        return head
    return with_article(head, definite=verb not in _INDEFINITE)


def _tail(words: Sequence[str]) -> str:
    """A prepositional tail; what follows a preposition takes `the` where it looks like one thing."""
    if not words:
        return ""
    out: list[str] = []
    chunk: list[str] = []
    for word in words:
        if word in PREPOSITIONS:
            out.extend(_noun_chunk(out, chunk))
            out.append(word)
            chunk = []
        else:
            chunk.append(word)
    out.extend(_noun_chunk(out, chunk))
    return " ".join(out)


def without_dangling(phrase: str) -> str:
    """The phrase without prepositions at its end: `adds edges from` gives `adds edges`."""
    words = phrase.split(" ")
    while len(words) > 1 and words[-1] in PREPOSITIONS and words[-1] not in ("in", "on", "off", "out"):
        words.pop()
    return " ".join(words)


def _noun_chunk(before: list[str], chunk: list[str]) -> list[str]:
    if not chunk:
        return []
    phrase = " ".join(map(spoken_word, chunk))
    if before and before[-1] in (
        "as",
        "of",
        "by",
        "in",
        "if",
        "when",
        "not",
        "per",
        "and",
        "or",
        "like",
        "using",
        "while",
        "unless",
    ):
        return [phrase]
    return [with_article(phrase)]


def predicate_words(opening: str, rest: Sequence[str]) -> str:
    """`is`, empty gives `is empty`; `has`, tail gives `has a tail`; `can`, read gives `can read`."""
    verb = PREDICATES[opening]
    told = " ".join(map(spoken_word, rest))
    if not rest:
        return verb
    if verb in ("is", "are", "was", "were"):
        told = _complement(verb, rest)
    elif verb in ("has", "have", "needs", "contains", "supports", "requires", "uses", "allows", "accepts", "includes"):
        told = object_phrase(rest, "add")
    elif verb in ("can", "should", "must", "will", "could", "may") and (found := as_verb(rest[0])):
        told = " ".join(filter(None, (found[0], found[1], object_phrase(rest[1:], found[0]))))
    return f"{verb} {told}"


def _complement(verb: str, rest: Sequence[str]) -> str:
    cut = next((k for k, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
    noun = " ".join(map(spoken_word, rest[:cut]))
    is_singular = verb in ("is", "was") and cut > 0
    if is_singular and not rest[cut - 1].endswith(_ADJECTIVE_ENDINGS) and _is_noun_like(rest[:cut]):
        noun = with_article(noun)
    return f"{noun} {_tail(rest[cut:])}".strip()


_COMMON_ADJECTIVES = word_set(
    """
    whole empty valid true false none null open ready closed active visible public private safe same equal stale fresh
    new old dirty clean full dead alive idle busy done available present local remote available async sync
    optional required absolute relative nested simple complex unique mutable immutable hidden secure finite odd
    even positive negative close zero up down on off abstract final static dynamic callable iterable hashable
    numeric prime sorted trivial lazy strict anonymous online offline legal illegal correct dense sparse square
    symmetric real imaginary exact current latest first last free running ok similar related better worse
    greater less equivalent writable compatible own default frozen constant real commutative infinite composite
    plain flat ascii lower upper
    """
)


def _is_noun_like(words: Sequence[str]) -> bool:
    last = words[-1]
    return last not in _COMMON_ADJECTIVES and not last.startswith(("un", "non"))
