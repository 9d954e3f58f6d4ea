"""`codesum index` says what it did not take in, does not double a repository, and leaves nothing of a failed fetch."""

import json
import shlex
import signal
import socket
import subprocess
import threading
import time

import pytest

from codesum_pipeline_tests.support.commands import COMMAND, environment, fork_codesum

FILES = {
    "src/shop/orders.py": 'def place(order):\n    """Place an order."""\n    checked = order\n    return checked\n',
    "src/shop/prices.py": 'def total(prices):\n    """Add all prices."""\n    found = sum(prices)\n    return found\n',
    "README.md": "# A shop\n",
    ".gitignore": "built/\n",
}


@pytest.fixture
def project(git_repo):
    return git_repo(FILES)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def call(home, tmp_path):
    """`call(*arguments, cwd=…)`: `codesum` as a shell calls it."""

    def run(*arguments, cwd=tmp_path, env=None):
        return fork_codesum("--home", home, *arguments, cwd=cwd, env=env)

    return run


def registered(home):
    done = fork_codesum("--home", home, "repos", "--json", cwd=home.parent)
    return [json.loads(line)["key"] for line in done.stdout.splitlines()]


def kept(home, key):
    """Whatever in the home bears the name of a repository."""
    return [str(path.relative_to(home)) for path in home.rglob("*") if path.name.split(".")[0] == key]


@pytest.mark.slow
def test_a_dirty_tree_is_told_with_the_command_that_takes_its_edits_in(call, project):
    assert "uncommitted" not in call("index", ".", cwd=project.path).stderr
    project.write({"src/shop/orders.py": FILES["src/shop/orders.py"].replace("Place an", "Zebrafy an")})
    project.write({"new.py": "def brand_new():\n    return 1\n", "built/out.py": "x = 1\n"})

    up_to_date = call("index", ".", cwd=project.path)
    of_all = call("index", "--json")

    message = "project: uncommitted changes in 2 files are not in this index; `codesum index project --worktree`"
    assert up_to_date.returncode == 0
    assert "up to date" in up_to_date.stdout
    assert message in up_to_date.stderr and message in of_all.stderr
    assert json.loads(of_all.stdout)["uncommitted_files"] == 2
    command = shlex.split(up_to_date.stderr.split("`")[1])
    assert call(*command[1:]).returncode == 0
    assert "orders.py" in call("search", "zebrafy").stdout
    again = call("index", ".", cwd=project.path)
    assert "uncommitted" not in again.stderr
    assert call("index", ".", "--no-worktree", cwd=project.path).stderr.count("uncommitted changes in 2 files") == 1


@pytest.mark.slow
def test_edits_beside_a_branch_that_was_asked_for_are_told_with_a_key_of_their_own(call, project):
    project.write({"new.py": "def zebrafy(order):\n    checked = order\n    return checked\n"})

    first = call("index", ".", "--ref", "main", cwd=project.path)

    command = shlex.split(first.stderr.split("`")[1])
    assert command == ["codesum", "index", str(project.path), "--worktree", "--key", "project-worktree"]
    assert call(*command[1:]).returncode == 0
    assert "new.py" in call("search", "zebrafy", "--repo", "project-worktree").stdout


@pytest.mark.slow
def test_a_sub_folder_of_a_registered_repository_is_that_repository(call, home, project):
    assert call("index", ".", cwd=project.path).returncode == 0
    project.commit({"src/shop/late.py": "def zebrafy(order):\n    checked = order\n    return checked\n"})
    link = home.parent / "link"
    link.symlink_to(project.path / "src")

    inside = call("index", ".", cwd=project.path / "src/shop")
    by_link = call("index", str(link))
    upward = call("index", "..", cwd=project.path / "src")

    assert [done.returncode for done in (inside, by_link, upward)] == [0, 0, 0]
    assert f"{project.path}/src/shop is inside project, which is registered: its index covers it" in inside.stderr
    assert f"{project.path}/src is inside project" in by_link.stderr
    assert "is inside" not in upward.stderr
    assert registered(home) == ["project"]
    assert "late.py" in call("search", "zebrafy").stdout


@pytest.mark.slow
def test_a_folder_that_no_index_covers_is_registered_by_itself(call, home, project):
    call("add", project.path, "--exclude", "docs/")

    assert call("add", project.path / "src").returncode == 0
    assert call("add", project.path / "src", "--key", "own").returncode == 0
    assert call("add", project.path, "--subdir", "src/shop").returncode == 0
    assert registered(home) == ["own", "project", "project-shop", "project-src"]


@pytest.mark.slow
def test_an_ignored_folder_is_not_covered(call, home, project):
    call("add", project.path)
    project.write({"built/out.py": "x = 1\n"})

    done = call("index", project.path / "built")

    assert done.returncode == 2
    assert "subdir 'built' is not a folder of commit" in done.stderr
    assert registered(home) == ["project"]


@pytest.mark.slow
def test_a_folder_inside_a_registered_plain_folder_is_covered(call, home, tmp_path):
    (tmp_path / "plain/inner").mkdir(parents=True)
    (tmp_path / "plain/inner/a.py").write_text("x = 1\n")
    call("add", tmp_path / "plain")

    done = call("add", tmp_path / "plain/inner")

    assert "inner is inside plain" in done.stderr
    assert registered(home) == ["plain"]


@pytest.mark.parametrize(
    "location",
    [
        pytest.param("https://127.0.0.1:1/x.git", id="https"),
        pytest.param("ssh://git@127.0.0.1:1/x.git", id="ssh", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_a_location_that_could_not_be_fetched_is_not_left_registered(call, home, location):
    done = call("index", location, "--key", "far")

    assert done.returncode == 3
    assert "far: not registered any more: nothing could be fetched" in done.stderr
    assert registered(home) == []
    assert kept(home, "far") == []
    from codesum_pipeline.builds.dagster.dagster_records import open_instance
    from codesum_pipeline.foundation.store.layout import HomeLayout

    with open_instance(HomeLayout(home)) as instance:
        assert instance.get_dynamic_partitions("codesum_repos") == []


@pytest.mark.slow
def test_of_several_locations_those_that_could_be_fetched_stay(call, home, project):
    done = call("index", project.path, "https://127.0.0.1:1/x.git")

    assert done.returncode == 1
    assert registered(home) == ["project"]
    assert call("status", "project").stdout.startswith("project  up to date")


@pytest.mark.slow
def test_a_second_location_that_cannot_be_does_not_stop_the_first(call, home, project):
    done = call("index", project.path, "./nowhere")

    assert done.returncode == 1
    assert "there is no folder" in done.stderr
    assert registered(home) == ["project"]


@pytest.mark.slow
def test_a_ref_that_does_not_exist_leaves_the_registration_as_it_was(call, home, project):
    call("index", project.path)

    done = call("index", "project", "--ref", "nosuch")

    assert done.returncode == 2
    assert "project: registered as it was before" in done.stderr
    assert call("index", "project").stdout.startswith("project: up to date")


@pytest.mark.slow
def test_what_was_added_and_cannot_be_fetched_stays_with_the_command_that_forgets_it(call, home):
    call("add", "https://127.0.0.1:1/x.git")

    done = call("index", "x")

    assert done.returncode == 3
    assert "x: never fetched so far; `codesum remove x --purge` forgets it" in done.stderr
    assert registered(home) == ["x"]
    assert call("remove", "x", "--purge").returncode == 0


@pytest.fixture
def silent_server():
    """A port that takes connections and never answers; closed at the end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = []

        def take():
            while True:
                try:
                    taken.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=take, daemon=True).start()
        yield server.getsockname()[1], taken
        server.shutdown(socket.SHUT_RDWR)
        for connection in taken:
            connection.close()


@pytest.mark.slow
def test_ctrl_c_in_the_first_fetch_leaves_nothing_registered(home, tmp_path, silent_server):
    port, taken = silent_server
    call = [*COMMAND, "--home", str(home), "index", f"https://127.0.0.1:{port}/x.git"]
    with subprocess.Popen(call, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        for _ in range(600):
            if taken:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()

    assert taken
    assert process.returncode == 130
    assert "x: not registered any more" in errors
    assert registered(home) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"CODESUM_EMBEDDER": "minlm"}, "'minlm' is not known; the nearest is 'minilm'"),
        ({"CODESUM_EMBEDDER": "/nowhere/model"}, "there is no folder /nowhere/model"),
        ({"CODESUM_EVALUATION__QUESTIONS": "missing.jsonl"}, "missing.jsonl: cannot be read"),
        ({"CODESUM_EVALUATION__QUESTIONS": "bad.jsonl"}, "bad.jsonl:1: not JSON"),
    ],
    ids=["a typo", "no model there", "no questions there", "ill-formed questions"],
)
def test_an_embedder_or_questions_that_cannot_be_used_are_refused_before_anything(
    call, home, project, settings, message
):
    home.mkdir()
    (home / "bad.jsonl").write_text("{\n")
    enabled = {"CODESUM_EVALUATION__ENABLED": "true"} if "CODESUM_EMBEDDER" not in settings else {}

    done = call("index", project.path, env={**settings, **enabled})

    assert done.returncode == 2
    assert message in done.stderr
    assert [path.name for path in home.iterdir()] == ["bad.jsonl"]
