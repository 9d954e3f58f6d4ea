from pathlib import Path

import pytest

from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.synthetic_indexes import make_index_workspace, publish


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return load_embedder("static")


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> PublishedIndex:
    """The synthetic shop, published."""
    workspace = make_index_workspace(Path(tmp_path_factory.mktemp("home")))
    publish(workspace)
    return PublishedIndex.open(workspace.layout.published("shop"))
