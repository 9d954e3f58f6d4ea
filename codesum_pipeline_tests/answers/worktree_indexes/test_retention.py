"""Indexes of work trees are kept and taken over from; one that is damaged or gone is made again."""

import pytest

from codesum_pipeline.symbols.parsing import symbols_step
from codesum_pipeline_tests.support.shop import SHOP

MORE = "\n\ndef weigh(coin):\n    return coin.weight * 2\n"


@pytest.fixture
def parsed(monkeypatch):
    """The names of the files that were parsed."""
    names = []
    parse = symbols_step.ParseFiles.__call__

    def note(self, batch):
        names.extend(text.path for text in batch)
        return parse(self, batch)

    monkeypatch.setattr(symbols_step.ParseFiles, "__call__", note)
    return names


def edit(checkout, *paths, more=MORE):
    checkout.repo.write({path: SHOP[path] + more for path in paths})


def folder_of(checkout):
    (folder,) = checkout.home.layout.overlays("shop").iterdir()
    return folder


def version_files(folder):
    return sorted(path for path in (folder / "index_root").rglob("*") if path.is_file())


def test_a_file_that_another_kept_overlay_has_is_not_parsed_again(checkout, parsed):
    edit(checkout, "shop/money.py", "shop/base.py")
    checkout.open()
    parsed.clear()
    edit(checkout, "shop/money.py", more=MORE + MORE.replace("weigh", "bite"))

    tree = checkout.open()

    assert parsed == ["shop/money.py"]
    assert tree.parts[1].row("shop/money.py::bite") is not None
    assert tree.parts[1].row("shop/base.py::weigh") is not None


@pytest.mark.parametrize(
    "how", ["cut", *(pytest.param(how, marks=pytest.mark.slow) for how in ("missing", "no version"))]
)
def test_a_damaged_overlay_is_made_again(checkout, how):
    edit(checkout, "shop/money.py")
    checkout.open()
    folder = folder_of(checkout)
    files = version_files(folder)
    if how == "cut":
        for path in files:
            path.write_bytes(path.read_bytes()[:7])
    elif how == "missing":
        files[0].unlink()
    else:
        for path in files:
            path.unlink()
        files[0].parent.rmdir()

    tree = checkout.open()

    assert tree.warning == ""
    assert tree.parts[1].row("shop/money.py::weigh") is not None


def test_nothing_is_taken_over_from_an_overlay_of_which_a_table_is_damaged(checkout):
    edit(checkout, "shop/money.py", "shop/base.py")
    checkout.open()
    (symbols_step,) = (folder_of(checkout) / "tables").glob("symbols-*")
    symbols_step.write_bytes(symbols_step.read_bytes()[:-9])
    edit(checkout, "shop/money.py", more=MORE + MORE.replace("weigh", "bite"))

    tree = checkout.open()

    assert tree.warning == ""
    assert tree.parts[1].row("shop/base.py::weigh") is not None
    assert tree.parts[1].row("shop/money.py::bite") is not None


def test_files_that_are_gone_do_not_count_as_many(checkout, monkeypatch):
    monkeypatch.setattr("codesum_pipeline.answers.worktree_indexes.opening.MOST_FILES", 1)
    for path in SHOP:
        if path.startswith("shop/orders/"):
            (checkout.repo.path / path).unlink()
    edit(checkout, "shop/money.py")

    assert checkout.open().warning == ""

    edit(checkout, "shop/base.py")
    assert "more than 1" in checkout.open().warning
