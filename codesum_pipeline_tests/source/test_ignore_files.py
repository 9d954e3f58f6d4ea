"""`.codesumignore`: committed files are left out as `.gitignore` would leave them out, and git is the judge of that."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.source.files.ignore_files import LARGEST_BYTES, IgnoreRules
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.source.files.snapshot import take_snapshot
from codesum_pipeline.source.files.work_trees import uncommitted_files

PATHS = (
    "a.py", "b.md", "gen/a.py", "gen/keep.py", "gen/deep/b.md", "src/a.py", "src/gen/a.py", "src/x y.py",
    "docs/api/a.md", "docs/b.md", "Makefile", "#x", "!y", "build/out.py", "lib/build/in.py",
)  # fmt: skip


def left_out_by_git(folder, patterns):
    """The paths that git ignores, where the patterns are in files that it reads."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for path in PATHS:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("")
    for place, text in patterns.items():
        (folder / place / ".gitignore").write_text(text)
    asked = "".join(f"{path}\0" for path in PATHS)
    command = ["git", "-C", str(folder), "check-ignore", "-z", "--stdin", "--no-index"]
    output = subprocess.run(command, input=asked, text=True, capture_output=True, check=False).stdout
    return {path for path in output.split("\0") if path}


def left_out(patterns):
    contents = {f"{place}/.codesumignore".lstrip("/"): text.encode() for place, text in patterns.items()}
    rules = IgnoreRules.read(contents, paths=len(PATHS))
    assert not rules.problems
    return {path for path in PATHS if rules.ignores(path)}


@pytest.mark.parametrize(
    "patterns",
    [
        pytest.param({"": "gen\n"}, id="a name in any folder"),
        pytest.param({"": "/gen\n"}, id="a name in the root"),
        pytest.param({"": "gen/\n"}, id="folders alone"),
        pytest.param({"": "a.py/\n"}, id="a file is no folder"),
        pytest.param({"": "*.md\n!docs/\n"}, id="a folder taken back does not take back what another pattern names"),
        pytest.param({"": "gen/\n!gen/keep.py\n"}, id="below a folder that is left out nothing comes back"),
        pytest.param({"": "gen/*\n!gen/keep.py\n"}, id="a file comes back where its folder stays"),
        pytest.param({"": "*\n!*/\n!*.py\n"}, id="only some files"),
        pytest.param({"": "*\n!src\n"}, id="a folder alone comes back without its files"),
        pytest.param({"": "docs/**/a.md\n"}, id="folders of any number"),
        pytest.param({"": "docs/**\n"}, id="all below a folder"),
        pytest.param({"": "docs/**/\n"}, id="folders below a folder"),
        pytest.param({"": "**/build/\n!lib/build/\n"}, id="a folder comes back"),
        pytest.param({"": "*.py\n", "gen": "!keep.py\n"}, id="the nearest file decides"),
        pytest.param({"": "gen/\n", "gen": "!*\n"}, id="a file in a folder that is left out says nothing"),
        pytest.param({"src": "/a.py\n"}, id="a slash is that of the file's folder"),
        pytest.param({"": "src/x\\ y.py\n\\#x\n\\!y\n"}, id="escapes"),
        pytest.param({"": "src/x y.py   \n"}, id="spaces at the end do not count"),
        pytest.param({"": "[ab].*\n"}, id="a class of letters"),
        pytest.param({"": "[!a].md\n"}, id="all but a class of letters"),
        pytest.param({"": "[[:lower:]].md\n[^[:alnum:]_]x\n"}, id="classes of characters by name"),
        pytest.param({"": "[[:upper:][:digit:]]*\n"}, id="two of them in one set"),
        pytest.param({"": "[:upper:]*\n\\[[:lower:]\\]\n"}, id="a set that looks like one"),
        pytest.param({"": "**/*/**\n"}, id="all in folders"),
        pytest.param({"": "# gen/\n\n/\n"}, id="lines without a pattern"),
        pytest.param({"": "?.py\n"}, id="one letter"),
        pytest.param({"": "Gen/\nMAKEFILE\n"}, id="capitals count"),
    ],
)
def test_the_same_is_left_out_as_by_gitignore(patterns, tmp_path):
    assert left_out(patterns) == left_out_by_git(tmp_path, patterns)


_NAME = st.sampled_from(["a.py", "gen", "docs", "*", "**", "*.md", "src", "[a-m]*", "build", "?.py", "*e*"])
_PATTERN = st.tuples(
    st.sampled_from(["", "!", "/", "!/"]), st.lists(_NAME, min_size=1, max_size=3), st.sampled_from(["", "/"])
).map(lambda parts: f"{parts[0]}{'/'.join(parts[1])}{parts[2]}\n")
_FILE = st.lists(_PATTERN, min_size=1, max_size=5).map("".join)


@given(patterns=st.fixed_dictionaries({"": _FILE}, optional={"gen": _FILE, "src": _FILE}))
def test_any_patterns_leave_out_the_same_as_git(patterns, tmp_path_factory):
    assert left_out(patterns) == left_out_by_git(tmp_path_factory.mktemp("tree"), patterns)


def rows_of(ws):
    return {row["path"]: row["reason"] for row in ws.tables.read("files", ws.key).to_pylist()}


def test_committed_files_are_left_out_with_the_reason(git_repo, make_source_workspace):
    repo = git_repo(
        {".codesumignore": "gen/\n*.sql\n", "a.py": "x = 1\n", "gen/b.py": "y = 1\n", "c.sql": "select 1;\n"}
    )
    ws = make_source_workspace(repo.path)
    report = take_snapshot(ws)

    assert rows_of(ws) == {
        ".codesumignore": None, "a.py": None, "c.sql": ".codesumignore", "gen/b.py": ".codesumignore"
    }  # fmt: skip
    assert report.skipped_by_reason == {".codesumignore": 2}


def test_a_change_of_the_file_refreshes_exactly_what_it_names(git_repo, make_source_workspace):
    repo = git_repo({".codesumignore": "gen/\n", "a.py": "x = 1\n", "gen/b.py": "y = 1\n", "c.py": "z = 1\n"})
    ws = make_source_workspace(repo.path)
    take_snapshot(ws)
    repo.commit({".codesumignore": "c.py\n"})
    report = take_snapshot(ws)

    assert {path for path, reason in rows_of(ws).items() if reason is None} == {".codesumignore", "a.py", "gen/b.py"}
    clean = make_source_workspace(repo.path, home="clean")
    assert take_snapshot(clean).table_hash == report.table_hash
    # The new text of the file itself, and the file that came back.
    assert report.files_read == 2


def test_the_root_speaks_for_a_folder_that_is_indexed_alone(git_repo, make_source_workspace):
    repo = git_repo({".codesumignore": "src/gen/\n", "src/a.py": "x = 1\n", "src/gen/b.py": "y = 1\n"})
    ws = make_source_workspace(repo.path, subdir="src")
    take_snapshot(ws)

    assert {path for path, reason in rows_of(ws).items() if reason is None} == {"src/a.py"}


def test_a_work_tree_has_its_own_file(git_repo, make_source_workspace, tmp_path):
    repo = git_repo({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    repo.write({".codesumignore": "a.py\n", "a.py": "x = 2\n"})
    ws = make_source_workspace(repo.path, worktree=True)
    take_snapshot(ws)

    assert rows_of(ws)["a.py"] == ".codesumignore"
    entry = make_source_workspace(repo.path).entry
    # The file itself, and not what it leaves out.
    assert uncommitted_files(entry, PathRules.of(entry, ws.settings), home=tmp_path / "home") == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(b"\x89PNG\r\n\x1a\n\x00\x00*.py\n", "is no text", id="an image"),
        pytest.param("*.py\n".encode("utf-16"), "is no text", id="UTF-16"),
        pytest.param(b"*.py # \xfcber\n", "is no text", id="Latin-1"),
        pytest.param(b"#" * (LARGEST_BYTES + 1), "larger than", id="too large"),
        pytest.param(b"a" * 501 + b"\nb.md\n", "line 1", id="a pattern that is too long"),
        pytest.param(b"x/[z-a]\nb.md\n", "line 1", id="a class that cannot be"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_the_rest_goes_on(git_repo, make_source_workspace, content, why):
    repo = git_repo(
        {".codesumignore": content, "a.py": "x = 1\n", "sub/.codesumignore": "c.py\n", "sub/c.py": "z = 1\n"}
    )
    ws = make_source_workspace(repo.path)
    report = take_snapshot(ws)

    assert [(failure.item, why in failure.reason) for failure in report.failures] == [(".codesumignore", True)]
    assert rows_of(ws)["a.py"] is None
    assert rows_of(ws)["sub/c.py"] == ".codesumignore"


def test_a_link_is_not_followed(git_repo, make_source_workspace, tmp_path):
    (tmp_path / "outside").write_text("*.py\n")
    repo = git_repo({"a.py": "x = 1\n"})
    (repo.path / ".codesumignore").symlink_to(tmp_path / "outside")
    repo.commit({})
    ws = make_source_workspace(repo.path)
    report = take_snapshot(ws)

    assert rows_of(ws)["a.py"] is None
    assert "is a link" in report.failures[0].reason


def test_hostile_patterns_cost_little():
    hostile = {".codesumignore": ("*a" * 240 + "b\n").encode() * 20}
    rules = IgnoreRules.read(hostile, paths=1)

    assert not rules.ignores("a" * 4_000)
    refused = IgnoreRules.read(hostile, paths=1_000_000)
    assert "too many patterns for 1,000,000 files" in refused.problems[0].reason
