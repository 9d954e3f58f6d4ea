"""What a newer release published from one worker, an older one on another worker leaves as it is."""

from pathlib import Path

import pytest
from msgspec import json
from msgspec.structs import replace

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.errors import OlderRelease
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.object_storage.heads import read_head
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.indexes.publishing.releases import NEWEST_RELEASE, this_release
from codesum_pipeline_tests.support.bucket_workers import build_in_bucket
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP


def test_an_older_worker_of_a_bucket_publishes_nothing(
    one: Home, other: Home, objects: Objects, tmp_path: Path
) -> None:
    repo = GitRepo.create(tmp_path / "shop", SHOP)
    build_in_bucket(one, repo)
    newer = replace(this_release(), codesum="99.0.0", tables=99)
    with hold_repository(one.layout, "shop", run_id="newer"):
        (one.layout.versions("shop") / NEWEST_RELEASE).write_bytes(json.encode(newer))
    before = read_head(objects, "shop")
    repo.commit({"new.py": "def new():\n    return 1\n"})

    with pytest.raises(OlderRelease, match=r"published by codesum 99\.0\.0 \(tables 99"):
        build_in_bucket(other, repo)

    after = read_head(objects, "shop")
    assert before and after
    assert (after[0].published, after[0].published is not None) == (before[0].published, True)
