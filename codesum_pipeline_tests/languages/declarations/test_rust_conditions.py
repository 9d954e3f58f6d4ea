"""Whether two conditions of Rust can be true at once."""

import pytest

from codesum_pipeline.languages.declarations.rust_crates import can_both_hold


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('feature = "std"', 'not(feature="std")'),
        ('all(unix, not(feature = "std"))', 'feature = "std"'),
        ("any(std, not(core))", "all(not(std), core)"),
        ("not(any(a, b))", "b"),
        ("a,b", "not(b)"),
        ("any(a, b)", "not(a),not(b)"),
        ("any()", "a"),
    ],
)
def test_what_contradicts_is_never_true_at_once(first: str, second: str) -> None:
    assert not can_both_hold(first, second)
    assert not can_both_hold(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("unix", 'not(feature = "std")'),
        ('feature = "std"', 'not(feature = "alloc")'),
        ("any(a, b)", "not(a)"),
        ("all()", "a"),
        ("", ""),
        # No whole condition.
        ("a(", "b"),
        # Too many to try.
        ("a,b,c,d,e,f,g,h", "not(a),i"),
        # Too long.
        ("a," * 2_000, "not(a)"),
    ],
)
def test_what_does_not_contradict_may_be_true_at_once(first: str, second: str) -> None:
    assert can_both_hold(first, second)


def test_deep_and_long_conditions_are_answered() -> None:
    assert can_both_hold("not(" * 10_000 + "a" + ")" * 10_000, "a")
    assert can_both_hold(",".join(f"a{number}" for number in range(10_000)), "a")
