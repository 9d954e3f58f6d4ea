"""A home with an indexed shop, a scripted model on loopback, and a way to ask."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.question_answering.calls import index_tools
from codesum_pipeline.answers.question_answering.question_store import STORE_FILE
from codesum_pipeline.answers.question_answering.session import AskedQuestion, MakeTools
from codesum_pipeline.answers.question_answering.turn import TurnAnswer
from codesum_pipeline.answers.question_answering.turn_events import Event
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.asking_shop import FILES
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.llm_requests import KEY, KEY_VARIABLE, MODEL
from codesum_pipeline_tests.support.llm_server import ScriptedServer
from codesum_pipeline_tests.support.repositories import GitRepo


@dataclass
class Shop:
    """An indexed shop, and the model that is asked about it."""

    home: Path
    server: ScriptedServer
    settings: dict[str, Any]
    heard: list[Event] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    make_tools: MakeTools = index_tools

    def question(
        self, text: str, *, repos: tuple[str, ...] = (), conversation: str | None = None, **settings: Any
    ) -> AskedQuestion:
        catalogue = IndexCatalogue.of(load_settings({"home": self.home, **merged(self.settings, settings)}, environ={}))
        return AskedQuestion(
            text=text,
            repos=repos,
            catalogue=catalogue,
            folder=self.home.parent,
            now=lambda: datetime.now(UTC),
            tell=self.notes.append,
            make_tools=self.make_tools,
            conversation=conversation,
        )

    def ask(self, text: str = "What is in this codebase?", **settings: Any) -> TurnAnswer:
        """The answer; `heard` has the events."""
        return asyncio.run(self.question(text, **settings).answer(self.heard.append))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.home / STORE_FILE)) as connection:
            return connection.execute(query).fetchall()

    def states(self) -> list[tuple[str, str, str | None]]:
        """Role, status and reason of each message, and of the turn, in their order."""
        messages = self.rows("SELECT role, status, reason FROM messages ORDER BY started_at, sequence")
        return [*messages, *self.rows("SELECT 'turn', status, reason FROM turns")]

    def kinds(self) -> list[str]:
        """The kinds of all parts in the order in which they were written."""
        return [kind for (kind,) in self.rows("SELECT kind FROM parts ORDER BY rowid")]

    def parts(self, kind: str) -> list[Any]:
        return [
            json.loads(row[0]) for row in self.rows(f"SELECT content FROM parts WHERE kind = '{kind}' ORDER BY rowid")
        ]

    def write_settings(self) -> None:
        """For the command line."""
        llm = "".join(f"{name} = {json.dumps(value)}\n" for name, value in self.settings["llm"].items())
        (self.home / "codesum.toml").write_text(f"[llm]\n{llm}")


def merged(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    found = dict(base)
    for name, value in more.items():
        found[name] = {**found.get(name, {}), **value} if isinstance(value, dict) else value
    return found


@pytest.fixture(scope="session")
def indexed_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    repository = GitRepo.create(folder / "repository", FILES)
    build(workspace_of(open_home(folder / "home"), RepositoryEntry(key="shop", location=str(repository.path))))
    return folder / "home"


@pytest.fixture
def shop(indexed_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    home = Path(shutil.copytree(indexed_shop, tmp_path / "home", symlinks=True))
    with ScriptedServer() as server:
        llm = {
            "enabled": True,
            "model": MODEL,
            "api_base": server.base,
            "api_key_env": KEY_VARIABLE,
            "timeout_s": 20.0,
            "max_retries": 0,
        }
        yield Shop(home, server, {"llm": llm})
