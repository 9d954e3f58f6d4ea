"""The sensor and the schedule, asked as the daemon asks them."""

import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import FINGERPRINT_TAG
from codesum_pipeline.builds.dagster.observing import observe_repositories
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.poll_state import open_poll_state
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

Register = Callable[[str], GitRepo]
RunJob = Callable[..., dg.ExecuteInProcessResult]


def wanted(result: dg.SensorResult) -> list[str | None]:
    return [request.partition_key for request in result.run_requests or ()]


def verdicts(instance: dg.DagsterInstance) -> list[str]:
    """What the check says whether the index of `shop` is at the head, newest first."""
    check = dg.AssetCheckKey(dg.AssetKey("published_index"), "index_is_at_head")
    found = instance.event_log_storage.get_asset_check_execution_history(check, limit=10)
    return [record.status.value for record in found if record.partition == "shop"]


def skip_message(result: dg.SensorResult) -> str | None:
    return result.skip_reason.skip_message if result.skip_reason else None


def test_a_new_repository_is_asked_for_and_its_partition_added_in_the_same_tick(
    register: Register, look: Callable[..., dg.SensorResult], home: Home
) -> None:
    commit = register("shop").git("rev-parse", "HEAD").strip()

    result = look()

    fingerprint = home.fingerprint(home.registry.get("shop"), commit=commit)
    (request,) = result.run_requests or ()
    assert (request.run_key, request.partition_key) == (f"shop:{fingerprint}:1", "shop")
    assert request.tags[FINGERPRINT_TAG] == fingerprint
    (added,) = result.dynamic_partitions_requests or ()
    assert list(added.partition_keys) == ["shop"]


def test_what_was_never_indexed_is_not_behind(
    register: Register, look: Callable[..., dg.SensorResult], instance: dg.DagsterInstance
) -> None:
    register("shop")
    instance.add_dynamic_partitions("codesum_repos", ["shop"])

    assert wanted(look()) == ["shop"]
    assert verdicts(instance) == []


@pytest.mark.slow
def test_a_compilers_index_that_comes_is_built_although_the_commit_is_the_same(
    register: Register, run_job: RunJob, look: Callable[..., dg.SensorResult], home: Home
) -> None:
    register("shop")
    assert run_job("shop").success
    before = wanted(look())
    (home.layout.mirrors / "shop.scip").write_bytes(b"an index that says nothing")

    assert (before, wanted(look())) == ([], ["shop"])


def test_a_broken_and_a_disabled_repository_stop_no_other(
    register: Register, look: Callable[..., dg.SensorResult], home: Home
) -> None:
    for key in ("broken", "off", "shop"):
        register(key)
    shutil.rmtree(home.registry.get("broken").location)
    home.registry.remove("off")

    assert wanted(look()) == ["shop"]


def test_a_repository_that_is_being_built_is_not_asked_for(
    register: Register, look: Callable[..., dg.SensorResult], instance: dg.DagsterInstance, home: Home
) -> None:
    register("shop")
    requested(instance, home, fingerprint="f", status=dg.DagsterRunStatus.STARTED)

    assert skip_message(look()) == "1 being built"


def test_a_tick_that_cannot_read_a_repository_names_it_and_says_why(
    register: Register, look: Callable[..., dg.SensorResult], instance: dg.DagsterInstance, home: Home
) -> None:
    register("shop")
    requested(instance, home, fingerprint="f", status=dg.DagsterRunStatus.STARTED)
    gone = register("gone").path
    shutil.rmtree(gone)
    home.registry.add(RepositoryEntry("secret", "https://me:hunter2@127.0.0.1:1/secret.git"))

    line = skip_message(look()) or ""

    assert line.startswith(f"1 being built, 2 unreadable: repos.yaml: 'gone': path {gone} ")
    assert "repos.yaml: 'secret': https://" in line
    assert "127.0.0.1:1/secret.git" in line
    assert "hunter2" not in line


def test_a_tick_names_the_entry_that_is_not_valid(
    register: Register, look: Callable[..., dg.SensorResult], home: Home
) -> None:
    register("shop")
    registry = home.layout.repos_file
    registry.write_text(f"{registry.read_text()}  odd:\n    path: /nowhere\n    branch: main\n")
    home.registry.remove("shop")

    line = skip_message(look()) or ""

    assert line.startswith("1 unreadable: repos.yaml: 'odd': ")
    assert "branch" in line


def test_failed_attempts_end_and_a_commit_begins_anew(
    register: Register, look: Callable[..., dg.SensorResult], instance: dg.DagsterInstance, home: Home
) -> None:
    repo = register("shop")
    (request,) = look().run_requests or ()
    for _ in range(home.settings.planner.max_attempts):
        requested(instance, home, fingerprint=request.tags[FINGERPRINT_TAG], status=dg.DagsterRunStatus.FAILURE)

    said = "shop: failed too often in this state; a change or `codesum retry KEY` tries again"
    assert skip_message(look()) == f"1 failed too often: {said}"
    repo.commit({"shop/new.py": "def f():\n    return 1\n"})
    assert wanted(look()) == ["shop"]


def test_a_second_attempt_has_a_run_key_of_its_own(
    register: Register, look: Callable[..., dg.SensorResult], instance: dg.DagsterInstance, home: Home
) -> None:
    register("shop")
    (first,) = look().run_requests or ()
    requested(instance, home, fingerprint=first.tags[FINGERPRINT_TAG], status=dg.DagsterRunStatus.FAILURE)

    (second,) = look().run_requests or ()

    assert (first.run_key or "").endswith(":1")
    assert (second.run_key or "").endswith(":2")


def test_a_lost_cursor_changes_nothing(register: Register, look: Callable[..., dg.SensorResult]) -> None:
    for key in ("a", "b"):
        register(key)

    assert sorted(map(str, wanted(look(cursor="a")))) == sorted(map(str, wanted(look(cursor=None)))) == ["a", "b"]


def test_the_schedule_asks_for_the_same_and_adds_the_partitions_itself(
    register: Register, instance: dg.DagsterInstance, home: Home
) -> None:
    register("shop")
    definitions = build_defs({"home": home.settings.home})
    repository = definitions.get_repository_def()
    with dg.build_schedule_context(
        instance=instance,
        scheduled_execution_time=datetime(2026, 1, 1, 2, tzinfo=UTC),
        repository_def=repository,
        resources=definitions.resources,
    ) as context:
        data = repository.get_schedule_def("nightly").evaluate_tick(context)

    assert [request.partition_key for request in data.run_requests or ()] == ["shop"]
    assert instance.get_dynamic_partitions("codesum_repos") == ["shop"]


def test_repositories_that_there_is_no_time_for_come_first_the_next_time(
    tmp_path: Path, git_repo: Callable[..., GitRepo], instance: dg.DagsterInstance
) -> None:
    home = open_home(tmp_path / "home")
    for key in ("a", "b", "c"):
        home.registry.add(RepositoryEntry(key=key, location=str(git_repo({}, name=key).path)))

    with open_poll_state(home.layout) as state:
        sight = observe_repositories(home, instance, state, home.registry.entries(), last="a")

    assert [found.key for found in sight.observations] == ["b", "c", "a"]


def requested(
    instance: dg.DagsterInstance,
    home: Home,
    *,
    fingerprint: str,
    status: dg.DagsterRunStatus,
    tags: Mapping[str, str] | None = None,
) -> None:
    """A run that the planner asked for, in this state."""
    job = build_defs({"home": home.settings.home}).resolve_job_def("index_repository")
    run_tags = {"dagster/partition": "shop", FINGERPRINT_TAG: fingerprint, **(tags or {})}
    instance.create_run_for_job(job, tags=run_tags, status=status)
