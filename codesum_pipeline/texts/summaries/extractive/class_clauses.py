"""The clause of a class, by the agent noun, error, settings or enumeration that its name says it is."""

from collections.abc import Sequence

from codesum_pipeline.texts.summaries.extractive.noun_phrases import is_adjective, is_phrase, noun_phrase, pluralize
from codesum_pipeline.texts.summaries.extractive.verb_forms import grammar_table, grammar_words, verb_at
from codesum_pipeline.texts.summaries.extractive.words import name_words, word_in_full
from codesum_pipeline.texts.summaries.inputs import ClassInput

_AGENTS = {name.lower(): verb for name, verb in grammar_table("agents").items()}
_MADE_HOW = grammar_words("made_how")
_ERRORS = ("error", "exception")
_SETTINGS = {"config": "settings", "configuration": "settings", "settings": "settings", "options": "options",
             "option": "options", "preferences": "preferences"}  # fmt: skip
_KINDS = {"type": "types", "kind": "kinds", "status": "states", "state": "states", "mode": "modes", "level": "levels",
          "category": "categories", "phase": "phases"}  # fmt: skip


def class_clause(class_: ClassInput, words: Sequence[str]) -> str:
    """One clause about a class; "" where its name says nothing certain."""
    if not words:
        return ""
    if _holds_tests(class_, words):
        return _tests(words)
    if is_error(class_, words):
        return _signals(words)
    if is_enumeration(class_):
        return _lists(words)
    if words[-1] in _AGENTS:
        return _acts(words)
    if words[-1] in _SETTINGS:
        return _holds(words)
    return ""


def is_error(class_: ClassInput, words: Sequence[str]) -> bool:
    bases = [base.split("(")[0].rpartition(".")[2] for base in class_.bases]
    is_raised = any(base.endswith(("Error", "Exception")) or base == "Throwable" for base in bases)
    return is_raised or (words[-1] in _ERRORS and len(words) > 1)


def is_enumeration(class_: ClassInput) -> bool:
    head = [*class_.modifiers, *class_.signature.replace("(", " ").replace("{", " ").split()[:6]]
    return "enum" in head or any(
        base.rpartition(".")[2] in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag") for base in class_.bases
    )


def _holds_tests(class_: ClassInput, words: Sequence[str]) -> bool:
    """Whether a class holds tests: by its last word and what it holds or extends, or by its first and what it holds."""
    own = [child.name.rpartition("::")[2].rpartition(".")[2] for child in class_.children]
    has_tests = any(name_words(name)[:1] == ("test",) for name in own)
    if words[0] == "test" or words[-1] == "spec":
        return has_tests or any(name_words(base)[-1:] in (("case",), ("spec",), ("suite",)) for base in class_.bases)
    return words[-1] in ("test", "tests") and (has_tests or bool(own) or bool(class_.bases))


def _tests(words: Sequence[str]) -> str:
    rest = words[1:] if words[0] in ("test", "tests") else words[:-1]
    rest = rest[:-1] if rest[-1:] in (("test",), ("tests",), ("case",)) else rest
    phrase = noun_phrase(rest)
    return f"tests {phrase}" if phrase else ""


def _signals(words: Sequence[str]) -> str:
    rest = words[:-1] if words[-1] in _ERRORS else words
    if not rest:
        return ""
    if (is_adjective(rest[-1]) and rest[-1].endswith("ed")) or rest[-1] == "found":
        is_not = len(rest) > 1 and rest[-2] == "not"
        named = rest[: -2 if is_not else -1]
        phrase = noun_phrase(named, article="a")
        return f"signals that {phrase} was {'not ' if is_not else ''}{rest[-1]}" if phrase else ""
    if rest is words or is_adjective(rest[0]) or rest[-1] in ("timeout", "failure", "conflict", "overflow", "mismatch"):
        phrase = noun_phrase(rest, article="a")
    else:
        phrase = noun_phrase((*rest, "error"), article="a")
    return f"signals {phrase}" if phrase else ""


def _lists(words: Sequence[str]) -> str:
    """An enumeration: `TokenKind` lists the kinds of tokens, `Color` the colors."""
    if words[-1] in _KINDS and len(words) > 1:
        phrase = noun_phrase(words[:-1], article="a")
        is_state = words[-1] in ("status", "state")
        many = " ".join(map(word_in_full, (*words[:-2], pluralize(words[-2]))))
        return f"lists the {_KINDS[words[-1]]} of {phrase if is_state else many}" if phrase else ""
    many = (*words[:-1], pluralize(words[-1]))
    return (
        f"lists the possible {' '.join(map(word_in_full, many))}"
        if is_phrase(words) and not is_adjective(words[-1])
        else ""
    )


def _acts(words: Sequence[str]) -> str:
    rest = [word for word in words[:-1] if word not in _MADE_HOW]
    if not rest or not is_phrase(rest) or len(rest) > 3 or rest[-1].endswith("ing"):
        return ""
    spoken = " ".join(map(word_in_full, (*rest[:-1], pluralize(rest[-1]))))
    return f"{_AGENTS[words[-1]]} {spoken}"


def _holds(words: Sequence[str]) -> str:
    rest, kind = words[:-1], _SETTINGS[words[-1]]
    verb = verb_at(rest)
    if verb and len(rest) == 1:
        return f"holds the {kind} of {verb.ing}"
    phrase = noun_phrase(rest)
    return f"holds the {kind} of {phrase}" if phrase else ""
