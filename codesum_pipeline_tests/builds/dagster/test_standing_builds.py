"""What the planner is told of builds is the same of a folder and of a bucket."""

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.observing import StandingBuild, standing_builds
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.object_storage.heads import head_name, read_head
from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline.source.repositories.poll_state import open_poll_state
from codesum_pipeline_tests.support.published_bucket import commit


def builds(home: Home, *, give_up_after_s: float = 30) -> dict[str, StandingBuild]:
    entries = [RepositoryEntry(key, f"/{key}") for key in ("shop", "never built")]
    with open_poll_state(home.layout) as state:
        return standing_builds(home, state, entries, give_up_at=time.monotonic() + give_up_after_s)


@pytest.fixture
def in_bucket(built_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """The built home as a bucket, for a worker that has none of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = f"memory://{tmp_path.name}/home"
    commit(built_home.layout.home, url)
    return Home(load_settings({"home": url}))


def test_a_bucket_tells_what_the_folder_does(built_home: Home, in_bucket: Home) -> None:
    found = builds(in_bucket)

    assert {key: replace(build, digest="") for key, build in found.items()} == builds(built_home)
    assert found["shop"].published
    assert found["never built"] == StandingBuild()


def test_of_an_unchanged_head_nothing_is_read_again_and_of_a_changed_one_the_new_state(in_bucket: Home) -> None:
    assert in_bucket.layout.bucket
    objects = OPENED_HOMES.objects(in_bucket.layout.bucket)
    before = builds(in_bucket)
    head = read_head(objects, "shop")
    assert head

    # No time is left for reading anything.
    again = builds(in_bucket, give_up_after_s=-1)
    objects.put(head_name("shop"), head[0].replaced(published=None).encoded())
    late = builds(in_bucket, give_up_after_s=-1)
    changed = builds(in_bucket)
    objects.put(head_name("shop"), b"no head")

    assert again == before
    assert "shop" not in late
    assert changed["shop"] == StandingBuild(None, before["shop"].begun_at)
    assert builds(in_bucket)["shop"] == StandingBuild()
