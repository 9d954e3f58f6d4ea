"""What a work tree leaves out, by its own patterns or the user's, is left out of its answers as of a clean index."""

import pytest
from msgspec.structs import replace

from codesum_pipeline.answers.worktree_indexes.opening import open_tree
from codesum_pipeline.answers.worktree_indexes.word_rarity import RescaledIndexes
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.overlay_answers import Checkout, must_hold_the_law
from codesum_pipeline_tests.support.repositories import GitRepo

CODE = "def weigh(coin):\n    return coin.weight * 2\n"


def new_patterns(repo, user):
    repo.write({".codesumignore": "shop/orders/\n"})


def new_patterns_in_a_folder(repo, user):
    repo.write({"shop/.codesumignore": "money.py\n", "shop/new.py": CODE})


def patterns_that_take_back(repo, user):
    repo.commit({".codesumignore": "shop/\n!shop/money.py\n"})
    repo.write({".codesumignore": "shop/*\n!shop/money.py\n", "shop/new.py": CODE})


def patterns_of_a_folder_over_those_of_the_root(repo, user):
    repo.write({".codesumignore": "new*.py\n", "shop/.codesumignore": "!new_kept.py\n"})
    repo.write({"shop/new_kept.py": CODE, "shop/new_left.py": CODE, "new_left.py": CODE})


def files_that_the_user_ignores(repo, user):
    (user / ".config/git/ignore").write_text("scratch/\n*.mine.py\n")
    repo.write({"scratch/try.py": CODE, "shop/a.mine.py": CODE, "shop/new.py": CODE})


@pytest.mark.parametrize(
    "arrange",
    [
        new_patterns, new_patterns_in_a_folder, patterns_that_take_back, patterns_of_a_folder_over_those_of_the_root,
        files_that_the_user_ignores,
    ],
    ids=lambda case: case.__name__.replace("_", " "),
)  # fmt: skip
def test_a_tree_with_patterns_is_exact_at_once_and_settles_to_a_clean_index(checkout, tmp_path, monkeypatch, arrange):
    user = tmp_path / "user"
    (user / ".config/git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    arrange(checkout.repo, user)

    must_hold_the_law(checkout)


def rebuilt(checkout, **fields):
    """The same checkout with an index of its present commit, in a home of its own."""
    entry = replace(checkout.entry, location=str(checkout.repo.path), **fields)
    home = open_home(checkout.folder / "home of its own")
    build(workspace_of(home, entry))
    base = PublishedIndex.open(home.layout.published(entry.key))
    return Checkout(home, entry, base, checkout.repo, checkout.folder)


@pytest.mark.parametrize("after", ["", "shop/orders/\n", "*\n!*/\n!*.md\n"], ids=["dropped", "others", "nearly all"])
def test_patterns_of_the_commit_may_go_from_the_tree(checkout, after):
    checkout.repo.commit({".codesumignore": "shop/money.py\n", "README.md": "# A shop\n\nIt sells lamps.\n"})
    checkout.repo.write({".codesumignore": after})

    must_hold_the_law(rebuilt(checkout))


def test_a_submodule_stands_at_its_pinned_commit_beside_edits_of_the_tree(checkout, tmp_path):
    lib = GitRepo.create(tmp_path / "lib", {"l.py": CODE})
    checkout.repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib.path), "third/lib")
    checkout.repo.commit({})
    base = rebuilt(checkout, submodules=True)
    GitRepo(checkout.repo.path / "third/lib").write({"l.py": "x = 1\n"})
    checkout.repo.write({"shop/new.py": CODE})

    tree = base.open()

    assert tree.found.paths == ["shop/new.py"]
    assert {part.row("third/lib/l.py::weigh") is not None for part in tree.parts} == {True, False}
    settled = base.settle()
    assert {"third/lib/l.py::weigh", "shop/new.py::weigh"} <= set(settled.ids)


def test_patterns_above_the_folder_of_an_index_count_too(tmp_path):
    repo = GitRepo.create(tmp_path / "repository", {"shop/door.py": CODE, "README.md": "# Shop\n"})
    home, entry = open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path), subdir="shop")
    build(workspace_of(home, entry))
    base = PublishedIndex.open(home.layout.published("shop"))
    repo.write({".codesumignore": "new*.py\n", "shop/new.py": CODE, "shop/other.py": CODE})

    tree = open_tree(home.settings, entry, base, repo.path, rescaled=RescaledIndexes())

    assert tree.found.paths == ["shop/other.py"]
