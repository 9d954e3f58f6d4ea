"""What asks a model server on loopback for digests, with settings that can be changed before each."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings, ModelPrice
from codesum_pipeline.texts.llm.templates import TemplateKind, save_template_atomic
from codesum_pipeline_tests.support.llm_server import ScriptedServer
from codesum_pipeline_tests.support.llm_server.behaviours import Behaviour
from codesum_pipeline_tests.support.settings import changed

MODEL = "openai/reporter-1"
KEY_VARIABLE = "REPORTER_KEY"


def settings_for(server: ScriptedServer, folder: Path) -> Settings:
    """Those that lead to a server; the key is in `KEY_VARIABLE`."""
    llm = LlmSettings(
        enabled=True,
        model=MODEL,
        api_base=server.base,
        api_key_env=KEY_VARIABLE,
        prices=(ModelPrice(model=MODEL, input=1.0, output=2.0),),
        max_retries=2,
        timeout_s=20.0,
    )
    return Settings(home=folder, llm=llm)


@dataclass
class AskingModel:
    """Whoever asks: its folder has the books."""

    folder: Path
    server: ScriptedServer
    settings: Settings

    def set(self, **llm: Any) -> None:
        self.settings = changed(self.settings, llm=llm)

    def cap(self, **digests: Any) -> None:
        self.settings = changed(self.settings, digests=digests)

    def script(self, *behaviours: Behaviour) -> None:
        """The answers to the first requests; the last one is given to all further ones."""
        self.server.script = lambda request: behaviours[min(request.number, len(behaviours)) - 1]

    def save(self, kind: TemplateKind, name: str, text: str) -> None:
        save_template_atomic(self.prompts, kind, name, text)

    @property
    def prompts(self) -> Path:
        return self.settings.prompts_dir

    @property
    def books(self) -> Path:
        return self.folder / "digests.sqlite"

    def attempts(self) -> list[tuple[str, str, str, str]]:
        """What the books say of each: intent, digest, level, outcome."""
        with closing(sqlite3.connect(self.books)) as connection:
            found = connection.execute("SELECT id, run_id, level, outcome FROM llm_attempts ORDER BY sequence")
            return [tuple(row) for row in found]

    def outcomes(self) -> list[str]:
        return [outcome for *_, outcome in self.attempts()]
