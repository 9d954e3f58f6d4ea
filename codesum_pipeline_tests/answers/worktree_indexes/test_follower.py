"""A work tree that is followed is another one after each change, and after nothing else."""

import logging
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codesum_pipeline.answers.worktree_indexes.follower import Follower
from codesum_pipeline_tests.support.commands import PROJECT
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {
    "src/door.py": "OPEN = 1\n",
    "src/deep/down/lock.py": "SHUT = 1\n",
    "README.md": "# Shop\n",
    ".gitignore": "*.log\nbuild/\n",
}


@pytest.fixture
def repo(git_repo):
    repo = git_repo(FILES, name="shop")
    repo.write({"build/made.py": "MADE = 1\n", "now.log": "first\n"})
    (repo.path / "empty").mkdir()
    return repo


@pytest.fixture
def prepared():
    return []


@pytest.fixture
def follower(repo, prepared):
    follower = Follower(repo.path / ".codesum")
    follower.follow(repo.path, "shop", lambda: prepared.append(1))
    wait_until(lambda: follower.generation(repo.path) is not None)
    yield follower
    follower.close()


def wait_until(holds, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_new_after(follower, repo, change):
    """Whether the tree counts as another one at once."""
    before = follower.generation(repo.path)
    change()
    return follower.generation(repo.path) != before


CHANGES = {
    "an edit": lambda repo: repo.write({"src/door.py": "OPEN = 2\n"}),
    "a new file": lambda repo: repo.write({"src/deep/new.py": "NEW = 1\n"}),
    "a new file in an empty folder": lambda repo: repo.write({"empty/new.py": "NEW = 1\n"}),
    "new folders": lambda repo: repo.write({"a/b/c/new.py": "NEW = 1\n"}),
    "a deleted file": lambda repo: (repo.path / "README.md").unlink(),
    "a renamed file": lambda repo: (repo.path / "README.md").rename(repo.path / "READ.md"),
    "a deleted folder": lambda repo: shutil.rmtree(repo.path / "src"),
    "an editor that writes aside": lambda repo: _written_aside(repo.path / "src" / "door.py"),
    "git add": lambda repo: repo.git("update-index", "--chmod=+x", "src/door.py"),
    "another branch": lambda repo: repo.git("checkout", "-q", "-b", "other"),
    "a commit": lambda repo: repo.git("commit", "-q", "--allow-empty", "-m", "empty"),
}


def _written_aside(path: Path) -> None:
    aside = path.with_name(".door.py.swp")
    aside.write_text("OPEN = 3\n")
    os.replace(aside, path)


FURTHER = ("a renamed file", "git add", "a commit", "a deleted file")


@pytest.mark.parametrize(
    "change",
    [pytest.param(change, id=name, marks=[pytest.mark.slow] * (name in FURTHER)) for name, change in CHANGES.items()],
)
def test_a_tree_is_another_one_after(follower, repo, prepared, change):
    assert is_new_after(follower, repo, lambda: change(repo))
    wait_until(lambda: prepared)


NO_CHANGES = [
    "now.log",
    "src/new.log",
    "build/made.py",
    "build/more/made.py",
    ".git/objects/x",
    ".git/index.lock",
    ".codesum/x",
]


def test_what_is_ignored_what_git_keeps_and_the_home_wake_nobody(follower, repo, prepared):
    for path in NO_CHANGES:
        for text in ("one", "two"):
            assert not is_new_after(follower, repo, lambda path=path, text=text: repo.write({path: text})), path

    # Whatever the system had to tell of it has been told.
    (repo.path / ".git" / "index.lock").unlink()
    repo.write({"src/door.py": "OPEN = 2\n"})
    wait_until(lambda: prepared)
    time.sleep(0.3)
    assert prepared == [1]


def test_what_is_ignored_no_more_is_a_change(follower, repo):
    assert is_new_after(follower, repo, lambda: repo.write({".gitignore": ""}))
    assert is_new_after(follower, repo, lambda: repo.write({"now.log": "more\n"}))
    assert is_new_after(follower, repo, lambda: repo.write({"build/made.py": "MADE = 2\n"}))


def test_folders_that_come_and_come_again_under_an_old_name_are_followed(follower, repo):
    def replace_folders():
        shutil.rmtree(repo.path / "src")
        repo.write({"src/deep/down/lock.py": "SHUT = 2\n", "more/and/more.py": "MORE = 1\n"})

    assert is_new_after(follower, repo, replace_folders)

    assert is_new_after(follower, repo, lambda: repo.write({"src/deep/down/lock.py": "SHUT = 3\n"}))
    assert is_new_after(follower, repo, lambda: repo.write({"more/and/more.py": "MORE = 2\n"}))


def test_a_thousand_files_at_once_are_not_prepared_one_by_one(follower, repo, prepared):
    repo.write({f"many/{number // 50}/file{number}.py": f"N = {number}\n" for number in range(1000)})

    wait_until(lambda: prepared)
    time.sleep(1)
    assert len(prepared) < 100
    assert is_new_after(follower, repo, lambda: repo.write({"many/19/file999.py": "N = 0\n"}))


def test_a_linked_work_tree_is_followed_by_its_own_head_and_index(repo, tmp_path):
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    linked = GitRepo(tmp_path / "linked")
    follower = Follower(tmp_path / "home")
    follower.follow(linked.path, "shop", lambda: None)
    wait_until(lambda: follower.generation(linked.path) is not None)

    assert is_new_after(follower, linked, lambda: linked.git("update-index", "--chmod=+x", "src/door.py"))
    assert is_new_after(follower, linked, lambda: linked.write({"src/door.py": "OPEN = 4\n"}))
    assert not is_new_after(follower, linked, lambda: repo.write({"src/door.py": "OPEN = 5\n"}))
    follower.close()


def test_a_tree_that_is_deleted_is_not_followed_and_one_that_comes_back_is(follower, repo, caplog):
    kept = shutil.copytree(repo.path, repo.path.with_name("kept"), symlinks=True)
    shutil.rmtree(repo.path)
    assert follower.generation(repo.path) is None
    kept.rename(repo.path)
    assert follower.generation(repo.path) is None

    follower.follow(repo.path, "shop", lambda: None)
    wait_until(lambda: follower.generation(repo.path) is not None)
    assert is_new_after(follower, repo, lambda: repo.write({"src/door.py": "OPEN = 6\n"}))


def test_a_tree_that_nobody_asked_about_is_compared(follower, tmp_path):
    assert follower.generation(tmp_path) is None


def test_a_tree_of_too_many_folders_is_compared_and_that_is_said_once(repo, caplog):
    follower = Follower(repo.path / ".codesum", most_folders=3)
    with caplog.at_level(logging.WARNING):
        follower.follow(repo.path, "shop", lambda: None)
        wait_until(lambda: caplog.records)
        for _ in range(2):
            follower.follow(repo.path, "shop", lambda: None)
            time.sleep(0.1)
    follower.close()

    assert follower.generation(repo.path) is None
    (message,) = [record.getMessage() for record in caplog.records]
    assert message.startswith(f"changes of {repo.path} are looked for at each call: it has ")


_LIMITED = """
import logging, sys, threading
from pathlib import Path
from codesum_pipeline.answers.worktree_indexes.follower import Follower
said = threading.Event()
class Said(logging.StreamHandler):
    def emit(self, record):
        super().emit(record)
        said.set()
logging.getLogger().addHandler(Said())
follower = Follower(Path("/nowhere"))
follower.follow(Path(sys.argv[1]), "shop", lambda: None)
said.wait(60)
print(follower.generation(Path(sys.argv[1])))
"""


def test_where_the_system_has_no_more_watches_the_tree_is_compared_and_that_is_said(repo):
    limited = 'echo 3 > /proc/sys/user/max_inotify_watches && exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", limited, "sh", sys.executable, "-c", _LIMITED]
    done = subprocess.run(
        [*command, repo.path], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PROJECT)}
    )
    if "unshare" in done.stderr or "max_inotify_watches" in done.stderr:
        pytest.skip(f"no limit can be set here: {done.stderr}")

    assert done.stdout == "None\n"
    assert "are looked for at each call: the system does not watch it: " in done.stderr


def test_a_tree_on_another_machines_disk_is_compared_and_that_is_said(repo, tmp_path, monkeypatch, caplog):
    mounts = tmp_path / "proc" / "self" / "mounts"
    mounts.parent.mkdir(parents=True)
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\nserver:/src {repo.path.parent} nfs4 rw 0 0\n")
    (tmp_path / "proc" / "filesystems").write_text("\text4\n\tnfs4\n")
    monkeypatch.setattr("psutil.PROCFS_PATH", str(tmp_path / "proc"))
    follower = Follower(repo.path / ".codesum")
    follower.follow(repo.path, "shop", lambda: None)
    wait_until(lambda: caplog.records)
    follower.close()

    assert follower.generation(repo.path) is None
    assert caplog.records[0].getMessage().endswith("it lies on another machine's disk")


def test_what_the_system_lost_counts_some_seconds_later(follower, repo, monkeypatch):
    before = follower.generation(repo.path)
    assert follower.generation(repo.path) == before

    monkeypatch.setattr("codesum_pipeline.answers.worktree_indexes.follower._TRUSTED_S", 0.0)
    assert follower.generation(repo.path) != before


def test_what_is_prepared_may_fail_and_the_next_change_is_prepared_all_the_same(repo, caplog):
    done = []

    def prepare():
        done.append(1)
        raise OSError("no")

    follower = Follower(repo.path / ".codesum")
    follower.follow(repo.path, "shop", prepare)
    wait_until(lambda: follower.generation(repo.path) is not None)
    for number in (1, 2):
        repo.write({"src/door.py": f"OPEN = {number}0\n"})
        wait_until(lambda number=number: len(done) == number)
    follower.close()


def test_a_tree_that_an_error_of_ours_ended_is_said_once_and_compared_at_each_call(repo, caplog):
    def prepare():
        raise RuntimeError("a mistake")

    follower = Follower(repo.path / ".codesum")
    follower.follow(repo.path, "shop", prepare)
    wait_until(lambda: follower.generation(repo.path) is not None)
    repo.write({"src/door.py": "OPEN = 10\n"})
    wait_until(lambda: follower.generation(repo.path) is None)
    repo.write({"src/door.py": "OPEN = 20\n"})
    time.sleep(0.3)
    assert follower.generation(repo.path) is None
    assert [record.getMessage() for record in caplog.records] == [f"{repo.path} is not followed any more"]
    follower.close()
