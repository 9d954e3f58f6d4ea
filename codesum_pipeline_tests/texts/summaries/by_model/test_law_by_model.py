"""The law with a model's texts: strict about contexts, no cap, each clean build with an empty cache."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.builds.law.test_law import scripted_states
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import Shop, shop
from codesum_pipeline_tests.support.script import EDITS
from codesum_pipeline_tests.support.shop import SHOP


@pytest.mark.slow
def test_after_every_scripted_edit_the_index_equals_a_clean_one_that_was_written_anew(tmp_path: Path) -> None:
    with shop(tmp_path, dict(SHOP)) as found:
        for number, (name, files, settings) in enumerate(scripted_states()):
            found.repo.commit_exactly(files)
            built = _built(found, "home", settings)
            clean = _built(found, f"clean-{number}", settings)

            assert first_difference(table_rows(built), table_rows(clean)) is None, name
            assert first_difference(published_files(built), published_files(clean)) is None, name
    assert number == len(EDITS)


def _built(found: Shop, home: str, settings: dict[str, object]) -> Workspace:
    workspace = found.workspace(home=home, graph_policy="strict", **settings)
    build(workspace)
    return workspace
