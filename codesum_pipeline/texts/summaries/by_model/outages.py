"""Outages: levels at which every call to a model failed.

The index is published all the same, with extractive texts. A note beside the repository's state makes the build fail
at its end, and keeps Dagster from retrying.
"""

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


def note_outage(workspace: Workspace, level: Level, *, because: str | None) -> None:
    """Note why every call at a level failed; with None, delete the note of the level."""
    before, path = read_outages(workspace.layout, workspace.key), workspace.layout.outages(workspace.key)
    outages = {other: outage for other, outage in before.items() if other != level}
    if because is not None:
        (snapshot,) = workspace.tables.read_rows("snapshot", workspace.key, Snapshot)
        outages[level] = Outage(workspace.fingerprint(snapshot.commit, snapshot.index_state), because)
    if outages:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text_atomically(path, json.format(json.encode(outages)).decode())
    else:
        path.unlink(missing_ok=True)


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
