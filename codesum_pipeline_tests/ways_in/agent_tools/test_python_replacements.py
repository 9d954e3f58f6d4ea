"""What is replaced in one file of Python, and how much of it is read."""

import ast

import pytest

from codesum_pipeline.ways_in.agent_tools import python_replacements, replaced_names

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


def test_a_lambda_with_many_names_is_read_once() -> None:
    names = [f"finish_{at}" for at in range(5_000)]
    text = f"def test_it():\n    shop.total = 1\n    {' = '.join(names)} = lambda: [undo(), [{'a, ' * 5_000}]]\n"

    assert [[each.last for each in replaced(text + end)] for end in ("    finish_9()\n", "    pass\n    pass\n")] == [
        [4],
        [5],
    ]


@pytest.mark.parametrize(
    "key", [pytest.param(f"0x{'f' * 10_000}", id="a number"), pytest.param(f"'{'f' * 10_000}'", id="a text")]
)
@pytest.mark.parametrize(
    "text",
    [
        "shop.p[{key}] = [patch('shop.total')]\n    shop.p[{key}].stop()",
        "p = {{{key}: patch('a.b')}}",
        "setattr(m, {key}, a)",
    ],
)
def test_a_long_key_is_none(text: str, key: str) -> None:
    """Python writes no number of many digits, and a long key of a list would be kept for each of its entries."""
    assert len(replaced(f"def test_it():\n    shop.total = 1\n    {text.format(key=key)}\n")) == 1


LONG = "[" + "a, " * 2_000 + "]"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"def f():\n        setattr(m, 'b', {LONG})\n" + "    f()\n" * 2_000, id="an inner function"),
        pytest.param(
            f"patch.multiple(f'{'{a}' * 5_000}', {', '.join(f'a{at}=1' for at in range(5_000))}).start()", id="texts"
        ),
        pytest.param("setattr(m, 'b', " * 90 + LONG + ")" * 90, id="values in values"),
        pytest.param("mock.configure_mock(a=" * 90 + LONG + ")" * 90, id="mocks in mocks"),
        pytest.param(
            "pass\n\n\n" + "@patch('shop.total')\n" * 1_000 + "class Test:\n" + "    def test_it(self): pass\n" * 2_000,
            id="marks of a class",
        ),
    ],
)
def test_an_expression_is_not_read_for_each_of_many_others(text: str) -> None:
    """Each took seconds to minutes."""
    with pytest.raises(replaced_names.TooMuchToLookAt):
        replaced(f"def test_it():\n    {text}\n")


@pytest.mark.parametrize("targets", [10, 9_000])
def test_targets_of_one_value_cost_no_more(targets: int) -> None:
    assert len(replaced(f"def test_it():\n    {'m.f = ' * targets}made({LONG})\n")) == min(
        targets, python_replacements.MOST_REPLACED
    )


@pytest.mark.parametrize(
    ("text", "longer"),
    [(" + ".join(["'a'"] * 20 + ["'.b'"]), "'a' + "), (f"'{'a' * 298}.b'", "'a' ")],
    ids=["a text of many parts", "a long text"],
)
def test_what_is_replaced_has_a_name_of_limited_length(text: str, longer: str) -> None:
    found = [replaced(f"def test_it(m):\n    m.setattr({one}, 1)\n") for one in (text, longer + text)]

    assert [[each.of.name for each in one] for one in found] == [["b"], []]
