"""Becoming a process of Dagster: the UI with its daemon, one of the two, or a worker of the fleet."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import codesum_pipeline
from codesum_pipeline.builds.codesum_home.home_folders import layout_of_builds
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.control import opened_instance
from codesum_pipeline.builds.dagster.instance_file import ensure_dagster_home
from codesum_pipeline.builds.dagster.runs import MODULE
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.ways_in.dagster_ui.guarded_ui import UiOptions, guarded_command, served_hosts

# Where `codesum worker` lives; importing it imports Celery.
WORKER = "codesum_pipeline.builds.dagster.worker"


def start_ui(
    home: Home,
    *,
    host: str = "127.0.0.1",
    port: int = 3000,
    allowed: Sequence[str] = (),
    part: str = "dev",
) -> NoReturn:
    """Become the guarded `webserver`, the `daemon` or, as `dev`, both, on this home; `allowed` are more names of this
    machine."""
    options = UiOptions(sorted(served_hosts(host, allowed)), home.settings.serving)
    _become(home, ui_command(ensure_dagster_home(home.layout), options, host=host, port=port, part=part))


def start_worker(home: Home, *, processes: int) -> NoReturn:
    """Become a worker that carries out runs of this home's instance."""
    folder = layout_of_builds(home.layout).home
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--processes", str(processes), "--builds-in", str(folder.absolute())]
    _become(home, [sys.executable, "-P", "-W", "ignore", "-m", WORKER, *options])


def _become(home: Home, command: list[str]) -> NoReturn:
    with opened_instance(home):
        folder = ensure_dagster_home(home.layout)
    environment = ui_environment(home.layout, os.environ)
    # Dagster puts the folder it is started in before everything else on the import path.
    os.chdir(folder)
    os.execve(sys.executable, command, environment)


def ui_command(folder: Path, options: UiOptions, *, host: str, port: int, part: str = "dev") -> list[str]:
    """The command that opens the UI, or a part of it, from any folder."""
    loaded, served = ["-m", MODULE, "-d", str(folder)], ["-h", host, "-p", str(port)]
    arguments = ["run", *loaded] if part == "daemon" else [*loaded, *served]
    return [sys.executable, *guarded_command(part, options, arguments)]


def ui_environment(layout: HomeLayout, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of the UI and of every run that it starts."""
    package = str(Path(codesum_pipeline.__file__).parent.parent)
    path = [package, *environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {
        **environ,
        "CODESUM_HOME": layout.bucket.url if layout.bucket else str(layout.home.absolute()),
        "DAGSTER_HOME": str(layout.dagster_home.absolute()),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(folder for folder in path if folder)),
    }
