"""What a function's code shows of its result and its texts; what may be wrong is left out.

The parser read all of it: nothing here looks at code. Names of other code are
written as words.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, word_set
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.words import (
    name_in_words,
    name_words,
    shared_prefix,
    split_identifier,
    telling_weight,
)
from codesum_pipeline.evidence.inputs import FunctionInput
from codesum_pipeline.foundation.data_model.symbol import Fact, Form, Parameter
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait
from codesum_pipeline.foundation.language_facts.writing_systems import count_letters, letters_worth

_FILLED = re.compile(
    r"\\\([^()]*\)|[$#%]?\{[^{}]*\}|%(?:\([^()]*\))?(?:\[\d\])?[-#0 +']*+\d*+(?:\.\d+)?l*[a-zA-Z](?![a-zA-Z])"
    r"|<%=?(?:(?!<%).)*?%>|\$[A-Za-z_]\w*"
)
_ESCAPES = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|0\d\d|e\[[\d;]*m|[nrtbfv0])")
_GAPS = re.compile(r"(?<!\s)\s*+(?:…[\s'\"(),:]*+(?=…))+")
_JOINED = re.compile(r"…(?=\w)")


@lru_cache(maxsize=4096)
def message_in_words(text: str) -> str:
    """One line of words; "" of a text without any."""
    words = _ESCAPES.sub(" ", text)
    words = _FILLED.sub("…", words).replace("\\", "") if any(mark in words for mark in "%{\\$") else words
    words = make_printable(_JOINED.sub("… ", _GAPS.sub("", words))).strip(" :;,.-=>")
    words = words[1:-1] if words[:1] == words[-1:] == "'" and "'" not in words[1:-1] else words
    return words if any(map(str.isalpha, words)) else ""


_RECEIVERS = frozenset(("self", "cls", "this", "super", "mcs", "klass", "static", "parent", "Self", "base", "me"))
_MAX_RESULTS, _MAX_LITERALS = 3, 4
_MAX_TYPE_CHARS = 60
_MAX_LITERAL_CHARS = 40
_TRUTH = "true or false"
_OF_ALL_WAYS = (Form.NAME, Form.ITEM, Form.TRUTH)
_NO_TYPES = word_set("no_types")
# Names that say nothing about what they name.
_EMPTY_NAMES = word_set("empty_names")
# Calls of a language itself and of its everyday types and test runners.
_EVERYDAY_CALLS = word_set("everyday_calls")
# Names of types and encodings that code compares with.
_EVERYDAY_TEXTS = word_set("everyday_texts")


class CodeFacts:
    """What one function's code shows; `prefix` are the words that its library puts before its names."""

    def __init__(self, function: FunctionInput) -> None:
        self.function = function
        self.facts = function.facts
        receivers = (one.name.strip("*&$") for one in self.facts.parameters if one.kind == "receiver")
        self._receivers = {*_RECEIVERS, *receivers}
        self._empty = self._receivers | _EMPTY_NAMES
        self.prefix = self._prefix()

    @cached_property
    def result(self) -> str:
        """What is returned: its type if the code says it, else what the values show; "" if neither is known."""
        written = make_printable(self.facts.return_type or "").strip().removeprefix("->").strip(" :'\"")
        if has_trait(self.function.language, Trait.TYPE_PREDICATES) and " is " in written:
            return "" if written.startswith("asserts ") else _TRUTH
        if written:
            is_type = written not in _NO_TYPES and 1 < len(written) <= _MAX_TYPE_CHARS and self._stands_last(written)
            return written if is_type else ""
        if self.is_constructor() or self.is_test():
            return ""
        ways = {one: self._value(one) for one in self.facts.returned if one.form is not Form.NOTHING}
        # Where one way out is not known, a name or a truth value from another is not what comes back.
        is_known = all(ways.values())
        values = [value for one, value in ways.items() if value and (is_known or one.form not in _OF_ALL_WAYS)]
        if _TRUTH in values and not self._may_be_both():
            return ""
        return " or ".join([*dict.fromkeys(values)][:_MAX_RESULTS])

    def _may_be_both(self) -> bool:
        """Whether true and false may come back, and nothing else: who only ever says `return true` gives no answer."""
        truths = {one.text.lower() for one in self.facts.returned if one.form is Form.TRUTH}
        is_answer = not any(one.form is Form.NOTHING for one in self.facts.returned)
        return is_answer and (len(truths) > 1 or truths.isdisjoint(("true", "false")))

    def is_constructor(self) -> bool:
        """Whether it makes an instance of the class around it."""
        owner = self.function.qualified_name.rpartition(".")[0].rpartition(".")[2]
        makers = ("__init__", "constructor", "__construct", "initialize", "init")
        return bool(owner) and self.function.name in (owner, *makers)

    def _stands_last(self, written: str) -> bool:
        """Whether the type is right before the name: in C a macro between them may have been read as the type."""
        if not has_trait(self.function.language, Trait.MACROS):
            return True
        head = self.function.signature.partition(f"{self.function.name}(")[0].split()
        before = [word.strip("*&") for word in head if not word.endswith("::")]
        return "(" not in written and (not before or before[-1] in written)

    def is_test(self) -> bool:
        """Whether it is a test, whose last value is no result. Names with blanks are sentences of tests."""
        name = self.function.name
        return "test" in self.function.modifiers or name_words(name)[:1] == ("test",) or " " in name.strip()

    def literals(self, opening: str) -> list[str]:
        """The texts in its body that add something to the opening, except for errors' messages."""
        raised = {one.said for one in self.facts.raises}
        return _beside(
            find_telling_texts([text for text in self.facts.literals if text not in raised]), _stems(opening)
        )

    def words(self) -> Iterator[str]:
        """The names that its code uses, for keywords."""
        for one in (*self.facts.calls, *self.facts.writes, *self.facts.returned, *self.facts.raises):
            yield from (name for name in one.names[-2:] if name not in self._receivers and name not in _EVERYDAY_CALLS)

    def _prefix(self) -> tuple[str, ...]:
        bare = [one.names[0] for one in self.facts.calls if len(one.names) == 1]
        types = [word for one in self.facts.parameters for word in (one.type or "").replace("*", " ").split()]
        prefix = shared_prefix([self.function.name, *bare, *types])
        words = name_words(self.function.name)
        if prefix[:1] == ("test",):
            return ()
        return prefix if words[: len(prefix)] == prefix and len(words) > len(prefix) else ()

    def _value(self, one: Fact) -> str:
        """What one returned value is, as far as its form or its name shows."""
        last = one.names[-1] if one.names else ""
        are_types_called = has_trait(self.function.language, Trait.BUILT_IN_TYPES_ARE_CALLED)
        match one.form:
            case Form.TRUTH:
                return _TRUTH
            case Form.TEXT | Form.NUMBER | Form.LIST:
                return one.form.value
            case Form.MAPPING:
                return "dict" if are_types_called else "mapping"
            case Form.CALL if last in ("dict", "list", "set", "tuple", "str", "int", "float", "bytes", "frozenset"):
                return last if are_types_called else ""
            case Form.CALL if made := self.class_made(one):
                return name_in_words(made, self.prefix)
            case Form.NAME | Form.ITEM if _has_meaning(last) and not {last, last.lower()} & self._empty:
                # Where calls need no brackets, a longer chain may be one.
                is_bare = one.form is Form.NAME and len(one.names) == 1
                if has_trait(self.function.language, Trait.CHAINS_CALL) and not is_bare:
                    return ""
                return (
                    name_in_words(last, self.prefix)
                    if one.form is Form.NAME
                    else f"item of {name_in_words(last, self.prefix)}"
                )
        return ""

    def class_made(self, one: Fact) -> str:
        """The class that a call makes an object of, as its language shows it; "" of other calls."""
        *_, before, last = ("", "", *one.names)
        if last == "new":
            return before if before[:1].isupper() else ""
        if one.text.startswith("new "):
            return "" if "(" in one.text else last
        is_marked = has_trait(self.function.language, Trait.CLASSES_ARE_CALLED) and not before[:1].isupper()
        return last if is_marked and last.lstrip("_")[:1].isupper() and not last.isupper() else ""


def parameter_words(parameter: Parameter) -> str:
    return name_in_words(parameter.name.strip("_*&$@.")) or "value"


def find_telling_texts(texts: Iterable[str]) -> list[str]:
    """Texts that a person would search for, quoted: those that have a distinctive word and contain no code."""
    found: dict[str, float] = {}
    for text in texts:
        message = message_in_words(text).strip(" …:,")
        if (
            3 < letters_worth(message) <= _MAX_LITERAL_CHARS
            and '"' not in message
            and message.lower() not in _EVERYDAY_TEXTS
            and count_letters(message) * 3 > len(message) * 2
            and without_foreign_names(message, ()) == message
        ):
            words = chain.from_iterable(map(split_identifier, message.split()))
            found.setdefault(f'"{message}"', max(map(telling_weight, words), default=0.0))
    best = sorted((text for text in found if found[text] > 0.3), key=lambda text: -found[text])[:_MAX_LITERALS]
    return [text for text in found if text in best]


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for part in text.split() for word in split_identifier(part))


def _beside(items: Iterable[str], words: frozenset[str]) -> list[str]:
    """The items, each once, that have a word besides these."""
    return [item for item in dict.fromkeys(items) if not _stems(item) <= words]


def _has_meaning(name: str) -> bool:
    """Whether a name is a word: longer than two letters, or one of the few short ones that everybody knows."""
    bare = name.rstrip("0123456789")
    return len(bare) > 2 or telling_weight(bare.lower()) > 0 if bare and any(map(str.isalpha, bare)) else False
