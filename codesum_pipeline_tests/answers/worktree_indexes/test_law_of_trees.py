"""The law, extended to work trees: whatever git and editors make of a checkout, its answers end as a clean index's."""

import random
import threading

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.answers.worktree_indexes.states import EDITED, STATES, a_rebase_in_conflict
from codesum_pipeline_tests.builds.law.test_law import SEQUENCES
from codesum_pipeline_tests.support.overlay_answers import documents, indexed, must_hold_the_law
from codesum_pipeline_tests.support.random_edits import OPERATIONS, change
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP


@pytest.mark.parametrize(
    "state",
    [pytest.param(state, marks=[] if state is a_rebase_in_conflict else [pytest.mark.slow]) for state in STATES],
    ids=lambda state: state.__name__,
)
def test_a_tree_in_any_state_is_exact_at_once_and_settles_to_a_clean_index(checkout, state):
    state(checkout.repo)

    must_hold_the_law(checkout)


@pytest.mark.slow
def test_a_thousand_files_at_once_end_as_a_clean_index(checkout):
    checkout.repo.write(
        {
            f"lib/part_{number % 20}/unit_{number}.py": f"from shop.money import convert\n\n\n"
            f"def unit_{number}(x):\n    return convert(x, {number}.5)\n"
            for number in range(1000)
        }
    )

    must_hold_the_law(checkout)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(200, 210))
def test_sequences_of_edits_that_are_committed_and_not_end_as_a_clean_index(checkout, shard):
    start = checkout.repo.git("rev-parse", "HEAD").strip()

    @seed(shard)
    @settings(max_examples=10, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(SEQUENCES, st.integers(0, 12))
    def the_law_holds(sequence, committed):
        checkout.repo.git("checkout", "-q", "--force", start)
        files = SHOP
        for place, (operation, number) in enumerate(sequence):
            files = change(files, OPERATIONS[operation], random.Random(number))
            if place == committed:
                checkout.repo.commit_exactly(files)
        checkout.repo.write_exactly(files)
        must_hold_the_law(checkout)

    the_law_holds()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_every_commit_of_a_history_that_is_checked_out_is_answered_as_a_clean_index_of_it(checkout, number):
    """One index stands for the first commit of all; uncommitted edits come on top."""
    chance = random.Random(number)
    files, commits = SHOP, []
    for _ in range(8):
        for _ in range(chance.randrange(1, 4)):
            files = change(files, chance.choice(OPERATIONS), chance)
        commits.append(checkout.repo.commit_exactly(files))
    for commit in chance.sample(commits, 4):
        checkout.repo.git("checkout", "-q", commit)
        checkout.repo.write({"shop/new.py": f"def new_{chance.randrange(5)}(x):\n    return x.new()\n"})
        must_hold_the_law(checkout)
        (checkout.repo.path / "shop/new.py").unlink()


def test_files_that_are_written_while_they_are_read_are_answered_as_they_were_at_one_moment(checkout):
    """Two files are replaced together, again and again: each answer has one of the versions of each, with its lines."""
    is_over = threading.Event()

    def text(number):
        return "# line\n" * (number % 7) + f"def state_{number}(coin):\n    return coin.weight * {number}\n"

    def write():
        number = 0
        while not is_over.is_set():
            number += 1
            for name in ("shop/money.py", "shop/base.py"):
                aside = checkout.repo.path / f"{name}.tmp"
                aside.write_text(text(number))
                aside.replace(checkout.repo.path / name)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(2):
            tree = checkout.open()
            found = documents(tree.parts)
            if tree.warning:
                continue
            for id_, document in found.items():
                if "::state_" in id_:
                    assert document["start_line"] == int(id_.rpartition("_")[2]) % 7 + 1
            assert not any(id_.startswith("shop/money.py::round") for id_ in found)
    finally:
        is_over.set()
        writer.join()
    assert checkout.open().warning == ""


@pytest.mark.slow
def test_a_file_that_git_writes_otherwise_than_it_holds_it_is_answered_as_it_is_committed(tmp_path):
    files = {".gitattributes": "*.md ident\n", "notes.md": "# Notes\n\n$Id$ is the version of the notes.\n"}
    checkout = indexed(tmp_path, files)
    (checkout.repo.path / "notes.md").unlink()
    checkout.repo.git("checkout", "-q", "--", "notes.md")
    assert "$Id: " in (checkout.repo.path / "notes.md").read_text()

    (index,) = checkout.open().parts
    assert index is checkout.base


@pytest.mark.slow
def test_a_bare_repository_answers_for_each_of_its_work_trees(checkout, tmp_path):
    checkout.repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    bare = GitRepo(tmp_path / "bare.git")
    bare.git("worktree", "add", "-q", "-b", "one", str(tmp_path / "one"))
    (tmp_path / "one" / "shop/money.py").write_text(EDITED)

    must_hold_the_law(checkout, tmp_path / "one")


def test_branches_that_are_switched_under_it_give_the_answers_of_each(checkout):
    repo, embedder = checkout.repo, embedder_of(checkout.home.settings)
    repo.git("checkout", "-q", "-b", "pence")
    repo.commit({"shop/money.py": EDITED})
    settled = {"pence": checkout.settle()}
    repo.git("checkout", "-q", "-b", "none", "main")
    repo.git("rm", "-q", "shop/money.py")
    repo.git("commit", "-q", "-m", "no money")
    settled["none"] = checkout.settle()
    for branch in ("pence", "none", "pence", "main", "none"):
        repo.git("checkout", "-q", branch)
        (index,) = checkout.open().parts
        expected = settled.get(branch, checkout.base)
        assert search_indexes([index], "round to whole cents", embedder=embedder) == search_indexes(
            [expected], "round to whole cents", embedder=embedder
        )
