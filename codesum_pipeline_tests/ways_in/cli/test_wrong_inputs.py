"""A wrong input gets words that name it and the way out, one line and an exit code that says whose turn it is."""

import json
import os
import shutil
import socket
import subprocess

import pytest

from codesum_pipeline.foundation.data_model.document import LEVELS
from codesum_pipeline.foundation.language_facts.file_languages import LANGUAGES
from codesum_pipeline.indexes.file_formats.version_folder import LANES
from codesum_pipeline_tests.support.commands import COMMAND, environment, fork_codesum

MISCONFIGURED = 2


@pytest.fixture
def folder(tmp_path):
    """Where the command is called: archives, a file and a folder."""
    here = tmp_path / "here"
    (here / "plain").mkdir(parents=True)
    (here / "plain/a.py").write_text("x = 1\n")
    for name in ("flask.zip", "flask 3.tar.gz", "app.py"):
        (here / name).write_bytes(b"")
    return here


LOCATIONS = {
    "a zip": ("flask.zip", "flask.zip is an archive: unpack it, then `codesum index` the folder that it gives"),
    "an archive by path": ("./flask 3.tar.gz", "flask 3.tar.gz is an archive: unpack it"),
    "a file": ("app.py", "app.py is a file: name the folder of its repository, as in `codesum index .`"),
    "owner and name": (
        "pallets/flask",
        "for the repository on GitHub: `codesum index https://github.com/pallets/flask`",
    ),
    "an address without https": ("github.com/a/b", "`codesum index https://github.com/a/b`"),
    "an http address": ("http://example.org/a/b", "`codesum index https://example.org/a/b`"),
    "a page in a browser": (
        "https://github.com/pallets/flask/tree/main/src/flask",
        "`codesum index https://github.com/pallets/flask --ref main --subdir src/flask`",
    ),
    "a file's page": (
        "https://github.com/pallets/flask/blob/main/README.md#l1",
        "`codesum index https://github.com/pallets/flask --ref main`",
    ),
    "nothing": ("", "location '': give a path or a git URL"),
    "a blank": (" ", "location ' ': give a path or a git URL"),
    "a folder that is not there": ("./nowhere/", "location './nowhere/': there is no folder"),
    "a user that is not there": ("~nobody-of-this-name/shop", "there is no user of this name"),
    "a path that is too long": ("x/" * 3000, "no folder can be called so: File name too long"),
    "a key that is not there": (
        "shopp",
        "no repository 'shopp'; and no folder here is called 'shopp': give the path of a repository, a URL",
    ),
    "a control character": ("a\x07b/c", "a location that cannot be read: give a path or a git URL"),
    "another protocol": ("svn://example.org/a", "only https, ssh and file URLs and paths are read"),
    "a remote helper": ("ext::sh -c id", "remote helpers are not used"),
    "a URL without a path": ("https://github.com", "a URL needs a host and a path"),
    "a password in a wrong URL": ("http://me:hunter2@example.org/a", "'http://example.org/a'"),
}


@pytest.mark.parametrize(("location", "message"), LOCATIONS.values(), ids=LOCATIONS)
def test_what_is_no_location_of_a_repository_is_said_with_what_may_be_meant(folder, tmp_path, location, message):
    done = fork_codesum("--home", tmp_path / "home", "index", location, cwd=folder)

    assert done.returncode == MISCONFIGURED
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "hunter2" not in done.stderr
    assert not (tmp_path / "home").exists()


CALLS = {
    "a home that is a file": (["--home", "app.py", "repos"], "is a file: name a folder"),
    "a home below a file": (["--home", "app.py/sub", "index", "plain"], "lies below the file "),
    "settings that are not there": (["--settings-file", "no.toml", "repos"], "'no.toml': there is no such file"),
    "an empty key": (["add", "plain", "--key", ""], "--key '': it is empty"),
    "an empty ref": (["index", "plain", "--ref", ""], "--ref '': it is empty"),
    "an empty pattern": (["index", "plain", "--include", " "], "--include '': it is empty"),
    "a key that cannot be": (["add", "plain", "--key", "a/b"], "'a/b'"),
    "a folder outside": (["add", "plain", "--subdir", "../x"], "is not a folder below the git root"),
    "a level that is none": (
        ["eval", "--level", "func"],
        "no level 'func': levels are function, class, file, module; did you",
    ),
    "questions that are not there": (["eval", "no.jsonl"], "no.jsonl: cannot be read"),
    "questions that are a folder": (["eval", "plain"], "plain: cannot be read"),
    "a port that cannot be": (["dev", "--port", "70000"], "less than or equal to 65535"),
    "a host that is elsewhere": (["dev", "--host", "192.0.2.1"], "--host 192.0.2.1 --port 3000: "),
    "a host that is unknown": (["dev", "--host", "nosuch.invalid"], "--host nosuch.invalid --port 3000: "),
    "neither a folder nor a URL": (
        ["add", "not-there"],
        "repos.yaml: no repository 'not-there'; and no folder here is called 'not-there': give the path of a "
        "repository, a URL such as https://HOST/OWNER/NAME, or a key that is registered",
    ),
    "a plan of nothing": (["plan", "./nowhere"], "there is no folder"),
    "a status of nothing": (["status", "shop"], "no repository 'shop'"),
    "a removal of nothing": (["remove", "shop"], "no repository 'shop'"),
    "an index of nothing": (["index"], "no repository is registered: name one, as in `codesum index .`"),
    "a typo in a command": (["indx", "."], "Did you mean 'index'"),
    "a typo in an option": (["index", ".", "--rebild"], "--rebuild"),
    "another value than those there are": (["search", "x", "--tests", "no"], "for '--tests': 'no' is not one of 'in',"),
    "a day that is none": (["cost", "--since", "soon"], "for '--since': 'soon' does not match"),
}


@pytest.mark.parametrize(("arguments", "message"), CALLS.values(), ids=CALLS)
def test_a_wrong_call_names_what_is_wrong(folder, arguments, message):
    done = fork_codesum(*arguments, cwd=folder, env={"COLUMNS": "200"})

    assert done.returncode == MISCONFIGURED, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    # Python's words about what it was doing.
    assert "(while" not in done.stderr


@pytest.fixture
def taken_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_taken_port_is_said_before_anything_starts(tmp_path, taken_port):
    done = fork_codesum("--home", tmp_path / "home", "dev", "--port", taken_port, cwd=tmp_path)

    assert done.returncode == MISCONFIGURED
    assert f"--port {taken_port}: Address already in use: choose another address or port" in done.stderr
    assert not (tmp_path / "home").exists()


@pytest.fixture
def gone(own_shop, git_repo):
    """A home with an index of `shop` and of a repository whose folder was deleted afterwards."""
    repository = git_repo({"a.py": "def f(x):\n    y = x\n    return y\n"}, name="gone")
    assert fork_codesum("--home", own_shop, "add", repository.path, cwd=own_shop).returncode == 0
    shutil.rmtree(repository.path)
    return own_shop, repository.path


@pytest.mark.slow
def test_a_registered_path_that_is_gone_is_named_everywhere_and_stops_nobody(gone, tmp_path):
    home, path = gone
    message = f"path {path} does not exist: correct it, or `codesum remove gone`"

    def call(*arguments):
        return fork_codesum("--home", home, *arguments, cwd=tmp_path)

    by_key, by_path, of_all = call("index", "gone"), call("index", path), call("index")
    assert [done.returncode for done in (by_key, by_path, of_all)] == [2, 2, 1]
    assert all(message in done.stderr for done in (by_key, by_path, of_all))
    assert "shop: up to date" in of_all.stdout or "shop" in of_all.stdout
    assert message in call("status").stdout
    assert message in call("plan", "gone").stderr
    assert json.loads(call("repos", "--json").stdout.splitlines()[0])["key"] == "gone"


def complete(line, *, cwd, shell="bash", home=None):
    """What a shell is offered, its errors, and the exit code."""
    words = (
        {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))} if shell == "bash" else {"_TYPER_COMPLETE_ARGS": line}
    )
    more = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"} if shell == "fish" else {}
    env = {"_CODESUM_COMPLETE": f"complete_{shell}", **words, **more, **({"CODESUM_HOME": str(home)} if home else {})}
    done = fork_codesum(cwd=cwd, env=env)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_completes_the_keys_of_the_registry(shop, tmp_path, shell):
    found, complaints, status = complete("codesum index sh", cwd=tmp_path, shell=shell, home=shop)

    assert "shop" in found
    assert (complaints, status) == ("", 0)


@pytest.mark.parametrize(
    "line",
    [
        "add s", "remove s", "plan s", "status s", "doctor s", "cost s", "search x --repo s", "eval --repo s",
        "show x --repo s", "explain x --repo s",
    ],
)  # fmt: skip
def test_whatever_takes_a_key_completes_it(shop, tmp_path, line):
    assert complete(f"codesum --home {shop} {line}", cwd=tmp_path)[0].split() == ["shop"]


def test_closed_sets_are_completed_and_keys_that_were_typed_are_not_offered_again(shop, tmp_path):
    def offered(line):
        return complete(line, cwd=tmp_path, home=shop)[0].split()

    assert offered("codesum search x --level f") == ["function", "file"]
    assert offered("codesum search x --language pyth") == ["python"]
    assert offered("codesum search x --language ") == sorted(LANGUAGES)
    assert offered("codesum search x --tests o") == ["out", "only"]
    for command in ("search x", "eval"):
        assert offered(f"codesum {command} --lane ") == [*LANES]
        assert offered(f"codesum {command} --level ") == [*LEVELS]
    assert offered("codesum index shop s") == []


@pytest.mark.parametrize(
    "content", ["- no: [mapping", "repositories: 7\n", "\xff"], ids=["no YAML", "no mapping", "no text"]
)
def test_completion_is_silent_where_the_registry_cannot_be_read(tmp_path, content):
    home = tmp_path / "home"
    home.mkdir()
    (home / "repos.yaml").write_bytes(content.encode("latin-1"))

    assert complete("codesum index s", cwd=tmp_path, home=home) == ("\n", "", 0)


def test_completion_is_silent_where_the_settings_are_wrong(shop, tmp_path):
    (tmp_path / "wrong.toml").write_text("nonsense = 1\n")

    assert complete("codesum --settings-file wrong.toml index s", cwd=tmp_path, home=shop) == ("\n", "", 0)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_is_installed_for_the_shell_that_calls(tmp_path):
    call = " ".join(f"'{part}'" for part in COMMAND)
    env = environment({"HOME": str(tmp_path)})

    done = subprocess.run(
        ["bash", "-c", f"{call} --install-completion; exit $?"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "bash completion installed" in done.stdout
    assert "codesum.sh" in (tmp_path / ".bashrc").read_text()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_real_bash_completes_a_key(shop, tmp_path):
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/codesum"
    script.write_text("#!/bin/sh\nexec " + " ".join(f"'{part}'" for part in COMMAND) + ' "$@"\n')
    script.chmod(0o755)
    completion = (
        'eval "$(codesum --show-completion bash)"; COMP_WORDS=(codesum index sh); COMP_CWORD=2; '
        '_codesum_completion codesum; echo "${COMPREPLY[@]}"'
    )
    env = environment({"CODESUM_HOME": str(shop), "PATH": f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"})

    done = subprocess.run(
        ["bash", "-c", completion], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=240
    )

    assert done.stdout.strip() == "shop"
