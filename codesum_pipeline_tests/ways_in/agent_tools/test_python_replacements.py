"""What is replaced in one file of Python, and how much of it is read."""

import ast

import pytest

from codesum_pipeline.ways_in.agent_tools import python_replacements

STARTED = "    patcher.start()\n    patcher.stop()\n"
MANY = {
    "patchers and loops": "    patchers = ["
    + "patch('shop.total'), " * 1500
    + "]\n"
    + "    for each in patchers: each.start()\n" * 1500,
    "starts and stops": "    patcher = patch('shop.total')\n" + STARTED * 1500,
    "sets": "    original = shop.total\n" + "    shop.total = 1\n    shop.total = original\n" * 1500,
}


def replaced(text: str) -> list[python_replacements.Replacement]:
    functions, _ = python_replacements.replacements_in(ast.parse(text))
    return [each for function in functions for each in function.replaced]


@pytest.mark.parametrize("name", MANY)
def test_one_function_replaces_no_more_than_a_limit(name: str) -> None:
    assert len(replaced(f"def test_it():\n{MANY[name]}")) == python_replacements.MOST_REPLACED


@pytest.mark.parametrize(("most", "count"), [(3, 3), (2, 2)], ids=["at the limit", "above it"])
def test_what_is_beyond_the_limit_is_not_replaced(monkeypatch: pytest.MonkeyPatch, most: int, count: int) -> None:
    monkeypatch.setattr(python_replacements, "MOST_REPLACED", most)
    found = replaced("def test_it():\n" + "".join(f"    shop.total_{at} = 1\n" for at in range(3)))

    assert [each.of.name for each in found] == ["total_0", "total_1", "total_2"][:count]


def test_texts_that_are_made_of_texts_are_read_once() -> None:
    texts = "".join(f"A{at} = A{at - 1} + A{at - 1}\n" for at in range(1, 2000))

    found = replaced(f"A0 = ''\n{texts}def test_it(m):\n    m.setattr(A1999 + 'a.b', 1)\n")

    assert [each.of.name for each in found] == ["b"]


def test_each_end_closes_its_own_patcher_only() -> None:
    found = replaced(
        "def test_it():\n    one, two = 1, 2\n    one = patch('shop.total')\n    two = patch('shop.pay')\n"
        "    one.start()\n    two.start()\n    one.stop()\n    return\n"
    )

    assert [(each.of.name, each.first, each.last, each.lasts) for each in found] == [
        ("total", 5, 7, False),
        ("pay", 6, 8, True),
    ]


@pytest.mark.parametrize(("count", "last"), [(20, 29), (21, 28)], ids=["at the limit", "above it"])
def test_an_inner_function_with_more_ends_than_a_limit_ends_all(count: int, last: int) -> None:
    ends = "".join(f"        other_{at}.close()\n" for at in range(count))
    text = f"def test_it():\n    shop.total = 1\n    def finish():\n{ends}    finish()\n"
    pad = "    pass\n" * (28 - text.count("\n"))

    assert [each.last for each in replaced(text.replace("    finish()\n", f"{pad}    finish()\n    return\n"))] == [
        last
    ]
