"""One judge says whether an index is up to date, and what is not where it is not."""

import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.steps.freshness import Comparison, Fingerprints, IndexState
from codesum_pipeline.foundation.data_model.file import Snapshot

SNAPSHOT = Snapshot("shop", "c1", "t", "main", "", "")
FRESH = Comparison("c1", "c1", SNAPSHOT, True, Fingerprints(wanted="f", begun="f", published="f", recorded="f"), None)
OTHERS = replace(FRESH.fingerprints, wanted="g", recorded="g")


@pytest.mark.parametrize(
    ("found", "state", "needs_build"),
    [
        pytest.param(FRESH, IndexState.FRESH, False, id="four equal fingerprints are an index that is up to date"),
        pytest.param(
            replace(FRESH, fingerprints=replace(FRESH.fingerprints, published="e", is_held=True)),
            IndexState.HELD,
            False,
            id="what the gate held back would be held back again",
        ),
        pytest.param(
            replace(FRESH, snapshot=replace(SNAPSHOT, commit="c2")),
            IndexState.UNFINISHED,
            False,
            id="tables ahead of what is published are of a build that did not end",
        ),
        pytest.param(
            replace(FRESH, head="c2", fingerprints=OTHERS), IndexState.BEHIND, True, id="a newer commit is not indexed"
        ),
        pytest.param(replace(FRESH, fingerprints=OTHERS), IndexState.CHANGED, True, id="settings give another index"),
        pytest.param(
            replace(FRESH, has_same_indexes=False, fingerprints=OTHERS),
            IndexState.OTHER_INDEXES,
            True,
            id="an index of a compiler came or went",
        ),
        pytest.param(replace(FRESH, head=None), IndexState.UNKNOWN, False, id="nobody knows the repository's commit"),
        pytest.param(
            Comparison("c1", None, None, False, Fingerprints(wanted="f"), None),
            IndexState.NEW,
            True,
            id="without tables nothing was indexed",
        ),
    ],
)
def test_what_is_said_of_an_index_follows_from_its_fingerprints_and_commits(
    found: Comparison, state: IndexState, needs_build: bool
) -> None:
    assert (found.state, found.needs_build) == (state, needs_build)
