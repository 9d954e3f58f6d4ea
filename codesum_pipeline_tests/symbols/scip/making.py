"""Repositories with a command, and what comes of it."""

import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git.mirror import Mirror
from codesum_pipeline.symbols.scip.making import MadeIndex, make_index
from codesum_pipeline_tests.support.homes import open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo


@cache
def bubblewrap_works() -> bool:
    """Machines of CI may lack it, or forbid user namespaces."""
    arguments = ["--ro-bind", "/", "/", "--unshare-all", "--proc", "/proc", "true"]
    return bool(shutil.which("bwrap")) and subprocess.run(["bwrap", *arguments], check=False).returncode == 0


in_bubblewrap = pytest.mark.skipif(not bubblewrap_works(), reason="needs bubblewrap, and user namespaces")
SANDBOXES = [pytest.param("bubblewrap", marks=in_bubblewrap), "none"]


class Shop(Struct, frozen=True):
    """One repository and the home that makes its index."""

    repo: GitRepo
    home: Path
    settings: Mapping[str, Any]

    @classmethod
    def create(cls, folder: Path, files: Mapping[str, str | bytes], **settings: Any) -> "Shop":
        return cls(GitRepo.create(folder / "repository", files), folder / "home", settings)

    def make(self, command: str, *, force: bool = False, **fields: Any) -> MadeIndex:
        """As the build of the newest commit makes it."""
        home = open_home(self.home, scip=self.settings)
        entry = RepositoryEntry("shop", str(self.repo.path), scip_command=command, **fields)
        home.registry.add(entry)
        ws = replace(workspace_of(home, entry), force=force)
        mirror = Mirror(ws.layout.mirror("shop"))
        made = make_index(ws, mirror, mirror.update(ws.entry).commit)
        assert made is not None
        return made
