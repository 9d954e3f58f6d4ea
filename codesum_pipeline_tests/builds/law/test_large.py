"""The law for a repository as large as few are: what is built beside each other of small ones is not of large ones."""

import subprocess
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store import memory
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.file_formats.version_folder import read_version
from codesum_pipeline_tests.support.commands import COMMAND, environment
from codesum_pipeline_tests.support.comparing import COMPARED_TABLES
from codesum_pipeline_tests.support.generated_code import generated_code
from codesum_pipeline_tests.support.homes import open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

FILES, FUNCTIONS = 300, 136


def index(home: Path, repo: GitRepo) -> Workspace:
    """The workspace of what `codesum index` builds."""
    workspace = workspace_of(open_home(home), RepositoryEntry("large", str(repo.path)))
    done = subprocess.run(
        [*COMMAND, "--home", str(home), "index", "large"],
        cwd=repo.path.parent,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    return workspace


def content_of(workspace: Workspace) -> dict[str, object]:
    """The hashes of all that is compared of two builds: the rows are too many to hold twice."""
    manifest = read_version(workspace.layout.published("large").resolve()).manifest
    tables = {name: workspace.tables.content_hash(name, "large") for name in COMPARED_TABLES}
    return {**tables, **{name: manifest[name] for name in ("commit", "content_digest", "fingerprint", "counts")}}


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_an_edit_of_forty_thousand_documents_ends_in_the_index_of_a_clean_build(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "large", generated_code(files=FILES, functions=FUNCTIONS))
    built = index(tmp_path / "home", repo)
    first = content_of(built)
    repo.commit(generated_code(files=FILES, functions=FUNCTIONS, edited=FUNCTIONS // 2))

    edited = content_of(index(tmp_path / "home", repo))

    assert built.tables.read("documents", "large", columns=["id"]).num_rows >= 40_000 > memory.MANY_DOCUMENTS
    assert edited["content_digest"] != first["content_digest"]
    assert edited == content_of(index(tmp_path / "clean", repo))
