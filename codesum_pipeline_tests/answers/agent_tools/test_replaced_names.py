"""What is replaced in one file of Python, and how much of it is read."""

import ast

import pytest

from codesum_pipeline.answers.agent_tools import replaced_names

LONG = "[" + "a, " * 2_000 + "]"


def replaced(text: str) -> list[replaced_names.Replacement]:
    return [each for function in replaced_names.replacements_in(ast.parse(text)) for each in function.replaced]


@pytest.mark.parametrize(("most", "count"), [(3, 3), (2, 2)], ids=["at the limit", "above it"])
def test_what_is_beyond_the_limit_is_not_replaced(monkeypatch: pytest.MonkeyPatch, most: int, count: int) -> None:
    monkeypatch.setattr(replaced_names, "MOST_REPLACED", most)
    found = replaced("def test_it(m):\n" + "".join(f"    m.setattr(shop, 'total_{at}', 1)\n" for at in range(3)))

    assert [each.of.name for each in found] == ["total_0", "total_1", "total_2"][:count]


def test_a_started_patcher_counts_to_the_line_before_the_next_end() -> None:
    found = replaced(
        "def test_it():\n    one = patch('shop.total')\n    two = patch('shop.pay')\n"
        "    one.start()\n    pay()\n    one.stop()\n    two.start()\n    return\n"
    )

    assert [(each.of.name, each.first, each.last, each.lasts) for each in found] == [
        ("total", 4, 5, False),
        ("pay", 7, 8, True),
    ]


def test_texts_that_are_made_of_texts_are_read_once() -> None:
    texts = "".join(f"A{at} = A{at - 1} + A{at - 1}\n" for at in range(1, 2000))

    found = replaced(f"A0 = ''\n{texts}def test_it(m):\n    m.setattr(A1999 + 'a.b', 1)\n")

    assert [each.of.name for each in found] == ["b"]


@pytest.mark.parametrize(
    ("text", "longer"),
    [(" + ".join(["'a'"] * 20 + ["'.b'"]), "'a' + "), (f"'{'a' * 298}.b'", "'a' ")],
    ids=["a text of many parts", "a long text"],
)
def test_what_is_replaced_has_a_name_of_limited_length(text: str, longer: str) -> None:
    found = [replaced(f"def test_it(m):\n    m.setattr({one}, 1)\n") for one in (text, longer + text)]

    assert [[each.of.name for each in one] for one in found] == [["b"], []]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param(f"def f():\n        setattr(m, 'b', {LONG})\n" + "    f()\n" * 2_000, 0, id="an inner function"),
        pytest.param("setattr(m, 'b', " * 90 + LONG + ")" * 90, 0, id="values in values"),
        pytest.param("patch('shop.total').start()\n    undo()\n    " * 1_500, 1_000, id="starts and ends"),
        pytest.param(
            "pass\n\n\n" + "@patch('shop.total')\n" * 1_500 + "class Test:\n" + "    def test_it(self): pass\n" * 9,
            9_000,
            id="marks of a class",
        ),
    ],
)
def test_an_expression_is_not_read_for_each_of_many_others(text: str, count: int) -> None:
    assert len(replaced(f"def test_it(m):\n    {text}\n")) == count
