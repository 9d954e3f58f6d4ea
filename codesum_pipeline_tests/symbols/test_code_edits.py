"""The edits of code by which benchmarks measure whether texts follow the code."""

import pytest

from benchmarks.code_edits import COSMETIC, LANGUAGES, MUTANTS, Code
from benchmarks.update_recall import Candidate, Outcome, SourceCode, read_code, shares, try_edit

PYTHON = '''def save(path, rows):
    """Save rows."""
    if not rows:
        raise ValueError("there are no rows here")
    # Locks are taken late.
    check(path)
    write(path, 'all', rows)
    if len(rows) > 3:
        log.warning("many rows were written")
    return rows
'''
RAISE, WRITE = 'raise ValueError("there are no rows here")', "write(path, 'all', rows)"
NOTE = "# Kept in this order for the older callers."
GO = """package a

func Save(path string, n int) error {
	if n == 0 {
		return errors.New("there are no rows here")
	}
	open(path)
	write(path, n)
	return nil
}
"""


def changed_lines(language: str, source: str, kind: str) -> list[tuple[str, str]]:
    """The first lines that each edit of a kind changes, before and after."""
    found = []
    for edit in {**MUTANTS, **COSMETIC}[kind](Code.of(language, source.encode())):
        before, after = source.splitlines(), edit.apply(source.encode()).decode().splitlines()
        at = next(number for number, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1])
        found.append((before[at].strip(), after[at].strip()))
    return found


@pytest.mark.parametrize(
    ("language", "source", "kind", "lines"),
    [
        ("python", PYTHON, "condition", [("if not rows:", "if rows:"), ("if len(rows) > 3:", "if len(rows) <= 3:")]),
        ("python", PYTHON, "call", [("check(path)", ""), ("write(path, 'all', rows)", "")]),
        ("python", PYTHON, "comment added", [(WRITE, NOTE), ("if len(rows) > 3:", NOTE)]),
        ("python", PYTHON, "quotes", [(RAISE, RAISE.replace('"', "'")), (WRITE, WRITE.replace("'", '"'))]),
        ("python", PYTHON, "broken call", [("write(path, 'all', rows)", "write(")]),
        ("go", GO, "condition", [("if n == 0 {", "if n != 0 {")]),
        ("go", GO, "call", [("open(path)", ""), ("write(path, n)", "")]),
        ("go", GO, "broken call", [("write(path, n)", "write(")]),
        ("ruby", "def a(b)\n  c(b) if b != 1\n  b\nend\n", "condition", [("c(b) if b != 1", "c(b) if b == 1")]),
        ("rust", "fn a(b: bool) {\n    if b { c(); }\n}\n", "condition", [("if b { c(); }", "if !b { c(); }")]),
        ("lua", "function a(b)\n  if b ~= 1 then c() end\nend\n", "condition",
         [("if b ~= 1 then c() end", "if b == 1 then c() end")]),
    ],
)  # fmt: skip
def test_edits_are_at_the_right_places(language: str, source: str, kind: str, lines: list[tuple[str, str]]) -> None:
    assert changed_lines(language, source, kind)[: len(lines)] == lines


def test_what_stands_in_type_arguments_and_bodies_is_no_condition() -> None:
    source = "class A { void a(boolean b) { Map<String, B> c = d(); boolean e = f == g; h(e); } }"

    assert [*MUTANTS["condition"](Code.of("java", source.encode()))] == []


def test_the_comment_that_opens_a_body_and_documentation_are_left_alone() -> None:
    source = '''def a(b):
    """Documents the whole."""
    # Opens the body.
    c(b)
    # Documents this one.
    def f():
        # Opens its body.
        g()
'''
    code = Code.of("python", source.encode())

    assert [*COSMETIC["comment changed"](code)] == []
    assert [*COSMETIC["comment added"](code)] == []


def test_a_call_inside_a_text_is_not_broken_over_lines() -> None:
    source = 'func f() { g(a, b)\n h("\\(k(c, d))") }'

    assert changed_lines("swift", source, "broken call") == [("func f() { g(a, b)", "func f() { g(")]


def test_nothing_is_edited_where_the_code_does_not_parse() -> None:
    code = Code.of("python", b"def a(:\n    if b == c:\n        d()\n")

    assert [edit for make in (*MUTANTS.values(), *COSMETIC.values()) for edit in make(code)] == []


def test_every_language_of_the_table_has_a_parser() -> None:
    assert [language for language in LANGUAGES if not Code.of(language, b"").declaration.definitions] == []


def outcomes_of(kind: str) -> list[Outcome]:
    code = SourceCode("clone", "a.py", "python", PYTHON.encode())
    before = read_code(code, code.source)
    assert before is not None
    edits = {**MUTANTS, **COSMETIC}[kind](Code.of("python", code.source))
    return [outcome for edit in edits if (outcome := try_edit(Candidate(code, edit), before))]


def test_a_changed_message_changes_the_text_or_the_facts_of_its_function() -> None:
    outcomes = outcomes_of("message")

    assert [(one.id, one.text or one.facts) for one in outcomes] == [("a.py::save", True)] * 2


@pytest.mark.parametrize("kind", COSMETIC)
def test_a_cosmetic_edit_changes_nothing(kind: str) -> None:
    outcomes = outcomes_of(kind)

    assert outcomes
    assert [(one.text, one.facts) for one in outcomes] == [(False, False)] * len(outcomes)


def test_shares_are_of_the_edits_of_a_kind_and_of_all() -> None:
    code = SourceCode("clone", "a.py", "python", b"")
    edits = [Candidate(code, edit) for edit in MUTANTS["message"](Code.of("python", PYTHON.encode()))]
    changes = [(True, True), (False, True), (False, False)]
    outcomes = [Outcome(edits[0], text, facts, "a") for text, facts in changes]

    one = {"edits": 3, "text": 0.3333, "changed": 0.6667}
    assert shares(outcomes, "kind") == {"message": one, "all": one}
