"""What a test expects: its most telling assertions in one sentence.

`assert response.status == 503` gives "Expects response.status == 503.". A name that was given its only value in the
test and is used nowhere else but in the assertion stands for that value. What says nothing to a reader, such as
`assertEquals(expected, actual)`, is left out.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator

from msgspec import Struct

from codesum_pipeline.texts.summaries.author_texts.plain_sentences import make_printable, make_sentence
from codesum_pipeline.texts.summaries.extractive.assertions import Assertion, assertions_in, tables
from codesum_pipeline.texts.summaries.extractive.bracketed_text import outside_of_brackets
from codesum_pipeline.texts.summaries.extractive.changed_state import in_a_row
from codesum_pipeline.texts.summaries.extractive.code_facts import CodeFacts
from codesum_pipeline.texts.summaries.extractive.composing import RECEIVERS
from codesum_pipeline.texts.summaries.extractive.failures import with_article
from codesum_pipeline.texts.summaries.extractive.foreign_names import without_foreign_names
from codesum_pipeline.texts.summaries.extractive.names_of_tests import is_test
from codesum_pipeline.texts.summaries.extractive.words import name_in_words, name_words, telling_stems

_MOST, _MOST_READ = 3, 40
_MAX_SIDE, _MAX_SENTENCE = 70, 170
_MAX_SOURCE = 40_000
_ASKING = frozenset(("assert", "expect", "verify", "check", "should", "ensure"))
_NAME = re.compile(r"[A-Za-z_$@]\w*")
_ONLY_NAME = re.compile(r"[A-Za-z_]\w*")
_TEXT = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d_.]*\w{0,3}(?!\w)")
_LITERAL = re.compile(r"[-+]?\d[\w.]*|\"[^\"]*\"|'[^']*'|:\w+|true|false|True|False|nil|null|None|undefined")
_TRUTHS = frozenset(("true", "false", "True", "False", "TRUE", "FALSE"))
_NOTHINGS = frozenset(("nil", "null", "None", "undefined", "nullptr", "NULL", "err", "error"))
# Code that is no plain expression.
_NO_VALUE = re.compile(r"[=-]>|\blambda\b|\bfunction\b|\bfunc\b|\bfn\b|\\$|[;…]|\{ ?\|")
_ASSIGNED = re.compile(
    r"\s*(?:(?:const|let|var|val|auto|final|my|local|mut|public|static|[A-Z]\w*(?:<\w+>)?|int|long|double|boolean|char|byte"
    r"|size_t|string|bool|float) ){0,3}[&*$]?([A-Za-z_]\w*)(?:: ?[\w<>\[\]]+)? ?:?= ?(?![=~>])(.+)$"
)
_PREFIX = re.compile(r"(?:await |try[!?]? |new |&(?:mut )?|\*(?=\w)|mut |ref |out |std::move)+")
_CALLED_WITH = re.compile(r"(?<=[\w!?])\(")
_COMPARED = (" == ", " != ", " === ", " !== ", " >= ", " <= ", " > ", " < ", " =~ ", " in ", " is ", " not in ", " -eq ")
_JOINED = ("&&", "||", " and ", " or ", " if ", " ? ")
_SIZES = re.compile(r"(?:> 0|!= 0|>= 1|is not None|!= nil|!= null|!== null|!== undefined|~= nil)$")
# Stands between a called name and its bracket while names are spelled.
_MARK = "\u2060"


class _Expected(Struct, frozen=True):
    clause: str
    line: int
    weight: int


def expectations_in_prose(code: CodeFacts, own: Collection[str], headline: str) -> str:
    """One sentence of at most three expectations; "" of what is no test, and where nothing would be telling."""
    function = code.function
    if not (is_test(function) or "test" in function.modifiers or name_words(function.name)[:1][0:1] and _asks(code)):
        return ""
    reader = _Reader(code, own)
    found: dict[str, _Expected] = {}
    for one in reader.read():
        if one.clause and (one.weight > 2 or not telling_stems(one.clause) <= telling_stems(headline)):
            found.setdefault(one.clause, one)
    best = sorted(found.values(), key=lambda one: -one.weight)
    best = [one for one in best if one.weight > 1 or best[0].weight <= 1][:_MOST]
    chosen, length = list[_Expected](), 0
    for one in best[: 1 if best and not best[0].weight else _MOST]:
        length += len(one.clause)
        if not chosen or length <= _MAX_SENTENCE:
            chosen.append(one)
    ordered = [one.clause for one in sorted(chosen, key=lambda one: one.line)]
    return make_sentence(f"Expects {in_a_row(ordered)}") if ordered else ""


def _asks(code: CodeFacts) -> bool:
    """Whether a function that is no test asserts for tests: `assertVolumesEqual`."""
    return name_words(code.function.name)[0] in _ASKING


class _Reader:
    def __init__(self, code: CodeFacts, own: Collection[str]) -> None:
        self._code, self._own = code, own
        self._language = code.function.language
        self._source = code.function.canonical_source[:_MAX_SOURCE]
        self._lines = self._source.split("\n")
        self._uses = Counter(_NAME.findall(self._source))
        self._values = self._assigned()

    def _assigned(self) -> dict[str, str]:
        """The names that are given a value once, and are used once more."""
        found: dict[str, str] = {}
        for line in self._lines[:_MAX_SOURCE]:
            match = _ASSIGNED.match(line[:200]) if len(line) < 200 else None
            if match and self._uses[match[1]] == 2:
                found[match[1]] = match[2].rstrip("; ")
        return found

    def read(self) -> Iterator[_Expected]:
        for number, one in enumerate(assertions_in(self._source, self._language)):
            if number >= _MOST_READ:
                return
            yield self._expected(one)

    def _expected(self, one: Assertion) -> _Expected:
        if one.claim in ("raises", "panics"):
            return self._failure(one)
        if one.claim == "no_error":
            return _Expected("no error", one.line, 0)
        sides = [self._value(side) for side in one.sides]
        claim = one.claim
        if claim == "holds" or (claim in ("true", "false") and self._is_condition(sides[0])):
            return self._condition(sides[0], one, is_false=(claim == "false") ^ one.is_negated)
        if len(sides) == 2 and claim == "equal" and self._is_expected(*sides):
            sides.reverse()
        said = [self._said(side) for side in sides]
        if not all(said):
            return _Expected("", one.line, 0)
        template = tables()["claims"][claim]
        template = _negated(template) if one.is_negated else template
        if claim == "instance":
            said[1] = name_in_words(said[1].rpartition(".")[2].strip(":")) or said[1]
        if claim == "message":
            said = [said[1].removesuffix(" error").removesuffix(".Error") if len(said) > 1 else said[0]] * 2
            template = "an error with the message {b}"
        return _Expected(template.format(a=said[0], b=said[-1]), one.line, self._weight(claim, sides, one))

    def _is_expected(self, left: str, right: str) -> bool:
        """Whether the first side is what the second is compared with."""
        if _LITERAL.fullmatch(left) or left[:1] in "[{\"'":
            return not _LITERAL.fullmatch(right)
        return self._is_untelling(left) or name_words(left)[:1] in (("expected",), ("want",))

    def _weight(self, claim: str, sides: list[str], one: Assertion) -> int:
        if len(sides) == 2 and sides[0] == sides[1] or all(_LITERAL.fullmatch(side) for side in sides):
            return -1
        if claim in ("given", "no_error", "succeeds") or (claim in ("none", "undefined") and sides[0] in _NOTHINGS):
            return 0
        if claim in ("true", "false", "none", "undefined", "empty", "called"):
            return -1 if self._is_untelling(sides[0]) else 2 if "(" in sides[0] else 1
        if all(map(self._is_untelling, sides)):
            return -1
        if any(_TEXT.search(side) or _NUMBER.search(side) for side in sides):
            return 3
        return 2 if any("(" in side or "." in side for side in sides) else 1

    def _is_untelling(self, side: str) -> bool:
        names = [name for name in _NAME.findall(side) if name not in RECEIVERS]
        return not _TEXT.search(side) and not _NUMBER.search(side) and (
            "(" not in side and (not names or {names[-1].lower()} <= tables()["words"]["untelling"])
        )  # fmt: skip

    def _is_condition(self, side: str) -> bool:
        return outside_of_brackets(side, _COMPARED, self._language)[1] != ""

    def _condition(self, text: str, one: Assertion, *, is_false: bool) -> _Expected:
        nothing = _Expected("", one.line, -1)
        if outside_of_brackets(text, (" = ",), self._language)[1] and self._language == "elixir":
            left, _, right = text.partition(" = ")
            said = [self._said(right), self._said(left)]
            is_telling = all(said) and not self._is_untelling(left)
            return _Expected(f"{said[0]} to match {said[1]}", one.line, 2) if is_telling else nothing
        if outside_of_brackets(text, _JOINED, self._language)[1]:
            said = self._said(text)
            return _Expected(said, one.line, 1) if said and not is_false and "if " not in text else nothing
        at, mark = outside_of_brackets(text, _COMPARED, self._language)
        if not mark:
            return self._truth(text, one, is_false=is_false)
        sides = [self._value(text[:at]), self._value(text[at + len(mark) :])]
        if mark in (" == ", " === ") and self._is_expected(*sides):
            sides.reverse()
        said = [self._said(side) for side in sides]
        if not all(said) or (is_false and mark not in (" == ", " === ", " in ")):
            return nothing
        if is_false:
            mark = " != " if "=" in mark else " not in "
        weight = 0 if _SIZES.search(text) else self._weight("equal", sides, one)
        if sides[-1] in _TRUTHS or sides[-1] in _NOTHINGS:
            weight = 0 if sides[0] in _NOTHINGS else min(weight, 2)
        return _Expected(f"{said[0]}{mark}{said[1]}", one.line, weight)

    def _truth(self, text: str, one: Assertion, *, is_false: bool) -> _Expected:
        """`assert queue.is_empty()`, `assert not found`."""
        bare = text.strip()
        while bare.startswith(("not ", "!")) and not bare.startswith("!="):
            bare, is_false = bare.removeprefix("not ").removeprefix("!").strip(), not is_false
        said = self._said(bare)
        weight = -1 if self._is_untelling(bare) or _LITERAL.fullmatch(bare) else 2 if "(" in bare else 1
        return _Expected(f"{said} to be {'false' if is_false else 'true'}" if said else "", one.line, weight)

    def _failure(self, one: Assertion) -> _Expected:
        if one.claim == "panics":
            text = self._said(one.sides[0]) if one.sides[0] else ""
            return _Expected(f"a panic with {text}" if text else "a panic", one.line, 3 if text else 2)
        kind, text, body = one.sides
        what = with_article(kind.rpartition(".")[2]) if kind else "an error"
        said, ran = self._said(text) if text else "", self._said(body) if body else ""
        what = f"{what} with {said}" if said else what
        if one.is_negated:
            return _Expected(f"{ran} to raise no error" if ran else "", one.line, 2)
        weight = 3 if kind or said or ran else 2
        return _Expected(f"{ran} to raise {what}" if ran else what, one.line, weight)

    def _value(self, side: str) -> str:
        """What a side is: a name that has one value, and no other use, is that value."""
        name = side.strip()
        value = self._values.get(name, "") if _ONLY_NAME.fullmatch(name) else ""
        is_plain = value and len(value) <= _MAX_SIDE and not _NO_VALUE.search(value) and "{" not in value[:1]
        return self._stripped(value if is_plain else name)

    def _stripped(self, text: str) -> str:
        plain = _PREFIX.sub("", text.strip(), count=1) if _PREFIX.match(text.strip()) else text.strip()
        return plain.rstrip("?").strip()

    def _said(self, text: str) -> str:
        """Code as it may stand in the sentence: names of other code are words."""
        plain = make_printable(self._stripped(text))
        for receiver in (*RECEIVERS, "$this"):
            for arrow in (".", "->"):
                plain = plain.removeprefix(f"{receiver}{arrow}").replace(f"({receiver}{arrow}", "(")
        if not 0 < len(plain) <= _MAX_SIDE or _NO_VALUE.search(plain):
            return ""
        if any(without_foreign_names(one, self._own) != one for one in _TEXT.findall(plain)):
            return ""
        marked = _CALLED_WITH.sub(f"{_MARK}(", plain).replace(f"{_MARK}()", "()")
        said = without_foreign_names(marked, self._own).replace(_MARK, "")
        if said[:1] != plain[:1] and said[:1].lower() == plain[:1]:
            said = f"{said[:1].lower()}{said[1:]}"
        return said if without_foreign_names(said, self._own) == said else ""


def _negated(template: str) -> str:
    return template.replace(" not to ", " to ") if " not to " in template else template.replace(" to ", " not to ", 1)
