"""`codesum overview`: Markdown through a pipe, a rendered page on a terminal, JSON for programs."""

import json
import shutil

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.ways_in.cli.terminal import on_a_terminal


@pytest.fixture
def two(own_shop, tmp_path):
    """The shop's home with a second repository."""
    repo = GitRepo.create(
        tmp_path / "tides", {"README.md": "# Tides\n\nHigh and low water.\n", "t.py": "def high(): ...\n"}
    )
    build(workspace_of(open_home(own_shop), RepositoryEntry("tides", str(repo.path))))
    return own_shop, repo


def test_through_a_pipe_it_is_the_page_s_markdown(codesum, shop):
    found = codesum(shop, "overview", "shop")

    assert found.exit_code == 0
    assert found.stdout.startswith("# shop\n\nTakes orders and charges cards. (`README.md:3`)\n\nCommit `")
    assert "\n```mermaid\ngraph LR\n" in found.stdout
    assert "\x1b" not in found.stdout and "\u202e" not in found.stdout


def test_on_a_terminal_it_is_rendered_within_its_width_and_without_the_diagram(shop, tmp_path):
    lines = on_a_terminal("--home", shop, "overview", "shop", cwd=tmp_path, width=80)

    assert any(line.strip() == "shop" for line in lines)
    assert " • orders.py: Orders, from basket to invoice. Uses payment.py." in lines
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if "##" in line or "`" in line or "mermaid" in line or "p0" in line]


def test_for_programs_every_fact_has_its_place(codesum, shop):
    found = json.loads(codesum(shop, "overview", "shop", "--json").stdout)

    assert found["repo"] == "shop" and len(found["commit"]) == 40
    assert found["where_to_start"][0]["definitions"][0]["place"].startswith("shop/orders.py:")
    assert found["page"].startswith("# shop\n")


def test_without_a_name_it_is_the_only_repository(codesum, shop):
    assert codesum(shop, "overview").stdout.startswith("# shop\n")


def test_in_a_checkout_it_is_the_repository_of_the_folder(codesum, two, monkeypatch):
    home, repo = two
    monkeypatch.chdir(repo.path)

    assert codesum(home, "overview").stdout.startswith("# tides\n\nHigh and low water.")


def test_elsewhere_with_several_the_way_out_is_to_name_one(codesum, two):
    found = codesum(two[0], "overview")

    assert found.exit_code == 2
    assert "2 repositories (shop, tides): name the one to show, as in `codesum overview KEY`" in found.stderr


def test_an_unknown_repository_is_named(codesum, shop):
    found = codesum(shop, "overview", "shpo")

    assert found.exit_code != 0 and "'shpo'" in found.stderr


def test_a_home_without_repositories_says_what_to_do(codesum, tmp_path):
    found = codesum(tmp_path / "none", "overview")

    assert found.exit_code != 0
    assert "holds no index yet: run `codesum index PATH|URL`" in found.stderr


def test_an_index_from_before_pages_were_written_says_what_to_do(codesum, own_shop):
    shutil.rmtree(own_shop / "warehouse" / "overviews")

    found = codesum(own_shop, "overview", "shop")

    assert found.exit_code != 0
    assert "repository 'shop' has no overview yet: run `codesum index shop`" in found.stderr


def test_a_page_of_another_commit_than_the_published_index_is_said_to_be(codesum, two):
    home, repo = two
    repo.commit({"t.py": "def low(): ...\n"})
    build(open_home(home).workspace("tides", run_id="run"), until="published_index")

    found = codesum(home, "overview", "tides")

    assert "the page is of commit" in found.stderr and "`codesum index tides` writes it anew" in found.stderr
    assert found.stdout.startswith("# tides\n")


def test_a_purged_repository_leaves_no_page(codesum, own_shop):
    codesum(own_shop, "remove", "shop", "--purge")

    assert not (own_shop / "warehouse" / "overviews" / "repo=shop").exists()
