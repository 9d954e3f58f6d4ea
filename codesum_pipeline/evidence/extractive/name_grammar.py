"""Words of a name as a noun phrase with its article; "" where they are none that can be read with certainty.

A thing that is handed in, or made, is "a" thing; one that is there is "the" thing.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import frequent_words
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full
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


_ADJECTIVES = grammar_words("adjectives")
_MASS = grammar_words("mass")
_SINGULAR = grammar_words("singular_s")
_PLURAL = grammar_words("irregular_plurals")
_DETERMINERS = grammar_words("determiners")
_UNIQUE = grammar_words("unique")
_SENTENCE_WORDS = grammar_words("sentence_words")
_NOUNS = grammar_words("nouns")
_NO_NOUNS = grammar_words("no_nouns")
_NO_ADJECTIVES = grammar_words("no_adjectives")
_PURE_VERBS = VERBS - ALSO_NOUNS - MODIFIERS - _NOUNS
_ADJECTIVE_NOUNS = grammar_words("adjective_nouns")
_SINGULAR_DETERMINERS = grammar_words("singular_determiners")
_SAID = grammar_words("said_acronyms")
_TWO_LETTERS = grammar_words("two_letters")
PREPOSITIONS = grammar_words("prepositions")
_BASIC_TYPES = grammar_words("basic_types")
_WRAPPERS = grammar_words("wrappers")
_PLURAL_WRAPPERS = grammar_words("plural_wrappers")
_MAX_WORDS = 5
_RAREST = 99
_VOWEL_SOUND = re.compile(
    r"(?!uni(?!n)|us[aei]|ut[ei]|eu|one|once|ubi|ufo|uri|url|utf|utc|uuid|uid|udp|ui\b)[aeiou]|hour|honest|honor", re.I
)
# Letters whose names begin with a vowel: an HTTP request, a URL.
_VOWEL_LETTERS = "AEFHILMNORSX"


@lru_cache(maxsize=1)
def _known_words() -> frozenset[str]:
    return frozenset(frequent_words(rarest=_RAREST))


@lru_cache(maxsize=65536)
def is_known(word: str) -> bool:
    """Whether a word of a name can be read: an acronym, or a word of source code at large."""
    spoken = word_in_full(word)
    if spoken != word or word in _MASS:
        return True
    bare = word.rstrip("0123456789")
    is_long = len(bare) > 2 or bare in _TWO_LETTERS
    has_vowel = any(letter in "aeiouy" for letter in bare)
    return word.isascii() and is_long and has_vowel and (is_listed(bare) or _looks_like_word(bare))


def is_listed(word: str) -> bool:
    """Whether a word is in the list of words of source code at large, or is spelled in another way than written."""
    bare = word.rstrip("0123456789")
    return word_in_full(word) != word or word in _MASS or bare in _known_words() or singular(bare) in _known_words()


_MIN_LOOKING = 5
# So many listed words have to have the same three letters in a row.
_MIN_SHARED = 4


@lru_cache(maxsize=1)
def _usual_letters() -> frozenset[str]:
    """Three letters in a row that several listed words have, with the edges of a word as blanks."""
    counts = Counter(part for word in _known_words() if len(word) >= _MIN_LOOKING for part in set(_letters(word)))
    return frozenset(part for part, count in counts.items() if count >= _MIN_SHARED)


def _letters(word: str) -> list[str]:
    edged = f" {word} "
    return [edged[place : place + 3] for place in range(len(edged) - 2)]


def _looks_like_word(word: str) -> bool:
    """Whether an unlisted word is built as words are: a name of a field that source code at large does not have."""
    return len(word) >= _MIN_LOOKING and word.isalpha() and _usual_letters().issuperset(_letters(word))


@lru_cache(maxsize=65536)
def is_plural(word: str) -> bool:
    if word in _PLURAL:
        return True
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) and word not in _SINGULAR


def singular(word: str) -> str:
    """A regular plural without its ending; other words as they are."""
    if not is_plural(word) or word in _PLURAL:
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses", "zzes")) else word[:-1]


def pluralize(word: str) -> str:
    """The plural of a word; what is not counted, and a plural, stays."""
    if word in _MASS or is_plural(word):
        return word
    spoken = word_in_full(word)
    if spoken.isupper():
        return f"{word}s"
    if spoken.endswith("s") and spoken[:-1].isupper():
        return word
    if word in ("index", "vertex", "matrix"):
        return f"{word[:-2]}ices"
    if word == "child":
        return "children"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else f"{word}s"


@lru_cache(maxsize=65536)
def is_adjective(word: str) -> bool:
    """Whether a word says what something is: listed, or a participle or adjective by its ending."""
    if word in _ADJECTIVES or word_in_full(word) in _ADJECTIVES:
        return True
    is_formed = len(word) > 4 and word.endswith(("ed", "able", "ible", "less", "ful"))
    return is_formed and word not in _NO_ADJECTIVES


def noun_phrase(words: Sequence[str], *, given: Collection[str] = (), article: str = "the") -> str:
    """Words as a noun phrase; "" where one of them is not known, or no noun stands last.

    `given` are words of what is handed in: such a thing is "a" thing.
    """
    if not is_phrase(words):
        return ""
    head, first = words[-1], words[0]
    spoken = " ".join(map(word_in_full, words))
    if first in _DETERMINERS:
        return spoken if is_plural(head) or head in _MASS or first in _SINGULAR_DETERMINERS else ""
    if first in _UNIQUE and len(words) > 1:
        return f"the {spoken}"
    if is_plural(head) or head in _MASS:
        return spoken
    is_given = head in given
    return f"the {spoken}" if article == "the" and not is_given else with_a(spoken)


def starts_determined(words: Sequence[str]) -> bool:
    """Whether the first word says which of several is meant."""
    return words[0] in _DETERMINERS


def is_phrase(words: Sequence[str]) -> bool:
    """Whether words are a noun phrase: few, all known, the last one a noun."""
    if not 0 < len(words) <= _MAX_WORDS or not all(map(is_known, words)):
        return False
    if not (_SENTENCE_WORDS | PREPOSITIONS).isdisjoint(words) or any(word[0].isdigit() for word in words):
        return False
    head = words[-1]
    if head in _DETERMINERS or (is_adjective(head) and len(words) < _MAX_WORDS and head not in _ADJECTIVE_NOUNS):
        return False
    if any(map(is_said_of, words)) or not _PURE_VERBS.isdisjoint(words[:-1]):
        return False
    return head not in VERBS or head in (ALSO_NOUNS | _NOUNS) or (head in MODIFIERS and head not in _NO_NOUNS)


def is_said_of(word: str) -> bool:
    """Whether a word is the third person of a verb that is no noun: `contains`, `expires`."""
    base = BASE_OF_THIRD.get(word, "")
    return base in _NO_NOUNS or base in _PURE_VERBS


def with_a(spoken: str) -> str:
    """A phrase with "a" or "an", by its sound: an hour, a user, an HTTP request."""
    first = spoken.split(" ", 1)[0]
    letters = first.rstrip("s0123456789/")
    if len(letters) > 1 and letters.isupper():
        is_vowel = letters[0] in _VOWEL_LETTERS if not _is_said(letters) else letters[0] in "AEIO"
    else:
        is_vowel = bool(_VOWEL_SOUND.match(first))
    return f"{'an' if is_vowel else 'a'} {spoken}"


def _is_said(letters: str) -> bool:
    """Whether an acronym is said as a word: JSON, RAM."""
    return letters.lower() in _SAID


_TYPE_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,80}")
_MAX_TYPE_CHARS = 200


def type_words(written: str | None) -> tuple[tuple[str, ...], bool]:
    """The words of what a type names, and whether it is many of them: `Option<List<User>>` gives ("user",), True.

    No words where it names nothing of the code's own, or several things.
    """
    names = _TYPE_WORD.findall((written or "")[:_MAX_TYPE_CHARS].replace("::", ".").replace("struct ", ""))
    is_many = "[]" in (written or "")
    own: list[tuple[str, ...]] = []
    for name in names:
        words = name_words(name)
        if set(words) <= _PLURAL_WRAPPERS and words:
            is_many = True
        elif name[:1].isupper() and not set(words) <= _WRAPPERS:
            own.append(words)
    if len(own) != 1 or set(own[0]) <= _BASIC_TYPES or not is_phrase(own[0]):
        return (), False
    return own[0], is_many
