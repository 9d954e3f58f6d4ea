"""What is remembered of looks at repositories, and what a lost or broken memory costs."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.source.repositories import poll_state
from codesum_pipeline.source.repositories.poll_state import HostRest, Poll, mark_due, marked_keys, open_poll_state


def test_a_marked_repository_is_due_until_that_mark_was_seen_to(tmp_path: Path) -> None:
    layout = HomeLayout(tmp_path)
    mark_due(layout, ["a", "b"])
    with open_poll_state(layout) as state:
        seen = state.marks()
        mark_due(layout, ["b"])

        state.drop_marks(seen.values())

    assert marked_keys(layout) == ["b"]


def test_looking_for_marks_creates_nothing(tmp_path: Path) -> None:
    assert marked_keys(HomeLayout(tmp_path / "home")) == []
    assert not (tmp_path / "home").exists()


def test_the_last_look_of_each_repository_is_kept_and_what_left_the_registry_is_forgotten(tmp_path: Path) -> None:
    layout = HomeLayout(tmp_path)
    first = Poll("a", "place", polled_at=1.0, due_at=2.0, head="c1")
    later = Poll("a", "place", polled_at=3.0, due_at=9.0, failures=1, head="c1", complaint="away", trace="t")
    with open_poll_state(layout) as state:
        state.keep_polls([first, Poll("gone", "place", polled_at=1.0, due_at=2.0)])
        state.keep_polls([later])
        state.mark_due(["a", "gone"])
        state.keep_reported_problems({"a": "away", "gone": "away"})

        state.forget_others(["a"])

        assert (state.polls(), list(state.marks()), state.reported_problems()) == ({"a": later}, ["a"], {"a": "away"})


def test_a_host_that_answers_again_is_forgotten(tmp_path: Path) -> None:
    with open_poll_state(HomeLayout(tmp_path)) as state:
        state.keep_hosts([HostRest("h", 1, 1.0, 61.0), HostRest("i", 1, 1.0, 61.0)])
        state.keep_hosts([HostRest("h", 0, 2.0, 2.0)])

        assert list(state.hosts()) == ["i"]


def test_a_broken_file_is_made_anew(tmp_path: Path) -> None:
    layout = HomeLayout(tmp_path)
    layout.polls.write_bytes(b"no database" * 1000)

    assert marked_keys(layout) == []
    mark_due(layout, ["a"])
    assert marked_keys(layout) == ["a"]


@pytest.mark.parametrize("portion", [1, 2, 1_000])
def test_what_follows_is_found_in_portions_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    monkeypatch.setattr(poll_state, "_PORTION", portion)
    seen = {"a": "1", "b": "2", "c": "3"}
    portions: list[list[str]] = []

    def derive(keys: Sequence[str]) -> dict[str, str | None]:
        portions.append([*keys])
        return {key: f"of {key}" for key in keys}

    with open_poll_state(HomeLayout(tmp_path)) as state:
        found = [state.derived("heads", seen, derive, give_up_at=math.inf) for _ in range(2)]

    assert found == [{"a": "of a", "b": "of b", "c": "of c"}] * 2
    assert [key for keys in portions for key in keys] == ["a", "b", "c"]
    assert max(map(len, portions)) == min(portion, 3)
