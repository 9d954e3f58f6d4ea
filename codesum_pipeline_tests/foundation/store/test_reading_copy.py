import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.builds.codesum_home.home_folders import for_reading, layout_of
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import (
    BrokenStore,
    BucketUnavailable,
    ConfigurationError,
    MissingTable,
)
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.operation_settings import ReadingSettings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.locks import lock_exclusively
from codesum_pipeline.foundation.store.object_storage.heads import head_infos, head_name, read_head
from codesum_pipeline.foundation.store.object_storage.objects import open_objects
from codesum_pipeline.foundation.store.object_storage.reading_copy import ReadingCopy
from codesum_pipeline.foundation.store.tables import tables_of
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.published_bucket import commit, object_with
from codesum_pipeline_tests.support.requests import counted_requests
from codesum_pipeline_tests.support.settings import changed
from codesum_pipeline_tests.support.synthetic_indexes import documents_bytes


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return f"memory://{tmp_path.name}/home"


def opened(url: str, **reading: float) -> tuple[Settings, ReadingCopy]:
    settings = for_reading(changed(load_settings({"home": url, "reading": reading}), reading={"fresh_s": 0}))
    copy = layout_of(settings).files
    assert isinstance(copy, ReadingCopy)
    return settings, copy


@pytest.mark.parametrize("as_whole_files", [False, True], ids=["pieces", "of an earlier version"])
def test_an_index_in_a_bucket_is_the_one_of_the_folder_that_was_committed(
    as_whole_files: bool, url: str, zoo_home: Path
) -> None:
    commit(zoo_home, url, as_whole_files=as_whole_files)
    settings, _ = opened(url)

    found = IndexCatalogue.of(settings).open_all(tell=lambda _: None)
    wanted = IndexCatalogue.of(load_settings({"home": zoo_home})).open_all(tell=lambda _: None)

    assert [(index.version.manifest, documents_bytes(index)) for index in found] == [
        (index.version.manifest, documents_bytes(index)) for index in wanted
    ]


def test_only_what_is_asked_for_is_fetched_and_once(url: str, zoo_home: Path) -> None:
    commit(zoo_home, url)
    settings, copy = opened(url)
    key = next(iter(sorted(key for key, _ in head_infos(copy.objects))))

    tables = tables_of(layout_of(settings))
    with counted_requests() as requests:
        for _ in range(3):
            tables.read("documents", key)

    # The manifest of the state, and the table.
    assert requests["get"] == 2


def test_a_reader_that_goes_on_sees_what_is_published_later(url: str, shop: Path) -> None:
    objects = commit(shop, url)
    (key, _), *_ = head_infos(objects)
    settings, _ = opened(url)
    catalogue = IndexCatalogue.of(settings)
    (before,) = catalogue.open_all(tell=lambda _: None)
    head, etag, _ = read_head(objects, key) or pytest.fail("nothing was committed")
    objects.swap(head_name(key), head.replaced(state=None, published=None).encoded(), etag=etag)

    with pytest.raises(MissingTable):
        catalogue.open_all(tell=lambda _: None)
    commit(shop, url)
    (after,) = catalogue.open_all(tell=lambda _: None)

    assert after.version.manifest == before.version.manifest
    assert len(documents_bytes(before)) == len(documents_bytes(after))


def test_a_copy_is_looked_over_again_when_the_clock_was_set_back(url: str, shop: Path) -> None:
    commit(shop, url)
    _, copy = opened(url)
    copy.look()
    later = time.time() + 3_600
    os.utime(copy._note, (later, later))
    copy._read_heads()

    with counted_requests() as requests:
        copy.refresh(max_age_s=60)

    assert requests["list"] == 1


def test_a_copy_beyond_its_bound_loses_what_was_opened_longest_ago_and_readers_keep_what_they_opened(
    url: str, zoo_home: Path
) -> None:
    commit(zoo_home, url)
    settings, copy = opened(url, cache_gb=1e-9)
    layout = layout_of(settings)
    keys = sorted(key for key, _ in head_infos(copy.objects))
    indexes = [PublishedIndex.open(layout.published(key), files=copy) for key in keys]

    there = [key for key in keys if layout.versions(key).is_dir()]

    assert there == keys[-1:]
    assert all(documents_bytes(index) for index in indexes)
    assert PublishedIndex.open(layout.published(keys[0]), files=copy).version == indexes[0].version


def test_a_damaged_part_is_refused_by_name(url: str, shop: Path) -> None:
    objects = commit(shop, url)
    (key, _), *_ = head_infos(objects)
    part = object_with(objects, key, "summary.jsonl")
    objects.put(part, b"something else")
    _, copy = opened(url)

    with pytest.raises(BrokenStore, match=part):
        PublishedIndex.open(copy.layout.published(key), files=copy)


def test_offline_what_was_read_before_is_read_and_nothing_else(url: str, shop: Path) -> None:
    (key, _), *_ = head_infos(commit(shop, url))
    with pytest.raises(ConfigurationError, match="nothing was copied from this bucket yet"):
        load_settings({"home": url, "offline": True})
    settings, copy = opened(url)
    PublishedIndex.open(copy.layout.published(key), files=copy)

    offline = ReadingCopy(copy._files, settings.home, changed(ReadingSettings(), fresh_s=0), is_offline=True)
    offline.look()

    with offline.keep_index(key):
        assert os.path.lexists(offline.layout.published(key))
    with pytest.raises(BucketUnavailable, match="we are offline"):
        offline.bring(key, "documents")


def test_what_a_build_here_has_not_committed_is_not_read(url: str, shop: Path) -> None:
    open_objects(url).put("home/repos.yaml", (shop / "repos.yaml").read_bytes())
    built = load_settings({"home": url})
    layout = HomeLayout(built.home)
    layout.summary_index.mkdir(parents=True)
    (key,) = (path.name for path in HomeLayout(shop).summary_index.iterdir() if path.is_symlink())
    layout.published(key).symlink_to(HomeLayout(shop).published(key).resolve())

    settings, _ = opened(url)

    with pytest.raises(MissingTable):
        IndexCatalogue.of(settings).open(key)


def test_while_one_thread_waits_for_the_bucket_others_go_on_with_what_is_known(url: str, shop: Path) -> None:
    commit(shop, url)
    settings, copy = opened(url)
    with ThreadPoolExecutor(1) as pool, lock_exclusively(settings.home / ".heads.lock"):
        waiting = pool.submit(copy.look)
        while not copy._looking.locked():
            time.sleep(0.001)

        copy.look()

        assert not waiting.done()
