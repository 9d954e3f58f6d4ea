"""What a test expects: its most telling assertions in one sentence.

`assert response.status == 503` gives "Expects response.status == 503.". A name that was given its only value in the
test and is used nowhere else but in the assertion stands for that value. What says nothing to a reader, such as
`assertEquals(expected, actual)`, is left out.
"""

import re
from collections.abc import Collection, Iterator

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, make_sentence
from codesum_pipeline.evidence.extractive.assertions import Assertion, assertions_in, tables
from codesum_pipeline.evidence.extractive.bracketed_text import outside_of_brackets
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts
from codesum_pipeline.evidence.extractive.composing import RECEIVERS
from codesum_pipeline.evidence.extractive.effects import with_article
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.names_of_tests import is_test
from codesum_pipeline.evidence.extractive.words import in_a_row, name_in_words, name_words, telling_stems

_MOST, _MOST_READ, _MOST_VALUES = 3, 40, 60
_MAX_SIDE, _MAX_SENTENCE = 70, 170
_MAX_SOURCE, _MAX_LINE = 40_000, 200
_ASKING = frozenset(("assert", "expect", "verify", "check", "should", "ensure"))
_NAME = re.compile(r"[A-Za-z_$@]\w*")
_ONLY_NAME = re.compile(r"[A-Za-z_]\w*")
_TEXT = re.compile(r"\"(?:[^\"\\]|\\.){0,200}+\"|'(?:[^'\\]|\\.){0,200}+'|`[^`]{0,200}`")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d_.]*\w{0,3}(?!\w)")
_LITERAL = re.compile(rf"[-+]?\d[\w.]*|{_TEXT.pattern}|:\w+|true|false|True|False|nil|null|None|undefined")
_TRUTHS = frozenset(("true", "false", "True", "False", "TRUE", "FALSE"))
_NOTHINGS = frozenset(("nil", "null", "None", "undefined", "nullptr", "NULL", "err", "error"))
# There every value is true or false.
_TRUTHY = frozenset(("python", "ruby", "elixir", "lua", "javascript", "typescript", "tsx"))
_ANSWERING = frozenset(
    ("is", "has", "can", "any", "all", "isinstance", "startswith", "endswith", "exists", "exist", "contains")
)
# Code that is no plain expression.
_NO_VALUE = re.compile(r"\| ?\w+ ?\||::<|\blambda\b|\bfunction\b|\bfunc\b|\bfn\b|\\$|[;…]|\{ ?\|")
# There `=>` stands in mappings, and `->` before a member.
_MAPPING, _POINTING = frozenset(("elixir", "ruby", "php")), frozenset(("c", "cpp", "php"))
_ASSIGNED = re.compile(
    r"\s*(?:(?:const|let|var|val|auto|final|my|local|mut|public|static|[A-Z]\w*(?:<\w+>)?|int|long|double|boolean|char|byte"
    r"|size_t|string|bool|float) ){0,3}[&*$]?([A-Za-z_]\w*)(?:: ?[\w<>\[\]]+)? ?:?= ?(?![=~>])(.+)$"
)
_OF_TYPE = re.compile(r"(?:\.class|::class|\.self|\.Type)$")
_READ_FROM = re.compile(r"(?:(?:len|size|count|list|str|type)\()?([A-Za-z_]\w*)[.\[)]")
# A call with its first argument, if that is a text.
_CALL = re.compile(r"(?:[\w$@]+(?:\.|->|::))*+([A-Za-z_]\w*)\((?:[\"'][^\"']{0,60}[\"'](?=[,)]))?")
_MAKING = frozenset(("new", "make", "create", "build", "must", "mock", "open", "setup", "factory"))
_PREFIX = re.compile(r"(?:await |try[!?]? |new |&(?:mut )?|\*(?=\w)|mut |ref |out |std::move)+")
_CALLED_WITH = re.compile(r"(?<=[\w!?])\(")
_COMPARED = (
    " == ", " != ", " === ", " !== ", " >= ", " <= ", " > ", " < ", " =~ ", " in ", " is ", " not in ", " -eq ",
)  # fmt: skip
_JOINED = ("&&", "||", " and ", " or ", " if ", " ? ")
_SIZES = re.compile(r"(?:> 0|!= 0|>= 1|is not None|!= nil|!= null|!== null|!== undefined|~= nil)$")
_GLUED = re.compile(r"['\])}](?=[A-Za-z])")
# What makes a text or a number another kind of value.
_CONVERTED = re.compile(r"\.(?:to_string|to_owned|into|unwrap|as_bytes|to_str|to_vec|as_str|clone)\(\)$|!!$|!$")
_UNWRAPPED = re.compile(r"\.await\b\??|\.unwrap\(\)")
# What a piece of code may not begin with after "expects".
_MISLEADING = ("to ", "that ", "not to ")
# Stands between a called name and its bracket while names are spelled.
_UNTELLING = ("expect", "want", "actual")
_MARK = "\u2060"
# Tests of Qt are methods without a mark.
_OF_QT = re.compile(r"^\s{0,40}Q(?:COMPARE|VERIFY2?)\(", re.M)


class _Expected(Struct, frozen=True):
    clause: str
    line: int
    weight: int
    subject: str = ""
    after: str = ""


class _Value(Struct, frozen=True):
    """What a name was given, how far its line is indented, and the names in it."""

    text: str
    indent: int
    names: frozenset[str]


def expectations_in_prose(code: CodeFacts, own: Collection[str], headline: str) -> str:
    """One sentence of at most three expectations; "" of what neither is a test nor asserts for tests, and where nothing
    would be telling."""
    function = code.function
    is_asking = bool(_ASKING.intersection(name_words(function.name)[:1]))
    is_asking = is_asking or (function.language == "cpp" and _OF_QT.search(function.canonical_source) is not None)
    is_inverted = any(one in function.canonical_source for one in tables()["words"]["inverting"])
    if is_inverted or not (is_test(function) or is_asking):
        return ""
    found: dict[str, _Expected] = {}
    for one in _TestReader(code, own).read():
        is_echo = telling_stems(one.clause) <= telling_stems(headline)
        is_echo = is_echo and all(text in headline for text in _TEXT.findall(one.clause))
        if one.clause and (one.weight > 2 or not is_echo):
            found.setdefault(one.clause, one)
    best = sorted((one for one in found.values() if one.weight >= 0), key=lambda one: -one.weight)
    best = [one for one in best if one.weight > 1 or best[0].weight <= 1]
    chosen, length = list[_Expected](), 0
    for one in best[:_MOST_READ] if best and best[0].weight else best[:1]:
        # What is said of a subject again, it has become since.
        is_new = not one.subject or all(one.subject != other.subject for other in chosen)
        if len(chosen) < _MOST and is_new and (not chosen or length + len(one.clause) <= _MAX_SENTENCE):
            chosen.append(one)
            length += len(one.clause)
    ordered = [one.clause for one in sorted(chosen, key=lambda one: one.line)]
    # What all of them were read from.
    (after,) = calls if len(calls := {one.after for one in chosen}) == 1 else ("",)
    return make_sentence(f"Expects {in_a_row(ordered)}{f' after {after}' if after else ''}") if ordered else ""


class _TestReader:
    def __init__(self, code: CodeFacts, own: Collection[str]) -> None:
        self._code, self._own = code, own
        self._language = code.function.language
        self._source = code.function.canonical_source[:_MAX_SOURCE]
        self._lines = self._source.split("\n")
        self._read = 0
        self._values: dict[str, _Value] = {}
        self._given = set[str]()
        self._indent = 0

    def read(self) -> Iterator[_Expected]:
        """What is expected, line by line; `_values` are those of names that no line has used since they have them."""
        found = assertions_in(self._source, self._language)
        for _, one in zip(range(_MOST_READ), found, strict=False):
            for line in self._lines[self._read : one.line - 1]:
                self._assign(line)
            self._read = max(self._read, one.line)
            line = self._lines[one.line - 1]
            self._indent = len(line) - len(line.lstrip())
            yield self._expected(one)

    def _assign(self, line: str) -> None:
        """Read one line: a name has another value where the line uses it, or what its value was made of."""
        names = set(_NAME.findall(line))
        for name in [one for one in self._values if one in names or not names.isdisjoint(self._values[one].names)]:
            del self._values[name]
        match = _ASSIGNED.match(line) if len(line) < _MAX_LINE else None
        if match:
            self._given.add(match[1])
        if match and len(self._values) < _MOST_VALUES:
            value, indent = match[2].rstrip("; "), len(line) - len(line.lstrip())
            of = () if _LITERAL.fullmatch(value) else _NAME.findall(_TEXT.sub("", value))
            self._values[match[1]] = _Value(value, indent, frozenset(of))

    def _expected(self, one: Assertion) -> _Expected:
        if one.claim in ("raises", "panics"):
            return self._failure(one)
        claim, sides = one.claim, [self._value(side) for side in one.sides]
        if claim == "holds" or (claim in ("true", "false") and self._is_condition(sides[0])):
            return self._condition(sides[0], one, is_false=(claim == "false") ^ one.is_negated)
        if len(sides) == 2 and claim in ("equal", "close") and self._is_expected(*sides):
            sides.reverse()
        said = [self._said(side) for side in sides]
        if not all(said):
            return _Expected("", one.line, 0)
        template = tables()["claims"][claim]
        template = _negated(template) if one.is_negated else template
        if claim == "instance":
            kind = _OF_TYPE.sub("", sides[1]).replace("::", ".").rpartition(".")[2]
            said[1] = name_in_words(kind) or said[1]
        return _Expected(
            template.format(a=said[0], b=said[-1]),
            one.line,
            self._weight(claim, sides),
            said[0],
            self._call_of(sides[0]),
        )

    def _is_expected(self, left: str, right: str) -> bool:
        """Whether the first side is what the second is compared with."""
        if _LITERAL.fullmatch(right) or right[:1] in "[{(\"'":
            return False
        if _LITERAL.fullmatch(left) or left[:1] in "[{\"'":
            return True
        return self._is_untelling(left) or name_words(left)[:1] in (("expected",), ("want",))

    def _weight(self, claim: str, sides: list[str]) -> int:
        if (len(sides) == 2 and sides[0] == sides[1]) or all(_LITERAL.fullmatch(side) for side in sides):
            return -1
        if claim == "given" or (claim in ("none", "undefined") and sides[0] in _NOTHINGS):
            return 0
        if claim in ("true", "false", "none", "undefined", "empty", "called"):
            return -1 if self._is_untelling(sides[0]) else 2 if "(" in sides[0] else 1
        if all(map(self._is_untelling, sides)):
            return -1
        if any(_TEXT.search(side) or _NUMBER.search(side) for side in sides):
            return 3
        return 2 if any("(" in side or "." in side for side in sides) else 1

    def _is_untelling(self, side: str) -> bool:
        names = [one.lstrip("$@") for one in _NAME.findall(side) if one not in RECEIVERS]
        untelling = tables()["words"]["untelling"]
        if _TEXT.search(side) or _NUMBER.search(side) or "(" in side:
            return False
        return not names or names[-1].lower() in untelling or names[-1].startswith(_UNTELLING)

    def _is_condition(self, side: str) -> bool:
        return outside_of_brackets(side, _COMPARED, self._language)[1] != ""

    def _condition(self, text: str, one: Assertion, *, is_false: bool) -> _Expected:
        nothing = _Expected("", one.line, -1)
        if self._language == "elixir" and outside_of_brackets(text, (" = ",), "elixir")[1]:
            left, _, right = text.partition(" = ")
            value, pattern = self._said(right), self._said(left)
            is_telling = value and pattern and not self._is_untelling(left)
            return _Expected(f"{value} to match {pattern}", one.line, 2) if is_telling else nothing
        if outside_of_brackets(text, _JOINED, self._language)[1]:
            whole = self._said(text)
            return _Expected(whole, one.line, 1) if whole and not is_false and "if " not in text else nothing
        at, mark = outside_of_brackets(text, _COMPARED, self._language)
        if not mark:
            return self._truth(text, one, is_false=is_false)
        sides = [self._value(text[:at]), self._value(text[at + len(mark) :])]
        if mark in (" == ", " === ", " is ") and self._is_expected(*sides):
            sides.reverse()
        shown = [self._said(side) for side in sides]
        if not all(shown) or (is_false and mark not in (" == ", " === ", " in ")):
            return nothing
        if is_false:
            mark = " != " if "=" in mark else " not in "
        weight = 0 if _SIZES.search(text) else self._weight("equal", sides)
        if sides[-1] in _TRUTHS or sides[-1] in _NOTHINGS:
            weight = 0 if sides[0] in _NOTHINGS else min(weight, 2)
        return _Expected(f"{shown[0]}{mark}{shown[1]}", one.line, weight, shown[0], self._call_of(sides[0]))

    def _truth(self, text: str, one: Assertion, *, is_false: bool) -> _Expected:
        """`assert queue.is_empty()`, `assert not found`."""
        bare = text.strip()
        while bare.startswith(("not ", "!")) and not bare.startswith("!="):
            bare, is_false = bare.removeprefix("not ").removeprefix("!").strip(), not is_false
        said = self._said(bare)
        is_dull = _ONLY_NAME.fullmatch(bare) or _LITERAL.fullmatch(bare)
        weight = -1 if is_dull or self._is_untelling(bare) else 2 if "(" in bare else 1
        is_answer = (
            self._language not in _TRUTHY or "?" in bare or _ANSWERING.intersection(name_words(bare.partition("(")[0]))
        )
        what = ("false" if is_answer else "falsy") if is_false else ("true" if is_answer else "truthy")
        return _Expected(f"{said} to be {what}" if said else "", one.line, weight)

    def _failure(self, one: Assertion) -> _Expected:
        kind, text, body = one.sides
        kind = kind.rpartition(".")[2].removeprefix("Err") if self._language == "go" else kind.rpartition(".")[2]
        what = "a panic" if one.claim == "panics" else with_article(kind) if kind else "an error"
        said, ran = self._said(text) if text else "", self._said(body) if body else ""
        what = f"{what} with {said}" if said else what
        if one.is_negated:
            return _Expected(f"{ran} to raise no error" if ran else "", one.line, 2)
        weight = 3 if kind or said or ran else 2
        return _Expected(f"{ran} to raise {what}" if ran else what, one.line, weight)

    def _value(self, side: str) -> str:
        """What a side is: a name that has one value, and no other use, is that value."""
        name = side.strip()
        value = self._value_of(name)
        is_plain = value and len(value) <= _MAX_SIDE and not self._is_code(value)
        return self._stripped(value if is_plain else name)

    def _value_of(self, name: str) -> str:
        value = self._values.get(name)
        return value.text if value and value.indent <= self._indent else ""

    def _call_of(self, side: str) -> str:
        """The call that gave what a side is read from: `client.post("/learn")` of `response.status_code`."""
        match = _READ_FROM.match(side)
        value = self._value_of(match[1]) if match else ""
        call = _CALL.match(self._stripped(value))
        words = name_words(call[1]) if call else ()
        if call is None or value.startswith("new ") or _MAKING.intersection((*words[:1], *words[-1:])):
            return ""
        is_value = call[0].partition("(")[0] in self._given
        if is_value or (call[1][:1].isupper() and self._language not in ("go", "c-sharp")):
            return ""
        return self._said(f"{call[0]})").removesuffix("()")

    def _stripped(self, text: str) -> str:
        plain = _PREFIX.sub("", text.strip(), count=1) if _PREFIX.match(text.strip()) else text.strip()
        plain = _UNWRAPPED.sub("", plain) if self._language == "rust" else plain
        return _CONVERTED.sub("", plain.rstrip("?").strip())

    def _is_code(self, text: str) -> bool:
        """Whether it is more than a plain expression."""
        bare = _TEXT.sub("", text)
        is_open = any(bare.count(one) != bare.count(other) for one, other in ("()", "[]", "{}"))
        is_closure = "=>" in bare and self._language not in _MAPPING
        is_closure |= "->" in bare and self._language not in _POINTING
        return is_open or is_closure or _NO_VALUE.search(bare) is not None

    def _said(self, text: str) -> str:
        """Code as it may stand in the sentence: names of other code are words."""
        plain = self._stripped(text).replace("!!.", ".").replace("!.", ".")
        if make_printable(plain) != plain:
            return ""
        for receiver in (*RECEIVERS, "$this"):
            for arrow in (".", "->"):
                plain = plain.removeprefix(f"{receiver}{arrow}").replace(f"({receiver}{arrow}", "(")
        if not 0 < len(plain) <= _MAX_SIDE or self._is_code(plain):
            return ""
        if any(without_foreign_names(one, self._own) != one for one in _TEXT.findall(plain)):
            return ""
        marked = _CALLED_WITH.sub(f"{_MARK}(", plain).replace(f"{_MARK}()", "()")
        # Not at the beginning of a sentence, where a word has a capital.
        said = without_foreign_names(f"is {marked}", self._own).replace(_MARK, "").removeprefix("is ")
        is_plain = without_foreign_names(f"is {said}", self._own) == f"is {said}" and not said.startswith(_MISLEADING)
        return said if is_plain and not _GLUED.search(_TEXT.sub("''", said)) else ""


def _negated(template: str) -> str:
    return template.replace(" not to ", " to ") if " not to " in template else template.replace(" to ", " not to ", 1)
