"""What holds a document says what it is for: in `business_intent` alone, and for nobody who pays."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.document import Cause, Level
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.homes import Reports, build
from codesum_pipeline_tests.support.model_builds import KEY_ENV, shop
from codesum_pipeline_tests.support.repositories import GitRepo

ORDERS = '''"""Takes orders of customers."""


class Basket:
    """Keeps what a customer is about to buy."""

    def add(self, article, count):
        if count < 1:
            raise ValueError(count)
        self.lines.append((article, count))

    class Line:
        def price(self, prices):
            if not prices:
                raise KeyError(self.article)
            return prices[self.article] * self.count


def cancel(order):
    if order.is_paid:
        raise ValueError(order)
    order.close()
'''
FILES = {"shop/__init__.py": '"""Sells by mail."""\n', "shop/orders.py": ORDERS}


def intents(workspace: Workspace) -> dict[str, str]:
    columns = ["id", "business_intent"]
    rows = workspace.tables.read("documents", workspace.key, columns=columns).to_pylist()
    return {row["id"].rpartition("/")[2]: row["business_intent"] for row in rows}


def written(reports: Reports) -> dict[str, tuple[Cause, tuple[str, ...]]]:
    levels = [reports[f"{level}_summaries"] for level in Level]
    return {one.id: (one.cause, one.cause_ids) for level in levels for one in level.rewrites}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo.create(tmp_path / "repo", FILES)


@pytest.fixture
def at(repo: GitRepo, make_workspace: Callable[..., Any]) -> Callable[[], Workspace]:
    return lambda: make_workspace(repo.path, key="shop")


def test_a_document_is_part_of_the_nearest_holder_whose_author_says_what_it_is_for(at: Callable[[], Workspace]) -> None:
    workspace = at()
    build(workspace, until="summary_documents")

    found = intents(workspace)
    assert found["orders.py::Basket::add"] == "Part of basket: keeps what a customer is about to buy."
    assert found["orders.py::Basket::Line::price"] == "Part of basket: keeps what a customer is about to buy."
    assert found["orders.py::Basket"] == "Part of shop/orders: takes orders of customers."
    assert found["orders.py::cancel"] == "Part of shop/orders: takes orders of customers."
    assert found["orders.py"] == "Part of folder shop."


def test_an_edited_docstring_of_a_class_rewrites_its_methods_and_itself_and_what_is_shown_that(
    repo: GitRepo, at: Callable[[], Workspace]
) -> None:
    build(at(), until="summary_documents")
    repo.commit({"shop/orders.py": ORDERS.replace("Keeps what", "Remembers what")})
    workspace = at()
    reports = build(workspace, until="summary_documents")

    class_ = "shop/orders.py::Basket"
    assert {id_: why for id_, why in written(reports).items() if "::" in id_} == {
        f"{class_}::add": (Cause.CONTENT, (class_,)),
        f"{class_}::Line::price": (Cause.CONTENT, (class_,)),
        f"{class_}::Line": (Cause.CONTENT, (f"{class_}::Line",)),
        class_: (Cause.CONTENT, (class_,)),
    }
    assert intents(workspace)["orders.py::Basket::add"].startswith("Part of basket: remembers")


def test_words_after_the_first_paragraph_of_a_holder_write_nothing_below_it(
    repo: GitRepo, at: Callable[[], Workspace]
) -> None:
    longer = ORDERS.replace("Takes orders of customers.", "Takes orders of customers.\n\nBy mail and by phone.\n")
    repo.commit({"shop/orders.py": longer})
    build(at(), until="summary_documents")
    repo.commit({"shop/orders.py": longer.replace("phone", "fax")})

    assert [id_ for id_ in written(build(at(), until="summary_documents")) if "::" in id_] == []


def test_the_words_of_a_holder_cost_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
    with shop(tmp_path, FILES) as made:
        build(made.workspace())
        made.server.seen.clear()
        made.repo.commit({"shop/orders.py": ORDERS.replace("Keeps what", "Remembers what")})
        reports = build(made.workspace())
        asked = written(reports)

    # The class and what holds it, as without any words of holders; no method.
    assert not [id_ for id_ in asked if id_.endswith(("::add", "::price", "::Line", "::cancel"))]
    assert len(made.server.seen) == len(asked) <= 4


def test_a_free_text_below_a_models_text_may_change_its_purpose_without_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
    documented = ORDERS.replace("count):\n", 'count):\n        """Put articles into it."""\n', 1)
    undocumented_class = documented.replace('    """Keeps what a customer is about to buy."""\n\n', "")
    with shop(tmp_path, FILES | {"shop/orders.py": undocumented_class}) as made:
        build(made.workspace(llm={"documented": False}))
        made.server.seen.clear()
        made.repo.commit({"shop/orders.py": undocumented_class.replace("Takes orders", "Accepts orders")})
        workspace = made.workspace(llm={"documented": False})
        reports = build(workspace)

    # The documented method below the model's class is part of a file whose author says something else now.
    assert intents(workspace)["orders.py::Basket::add"] == "Part of basket in shop/orders: accepts orders of customers."
    assert "shop/orders.py::Basket" not in written(reports)
    # The folder and the repository, which are shown what the file says.
    assert len(made.server.seen) == 2
