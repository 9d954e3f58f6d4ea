"""A provider that fails at one whole level: the index is published, the run fails, nothing tries again by itself."""

import json
from collections.abc import Callable, Iterator

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import PUBLISHED_INDEX, recorded_fingerprint
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline_tests.builds.dagster.conftest import FILES
from codesum_pipeline_tests.builds.dagster.test_leftovers import configure
from codesum_pipeline_tests.builds.dagster.test_ticks import skip_message, wanted
from codesum_pipeline_tests.support.llm_server import (
    Answers,
    Behaviour,
    Fails,
    ModelRequest,
    ScriptedServer,
    always_well,
)
from codesum_pipeline_tests.support.repositories import GitRepo

Look = Callable[..., dg.SensorResult]
RunJob = Callable[..., dg.ExecuteInProcessResult]
KEY_ENV = "SHOP_PROVIDER_KEY"


def is_of_class(request: ModelRequest) -> bool:
    return "the summary of the class" in json.dumps(request.body["tools"])


def no_classes(request: ModelRequest) -> Behaviour:
    return Fails(500, "no classes today") if is_of_class(request) else Answers()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
    with ScriptedServer(no_classes) as running:
        yield running


def written_by(home: Home, level: str) -> set[str]:
    return set(home.tables.read(f"texts_{level}", "shop").column("written_by").to_pylist())


def schedule_asks_for(home: Home, instance: dg.DagsterInstance) -> list[str | None]:
    definitions = build_defs({"home": home.settings.home})
    repository = definitions.get_repository_def()
    with dg.build_schedule_context(
        instance=instance, repository_def=repository, resources=definitions.resources
    ) as context:
        found = repository.get_schedule_def("nightly").evaluate_tick(context)
    return [request.partition_key for request in found.run_requests or ()]


@pytest.mark.slow
def test_what_failed_at_one_level_is_published_recorded_and_failed_and_only_a_change_is_built_by_itself(
    register: Callable[[str], GitRepo],
    run_job: RunJob,
    look: Look,
    home: Home,
    instance: dg.DagsterInstance,
    server: ScriptedServer,
) -> None:
    repo = register("shop")
    configure(
        home,
        api_base=json.dumps(server.base),
        api_key_env=json.dumps(KEY_ENV),
        max_summaries_per_run="100",
        documented="true",
        max_cost_usd_per_day="5",
        max_retries="0",
    )

    result = run_job("shop")

    assert not result.success
    failed = [check for check in result.get_asset_check_evaluations() if check.blocking and not check.passed]
    (check,) = failed
    assert (check.asset_key.to_user_string(), check.check_name) == ("published_index", "every_level_was_answered")
    assert "up to date with extractive texts instead" in (check.description or "")
    assert "none of 1 class texts could be had of openai/gpt-4o-mini" in (check.description or "")
    assert "no classes today" in (check.description or "")
    commit = repo.git("rev-parse", "HEAD").strip()
    fingerprint = _fingerprint(home, commit)
    version = published_version(home.layout, "shop")
    assert version is not None
    assert version.manifest["fingerprint"] == fingerprint == recorded_fingerprint(instance, "shop", PUBLISHED_INDEX)
    assert (written_by(home, "function"), written_by(home, "class")) == ({"llm"}, {"extractive"})
    page = home.tables.read("overviews", "shop").to_pylist()[0]
    published = (version.manifest["content_digest"], commit)
    assert (page["content_digest"], page["commit"]) == published, "what is published has its page"

    before = len(server.seen)
    for _ in range(3):
        assert (wanted(look()), skip_message(look())) == ([], "1 up to date")
    assert schedule_asks_for(home, instance) == []
    assert len(server.seen) == before

    again = run_job("shop")
    assert not again.success, "a person asks, and it is not quiet"
    assert [is_of_class(each) for each in server.seen[before:]].count(True) == 1

    repo.commit({"shop/prices.py": FILES["shop/prices.py"].replace("result = 0", "result = 0.0")})
    assert wanted(look()) == ["shop"], "a change is built"

    server.script = always_well
    healed = run_job("shop")
    assert healed.success
    assert written_by(home, "class") == {"llm"}
    assert not home.layout.outages("shop").exists()


def _fingerprint(home: Home, commit: str) -> str:
    from codesum_pipeline.builds.codesum_home.settings_loading import load_settings

    now = Home(load_settings({"home": home.settings.home}))
    return now.fingerprint(now.registry.get("shop"), commit=commit)
