"""Homes with an old history, and a model server on loopback."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline_tests.support.compaction_home import CLAIM, OldHome
from codesum_pipeline_tests.support.llm_server import Says, ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """It answers with a good text."""
    with ScriptedServer(lambda _request: Says(CLAIM)) as found:
        yield found


@pytest.fixture
def home(tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> OldHome:
    """One that asks the server."""
    monkeypatch.setenv("ARCHIVE_KEY", "any word will do")
    return OldHome.at(tmp_path, server.base)
