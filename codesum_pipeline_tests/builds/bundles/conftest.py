"""A home that exports, and a clone for homes that import."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline_tests.support.bundles import export_of
from codesum_pipeline_tests.support.homes import built_once, open_home
from codesum_pipeline_tests.support.shop import SHOP


@pytest.fixture(scope="session")
def exported_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with `repository`, `home`, and `shop.codesum` that the home exported."""
    folder = built_once(tmp_path_factory.mktemp("exporting"), SHOP)
    export_of(open_home(folder / "home"), folder / "shop.codesum")
    yield folder
