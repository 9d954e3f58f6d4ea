"""Trees and links that git's own commands would not write: nothing of them leads out of the repository."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.files import snapshot
from codesum_pipeline_tests.builds.hostile.building import SOUND, Built, built, store_blob, store_commit, store_tree
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

Index = Callable[..., Built]
SECRET = "outside_secret_92c1"

# Name of the entry, its path in the index, and why it is skipped.
BAD_ENTRIES = {
    "git folder": (b".git", ".git", "invalid_path"),
    "git folder in capitals": (b".GIT", ".GIT", "invalid_path"),
    "folder above": (b"..", "..", "invalid_path"),
    "the folder itself": (b".", ".", "invalid_path"),
    "absolute path": (b"/etc/passwd", "/etc/passwd", "invalid_path"),
    "path out of the tree": (b"../../etc/passwd", "../../etc/passwd", "invalid_path"),
    "path in one name": (b"a/../../b.py", "a/../../b.py", "invalid_path"),
}


@pytest.fixture(scope="module")
def bad_trees(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A tree with each of the bad entries, some of them folders, beside a sound file."""
    folder = tmp_path_factory.mktemp("bad_trees")
    repo = GitRepo.create(folder / "repository")
    blob = store_blob(repo, SOUND)
    inner = store_tree(repo, [(b"100644", b"config", blob), (b"100644", b"inner.py", blob)])
    link = store_blob(repo, b"/etc/passwd")
    entries = [(b"100644", name, blob) for name, _, _ in BAD_ENTRIES.values()]
    entries += [
        (b"100644", b"twice.py", blob),
        (b"100644", b"twice.py", store_blob(repo, b"x = 2\n")),
        (b"40000", b".git", inner),
        (b"40000", b"sub", store_tree(repo, [(b"40000", b".Git", inner), (b"40000", b"..", inner)])),
        (b"120000", b".gitmodules", link),
        (b"100664", b"group_writable.py", blob),
        (b"100644", b"sound.py", blob),
        (b"160000", b"module", b"1" * 40),
        (b"40000", b"both", inner),
        (b"100644", b"both", blob),
    ]
    store_commit(repo, store_tree(repo, entries))
    return built(repo.path, folder / "home")


@pytest.mark.parametrize(("path", "reason"), [case[1:] for case in BAD_ENTRIES.values()], ids=BAD_ENTRIES)
def test_an_entry_that_no_checkout_allows_is_skipped(bad_trees: Built, path: str, reason: str) -> None:
    assert bad_trees.reasons()[path] == reason
    assert path not in {document["file_path"] for document in bad_trees.documents().values()} - {"."}


def test_what_stands_below_a_git_folder_of_a_tree_is_skipped(bad_trees: Built) -> None:
    reasons = bad_trees.reasons()

    below = [".git/config", ".git/inner.py", "sub/.Git/config", "sub/.Git/inner.py", "sub/../config", "sub/../inner.py"]
    assert {path: reasons[path] for path in below} == dict.fromkeys(below, "invalid_path")


def test_of_two_entries_of_one_name_the_first_is_indexed(bad_trees: Built) -> None:
    assert "twice.py::order_total" in bad_trees.documents()


def test_of_a_file_and_a_folder_of_one_name_the_folder_is_indexed(bad_trees: Built) -> None:
    reasons = bad_trees.reasons()

    assert (reasons["both"], reasons["both/config"], reasons["both/inner.py"]) == ("invalid_path", None, None)
    assert bad_trees.documents()["both"]["type"] == "module"


def test_an_odd_mode_is_a_file(bad_trees: Built) -> None:
    assert bad_trees.reasons()["group_writable.py"] is None


def test_a_submodule_entry_without_its_file_is_skipped(bad_trees: Built) -> None:
    assert bad_trees.reasons()["module"] == "submodule"


def test_a_gitmodules_link_is_skipped(bad_trees: Built) -> None:
    assert bad_trees.reasons()[".gitmodules"] == "symlink"


def test_the_rest_of_a_bad_tree_is_indexed(bad_trees: Built) -> None:
    assert "sound.py::order_total" in bad_trees.documents()
    assert bad_trees.rebuilt().findings() == []


def test_a_tree_that_holds_itself_ten_times_over_is_an_error(
    git_repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git_repo()
    tree = store_tree(repo, [(b"100644", b"a.py", store_blob(repo, SOUND))])
    for _ in range(12):
        tree = store_tree(repo, [(b"40000", b"%d" % number, tree) for number in range(10)])
    store_commit(repo, tree)
    monkeypatch.setattr(snapshot, "MOST_ENTRIES", 50_000)
    workspace = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("project", str(repo.path)))

    with pytest.raises(ConfigurationError, match="holds more than 50,000 files"):
        build(workspace)


@pytest.mark.parametrize(
    ("head", "committed_at"),
    [
        pytest.param(
            b"author a <a> 0 +0000\ncommitter a <a> 99999999999999 +0000\n", "9999-12-31T23:59:59Z", id="far future"
        ),
        pytest.param(
            b"author a <a> 0 +0000\ncommitter a <a> -99999999999 +0000\n", "1970-01-01T00:00:00Z",
            id="before time", marks=pytest.mark.slow,
        ),
        pytest.param(
            b"author a <a> 0 +0000\ncommitter a <a> soon\n", "1970-01-01T00:00:00Z",
            id="no number", marks=pytest.mark.slow,
        ),
        pytest.param(b"author a\x1b[31m<script> 0 +0000\ncommitter\n", "1970-01-01T00:00:00Z", id="no committer"),
    ],
)  # fmt: skip
def test_a_commit_with_an_impossible_date_is_indexed(git_repo, index: Index, head: bytes, committed_at: str) -> None:
    repo = git_repo()
    store_commit(repo, store_tree(repo, [(b"100644", b"a.py", store_blob(repo, SOUND))]), head=head)

    made = index(repo.path)

    assert made.home.tables.read("snapshot", "project").column("committed_at").to_pylist() == [committed_at]


@pytest.mark.slow
def test_a_commit_message_of_megabytes_is_cut(git_repo, index: Index) -> None:
    repo = git_repo()
    tree = store_tree(repo, [(b"100644", b"a.py", store_blob(repo, SOUND))])
    store_commit(repo, tree, message=b"word\x1b[31m " * 500_000)

    made = index(repo.path)

    assert len(made.home.tables.read("snapshot", "project").column("subject")[0].as_py()) == 500


LINKS = {
    "absolute file": ("link.py", "{outside}/secret.py"),
    "relative file": ("link2.py", "../outside/secret.py"),
    "absolute folder": ("folder", "{outside}"),
    "relative folder": ("sub/folder", "../../outside"),
    "loop": ("loop", "loop"),
    "two in a loop": ("ping", "pong"),
    "the root": ("root", "/"),
    "the folder above": ("sub/up", ".."),
    "a device": ("null.py", "/dev/zero"),
    "process memory": ("mem.py", "/proc/self/environ"),
    "inside": ("inside.py", "a.py"),
    "a long target": ("long.py", "x" * 4_000),
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(False, id="commit"), pytest.param(True, id="work tree", marks=pytest.mark.slow)],
)
def links(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A repository with all of the links, read as a commit and as a work tree."""
    folder = tmp_path_factory.mktemp("links")
    (folder / "outside").mkdir()
    (folder / "outside" / "secret.py").write_text(f"{SECRET} = 1\n")
    repo = GitRepo.create(folder / "repository", {"a.py": SOUND, "sub/b.py": SOUND})
    for name, target in LINKS.values():
        (repo.path / name).symlink_to(target.format(outside=folder / "outside"))
    (repo.path / "pong").symlink_to("ping")
    repo.commit({})
    return built(repo.path, folder / "home", worktree=request.param)


@pytest.mark.parametrize("name", [name for name, _ in LINKS.values()], ids=LINKS)
def test_a_link_is_never_followed(links: Built, name: str) -> None:
    assert links.reasons()[name] == "symlink"
    assert name not in links.documents()


def test_nothing_outside_reaches_the_home_through_a_link(links: Built) -> None:
    files = [Path(folder) / name for folder, _, names in os.walk(links.home.layout.home) for name in names]

    assert sum(1 for reason in links.reasons().values() if reason is None) == 2
    assert not [file for file in files if SECRET.encode() in file.read_bytes()]


@pytest.mark.slow
def test_a_link_into_the_repositorys_own_git_folder_is_not_followed(git_repo, index: Index) -> None:
    repo = git_repo({"a.py": SOUND})
    (repo.path / "config.py").symlink_to(".git/config")
    repo.commit({})

    assert index(repo.path, worktree=True).reasons() == {"a.py": None, "config.py": "symlink"}


def test_submodules_are_neither_fetched_nor_read(git_repo, index: Index, tmp_path: Path) -> None:
    inner = git_repo({"inner.py": f"{SECRET} = 1\n"}, name="inner")
    repo = git_repo({"a.py": SOUND})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "module")
    repo.commit({".gitmodules": f'[submodule "m"]\n\tpath = module\n\turl = ext::sh -c touch% {tmp_path}/marker\n'})

    made = index(repo.path)

    assert made.reasons() == {".gitmodules": None, "a.py": None, "module": "submodule"}
    assert not (tmp_path / "marker").exists()


def test_a_pointer_of_git_lfs_is_skipped_and_not_fetched(git_repo, index: Index) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    repo = git_repo(
        {"a.py": SOUND, "model.py": pointer, ".lfsconfig": "[lfs]\n\turl = https://example.invalid/\n", "b.py": pointer}
    )

    assert index(repo.path).reasons() == {
        ".lfsconfig": None,
        "a.py": None,
        "b.py": "lfs_pointer",
        "model.py": "lfs_pointer",
    }
