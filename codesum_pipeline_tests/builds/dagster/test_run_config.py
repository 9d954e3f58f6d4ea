"""Who can start a run can write its config: that says nothing of places, addresses, keys, models and caps."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import dagster as dg
import pytest
from pydantic import BaseModel

from codesum_pipeline.builds.codesum_home.settings_loading import check_is_settable_by_run
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.resource import BuildRequest
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline_tests.builds.dagster.conftest import with_settings
from codesum_pipeline_tests.support.repositories import GitRepo

SETTABLE = {
    "hash_policy",
    "top_k_callers",
    "top_k_callees",
    "filter.min_lines",
    "filter.min_complexity",
    "git_timeout_s",
    "lease_wait_s",
}
Run = Callable[..., dg.ExecuteInProcessResult]


def keys(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """Every key that codesum.toml may have."""
    for name, field in model.model_fields.items():
        nested = field.annotation
        if isinstance(nested, type) and issubclass(nested, BaseModel):
            yield from keys(nested, f"{prefix}{name}.")
        else:
            yield prefix + name


def nested(key: str, value: Any) -> Mapping[str, Any]:
    first, _, rest = key.partition(".")
    return {first: nested(rest, value) if rest else value}


def error_of(result: dg.ExecuteInProcessResult) -> str:
    return "\n".join(str(event.event_specific_data) for event in result.all_events if event.is_failure)


@pytest.mark.parametrize("key", sorted(set(keys()) - SETTABLE))
def test_a_setting_that_is_not_marked_is_refused_with_the_place_to_set_it(key: str) -> None:
    variable = f"CODESUM_{key.upper().replace('.', '__')}"

    with pytest.raises(ConfigurationError, match=f"setting '{key}' cannot be set .* codesum.toml .* {variable} "):
        check_is_settable_by_run(nested(key, "x"))


def test_what_is_marked_is_what_sends_and_names_nothing() -> None:
    for key in SETTABLE:
        check_is_settable_by_run(nested(key, 1))


def test_a_table_that_is_no_table_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="setting 'llm' cannot be set"):
        check_is_settable_by_run({"llm": "enabled"})


@pytest.mark.parametrize(
    "settings",
    [
        {"llm": {"enabled": True, "model": "openai/x", "api_base": "http://127.0.0.1:9", "api_key_env": "PATH"}},
        {"embedder": "litellm/openai/x", "embedder_api_base": "http://127.0.0.1:9/"},
        {"home": "/elsewhere"},
        {"repos_file": "/etc/passwd"},
    ],
    ids=["model", "embedder", "home", "registry"],
)
def test_a_run_that_says_where_to_send_ends_before_its_first_step(
    register: Callable[[str], GitRepo], run_job: Run, settings: Mapping[str, Any]
) -> None:
    register("shop")

    result = run_job("shop", run_config=with_settings(settings))

    assert not result.success
    assert "cannot be set by the config of a run" in error_of(result)
    assert not [event for event in result.all_events if event.is_step_start]


def test_what_a_run_is_asked_for_names_no_place_address_key_or_setting() -> None:
    assert set(BuildRequest.model_fields) == {"force", "confirm_llm", "llm_usd_left"}


@pytest.mark.slow
def test_a_run_may_say_what_is_marked(home: Home, register: Callable[[str], GitRepo], run_job: Run) -> None:
    register("shop")

    assert run_job("shop", run_config=with_settings({"hash_policy": "raw"})).success

    hashes = home.tables.read("symbols", "shop").column("content_hash").to_pylist()
    assert {len(found) for found in hashes} == {64}


@pytest.mark.parametrize(
    "resources",
    [
        {"codesum": {"config": {"home": "/elsewhere"}}},
        {"codesum": {"config": {"given": {"settings": {"home": "/elsewhere"}}}}},
        {"codesum": {"config": {"duckdb": {"database": "/elsewhere.db"}}}},
        {"duckdb": {"config": {"database": "/elsewhere.db"}}},
    ],
    ids=["home", "what the process gave", "database", "database beside it"],
)
def test_no_other_resource_of_a_run_takes_a_place(
    register: Callable[[str], GitRepo], run_job: Run, resources: Mapping[str, Any]
) -> None:
    register("shop")

    with pytest.raises(dg.DagsterInvalidConfigError, match="Received unexpected config entry"):
        run_job("shop", run_config={"resources": resources})


def test_what_dagster_keeps_between_steps_is_kept_in_no_folder_that_a_run_names(
    register: Callable[[str], GitRepo], run_job: Run, tmp_path
) -> None:
    register("shop")

    run_job("shop", run_config={"resources": {"io_manager": {"config": {"base_dir": str(tmp_path / "there")}}}})

    assert not (tmp_path / "there").exists()
