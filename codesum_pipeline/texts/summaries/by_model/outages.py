"""Outages: levels at which every call to a model failed.

The index is published all the same, with extractive texts. A note beside the repository's state makes the build fail
at its end, and keeps Dagster from retrying.
"""

from collections.abc import Mapping

from msgspec import Struct, json

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.workspace import Workspace


class Outage(Struct, frozen=True):
    """One level: in which build, and why. Notes of earlier versions have more fields."""

    fingerprint: str
    because: str


def note_outage(workspace: Workspace, level: Level, *, because: str) -> None:
    """Note that every call at a level failed."""
    (snapshot,) = workspace.tables.read_rows("snapshot", workspace.key, Snapshot)
    outage = Outage(workspace.fingerprint(snapshot.commit, snapshot.index_state), because)
    _write(workspace, {**read_outages(workspace.layout, workspace.key), level: outage})


def forget_outage(workspace: Workspace, level: Level) -> None:
    """Delete the note of a level."""
    before = read_outages(workspace.layout, workspace.key)
    if level in before:
        _write(workspace, {other: outage for other, outage in before.items() if other != level})


def read_outages(layout: HomeLayout, key: str) -> dict[Level, Outage]:
    """What is noted of a repository, whichever build it was, from functions up."""
    try:
        noted = decode(layout.outages(key).read_bytes(), dict[Level, Outage])
    except (OSError, ValueError):
        return {}
    return {level: noted[level] for level in Level if level in noted}


def outages_of_build(layout: HomeLayout, key: str, *, fingerprint: str) -> dict[Level, Outage]:
    """The outages of the build with this fingerprint."""
    noted = read_outages(layout, key)
    return {level: outage for level, outage in noted.items() if outage.fingerprint == fingerprint}


def _write(workspace: Workspace, outages: Mapping[Level, Outage]) -> None:
    path = workspace.layout.outages(workspace.key)
    if not outages:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_atomically(path, json.format(json.encode(outages)).decode())
