"""A question in a checkout is answered of its work tree, as it was when it was asked."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.answers.question_answering.turn import TurnAnswer
from codesum_pipeline_tests.answers.question_answering.conftest import Shop
from codesum_pipeline_tests.support.llm_server import Behaviour, ModelRequest
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams
from codesum_pipeline_tests.support.repositories import GitRepo

VAULT = 'def lock_vault(vault):\n    """Lock the vault at night."""\n    vault.lock()\n    return vault\n'
LOOK = Calls("search", {"query": "lock the vault at night"})


@pytest.fixture
def tree(shop: Shop, indexed_shop: Path, tmp_path: Path) -> GitRepo:
    """A linked work tree with a new file and without one of the commit."""
    tree = GitRepo(tmp_path / "tree")
    GitRepo(indexed_shop.parent / "repository").git("worktree", "add", "-q", "--detach", str(tree.path))
    tree.write({"shop/vault.py": VAULT})
    (tree.path / "shop/refunds.py").unlink()
    return tree


def ask(shop: Shop, tree: GitRepo) -> TurnAnswer:
    return asyncio.run(replace(shop.question("how is the vault locked?"), folder=tree.path).answer(shop.heard.append))


def test_tools_and_citations_are_of_the_work_tree(shop: Shop, tree: GitRepo) -> None:
    cited = (
        "It is locked (`shop/vault.py:1-4`), refunds are not (`shop/refunds.py:1`), orders are (`shop/orders.py:8`)."
    )
    shop.server.script = lambda request: [Streams("Let me look.", [LOOK]), Streams(cited)][request.number - 1]

    answer = ask(shop, tree)

    assert "lock_vault" in str(shop.parts("tool_result"))
    assert (answer.citations, answer.citations_dropped) == (2, 1)
    assert "`shop/vault.py:1-4`" in answer.text and "shop/refunds.py" not in answer.text
    (as_of,) = answer.as_of
    assert (as_of.tree, as_of.differ) == (str(tree.path), 2)


def test_all_of_an_answer_is_of_the_tree_as_it_was_when_it_was_asked(shop: Shop, tree: GitRepo) -> None:
    def script(request: ModelRequest) -> Behaviour:
        if request.number == 1:
            tree.write({"shop/vault.py": "NOTHING = 1\n"})
            return Streams("Let me look.", [LOOK])
        return Streams("It is locked (`shop/vault.py:4`).")

    shop.server.script = script

    answer = ask(shop, tree)

    assert "lock_vault" in str(shop.parts("tool_result"))
    assert (answer.citations, answer.citations_dropped) == (1, 0)


def test_without_a_model_the_best_hits_are_those_of_the_work_tree(shop: Shop, tree: GitRepo) -> None:
    question = replace(shop.question("how is the vault locked?", llm={"enabled": False}), folder=tree.path)

    answer = asyncio.run(question.answer(shop.heard.append))

    assert "shop/vault.py:1-4" in answer.text
