"""Submodules: left out and named, or indexed at their pinned commit; a stranger's address leads nowhere it may not."""

import shutil

import pytest

from codesum_pipeline.foundation.data_model.file import Submodule
from codesum_pipeline.source.files.content import read_file, read_files
from codesum_pipeline.source.files.snapshot import take_snapshot
from codesum_pipeline.source.git import submodules as joins
from codesum_pipeline.source.git.git_addresses import take_apart
from codesum_pipeline.source.git.submodule_addresses import RefusedAddress, submodule_address
from codesum_pipeline_tests.builds.hostile.building import store_commit, store_tree
from codesum_pipeline_tests.support.repositories import GitRepo

ALLOW = ("-c", "protocol.file.allow=always")


@pytest.fixture
def lib(tmp_path):
    return GitRepo.create(tmp_path / "strangers/lib", {"l.py": "l = 1\n", "inner/m.py": "m = 1\n"})


@pytest.fixture
def repo(git_repo, lib):
    """A clone that has its submodule checked out."""
    repo = git_repo({"a.py": "x = 1\n"})
    repo.git(*ALLOW, "submodule", "add", "-q", str(lib.path), "third/lib")
    repo.commit({})
    return repo


def indexed(ws):
    rows = ws.tables.read("files", ws.key).to_pylist()
    return {row["path"] for row in rows if row["status"] == "indexed"}


def submodules(ws):
    return ws.tables.read_rows("submodules", ws.key, Submodule)


def pinned(repo, path="third/lib"):
    return repo.git("rev-parse", f"HEAD:{path}").strip()


def test_without_the_setting_a_submodule_is_left_out_and_named(repo, make_source_workspace):
    ws = make_source_workspace(repo.path)
    report = take_snapshot(ws)

    assert indexed(ws) == {"a.py", ".gitmodules"}
    assert report.skipped_by_reason == {"submodule": 1}
    assert submodules(ws) == [Submodule("third/lib", pinned(repo))]


def test_with_it_the_pinned_commit_is_indexed_below_its_folder(repo, lib, make_source_workspace):
    lib.commit({"l.py": "l = 2\n", "later.py": "n = 1\n"})
    ws = make_source_workspace(repo.path, submodules=True)
    report = take_snapshot(ws)

    assert indexed(ws) == {"a.py", ".gitmodules", "third/lib/l.py", "third/lib/inner/m.py"}
    assert report.commit == repo.git("rev-parse", "HEAD").strip()
    assert not report.failures
    assert submodules(ws) == [Submodule("third/lib", pinned(repo), is_indexed=True)]
    mirror = ws.layout.mirror(ws.key)
    assert read_file(mirror, commit=report.commit, path="third/lib/l.py", timeout_s=20) == "l = 1\n"
    assert read_files(mirror, ["a.py", "third/lib/inner/m.py"], commit=report.commit, timeout_s=20) == {
        "a.py": "x = 1\n", "third/lib/inner/m.py": "m = 1\n"
    }  # fmt: skip


def test_a_series_of_changes_ends_as_a_clean_build(repo, lib, make_source_workspace):
    ws = make_source_workspace(repo.path, submodules=True)
    take_snapshot(ws)
    inner = GitRepo(repo.path / "third/lib")
    inner.commit({"l.py": "l = 2\n", "new.py": "n = 1\n"})
    repo.commit({}, "moved on")
    take_snapshot(ws)
    assert "third/lib/new.py" in indexed(ws)
    repo.git("mv", "third/lib", "moved")
    repo.commit({}, "moved away")
    take_snapshot(ws)
    assert {"moved/l.py", "moved/new.py", "moved/inner/m.py"} <= indexed(ws)
    repo.git("rm", "-q", "-f", "moved")
    repo.commit({}, "removed")
    report = take_snapshot(ws)

    clean = make_source_workspace(repo.path, home="clean", submodules=True)
    assert take_snapshot(clean).table_hash == report.table_hash
    assert indexed(ws) == {"a.py", ".gitmodules"}
    assert submodules(ws) == []


def test_one_whose_folder_is_gone_is_read_from_what_the_clone_keeps_of_it(repo, make_source_workspace):
    shutil.rmtree(repo.path / "third")
    ws = make_source_workspace(repo.path, submodules=True)

    assert not take_snapshot(ws).failures
    assert "third/lib/l.py" in indexed(ws)


def test_a_clone_that_lacks_a_file_has_its_submodules_all_the_same(repo, make_source_workspace):
    repo.commit({"b.py": "b = 1\n"})
    blob = repo.git("rev-parse", "HEAD:b.py").strip()
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    ws = make_source_workspace(repo.path, submodules=True)

    assert [failure.item for failure in take_snapshot(ws).failures] == ["b.py"]
    assert {"a.py", "third/lib/l.py"} <= indexed(ws)


def test_switching_it_off_again_leaves_out_what_was_indexed(repo, make_source_workspace):
    take_snapshot(make_source_workspace(repo.path, submodules=True))
    ws = make_source_workspace(repo.path)
    take_snapshot(ws)

    assert indexed(ws) == {"a.py", ".gitmodules"}


def test_a_submodule_of_a_submodule_is_indexed_too(repo, make_source_workspace, tmp_path):
    deep = GitRepo.create(tmp_path / "strangers/deep", {"d.py": "d = 1\n"})
    inner = GitRepo(repo.path / "third/lib")
    inner.git(*ALLOW, "submodule", "add", "-q", str(deep.path), "deps/deep")
    inner.commit({})
    repo.commit({})
    ws = make_source_workspace(repo.path, submodules=True)
    report = take_snapshot(ws)

    assert not report.failures
    assert {"third/lib/deps/deep/d.py", "third/lib/l.py"} <= indexed(ws)
    assert [each.path for each in submodules(ws)] == ["third/lib", "third/lib/deps/deep"]


def test_a_work_tree_has_its_submodules_at_the_commits_of_its_index(repo, make_source_workspace):
    GitRepo(repo.path / "third/lib").write({"l.py": "l = 9\n"})
    repo.write({"new.py": "n = 1\n"})
    ws = make_source_workspace(repo.path, worktree=True, submodules=True)
    report = take_snapshot(ws)

    assert indexed(ws) == {"a.py", "new.py", ".gitmodules", "third/lib/l.py", "third/lib/inner/m.py"}
    text = read_file(ws.layout.mirror(ws.key), commit=report.commit, path="third/lib/l.py", timeout_s=20)
    assert text == "l = 1\n"


def test_two_folders_of_one_submodule_are_both_indexed(repo, lib, make_source_workspace):
    repo.git(*ALLOW, "submodule", "add", "-q", str(lib.path), "again")
    repo.commit({})
    ws = make_source_workspace(repo.path, submodules=True)
    take_snapshot(ws)

    assert {"again/l.py", "third/lib/l.py"} <= indexed(ws)


def test_the_address_of_one_at_hand_is_where_it_came_from_and_not_what_is_committed_since(repo, make_source_workspace):
    kept = GitRepo(repo.path / "third/lib")
    kept.git("remote", "set-url", "origin", "https://me:secret@example.org/bush/private.git")
    repo.git("config", "--file", ".gitmodules", "submodule.third/lib.url", "https://example.org/zoo/public.git")
    repo.commit({})
    ws = make_source_workspace(repo.path, submodules=True)
    take_snapshot(ws)

    address = "https://example.org/bush/private.git"
    assert submodules(ws) == [Submodule("third/lib", pinned(repo), address, is_indexed=True)]


def test_of_two_that_pin_one_commit_each_is_asked_for_at_its_own_address(repo, make_source_workspace):
    repo.git("config", "--file", ".gitmodules", "submodule.other.path", "other")
    repo.git("config", "--file", ".gitmodules", "submodule.other.url", "https://127.0.0.1:1/public/lib.git")
    repo.git("add", ".gitmodules")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{pinned(repo)},other")
    repo.git("commit", "-q", "-m", "the same commit under another name")
    for _ in ("a first build", "and one that has the commit"):
        ws = make_source_workspace(repo.path, submodules=True)
        report = take_snapshot(ws)

        assert [failure.item for failure in report.failures] == ["other"]
        assert indexed(ws) == {"a.py", ".gitmodules", "third/lib/l.py", "third/lib/inner/m.py"}


def with_three(repo, lib):
    for name in ("fourth", "fifth"):
        repo.git(*ALLOW, "submodule", "add", "-q", str(lib.path), name)
    repo.commit({})


@pytest.mark.parametrize(
    ("most", "left_out"),
    [(3, []), (2, ["third/lib"]), (1, ["fourth", "third/lib"])],
    ids=["as many", "one more", "two more"],
)
def test_of_more_submodules_than_are_read_the_first_are(repo, lib, make_source_workspace, monkeypatch, most, left_out):
    monkeypatch.setattr(joins, "MOST_SUBMODULES", most)
    with_three(repo, lib)
    ws = make_source_workspace(repo.path, submodules=True)
    report = take_snapshot(ws)

    assert {"a.py", "fifth/l.py"} <= indexed(ws)
    assert [failure.item for failure in report.failures] == left_out[:1]
    not_indexed = [each for each in submodules(ws) if not each.is_indexed]
    assert [each.path for each in not_indexed] == left_out
    assert all(each.problem == f"more than {most} are not read" for each in not_indexed)


@pytest.mark.parametrize(("deepest", "left_out"), [(1, []), (0, ["third/lib"])], ids=["as deep", "deeper"])
def test_submodules_in_each_other_are_read_so_deep(repo, make_source_workspace, monkeypatch, deepest, left_out):
    monkeypatch.setattr(joins, "DEEPEST", deepest)
    ws = make_source_workspace(repo.path, submodules=True)

    assert [failure.item for failure in take_snapshot(ws).failures] == left_out


# Three names of the repository, and three of the submodule, of which one is the submodule inside with two files.
@pytest.mark.parametrize(
    ("most", "left_out"), [(8, []), (7, ["third/lib/deep"]), (5, ["third/lib"])], ids=["all", "but that inside", "none"]
)
def test_one_that_makes_the_repository_too_large_is_named_and_the_rest_stays(
    repo, make_source_workspace, tmp_path, monkeypatch, most, left_out
):
    deep = GitRepo.create(tmp_path / "strangers/deep", {"d.py": "d = 1\n", "e.py": "e = 1\n"})
    inner = GitRepo(repo.path / "third/lib")
    inner.git("rm", "-q", "-r", "inner")
    inner.git(*ALLOW, "submodule", "add", "-q", str(deep.path), "deep")
    inner.commit({})
    repo.commit({})
    monkeypatch.setattr(joins, "MOST_ENTRIES", most)
    ws = make_source_workspace(repo.path, submodules=True)
    report = take_snapshot(ws)

    assert {"a.py", ".gitmodules"} <= indexed(ws)
    assert [failure.item for failure in report.failures] == left_out
    assert [each.path for each in submodules(ws) if not each.is_indexed] == left_out


def test_where_fetching_takes_too_long_the_next_build_goes_on(repo, lib, make_source_workspace, monkeypatch):
    monkeypatch.setattr(joins, "_MOST_TIMEOUTS", 0)
    with_three(repo, lib)
    ws = make_source_workspace(repo.path, submodules=True)
    left_out = [{failure.item for failure in take_snapshot(ws).failures} for _ in range(3)]

    assert left_out == [{"fourth", "third/lib"}, {"third/lib"}, set()]


def test_a_committed_clone_without_an_address_is_read_where_it_lies(git_repo, make_source_workspace):
    repo = git_repo({"a.py": "x = 1\n"})
    GitRepo.create(repo.path / "nested", {"n.py": "n = 1\n"})
    repo.commit({})
    ws = make_source_workspace(repo.path, submodules=True)
    take_snapshot(ws)

    assert "nested/n.py" in indexed(ws)


def test_one_that_is_excluded_or_beside_the_indexed_folder_is_not_fetched(repo, make_source_workspace):
    excluded = make_source_workspace(repo.path, home="one", submodules=True, exclude=("third/",))
    assert (take_snapshot(excluded).failures, submodules(excluded)) == ((), [])
    repo.commit({"src/b.py": "b = 1\n"})
    beside = make_source_workspace(repo.path, home="two", submodules=True, subdir="src")
    take_snapshot(beside)
    assert (indexed(beside), submodules(beside)) == ({"src/b.py"}, [])
    inside = make_source_workspace(repo.path, home="three", submodules=True, subdir="third/lib/inner")
    take_snapshot(inside)
    assert indexed(inside) == {"third/lib/inner/m.py"}


def without_its_objects(repo):
    """As a clone is that never asked for its submodules."""
    shutil.rmtree(repo.path / "third/lib")
    (repo.path / "third/lib").mkdir()
    shutil.rmtree(repo.path / ".git/modules")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        pytest.param("/etc/secrets", "local path", id="an absolute path"),
        pytest.param("file:///etc/secrets", "begins with file://", id="a file URL"),
        pytest.param("../lib", "local path", id="a path beside one that is on no server"),
        pytest.param("~/secrets", "local path", id="a home"),
        pytest.param("ext::sh -c touch% /tmp/ran", "cannot be read", id="a helper that runs a command"),
        pytest.param("fd::17", "cannot be read", id="a helper"),
        pytest.param("-u./evil.sh:x", "cannot be read", id="an option"),
        pytest.param("--upload-pack=touch /tmp/ran", "local path", id="a long option"),
        pytest.param("ssh://-oProxyCommand=touch/x", "cannot be read", id="an option in place of a host"),
        pytest.param("https://example.org/../../x/..", "none of a git repository", id="a path upward"),
        pytest.param("https://example.org/x?y=z", "none of a git repository", id="a query"),
        pytest.param("https://example.org/", "none of a git repository", id="a host alone"),
        pytest.param("", "no address", id="no address"),
    ],
)
def test_an_address_that_leads_nowhere_it_may_is_named_and_the_rest_goes_on(repo, make_source_workspace, url, why):
    repo.git("config", "--file", ".gitmodules", "submodule.third/lib.url", url)
    repo.commit({})
    without_its_objects(repo)
    ws = make_source_workspace(repo.path, submodules=True)
    report = take_snapshot(ws)

    assert indexed(ws) == {"a.py", ".gitmodules"}
    (failure,) = report.failures
    assert (failure.item, failure.is_settled) == ("third/lib", True)
    assert why in failure.reason
    assert [(each.is_indexed, each.problem in failure.reason) for each in submodules(ws)] == [(False, True)]


@pytest.mark.parametrize("name", ["../../../other/.git", "/etc", "..", ".", "a/../../../x"], ids=str)
def test_a_name_leads_to_no_other_repository(repo, tmp_path, make_source_workspace, name):
    repo.write({".gitmodules": f'[submodule "{name}"]\n\tpath = third/lib\n\turl = {repo.path}\n'})
    repo.commit({})
    without_its_objects(repo)
    ws = make_source_workspace(repo.path, submodules=True)
    report = take_snapshot(ws)

    assert [failure.item for failure in report.failures] == ["third/lib"]


def test_a_link_to_another_repository_is_not_followed(repo, lib, make_source_workspace):
    shutil.rmtree(repo.path / ".git/modules/third/lib")
    (repo.path / ".git/modules/third/lib").symlink_to(lib.path / ".git")
    ws = make_source_workspace(repo.path, submodules=True)

    assert [failure.item for failure in take_snapshot(ws).failures] == ["third/lib"]


@pytest.mark.parametrize(
    "content",
    [b"[submodule\n", b"\x00\x01\x02", b"#" * 2_000_000, b""],
    ids=["broken", "no text", "too large", "empty"],
)
def test_a_list_that_cannot_be_read_is_named_and_the_rest_goes_on(repo, make_source_workspace, content):
    repo.commit({".gitmodules": content, "b.py": "y = 1\n"})
    without_its_objects(repo)
    ws = make_source_workspace(repo.path, submodules=True)
    report = take_snapshot(ws)

    assert {"a.py", "b.py"} <= indexed(ws)
    assert "third/lib" in {failure.item for failure in report.failures}


def test_a_list_that_cannot_be_read_is_named_itself(repo, make_source_workspace):
    repo.commit({".gitmodules": (repo.path / ".gitmodules").read_text().encode("utf-16")})
    report = take_snapshot(make_source_workspace(repo.path, submodules=True))

    assert ".gitmodules" in {failure.item for failure in report.failures}


def test_a_list_with_a_byte_order_mark_is_read_as_git_reads_it(repo, make_source_workspace):
    repo.commit({".gitmodules": b"\xef\xbb\xbf" + (repo.path / ".gitmodules").read_bytes()})
    ws = make_source_workspace(repo.path, submodules=True)

    assert not take_snapshot(ws).failures
    assert "third/lib/l.py" in indexed(ws)


def with_entry(repo, mode, name, id_):
    """Commit the tree of the last commit with one more entry, which git itself would not write."""
    entries = [line.split(None, 3) for line in repo.git("ls-tree", "HEAD").splitlines()]
    added = [(mode, name, id_), *((mode, name, id_) for mode, _, id_, name in entries)]
    added.sort(key=lambda entry: entry[1] + ("/" if entry[0] == "040000" else ""))
    store_commit(repo, store_tree(repo, [(mode.encode(), name.encode(), id_.encode()) for mode, name, id_ in added]))


def test_a_name_that_nothing_is_joined_to_leaves_the_rest(repo, make_source_workspace):
    with_entry(repo, "100644", "b/c.py", repo.git("rev-parse", "HEAD:a.py").strip())
    ws = make_source_workspace(repo.path, submodules=True)
    report = take_snapshot(ws)

    assert {"a.py", "b/c.py"} <= indexed(ws)
    (failure,) = report.failures
    assert failure.item == ".gitmodules" and "no submodule is joined" in failure.reason
    assert [each.path for each in submodules(ws) if not each.is_indexed] == ["third/lib"]


def test_a_folder_and_a_submodule_of_one_name_are_both_read(repo, make_source_workspace):
    with_entry(repo, "160000", "third", pinned(repo))
    ws = make_source_workspace(repo.path, submodules=True)
    report = take_snapshot(ws)

    assert {"a.py", "third/lib/l.py"} <= indexed(ws)
    assert [failure.item for failure in report.failures] == ["third"]


def test_nobody_has_no_ticket_of_kerberos():
    place = submodule_address("https://example.org/x/y", base=None, named={}).location

    assert take_apart(place).environment["KRB5CCNAME"] == "FILE:/dev/null"
    assert "KRB5CCNAME" not in take_apart("https://me:token@example.org/x/y").environment


BASE = take_apart("https://me:secret@example.org/team/app.git")


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("https://example.org/team/lib.git", "https://@example.org/team/lib.git"),
        ("https://me:other@example.org/team/lib.git", "https://@example.org/team/lib.git"),
        ("https://example.org:8443/lib", "https://@example.org:8443/lib"),
        ("http://example.org/lib", "https://@example.org/lib"),
        ("git://example.org/lib.git", "https://@example.org/lib.git"),
        ("git@example.org:team/lib.git", "https://@example.org/team/lib.git"),
        ("ssh://git@example.org:2222/team/lib.git", "https://@example.org/team/lib.git"),
        ("../lib.git", "https://@example.org/team/lib.git"),
        ("../../other/lib", "https://@example.org/other/lib"),
        ("./sub.git", "https://@example.org/team/app.git/sub.git"),
        ("https://named.example.org/own.git", "https://me:token@named.example.org/own.git"),
        ("git@named.example.org:own.git", "https://me:token@named.example.org/own.git"),
        ("https://named.example.org/other.git", "https://@named.example.org/other.git"),
    ],
)
def test_nobody_asks_but_where_the_user_names_the_address(url, location):
    named = {"named.example.org/own": "https://me:token@named.example.org/own.git"}

    assert submodule_address(url, base=BASE, named=named).location == location
    assert "secret" not in submodule_address(url, base=BASE, named=named).shown


@pytest.mark.parametrize(
    "rest",
    ["a b", "a\tb", "a\nb", "a\\b", "me@b/c", "a?b=c", "a#b", "a;b", "a%3fb", "a%00b", "a" + "/" * 2_000 + "b"],
    ids=lambda rest: ascii(rest[:9]),
)
def test_a_relative_address_that_no_server_has_is_not_asked(rest):
    with pytest.raises(RefusedAddress, match="cannot be read as one of a server"):
        submodule_address(f"../{rest}", base=BASE, named={})


def test_an_address_does_not_lead_out_of_the_server():
    with pytest.raises(RefusedAddress, match="out of the server"):
        submodule_address("../../../../x", base=BASE, named={})
