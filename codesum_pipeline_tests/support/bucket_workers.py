"""Workers of a test: each has a folder of its own, and all have one bucket."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.object_storage.heads import head_name, read_head
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.homes import empty_serving_file, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo


def worker_at(folder: Path, bucket: str, **settings: Any) -> Home:
    """A worker that keeps its copy of a bucket below `folder`."""
    return Home(load_settings({"home": bucket, **settings}, environ={"XDG_CACHE_HOME": str(folder)}))


def workspace_at(worker: Home, repo: GitRepo, *, run_id: str = "run", force: bool = False) -> Workspace:
    """What a build of the repository by a worker works with."""
    return workspace_of(worker, RepositoryEntry("shop", str(repo.path)), run_id=run_id, force=force)


def build_in_bucket(worker: Home, repo: GitRepo, *, run_id: str = "run") -> set[str]:
    """Build as the assets do, while the repository is held; the steps that had to be run."""
    with hold_repository(worker.layout, "shop", run_id=run_id) as record:
        return run_steps(replace(workspace_at(worker, repo, run_id=run_id), record=record))


def run_steps(workspace: Workspace) -> set[str]:
    """The steps in order, with a commit once the index is published; those that had to be run."""
    ran = set()
    with empty_serving_file():
        for step in STEPS:
            workspace.record.check()
            if not carry_out(step, workspace).is_reused:
                ran.add(step.name)
            if step.name == "published_index":
                workspace.record.commit()
    return ran


def taken_over(objects: Objects) -> None:
    """Another worker took the lease, built nothing, and gave it back."""
    head = read_head(objects, "shop")
    assert head is not None
    found, etag, _ = head
    objects.swap(head_name("shop"), found.replaced(fence=found.fence + 1, holder=None).encoded(), etag=etag)
