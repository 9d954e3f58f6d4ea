"""Whether a question asks for tests, or only has the word.

"Tests for the parser", "parser tests", "where is the parser tested", a test's path or name ask for tests. "A client to
test applications with" asks for something else.
"""

import re

_WORD = re.compile(r"[\w./:#'-]*\w")
# Names and paths that only tests have. A name with `Test` at its start may be a tool for testing (`TestClient`).
_TEST_NAME = re.compile(
    r"(?:^|[/.:])(?:test_\w+|[a-z]\w*_(?:test|spec)|\w*[a-z0-9](?:Test|Tests|Spec)|test[A-Z]\w*)(?:$|[.:#])"
    r"|[.-](?:test|spec)\.[cm]?[jt]sx?\b|(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)conftest\.py$"
)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_KINDS = _set(
    "acceptance automated browser e2e end-to-end existing feature functional fuzz golden integration performance "
    "property property-based regression smoke snapshot system ui unit"
)
_TESTS = _set("fixture fixtures spec specs test testcase testcases tests unittest unittests")
_MANY = _TESTS - {"test", "spec", "fixture"}
_MOCKS = _set("mock mocks stub stubs")
# Parts of tests: "test cases for", "test file of".
_OF_TESTS = _set(
    "case cases class classes code file files folder function functions method methods module modules suite suites"
)
# Words at the beginning of a request that do not name its object.
_ASKING = _set(
    "a all an any are can could do does existing file files find for get give have i i'd is let's like list locate "
    "look me need our please search see show some the there to us want we what where which would you"
)
_ABOUT = _set("about against around checking concerning covering ensuring exercising for of on that verifying which")
# What test runners do to tests.
_HANDLING = _set(
    "collect collects count debug disable discover discovers enable execute executes filter generate generates group "
    "launch mark order organize parallelize parametrize record register repeat report rerun retry run running runs "
    "select shuffle skip skips sort start stop time watch write writing"
)
_JOINTS = _set(
    "after and as at before between by during for from how if in inside into of on or per so than that to using via "
    "when whether while why with within without"
)
_QUESTIONS = _set("are how is was were what where which")
_OWN_NEEDS = _set("can do does i should to would you")
_LONGEST_PHRASE = 6
# The question stands at the beginning; pages of output may follow.
_CHARS_READ = 1_000


def asks_for_tests(text: str) -> bool:
    """Whether a question asks for tests or parts of them."""
    written = _WORD.findall(text[:_CHARS_READ])
    words = [word.lower() for word in written]
    if any(map(_TEST_NAME.search, written)):
        return True
    start = next((number for number, word in enumerate(words) if word not in _ASKING), len(words))
    return _begins_with_tests(words[start:], words[:start]) or _ends_with_tests(words[start:]) or _is_tested(words)


def _begins_with_tests(words: list[str], asking: list[str]) -> bool:
    """Whether a question begins as "unit tests of x", "test cases that …" or "which tests cover x"."""
    rest = _without_kinds(words)
    if not rest or rest[0] not in _TESTS | _MOCKS:
        return False
    further = rest[1:]
    if rest[0] in _MOCKS:
        return bool(further) and further[0] in ("for", "of")
    if further and further[0] in _OF_TESTS:
        further = further[1:]
    is_whole = not further or further[0] in _ABOUT
    return is_whole or (rest[0] in _MANY and bool({"what", "which"} & {*asking}))


def _ends_with_tests(words: list[str]) -> bool:
    """Whether a question is like "parser tests": a name before them, and no verb for what is done with them."""
    is_part = len(words) > 2 and words[-1] in _OF_TESTS and words[-2] in ("test", "tests")
    words = words[:-1] if is_part else words
    if not 2 <= len(words) <= _LONGEST_PHRASE:
        return False
    # A single `test` may be a statistical one.
    are_tests = words[-1] in _MANY or (words[-1] == "test" and (is_part or words[-2] in _KINDS))
    return are_tests and not (_HANDLING | _JOINTS) & {*words}


def _is_tested(words: list[str]) -> bool:
    """Whether a question is like "where is x tested" or "how is x set up in tests", not "how do I test x"."""
    if not words or words[0] not in _QUESTIONS:
        return "covered by" in " ".join(words) and bool(_TESTS & {*words[-2:]})
    if words[0] == "how" and words[1:2] and words[1] in _OWN_NEEDS and not _subject_is_tests(words[2:]):
        return False
    if words[-1] == "tested" or (words[0] != "what" and {"tested", "unit-tested"} & {*words}):
        return True
    ends = words[-1] in _MANY and bool({"in", "by"} & {*words[-4:-1]})
    return ends or (words[1:2] == ["do"] and _subject_is_tests(words[2:]))


def _subject_is_tests(words: list[str]) -> bool:
    rest = _without_kinds([word for number, word in enumerate(words) if number or word not in ("the", "our", "your")])
    return bool(rest) and rest[0] in _MANY


def _without_kinds(words: list[str]) -> list[str]:
    start = next((number for number, word in enumerate(words) if word not in _KINDS), len(words))
    return words[start:]
