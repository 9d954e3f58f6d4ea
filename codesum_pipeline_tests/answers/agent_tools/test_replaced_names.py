"""What is replaced in one file of Python, and how much of it is read."""

import pytest

from codesum_pipeline.answers.agent_tools import replaced_names

LONG = "[" + "a, " * 2_000 + "]"


def replaced(text: str) -> list[replaced_names.Replacement]:
    return [*replaced_names.replacements_in(text)]


@pytest.mark.parametrize(("most", "count"), [(3, 3), (2, 2)], ids=["at the limit", "above it"])
def test_what_is_beyond_the_limit_is_not_replaced(monkeypatch: pytest.MonkeyPatch, most: int, count: int) -> None:
    monkeypatch.setattr(replaced_names, "MOST_REPLACED", most)
    lines = "".join(f"    m.setattr(shop, 'total_{at}', 1)\n" for at in range(3))
    found = replaced(f"import shop\ndef test_it(m):\n{lines}")

    assert [each.name for each in found] == ["total_0", "total_1", "total_2"][:count]


def test_what_is_set_in_a_block_counts_to_its_end() -> None:
    found = replaced(
        "import shop\ndef no_tax(m):\n    with m.context() as c:\n        c.setattr(shop, 'total', 1)\n        pay()\n"
        "    m.setattr(shop, 'pay', 1)\n    return\n"
    )

    assert [(each.name, each.first, each.last) for each in found] == [("total", 4, 5), ("pay", 6, 7)]


@pytest.mark.parametrize(("longer", "count"), [(0, 1), (1, 0)], ids=["at the limit", "above it"])
def test_a_source_is_parsed_up_to_a_length(monkeypatch: pytest.MonkeyPatch, longer: int, count: int) -> None:
    text = "def test_it(m):\n    m.setattr('shop.total', 1)\n"
    monkeypatch.setattr(replaced_names, "LONGEST_SOURCE", len(text) - longer)

    assert len(replaced(text)) == count


@pytest.mark.parametrize(("target", "count"), [("a." * 148 + "b", 0), ("a." * 12 + "b", 1), ("a." * 13 + "b", 0)])
def test_what_is_replaced_has_a_name_of_few_parts(target: str, count: int) -> None:
    assert len(replaced(f"def test_it(m):\n    m.setattr('{target}', 1)\n")) == count


@pytest.mark.parametrize("text", ["(" * 100_000, "-" * 100_000 + "1", "def f(:", "\0", "a" + ".b" * 100_000])
def test_what_cannot_be_parsed_replaces_nothing(text: str) -> None:
    assert replaced(text) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param(f"def f():\n        setattr(m, 'b', {LONG})\n" + "    f()\n" * 2_000, 0, id="an inner function"),
        pytest.param("setattr('m.b', " * 90 + LONG + ")" * 90, 1, id="values in values"),
        pytest.param(
            "pass\n\n\n" + "@patch('shop.total')\n" * 1_500 + "class Test:\n" + "    def test_it(self): pass\n" * 9,
            9_000,
            id="marks of a class",
        ),
    ],
)
def test_an_expression_is_not_read_for_each_of_many_others(text: str, count: int) -> None:
    assert len(replaced(f"def test_it(m):\n    {text}\n")) == count
