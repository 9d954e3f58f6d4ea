"""Builds of several workers in one bucket, which this process holds in memory."""

import random
import time
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import LeaseHeld, LeaseLost
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.object_storage.bucket_findings import examine_heads
from codesum_pipeline.foundation.store.object_storage.head_lease import take_head
from codesum_pipeline.foundation.store.object_storage.heads import read_head
from codesum_pipeline.foundation.store.object_storage.state_manifest import read_manifest
from codesum_pipeline_tests.builds.law.test_law import must_equal_a_clean_build
from codesum_pipeline_tests.support.bucket_workers import build_in_bucket, taken_over, worker_at, workspace_at
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.random_edits import OPERATIONS, change
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.requests import counted_requests
from codesum_pipeline_tests.support.shop import SHOP

# They look for themselves, each time.
ALWAYS = {"repo_snapshot", "retrieval_evaluation", "published_index"}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo.create(tmp_path / "shop", SHOP)


def test_workers_that_take_turns_build_what_one_home_in_a_folder_builds(one, other, repo, tmp_path):
    files, chance = SHOP, random.Random(3)
    build_in_bucket(one, repo)
    for number in range(2):
        files = change(files, OPERATIONS[chance.randrange(len(OPERATIONS))], chance)
        repo.commit_exactly(files)
        build_in_bucket((other, one)[number % 2], repo)

    must_equal_a_clean_build(workspace_at(one, repo), repo, tmp_path / "clean")


def test_an_unchanged_build_by_another_worker_runs_no_step_and_writes_nothing(one, other, repo, objects):
    build_in_bucket(one, repo)
    # The first unchanged build settles the plan, as in a folder.
    assert build_in_bucket(other, repo) == ALWAYS
    head, *_ = read_head(objects, "shop")

    with counted_requests() as requests:
        assert build_in_bucket(other, repo) == ALWAYS

    after, *_ = read_head(objects, "shop")
    assert (after.state, after.generation, after.published) == (head.state, head.generation, head.published)
    assert requests == {"get": 1, "put": 2}


def test_a_head_names_what_is_published_and_all_of_its_files(one, repo, objects):
    build_in_bucket(one, repo)

    head, *_ = read_head(objects, "shop")
    manifest = read_manifest(objects, head.state)
    name = one.layout.published("shop")
    assert head.published.digest == name.readlink().name
    assert head.published.commit == repo.git("rev-parse", "HEAD").strip()
    assert manifest.links[str(name.relative_to(one.layout.home))].target == str(name.readlink())
    version = one.layout.versions("shop") / head.published.digest
    kept = {str(path.relative_to(one.layout.home)) for path in version.rglob("*") if path.is_file()}
    assert kept <= manifest.files.keys()
    assert (head.holder, head.fence) == (None, 1)


def test_who_lost_the_lease_publishes_nothing(one, other, repo, objects):
    build_in_bucket(one, repo)
    repo.commit({"new.py": "def new():\n    return 1\n"})
    with pytest.raises(LeaseLost), hold_repository(one.layout, "shop", run_id="slow") as record:
        taken_over(objects)
        head, *_ = read_head(objects, "shop")
        build(workspace_at(one, repo, run_id="slow"))
        record.commit()

    assert read_head(objects, "shop")[0] == head
    build_in_bucket(other, repo)
    assert read_head(objects, "shop")[0].published.commit == repo.git("rev-parse", "HEAD").strip()


def test_a_build_hears_by_its_next_renewal_that_it_lost_the_lease(bucket, tmp_path, objects):
    quick = worker_at(tmp_path / "quick", bucket, storage={"lease_s": 1})
    with pytest.raises(LeaseLost, match="another worker took it over"):  # noqa: SIM117
        with hold_repository(quick.layout, "shop", run_id="slow") as record:
            taken_over(objects)
            while True:
                record.check()
                time.sleep(0.05)


def test_what_is_committed_during_an_examination_is_not_named_as_missing(one, repo, objects):
    build_in_bucket(one, repo)
    with hold_repository(one.layout, "another", run_id="held"):
        findings = examine_heads(objects)
        first = next(findings)
        repo.commit({"refunds.py": 'def refund(order):\n    """Give the money back."""\n    return -order.total\n'})
        build_in_bucket(one, repo)
        rest = list(findings)

    assert (first.key, first.is_broken) == ("another", False)
    assert rest == []


def test_a_repository_that_is_being_built_is_refused_to_others(one, objects):
    with hold_repository(one.layout, "shop", run_id="first"), pytest.raises(LeaseHeld, match="run first"):
        take_head(objects, "shop", run_id="second", lease_s=60)

    take_head(objects, "shop", run_id="second", lease_s=60).give_back()


@pytest.mark.slow
def test_what_a_failed_build_came_to_is_there_for_the_next_worker(one, other, repo, tmp_path):
    with pytest.raises(ZeroDivisionError), hold_repository(one.layout, "shop", run_id="failed"):
        build(workspace_at(one, repo), until="summary_documents")
        raise ZeroDivisionError

    ran = build_in_bucket(other, repo)
    assert not ran & {"symbols", "call_graph", "function_summaries", "summary_documents"}
    must_equal_a_clean_build(workspace_at(other, repo), repo, tmp_path / "clean")


@pytest.mark.slow
def test_what_is_purged_on_one_worker_is_gone_on_another(one, other, repo, objects):
    build_in_bucket(one, repo)
    build_in_bucket(other, repo)
    with hold_repository(one.layout, "shop", run_id="purge"):
        one.purge("shop")

    assert read_head(objects, "shop")[0].published is None
    with hold_repository(other.layout, "shop", run_id="look"):
        assert not other.layout.published("shop").is_symlink()
        assert other.tables.repositories("documents") == []
        assert list(other.layout.versions("shop").glob("*")) == []


@pytest.mark.slow
def test_a_worker_fetches_only_what_changed_since_its_last_build(one, other, repo, objects):
    build_in_bucket(one, repo)
    build_in_bucket(other, repo)
    repo.commit({"shop/extra.py": '"""Extra."""\n\n\ndef extra():\n    """Give one."""\n    return 1\n'})
    first = read_manifest(objects, read_head(objects, "shop")[0].state)
    build_in_bucket(one, repo)
    second = read_manifest(objects, read_head(objects, "shop")[0].state)
    new = {file.part for file in second.files.values()} - {file.part for file in first.files.values()}

    with counted_requests() as requests, hold_repository(other.layout, "shop", run_id="look"):
        asked, fetched = requests["get"], requests.fetched

    # The head, the manifest, and what is new, which lies in one object.
    assert asked <= 4
    assert 0 < fetched < sum(file.size for file in second.files.values())
    assert len(new) < len(second.files)
