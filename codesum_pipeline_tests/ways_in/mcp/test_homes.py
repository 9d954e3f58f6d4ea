"""Homes without an index, with a damaged one, and with one that is just being made: what a client is told, and that the
server goes on."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.answers.question_answering.session import AskedQuestion
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import PURGE_RUN, hold_lease
from codesum_pipeline_tests.support.homes import open_home, workspace_of
from codesum_pipeline_tests.support.mcp_client import CALLS, catalogue_of, server_of, text_of, with_client
from codesum_pipeline_tests.support.repositories import GitRepo

TOOLS = ("search", "read", "graph", "overview")


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    return tmp_path / "home"


@contextmanager
def home_held(tmp_path: Path, run_id: str) -> Iterator[Path]:
    """A home of one repository without an index, which a run of this process holds."""
    repository = GitRepo.create(tmp_path / "zoo", {"a.py": "A = 1\n"})
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry(key="zoo", location=str(repository.path)))
    with hold_lease(ws.layout.state("zoo"), key="zoo", run_id=run_id):
        yield tmp_path / "home"


@pytest.fixture
def being_indexed(tmp_path: Path) -> Iterator[Path]:
    with home_held(tmp_path, "first") as home:
        yield home


@pytest.fixture
def being_deleted(tmp_path: Path) -> Iterator[Path]:
    with home_held(tmp_path, PURGE_RUN) as home:
        yield home


@pytest.fixture
def damaged(zoo_home: Path, tmp_path: Path) -> Path:
    """A home whose only index has lost its words."""
    home = Path(shutil.copytree(zoo_home, tmp_path / "home", symlinks=True))
    for key in ("shop", "zoo"):
        version = (home / "index_root" / "summary_index_function_level" / key).resolve()
        (version / "bm25" / "index.npz").write_bytes(b"PK")
    return home


HOMES = [
    pytest.param("empty", "holds no index yet: run `codesum index PATH|URL`", id="no index"),
    pytest.param("being_indexed", "zoo is being indexed for the first time by process ", id="a first build"),
    pytest.param("being_deleted", "zoo is being deleted by process ", id="a purge"),
    pytest.param("damaged", "can be read: run `codesum index`, or `codesum doctor`", id="a damaged index"),
]


@pytest.mark.parametrize(("home", "message"), HOMES)
def test_a_client_is_told_the_way_out_and_the_server_goes_on(
    home: str, message: str, request: pytest.FixtureRequest
) -> None:
    async def ask(client: Any) -> list[Any]:
        calls = {name: {key: each for key, each in CALLS[name].items() if key != "repo"} for name in TOOLS}
        refused = [await client.call_tool(name, arguments) for name, arguments in calls.items()]
        return [*refused, await client.call_tool("status", {})]

    *refused, status = with_client(server_of(request.getfixturevalue(home)), ask)

    assert [(each.is_error, message in text_of(each)) for each in refused] == [(True, True)] * len(TOOLS)
    assert not status.is_error


def test_status_says_that_a_first_build_is_under_way(being_indexed: Path) -> None:
    async def ask(client: Any) -> Any:
        return await client.call_tool("status", {})

    text = text_of(with_client(server_of(being_indexed), ask))
    assert text.startswith("zoo  being built, never indexed: zoo is being indexed for the first time by process ")


async def answer_of(home: Path) -> Any:
    question = AskedQuestion("what feeds it", (), catalogue_of(home), Path("/"), utc_now, lambda _note: None)
    return await question.answer(lambda _event: None)


@pytest.mark.parametrize(("home", "message"), HOMES)
def test_a_question_is_refused_with_the_way_out(home: str, message: str, request: pytest.FixtureRequest) -> None:
    with pytest.raises(CodesumError, match=message.replace("|", r"\|")):
        asyncio.run(answer_of(request.getfixturevalue(home)))


@pytest.mark.parametrize("command", [("search", "what feeds it"), ("ask", "what feeds it")], ids=["search", "ask"])
@pytest.mark.parametrize(("home", "message"), HOMES)
def test_the_command_line_says_it_in_a_line(
    home: str, message: str, command: tuple[str, ...], request: pytest.FixtureRequest, codesum_call: Any
) -> None:
    found = codesum_call(request.getfixturevalue(home), *command)

    assert found.exit_code in (2, 4)
    assert message in found.stderr
