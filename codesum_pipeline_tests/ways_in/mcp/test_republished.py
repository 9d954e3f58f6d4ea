"""Many clients while an index is published again and again: every answer is of one whole version."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.mcp_client import server_of, text_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.ways_in.mcp.test_http import serving
from codesum_pipeline_tests.ways_in.mcp.test_stdio import parameters

CLIENTS = 32
# Between two publications; without one, they take the time of the answers.
PAUSE_S = 0.002
WORDS = ("apple", "banana")
PARTS = range(6)
CALLS = (
    ("read", {"ids": [f"box_{part}" for part in PARTS], "tokens": 10_000}),
    ("search", {"query": "count fruit in a box", "levels": "function", "excerpt": 3}),
    ("status", {"changes": 0}),
)


def files(word: str) -> dict[str, str]:
    body = '    """Count the {word} of box {part}."""\n    total = {part} + 1\n    return total\n'
    return {f"box_{part}.py": f"def box_{part}():\n{body.format(word=word, part=part)}" for part in PARTS}


@dataclass
class Boxes:
    """A repository whose commits speak of one word each, and its home."""

    folder: Path
    repository: GitRepo
    word_of: dict[str, str] = field(default_factory=dict)

    @classmethod
    def create(cls, folder: Path) -> "Boxes":
        return cls(folder, GitRepo.create(folder / "boxes"))

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def publish(self, word: str) -> Path:
        """Build a new commit; the published name that leads to it."""
        self.word_of[self.repository.commit(files(word), f"{word} {len(self.word_of)}")] = word
        entry = RepositoryEntry(key="boxes", location=str(self.repository.path))
        workspace = workspace_of(open_home(self.home), entry, run_id=f"{len(self.word_of)}")
        build(workspace)
        return workspace.layout.published("boxes")


@contextmanager
def again_and_again(publish: Callable[[int], object]) -> Iterator[list[int]]:
    """Publish in a thread as long as the block runs; the turns so far."""
    turns: list[int] = []
    stop = threading.Event()

    def go_on() -> None:
        while not stop.is_set():
            publish(len(turns))
            turns.append(len(turns))

    publisher = threading.Thread(target=go_on)
    publisher.start()
    try:
        yield turns
    finally:
        stop.set()
        publisher.join()


async def ask(client: Client, boxes: Boxes, found: list[str]) -> None:
    """Each call once, and what it says is of one commit."""
    for tool, arguments in CALLS:
        result = await client.call_tool(tool, arguments)
        text = text_of(result)
        assert not result.is_error, text
        assert result.structured_content
        (as_of,) = result.structured_content["as_of"]
        word = boxes.word_of[as_of["commit"]]
        (other,) = {*WORDS} - {word}
        assert other not in text, (word, text)
        assert tool == "status" or word in text
        found.append(word)


def ask_at_once(targets: Sequence[Any], boxes: Boxes, *, rounds: int) -> list[str]:
    """A client for each target, all at the same time; the word of each answer."""
    found: list[str] = []

    async def one(target: Any) -> None:
        async with Client(target) as client:
            for _ in range(rounds):
                await ask(client, boxes, found)

    async def everybody() -> None:
        with anyio.fail_after(400):
            async with anyio.create_task_group() as group:
                for target in targets:
                    group.start_soon(one, target)

    anyio.run(everybody)
    return found


@pytest.mark.slow
def test_every_answer_to_32_clients_is_of_one_whole_version(tmp_path: Path) -> None:
    boxes = Boxes.create(tmp_path)
    places = [boxes.publish(word).readlink() for word in WORDS]
    link = boxes.publish(WORDS[0])

    def point(turn: int) -> None:
        """As publishing does: a new link in the old one's place."""
        aside = link.with_name(".turning")
        aside.symlink_to(places[turn % len(places)])
        os.replace(aside, link)
        time.sleep(PAUSE_S)

    server = server_of(boxes.home)
    with again_and_again(point):
        found = ask_at_once([server] * CLIENTS, boxes, rounds=1)

    assert len(found) == CLIENTS * len(CALLS)
    assert {*found} == {*WORDS}


@pytest.mark.slow
def test_every_answer_over_http_and_stdio_is_of_one_whole_version_while_builds_publish(tmp_path: Path) -> None:
    boxes = Boxes.create(tmp_path)
    boxes.publish(WORDS[0])

    with serving(boxes.home, tmp_path, "0") as address, again_and_again(lambda turn: boxes.publish(WORDS[turn % 2])):
        targets = [*[address] * (CLIENTS - 4), *[parameters(boxes.home, tmp_path)] * 4]
        found = ask_at_once(targets, boxes, rounds=10)

    assert len(found) == CLIENTS * 10 * len(CALLS)
    assert {*found} == {*WORDS}
