"""Readers in several processes, and one bucket that speaks S3."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.cli.failures import exit_code
from codesum_pipeline.model.errors import BucketUnavailable
from codesum_pipeline.settings import Settings, load_settings
from codesum_pipeline.settings.bucket_homes import for_reading
from codesum_pipeline.store.heads import read_head
from codesum_pipeline.store.objects import open_objects
from codesum_pipeline.tools.catalogue import Catalogue
from codesum_pipeline_tests.buckets.moto_server import BUCKET, Weather, moto_server, proxy_before, s3_environment
from codesum_pipeline_tests.buckets.workers import build_in_bucket, worker_at
from codesum_pipeline_tests.cli.calling import COMMAND, environment
from codesum_pipeline_tests.law.shop import SHOP
from codesum_pipeline_tests.published_bucket import commit
from codesum_pipeline_tests.repositories import GitRepo

pytestmark = pytest.mark.distributed

# Opens both indexes again and again, as another process does, in a copy that has room for neither.
_READS_BEYOND_THE_BOUND = """
import sys
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.settings import load_settings
from codesum_pipeline.settings.bucket_homes import for_reading

settings = for_reading(load_settings({"home": sys.argv[1], "reading": {"cache_gb": 1e-9, "fresh_s": 0}}))
for _ in range(15):
    for key in ("shop", "zoo"):
        index = PublishedIndex.open(settings.layout.published(key))
        assert index.repo == key and index.documents_bytes()
print("read")
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with moto_server(tmp_path_factory.mktemp("moto")) as address:
        yield address


@pytest.fixture
def weather() -> Weather:
    return Weather()


@pytest.fixture
def url(server: str, weather: Weather, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "reader"))
    with proxy_before(server, weather) as address:
        for name, value in s3_environment(address).items():
            monkeypatch.setenv(name, value)
        yield f"s3://{BUCKET}/{tmp_path.name}"


def reading(url: str, **settings: float) -> Settings:
    return for_reading(load_settings({"home": url, "reading": {"fresh_s": 0, **settings}}))


def started(url: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "--home", url, *arguments],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )


def test_repositories_that_two_commands_add_at_one_time_are_both_registered(url: str) -> None:
    added = [f"https://example.org/team/tool-{number}.git" for number in range(2)]

    for process in [started(url, "add", location) for location in added]:
        assert process.wait(timeout=120) == 0, process.communicate()

    (listed, _) = started(url, "repos", "--json").communicate(timeout=120)
    assert sorted(json.loads(line)["location"] for line in listed.splitlines()) == added


def test_a_reader_that_goes_on_finds_what_a_worker_has_published_since(url: str, tmp_path: Path) -> None:
    worker = worker_at(tmp_path / "worker", url)
    repo = GitRepo.create(tmp_path / "shop", SHOP)
    build_in_bucket(worker, repo)
    catalogue = Catalogue.of(reading(url))
    (before,) = catalogue.open_all(tell=lambda _: None)

    commit_id = repo.commit(
        {"shop/refund.py": 'def refund(order):\n    """Give the money back."""\n    return order\n'}
    )
    build_in_bucket(worker, repo)
    (after,) = catalogue.open_all(tell=lambda _: None)

    (head, _) = read_head(open_objects(url), "shop") or pytest.fail("nothing was committed")
    assert before.version.digest != after.version.digest
    assert head.published and head.published.digest == after.version.digest
    assert after.version.manifest["commit"] == commit_id


def test_a_bucket_that_is_away_ends_a_command_with_a_sentence_and_leaves_a_server_with_what_it_had(
    url: str, weather: Weather, shop: Path
) -> None:
    commit(shop, url)
    catalogue = Catalogue.of(reading(url))
    (before,) = catalogue.open_all(tell=lambda _: None)

    weather.failing.set()
    (after,) = catalogue.open_all(tell=lambda _: None)
    told = started(url, "search", "voucher")
    (_, message) = told.communicate(timeout=300)

    assert after.version == before.version
    assert (told.returncode, "Traceback" in message) == (exit_code(BucketUnavailable), False)
    assert "the bucket cannot be reached now" in message


def test_processes_that_share_a_copy_beyond_its_bound_read_whole_indexes(url: str, zoo_home: Path) -> None:
    commit(zoo_home, url)
    command = [sys.executable, "-c", _READS_BEYOND_THE_BOUND, url]

    readers = [
        subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]

    assert [each.communicate(timeout=300) for each in readers] == [("read\n", "")] * 3
