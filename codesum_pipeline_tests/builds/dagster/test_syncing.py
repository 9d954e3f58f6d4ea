"""The registry follows hosts by schedule."""

from collections.abc import Iterator

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.source.repositories.organisations import HostKind, Organisation
from codesum_pipeline_tests.support.code_host import TOKEN, CodeHost, Repo, code_host


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[CodeHost]:
    monkeypatch.setenv("ACME_TOKEN", TOKEN)
    with code_host(Repo(1, "acme/api"), Repo(2, "acme/shop")) as found:
        yield found


def register(home: Home, host: CodeHost, owner: str = "acme") -> None:
    home.layout.home.mkdir(parents=True, exist_ok=True)
    home.registry.add_organisation(
        Organisation(f"gitea:{owner}", HostKind.GITEA, owner, host.address, token_env="ACME_TOKEN")
    )


def evaluate(home: Home, instance: dg.DagsterInstance) -> list[dg.RunRequest] | dg.SkipReason:
    definitions = build_defs({"home": home.settings.home})
    repository = definitions.get_repository_def()
    context = dg.build_schedule_context(instance=instance, repository_def=repository, resources=definitions.resources)
    with context:
        return repository.get_schedule_def("sync_organisations")(context)  # type: ignore[no-any-return]


def run(home: Home, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    job = build_defs({"home": home.settings.home}).resolve_job_def("sync_organisations")
    return job.execute_in_process(instance=instance, raise_on_error=False)


def test_no_run_starts_where_no_organisation_is_registered(
    home: Home, instance: dg.DagsterInstance, host: CodeHost
) -> None:
    home.layout.home.mkdir(parents=True, exist_ok=True)
    assert isinstance(evaluate(home, instance), dg.SkipReason)

    register(home, host)

    assert evaluate(home, instance) == [dg.RunRequest()]


def test_a_run_registers_what_is_new_as_partitions_too(
    home: Home, instance: dg.DagsterInstance, host: CodeHost
) -> None:
    register(home, host)

    assert run(home, instance).success

    assert [entry.key for entry in home.registry.entries()] == ["api", "shop"]
    assert instance.get_dynamic_partitions("codesum_repos") == ["api", "shop"]


@pytest.mark.slow
def test_a_run_fails_where_a_list_is_not_believed_and_the_other_organisations_are_followed(
    home: Home, instance: dg.DagsterInstance, host: CodeHost
) -> None:
    register(home, host)
    register(home, host, "away")
    assert not run(home, instance).success
    assert [entry.key for entry in home.registry.entries()] == ["api", "shop"]

    home.registry.remove_organisation("gitea:away")
    host.repos.clear()

    assert not run(home, instance).success
    assert all(entry.enabled for entry in home.registry.entries())
