"""Builds in which a model writes, against a provider on loopback whose answer is a pure function of the request."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.homes import open_home, workspace_of
from codesum_pipeline_tests.support.llm_server import Script, ScriptedServer, always_well
from codesum_pipeline_tests.support.repositories import GitRepo

MODEL = "openai/gpt-4o-mini"
KEY_ENV = "CODESUM_TEST_PROVIDER_KEY"


def model_settings(server: ScriptedServer, **llm: Any) -> dict[str, Any]:
    """Settings that let the model write everything; `llm` changes some."""
    return {
        "enabled": True,
        "model": MODEL,
        "api_base": server.base,
        "api_key_env": KEY_ENV,
        "max_summaries_per_run": 100_000,
        "tests": True,
        "documented": True,
        "concurrency": 16,
        **llm,
    }


class Shop:
    """A repository with a home and a provider."""

    def __init__(self, folder: Path, server: ScriptedServer, files: dict[str, Any]) -> None:
        self.folder = folder
        self.server = server
        self.repo = GitRepo.create(folder / "repo", files) if files else GitRepo(folder / "repo")
        self.runs = 0

    @classmethod
    def copy(cls, other: "Shop", folder: Path) -> "Shop":
        """The same repository and home in another folder, with the same provider."""
        for name in ("repo", "home"):
            shutil.copytree(other.folder / name, folder / name, symlinks=True)
        registry = folder / "home" / "repos.yaml"
        registry.write_text(registry.read_text().replace(str(other.folder), str(folder)))
        copied = cls(folder, other.server, {})
        copied.runs = other.runs
        return copied

    def workspace(self, *, home: str = "home", confirmed: bool = True, llm: Any = None, **settings: Any) -> Workspace:
        """A workspace for the next run."""
        self.runs += 1
        found = open_home(self.folder / home, llm=model_settings(self.server, **(llm or {})), **settings)
        workspace = workspace_of(found, RepositoryEntry("shop", str(self.repo.path)), run_id=f"run {self.runs}")
        return found.workspace("shop", run_id=workspace.run_id, now=workspace.now, is_confirmed=confirmed)


@contextmanager
def shop(folder: Path, files: dict[str, Any], script: Script = always_well) -> Iterator[Shop]:
    with ScriptedServer(script) as server:
        yield Shop(folder, server, files)
