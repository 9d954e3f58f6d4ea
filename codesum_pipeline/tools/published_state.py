"""The published index of a repository, as its manifest describes it."""

import time
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from codesum_pipeline.indexes.version_folder import read_version
from codesum_pipeline.model.errors import BrokenIndex
from codesum_pipeline.store.layout import HomeLayout, reading_copy

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


class PublishedState(Struct, frozen=True):
    """One repository's index; where `problem` says that it cannot be read, the other fields are empty."""

    commit: str | None
    fingerprint: str | None
    counts: dict[str, Any]
    published_at: float
    problem: str | None = None

    @property
    def documents(self) -> int | None:
        return self.counts.get("documents")

    @property
    def placeholders(self) -> int | None:
        return self.counts.get("placeholders")


def read_published(layout: HomeLayout, key: str) -> PublishedState | None:
    """The state of a repository's index; None where none was published."""
    if copy := reading_copy(layout.home):
        copy.bring_manifest(key)
    name = layout.published(key)
    try:
        published_at = name.lstat().st_mtime
    except FileNotFoundError:
        return None
    try:
        manifest = read_version(name.parent / name.readlink()).manifest
        return PublishedState(manifest["commit"], manifest["fingerprint"], manifest["counts"], published_at)
    except FileNotFoundError as error:
        return PublishedState(
            None, None, {}, published_at, problem=f"{error.filename} is missing: run `codesum doctor`"
        )
    except (BrokenIndex, OSError) as error:
        return PublishedState(None, None, {}, published_at, problem=str(error))


def age(since: float) -> str:
    """How long ago, in its largest unit: `3 d`, `5 min`."""
    seconds = max(0.0, time.time() - since)
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(seconds)} s"


def moment(when: float) -> str:
    """A time in UTC."""
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
