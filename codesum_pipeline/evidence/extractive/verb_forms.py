"""Verbs of names, by a stored list: which word is one, in which form, and what it needs beside it."""

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from codesum_pipeline.evidence.packaged_tables import packaged_table


def grammar_words(name: str) -> frozenset[str]:
    """The words of a list of the grammar."""
    tables = packaged_table(__package__, "name_grammar")
    return frozenset((tables[name] if name in tables else tables["phrases"][name]).split())


def grammar_list(name: str) -> tuple[str, ...]:
    """The parts of a list of the grammar, in its order."""
    return tuple(packaged_table(__package__, "name_grammar")["phrases"][name].split())


def grammar_table(name: str) -> dict[str, str]:
    """A table of the grammar."""
    return dict(packaged_table(__package__, "name_grammar")[name])


VERBS = grammar_words("verbs")
ALSO_NOUNS = grammar_words("also_nouns")
MODIFIERS = grammar_words("modifiers")
_IN_FULL = grammar_table("in_full")
_JOINED = grammar_table("joined")
_PHRASAL = {verb: frozenset(particles.split()) for verb, particles in grammar_table("phrasal").items()}
_THIRD_PERSON = grammar_table("third_person")
_DOUBLING = frozenset(grammar_table("doubling")["words"].split())
_WITH_PREPOSITION = grammar_table("with_preposition")
_VOWELS = "aeiou"


class Verb(Struct, frozen=True):
    """A verb of a name: its base form, what follows it as a part of it (`up` of `set up`), and how many words of the
    name it takes."""

    base: str
    particle: str = ""
    length: int = 1

    @property
    def said(self) -> str:
        return f"{self.base} {self.particle}".strip()

    @property
    def third(self) -> str:
        return f"{third_person(self.base)} {self.particle}".strip()

    @property
    def ing(self) -> str:
        return f"{gerund(self.base)} {self.particle}".strip()


def verb_at(words: Sequence[str], start: int = 0) -> Verb | None:
    """The verb that begins at a place in a name; None where no word of the list stands there."""
    word = words[start] if start < len(words) else ""
    if word in _JOINED:
        base, particle = _JOINED[word].split()
        return Verb(base, particle)
    base = _IN_FULL.get(word, word)
    after = words[start + 1] if start + 1 < len(words) else ""
    if after in _PHRASAL.get(base, ()):
        return Verb(base, after, 2)
    if base == "do" or (base not in VERBS and word not in _IN_FULL):
        return None
    preposition = _WITH_PREPOSITION.get(base, "")
    return Verb(base, "" if after == preposition else preposition)


@lru_cache(maxsize=4096)
def third_person(verb: str) -> str:
    """`parse` gives `parses`, `copy` gives `copies`."""
    if verb in _THIRD_PERSON:
        return _THIRD_PERSON[verb]
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        return f"{verb}{'zes' if verb == 'quiz' else 'es'}"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2:-1] not in _VOWELS else f"{verb}s"


@lru_cache(maxsize=4096)
def gerund(verb: str) -> str:
    """`parse` gives `parsing`, `run` gives `running`."""
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return f"{verb[:-1]}ing"
    return f"{verb}{verb[-1]}ing" if _doubles(verb) else f"{verb}ing"


def _doubles(verb: str) -> bool:
    """Whether the last letter is doubled: one vowel before one consonant, in a word of one syllable."""
    ends_short = len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in _VOWELS and verb[-3] not in _VOWELS
    syllables = sum(
        1 for before, one in zip(f" {verb}", verb, strict=False) if one in _VOWELS and before not in _VOWELS
    )
    return ends_short and (syllables == 1 or verb in _DOUBLING)


THIRD_PERSONS = frozenset(third_person(verb) for verb in VERBS - ALSO_NOUNS)
BASE_OF_THIRD = {third_person(verb): verb for verb in VERBS}
GERUNDS = frozenset(map(gerund, VERBS))
