"""Submodules of a repository on a server: who asks for them, and what a server that refuses costs.

A real server on loopback speaks git's protocol over https; it shows one of its repositories only to who has a token.
"""

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.file import Submodule
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.source.files.snapshot import take_snapshot
from codesum_pipeline.source.git.locations import named_locations
from codesum_pipeline_tests.support.git_server import TOKEN, GitServer, make_certificate
from codesum_pipeline_tests.support.repositories import GitRepo


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def server(tmp_path, certificate, monkeypatch):
    """`team/app` with the submodules `lib`, `private` and `gone`, each beside it."""
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate / "ca.pem"))
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    (tmp_path / "me").mkdir()
    (tmp_path / "me/.netrc").write_text(f"machine 127.0.0.1 login me password {TOKEN}\n")
    served = GitServer(tmp_path / "served", certificate)
    app = GitRepo.create(tmp_path / "made/app", {"a.py": "x = 1\n"})
    lines = []
    for name in ("lib", "private", "gone"):
        made = GitRepo.create(tmp_path / f"made/{name}", {f"{name}.py": "y = 1\n"})
        pinned = made.git("rev-parse", "HEAD").strip()
        made.commit({f"{name}.py": "y = 2\n"})
        app.git("update-index", "--add", "--cacheinfo", f"160000,{pinned},third/{name}")
        lines.append(f'[submodule "{name}"]\n\tpath = third/{name}\n\turl = ../{name}.git\n')
    app.write({".gitmodules": "".join(lines)})
    app.git("add", ".gitmodules")
    app.git("commit", "-q", "-m", "submodules")
    for name in ("app", "lib", "private"):
        served.serve(tmp_path / f"made/{name}", f"team/{name}.git")
    with served.answering():
        yield served


def place(server, name="app"):
    return f"127.0.0.1:{server.server_port}/team/{name}.git"


def indexed(ws):
    rows = ws.tables.read("files", ws.key).to_pylist()
    return {row["path"] for row in rows if row["status"] == "indexed"}


def test_a_submodule_is_asked_for_as_nobody_and_one_that_is_refused_stops_no_other(server, make_source_workspace):
    ws = make_source_workspace(f"https://me:{TOKEN}@{place(server)}", submodules=True)
    report = take_snapshot(ws)

    assert indexed(ws) == {"a.py", ".gitmodules", "third/lib/lib.py"}
    assert {failure.item: failure.is_settled for failure in report.failures} == {
        "third/private": False, "third/gone": False
    }  # fmt: skip
    # Neither the token of the repository's own address, nor that of the user's file.
    assert not [path for path in server.seen if "/app.git" not in path]
    assert TOKEN not in "".join(failure.reason for failure in report.failures)
    found = {each.path: each for each in ws.tables.read_rows("submodules", ws.key, Submodule)}
    assert (found["third/lib"].address, found["third/lib"].is_indexed) == (f"https://{place(server, 'lib')}", True)


def test_a_token_opens_one_that_it_names(server, make_source_workspace):
    named = named_locations([f"https://me:{TOKEN}@{place(server, 'private')}"])
    ws = replace(make_source_workspace(f"https://{place(server)}", submodules=True), named=named)
    take_snapshot(ws)

    assert {"third/private/private.py", "third/lib/lib.py"} <= indexed(ws)
    assert {path.split("/")[2] for path in server.seen} == {"private.git"}


def test_one_that_comes_back_is_indexed_by_the_next_build_as_by_a_clean_one(server, make_source_workspace, tmp_path):
    ws = make_source_workspace(f"https://{place(server)}", submodules=True)
    take_snapshot(ws)
    server.serve(tmp_path / "made/gone", "team/gone.git")
    report = take_snapshot(ws)

    assert "third/gone/gone.py" in indexed(ws)
    clean = make_source_workspace(f"https://{place(server)}", home="clean", submodules=True)
    assert take_snapshot(clean).table_hash == report.table_hash


def test_offline_what_was_fetched_stays_indexed(server, make_source_workspace):
    take_snapshot(make_source_workspace(f"https://{place(server)}", submodules=True))
    asked = len(server.seen)
    ws = make_source_workspace(f"https://{place(server)}", submodules=True, scan=ScanSettings(offline=True))
    report = take_snapshot(ws)

    assert "third/lib/lib.py" in indexed(ws)
    assert {failure.item for failure in report.failures} == {"third/private", "third/gone"}
    assert len(server.seen) == asked


def test_a_commit_that_the_server_does_not_have_is_named_and_tried_again(server, make_source_workspace, tmp_path):
    app = GitRepo(tmp_path / "made/app")
    app.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},third/lib")
    app.git("commit", "-q", "-m", "not pushed there")
    app.git("push", "-q", str(server.root / "team/app.git"), "main")
    report = take_snapshot(make_source_workspace(f"https://{place(server)}", submodules=True))

    (failure,) = [failure for failure in report.failures if failure.item == "third/lib"]
    assert "does not give out commit 111111111111" in failure.reason
    assert not failure.is_settled
