"""What a function's code shows of its result and its texts; what may be wrong is left out.

The parser read all of it: nothing here looks at code. Names of other code are
written as words.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain, islice

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, word_set
from codesum_pipeline.evidence.extractive.composing import RECEIVERS
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.known_calls import Effect, field_words, known_calls
from codesum_pipeline.evidence.extractive.words import (
    in_a_row,
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


_ASSIGNED = re.compile(
    r"^[ \t]*(?:(?:if|for|let|const|var|val|local|auto|final|mut|static|\() ?){0,3}"
    r"((?:\w{1,80}, ?){0,4}\w{1,80})(?: ?: ?[^=\n]{1,60})? ?(?::=|=(?![=>~])|\bin\b|\bof\b)",
    re.M,
)
# A name that stands right behind another, as in a declaration.
_DECLARED = re.compile(r"(?<=[\w>\]*&?])\s++[*&]?([A-Za-z_]\w{0,80})")
# So many assignments of bare names are read.
_MOST_ASSIGNMENTS = 200
# A statement that assigns a bare name; and the languages in which that may be a field of the object.
_BARE_ASSIGNED = re.compile(r"^[ \t]+([A-Za-z_]\w{2,80}) ?(?:[-+*/|&]?=(?![=>])|\+\+|--)", re.M)
_BARE_FIELDS = frozenset(("java", "kotlin", "c-sharp", "scala", "cpp"))
_MAX_SOURCE_CHARS = 100_000
_MAX_NAMES = 3
# Conditions under which a field has no value yet.
_MISSING = (
    "!{}", "not {}", "{} is None", "{} == null", "{} === null", "{} === undefined", "{} == undefined", "{} == nil",
    "{}.nil?", "not {}.present?",
)  # fmt: skip
_ANY = "any"


def assigned_names(function: FunctionInput) -> frozenset[str]:
    """The names that the function gives a value of its own."""
    source = function.canonical_source[:_MAX_SOURCE_CHARS]
    return frozenset(name.strip() for match in _ASSIGNED.finditer(source) for name in match[1].split(","))


def changed_arguments(function: FunctionInput) -> Iterator[Effect]:
    """The arguments of which it assigns an attribute or an item, as one effect."""
    given = {_bare(one.name): one for one in function.facts.parameters if one.kind in ("positional", "keyword")}
    assigned = [one for one in function.facts.writes if one.names and one.names[0] in given]
    known = known_calls(function.language)
    if not assigned or known is None:
        return
    own = assigned_names(function)
    changed = [
        one
        for one in assigned
        if one.names[0] not in own
        and one.names[0] not in RECEIVERS
        and _reaches_caller(one, _as_declared(function, given[one.names[0]]), known.field_marks, known.item_marks)
    ]
    names = list(dict.fromkeys(one.names[0] for one in changed))[:_MAX_NAMES]
    if names:
        is_named = all(len(name) > 1 for name in names)
        text = f"changes its argument{'s' if len(names) > 1 else ''}" + (f" {in_a_row(names)}" if is_named else "")
        yield Effect("mutates", text, changed[0].line, text)


def changed_fields(code: CodeFacts) -> Iterator[Effect]:
    """The fields of its own object that it assigns, as one effect; a constructor's are no news."""
    if code.is_constructor():
        return
    fields = _written_fields(code)
    bare = [*_bare_fields(code.function)]
    if fields or bare:
        found = [*(path[0] for _, path in fields), *(name for name, _ in bare)]
        names = list(dict.fromkeys(name_in_words(field_name(name)) for name in found if _is_thing(name)))[:_MAX_NAMES]
        is_set = all(one.form is Form.NAME and len(path) == 1 for one, path in fields)
        verb = "sets" if is_set and names else "changes"
        is_kept = (
            len(fields) == 1 and verb == "sets" and not bare and _is_kept(fields[0][0], code.function.canonical_source)
        )
        text = f"{verb} its {in_a_row(names) if names else 'state'}{' when missing' if is_kept and names else ''}"
        yield Effect("mutates", text, fields[0][0].line if fields else bare[0][1], text)


def set_fields(code: CodeFacts) -> list[str]:
    """The names of the fields of its own object that it assigns whole, in their order."""
    return [path[0] for one, path in _written_fields(code) if len(path) == 1 and one.form is Form.NAME and not one.when]


def _written_fields(code: CodeFacts) -> list[tuple[Fact, tuple[str, ...]]]:
    receivers = {_bare(one.name) for one in code.facts.parameters if one.kind == "receiver"} | {*RECEIVERS}
    return [(one, path) for one in code.facts.writes if (path := _path_in_object(one, receivers))]


def _is_kept(written: Fact, source: str) -> bool:
    """Whether a field is assigned only where it has no value yet."""
    name, code = written.text, source[:_MAX_SOURCE_CHARS]
    kept = sum(code.count(f"{name} {sign} ") for sign in ("||=", "??="))
    is_only = code.count(f"{name} = ") + kept == 1
    return is_only and (kept == 1 or written.when in {one.format(name) for one in _MISSING})


def _bare_fields(function: FunctionInput) -> Iterator[tuple[str, int]]:
    """The fields that it assigns by their bare names, and the lines: names that nothing in the function declares."""
    owner = function.qualified_name.rpartition(".")[0].rpartition(".")[2]
    if function.language not in _BARE_FIELDS or not owner[:1].isupper() or "static" in function.modifiers:
        return
    source = function.canonical_source[:_MAX_SOURCE_CHARS]
    declared = {*_DECLARED.findall(source), *(_bare(one.name) for one in function.facts.parameters)}
    open_brackets, line, done = 0, 1, 0
    for match in islice(_BARE_ASSIGNED.finditer(source), _MOST_ASSIGNMENTS):
        between = source[done : match.start(1)]
        open_brackets += between.count("(") - between.count(")")
        line += between.count("\n")
        done = match.start(1)
        if not open_brackets and match[1] not in declared and not between.rstrip(" \t\n").endswith((",", "=")):
            yield match[1], line


def field_name(name: str) -> str:
    """A field's name without the mark of its being one: `m_rows`, `mRows`."""
    return re.sub(r"^m_|^m(?=[A-Z])", "", name)


def _path_in_object(written: Fact, receivers: set[str]) -> tuple[str, ...]:
    """The names within its object that lead to what is assigned; none for what is another object's."""
    if "(" in written.text:
        return ()
    if written.text.startswith("@"):
        return written.names
    return written.names[1:] if written.names and written.names[0] in receivers else ()


def _is_thing(name: str) -> bool:
    """Whether a field's name is a noun of its own: not a letter, not a claim such as `isOpen`, not `last`."""
    words = name_words(name)
    is_claim = words[:1] and (
        words[0] in field_words("claims") or (len(words) == 1 and words[0] in field_words("no_things"))
    )
    return len(name.strip("_")) > 2 and not is_claim


def _as_declared(function: FunctionInput, parameter: Parameter) -> str:
    """A parameter with its type and what else its signature says of it: `&$row`, `row: inout Row`."""
    name = re.search(rf"\b{re.escape(_bare(parameter.name))}\b", function.signature)
    before, after = (function.signature[: name.start()], function.signature[name.end() :]) if name else ("", "")
    sign = before.rpartition(",")[2].rpartition("(")[2]
    return f"{sign}{parameter.name} {parameter.type or ''} {after.partition(',')[0]}"


def _reaches_caller(written: Fact, declared: str, field_marks: str, item_marks: str) -> bool:
    """Whether an assignment through a parameter changes what the caller holds."""
    is_item = written.form is Form.ITEM
    if not is_item and (written.form is not Form.NAME or (len(written.names) < 2 and written.text[:1] != "*")):
        return False
    marks = item_marks if is_item else field_marks
    shown = f"{declared} {'->' if '->' in written.text else ''}"
    return marks == _ANY or (any(mark in shown for mark in marks.split()) and "const " not in shown)


def _bare(name: str) -> str:
    return name.strip("*&$@. ")
