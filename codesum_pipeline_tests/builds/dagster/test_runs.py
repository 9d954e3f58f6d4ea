"""Runs of the job on real repositories."""

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import dagster as dg

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import PUBLISHED_INDEX, last_materialization, recorded_fingerprint
from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, UnknownRepository
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

RunJob = Callable[..., dg.ExecuteInProcessResult]
Register = Callable[[str], GitRepo]


def published_commit(home: Home, key: str) -> str:
    version = published_version(home.layout, key, read_content=True)
    assert version is not None
    return str(version.manifest["commit"])


def test_metadata_say_what_a_person_asks_for(built_home: Home) -> None:
    with open_instance(built_home.layout) as instance:
        made = {key.to_user_string(): last_materialization(instance, key, "shop") for key in instance.all_asset_keys()}
    metadata = {name: event.metadata for name, event in made.items() if event}

    assert number_of(metadata, "repo_snapshot", "dagster/row_count") == 5
    assert number_of(metadata, "repo_snapshot", "files_skipped") == 1
    assert number_of(metadata, "summary_documents", "dagster/partition_row_count") > 0
    assert all("seconds" in shown for shown in metadata.values())
    assert {name for name, shown in metadata.items() if "plot" in shown} == {
        "repo_snapshot",
        "call_graph",
        "summary_plan",
    }
    assert {name for name, shown in metadata.items() if "preview" not in shown} == {"published_index"}
    previews = [shown["preview"].value for shown in metadata.values() if "preview" in shown]
    assert str(metadata["repo_overview"]["preview"].value).startswith("# shop\n")
    assert not [text for text in previews if "<b>" in str(text)]
    sizes = {name: sum(len(str(value.value)) for value in shown.values()) for name, shown in metadata.items()}
    assert max(sizes.values()) < 30_000, sizes


def number_of(metadata: dict[str, object], asset: str, name: str) -> int:
    return metadata[asset][name].value  # type: ignore[index, no-any-return]


def test_the_last_asset_is_tagged_with_what_it_was_built_for(built_home: Home) -> None:
    entry = built_home.registry.get("shop")
    wanted = built_home.fingerprint(entry, commit=published_commit(built_home, "shop"))

    with open_instance(built_home.layout) as instance:
        assert recorded_fingerprint(instance, "shop", PUBLISHED_INDEX) == wanted


def test_a_broken_repository_stops_no_other_and_the_caller_is_told_of_each(
    register: Register, home: Home, tmp_path: Path
) -> None:
    for key in ("broken", "shop"):
        register(key)
    shutil.rmtree(home.registry.get("broken").location)
    before, seen = set(tmp_path.iterdir()), list[str]()

    broken, shop = index_repositories(home, ["broken", "shop"], progress=lambda doing, done, total: seen.append(doing))

    assert (broken.succeeded, broken.error) == (False, ConfigurationError)
    assert broken.message.startswith("repos.yaml: 'broken': path ") and "does not exist" in broken.message
    assert (shop.succeeded, shop.message, shop.error) == (True, "", None)
    assert shop.numbers["summary_documents"]["rows"] > 0
    assert {text.partition(": ")[0] for text in seen} == {"broken", "shop"}
    assert set(tmp_path.iterdir()) - before <= {home.layout.home}
    assert "enabled: false" in (home.layout.dagster_home / "dagster.yaml").read_text()


def test_a_key_that_is_not_registered_fails_by_name(run_job: RunJob, home: Home, register: Register) -> None:
    register("shop")

    result = run_job("shoe")

    assert failure(result).startswith("repos.yaml: no repository 'shoe'; the nearest is 'shop'")


def test_a_disabled_repository_is_not_built(run_job: RunJob, home: Home, register: Register) -> None:
    register("shop")
    home.registry.remove("shop")

    assert failure(run_job("shop")).startswith("repository 'shop' is disabled")


def failure(result: dg.ExecuteInProcessResult) -> str:
    (data,) = [
        event.step_failure_data
        for event in result.all_events
        if event.is_step_failure and event.step_key == "repo_snapshot"
    ]
    assert data.user_failure_data is not None
    return str(data.user_failure_data.description)


def test_a_key_that_is_no_folder_name_never_becomes_a_path(run_job: RunJob, home: Home) -> None:
    result = run_job("../evil")

    assert not result.success
    assert not list(home.layout.home.parent.glob("**/evil*"))


def test_an_unknown_key_is_an_error_of_the_package(home: Home) -> None:
    (outcome,) = index_repositories(home, ["nobody"])

    assert (outcome.succeeded, outcome.error) == (False, UnknownRepository)


def test_forcing_writes_every_text_again(copied_home: Home) -> None:
    (forced,) = index_repositories(copied_home, ["shop"], force=True)

    levels = ("function_summaries", "class_summaries", "file_summaries", "module_summaries")
    assert [forced.numbers[level]["written"] for level in levels] == [3, 1, 4, 2]


def test_questions_that_cannot_be_read_end_a_run_in_its_first_step(home: Home, register: Register) -> None:
    repo = register("shop")
    asking = open_home(home.layout.home, evaluation={"enabled": True, "questions": str(repo.path / "missing.jsonl")})

    (outcome,) = index_repositories(asking, ["shop"])

    assert outcome.error is ConfigurationError
    assert "missing.jsonl: cannot be read" in outcome.message
    assert outcome.numbers == {}


def test_a_provider_that_does_not_exist_ends_a_run_in_its_first_step(home: Home, register: Register) -> None:
    register("shop")

    (outcome,) = index_repositories(open_home(home.layout.home, embedder="litellm/nosuch/model"), ["shop"])

    assert outcome.error is ConfigurationError
    assert "embedder 'litellm/nosuch/model': no provider knows this model" in outcome.message
    assert outcome.numbers == {}


def test_only_a_process_of_a_terminal_is_ended_there_by_a_person() -> None:
    asked = [
        sys.executable,
        "-c",
        "from codesum_pipeline.builds.dagster.runs import has_terminal; print(has_terminal())",
    ]

    alone = subprocess.run(asked, start_new_session=True, check=True, capture_output=True, text=True, timeout=60)
    pid, screen = pty.fork()
    if pid == 0:
        os.execv(asked[0], asked)
    said = b""
    # The end of a terminal whose process has ended is an error.
    with os.fdopen(screen, "rb", buffering=0) as shown, suppress(OSError):
        while part := shown.read(1000):
            said += part
    os.waitpid(pid, 0)

    assert (alone.stdout.strip(), said.strip()) == ("False", b"True")
