"""Hold the law of work trees over real histories: checked out commits are answered as clean indexes of them.

    python -m benchmarks.tree_law CLONE... [--commits 8] [--every 10]

An index is made of a commit of each clone, `--commits` times `--every` first-parent commits before its HEAD. Then
every `--every`-th commit after it is checked out in a work tree, with an uncommitted edit on top. At once, the
documents of all files must be those of a clean index of the tree, but for what rests on other files; once settled,
each published byte must be, provenance apart. Prints a line for each commit; stops at the first difference.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.replay import commits_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.overlay_answers import Checkout, must_hold_the_law
from codesum_pipeline_tests.support.repositories import GitRepo

_EDIT = "def edited_by_nobody(x):\n    return x.edited() + 1\n"


def check_out(clone: Path, commit: str, folder: Path) -> Checkout:
    """A work tree of a clone at a commit, and its index."""
    repo = GitRepo(folder / "tree")
    command = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(clone.resolve()), str(repo.path)]
    subprocess.run(command, check=True)
    repo.git("checkout", "-q", "--detach", commit)
    home, entry = open_home(folder / "home"), RepositoryEntry("shop", str(repo.path))
    build(workspace_of(home, entry), may_fail=True)
    return Checkout(home, entry, PublishedIndex.open(home.layout.published("shop")), repo, folder)


def walk_commits(clone: Path, *, commits: int, every: int) -> None:
    """Raises `AssertionError` at the first commit that is answered otherwise."""
    first, *others = commits_of(clone, commits * every + 1)[::every]
    with tempfile.TemporaryDirectory() as temporary:
        checkout = check_out(clone, first, Path(temporary))
        print(f"{clone}: {len(checkout.base):,} documents at {first[:12]}", flush=True)
        for commit in others:
            checkout.repo.git("checkout", "-q", "--detach", commit)
            (checkout.repo.path / "edited_by_nobody.py").write_text(_EDIT)
            began = time.perf_counter()
            tree = must_hold_the_law(checkout)
            seconds, differ = time.perf_counter() - began, len(tree.found.paths) if tree.found else 0
            print(f"  {commit[:12]} {seconds:5.1f} s  {differ} differ", flush=True)


def main() -> None:
    """Walk each clone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=8)
    parser.add_argument("--every", type=int, default=10)
    options = parser.parse_args()
    for clone in options.clones:
        walk_commits(clone, commits=options.commits, every=options.every)


if __name__ == "__main__":
    main()
