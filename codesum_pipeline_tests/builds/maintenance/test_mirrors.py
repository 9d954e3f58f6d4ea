"""A mirror that is packed anew keeps what is needed, and a git that cannot do it changes nothing."""

import os
from pathlib import Path

import pytest

from codesum_pipeline.builds.maintenance import maintaining
from codesum_pipeline.builds.maintenance.maintaining import MirrorFolder
from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git.mirror import Mirror
from codesum_pipeline_tests.support.repositories import GitRepo


@pytest.fixture
def mirrored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[MirrorFolder, list[str]]:
    """A mirror of a work tree that was taken four times, and its commits, of which the last is wanted."""
    monkeypatch.setattr(maintaining, "MANY_LOOSE", 4)
    monkeypatch.setattr(maintaining, "MANY_PACKS", 2)
    repo = GitRepo.create(tmp_path / "shop", {"a.py": "a = 0\n"})
    entry = RepositoryEntry("shop", str(repo.path), worktree=True)
    mirror = Mirror(tmp_path / "shop.git")
    commits = []
    for number in range(4):
        (repo.path / "a.py").write_text(f"a = {number}\n")
        commits.append(mirror.update(entry).commit)
    return MirrorFolder(tmp_path / "shop.git", "shop", 60.0), commits


def has(mirror: MirrorFolder, commit: str) -> bool:
    return Mirror(mirror.git_dir).resolve(commit) == commit


def make_old(mirror: MirrorFolder) -> None:
    for path in (mirror.git_dir / "objects").rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))


def test_commits_of_kept_indexes_outlive_the_ref_that_moved_on(mirrored: tuple[MirrorFolder, list[str]]) -> None:
    mirror, commits = mirrored
    make_old(mirror)

    mirror.tidy(keeping=[commits[1], "0" * 40], unreachable_days=14, is_dry_run=False)

    assert [has(mirror, commit) for commit in commits] == [False, True, False, True]
    assert mirror.tidy(keeping=[commits[1]], unreachable_days=14, is_dry_run=False) == []


def test_what_came_in_lately_stays(mirrored: tuple[MirrorFolder, list[str]]) -> None:
    mirror, commits = mirrored

    (found,) = mirror.tidy(keeping=[], unreachable_days=14, is_dry_run=False)

    assert all(has(mirror, commit) for commit in commits)
    assert found.count > 0


def test_a_mirror_that_lacks_an_object_is_left_as_it_is(mirrored: tuple[MirrorFolder, list[str]]) -> None:
    mirror, commits = mirrored
    packs = mirror.git_dir / "objects" / "pack"
    make_old(mirror)
    for path in packs.glob(f"{_pack_of(mirror, commits[-1])}*"):
        path.unlink()
    before = sorted(packs.iterdir())

    with pytest.raises(RepositoryUnavailable):
        mirror.tidy(keeping=commits[:1], unreachable_days=14, is_dry_run=False)

    assert sorted(packs.glob("*.pack")) == [path for path in before if path.suffix == ".pack"]


def _pack_of(mirror: MirrorFolder, commit: str) -> str:
    for index in (mirror.git_dir / "objects" / "pack").glob("*.idx"):
        if commit in Mirror(mirror.git_dir).run_git("verify-pack", "-v", str(index)).decode():
            return index.stem
    raise AssertionError(f"no pack has {commit}")
