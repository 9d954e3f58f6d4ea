"""Workspaces that need nothing but this stage and the store."""

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.settings import DEFAULTS, changed

MakeWorkspace = Callable[..., Workspace]


@pytest.fixture
def make_source_workspace(tmp_path: Path) -> MakeWorkspace:
    """`make(location, home="home", scan=ScanSettings(), **entry_fields)`."""

    def make(
        location: Path | str,
        *,
        home: str = "home",
        scan: ScanSettings | None = None,
        force: bool = False,
        **fields: Any,
    ) -> Workspace:
        layout = HomeLayout(tmp_path / home)
        return Workspace(
            entry=RepositoryEntry(key="project", location=str(location), **fields),
            layout=layout,
            tables=TableStore(layout.warehouse),
            settings=changed(DEFAULTS, **dict(scan or {})),
            versions={},
            run_id="run",
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
            force=force,
        )

    return make


def git_output(git_dir: Path, *arguments: str) -> bytes:
    """What git says about a repository, in an environment of the test's own."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", f"--git-dir={git_dir}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, env=environment).stdout
