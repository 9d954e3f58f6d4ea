"""A certificate authority of one's own reaches whoever connects; http reaches the hosts that a setting names."""

import json
from pathlib import Path

import pytest

from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.git_server import TOKEN, GitServer, make_certificate
from codesum_pipeline_tests.support.llm_server import ScriptedServer
from codesum_pipeline_tests.support.model_builds import MODEL
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.tls_front import tls_front

CODE = """def place_order(order, stock):
    if order.item not in stock:
        raise KeyError(order.item)
    stock[order.item] -= order.count
    return stock
"""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def call(tmp_path):
    """`call(*arguments, **variables)`: `codesum` as a shell calls it."""
    return lambda *arguments, **variables: fork_codesum(
        "--home", tmp_path / "home", *arguments, cwd=tmp_path, env=variables
    )


@pytest.fixture
def made(tmp_path) -> Path:
    return GitRepo.create(tmp_path / "made", {"shop.py": CODE}).path


def test_git_trusts_the_authorities_of_the_setting(call, made, tmp_path, certificate):
    with GitServer(tmp_path / "served", certificate).answering() as server:
        url = server.serve(made, "team/shop.git")
        untrusted = call("add", url)
        indexed = call("index", url, CODESUM_CA_BUNDLE=str(certificate / "ca.pem"))
        (tmp_path / "home/codesum.toml").write_text(f'ca_bundle = "{certificate / "ca.pem"}"\n')
        by_file = call("add", url, "--ref", "main")

    assert "certificate" in untrusted.stderr
    assert indexed.returncode == 0, indexed.stderr
    assert (by_file.returncode, by_file.stderr) == (0, "")


def test_a_model_is_asked_with_the_authorities_of_the_setting(call, made, tmp_path, certificate):
    (tmp_path / "home").mkdir()
    with ScriptedServer() as server, tls_front(server.port, certificate) as address:
        settings = {"enabled": "true", "model": json.dumps(MODEL), "api_base": json.dumps(f"{address}/v1")}
        settings |= {"max_summaries_per_run": "100", "api_key_env": '"A_KEY"', "max_attempts": "1"}
        text = "".join(f"{name} = {value}\n" for name, value in settings.items())
        (tmp_path / "home/codesum.toml").write_text(f"[llm]\n{text}")
        indexed = call("index", made, A_KEY="sk-loopback", CODESUM_CA_BUNDLE=str(certificate / "ca.pem"))

    assert indexed.returncode == 0, indexed.stderr
    assert server.seen


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(None, "it cannot be read: No such file or directory", id="no file"),
        pytest.param("nothing", "it holds no certificate in PEM", id="no certificate"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(call, tmp_path, content, message):
    if content:
        (tmp_path / "own.pem").write_text(content)

    done = call("repos", CODESUM_CA_BUNDLE=str(tmp_path / "own.pem"))

    assert done.returncode == 2
    assert f"ca_bundle '{tmp_path}/own.pem'" in done.stderr
    assert message in done.stderr


def test_http_is_read_from_the_hosts_that_a_setting_names_and_nobody_is_named_there(call, made, tmp_path):
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login me password {TOKEN}\n")
    with GitServer(tmp_path / "served").answering() as server:
        url, port = server.serve(made, "team/shop.git"), server.server_port
        server.serve(made, "team/private.git")
        allowed = {"CODESUM_HOSTS__OVER_HTTP": json.dumps([f"127.0.0.1:{port}"]), "HOME": str(tmp_path)}
        refused = call("add", url)
        elsewhere = call("add", url, CODESUM_HOSTS__OVER_HTTP='["127.0.0.1:1"]')
        with_token = call("add", url.replace("//", f"//me:{TOKEN}@"), **allowed)
        indexed = call("index", url, **allowed)
        private = call("add", url.replace("shop", "private"), **allowed)
        no_more = call("status")

    assert refused.returncode == elsewhere.returncode == with_token.returncode == 2
    assert f'hosts.over_http = ["127.0.0.1:{port}"]' in refused.stderr
    assert f"`codesum index https://127.0.0.1:{port}/team/shop.git`" in refused.stderr
    assert "anybody on the way could read" in with_token.stderr
    assert TOKEN not in with_token.stderr
    assert indexed.returncode == 0, indexed.stderr
    assert "this machine cannot read it" in private.stderr
    assert server.seen == []
    assert "http is not encrypted" in no_more.stderr


def test_what_is_no_host_is_refused(call):
    done = call("repos", CODESUM_HOSTS__OVER_HTTP='["http://git.example.org/"]')

    assert done.returncode == 2
    assert "write HOST or HOST:PORT" in done.stderr
