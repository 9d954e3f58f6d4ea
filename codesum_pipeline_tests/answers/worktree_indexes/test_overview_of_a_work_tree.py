"""The overview of a work tree: what its documents say is of the tree, what a build found out is of the commit."""

import pytest

from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.shop import SHOP


@pytest.fixture(scope="module")
def shop(indexed_shop):
    tree = indexed_shop.tree()
    tree.repo.write(
        {
            "pyproject.toml": f"# Ours.\n{SHOP['pyproject.toml']}",
            "shop/money.py": f"\n\n{SHOP['shop/money.py']}",
            "tools/bell.go": "package tools\n\nfunc Ring(times int) int {\n\ttimes = times + 1\n\treturn times\n}\n",
        }
    )
    (tree.repo.path / "scripts/report").unlink()
    return tree


def test_parts_languages_and_most_used_code_are_those_of_the_tree(shop):
    page = shop.ask("overview", limit=50, tokens=9000)

    parts = {part.id: part.files for part in page.parts}
    assert parts["tools"] == 1
    assert "scripts" not in parts
    assert {kind.name: kind.files for kind in page.languages}["go"] == 1
    lines = {row.id: row.start_line for row in page.symbols}
    assert (
        lines["shop/money.py::round_cents"]
        == SHOP["shop/money.py"].split("\n").index("def round_cents(amount: float) -> float:") + 3
    )


@pytest.mark.parametrize("tool", ["overview", "get_framework_analysis"])
def test_what_a_build_found_out_is_of_the_commit_and_files_that_differ_are_named(shop, tool):
    page = shop.ask(tool, limit=50, tokens=9000)

    findings = page.frameworks if tool == "overview" else page.findings
    marked = {each.place.partition(":")[0] for each in findings if each.changed_since}
    assert marked == {"pyproject.toml"}
    assert any("the work tree has others: pyproject.toml" in note for note in page.notes)
    assert "(changed since)" in shop.answer_text(tool, limit=50, tokens=9000)


def test_a_community_has_the_lines_of_the_tree(shop):
    page = shop.ask("get_semantic_neighborhoods", tokens=9000, limit=50, members=10)

    lines = {row.id: row.start_line for each in page.neighbourhoods for row in each.members}
    assert (
        lines["shop/money.py::round_cents"]
        == SHOP["shop/money.py"].split("\n").index("def round_cents(amount: float) -> float:") + 3
    )


def test_the_page_on_the_command_line_names_them_too(shop):
    done = fork_codesum("--home", shop.shop.home, "overview", cwd=shop.repo.path)

    assert done.returncode == 0, done.stderr
    assert "the work tree has others: pyproject.toml" in done.stderr
