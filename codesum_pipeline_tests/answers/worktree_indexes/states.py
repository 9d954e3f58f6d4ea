"""What git, editors and people leave a checkout of the shop in."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

MONEY = SHOP["shop/money.py"]
EDITED = MONEY.replace("whole cents", "whole pence") + "\n\ndef weigh(coin):\n    return coin.weight * 2\n"


def another_branch(repo):
    repo.git("checkout", "-q", "-b", "other")
    repo.commit({"shop/money.py": EDITED, "lamps/lamp.py": "def light(lamp):\n    return lamp.on()\n"})


def a_detached_head(repo):
    repo.commit({"shop/money.py": EDITED})
    repo.commit({"shop/money.py": EDITED + "\n\ndef bite(coin):\n    return coin.hard()\n"})
    repo.git("checkout", "-q", "--detach", "HEAD~1")


def an_orphan_branch(repo):
    repo.git("checkout", "-q", "--orphan", "empty")
    repo.git("rm", "-q", "-r", "--cached", "shop")
    repo.write({"shop/money.py": EDITED})


def a_rebase_in_conflict(repo):
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit({"shop/money.py": EDITED, "shop/topic.py": "def talk(x):\n    return x.words()\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"shop/money.py": MONEY.replace("whole cents", "round numbers")})
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("rebase", "main", "topic")
    assert "<<<<<<<" in (repo.path / "shop/money.py").read_text()


def a_merge_of_a_deleted_file(repo):
    repo.git("checkout", "-q", "-b", "topic")
    repo.git("rm", "-q", "shop/money.py")
    repo.git("commit", "-q", "-m", "no money")
    repo.git("checkout", "-q", "main")
    repo.commit({"shop/money.py": EDITED})
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("merge", "topic")


def a_deleted_folder(repo):
    shutil.rmtree(repo.path / "shop" / "orders")


def a_renamed_folder(repo):
    (repo.path / "shop" / "orders").rename(repo.path / "shop" / "purchases")


def a_file_that_became_a_folder(repo):
    (repo.path / "shop/money.py").unlink()
    repo.write({"shop/money.py/__init__.py": EDITED})


def a_folder_that_became_a_file(repo):
    shutil.rmtree(repo.path / "shop" / "orders")
    repo.write({"shop/orders": "#!/usr/bin/env python3\ndef order(x):\n    return x.order()\n"})


def a_name_in_another_case(repo):
    repo.git("mv", "shop/money.py", "shop/Money.py")


def files_of_vim(repo):
    repo.write({"shop/4913": "", "shop/.money.py.swp": b"b0VIM 9.0\0\0\0" + bytes(4000), "shop/money.py~": MONEY})
    repo.write({"shop/money.py": EDITED})


def files_of_jetbrains(repo):
    repo.write({"shop/money.py___jb_tmp___": EDITED, "shop/money.py___jb_old___": MONEY})
    (repo.path / "shop/money.py").unlink()


def an_atomic_rename(repo):
    repo.write({"shop/.money.tmp": EDITED})
    (repo.path / "shop/.money.tmp").replace(repo.path / "shop/money.py")


def an_edit_of_equal_size(repo):
    repo.write({"shop/money.py": MONEY.replace("whole cents", "whole pence")})


def a_submodule(repo):
    GitRepo.create(repo.path.parent / "tills", {"till.py": "def till(x):\n    return x.till()\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../tills", "tills")
    (repo.path / "tills/till.py").write_text("def edited(x):\n    return x.edited()\n")


def a_folder_that_became_a_submodule(repo):
    repo.git("rm", "-q", "-r", "shop/orders")
    GitRepo.create(repo.path.parent / "tills", {"order.py": "def till(x):\n    return x.till()\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../tills", "shop/orders")


def a_repository_in_the_repository(repo):
    GitRepo.create(repo.path / "nested", {"inner.py": "def inner(x):\n    return x.inner()\n"})


def a_repository_around_a_tracked_file(repo):
    GitRepo.create(repo.path / "shop/orders/again", {"inner.py": "def inner(x):\n    return x.inner()\n"})
    GitRepo(repo.path / "docs").git("init", "-q")
    repo.write({"docs/guide.md": "# Guide\n\nAnother one.\n", "docs/new.md": "# New\n\nNobody tracks it.\n"})


def links(repo):
    (repo.path / "shop/money.py").unlink()
    (repo.path / "shop/money.py").symlink_to("cart.py")
    shutil.move(repo.path / "shop/orders", repo.path.parent / "orders")
    (repo.path / "shop/orders").symlink_to(repo.path.parent / "orders")
    (repo.path / "broken.py").symlink_to("nowhere.py")


def a_link_of_equal_content(repo):
    """The blob of a link is its target, here all that the file held."""
    (repo.path / "shop/README.md").unlink()
    (repo.path / "shop/README.md").symlink_to(SHOP["shop/README.md"])


def names_that_are_no_text(repo):
    folder = os.fsencode(repo.path)
    (Path(os.fsdecode(folder + b"/shop/caf\xe9.py"))).write_text("def brew(x):\n    return x.brew()\n")
    (repo.path / "caf\\xe9.py").write_text("def grind(x):\n    return x.grind()\n")
    Path(os.fsdecode(folder + b"/caf\xe9.py")).write_text("def pour(x):\n    return x.pour()\n")


def odd_names(repo):
    source = "def odd(x):\n    return x.odd()\n"
    repo.write({'shop/"quoted" name.py': source, "shop/two\nlines.py": source, "shop/a::b.py": source})
    repo.write({"shop/ü ber.py": source, "-rf.py": source, ":(top)x.py": source, "shop/tab\t.py": source})


def line_ends_of_windows(repo):
    repo.write({".gitattributes": "* text=auto eol=crlf\n"})
    repo.git("add", ".gitattributes")
    repo.git("commit", "-q", "-m", "line ends")
    shutil.rmtree(repo.path / "shop")
    repo.git("checkout", "-q", "--", ".")
    assert b"\r\n" in (repo.path / "shop/cart.py").read_bytes()
    repo.write({"shop/money.py": EDITED.replace("\n", "\r\n")})


def a_sparse_checkout(repo):
    repo.git("sparse-checkout", "set", "--cone", "shop/orders")
    assert not (repo.path / "docs").exists()
    repo.write({"shop/orders/new.py": "def new(x):\n    return x.new()\n"})


def a_sparse_index(repo):
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "docs")
    assert not (repo.path / "shop/orders").exists()


def files_that_git_shall_skip(repo):
    repo.git("update-index", "--skip-worktree", "shop/money.py", "shop/base.py", "shop/cart.py")
    repo.write({"shop/money.py": EDITED})
    (repo.path / "shop/base.py").unlink()


def files_that_git_shall_not_look_at(repo):
    repo.git("update-index", "--assume-unchanged", "shop/money.py", "shop/base.py", "shop/cart.py")
    repo.write({"shop/money.py": EDITED})
    (repo.path / "shop/base.py").unlink()


def a_file_that_will_be_added(repo):
    repo.write({"shop/new.py": EDITED, "shop/newer.py": EDITED})
    repo.git("add", "-N", "shop/new.py", "shop/newer.py")
    (repo.path / "shop/newer.py").unlink()


def a_split_index(repo):
    repo.git("update-index", "--split-index")
    repo.write({"shop/money.py": EDITED, "shop/new.py": EDITED})
    repo.git("add", "shop/new.py")


def an_index_of_another_version(repo):
    repo.git("update-index", "--index-version", "4")
    repo.git("update-index", "--untracked-cache")
    repo.write({"shop/money.py": EDITED, "shop/new.py": EDITED})
    repo.git("add", "shop/new.py")


def what_is_ignored_changed(repo):
    repo.commit({".gitignore": "notes/\nshop/base.py\n"})
    repo.write({"notes/a.md": "# A note\n\nNobody sees it.\n", "shop/base.py": SHOP["shop/base.py"] + "\n# tail\n"})
    repo.write({".gitignore": "*.log\nseen/\n", "seen/b.md": "# Another\n\nHidden now.\n"})
    (repo.path / ".git/info/exclude").write_text("private.md\n")
    repo.write({"private.md": "# Private\n\nExcluded.\n"})


def modes_and_pipes(repo):
    (repo.path / "shop/money.py").chmod(0o755)
    (repo.path / "shop/base.py").unlink()
    os.mkfifo(repo.path / "shop/base.py")


def a_reset_index(repo):
    repo.git("rm", "-q", "-r", "--cached", ".")
    repo.write({"shop/money.py": EDITED})


def a_licence_of_others(repo):
    repo.write(
        {
            "LICENSE": "MIT License\n\nCopyright (c) 2020 Shop Keepers\n",
            "shop/orders/LICENSE": "MIT License\n\nCopyright (c) 2019 Somebody Else\n",
        }
    )


STATES = (
    another_branch,
    a_detached_head,
    an_orphan_branch,
    a_rebase_in_conflict,
    a_merge_of_a_deleted_file,
    a_deleted_folder,
    a_renamed_folder,
    a_file_that_became_a_folder,
    a_folder_that_became_a_file,
    a_name_in_another_case,
    files_of_vim,
    files_of_jetbrains,
    an_atomic_rename,
    an_edit_of_equal_size,
    a_submodule,
    a_folder_that_became_a_submodule,
    a_repository_in_the_repository,
    a_repository_around_a_tracked_file,
    links,
    a_link_of_equal_content,
    names_that_are_no_text,
    odd_names,
    line_ends_of_windows,
    a_sparse_checkout,
    a_sparse_index,
    files_that_git_shall_skip,
    files_that_git_shall_not_look_at,
    a_file_that_will_be_added,
    a_split_index,
    an_index_of_another_version,
    what_is_ignored_changed,
    modes_and_pipes,
    a_reset_index,
    a_licence_of_others,
)
