"""`add` and `index` of several locations, of a folder that holds clones, and of what yields nothing."""

import json
import shlex
import subprocess

import pytest

from codesum_pipeline.ways_in.cli.commands.add import LARGEST_BYTES, MOST_LOCATIONS
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.git_server import GitServer, make_certificate
from codesum_pipeline_tests.support.repositories import GitRepo

CODE = 'def place(order):\n    """Place an order."""\n    checked = order\n    return checked\n'


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def call(home, tmp_path):
    """`call(*arguments)`: `codesum` as a shell calls it."""
    return lambda *arguments, cwd=tmp_path: fork_codesum("--home", home, *arguments, cwd=cwd)


@pytest.fixture
def clones(tmp_path):
    """A folder with two clones, one with a blank in its name."""
    folder = tmp_path / "src"
    for name in ("shop", "old shop"):
        GitRepo.create(folder / name, {"a.py": CODE})
    return folder


def registered(call):
    return {each["key"]: each for each in map(json.loads, call("repos", "--json").stdout.splitlines())}


def test_several_are_registered_at_once(call, clones):
    done = call("add", clones / "shop", clones / "old shop")

    assert done.returncode == 0
    assert set(registered(call)) == {"shop", "old-shop"}
    assert done.stdout.splitlines()[-1] == "next: codesum index shop old-shop"


def test_two_of_one_name_get_keys_of_their_own_and_one_that_is_given_twice_is_one(call, tmp_path):
    one, other = (GitRepo.create(tmp_path / name / "lib", {"a.py": CODE}).path for name in ("one", "other"))

    assert call("add", one, other, one).returncode == 0
    assert set(registered(call)) == {"lib", "lib-2"}


def test_one_bad_location_does_not_stop_the_others(call, clones):
    done = call("add", clones / "nowhere", clones / "shop")

    assert done.returncode == 1
    assert "there is no folder" in done.stderr
    assert set(registered(call)) == {"shop"}


def test_where_all_are_bad_the_exit_status_says_why(call, clones):
    alone = call("add", clones / "nowhere")
    both = call("add", clones / "nowhere", clones / "neither")

    assert alone.returncode == both.returncode == 2
    assert both.stderr.count("there is no folder") == 2


def test_a_list_is_read_and_each_bad_line_is_named_with_its_number(call, clones):
    lines = (
        "\ufeff# our repositories",
        "",
        str(clones / "shop"),
        "  src/nowhere\r",
        "http:/x y",
        "src/old shop",
        "src/shop",
    )
    (clones.parent / "list.txt").write_text("\n".join(lines))

    done = call("add", "--from", "list.txt")

    assert done.returncode == 1
    assert set(registered(call)) == {"shop", "old-shop"}
    wrong = [line for line in done.stderr.splitlines() if "list.txt line" in line]
    assert [line.split(":")[1].strip() for line in wrong] == ["list.txt line 4", "list.txt line 5"]


def test_standard_input_is_a_list_beside_the_arguments(home, clones):
    done = fork_codesum(
        "--home", home, "add", clones / "shop", "--from", "-", cwd=clones, stdin="# a name with a blank\nold shop\n"
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "next: codesum index shop old-shop"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "has no location", id="an empty list"),
        pytest.param(b"\xff\xfe", "is not UTF-8", id="no text"),
        pytest.param(b"x\n" * (MOST_LOCATIONS + 1), "a list has at most 10,000", id="too many lines"),
        pytest.param(b"x" * (LARGEST_BYTES + 1), "10,000 locations and 4 MB", id="too large"),
        pytest.param(None, "cannot be read: No such file or directory", id="no file"),
    ],
)
def test_a_list_that_cannot_be_used_is_named(call, home, tmp_path, content, message):
    if content is not None:
        (tmp_path / "list.txt").write_bytes(content)

    done = call("add", "--from", "list.txt")

    assert (done.returncode, home.exists()) == (2, False)
    assert "--from list.txt" in done.stderr
    assert message in done.stderr


def test_without_a_location_and_a_list_nothing_is_registered(call, home):
    done = call("add")

    assert (done.returncode, home.exists()) == (2, False)
    assert "--from FILE" in done.stderr


def test_servers_are_asked_at_once_and_what_they_do_not_have_is_named(call, tmp_path, monkeypatch):
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate / "ca.pem"))
    made = GitRepo.create(tmp_path / "made", {"a.py": CODE}).path
    with GitServer(tmp_path / "served", certificate).answering() as server:
        urls = [server.serve(made, f"team/part{number}.git") for number in range(5)]
        (tmp_path / "list.txt").write_text("\n".join([*urls, f"{server.address}/team/typo.git"]))
        done = call("add", "--from", "list.txt")
        again = call("add", urls[0], "--ref", "mian")
        offline = call("--offline", "add", f"{server.address}/team/other.git")

    assert done.returncode == 0, done.stderr
    assert set(registered(call)) == {*(f"part{number}" for number in range(5)), "typo", "other"}
    noted = [line for line in done.stderr.splitlines() if "this machine cannot read it" in line]
    assert [line.split(":")[0] for line in noted] == ["typo"]
    assert "codesum remove typo --purge" in noted[0]
    assert "has no branch, tag or commit 'mian'" in again.stderr
    assert offline.stderr == ""


@pytest.mark.parametrize("command", ["add", "index"])
def test_one_key_is_of_one_location(call, clones, command):
    done = call(command, clones / "shop", clones / "old shop", "--key", "mine")

    assert (done.returncode, registered(call)) == (2, {})
    assert "--key mine is of one repository, but 2 are given" in done.stderr


def test_an_index_of_a_compiler_is_of_one_location(call, clones):
    done = call("add", clones / "shop", clones / "old shop", "--scip", "index.scip")

    assert (done.returncode, registered(call)) == (2, {})
    assert "is of one repository, but 2 are given" in done.stderr


def test_other_options_are_those_of_each(call, clones):
    assert call("add", clones / "shop", clones / "old shop", "--worktree", "--submodules").returncode == 0

    text = (clones.parent / "home/repos.yaml").read_text()
    assert (text.count("worktree: true"), text.count("submodules: true")) == (2, 2)


@pytest.mark.slow
def test_index_goes_on_with_the_locations_that_can_be_used(call, clones):
    done = call("index", clones / "nowhere", clones / "shop")

    assert done.returncode == 1
    assert "there is no folder" in done.stderr
    assert "place" in call("search", "place an order").stdout


@pytest.mark.parametrize("command", ["add", "index"])
def test_a_folder_of_clones_is_an_error_with_the_command_that_is_meant(call, clones, command):
    (clones / "README.md").write_text("My clones.\n")
    done = call(command, clones)

    assert (done.returncode, registered(call)) == (2, {})
    assert f"{clones} holds 2 clones and no code of its own" in done.stderr
    meant = shlex.split(done.stderr.split("`")[1])
    assert call(*meant[1:]).returncode == 0
    assert set(registered(call)) == {"shop", "old-shop"}


def by_owner(folder):
    for name in ("acme/a", "acme/b", "bush/c"):
        GitRepo.create(folder / name, {"a.py": CODE})


def by_host(folder):
    GitRepo.create(folder / "git.example.org/acme/a", {"a.py": CODE})


def bare(folder):
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "--bare", str(folder / "a.git")], check=True)


def work_trees_of_a_hidden_repository(folder):
    repo = GitRepo.create(folder / ".shared", {"a.py": CODE})
    repo.git("worktree", "add", "-q", str(folder / "feature"), "-b", "feature")


def twelve(folder):
    for number in range(12):
        GitRepo.create(folder / f"r{number:02}")


def in_a_repository_that_ignores_them(folder):
    around = GitRepo.create(folder, {".gitignore": "/*/\n"})
    around.git("rm", "-q", ".gitignore")
    around.git("commit", "-q", "-m", "empty")
    GitRepo.create(folder / "a", {"a.py": CODE})


@pytest.mark.parametrize(
    ("arrange", "count"),
    [
        (by_owner, "3 clones"), (by_host, "1 clone"), (bare, "1 clone"),
        (work_trees_of_a_hidden_repository, "2 clones"), (twelve, "12 clones"),
        (in_a_repository_that_ignores_them, "1 clone"),
    ],
    ids=lambda each: each.__name__.replace("_", " ") if callable(each) else "",
)  # fmt: skip
def test_clones_are_found_as_people_keep_them(call, tmp_path, arrange, count):
    arrange(tmp_path / "kept")
    done = call("add", tmp_path / "kept")

    assert done.returncode == 2
    assert f"holds {count} and no code" in done.stderr
    assert ("and 2 more" in done.stderr) is (count == "12 clones")


def test_a_folder_with_code_beside_a_clone_is_registered(call, tmp_path):
    GitRepo.create(tmp_path / "project/vendor/lib", {"a.py": CODE})
    (tmp_path / "project/src").mkdir()
    (tmp_path / "project/src/main.py").write_text(CODE)

    assert call("add", tmp_path / "project").returncode == 0


def test_a_link_to_a_clone_is_not_followed(call, tmp_path, clones):
    (tmp_path / "links").mkdir()
    (tmp_path / "links/shop").symlink_to(clones / "shop")

    assert call("add", tmp_path / "links").returncode == 0


def only_patterns(repo):
    return ("--include", "*.rs"), "not_included"


def all_excluded(repo):
    return ("--exclude", "*"), "excluded"


def all_left_out(repo):
    repo.commit({".codesumignore": "*\n"})
    return (), ".codesumignore"


def no_files(repo):
    repo.commit_exactly({})
    return (), "the repository has no files"


@pytest.mark.slow
@pytest.mark.parametrize(
    "arrange", [only_patterns, all_excluded, all_left_out, no_files], ids=lambda each: each.__name__.replace("_", " ")
)
def test_a_root_that_yields_nothing_is_never_up_to_date_in_silence(call, git_repo, arrange):
    repo = git_repo({"a.py": CODE})
    options, why = arrange(repo)

    first = call("index", repo.path, *options)
    again = call("index", "project")
    of_all = call("index", "--json")

    for done in (first, again):
        assert "project: nothing is indexed: " in done.stderr
        assert why in done.stderr
    assert "nothing is indexed: " in json.loads(of_all.stdout)["left_out"][0]
    assert "nothing is indexed: " in call("status").stdout
    assert "nothing is indexed: " in call("status", "project").stdout


@pytest.mark.slow
def test_submodules_and_clones_inside_that_are_not_indexed_are_told(call, git_repo, tmp_path):
    lib = GitRepo.create(tmp_path / "lib", {"l.py": CODE.replace("place", "weigh")})
    repo = git_repo({"a.py": CODE})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib.path), "third/lib")
    repo.commit({})
    GitRepo.create(repo.path / "inner", {"i.py": CODE})

    first = call("index", repo.path, "--worktree")

    told = "1 submodule is not indexed: third/lib (`codesum index project --submodules` sets submodules = true)"
    assert f"project: {told}" in first.stderr
    assert f"1 repository inside, not indexed: inner/; `codesum add {repo.path}/inner`" in first.stderr
    assert told in call("index", "project").stderr
    assert told in call("status").stdout and told in call("status", "project").stdout
    assert json.loads(call("status", "--json").stdout)["tree"] == "dirty"
    command = shlex.split(first.stderr.split("`")[1])
    assert call(*command[1:]).returncode == 0
    assert "third/lib/l.py" in call("search", "weigh").stdout
    assert "not indexed: third/lib" not in call("index", "project").stderr


@pytest.mark.slow
def test_a_submodule_that_cannot_be_had_is_told_and_tried_again(call, git_repo):
    repo = git_repo({"a.py": CODE})
    repo.write({".gitmodules": '[submodule "lib"]\n\tpath = lib\n\turl = https://127.0.0.1:1/lib.git\n'})
    repo.git("add", ".gitmodules")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    repo.git("commit", "-q", "-m", "a submodule")

    first = call("index", repo.path, "--submodules")
    again = call("index", "project")

    assert (first.returncode, again.returncode) == (0, 0)
    for done in (first, again):
        assert "project: 1 path could not be used: lib (submodule: https://127.0.0.1:1/lib.git cannot be" in done.stderr
    assert "up to date" not in again.stdout
    assert "1 submodule is not indexed: lib (`codesum status project` says why)" in call("status").stdout
    assert "a.py" in call("search", "place an order").stdout
