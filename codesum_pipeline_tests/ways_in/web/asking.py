"""Questions on the page: a home with a model on loopback, and the page's form as a browser sends it."""

import json
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from codesum_pipeline_tests.support.llm_requests import KEY, KEY_VARIABLE, MODEL
from codesum_pipeline_tests.support.llm_server import Behaviour, ModelRequest, ScriptedServer
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams
from codesum_pipeline_tests.ways_in.web.reading import Shown, get, shown
from codesum_pipeline_tests.ways_in.web.serving import serving

STREAM = "application/x-ndjson"
ANSWER = (
    "Animals are **fed** in `zoo/keeper.py:6-8`, as README.md:3 says.\n\n"
    "Digestion is at zoo/animals.py:26, and nothing at `zoo/animals.py:999`.\n"
)


@dataclass
class AskSite:
    """A server of pages, its home, and the model that it asks."""

    site: str
    home: Path
    model: ScriptedServer

    def token(self) -> str:
        fields = [each for tag, each in shown(get(self.site, "/ask").text).elements if tag == "input"]
        return next(each["value"] for each in fields if each.get("name") == "token")

    def post(self, question: str, headers: Mapping[str, str] | None = None, **fields: str) -> httpx.Response:
        data = {"question": question, "repo": "zoo", "token": fields.pop("token", None) or self.token(), **fields}
        return httpx.post(f"{self.site}/ask", data=data, headers=headers, timeout=120)

    def page(self, question: str, **fields: str) -> Shown:
        answer = self.post(question, **fields)
        assert answer.status_code == 200, answer.text
        return shown(answer.text)

    def stream(self, question: str) -> list[dict[str, str]]:
        answer = self.post(question, {"Accept": STREAM})
        assert answer.headers["content-type"].startswith(STREAM), answer.text
        return [json.loads(line) for line in answer.text.splitlines() if line]

    def turns(self) -> list[tuple[Any, ...]]:
        """Question, status and reason of each, newest first."""
        with closing(sqlite3.connect(self.home / "ask.sqlite", timeout=60)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'turns'").fetchone():
                return []
            return connection.execute(
                "SELECT question, status, reason FROM turns ORDER BY started_at DESC, rowid DESC"
            ).fetchall()

    def state_of(self, question: str, *, has_ended: bool = False) -> tuple[str, str | None]:
        """Status and reason, as soon as it was begun, or has an end."""
        for _ in range(600):
            for text, status, reason in self.turns():
                if text == question and (status != "streaming" or not has_ended):
                    return status, reason
            time.sleep(0.1)
        raise AssertionError(f"{question!r} came to no {'end' if has_ended else 'beginning'}: {self.turns()}")

    def end_of(self, question: str) -> tuple[str, str | None]:
        return self.state_of(question, has_ended=True)


def looks_first(then: Behaviour) -> Any:
    """A script: the model calls two tools, and then behaves so."""

    def script(request: ModelRequest) -> Behaviour:
        if any(message["role"] == "tool" for message in request.body["messages"]):
            return then
        return Streams(
            "Let me look.",
            [Calls("search", {"query": "who feeds", "repos": ["zoo"]}), Calls("read", {"ids": ["zoo/nowhere.py"]})],
        )

    return script


@contextmanager
def serve_ask_site(
    web_home: Path, folder: Path, *arguments: str, settings: str = "", cwd: Path | None = None
) -> Iterator[AskSite]:
    """The pages of a copy of a home, with a model that a test may script."""
    home = Path(shutil.copytree(web_home, folder / "home", symlinks=True))
    with ScriptedServer() as model:
        (home / "codesum.toml").write_text(
            f'{settings}\n[llm]\nenabled = true\nmodel = "{MODEL}"\napi_base = "{model.base}"\n'
            f'api_key_env = "{KEY_VARIABLE}"\nmax_retries = 0\ntimeout_s = 60.0\n'
        )
        with serving(home, cwd or folder, *arguments, env={KEY_VARIABLE: KEY}) as site:
            yield AskSite(site, home, model)
