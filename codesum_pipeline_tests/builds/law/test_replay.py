"""The benchmark that replays a history builds it as a registered repository is built: with what the last build left."""

from pathlib import Path

from benchmarks.replay import MovingBranch, build_and_count, commits_of
from codesum_pipeline_tests.support.homes import open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo


def test_a_replayed_history_reuses_what_did_not_change(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"a.py": "def f(x):\n    return x + 1\n"})
    repo.commit({"b.py": "def g(x):\n    return x + 2\n"})
    repo.git("commit", "-q", "--allow-empty", "-m", "nothing")
    branch = MovingBranch.of(repo.path, tmp_path)

    builds = []
    for commit in commits_of(repo.path, 3):
        workspace = workspace_of(open_home(tmp_path / "home"), branch.move_to(commit))
        builds.append((commit, *build_and_count(workspace)))

    assert [reports["repo_snapshot"].commit for _, reports, _ in builds] == [commit for commit, _, _ in builds]
    assert [(reports["symbols"].parsed, reports["symbols"].carried) for _, reports, _ in builds] == [
        (1, 0),
        (1, 1),
        (0, 2),
    ]
    reused = [steps for _, _, steps in builds]
    assert reused[0] == 0
    assert reused[2] > reused[1], "a commit that changes no file runs fewer steps"
    assert len(open_home(tmp_path / "home").registry.entries()) == 1
    assert len([*(tmp_path / "home").rglob("HEAD")]) == 1, "one mirror"
