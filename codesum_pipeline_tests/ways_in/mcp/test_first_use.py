"""`codesum mcp` in a checkout that nobody indexed: it answers at once, and has it indexed meanwhile."""

import fcntl
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import anyio
import psutil
import pytest
from mcp.client.stdio import StdioServerParameters

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.foundation.data_model.errors import MissingTable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry, RepositoryScope
from codesum_pipeline.source.repositories.checkouts import checkout_of
from codesum_pipeline.ways_in.cli.first_use import FirstIndex, UnindexedCheckout, build_lock
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.http_serving.ending import _WATCHER
from codesum_pipeline.ways_in.mcp.mcp_server import make_server
from codesum_pipeline_tests.support.commands import COMMAND, environment
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.mcp_client import CALLS, text_of, with_client
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {
    "src/door.py": 'def open_door(door):\n    """Unlock the door of the shop."""\n    door.unlock()\n    return door\n'
}
IN_WORK = "shop is being indexed for the first time"
QUESTION = {"query": "unlock the door"}


@pytest.fixture
def checkout(git_repo):
    return git_repo(FILES, name="shop")


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


def parameters(data: Path, folder: Path) -> StdioServerParameters:
    program, *rest = COMMAND
    return StdioServerParameters(
        command=program, args=[*rest, "mcp"], env=environment({"XDG_DATA_HOME": str(data)}), cwd=folder
    )


async def answer_in_the_end(client):
    """The answers to one question until one is no error; the last is it."""
    answers = [await client.call_tool("search", QUESTION)]
    while answers[-1].is_error and IN_WORK in text_of(answers[-1]):
        await anyio.sleep(0.3)
        answers.append(await client.call_tool("search", QUESTION))
    return answers


def first_index(home: Path, **flags) -> FirstIndex:
    return FirstIndex(Invocation({"home": home, **flags}))


@pytest.fixture
def building(checkout, tmp_path):
    """A first index that another process makes, as its lock and its words say; it never comes to an end."""
    first = first_index(tmp_path / "home")
    found = UnindexedCheckout.find(first.invocation, checkout_of(checkout.path))
    assert found
    file = build_lock(found)
    file.parent.mkdir(parents=True)
    file.with_suffix(".txt").write_text("parsing: 27 of 40\nembedding texts: 12 of 5")
    with file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield first


def server_of(first: FirstIndex, folder: Path, *, only: str = ""):
    invocation = first.invocation
    scopes = (RepositoryScope((only,)),) if only else ()
    catalogue = IndexCatalogue(
        invocation.settings, invocation.layout, invocation.registry, scopes, first_index=first.state
    )
    return make_server(catalogue, folder=folder, every_tool=True)


def test_while_another_process_indexes_every_tool_says_how_far_it_is_and_status_lists_it(building, checkout):
    async def talk(client):
        return {name: await client.call_tool(name, about_here(name)) for name in CALLS}

    def about_here(name):
        return {argument: value for argument, value in CALLS[name].items() if argument != "repo"}

    answers = with_client(server_of(building, checkout.path), talk)

    status = answers.pop("status")
    assert not status.is_error
    assert f"note: {IN_WORK}" in text_of(status)
    for name, answer in answers.items():
        assert answer.is_error, name
        assert text_of(answer).startswith(f"{IN_WORK} ("), name
        assert "parsing: 27 of 40; ask again in about " in text_of(answer)


def test_another_repository_that_is_named_answers_meanwhile(zoo_home, building, checkout, tmp_path):
    shutil.copytree(zoo_home, tmp_path / "home", symlinks=True, dirs_exist_ok=True)

    async def talk(client):
        return await client.call_tool("search", QUESTION), await client.call_tool(
            "search", {**QUESTION, "repos": ["zoo"]}
        )

    here, named = with_client(server_of(building, checkout.path), talk)

    assert here.is_error and IN_WORK in text_of(here)
    assert named.structured_content["hits"][0]["repo"] == "zoo"


def test_who_has_but_other_repositories_does_not_hear_of_it(zoo_home, building, checkout, tmp_path):
    shutil.copytree(zoo_home, tmp_path / "home", symlinks=True, dirs_exist_ok=True)

    async def talk(client):
        return [await client.call_tool("search", QUESTION), await client.call_tool("status", {})]

    answers = with_client(server_of(building, checkout.path, only="zoo"), talk)

    assert not any(answer.is_error or IN_WORK in text_of(answer) for answer in answers)


def test_a_repository_without_a_commit_is_told_so_and_nothing_is_started(tmp_path):
    (tmp_path / "empty").mkdir()
    GitRepo(tmp_path / "empty").git("init", "-q")

    error = first_index(tmp_path / "home").state(checkout_of(tmp_path / "empty"))

    assert isinstance(error, MissingTable)
    assert str(error) == f"{tmp_path / 'empty'} has no commit yet, and nothing to index: commit something first"
    assert not (tmp_path / "home").exists()


def test_a_disabled_repository_is_not_indexed_by_itself(checkout, tmp_path):
    open_home(tmp_path / "home").registry.add(RepositoryEntry("shop", str(checkout.path), enabled=False))

    assert str(first_index(tmp_path / "home").state(checkout_of(checkout.path))) == (
        "shop is disabled: `codesum add shop` enables it"
    )


def test_a_home_that_cannot_be_made_is_named_with_the_way_out(checkout, tmp_path):
    (tmp_path / "file").write_text("in the way")
    first = first_index(tmp_path / "home")
    first.invocation.settings.__dict__["home"] = tmp_path / "file" / "home"

    error = str(first.state(checkout_of(checkout.path)))

    assert error.startswith(f"{checkout.path} cannot be indexed in {tmp_path / 'file' / 'home'}: ")
    assert error.endswith("Not a directory; name another folder with --home or CODESUM_HOME")


def test_a_build_that_fails_is_told_with_its_reason_and_the_command_and_is_not_repeated_at_once(
    checkout, tmp_path, monkeypatch
):
    fails = "import sys; print('codesum: no luck', file=sys.stderr); sys.exit(4)"
    monkeypatch.setattr("codesum_pipeline.ways_in.cli.first_use._CODE", fails)
    first = first_index(tmp_path / "home")
    here = checkout_of(checkout.path)
    assert str(first.state(here)).startswith(IN_WORK)
    assert first._process
    first._process.wait(60)

    for _ in range(2):
        assert str(first.state(here)) == (
            "shop could not be indexed: no luck; it is tried again 30 s later, or at once by "
            f"`codesum --home {tmp_path}/home index {checkout.path}`"
        )
        assert first._process is None


@pytest.mark.slow
def test_over_stdio_the_first_calls_say_so_and_a_later_one_answers_without_a_restart(checkout, data):
    *earlier, last = with_client(parameters(data, checkout.path), answer_in_the_end)

    assert earlier
    assert last.structured_content["hits"][0]["id"] == "src/door.py::open_door"
    assert sorted(path.name for path in checkout.path.iterdir()) == [".git", "src"]
    assert (data / "codesum" / "repos.yaml").is_file()


@pytest.mark.slow
def test_of_two_servers_that_start_at_once_one_builds_and_both_answer(checkout, data):
    ends = []

    async def both():
        from mcp.client.client import Client

        async def one():
            async with Client(parameters(data, checkout.path)) as client:
                ends.append((await answer_in_the_end(client))[-1])

        async with anyio.create_task_group() as group:
            group.start_soon(one)
            group.start_soon(one)

    anyio.run(both)

    assert [end.structured_content["hits"][0]["id"] for end in ends] == ["src/door.py::open_door"] * 2
    # Who comes second writes into the same file that nothing was to be done.
    (output,) = (data / "codesum" / "state" / "first uses").glob("*.txt")
    assert "shop: registered" in output.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["its input ends", "SIGTERM", "SIGKILL of both"])
def test_a_build_that_ended_with_its_server_is_taken_up_by_the_next(checkout, data, ending):
    server = subprocess.Popen(
        [*COMMAND, "mcp"],
        cwd=checkout.path,
        env=environment({"XDG_DATA_HOME": str(data)}),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    folder = data / "codesum" / "state" / "first uses"
    while not any("registered" in path.read_text() for path in folder.glob("*.txt")):
        assert server.poll() is None
        time.sleep(0.05)
    assert server.stdin
    if ending == "its input ends":
        server.stdin.close()
    elif ending == "SIGTERM":
        server.terminate()
    else:
        (builder,) = _builders(server.pid)
        server.kill()
        os.killpg(builder, signal.SIGKILL)
    server.wait(60)
    (lock,) = folder.glob("*.lock")
    with lock.open("a") as handle:
        # Free when the build has ended.
        fcntl.flock(handle, fcntl.LOCK_EX)
    assert not (data / "codesum" / "index_root" / "summary_index_function_level" / "shop").is_symlink()

    last = with_client(parameters(data, checkout.path), answer_in_the_end)[-1]

    assert last.structured_content["hits"][0]["id"] == "src/door.py::open_door"


def _builders(pid: int) -> list[int]:
    """The children of a server but the one that ends it."""
    children = psutil.Process(pid).children()
    return [each.pid for each in children if not any(_WATCHER.name in word for word in each.cmdline())]


@pytest.mark.slow
def test_a_first_index_asks_no_model_whatever_the_home_allows(checkout, tmp_path):
    home = tmp_path / "home"
    open_home(home)
    home.mkdir()
    (home / "codesum.toml").write_text(
        '[llm]\nenabled = true\nmodel = "openai/none"\napi_base = "http://127.0.0.1:9"\nmax_summaries_per_run = 9\n'
        'prices = [{model = "openai/none", input = 0, output = 0}]\n'
    )
    first = first_index(home)
    here = checkout_of(checkout.path)
    while (state := first.state(here)) is not None:
        assert IN_WORK in str(state), state
        time.sleep(0.2)

    assert open_home(home).tables.read_or_empty("ledger", "shop").num_rows == 0
