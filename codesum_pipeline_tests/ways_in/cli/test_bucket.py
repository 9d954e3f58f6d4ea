"""Commands on a home in a bucket say what they say of the folder that was committed."""

import json
import shutil
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.many_indexes import copy_index
from codesum_pipeline.builds.codesum_home.home_folders import cache_folder, layout_of
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.reports.planner_record import PlannedBuild, keep_planned
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.object_storage.heads import HeadHolder, head_name, read_head
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects
from codesum_pipeline_tests.support.published_bucket import commit, object_with

Call = Callable[..., Any]


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shop: Path) -> Objects:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return commit(shop, f"memory://{tmp_path.name}/home")


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "apply a voucher", "--json"),
        ("grep", "def", "--json"),
        ("repos", "--json"),
        ("sql", "SELECT repo, id, summary FROM documents ORDER BY ALL", "--json"),
        ("sql", "SELECT count(*) FROM symbols JOIN files USING (repo)", "--json"),
        ("overview", "shop", "--json"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_reader_of_a_bucket_is_told_what_a_reader_of_the_folder_is(
    arguments: tuple[str, ...], bucket: Objects, shop: Path, codesum: Call
) -> None:
    in_bucket, in_folder = codesum(bucket.url, *arguments), codesum(shop, *arguments)

    assert (in_bucket.exit_code, in_bucket.stdout) == (in_folder.exit_code, in_folder.stdout)


def test_all_of_many_indexes_in_a_bucket_are_searched_and_one_that_is_damaged_is_left_out(
    bucket: Objects, shop: Path, codesum: Call, tmp_path: Path
) -> None:
    home = tmp_path / "many"
    shutil.copytree(shop, home, symlinks=True)
    keys = ["shop", *(f"shop-{number:02}" for number in range(40))]
    for key in keys[1:]:
        copy_index(HomeLayout(home), "shop", key)
    entries = {key: {"path": str(tmp_path)} for key in keys}
    HomeLayout(home).repos_file.write_text(json.dumps({"repositories": entries}))
    objects = commit(home, f"{bucket.url}-of-many")
    damaged = object_with(objects, "shop-07", "manifest.json")
    objects.put(damaged, b"something else")

    done = codesum(objects.url, "search", "--all", "--json", "apply a voucher")

    assert done.exit_code == 0
    assert set(json.loads(done.stdout)["repositories"]) == set(keys) - {"shop-07"}
    assert [damaged in line for line in done.stderr.splitlines() if "left out" in line] == [True]


def test_documents_of_a_bucket_are_shown_and_explained(bucket: Objects, shop: Path, codesum: Call) -> None:
    (hit, *_) = json.loads(codesum(bucket.url, "search", "voucher", "--json").stdout)["hits"]

    for command in ("show", "explain"):
        done = codesum(bucket.url, command, hit["id"])
        assert (done.exit_code, done.stdout) == (0, codesum(shop, command, hit["id"]).stdout)


def test_a_reader_fetches_the_sources_that_it_shows(bucket: Objects, shop: Path, codesum: Call) -> None:
    done = codesum(bucket.url, "search", "charge a card", "--excerpt", "2")

    assert (done.exit_code, done.stdout) == (0, codesum(shop, "search", "charge a card", "--excerpt", "2").stdout)


def test_a_query_fetches_the_tables_that_it_names_alone(bucket: Objects, codesum: Call, tmp_path: Path) -> None:
    codesum(bucket.url, "sql", "SELECT count(*) FROM edges")

    assert {path.parts[-3] for path in tmp_path.rglob("part-0.parquet")} == {"edges"}


def test_status_of_a_bucket_names_what_is_published(bucket: Objects, codesum: Call) -> None:
    done = codesum(bucket.url, "status", "--json")

    assert done.exit_code == 0
    assert '"shop"' in done.stdout


def test_the_doctor_finds_nothing_wrong_with_a_sound_bucket(bucket: Objects, codesum: Call) -> None:
    for arguments in (("doctor",), ("doctor", "shop")):
        done = codesum(bucket.url, *arguments)
        assert (done.exit_code, done.stdout) == (0, "1 repository in order: shop\n")


def test_the_doctor_says_that_workers_do_not_share_what_waits_for_a_digest(
    bucket: Objects, codesum: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = "no digest has it of all workers"
    assert codesum(bucket.url, "intent", "add", "vouchers", "How vouchers are applied").exit_code == 0
    alone = codesum(bucket.url, "doctor").stdout
    monkeypatch.setenv("CODESUM_ENGINE__LAUNCHER", "celery")
    monkeypatch.setenv("CODESUM_ENGINE__STORAGE", "postgres")
    monkeypatch.setenv("CODESUM_POSTGRES_URL", "postgresql+psycopg2://nobody@127.0.0.1:9/codesum")
    monkeypatch.setenv("CODESUM_BROKER_URL", "redis://127.0.0.1:9/0")

    among_others = codesum(bucket.url, "doctor")

    assert (problem in alone, problem in among_others.stdout) == (False, True), among_others.output


def test_the_doctor_names_parts_that_are_missing_and_who_holds_a_lease(bucket: Objects, codesum: Call) -> None:
    head, etag, _ = read_head(bucket, "shop") or pytest.fail("nothing was committed")
    holder = HeadHolder(
        host="worker-3", pid=1, process_started=0.0, boot_id="", pid_namespace="", run_id="r", nonce="n", lease_s=60.0
    )
    bucket.swap(head_name("shop"), head.replaced(holder=holder).encoded(), etag=etag)
    bucket.delete([object_with(bucket, "shop", "summary.jsonl")])

    done = codesum(bucket.url, "doctor")

    assert done.exit_code == 1
    assert "run r on worker-3 holds the lease" in done.stdout
    assert "files have no whole part in the bucket" in done.stdout

    assert (
        "the lease of run r on worker-3 is released" in codesum(bucket.url, "doctor", "shop", "--release-lease").stderr
    )
    (released, *_) = read_head(bucket, "shop") or pytest.fail("the head is gone")
    assert (released.holder, released.fence) == (None, head.fence + 1)


def test_the_doctor_names_what_the_bucket_lost_and_sends_it_again_where_it_was_built(
    bucket: Objects, codesum: Call
) -> None:
    lost = object_with(bucket, "shop", "summary.jsonl")
    whole = bucket.get(lost) or pytest.fail("it was committed")
    bucket.put(lost, whole.data[:-1] + b"?")
    elsewhere = codesum(bucket.url, "doctor", "shop")
    assert elsewhere.exit_code == 1
    assert f"{lost}: " in elsewhere.stdout and "on the machine that built it last" in " ".join(elsewhere.stdout.split())

    bucket.put(lost, whole.data)
    with hold_repository(layout_of(load_settings({"home": bucket.url})), "shop", run_id="build"):
        bucket.delete([lost])
    here = codesum(bucket.url, "doctor", "shop")

    assert here.exit_code == 0, here.output
    assert "sent what it held again" in " ".join(here.stdout.split())
    assert codesum(bucket.url, "doctor", "shop").stdout == "1 repository in order: shop\n"


def test_a_bucket_that_does_not_exist_is_told_in_a_sentence(codesum: Call) -> None:
    done = codesum("nothing://somewhere", "repos")

    assert done.exit_code == 2
    assert "no kind of bucket" in done.stderr


def test_what_is_added_and_removed_is_written_to_the_bucket(bucket: Objects, codesum: Call) -> None:
    url = "https://example.org/team/tool.git"
    assert codesum(bucket.url, "add", url).exit_code == 0
    assert codesum(bucket.url, "remove", "shop").exit_code == 0

    text = (open_objects(bucket.url).get("home/repos.yaml") or pytest.fail("no registry")).data.decode()

    assert url in text
    assert "enabled: false" in text


@pytest.fixture
def daemons_home(bucket: Objects) -> HomeLayout:
    """The folder of a daemon on another machine, whose home is the bucket."""
    settings = load_settings({"home": bucket.url})
    return layout_of(settings)


def test_status_of_a_bucket_says_what_the_daemon_on_another_machine_knows(
    bucket: Objects, daemons_home: HomeLayout, codesum: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = read_head(bucket, "shop") or pytest.fail("nothing was committed")
    published = head.head.published or pytest.fail("nothing was published")
    entries = {
        "shop": {"url": "https://code.example/shop.git"},
        "broken": {"url": "https://code.example/broken.git"},
        "behind": {"url": "https://code.example/behind.git"},
    }
    bucket.put("home/repos.yaml", json.dumps({"repositories": entries}).encode())
    bucket.put(head_name("behind"), head.head.replaced().encoded())
    now = time.time()
    same = {"at": now, "head_at": now}
    builds = {
        "shop": PlannedBuild(
            decision="up to date", head=published.commit, wanted=published.fingerprint, published="", **same
        ),
        "broken": PlannedBuild(decision="failed too often", head="1" * 40, failures=3, failure="no room", **same),
        "behind": PlannedBuild(decision="to build", head="2" * 40, behind_since="2027-01-31T09:30:00.120Z", **same),
    }
    keep_planned(daemons_home, builds, registered=builds, every_s=60, version="")
    # Another machine has nothing yet.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))

    done = codesum(bucket.url, "status", "--json")

    found = {each["repo"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert {key: each["state"] for key, each in found.items()} == {
        "shop": "up to date",
        "broken": "failed too often",
        "behind": "behind",
    }
    assert (found["broken"]["failed_runs"], found["broken"]["failure"]) == (3, "no room")
    assert (found["behind"]["head"], found["behind"]["behind_since"]) == ("2" * 40, "2027-01-31T09:30:00.120Z")
    assert found["shop"]["commit"] == published.commit
    assert "cannot tell" not in done.stdout and "codesum index" not in done.output


def test_a_record_of_ticks_that_is_none_is_as_good_as_missing(
    bucket: Objects, codesum: Call, daemons_home: HomeLayout
) -> None:
    for data in (b"no record", zlib.compress(b"no record"), zlib.compress(bytes(80 << 20))):
        bucket.put("fleet/planned.json.z", data)
        done = codesum(bucket.url, "status", "--json")
        assert (done.exit_code, json.loads(done.stdout)["state"]) == (0, "up to date"), done.output


@pytest.fixture
def unreachable(bucket: Objects, codesum: Call, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket at a server that does not listen, of which this machine has the copy of `bucket`."""
    for arguments in (("status", "--json"), ("search", "voucher")):
        assert codesum(bucket.url, *arguments).exit_code == 0
    address = "s3://away/home"
    # What was brought is known by its inode, too.
    cache_folder(bucket.url).rename(cache_folder(address))
    for notes in cache_folder(address).rglob("*.files.json"):
        notes.write_text(notes.read_text().replace(bucket.url, address))
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "nowhere",
    }.items():
        monkeypatch.setenv(name, value)
    return address


def test_without_the_bucket_readers_name_it_and_show_what_was_copied(unreachable: str, codesum: Call) -> None:
    for arguments, shown in ((("status", "--json"), '"shop"'), (("search", "voucher", "--json"), "voucher")):
        done = codesum(unreachable, *arguments)

        assert (done.exit_code, shown in done.stdout) == (0, True), done.output
        assert "s3://away/home" in done.stderr and "cannot be reached now" in done.stderr
        assert "What follows is what this machine copied from the bucket before" in done.stderr


def test_without_the_bucket_nothing_is_changed(unreachable: str, codesum: Call) -> None:
    done = codesum(unreachable, "remove", "shop")

    assert (done.exit_code, "cannot be reached now" in done.stderr) == (3, True), done.output
