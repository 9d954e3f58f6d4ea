"""A repository of two functions, and a home with short prompts, for a small model that writes slowly."""

import json
from pathlib import Path
from typing import Any

from codesum_pipeline.answers.question_answering.question_store import STORE_FILE
from codesum_pipeline.foundation.data_model.model_call import LedgerRow
from codesum_pipeline.texts.llm.ledger_readings import every_attempt, rows_of_unfinished_builds
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

# As settings name the model: a server that has one takes any name.
MODEL = "openai/writer"
KEY = "shapes"
KEY_ENV = "SHAPES_PROVIDER_KEY"
FILES = {
    "README.md": "# Shapes\n\nThe areas of rectangles and circles, for plans of gardens.\n",
    "shapes.py": (
        "PI = 3.14159\n\n\n"
        "def area_of_circle(radius):\n    if radius < 0:\n"
        "        raise ValueError('a radius is not negative')\n    return PI * radius**2\n\n\n"
        "def area_of_rectangle(width, height):\n    if min(width, height) < 0:\n"
        "        raise ValueError('a side is not negative')\n    return width * height\n"
    ),
}
# Two functions, two files and the folder.
DOCUMENTS = 5
_UPPER = (
    '{{"summary": "Adds up the prices.", "business_intent": "To pay.", "keywords": ["price", "basket", "sum"], '
    '"responsibilities": []}}'
)
_FUNCTION = (
    '{{"purpose": "Adds up the prices.", "business_intent": "To pay.", "keywords": ["price", "basket", "sum"], '
    '"inputs": [], "returns": null, "side_effects": [], "invariants": null, '
    '"citations": [{{"field": "purpose", "start_line": 1, "end_line": 2}}]}}'
)
_SYSTEM = "You describe source code in {{language}}. You answer with one short JSON object, such as this one:\n\n{}\n"
# With an example even a very small model ends its answer. Its texts are too short to be repeated, which would be no
# answer.
SHORT_TEMPLATES = {
    "system/default.md": _SYSTEM.format(_UPPER),
    "system/function.md": _SYSTEM.format(_FUNCTION),
    "instruction/default.md": "{name}\n\n{body}\n\n{children}\n\nDescribe this {level} in one JSON object.\n",
}
# Without one it repeats itself until it may write no more.
ENDLESS_TEMPLATES = {**SHORT_TEMPLATES, "system/function.md": "You describe source code in {language} with JSON.\n"}
# An answer to a question that takes a while.
STORIES = {"system/ask.md": "You tell long stories. Each has a hundred sentences.\n"}
ANSWER_TOKENS = 400


class Shapes:
    """The repository and its home, below a folder."""

    def __init__(self, folder: Path, *, templates: dict[str, str] = SHORT_TEMPLATES) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.repo = GitRepo.create(folder / KEY, FILES)
        for name, text in templates.items():
            place = self.home / "prompts" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def set(self, *, echoed: str | None, usd: float = 0.0, **llm: Any) -> None:
        """Write codesum.toml: the model answers as `echoed` and costs `usd` per million tokens."""
        settings = {
            "enabled": True,
            "model": MODEL,
            "api_key_env": KEY_ENV,
            "form": "json_schema",
            "documented": True,
            "max_summaries_per_run": 100,
            "max_tokens": 300,
            "max_attempts": 1,
            "max_retries": 0,
            "concurrency": 1,
            "timeout_s": 300,
            **llm,
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        names = "" if echoed is None else f"{json.dumps(echoed)} = {json.dumps(MODEL)}"
        lines += [f"echoed_names = {{ {names} }}", f"prices = [{{ model = '{MODEL}', input = {usd}, output = {usd} }}]"]
        text = "\n".join(["[llm]", *lines, "[ask]", f"max_tokens = {ANSWER_TOKENS}", ""])
        (self.home / "codesum.toml").write_text(text)

    def attempts(self) -> list[LedgerRow]:
        """All calls so far, also of builds that ended before they wrote their table."""
        home = open_home(self.home)
        return every_attempt(home.workspace(KEY, run_id="reader").tables, home.layout.state(KEY), KEY)

    def questions(self) -> list[LedgerRow]:
        """All calls for questions so far."""
        return rows_of_unfinished_builds(self.home / STORE_FILE)
