"""Several processes and one bucket that speaks S3."""

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.errors import (
    AlreadyThere,
    BucketUnavailable,
    ConfigurationError,
    Superseded,
)
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.object_storage.heads import head_name, read_head
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects
from codesum_pipeline_tests.builds.law.test_law import must_equal_a_clean_build
from codesum_pipeline_tests.support.bucket_workers import build_in_bucket, run_steps, worker_at, workspace_at
from codesum_pipeline_tests.support.moto_server import (
    BUCKET,
    Weather,
    moto_server,
    proxy_before,
    s3_environment,
    worker_environment,
)
from codesum_pipeline_tests.support.random_edits import OPERATIONS, change
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

pytestmark = pytest.mark.distributed


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with moto_server(tmp_path_factory.mktemp("moto")) as address:
        yield address


@pytest.fixture
def weather() -> Weather:
    return Weather()


@pytest.fixture
def address(server: str, weather: Weather, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with proxy_before(server, weather) as proxy:
        for name, value in s3_environment(proxy).items():
            monkeypatch.setenv(name, value)
        yield proxy


@pytest.fixture
def bucket(tmp_path: Path) -> str:
    return f"s3://{BUCKET}/{tmp_path.name}"


@pytest.fixture
def objects(address: str, bucket: str) -> Objects:
    return open_objects(bucket)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo.create(tmp_path / "shop", SHOP)


def started(
    address: str, folder: Path, bucket: str, repo: GitRepo, *waiting: str, lease_s: float = 60.0
) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "codesum_pipeline_tests.foundation.buckets.worker_process"]
    return subprocess.Popen(
        [*command, str(folder), bucket, str(repo.path), str(lease_s), *waiting],
        env=worker_environment(address),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_second_create_and_a_stale_swap_are_refused(objects):
    first = objects.create("name", b"first")
    second = objects.swap("name", b"second", etag=first)

    with pytest.raises(AlreadyThere):
        objects.create("name", b"third")
    with pytest.raises(Superseded):
        objects.swap("name", b"third", etag=first)
    assert objects.get("name").etag == second


def test_some_bytes_of_an_object_are_read_as_far_as_it_goes(objects):
    objects.put("name", b"0123456789")

    spans = [(2, 5), (8, 20), (10, 20), (15, 20)]
    assert [objects.read("name", *span) for span in spans] == [b"234", b"89", b"", b""]
    assert objects.read("gone", 0, 5) is None


def test_of_eight_who_swap_at_once_one_succeeds_each_time(objects):
    etag = objects.create("name", b"start")
    won: list[str] = []

    def swap(number: int) -> None:
        with suppress(Superseded):
            won.append(objects.swap("name", f"by {number}".encode(), etag=etag))

    threads = [threading.Thread(target=swap, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert objects.get("name").etag == won[0]


def test_a_swap_that_was_done_and_not_answered_counts_as_done(objects, weather):
    name = head_name("shop")
    etag = objects.create(name, b"first")
    weather.swallow_puts = 1

    swapped = objects.swap(name, b"second", etag=etag)

    assert weather.swallow_puts == 0
    assert (objects.get(name).data, objects.get(name).etag) == (b"second", swapped)


def test_a_bucket_that_is_too_busy_for_long_is_told_without_credentials(address, bucket, weather):
    weather.failing.set()

    with pytest.raises(BucketUnavailable, match=f"{bucket}/name: the bucket cannot be reached now") as caught:
        open_objects(bucket, retry_s=1).get("name")
    assert "a-secret-of-the-test" not in str(caught.value)
    assert weather.refused > 1


def test_a_bucket_that_does_not_exist_is_told(address):
    with pytest.raises(ConfigurationError, match="there is no such bucket"):
        open_objects("s3://nowhere/home").get("name")


@pytest.mark.slow
def test_a_build_outlives_a_while_of_503s(address, bucket, weather, repo, tmp_path):
    worker = worker_at(tmp_path / "one", bucket)
    stops = threading.Timer(4, weather.failing.clear)
    weather.failing.set()
    stops.start()

    build_in_bucket(worker, repo)

    assert weather.refused > 0
    must_equal_a_clean_build(workspace_at(worker, repo), repo, tmp_path / "clean")


@pytest.mark.slow
def test_a_worker_that_was_stopped_beyond_its_lease_publishes_nothing(address, bucket, objects, repo, tmp_path):
    stopped = started(address, tmp_path / "stopped", bucket, repo, "published_index", lease_s=2)
    assert stopped.stdout.readline() == "before published_index\n"
    stopped.send_signal(signal.SIGSTOP)
    time.sleep(2.5)
    repo.commit({"shop/later.py": '"""Later."""\n\n\ndef later():\n    """Be late."""\n    return 1\n'})

    other = worker_at(tmp_path / "other", bucket, storage={"lease_s": 2})
    build_when_free(other, repo)
    found = read_head(objects, "shop")
    stopped.send_signal(signal.SIGCONT)
    _, output = stopped.communicate("\n", timeout=120)

    assert stopped.returncode != 0
    assert "LeaseLost" in output
    assert read_head(objects, "shop") == found
    assert found.head.published.commit == repo.git("rev-parse", "HEAD").strip()
    must_equal_a_clean_build(workspace_at(other, repo), repo, tmp_path / "clean")


def build_when_free(worker: Home, repo: GitRepo) -> None:
    with hold_repository(worker.layout, "shop", run_id="other", wait_s=60):
        run_steps(workspace_at(worker, repo, run_id="other"))


@pytest.mark.parametrize("step", ["function_summaries", "published_index", "repo_overview"])
@pytest.mark.slow
def test_another_worker_goes_on_where_one_was_killed(step, address, bucket, objects, repo, tmp_path):
    build_in_bucket(worker_at(tmp_path / "killed", bucket), repo)
    before, *_ = read_head(objects, "shop")
    repo.commit({"shop/later.py": '"""Later."""\n\n\ndef later():\n    """Be late."""\n    return 1\n'})
    killed = started(address, tmp_path / "killed", bucket, repo, step)
    assert killed.stdout.readline() == f"before {step}\n"
    killed.kill()
    killed.wait()
    after, *_ = read_head(objects, "shop")
    assert (after.published == before.published) is (step != "repo_overview")

    other = worker_at(tmp_path / "other", bucket)
    build_when_free(other, repo)

    must_equal_a_clean_build(workspace_at(other, repo), repo, tmp_path / "clean")


@pytest.mark.parametrize("number", range(3))
@pytest.mark.slow
def test_random_edits_built_by_two_workers_in_turn_end_in_the_index_of_a_clean_build(
    number, address, bucket, repo, tmp_path
):
    chance = random.Random(number)
    workers = [worker_at(tmp_path / name, bucket) for name in ("one", "other")]
    files = SHOP
    for _ in range(8):
        files = change(files, OPERATIONS[chance.randrange(len(OPERATIONS))], chance)
        repo.commit_exactly(files)
        build_in_bucket(chance.choice(workers), repo)

    build_in_bucket(workers[0], repo)
    must_equal_a_clean_build(workspace_at(workers[0], repo), repo, tmp_path / "clean")
