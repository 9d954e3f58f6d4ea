"""`codesum impact`: a change in a checkout, of a home, and in the forms in which it is printed."""

import json
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.changed_shop import AFTER, BEFORE
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.ways_in.cli.terminal import on_a_terminal


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the changed `shop`, and `home`, which has its index."""
    found: Path = tmp_path_factory.mktemp("impact")
    repo = GitRepo.create(found / "shop", BEFORE)
    repo.commit_exactly({**AFTER, "shop/odd.py": "def odd():\n    return '<b>'\n"})
    build(workspace_of(open_home(found / "home"), RepositoryEntry("shop", str(repo.path))))
    return found


def said(folder: Path, *arguments: object, cwd: Path | None = None, status: int = 0) -> tuple[str, str]:
    done = fork_codesum("--home", folder / "home", "impact", *arguments, cwd=cwd or folder / "shop")
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def test_the_short_text_stands_first(folder: Path) -> None:
    lines = said(folder, "HEAD~1..HEAD")[0].splitlines()

    assert lines[0].startswith("shop ")
    assert lines[1] == "reached: 2 in one step, 5 in two, 8 in all"
    assert "all 5 changed" in lines[:16]


def test_in_a_repository_that_is_not_indexed_the_error_says_so(folder: Path, tmp_path: Path) -> None:
    GitRepo.create(tmp_path / "other", {"a.py": "def a():\n    return 1\n"})
    told = said(folder, cwd=tmp_path / "other", status=2)[1]

    assert f"the repository of this folder is not indexed (`codesum index {tmp_path / 'other'}`)" in told
    assert "there is no work tree of shop here to compare with its last commit: give BASE..HEAD" in told


def test_json_has_every_row(folder: Path) -> None:
    page = json.loads(said(folder, "HEAD~1..HEAD", "--format", "json", "--top", "1")[0])

    assert page["shown"] == page["total"] == sum(len(page[name]) for name in ("changes", "tests", "starts", "reached"))
    assert page["tests"][0]["way"][0] == "round_cents"


def test_markdown_is_for_a_comment_and_reads_names_literally(folder: Path) -> None:
    comment = said(folder, "HEAD~1..HEAD", "--format", "markdown")[0]

    assert comment.startswith("### What this change reaches: `")
    assert "- removed: `old_price` (`shop/money.py:" in comment
    assert comment.count("<details>") == comment.count("</details>") == 4
    assert "<b>" not in comment
    assert (
        "| reached | 2 in one step; further steps were not followed |"
        in said(folder, "HEAD~1..HEAD", "--format", "markdown", "--steps", "1")[0]
    )


@pytest.mark.parametrize("arguments", [("--only", "tests"), ("--only", "reached"), ("--top", "1"), ("--top", "0")])
def test_a_comment_names_the_riskiest_whichever_rows_it_has(folder: Path, arguments: tuple[str, ...]) -> None:
    whole, part = (said(folder, "HEAD~1..HEAD", "--format", "markdown", *each)[0] for each in ((), arguments))
    first = [comment.partition("**Look first at**\n\n")[2].partition("\n\n")[0] for comment in (whole, part)]

    assert first[0] == first[1]
    assert first[1].startswith("- removed: `old_price` (`shop/money.py:")


def test_definitions_are_asked_about_by_their_names(folder: Path) -> None:
    lines = said(folder, "--of", "with_tax", "--of", "shop/money.py::add")[0].splitlines()
    tests = json.loads(said(folder, "--of", "with_tax", "--only", "tests", "--format", "json")[0])
    comment = said(folder, "--of", "with_tax", "--format", "markdown")[0]

    assert lines[0] == "shop: what reaches with_tax, add"
    assert [row["id"] for row in tests["tests"]] == ["tests/test_payments.py::test_a_card_is_charged"]
    assert (tests["changes"], tests["reached"]) == ([], [])
    assert comment.startswith("### What uses `with_tax`\n")
    assert "<summary>Asked about (1)</summary>" in comment


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("HEAD~1..HEAD", "--of", "with_tax"), "--of and the versions 'HEAD~1..HEAD' cannot be asked together"),
        (("--of", "x/with_tax"), "no document 'x/with_tax' in shop; nearest: shop/money.py::with_tax"),
    ],
    ids=["with versions", "unknown"],
)
def test_what_is_no_question_about_a_definition_is_refused(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert message in said(folder, *arguments, status=2)[1]


def test_a_long_list_of_a_comment_is_written_by_files(tmp_path: Path) -> None:
    many = "from base import tick\n\n\n" + "".join(f"def many_{at}():\n    return tick()\n\n\n" for at in range(13))
    repo = GitRepo.create(tmp_path / "shop", {"base.py": "def tick():\n    return 1\n", "many.py": many})
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path))))
    comment = said(tmp_path, "--of", "tick", "--format", "markdown")[0]

    assert "- `many.py 1 step: many_0:4, many_1:8, " in comment


def test_a_comment_is_no_longer_than_a_code_host_takes(folder: Path) -> None:
    shop = GitRepo(folder / "shop")
    many = "".join(f"def function_{at}(first, second):\n    return {at}\n\n\n" for at in range(900))
    shop.git("checkout", "-q", "-b", "many")
    shop.commit({"shop/many.py": many})
    comment = said(folder, "main..many", "--format", "markdown", "--top", "2000")[0]
    shop.git("checkout", "-q", "main")

    assert len(comment) <= 65_536
    assert "does not fit into a comment" in comment


def test_the_tree_of_another_folder_is_compared(folder: Path) -> None:
    money = folder / "shop/shop/money.py"
    before = money.read_text()
    money.write_text(before.replace("RATE = 0.2", "RATE = 0.3"))
    page = json.loads(said(folder, "--tree", folder / "shop", "--format", "json", cwd=folder)[0])
    money.write_text(before)

    assert [(change["kind"], change["names"]) for change in page["changes"]] == [("code", ["RATE"])]
    assert "tests/test_payments.py::test_a_card_is_charged" in [test["id"] for test in page["tests"]]


def test_a_folder_that_is_no_work_tree_is_refused(folder: Path) -> None:
    said_ = said(folder, "--tree", folder / "home", cwd=folder, status=2)[1]

    assert "is in no git work tree: name a folder of a clone" in said_


def test_a_commit_that_is_not_there_is_refused_with_the_command(folder: Path) -> None:
    assert f"run `git -C {folder / 'shop'} fetch origin`" in said(folder, "v9..HEAD", status=2)[1]


def test_a_branch_of_a_url_is_fetched_unless_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nfor last; do :; done\neval "exec $last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    server = GitRepo.create(tmp_path / "server", BEFORE)
    server.git("branch", "base")
    server.commit_exactly(AFTER)
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", f"ssh://host{server.path}")))
    asked = ("base..HEAD", "--repo", "shop", "--format", "json")

    refused = fork_codesum("--home", tmp_path / "home", "--offline", "impact", *asked, cwd=tmp_path)
    assert "nothing is fetched with --offline" in refused.stderr
    page = json.loads(said(tmp_path, *asked, cwd=tmp_path)[0])
    assert [change["id"] for change in page["changes"] if change["kind"] == "removed"] == ["shop/money.py::old_price"]
    unknown = fork_codesum("--home", tmp_path / "home", "impact", "nowhere..HEAD", "--repo", "shop", cwd=tmp_path)
    assert "has no branch, tag or commit 'nowhere' (the nearest is " in unknown.stderr


@pytest.mark.parametrize("width", [40, 80, 140])
def test_lines_fit_a_terminal(folder: Path, width: int) -> None:
    lines = on_a_terminal("--home", folder / "home", "impact", "HEAD~1..HEAD", cwd=folder / "shop", width=width)

    assert max(map(len, lines)) <= width
    assert any("tests that reach it" in line for line in lines)
    (first,) = (at for at, line in enumerate(lines) if "till" not in line and line.startswith("all 5 changed"))
    rows = lines[first + 1 : lines.index(next(line for line in lines[first:] if "tests that reach it" in line))]
    assert all(line.startswith("  ") for line in rows if line)
