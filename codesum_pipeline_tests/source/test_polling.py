"""When repositories are looked at, how hard their hosts are asked, and what failures and lost clocks cost."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import field

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.operation_settings import PlannerSettings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.source.repositories.poll_state import HostRest, Poll, PollState, open_poll_state
from codesum_pipeline.source.repositories.polling import (
    DAY_S,
    Looks,
    Poller,
    after_failure,
    after_refusal,
    after_success,
    asks_for_less,
    is_due,
    source_of,
)
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.settings import changed

POLICY = changed(PlannerSettings(), polls_per_tick=100, poll_parallel=8, host_parallel=2, host_spacing_s=0.0)
NOW = 1_800_000_000.0


class FakeRemotesPoller(Poller, frozen=True):
    """Hosts that answer from a table, and remember what they were asked."""

    answers: Mapping[str, str | Exception] = field(default_factory=dict)
    polled_keys: list[str] = field(default_factory=list)
    at_once: dict[str, int] = field(default_factory=dict)
    most_at_once: dict[str, int] = field(default_factory=dict)

    def head(self, entry: RepositoryEntry) -> str:
        host = self.host(entry)
        self.polled_keys.append(entry.key)
        self.at_once[host] = self.at_once.get(host, 0) + 1
        self.most_at_once[host] = max(self.most_at_once.get(host, 0), self.at_once[host])
        time.sleep(0.002)
        self.at_once[host] -= 1
        answer = self.answers.get(entry.key, f"head of {entry.key}")
        if isinstance(answer, Exception):
            raise answer
        return answer


def remote(key: str, host: str = "git.example.org") -> RepositoryEntry:
    return RepositoryEntry(key, f"https://{host}/team/{key}.git")


def poller(home: Path, *, at: float = NOW, policy: PlannerSettings = POLICY, **options: Any) -> FakeRemotesPoller:
    return FakeRemotesPoller(HomeLayout(home), policy, clock=lambda: at, **options)


def look(asker: Poller, state: PollState, *entries: RepositoryEntry, **options: Any) -> Looks:
    return asker.look_at_due(entries, state, give_up_at=time.monotonic() + 30, **options)


def test_a_remote_is_asked_when_its_time_has_come_and_its_last_head_is_known_meanwhile(tmp_path: Path) -> None:
    with open_poll_state(HomeLayout(tmp_path)) as state:
        look(poller(tmp_path), state, remote("a"))
        early = poller(tmp_path, at=NOW + 50)
        late = poller(tmp_path, at=NOW + 67)

        assert look(early, state, remote("a")).polls["a"].head == "head of a"
        look(late, state, remote("a"))

        assert (early.polled_keys, late.polled_keys) == ([], ["a"])


def test_a_mark_makes_a_remote_due_at_once(tmp_path: Path) -> None:
    with open_poll_state(HomeLayout(tmp_path)) as state:
        look(poller(tmp_path), state, remote("a"), remote("b"))
        again = poller(tmp_path, at=NOW + 1)

        assert look(again, state, remote("a"), remote("b"), now_due=["b"]).looked_at == {"b"}


def test_a_round_asks_no_more_than_its_limit_and_those_that_waited_longest(tmp_path: Path) -> None:
    entries = [remote(f"r{number}") for number in range(5)]
    polls = [
        Poll(each.key, source_of(each, offline=False), NOW - 100, NOW - number) for number, each in enumerate(entries)
    ]
    with open_poll_state(HomeLayout(tmp_path)) as state:
        state.keep_polls(polls)

        assert look(poller(tmp_path, policy=changed(POLICY, polls_per_tick=2)), state, *entries).looked_at == {
            "r4",
            "r3",
        }


def test_every_remote_has_its_turn_within_as_many_rounds_as_the_limit_needs(tmp_path: Path) -> None:
    entries = [remote(f"r{number}") for number in range(10)]
    polled_keys: list[str] = []
    with open_poll_state(HomeLayout(tmp_path)) as state:
        for tick in range(5):
            one = poller(tmp_path, at=NOW + tick, policy=changed(POLICY, polls_per_tick=2))
            look(one, state, *entries)
            polled_keys += one.polled_keys

    assert sorted(polled_keys) == sorted(each.key for each in entries)


def test_one_host_is_never_asked_by_more_lanes_than_allowed_while_others_go_on(tmp_path: Path) -> None:
    entries = [remote(f"{host}{number}", host) for host in ("x", "y", "z") for number in range(12)]
    asker = poller(tmp_path)
    with open_poll_state(HomeLayout(tmp_path)) as state:
        looks = look(asker, state, *entries)

    assert len(looks.looked_at) == 36
    assert max(asker.most_at_once.values()) <= 2
    # The hosts take turns: none waits until another is done.
    assert {key[0] for key in asker.polled_keys[:12]} == {"x", "y", "z"}


@pytest.mark.parametrize(
    "words",
    [
        "The requested URL returned error: 429",
        "remote: Too Many Requests",
        "You have exceeded a secondary rate limit",
        "API rate-limit exceeded for user",
    ],
)
def test_a_wish_for_fewer_requests_is_understood(words: str) -> None:
    assert asks_for_less(f"git ls-remote failed: {words}")


@pytest.mark.parametrize("words", ["Authentication failed", "Could not resolve host: git429.example.org", "not found"])
def test_other_complaints_are_no_such_wish(words: str) -> None:
    assert not asks_for_less(f"git ls-remote failed: {words}")


def test_a_host_that_asks_for_fewer_requests_rests_with_all_its_repositories(tmp_path: Path) -> None:
    refused = RepositoryUnavailable("git ls-remote failed: error: 429")
    entries = [remote(f"r{number}") for number in range(20)]
    with open_poll_state(HomeLayout(tmp_path)) as state:
        strict = poller(tmp_path, answers={each.key: refused for each in entries})
        looks = look(strict, state, *entries, remote("other", "elsewhere.org"))
        patient = poller(tmp_path, at=NOW + 30)
        look(patient, state, *entries)
        later = poller(tmp_path, at=NOW + 67)
        look(later, state, *entries)

        # Two lanes were on their way; the repositories themselves did not fail.
        assert len([key for key in strict.polled_keys if key != "other"]) <= 2
        assert looks.looked_at == {"other"}
        assert [rest.failures for rest in looks.rests] == [1]
        assert (patient.polled_keys, len(later.polled_keys), state.hosts()) == ([], 20, {})


def test_a_rest_doubles_up_to_a_day() -> None:
    rest: HostRest | None = None
    lasts = []
    for _ in range(15):
        rest = after_refusal("h", rest, now=NOW, spread=lambda: 0.5)
        lasts.append(rest.lasts_s)

    assert lasts[:3] == [60.0, 120.0, 240.0]
    assert lasts[-1] == DAY_S


def test_what_fails_is_left_alone_for_twice_as_long_each_time_and_a_day_at_most() -> None:
    poll = Poll("a", "place", 0.0, 0.0)
    waits = []
    for _ in range(14):
        poll = after_failure(poll, "denied", now=NOW, interval_s=60, spread=lambda: 0.5)
        waits.append(poll.due_at - NOW)

    assert waits[:3] == [120.0, 240.0, 480.0]
    assert waits[-1] == DAY_S
    assert after_success(poll, "c", now=NOW, wait_s=60, spread=lambda: 0.5) == Poll(
        "a", "place", NOW, NOW + 60, head="c"
    )


@pytest.mark.parametrize(("chance", "wait_s"), [(0.0, 54.0), (0.5, 60.0), (1.0, 66.0)])
def test_times_are_spread_by_a_tenth_either_way(chance: float, wait_s: float) -> None:
    poll = after_success(Poll("a", "place", 0.0, 0.0), "c", now=NOW, wait_s=60, spread=lambda: chance)

    assert poll.due_at - NOW == pytest.approx(wait_s)


@pytest.mark.parametrize(
    ("poll", "due"),
    [
        pytest.param(None, True, id="one that was never looked at is due"),
        pytest.param(Poll("a", "there", NOW - 1, NOW + 60), False, id="one that was just looked at is not"),
        pytest.param(Poll("a", "elsewhere", NOW - 1, NOW + 60), True, id="one that moved is"),
        pytest.param(Poll("a", "there", NOW - 90_000, NOW - 86_400), True, id="after a day without the daemon it is"),
        pytest.param(Poll("a", "there", NOW + 3_600, NOW + 3_660), True, id="after the clock went back an hour it is"),
    ],
)
def test_due_times(poll: Poll | None, due: bool) -> None:
    assert is_due(poll, "there", now=NOW) is due


def test_a_host_rests_no_longer_once_the_clock_went_back(tmp_path: Path) -> None:
    with open_poll_state(HomeLayout(tmp_path)) as state:
        state.keep_hosts([HostRest("git.example.org", 3, NOW, NOW + 240)])
        asker = poller(tmp_path, at=NOW - 3_600)
        look(asker, state, remote("a"))

    assert asker.polled_keys == ["a"]


def test_a_local_repository_is_asked_again_only_where_its_refs_look_otherwise(
    tmp_path: Path, git_repo: Callable[..., GitRepo]
) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    entry = RepositoryEntry("a", str(repo.path))

    def looked_at(state: PollState, *, at: float) -> tuple[frozenset[str], str | None]:
        looks = look(Poller(HomeLayout(tmp_path / "home"), POLICY, clock=lambda: at), state, entry)
        return looks.looked_at, looks.polls["a"].head

    with open_poll_state(HomeLayout(tmp_path / "home")) as state:
        first = looked_at(state, at=NOW)
        unchanged = looked_at(state, at=NOW + 600)
        commit = repo.commit({"a.py": "x = 2\n"})
        changed = looked_at(state, at=NOW + 601)
        repo.git("pack-refs", "--all")
        packed = looked_at(state, at=NOW + 602)
        hours_later = looked_at(state, at=NOW + 9_000)

    assert (first[0], unchanged) == ({"a"}, (frozenset(), first[1]))
    assert changed == (frozenset({"a"}), commit)
    assert packed == changed
    assert hours_later == changed


def test_a_folder_is_read_every_time(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    entry = RepositoryEntry("notes", str(folder))
    with open_poll_state(HomeLayout(tmp_path / "home")) as state:
        first = look(Poller(HomeLayout(tmp_path / "home"), POLICY), state, entry).polls["notes"].head
        (folder / "a.py").write_text("x = 2\n")

        assert look(Poller(HomeLayout(tmp_path / "home"), POLICY), state, entry).polls["notes"].head != first


def test_a_linked_work_tree_is_seen_to_move(tmp_path: Path, git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo({"a.py": "x = 1\n"})
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    entry = RepositoryEntry("side", str(tmp_path / "side"))
    layout = HomeLayout(tmp_path / "home")
    with open_poll_state(layout) as state:
        look(Poller(layout, POLICY), state, entry)
        commit = GitRepo(tmp_path / "side").commit({"a.py": "x = 3\n"})

        assert look(Poller(layout, POLICY), state, entry).polls["side"].head == commit


def test_two_askers_do_not_ask_for_the_same_build_at_one_moment(tmp_path: Path) -> None:
    with open_poll_state(HomeLayout(tmp_path)) as state:
        assert state.claim({"a": "f1", "b": "f1"}, "one", now=NOW) == {"a", "b"}
        assert state.claim({"a": "f1", "b": "f2"}, "two", now=NOW + 1) == {"b"}
        assert state.claim({"a": "f1"}, "one", now=NOW + 2) == {"a"}
        # Of an asker whose runs never came to be, or of a clock that went back, nothing stays.
        assert state.claim({"a": "f1"}, "two", now=NOW + 60) == {"a"}
        assert state.claim({"a": "f1"}, "one", now=NOW - 3_600) == {"a"}


def test_what_was_derived_is_derived_again_where_its_origin_is_another(tmp_path: Path) -> None:
    derivations: list[list[str]] = []

    def derive(keys: Any) -> dict[str, str | None]:
        derivations.append(list(keys))
        return {key: key.upper() for key in keys}

    end = time.monotonic() + 30
    with open_poll_state(HomeLayout(tmp_path)) as state:
        state.derived("kind", {"a": "1", "b": "1"}, derive, give_up_at=end)
        found = state.derived("kind", {"a": "1", "b": "2"}, derive, give_up_at=end)
        late = state.derived("kind", {"a": "1", "b": "3"}, derive, give_up_at=time.monotonic() - 1)

    assert (derivations, found, late) == ([["a", "b"], ["b"]], {"a": "A", "b": "B"}, {"a": "A"})
