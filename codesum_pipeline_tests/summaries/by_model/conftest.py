"""A key that no provider has."""

import pytest

from codesum_pipeline_tests.summaries.by_model.building import KEY_ENV


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
