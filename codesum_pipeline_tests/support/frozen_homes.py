"""Homes as an earlier version left them: `python -m codesum_pipeline_tests.support.frozen_homes` makes them anew.

Each is the repository `till` with a home in which a model wrote every text, packed. They are made by the version whose
homes a test is about: run the command in a checkout of that version.
"""

import os
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from codesum_pipeline_tests.support.llm_server import ScriptedServer
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.till import TILL

_FOLDER = Path(__file__).parent / "frozen_homes_data"
KEY_ENV = "FROZEN_PROVIDER_KEY"
# By its name, what is set for a home: each has another form of answers in the keys of its texts.
HOMES: Mapping[str, tuple[str, ...]] = {
    "tool": ('model = "openai/gpt-4o-mini"',),
    "json_text": ('model = "openai/own"', 'prices = [{model = "openai/own", input = 0.0, output = 0.0}]'),
}


def settings_text(name: str, server: ScriptedServer) -> str:
    """The `codesum.toml` of a home, which leads to a server."""
    lines = (
        "enabled = true", f'api_base = "{server.base}"', f'api_key_env = "{KEY_ENV}"', "max_summaries_per_run = 1000",
        "documented = true", "tests = true", *HOMES[name],
    )  # fmt: skip
    return "[llm]\n" + "\n".join(lines) + "\n"


def thaw_home(name: str, folder: Path, server: ScriptedServer) -> Path:
    """Unpack a home and its repository into a folder; the home is returned."""
    with tarfile.open(_FOLDER / f"{name}.tar.xz") as packed:
        packed.extractall(folder, filter="tar")
    registry = folder / "home/repos.yaml"
    registry.write_text(registry.read_text().replace("/frozen/", f"{folder}/"))
    (folder / "home/codesum.toml").write_text(settings_text(name, server))
    return folder / "home"


def freeze_home(name: str) -> None:
    """Make a home and pack it."""
    from typer.testing import CliRunner

    from codesum_pipeline.ways_in.cli.cli_app import app

    os.environ[KEY_ENV] = "sk-frozen1234567890"
    with TemporaryDirectory() as place, ScriptedServer() as server:
        folder = Path(place)
        repo = GitRepo.create(folder / "till", TILL)
        (folder / "home").mkdir()
        (folder / "home/codesum.toml").write_text(settings_text(name, server))
        done = CliRunner().invoke(app, ["--home", str(folder / "home"), "index", str(repo.path)])
        if done.exit_code or not server.seen:
            sys.exit(f"{name}: {done.stderr}")
        registry = folder / "home/repos.yaml"
        registry.write_text(registry.read_text().replace(f"{folder}/", "/frozen/"))
        _FOLDER.mkdir(exist_ok=True)
        with tarfile.open(_FOLDER / f"{name}.tar.xz", "w:xz") as packed:
            packed.add(folder / "till", "till")
            packed.add(folder / "home", "home", filter=_without_dagster)


def _without_dagster(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Dagster's records hold nothing of texts, and absolute paths."""
    return None if entry.name.startswith("home/dagster/") else entry


if __name__ == "__main__":
    for each in HOMES:
        freeze_home(each)
