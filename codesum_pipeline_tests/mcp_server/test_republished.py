"""Many clients while an index is published again and again: every answer is of one whole version."""

import os
import threading

import anyio
import pytest
from mcp.client.client import Client

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline_tests.building import build, open_home, workspace_of
from codesum_pipeline_tests.mcp_server.asking import server_of
from codesum_pipeline_tests.mcp_server.test_http import serving
from codesum_pipeline_tests.repositories import GitRepo

CLIENTS = 8
CALLS = 6
WORDS = ("apple", "banana")
PARTS = range(6)


def files(word):
    body = '    """Count the {word} of box {part}."""\n    total = {part} + 1\n    return total\n'
    return {f"box_{part}.py": f"def box_{part}():\n{body.format(word=word, part=part)}" for part in PARTS}


@pytest.fixture(scope="module")
def two_versions(tmp_path_factory):
    """A home, the link that is published, and for each of two commits the version that it may point to."""
    folder = tmp_path_factory.mktemp("republished")
    home, repository = open_home(folder / "home"), GitRepo.create(folder / "boxes")
    targets = {}
    for word in WORDS:
        commit = repository.commit(files(word))
        workspace = workspace_of(home, RepositoryEntry(key="boxes", location=str(repository.path)), run_id=word)
        build(workspace)
        link = workspace.layout.published("boxes")
        targets[commit] = (word, link.readlink())
    return folder / "home", link, targets


def republish(link, targets, stop):
    """As publishing does: a new link in the old one's place."""
    places = [target for _, target in targets.values()]
    turn = 0
    while not stop.is_set():
        aside = link.with_name(".turning")
        aside.symlink_to(places[turn % len(places)])
        os.replace(aside, link)
        turn += 1
    return turn


async def ask_again_and_again(target, targets, found):
    async with Client(target) as client:
        for _ in range(CALLS):
            for tool, arguments in (
                ("read", {"ids": [f"box_{part}" for part in PARTS], "tokens": 10_000}),
                ("search", {"query": "count fruit in a box", "levels": "function", "excerpt": 3}),
                ("status", {"changes": 0}),
            ):
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content[0].text
                (as_of,) = result.structured_content["as_of"]
                word, _ = targets[as_of["commit"]]
                text = result.content[0].text
                (other,) = set(WORDS) - {word}
                assert other not in text, (word, text)
                assert tool == "status" or word in text
                found.append(word)


@pytest.mark.parametrize("transport", ["memory", pytest.param("http", marks=pytest.mark.slow)])
def test_every_answer_is_of_one_whole_version(two_versions, tmp_path, transport):
    home, link, targets = two_versions
    stop, found = threading.Event(), []
    publisher = threading.Thread(target=republish, args=(link, targets, stop))

    async def ask_all(target):
        with anyio.fail_after(300):
            async with anyio.create_task_group() as group:
                for _ in range(CLIENTS):
                    group.start_soon(ask_again_and_again, target, targets, found)

    publisher.start()
    try:
        if transport == "memory":
            anyio.run(ask_all, server_of(home))
        else:
            with serving(home, tmp_path, "0") as address:
                anyio.run(ask_all, address)
    finally:
        stop.set()
        publisher.join()

    assert len(found) == CLIENTS * CALLS * 3
    assert {*found} == {*WORDS}
