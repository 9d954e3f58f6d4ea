from datetime import UTC, datetime, timedelta

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.store.object_storage.heads import (
    LEAST_GRACE_S,
    CollectionCounts,
    RepositoryHead,
    collect_parts,
    head_name,
)
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects
from codesum_pipeline.foundation.store.object_storage.state_manifest import StateFile, StateManifest, part_name


@pytest.fixture
def objects(tmp_path) -> Objects:
    return open_objects(f"memory://{tmp_path}")


def later() -> datetime:
    return datetime.now(UTC) + timedelta(seconds=LEAST_GRACE_S + 1)


def keep(objects: Objects, key: str, *contents: bytes) -> None:
    """A head whose state is files of these contents."""
    files = {}
    for content in contents:
        objects.put(part_name(sha256_hex(content)), content)
        files[f"file {len(files)}"] = StateFile(part=sha256_hex(content), size=len(content), modified_ns=0)
    manifest = StateManifest(files=files).encoded()
    objects.put(part_name(sha256_hex(manifest)), manifest)
    objects.create(head_name(key), RepositoryHead(state=sha256_hex(manifest)).encoded())


def test_parts_that_no_state_names_go_after_the_time_of_grace(objects):
    keep(objects, "shop", b"kept", b"shared")
    keep(objects, "zoo", b"shared")
    objects.put(part_name(sha256_hex(b"old")), b"old")

    assert collect_parts(objects, grace_s=LEAST_GRACE_S) == CollectionCounts(0, 0)
    assert collect_parts(objects, grace_s=LEAST_GRACE_S, now=later) == CollectionCounts(1, 3)
    assert objects.get(part_name(sha256_hex(b"old"))) is None
    assert objects.get(part_name(sha256_hex(b"shared"))).data == b"shared"


def test_a_grace_shorter_than_a_build_is_refused(objects):
    with pytest.raises(ConfigurationError, match="at least 3600 s"):
        collect_parts(objects, grace_s=60)
