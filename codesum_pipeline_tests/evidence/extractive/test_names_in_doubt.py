"""A name that may begin with a noun says no action that its code does not show; what is told beyond names."""

import pytest

from codesum_pipeline_tests.evidence.extractive.test_told_functions import text_of

SWIFT = "enum Chart {{ static func {}(from value: Double) -> Double {{ {} }} }}"
CSHARP = "public class GuidTest {{\n    [Fact]\n    public void Fetches()\n    {{\n{}\n    }}\n}}\n"
QT = "void MoneyTest::adds()\n{{\n    {}\n}}\n"
TEXTS = {
    "a noun that may be a verb": (
        "a.swift", SWIFT.format("displayValue", "convert(value)"), "Chart.displayValue", "Display value.",
    ),
    "what is done": (
        "a.py", "def open_gate(gate):\n    gate.unlock()\n    return gate\n", "open_gate", "Opens a gate.",
    ),
    "what is not implemented": (
        "a.cs", "class Disk { string Load(string name) { throw new NotImplementedException(); } }", "Disk.Load",
        "Is not implemented: raises a not implemented exception.",
    ),
    "an adjective in a test's name": (
        "a.py", "def test_open_cast_flagged(cast):\n    assert cast[0] == 1\n", "test_open_cast_flagged",
        "Tests open cast flagged. Expects cast[0] == 1.",
    ),
    "Shouldly": (
        "a.cs", CSHARP.format("        subject.Count.ShouldBe(3);"), "GuidTest.Fetches",
        "Tests that it fetches. Expects subject.Count to equal 3.",
    ),
    "an expected failure": (
        "a.cs", CSHARP.format("        Should.Throw<ArgumentException>(() => subject.Fetch(-1));"), "GuidTest.Fetches",
        "Tests that it fetches. Expects subject Fetch(-1) to raise an argument exception.",
    ),
    "Qt": ("a.cpp", QT.format("QCOMPARE(sum.scale(), 3);"), "MoneyTest.adds", "Expects sum scale to equal 3."),
    "a comparison that answers": (
        "a.cpp", "bool Period::contains(int day) { return (first <= day) && (day <= last); }", "Period.contains",
        "True when (first <= day) && (day <= last).",
    ),
    "a hook": ("a.ts", "function useListRows() { return 1 }", "useListRows", "Hook of list rows."),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_a_text_says_no_more_than_the_code_shows(case):
    path, source, name, text = TEXTS[case]

    assert text_of(path, source, name) == text
