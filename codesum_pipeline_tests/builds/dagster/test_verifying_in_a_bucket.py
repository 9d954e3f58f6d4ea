"""The weekly look at an index in a bucket, by a worker that did not build it."""

from pathlib import Path

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.object_storage.heads import read_head
from codesum_pipeline.foundation.store.object_storage.objects import open_objects
from codesum_pipeline_tests.support.bucket_workers import build_in_bucket, worker_at
from codesum_pipeline_tests.support.published_bucket import object_with
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {"shop.py": '"""Sells."""\n\n\ndef sell():\n    """Sell it."""\n    return 1\n'}


@pytest.fixture
def begin_with() -> None:
    return None


@pytest.fixture
def bucket(tmp_path: Path) -> str:
    return f"memory://{tmp_path}"


@pytest.fixture
def shop(tmp_path: Path) -> GitRepo:
    return GitRepo.create(tmp_path / "shop", FILES)


def verified(worker: Home, instance: dg.DagsterInstance) -> tuple[bool, str]:
    """What the check says after a run of the job."""
    definitions = build_defs({"home": worker.settings.address, "lease_wait_s": 0})
    instance.add_dynamic_partitions("codesum_repos", ["shop"])
    job = definitions.resolve_job_def("verify_indexes")
    assert job.execute_in_process(partition_key="shop", instance=instance).success
    check = dg.AssetCheckKey(dg.AssetKey("published_index"), "published_index_equals_tables")
    [record, *_] = instance.event_log_storage.get_asset_check_execution_history(check, limit=1)
    found = record.event.asset_check_evaluation  # type: ignore[union-attr]
    assert found and found.partition == "shop"
    return found.passed, found.description or ""


@pytest.mark.slow
def test_another_worker_verifies_an_index_and_sends_an_object_again_that_was_changed(
    bucket: str, shop: GitRepo, tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = worker_at(tmp_path / "one", bucket)
    one.registry.add(RepositoryEntry("shop", str(shop.path)))
    build_in_bucket(one, shop)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    other = worker_at(tmp_path / "other", bucket)
    before = read_head(open_objects(bucket), "shop")

    assert verified(other, instance) == (True, "no fault")
    after = read_head(open_objects(bucket), "shop")
    assert before and after and (before[0].state, before[0].published) == (after[0].state, after[0].published)

    objects = open_objects(bucket)
    name = object_with(objects, "shop", "documents/repo=shop/part-0.parquet")
    damaged = objects.get(name)
    assert damaged
    objects.put(name, damaged.data[:-1])
    third = worker_at(tmp_path / "third", bucket)
    # Who has no copy cannot send it again; who has one does.
    for worker, env, is_sound in ((third, "third", False), (other, "other", True), (third, "third", True)):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / env))
        passed, description = verified(worker, instance)
        assert passed is is_sound
        if not is_sound:
            assert f"{name}: " in description and "is not what its name says" in description
