"""A secret in any place of a location but host and path: no command prints it, and no file of the home but repos.yaml,
where a person put it, holds it."""

import base64
import http.server
import ssl
import string
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codesum_pipeline.builds.dagster import asset_steps
from codesum_pipeline_tests.builds.hostile.building import SOUND

SECRET = "s3cretMark"

REFUSED = {
    "a query": "https://host.example/owner/name.git?token={}",
    "a query without a name": "https://host.example/owner/name.git?{}",
    "a query in hexadecimal": "https://host.example/owner/name.git%3Ftoken={}",
    "a fragment": "https://host.example/owner/name.git#{}",
    "parameters": "https://host.example/owner/name.git;token={}",
    "parameters in the middle": "https://host.example/owner;token={}/name.git",
    "a query without its mark": "https://host.example/owner/name.git&token={}",
    "a password with a slash": "https://user:12/{}@host.example/owner/name.git",
    "a password with a question mark": "https://user:12?{}@host.example/owner/name.git",
    "a password with a number sign": "https://user:12#{}@host.example/owner/name.git",
    "a password with a backslash": "https://user:12\\{}@host.example/owner/name.git",
    "a password with a line feed": "https://user:%0A{}@host.example/owner/name.git",
    "one slash": "https:/user:{}@host.example/owner/name.git",
    "no slash": "https:user:{}@host.example/owner/name.git",
    "no scheme": "//user:{}@host.example/owner/name.git",
    "no scheme and no slash": "user:{}@host.example/owner/name.git",
    "a token without a scheme": "{}@host.example/owner/name.git",
    "a blank in front": " https://user:{}@host.example/owner/name.git",
    "two in one": "https://host.example/a https://user:{}@host.example/owner/name.git",
    "a password for ssh": "ssh://git:{}@host.example/owner/name.git",
    "a password in the form of scp": "user:{}@host.example:owner/name.git",
    "a query in the form of scp": "git@host.example:owner/name.git?token={}",
    "an insecure address": "http://user:{}@host.example/owner/name.git",
    "another transport": "git+https://user:{}@host.example/owner/name.git",
    "an unknown transport": "x{}://user:{}@host.example/owner/name.git",
    "a helper": "ext::https://user:{}@host.example/owner/name.git",
    "a file with a user": "file://{}@localhost/owner/name.git",
    "a file with a query": "file:///owner/name.git?{}",
    "a page with a query": "https://github.com/pallets/flask/tree/main?token={}",
    "an address without https and a query": "github.com/pallets/flask?token={}",
}
ACCEPTED = {
    "a user and a password": "https://user:{}@127.0.0.1:1/owner/name.git",
    "a token": "https://{}@127.0.0.1:1/owner/name.git",
    "a token in hexadecimal": "HTTPS://s3%63retMark%2F{}@127.0.0.1:1/owner/name.git",
    "a user of ssh": "ssh://{}@127.0.0.1:1/owner/name.git",
}


def files_with(secret: str, home: Path) -> list[Path]:
    """The files of a home that hold a secret, but for the one that a person wrote it into."""
    files = (path for path in home.rglob("*") if path.is_file() and path != home / "repos.yaml")
    return [path for path in files if secret.encode() in path.read_bytes() or secret in path.name]


@pytest.mark.parametrize("location", REFUSED.values(), ids=REFUSED)
def test_a_location_with_more_than_git_needs_is_refused_and_nothing_of_it_is_shown(
    codesum, tmp_path: Path, location: str
) -> None:
    home, typed = tmp_path / "home", location.format(SECRET, SECRET)

    added, indexed = codesum(home, "add", typed), codesum(home, "index", typed)
    (home).mkdir(exist_ok=True)
    (home / "repos.yaml").write_text(yaml.safe_dump({"repositories": {"written": {"url": typed}}}))
    by_hand = [codesum(home, *call) for call in (("repos",), ("repos", "--json"), ("status",), ("status", "written"))]

    calls = [added, indexed, *by_hand]
    assert (added.exit_code, indexed.exit_code, by_hand[-1].exit_code) == (2, 2, 2)
    assert not [call for call in calls if SECRET in call.stdout + call.stderr]
    assert "left out: repos.yaml: 'written': " in by_hand[0].stderr
    assert files_with(SECRET, home) == []


def test_what_is_refused_is_named_by_its_parts_with_the_way_out(codesum, tmp_path: Path) -> None:
    refused = codesum(tmp_path / "home", "add", f"https://me:{SECRET}@host.example:8443/owner/name.git?token={SECRET}")

    assert refused.stderr == (
        "codesum: location 'https://host.example:8443/owner/name.git': what follows its path, from '?' on, is no part "
        "of a git location: leave it out; a user and a token for https belong into ~/.netrc\n"
    )


def test_a_user_and_a_password_are_in_no_output_and_in_no_file_of_the_home(
    codesum, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dagster's storage and the logs included."""
    monkeypatch.setattr(asset_steps, "RETRY_WAIT_S", 0.0)
    home = tmp_path / "home"
    locations = [location.format(SECRET) for location in ACCEPTED.values()]

    calls = [codesum(home, "add", location, "--key", f"r{n}") for n, location in enumerate(locations)]
    calls += [codesum(home, *call) for call in (("index",), ("repos",), ("repos", "--json"), ("status", "--remote"))]
    calls += [codesum(home, *call) for call in (("status", "r0"), ("status", "--json"), ("doctor",))]

    assert [call.exit_code for call in calls[: len(locations) + 1]] == [0, 0, 0, 0, 3]
    assert "https://127.0.0.1:1/owner/name.git" in calls[len(locations) + 1].stdout
    assert not [call for call in calls if SECRET in call.stdout + call.stderr]
    assert any((home / "dagster").rglob("*.db"))
    assert files_with(SECRET, home) == []


_SIDES = st.text(alphabet=string.ascii_letters + string.digits + "-._~!$&'()*+,;=:@/?#[] %ü", max_size=4)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([*REFUSED.values(), *ACCEPTED.values()]), _SIDES, _SIDES)
def test_no_command_shows_or_stores_a_secret_wherever_it_stands(
    codesum, tmp_path_factory, form: str, before: str, after: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    secret = f"{before}{SECRET}{after}"

    calls = [codesum(home, "add", "--", form.format(secret, secret))]
    calls += [codesum(home, *call) for call in (("repos",), ("repos", "--json"), ("status",), ("status", "name"))]

    assert not [call for call in calls if SECRET in call.stdout + call.stderr]
    assert files_with(SECRET, home) == []
    written = yaml.safe_load((home / "repos.yaml").read_text()) if (home / "repos.yaml").exists() else None
    assert SECRET not in str(list(written["repositories"]) if written else "")


class _AsksForPassword(http.server.SimpleHTTPRequestHandler):
    """Gives out files to one user alone, and has git wait for as long as the test looks at the processes."""

    wanted = "Basic " + base64.b64encode(f"me:{SECRET}/@".encode()).decode()

    def do_GET(self) -> None:
        if self.headers.get("Authorization") != self.wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        seen = (process.info for process in psutil.process_iter(["cmdline"]))
        self.server.seen += [word for each in seen for word in each["cmdline"] or () if SECRET in word]
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def served_repository(git_repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[http.server.HTTPServer]:
    """A repository behind https and a password; `seen` of the server are command lines with the password."""
    repo = git_repo({"a.py": SOUND})
    served = tmp_path / "served"
    subprocess.run(["git", "clone", "-q", "--bare", repo.path, served / "shop.git"], check=True)
    subprocess.run(["git", "update-server-info"], cwd=served / "shop.git", check=True)
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_AsksForPassword, directory=str(served)))
    server.seen = []
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_git_logs_in_with_a_password_that_no_list_of_processes_shows(
    codesum, served_repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asset_steps, "RETRY_WAIT_S", 0.0)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    (tmp_path / "me").mkdir()
    place = f"127.0.0.1:{served_repository.server_port}/shop.git"

    built = codesum(tmp_path / "home", "index", f"https://me:{SECRET}%2F%40@{place}")
    refused = codesum(tmp_path / "2", "index", f"https://me:wrong@{place}")
    (tmp_path / "me/.netrc").write_text(f"machine 127.0.0.1 login me password {SECRET}/@\n")
    by_netrc = codesum(tmp_path / "3", "index", f"https://{place}")
    not_by_netrc = codesum(tmp_path / "4", "index", f"https://me:wrong@{place}")

    assert (built.exit_code, by_netrc.exit_code) == (0, 0), built.stderr + by_netrc.stderr
    assert (refused.exit_code, not_by_netrc.exit_code) == (3, 3)
    assert f"Authentication failed for 'https://{place}/'" in refused.stderr
    assert served_repository.seen == []
    assert SECRET not in built.stdout + built.stderr
    assert files_with(SECRET, tmp_path / "home") == []
