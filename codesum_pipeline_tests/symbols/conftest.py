"""What tests of symbols share."""

from collections.abc import Iterator

import pytest

from codesum_pipeline_tests.support.loaded_grammars import forget_grammars


@pytest.fixture
def unloaded() -> Iterator[None]:
    """No grammar is loaded before, nor stays so after."""
    forget_grammars()
    yield
    forget_grammars()
