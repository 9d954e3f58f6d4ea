"""A key that no provider has."""

import pytest

from codesum_pipeline_tests.support.model_builds import KEY_ENV


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
