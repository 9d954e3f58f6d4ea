import contextlib
import hashlib
import multiprocessing
import shutil
import threading
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from queue import Empty

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.file_formats.stored_zip import npy_parts
from codesum_pipeline.indexes.file_formats.version_folder import ASIDE, Lane
from codesum_pipeline.indexes.lanes.dense import embed_documents
from codesum_pipeline.indexes.lanes.sparse import index_terms
from codesum_pipeline.indexes.publishing.candidate import write_candidate
from codesum_pipeline.indexes.publishing.publish import PUBLISHED_LOG, publish_candidate
from codesum_pipeline.indexes.publishing.releases import NEWEST_RELEASE
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.settings import DEFAULTS, changed
from codesum_pipeline_tests.support.synthetic_indexes import (
    SHOP,
    Definition,
    Files,
    documents_bytes,
    make_index_workspace,
    publish,
    write_tables,
)


def versions_of(workspace: Workspace) -> set[str]:
    return {path.name for path in workspace.layout.versions("shop").iterdir()} - {PUBLISHED_LOG, NEWEST_RELEASE}


def files_with(summary: str) -> Files:
    return {**SHOP, "shop/cart.py": (Definition("add_item", summary, "def add_item(): 1"),)}


def republish(workspace: Workspace, summary: str) -> str:
    write_tables(workspace, files_with(summary))
    return publish(workspace).digest


def test_the_name_is_a_relative_link_to_the_version(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)

    report = publish(workspace)

    assert report.published
    assert str(workspace.layout.published("shop").readlink()) == f".versions/shop/{report.digest}"
    moved = tmp_path.rename(tmp_path.with_name("elsewhere"))
    assert (moved / "index_root/summary_index_function_level/shop/manifest.json").is_file()


def test_nothing_is_published_twice(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    first = publish(workspace)

    assert publish(workspace) == replace(first, published=False)


def test_other_provenance_alone_publishes_nothing_and_its_candidate_is_dropped(tmp_path: Path) -> None:
    first = publish(make_index_workspace(tmp_path, run_id="run-1"))
    workspace = make_index_workspace(tmp_path, run_id="run-2")

    report = publish(workspace)

    assert (report.published, report.digest, report.versions_deleted) == (False, first.digest, 1)
    assert versions_of(workspace) == {first.digest}
    assert publish_candidate(workspace) == replace(report, versions_deleted=0)


def test_the_same_content_at_another_commit_is_published(tmp_path: Path) -> None:
    first = publish(make_index_workspace(tmp_path, commit="a" * 40))

    second = publish(make_index_workspace(tmp_path, commit="b" * 40))

    assert (second.published, second.commit) == (True, "b" * 40)
    assert second.content_digest == first.content_digest


def test_the_last_versions_are_kept(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path, settings=changed(DEFAULTS, keep_versions=3))

    digests = [republish(workspace, f"Adds {n} things.") for n in range(5)]

    assert versions_of(workspace) == set(digests[-3:])


def test_a_reverted_change_makes_the_old_version_the_latest(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path, settings=changed(DEFAULTS, keep_versions=2))
    one, two = republish(workspace, "One."), republish(workspace, "Two.")

    assert republish(workspace, "One.") == one
    three = republish(workspace, "Three.")

    assert versions_of(workspace) == {one, three}
    assert two not in versions_of(workspace)


def test_leftovers_of_killed_builds_are_swept(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    digest = publish(workspace).digest
    leftover = workspace.layout.versions("shop") / ".aside-killed"
    leftover.mkdir()
    (leftover / "summary.jsonl").write_text("half a li")
    never_published = workspace.layout.versions("shop") / ("f" * 64)
    never_published.mkdir()

    publish(workspace)

    assert versions_of(workspace) == {digest}


def test_versions_share_the_files_that_did_not_change(tmp_path: Path) -> None:
    settings = changed(DEFAULTS, keep_versions=2)
    for commit in ("a" * 40, "b" * 40):
        workspace = make_index_workspace(tmp_path, commit=commit, settings=settings)
        publish(workspace)

    one, two = (workspace.layout.versions("shop") / name for name in sorted(versions_of(workspace)))

    assert (one / "dense/fused.npy").samefile(two / "dense/fused.npy")
    assert not (one / "manifest.json").samefile(two / "manifest.json")


@pytest.mark.parametrize("target", [".versions/shop/nowhere", "..", "/tmp"])
def test_a_link_to_anything_else_is_replaced(tmp_path: Path, target: str) -> None:
    workspace = make_index_workspace(tmp_path)
    first = publish(workspace)
    name = workspace.layout.published("shop")
    name.unlink()
    name.symlink_to(target)

    assert publish(workspace) == first
    assert len(PublishedIndex.open(name)) == 13


def test_a_file_that_went_missing_comes_back_with_the_next_build(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    publish(workspace)
    name = workspace.layout.published("shop")
    (name / "summary.jsonl").unlink()

    publish(workspace)

    assert len(PublishedIndex.open(name)) == 13


def test_a_folder_in_the_place_of_the_link_is_not_touched(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    workspace.layout.published("shop").mkdir(parents=True)

    with pytest.raises(BrokenStore, match="is a folder where a link to a version should be"):
        publish(workspace)


def test_a_candidate_that_is_gone_is_named(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    embed_documents(workspace)
    index_terms(workspace)
    report = write_candidate(workspace)
    Path(report.folder).rename(tmp_path / "lost")

    with pytest.raises(BrokenStore, match=f"candidate {report.digest} is gone: run `codesum index shop` again"):
        publish_candidate(workspace)


def read_until(stop: Event, name: Path, failures: "Queue[str]", seen: "Queue[str]") -> None:
    """Open the index again and again, and read all of it each time, by when it may have been deleted."""
    while not stop.is_set():
        index = PublishedIndex.open(name)
        files = index.version.manifest["files"]
        if hashlib.sha256(documents_bytes(index)).hexdigest() != files["summary.jsonl"]["sha256"]:
            failures.put(f"{index.version.digest}: summary.jsonl")
        vectors = index.vectors[Lane.FUSED]
        if hashlib.sha256(b"".join(npy_parts(vectors))).hexdigest() != files["dense/fused.npy"]["sha256"]:
            failures.put(f"{index.version.digest}: fused.npy")
        if [index.document(row)["id"] for row in range(len(index))] != list(index.ids):
            failures.put(f"{index.version.digest}: ids")
        seen.put(index.version.digest)
        # Leave the cores to the writer: it must replace faster than this reads.
        time.sleep(0.01)


@pytest.mark.parametrize("times", [25, pytest.param(1_000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_readers_always_see_one_whole_version_while_it_is_replaced_many_times(tmp_path: Path, times: int) -> None:
    workspace = make_index_workspace(tmp_path / "home", settings=changed(DEFAULTS, keep_versions=2))
    candidates = []
    for number in range(5):
        write_tables(workspace, files_with(f"Adds {number} things."), commit=f"{number:040x}")
        digest = publish(workspace).digest
        copy = shutil.copytree(workspace.layout.versions("shop") / digest, tmp_path / "candidates" / digest)
        candidates.append((copy, workspace.tables.read("candidate", "shop")))

    name = workspace.layout.published("shop")
    context = multiprocessing.get_context("spawn")
    stop, failures, seen = context.Event(), context.Queue(), context.Queue()
    in_a_process = context.Process(target=read_until, args=(stop, name, failures, seen))
    in_a_thread = threading.Thread(target=read_until, args=(stop, name, failures, seen))
    in_a_process.start()
    in_a_thread.start()
    read, wanted = {seen.get(timeout=120)}, {copy.name for copy, _ in candidates}
    published = number = 0
    # On a busy machine a reader may miss a version that stands for some milliseconds: it comes round again.
    while number < times or (read != wanted and number < 100 * times):
        copy, row = candidates[number % len(candidates)]
        version = workspace.layout.versions("shop") / copy.name
        if not version.exists():
            # As a build does it: a version is whole as soon as it has its name.
            shutil.copytree(copy, version.with_name(f"{ASIDE}{copy.name}")).rename(version)
        workspace.tables.write("candidate", "shop", row)
        published += publish_candidate(workspace).published
        number += 1
        with contextlib.suppress(Empty):
            while True:
                read.add(seen.get_nowait())
    stop.set()
    read |= {*drained(seen)}
    in_a_process.join()
    in_a_thread.join()

    assert published == number >= times
    assert drained(failures) == []
    assert read == wanted


def drained(queue: "Queue[str]") -> list[str]:
    """What is in a queue, once its writers have had the time to flush it."""
    found = []
    with contextlib.suppress(Empty):
        while True:
            found.append(queue.get(timeout=0.5))
    return found
