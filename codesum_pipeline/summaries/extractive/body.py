"""What a function's body does, in words: calls, writes, errors and results.

Callees never appear as identifiers, only as the words of their names.
"""

from dataclasses import replace
from functools import lru_cache

from codesum_pipeline.model.documents import Citation
from codesum_pipeline.model.symbols import Fact, SymbolFacts
from codesum_pipeline.summaries.extractive.call_phrases import call_phrase
from codesum_pipeline.summaries.extractive.docstrings import Docstring
from codesum_pipeline.summaries.extractive.effects import side_effects
from codesum_pipeline.summaries.extractive.foreign_code import (
    as_own,
    as_python_code,
    brace_word,
    names_in,
    telling_call,
)
from codesum_pipeline.summaries.extractive.frequencies import word_bucket
from codesum_pipeline.summaries.extractive.guards import invariants
from codesum_pipeline.summaries.extractive.keywords import telling
from codesum_pipeline.summaries.extractive.places import area_of
from codesum_pipeline.summaries.extractive.plain import clip, enumerate_first, enumerate_words
from codesum_pipeline.summaries.extractive.roles import Profile, Role
from codesum_pipeline.summaries.extractive.scanning import RECEIVERS
from codesum_pipeline.summaries.extractive.source_lines import SourceLines
from codesum_pipeline.summaries.extractive.type_words import type_words
from codesum_pipeline.summaries.extractive.value_phrases import raised, target_words, value_phrase
from codesum_pipeline.summaries.extractive.word_lists import word_set
from codesum_pipeline.summaries.extractive.words import fold_plural, name_words, split_identifier, spoken, with_article

_MAX_ACTS = 3
_MAX_WRITES = 4
_MAX_RAISES = 2
_MAX_RETURNS = 2
_MAX_TOPICS = 3
_MAX_TYPED = 4
# Rarer words are as often misspelt, or glued from others.
_MAX_TOPIC_BUCKET = 10
_LONG_PURPOSE_CHARS = 70
_PLACED_BELOW_CHARS = 90
_MAX_RETURN_CHARS = 160
_SMALL_WORDS = word_set("a an the its of or and to from in into via with by for new text")
_EMPTY_RESULTS = frozenset(("nothing", "a computed value", "itself"))


class Body:
    """The facts of one function, read as phrases."""

    def __init__(self, profile: Profile) -> None:
        facts = profile.given.facts
        self._profile = profile
        self._lines = SourceLines(profile.given.canonical_source)
        self._errors = [(*error, fact) for fact in facts.raises if (error := raised(fact.text))[0]]
        if not profile.is_python:
            facts = _read_foreign(facts, profile.given.language)
        self._acts = _read_acts(facts.calls, {name for name, _, _ in self._errors})
        self._own_writes, self._other_writes = _read_writes(facts.writes)
        self.values = [value_phrase(fact.text.removeprefix("from ")) for fact in facts.returned]
        if not profile.is_python:
            self.values = [(brace_word(phrase, profile.given.language), kind) for phrase, kind in self.values]
        self.results = list(dict.fromkeys(phrase for phrase, _ in self.values))
        self.identifiers = self._lines.identifiers() if profile.is_python else names_in(profile.given.canonical_source)
        self._effects = side_effects(facts, self._acts, self._errors)
        self._guards = invariants(self._lines)

    def sentence(self, *, said: str, limit: int, told: bool = False) -> str:
        """One sentence of clauses that `said` does not hold already; empty where there is nothing to add.

        `told` says that a docstring has spoken: then names from the body only fill up a short text.
        """
        held = _folded(said)
        if self._profile.role is Role.OVERLOAD:
            clauses = [self._typed_clause()]
        else:
            act = self._act_clause(held)
            returns = self._return_clause(said, held)
            clauses = [act, self._write_clause(), self._raise_clause(said), returns]
        clauses = [clause for clause in clauses if clause]
        is_thin = len(clauses) < 2 and not any("," in clause for clause in clauses)
        if is_thin and not (told and (clauses or len(said) > _LONG_PURPOSE_CHARS)):
            topics = self._topic_clause(held | _folded(" ".join(clauses)))
            clauses = [*clauses, topics] if topics else clauses
        if sum(map(len, clauses)) < _PLACED_BELOW_CHARS and (place := self._place_clause(held)):
            clauses = [place, *clauses]
        return _as_sentence(clauses, limit)

    def _act_clause(self, held: set[str]) -> str:
        acts = [act for act in self._acts if not _is_held(act[1], held)]
        if not acts:
            return ""
        best = sorted(acts, key=lambda act: (-act[0], -_rarest(act[1].split(" ")), act[2].line, act[1]))[:_MAX_ACTS]
        kept = [act for act in acts if act in best and (act[0] > 0 or len(best) < 2)]
        return enumerate_words([act[1] for act in kept])

    def _write_clause(self) -> str:
        if not self._own_writes:
            return f"sets the {enumerate_words(self._other_writes[:3])}" if self._other_writes else ""
        names = enumerate_first(self._own_writes, _MAX_WRITES)
        return f"stores the {names}" if self._profile.role is Role.CONSTRUCTOR else f"updates its {names}"

    def _raise_clause(self, said: str) -> str:
        if "rais" in said.lower():
            return ""
        parts = []
        for name, message, _ in self._errors[:_MAX_RAISES]:
            parts.append(with_article(spoken(name.strip("_"))) + (f" (“{message}”)" if message else ""))
        return f"raises {enumerate_words(list(dict.fromkeys(parts)), conjunction='or')}" if parts else ""

    def _return_clause(self, said: str, held: set[str]) -> str:
        if self._profile.role in (Role.CONSTRUCTOR, Role.TEST):
            return ""
        results = [phrase for phrase in self.results if phrase not in _EMPTY_RESULTS and not _is_held(phrase, held)]
        opening = said[:24].lower()
        if not results or (opening.startswith(("tells whether", "whether")) and set(results) == {"true or false"}):
            return ""
        if len(results) == 1 and opening.startswith(("return", "give", "get ", "gets ", "yield")):
            return ""
        verb = "yields" if self._profile.given.facts.is_generator else "returns"
        text = enumerate_words(results[:_MAX_RETURNS], conjunction="or")
        return f"{verb} {text}" if len(text) < _MAX_RETURN_CHARS else ""

    def _typed_clause(self) -> str:
        """What tells one overload from another: its types."""
        facts = self._profile.given.facts
        typed = [(spoken(p.name), type_words(p.type) or clip(p.type, 60)) for p in facts.parameters if p.type]
        taken = enumerate_words([f"{name} as {kind}" for name, kind in typed[:_MAX_TYPED]])
        result = facts.return_type or ""
        gives = f"gives {type_words(result) or clip(result, 60)}" if result else ""
        return "; ".join(filter(None, (f"takes {taken}" if taken else "", gives)))

    def _place_clause(self, held: set[str]) -> str:
        """Where the function stands, if no word so far says it: bodies of one name differ by their place."""
        profile = self._profile
        if profile.role in (Role.CONSTRUCTOR, Role.SPECIAL):
            return ""
        if profile.outer and not profile.owner:
            outer = spoken(profile.outer)
            return "" if not outer or _folded(outer) <= held else f"works inside {outer}"
        place = profile.owner or area_of(profile.given.id.partition("::")[0]).partition(" in ")[0]
        if profile.role is Role.TEST:
            place = place.removeprefix("test ").removesuffix(" test")
            return f"for {place}" if _folded(place) - held and place else ""
        if _folded(place) & held or len(place) < 3:
            return ""
        return f"part of {with_article(place, definite=True)}" if profile.owner else f"part of {place}"

    def _topic_clause(self, held: set[str]) -> str:
        topics: list[str] = []
        held = set(held)
        for name in sorted(self.identifiers, key=_rarest_first):
            topic, folded = _topic(name)
            if not folded <= held:
                topics.append(topic)
                held |= folded
            if len(topics) == _MAX_TOPICS:
                break
        return f"works with {enumerate_words(topics)}" if topics else ""

    def side_effects(self) -> tuple[str, ...]:
        """What it does besides returning, one sentence part each."""
        return tuple([effect for effect, _ in self._effects])

    def invariants(self) -> tuple[str, ...]:
        """What has to hold, from assertions and early errors."""
        return tuple([text for text, _ in self._guards])

    def citations(self, doc: Docstring) -> tuple[Citation, ...]:
        """The canonical lines that support each field: where no line of the body does, the signature with what is
        documented beside it."""
        first, signature, last = self._documented()
        returned = [("returns", fact.line, fact.line) for fact in self._profile.given.facts.returned[:3]]
        spans = [
            ("summary", first, last),
            ("inputs", first, last) if doc.parameters else ("inputs", signature, signature),
            *(returned or [("returns", first, last)]),
        ]
        spans.extend(("side_effects", line, line) for _, line in self._effects)
        spans.extend(("invariants", line, line) for _, line in self._guards)
        return tuple([Citation(*span) for span in dict.fromkeys(spans)])

    def _documented(self) -> tuple[int, int, int]:
        """The first line of signature and documentation, the signature's, and the last: a docstring follows the
        signature, doc comments of other languages go before it."""
        lines = self._lines
        if self._profile.is_python:
            return lines.head, lines.head, lines.docstring_end
        signature = lines.line_of(self._profile.given.name)
        return 1, signature, signature


def _read_foreign(facts: SymbolFacts, language: str) -> SymbolFacts:
    """Calls, writes and results as their readers take them; calls that say nothing are left out."""
    receiver = next((parameter.name for parameter in facts.parameters if parameter.kind == "receiver"), "")
    calls = [Fact(telling_call(as_own(fact.text, receiver), language), fact.line) for fact in facts.calls]
    return replace(
        facts,
        calls=tuple([fact for fact in calls if fact.text]),
        writes=tuple([Fact(as_python_code(as_own(fact.text, receiver), language), fact.line) for fact in facts.writes]),
        returned=tuple(
            [Fact(as_python_code(as_own(fact.text, receiver), language), fact.line) for fact in facts.returned]
        ),
    )


@lru_cache(maxsize=16384)
def _topic(name: str) -> tuple[str, frozenset[str]]:
    """A name as it is said, and its folded words; of one that is not worth mentioning, none."""
    topic = spoken(name.strip("_"))
    is_told = len(topic) > 2 and _is_topic(name)
    return (topic, frozenset(_folded(topic))) if is_told else ("", frozenset())


def _is_topic(name: str) -> bool:
    """Whether a name is worth mentioning: it tells something, in words that others use too."""
    words = split_identifier(name)
    return any(map(telling, words)) and all(word_bucket(word) <= _MAX_TOPIC_BUCKET for word in words)


@lru_cache(maxsize=16384)
def _rarest_first(name: str) -> tuple[float, str]:
    """Sorts names by how telling they are."""
    return -_rarest(split_identifier(name)), name


def _read_acts(calls: tuple[Fact, ...], raised_names: set[str]) -> list[tuple[int, str, Fact]]:
    """(how telling, phrase, fact) of the calls that can be said, in source order, each phrase once."""
    found: dict[str, tuple[int, str, Fact]] = {}
    for fact in calls:
        said = call_phrase(fact.text)
        if said and said[1] not in found and fact.text.rpartition(".")[2] not in raised_names:
            found[said[1]] = (*said, fact)
    return list(found.values())


def _read_writes(writes: tuple[Fact, ...]) -> tuple[list[str], list[str]]:
    """Words for what of its own object it assigns, and for the rest: items, other objects' attributes, globals."""
    own: dict[str, None] = {}
    other: dict[str, None] = {}
    for fact in writes:
        words = target_words(fact.text)
        if words:
            (own if fact.text.partition(".")[0] in RECEIVERS else other).setdefault(words)
    return list(own), [words for words in other if len(words) > 2 and words not in own]


def _as_sentence(clauses: list[str], limit: int) -> str:
    text = ""
    for clause in clauses:
        if not text:
            text = clip(clause, limit - 1)
        elif len(text) + len(clause) + 3 <= limit:
            text = f"{text}; {clause}"
    return f"{text[0].upper()}{text[1:].rstrip('.')}." if text else ""


def _folded(text: str) -> set[str]:
    return {fold_plural(word.strip(".,;:()“”\"'")) for word in text.lower().split()}


def _is_held(phrase: str, held: set[str]) -> bool:
    """Whether a text's folded words hold all of a phrase's longer words."""
    words = {fold_plural(word) for word in phrase.lower().split() if word not in _SMALL_WORDS}
    return bool(words) and words <= held


def _rarest(words: tuple[str, ...] | list[str]) -> float:
    return max(map(telling, words), default=0.0)


def unsaid_name(name: str, said: str, *, is_test: bool) -> str:
    """A function's name in words, if a text does not hold more than half of them; any of them for a test."""
    words = [word for word in name_words(name) if word not in ("test", "do", "get", "is") and len(word) > 1]
    held = _folded(said)
    missing = [word for word in words if fold_plural(word) not in held]
    is_unsaid = bool(missing) if is_test else len(missing) > 1 and len(missing) * 2 > len(words)
    return spoken("_".join(words)) if is_unsaid else ""
