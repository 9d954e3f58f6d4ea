"""The user's own excludes file, read as git reads it: each case is compared with what git itself ignores."""

import os
import subprocess

import pytest

from codesum_pipeline.source.files.snapshot import take_snapshot
from codesum_pipeline.source.files.work_trees import work_tree_state

FILES = {"kept.py": "x = 1\n", "notes.mine": "mine\n", "scratch/try.py": "y = 1\n", "node_modules/m.js": "1\n"}


@pytest.fixture
def user(tmp_path, monkeypatch):
    """The user's own folder."""
    home = tmp_path / "user"
    (home / ".config/git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    return home


@pytest.fixture
def tree(git_repo):
    """A work tree with files that are not committed."""
    repo = git_repo({"committed.mine": "c\n", "committed.py": "c = 1\n"})
    repo.write(FILES)
    return repo


def indexed(make_source_workspace, tree, **fields):
    ws = make_source_workspace(tree.path, worktree=True, **fields)
    report = take_snapshot(ws)
    rows = ws.tables.read("files", ws.key).to_pylist()
    return {row["path"] for row in rows if row["status"] == "indexed"}, report


def seen_by_git(tree):
    """What git itself, run by the user, sees of the tree besides committed files."""
    output = subprocess.run(
        ["git", "status", "--porcelain", "-z", "-uall"], cwd=tree.path, check=True, capture_output=True, text=True
    ).stdout
    return {line[3:] for line in output.split("\0") if line}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def default_place(user, tree, monkeypatch):
    write(user / ".config/git/ignore", "*.mine\n")


def place_of_xdg(user, tree, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(user / "xdg"))
    write(user / "xdg/git/ignore", "*.mine\n")


def named_with_a_tilde(user, tree, monkeypatch):
    write(user / ".gitconfig", "[core]\n\texcludesFile = ~/my ignore\n")
    write(user / "my ignore", "*.mine\n")


def named_by_the_configuration_of_xdg(user, tree, monkeypatch):
    write(user / ".config/git/config", "[core]\n\texcludesfile = ~/mine\n")
    write(user / "mine", "*.mine\n")


def the_home_wins_over_xdg(user, tree, monkeypatch):
    write(user / ".config/git/config", "[core]\n\texcludesfile = ~/other\n")
    write(user / ".gitconfig", "[core]\n\texcludesfile = ~/mine\n")
    write(user / "other", "*.py\n")
    write(user / "mine", "*.mine\n")


def a_configuration_named_by_the_environment(user, tree, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(user / "elsewhere"))
    write(user / "elsewhere", f"[core]\n\texcludesfile = {user}/mine\n")
    write(user / ".gitconfig", "[core]\n\texcludesfile = ~/other\n")
    write(user / "other", "*.py\n")
    write(user / "mine", "*.mine\n")


def an_include(user, tree, monkeypatch):
    write(user / ".gitconfig", "[include]\n\tpath = more.config\n")
    write(user / "more.config", "[core]\n\texcludesfile = ~/mine\n")
    write(user / "mine", "*.mine\n")


def an_include_for_this_folder(user, tree, monkeypatch):
    write(user / ".gitconfig", f'[includeIf "gitdir:{tree.path}/"]\n\tpath = more.config\n')
    write(user / "more.config", "[core]\n\texcludesfile = ~/mine\n")
    write(user / "mine", "*.mine\n")


def an_include_for_another_folder(user, tree, monkeypatch):
    write(user / ".gitconfig", '[includeIf "gitdir:~/elsewhere/"]\n\tpath = more.config\n')
    write(user / "more.config", "[core]\n\texcludesfile = ~/mine\n")
    write(user / "mine", "*.mine\n")


def an_empty_name_is_no_file(user, tree, monkeypatch):
    write(user / ".gitconfig", "[core]\n\texcludesfile =\n")
    write(user / ".config/git/ignore", "*.mine\n")


def a_named_file_that_is_not_there(user, tree, monkeypatch):
    write(user / ".gitconfig", "[core]\n\texcludesfile = ~/nowhere\n")


def a_byte_order_mark(user, tree, monkeypatch):
    write(user / ".config/git/ignore", b"\xef\xbb\xbf*.mine\n")


def letters_that_are_not_utf8(user, tree, monkeypatch):
    write(user / ".config/git/ignore", b"# f\xfcr mich\n*.mine\nscratch/\n")


def lines_that_end_as_on_windows(user, tree, monkeypatch):
    write(user / ".config/git/ignore", "*.mine\r\nscratch/\r\n")


def a_tree_takes_back(user, tree, monkeypatch):
    write(user / ".config/git/ignore", "*.mine\n")
    write(tree.path / ".gitignore", "!notes.mine\n")


CASES = (
    default_place, place_of_xdg, named_with_a_tilde, named_by_the_configuration_of_xdg, the_home_wins_over_xdg,
    a_configuration_named_by_the_environment, an_include, an_include_for_this_folder, an_include_for_another_folder,
    an_empty_name_is_no_file, a_named_file_that_is_not_there, a_byte_order_mark, letters_that_are_not_utf8,
    lines_that_end_as_on_windows, a_tree_takes_back,
)  # fmt: skip


@pytest.mark.parametrize("arrange", CASES, ids=lambda case: case.__name__.replace("_", " "))
def test_git_and_an_index_of_a_work_tree_leave_out_the_same(user, tree, make_source_workspace, monkeypatch, arrange):
    arrange(user, tree, monkeypatch)

    files, report = indexed(make_source_workspace, tree)

    ours = {path for path in seen_by_git(tree) if not path.startswith("node_modules/")}
    assert files == ours | {"committed.mine", "committed.py"}
    assert set(work_tree_state(tree.path).untracked) == ours
    assert not report.failures


def test_the_users_lines_may_take_a_packaged_one_back(user, tree, make_source_workspace):
    write(user / ".config/git/ignore", "!node_modules/\n")

    assert "node_modules/m.js" in indexed(make_source_workspace, tree)[0]


def test_a_clones_own_configuration_is_not_read(user, tree, make_source_workspace, tmp_path):
    write(tmp_path / "theirs", "*.py\n")
    tree.git("config", "core.excludesFile", str(tmp_path / "theirs"))

    assert "kept.py" in indexed(make_source_workspace, tree)[0]


def test_a_change_of_the_users_file_is_another_snapshot(user, tree, make_source_workspace):
    _, before = indexed(make_source_workspace, tree)
    write(user / ".config/git/ignore", "*.mine\n")
    files, after = indexed(make_source_workspace, tree)

    assert before.commit != after.commit
    assert "notes.mine" not in files
    assert files == indexed(make_source_workspace, tree, home="clean")[0]


def test_a_plain_folder_is_left_out_of_as_a_work_tree_is(user, tmp_path, make_source_workspace):
    for name, text in FILES.items():
        write(tmp_path / "plain" / name, text)
    write(user / ".config/git/ignore", "*.mine\n")
    ws = make_source_workspace(tmp_path / "plain")
    take_snapshot(ws)

    rows = ws.tables.read("files", ws.key).to_pylist()
    assert {row["path"] for row in rows if row["status"] == "indexed"} == {"kept.py", "scratch/try.py"}


def binary(place):
    write(place, b"\x00\x01*.mine\n")


def huge(place):
    write(place, b"# long\n" * 200_000)


def a_folder(place):
    place.mkdir(parents=True)


def unreadable(place):
    os.mkfifo(place)


@pytest.mark.parametrize(
    ("make", "why"),
    [(binary, "is no text"), (huge, "has more than"), (a_folder, "cannot be read"), (unreadable, "is no file")],
    ids=["no text", "too large", "a folder", "a pipe that nobody writes to"],
)
def test_a_file_that_cannot_be_used_is_named_and_the_rest_goes_on(user, tree, make_source_workspace, make, why):
    place = user / ".config/git/ignore"
    make(place)

    files, report = indexed(make_source_workspace, tree)

    assert {"kept.py", "notes.mine"} <= files
    (failure,) = report.failures
    assert failure.item == str(place)
    assert why in failure.reason


def test_a_configuration_that_cannot_be_read_is_named(user, tree, make_source_workspace):
    write(user / ".gitconfig", "[core\n")

    files, report = indexed(make_source_workspace, tree)

    assert "kept.py" in files
    assert [failure.item for failure in report.failures] == [str(user / ".gitconfig")]
