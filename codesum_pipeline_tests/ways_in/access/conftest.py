from pathlib import Path

import pytest

from codesum_pipeline_tests.ways_in.access.homes import Homes, make_homes


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    """One home without B, one with it."""
    folder: Path = tmp_path_factory.mktemp("access")
    return make_homes(folder)
