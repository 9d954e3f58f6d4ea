"""What the assertions in a test's code assert: each a claim about one or two pieces of code, as its framework means it.

A line is read only from its beginning on, so that an assertion is a statement of its own; what stands under a condition
or in a function inside the test may not be asserted at all, and is left out.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from codesum_pipeline.evidence.extractive.bracketed_text import outside_of_brackets, split_arguments
from codesum_pipeline.evidence.packaged_tables import packaged_table

# So many lines, and so much of each, are read.
_MOST_LINES, _MAX_LINE = 400, 400
_STATEMENT = re.compile(
    r"(?:(?:(?:var|val|let|const|final|local|auto|Throwable|Exception|\w+Exception) )?\w+ :?= )?"
    r"(?:(?:await|try[!?]?|return|yield|co_await|do|using|with|async|not) )*+#?"
    r"((?:[\w$@]+(?:\(\))?(?:\.|::|->))*+)([A-Za-z_]\w*[!?]?)"
)
_TYPE = re.compile(r" ?(?:<|\[|: ?)\s?((?:\w+(?:\.|::))*+\w+)(?:<\w+>)?(?: ?>|\])?")
_GUARDED = re.compile(
    r"[})\s]*(?:if|else|elif|elsif|unless|catch|except|rescue|switch|case|when|match|default|select|guard|#if\w*|#el\w+)\b"
)
_INNER = re.compile(
    r"(?:(?:public|private|static|override|inline|async|local|export) )*"
    r"(?:def|class|object|struct|fun|function|fn|func) \w"
)
_LINK = re.compile(r"(?:\?|!)?\.\s?([A-Za-z_]\w*[!?]?)")
_INFIX = (
    " shouldBe ", " shouldEqual ", " shouldNotBe ", " must_equal ", " mustBe ", " mustEqual ", " `shouldBe` ",
    " shouldContain ", " ==> ", " shouldReturn ", " `shouldContain` ", " `shouldReturn` ",
)  # fmt: skip
_SHOULD = (".should.", ".Should().", ".should_not.", ".must_equal", ".must_be", ".must_include", ".Should")
_TO = frozenset(("to", "tonot", "notto", "assertto", "toeventually"))
_WORD = re.compile(r"\s?\(?([A-Za-z_]\w*[!?]?)")
_CLASS = re.compile(r"(?:typeof\()?(?:\w+(?:\.|::))*+([A-Z]\w*|error\.\w+)(?:\.class|::class|\.self|\))*(?:\.java)?")
_CLOSURE = re.compile(
    r"(?:async |@escaping )?(?:\(\w*\)|\w+)? ?[-=]>\s?|(?:async )?function ?\(\w*\) ?(?=\{)|lambda: ?|fn ->|try "
    r"|func\(\) (?=\{)|move \|\| |\|\| |function\(\) "
)
_OPENS = re.compile(r" (?:do|\{|->|=>)$")
_TEXT = re.compile(r"r?\"[^\"]*\"|r?'[^']*'|/[^/]+/")
_OF_GO = re.compile(r"if (.+?) \{$")
_GO_FAILS = re.compile(r"\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(")
_OPPOSITES = ((" != ", " == "), (" == ", " != "), (" < ", " >= "), (" > ", " <= "), (" <= ", " > "), (" >= ", " < "))
# `assert_frame_equal`, `assertVolumesEqual`.
_OF_EQUALITY = re.compile(
    r"assert(?!not|almost|un|in|nearly|approx|close|all|is|has|can|each)(?!\w{0,60}not)\w{1,60}equals?"
)
_OF_JUNIT = re.compile(r"@Test ?\(expected = (?:\w+\.)*+(\w+)\.class\)")
_PANICS = re.compile(r"#\[should_panic(?:\(expected = (\"[^\"]*\")\))?\]")


class Assertion(Struct, frozen=True):
    """A claim of the table by its name, what it is about, the canonical line, and of an error what raises it."""

    claim: str
    sides: tuple[str, ...]
    line: int
    is_negated: bool = False


@cache
def tables() -> dict[str, Any]:
    """The tables; lists of names as tables from a name to its claim."""
    read = {**packaged_table(__package__, "assertions")}
    for part in ("called", "chained"):
        read[part] = {name: claim for claim, names in read[part].items() for name in names.split()}
    for part in ("swapped", "uncertain", "typed", "only", "words"):
        read[part] = {key: frozenset(names.split()) for key, names in read[part].items()}
    return read


def assertions_in(source: str, language: str) -> Iterator[Assertion]:
    """The assertions of a definition, in the order of its lines."""
    lines = [line[:_MAX_LINE] for line in source.split("\n", _MOST_LINES)[:_MOST_LINES]]
    around: list[tuple[int, bool]] = []
    for number, line in enumerate(lines):
        text = line.strip()
        if not text or line.lstrip()[:2] in ("//", "--", "* "):
            continue
        indent = len(line) - len(line.lstrip())
        while around and around[-1][0] >= indent:
            around.pop()
        is_guarded = any(guarded for _, guarded in around[-1:])
        found = [] if is_guarded or len(line) >= _MAX_LINE else [*_read(text, lines, number, language)]
        yield from found
        # What is run where an error is expected may be an assertion that fails.
        is_guarded = is_guarded or any(one.claim in ("raises", "panics") for one in found)
        is_opening = bool(_GUARDED.match(text)) or (number > 0 and indent > 0 and bool(_INNER.match(text)))
        around.append((indent, is_guarded or is_opening))


def _read(text: str, lines: Sequence[str], number: int, language: str) -> Iterator[Assertion]:
    line = number + 1
    if language == "rust" and (match := _PANICS.match(text)):
        yield Assertion("panics", ("", match[1] or "", ""), line)
    elif language == "go" and text.startswith("if "):
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if _GO_FAILS.match(following) and (match := _OF_GO.fullmatch(text)):
            yield from _of_go(match[1], line)
    elif match := _OF_JUNIT.search(text):
        yield Assertion("raises", (match[1], "", ""), line)
    elif found := _called(text, lines, number, language) or _said_of(text, line, language):
        yield found


def _of_go(condition: str, line: int) -> Iterator[Assertion]:
    """The opposite of a condition under which a test fails."""
    before, is_let, last = condition.rpartition("; ")
    name, _, value = before.partition(" := ")
    if "&&" in last or "||" in last or (is_let and not value) or ("DeepEqual" not in last and "!(" in last):
        return
    if last in ("err == nil", "err != nil"):
        if last == "err == nil":
            yield Assertion("raises", ("", "", ""), line)
        return
    at, mark = outside_of_brackets(last, tuple(one for one, _ in _OPPOSITES), "go")
    if mark:
        left, right = last[:at], last[at + len(mark) :]
        left = value if is_let and left == name and "," not in name else left
        is_of_error = "err" in (left, right) and "nil" in (left, right)
        if not is_of_error:
            yield Assertion("holds", (f"{left}{dict(_OPPOSITES)[mark]}{right}",), line)
        return
    match = _STATEMENT.match(last.removeprefix("!"))
    if match and last.startswith("!") and match[2] in ("DeepEqual", "Equal", "Contains", "HasPrefix", "HasSuffix"):
        split = split_arguments(last, match.end() + 1, "go") if last[match.end() + 1 :][:1] == "(" else None
        if split and len(split[0]) == 2 and split[1] == len(last) and match[1] in ("reflect.", "bytes.", "strings."):
            names = {"Contains": "contain", "HasPrefix": "begin", "HasSuffix": "end"}
            yield Assertion(names.get(match[2], "equal"), (split[0][0], split[0][1]), line)


def plain_name(name: str) -> str:
    return name.lower().replace("_", "").rstrip("!?")


def _asserting(receivers: str, written: str) -> str:
    """The name of a function that asserts, with what it is called on, as the table has it."""
    name = plain_name(written).removeprefix("xct").removeprefix("test" if written.startswith("TEST_") else "")
    holder = plain_name(re.split(r"\.|::|->", receivers)[-2]) if receivers.count(".") + receivers.count(":") else ""
    for word in ("expect", "require", "check", "assert"):
        if name.startswith(word):
            return f"assert{name.removeprefix(word)}"
    if holder == "should":
        return f"should{name}"
    return f"assert{name}" if holder in tables()["words"]["objects"] else name


def _called(text: str, lines: Sequence[str], number: int, language: str) -> Assertion | None:
    """An assertion that is a call, with brackets or without, or that a chain of calls goes on."""
    match = _STATEMENT.match(text)
    if match is None:
        return None
    name, at = _asserting(match[1], match[2]), match.end()
    claim = tables()["called"].get(name, "equal" if _OF_EQUALITY.fullmatch(name) else "")
    is_opener = name in tables()["words"]["openers"]
    if (not claim and not is_opener) or language not in tables()["only"].get(claim, (language,)):
        return None
    kind = _TYPE.match(text, at) if claim in ("raises", "instance") and text[at : at + 1] in ("<", "[", " ") else None
    kind = kind if kind and text[at : kind.end()].strip()[-1:] in (">", "]") else None
    at = kind.end() if kind else at
    if name in tables()["uncertain"].get(language, ()):
        return None
    if claim in ("raises", "panics"):
        found = _raising(text, at, kind[1] if kind else "", lines, number, language)
        kind_of, said, ran = found.sides
        is_of_error = name in tables()["words"]["texts_of_errors"] or said[:1] == "/"
        return Assertion(claim, (kind_of, said if is_of_error or "match=" in text else "", ran), found.line)
    split = _arguments(text, at, language)
    if split is None:
        return None
    given, end = split
    rest = text[end:].strip().rstrip(";")
    if name == "assertthat" and len(given) > 1 and not rest:
        return _hamcrest(given, number + 1, language)
    if is_opener and (rest or len(given) > 1):
        chained = _chained(given[0], rest, number + 1, language) if len(given) == 1 else None
        if chained or rest:
            return chained
    return _compared(claim, name, given, rest, number + 1, language, kind[1] if kind else "")


def _arguments(text: str, at: int, language: str) -> tuple[list[str], int] | None:
    """What follows a name: arguments in brackets, or after a blank up to the end of the line."""
    if text[at : at + 1] == "(" or (language == "php" and text[at : at + 2] == " ("):
        return split_arguments(text, text.index("(", at), language)
    if text[at : at + 2] == " (" and language in ("kotlin", "scala"):
        return split_arguments(text, at + 1, language)
    if text[at : at + 1] == " " and text[at + 1 : at + 2] not in "=:+-/<>&|{":
        return split_arguments(text, at + 1, language, is_open=True)
    return None


def _compared(
    claim: str, name: str, given: list[str], rest: str, line: int, language: str, kind: str
) -> Assertion | None:
    words = tables()
    if language == "go" and given and "assert" in name and re.fullmatch(r"[a-z]\w{0,20}|\w+\.T\(\)", given[0]):
        given = given[1:] if len(given) > words["claims"].get(claim, "{a}").count("{") else given
    if name in words["typed"].get(language, ()):
        given = given[1:]
    if rest and not (language in ("cpp", "c") and rest.startswith("<<")):
        return None
    wanted = words["claims"].get(claim.removeprefix("not_"), "").count("{")
    if claim in ("message", "message_part"):
        given = given[1:2]
    if kind and claim == "instance":
        value = given[-1:] if language == "go" else given[:1]
        return Assertion(claim, (*value, kind), line) if value else None
    if len(given) > wanted and not _is_message(given[wanted:], language):
        # JUnit 4 has its message first.
        is_first = language in ("java", "kotlin") and len(given) == wanted + 1 and given[0].startswith('"')
        if not is_first:
            return None
        given = given[1:]
    if not wanted or len(given) < wanted:
        return None
    sides = tuple(given[:wanted])
    is_expected_first = language in words["words"]["expected_first"] and claim in ("equal", "not_equal", "close")
    is_expected_first = is_expected_first and name not in words["words"]["actual_first"]
    if is_expected_first or name in words["swapped"].get(language, ()):
        sides = sides[::-1]
    return Assertion(claim.removeprefix("not_"), sides, line, is_negated=claim.startswith("not_"))


def _is_message(given: list[str], language: str) -> bool:
    return language in ("rust", "go", "c", "cpp") or given[0][:1] in "\"'`" or given[0][:2] in ('f"', '$"')


def _said_of(text: str, line: int, language: str) -> Assertion | None:
    """`a.should.equal(b)`, `a shouldBe b`."""
    if language in ("kotlin", "scala", "haskell"):
        at, mark = outside_of_brackets(text, _INFIX, language)
        if at > 0 and (claim := tables()["chained"].get(plain_name(mark.strip(" `")), "equal")):
            negated = claim.startswith("not_")
            sides = (text[:at], text[at + len(mark) :])
            return Assertion(claim.removeprefix("not_"), sides, line, is_negated=negated)
        return None
    if language in ("javascript", "typescript", "tsx", "c-sharp", "ruby"):
        at, mark = outside_of_brackets(text, _SHOULD, language)
        if at > 0:
            rest = text[at:] if mark.startswith(".must") or mark == ".Should" else f".{text[at + len(mark) :]}"
            found = _chained(text[:at].removeprefix("await ").rstrip("?"), rest.rstrip(";"), line, language)
            return found
    return None


def _chained(subject: str, rest: str, line: int, language: str) -> Assertion | None:
    """What is said of a subject by the links that follow it: `.not.toBe(5)`, `.to eq(5)`, `.isEqualTo(5)`."""
    if language == "swift" and (match := re.match(r"(==|!=|<=?|>=?) ", rest)):
        return Assertion("holds", (f"{subject} {match[1]} {rest[match.end() :]}",), line)
    words, at, is_negated, name = tables()["words"], 0, False, ""
    while (match := _LINK.match(rest, at)) is not None:
        link, at = plain_name(match[1]), match.end()
        if link in words["negations"]:
            is_negated = not is_negated
        if link in _TO or link in words["negations"]:
            inner = _WORD.match(rest, at) if rest[at : at + 1] in ("(", " ") else None
            if inner:
                return _matcher(subject, plain_name(inner[1]), rest, inner.end(), line, language, is_negated=is_negated)
            continue
        if rest[at : at + 1] == "(" or not rest[at:].startswith("."):
            name = link
            break
        if link not in words["noise"]:
            return None
    return _matcher(subject, name, rest, at, line, language, is_negated=is_negated) if name else None


def _matcher(
    subject: str, name: str, rest: str, at: int, line: int, language: str, *, is_negated: bool
) -> Assertion | None:
    claim = tables()["chained"].get(name, "")
    if not claim:
        return None
    split = _arguments(rest, at, language)
    given, end = split or ([], at)
    left = rest[end:].strip(" );")
    if left and not left.startswith((".is", ".has", ".does", ".contains", ".and.", ".And.", ".be")):
        return None
    is_negated ^= claim.startswith("not_")
    claim = claim.removeprefix("not_")
    if claim == "raises":
        return Assertion("raises", (_class_in(given), _text_in(given), _run_by(subject)), line, is_negated=is_negated)
    wanted = tables()["claims"][claim].count("{") - 1
    if len(given) != wanted and not (wanted == 1 and len(given) == 2 and _is_message(given[1:], language)):
        return None
    return Assertion(claim, (subject, *given[:wanted]), line, is_negated=is_negated)


def _hamcrest(given: list[str], line: int, language: str) -> Assertion | None:
    """`assertThat(a, is(b))`, `Assert.That(a, Is.EqualTo(b))`."""
    given = given[1:] if given[0].startswith('"') and len(given) > 2 else given
    match = re.match(r"(?:Is\.|Has\.|Does\.|CoreMatchers\.|Matchers\.)?(\w+)", given[1])
    name, rest = (plain_name(match[1]), given[1]) if match else ("", "")
    at = match.end() if match else 0
    if name == "is" and (inner := re.match(r"is\((\w+)\(", rest)) and plain_name(inner[1]) in tables()["chained"]:
        name, rest, at = plain_name(inner[1]), rest[3:-1], len(inner[1])
    return _matcher(given[0], name, rest, at, line, language, is_negated=False)


def _raising(text: str, at: int, kind: str, lines: Sequence[str], number: int, language: str) -> Assertion:
    """An error that is expected, with its class, its text and what raises it, as far as they can be seen."""
    indent = len(lines[number]) - len(lines[number].lstrip())
    inner = []
    for line in lines[number + 1 : number + 4]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        inner.append(line.strip())
    opens = text.endswith(("{", ":", "do", "->", "=>", "in"))
    body = inner[0] if opens and len(inner) == 1 else ""
    head = text[at:]
    if text[at : at + 1] == "(" and (split := split_arguments(text, at, language)):
        given, end = split
        head = text[end:].strip()
        if not body and head[:1] == "{":
            body = _run_by(head)
    elif (split := _arguments(_OPENS.sub("", text), at, language)) is not None:
        given, _ = split
    else:
        given = []
        body = body or (_run_by(head.strip()) if head.strip()[:1] == "{" and head.strip()[-1:] == "}" else "")
    found = kind or _class_in(given)
    if not body:
        body = next((ran for one in given if (ran := _run_by(one, is_argument=True))), "")
    return Assertion("raises", (found, _text_in(given), body), number + 1)


def _class_in(given: Sequence[str]) -> str:
    matches = (_CLASS.fullmatch(one.removeprefix("throws: ").strip()) for one in given)
    return next((match[1].removeprefix("error.") for match in matches if match), "")


def _text_in(given: Sequence[str]) -> str:
    texts = (one.removeprefix("match=").strip() for one in given)
    return next((one for one in texts if _TEXT.fullmatch(one)), "")


def _run_by(closure: str, *, is_argument: bool = False) -> str:
    """The one call inside of a function without a name, or of an argument that is a call."""
    text = closure.strip()
    match = _CLOSURE.match(text)
    body = text[match.end() :] if match else text
    if not match and not text.startswith("{") and not (is_argument and text.endswith(")") and "(" in text[1:]):
        return ""
    body = body.strip().removesuffix(" end")
    if body.startswith("{") and body.endswith("}"):
        body = body[1:-1].strip()
    return "" if ";" in body.rstrip(";") or "\n" in body else body.rstrip("; ")
