"""When a function's neighbours have become another context."""

import pytest

from codesum_pipeline.foundation.data_model.document import ContextNeighbour, TextContext
from codesum_pipeline.foundation.settings.stage_settings import ContextSettings, GraphPolicy
from codesum_pipeline.texts.summaries.by_model.shown_contexts import find_context_changes, names_of_neighbours

THRESHOLD = ContextSettings()
STRICT = ContextSettings(graph_policy=GraphPolicy.STRICT)


def around(*callers: str, across: tuple[str, ...] = (), more: int = 0) -> TextContext:
    """A neighbourhood of some callers, `across` of them from other modules, and `more` callers that are not sampled."""
    return TextContext(
        called_by=tuple(ContextNeighbour(id_, f"hash of {id_}") for id_ in callers),
        calls=(),
        callers=tuple(sorted({*callers, *(f"m.py::more{number}" for number in range(more))})),
        cross_module=across,
    )


def test_a_neighbour_that_came_within_a_module_changes_nothing() -> None:
    assert find_context_changes(around("a.py::f"), around("a.py::f", "a.py::g"), THRESHOLD) == ()


def test_a_call_across_modules_in_another_context_does() -> None:
    now = around("a.py::f", "b.py::g", across=("b.py::g",))

    assert find_context_changes(around("a.py::f"), now, THRESHOLD) == ("b.py::g",)


@pytest.mark.parametrize(("more", "is_changed"), [(5, False), (6, True)])
def test_more_new_callers_than_the_threshold_do(more: int, is_changed: bool) -> None:
    now = around("b.py::h", more=more)

    assert bool(find_context_changes(around("b.py::h", "c.py::i"), now, THRESHOLD)) is is_changed


def test_contexts_that_are_alike_stand_whoever_came() -> None:
    then = around(*(f"a.py::f{number}" for number in range(5)))
    now = around(*(f"a.py::f{number}" for number in range(5)), across=("b.py::g",), more=40)

    assert find_context_changes(then, now, THRESHOLD) == ()


def test_a_caller_that_only_moved_is_the_same_caller() -> None:
    then = TextContext((ContextNeighbour("a.py::f", "same"),), (), ("a.py::f",), ())
    now = TextContext((ContextNeighbour("b.py::f", "same"),), (), ("b.py::f",), ("b.py::f",))

    assert find_context_changes(then, now, THRESHOLD) == ()
    assert find_context_changes(then, now, STRICT) == ()


def test_under_the_strict_policy_any_other_name_changes_it() -> None:
    assert find_context_changes(around("a.py::f"), around("a.py::f", "a.py::g"), STRICT) == ("a.py::g",)
    assert find_context_changes(around("a.py::f"), around("a.py::f", more=40), STRICT) == ()


def standing_in(*pieces: tuple[str, str]) -> TextContext:
    """A function without neighbours, in code of which so much is shown."""
    return TextContext((), (), (), (), tuple(ContextNeighbour(id_, hash_) for id_, hash_ in pieces))


def test_what_is_shown_around_a_function_changes_its_context_under_the_strict_policy_alone() -> None:
    then = standing_in(("a.py::Till", "one"), ("a.py", "file"))
    now = standing_in(("a.py::Till", "another"), ("a.py", "file"))

    assert find_context_changes(then, now, THRESHOLD) == ()
    assert find_context_changes(then, now, STRICT) == ("a.py::Till",)
    assert find_context_changes(then, standing_in(("b.py::Till", "one"), ("b.py", "file")), STRICT) == ()
    assert find_context_changes(TextContext((), (), (), ()), now, STRICT) == ("a.py", "a.py::Till")


def test_names_are_shown_once_without_paths_and_suffixes() -> None:
    found = around("a.py::Till::open", "b.py::Till::open#3fa91c-2", "a.py::close")

    assert names_of_neighbours(found.called_by) == ("Till.open", "close")
