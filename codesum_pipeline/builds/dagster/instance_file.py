"""The home's `dagster.yaml`: copied from the package once, and its engine kept as the settings say.

What the settings choose is in one marked block, and addresses in it are
names of environment variables: no secret is in the file, in a run's record or
in a message to a worker. All else in the file is the person's.
"""

import json
import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import codesum_pipeline
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.extras import way_to_install
from codesum_pipeline.foundation.settings.operation_settings import BROKER_VARIABLE, POSTGRES_VARIABLE, EngineSettings
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.locks import lock_exclusively

INSTANCE_FILE = "dagster.yaml"
OUTPUT = "compute_logs"
NO_LOGS = {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager", "config": {}}
LOCK = ".storage.lock"
_BEGIN = "# >>> Written by codesum from the settings of `engine`. Do not edit up to the closing line."
_END = "# <<< Written by codesum."
_BLOCK = re.compile(rf"\n?{re.escape(_BEGIN)}\n(?:(?!{re.escape(_BEGIN)}).)*?{re.escape(_END)}\n", re.DOTALL)
_MAX_RUNS = re.compile(r"(?m)^( +max_concurrent_runs:)[^\n]*$")


def ensure_dagster_home(layout: HomeLayout) -> Path:
    """Dagster's own folder in the home, with the package's `dagster.yaml` unless it has one."""
    folder = layout.dagster_home
    # Of a copy for readers it is a link to that of the machine's own copy, which may not be there yet.
    folder.resolve().mkdir(parents=True, exist_ok=True)
    if not (folder / INSTANCE_FILE).exists():
        with lock_exclusively(folder / LOCK):
            if not (folder / INSTANCE_FILE).exists():
                # In a wheel it lies in the package, in a checkout at the project's top.
                package = Path(codesum_pipeline.__file__).parent
                inside = package / INSTANCE_FILE
                packaged = inside if inside.exists() else package.parent / INSTANCE_FILE
                write_bytes_atomically(folder / INSTANCE_FILE, packaged.read_bytes())
    return folder.absolute()


def apply_engine(layout: HomeLayout, engine: EngineSettings, environ: Mapping[str, str] | None = None) -> None:
    """Bring the home's `dagster.yaml` to what the settings say of the engine.

    Raises `ConfigurationError` if a variable is missing, or where the file says the same in its own words.
    """
    check_variables(engine, os.environ if environ is None else environ)
    file = layout.dagster_home / INSTANCE_FILE
    if not file.exists() and engine == EngineSettings():
        return
    ensure_dagster_home(layout)
    if _with_engine(file, engine) is None:
        return
    with lock_exclusively(layout.dagster_home / LOCK):
        changed = _with_engine(file, engine)
        if changed is not None:
            write_bytes_atomically(file, changed.encode())


def check_variables(engine: EngineSettings, environ: Mapping[str, str]) -> None:
    """Raises `ConfigurationError` for an address that is needed and not there; what it holds is never shown."""
    needed = {
        POSTGRES_VARIABLE: (engine.storage == "postgres", "engine.storage = postgres", "postgresql://USER@HOST/NAME"),
        BROKER_VARIABLE: (engine.launcher == "celery", "engine.launcher = celery", "redis://HOST:6379/0"),
    }
    for variable, (is_needed, why, example) in needed.items():
        if is_needed and not environ.get(variable):
            raise ConfigurationError(f"{why}: set {variable} in the environment, such as {example}")
    if engine.launcher == "celery" and not environ[BROKER_VARIABLE].startswith(
        ("redis://", "rediss://", "sentinel://")
    ):
        raise ConfigurationError(f"{BROKER_VARIABLE} must begin with redis://, rediss:// or sentinel://")


def check_packages(engine: EngineSettings) -> None:
    """Raises `ConfigurationError` if what reads Dagster's records is not installed."""
    if engine.storage == "postgres" and find_spec("dagster_postgres") is None:
        extras = ("postgres",) if engine.launcher == "local" else (str(engine.launcher), "postgres")
        raise ConfigurationError(
            f"engine.storage = postgres: dagster-postgres is not installed: {way_to_install(*extras)}"
        )


def _with_engine(file: Path, engine: EngineSettings) -> str | None:
    """The file's new text; None if it says all that already."""
    text = file.read_text(encoding="utf-8")
    own = _BLOCK.sub("", text)
    block = engine_block(engine)
    written = _BLOCK.search(text)
    # A shell without the fleet's environment would take the home out of the fleet, and record where no one looks.
    for key, setting, default in (("storage", "storage", "sqlite"), ("run_launcher", "launcher", "local")):
        if written and _says(written[0], key) and key not in block and setting not in engine.model_fields_set:
            raise ConfigurationError(
                f"{file}: this home's engine.{setting} is not {default}, and the settings in use do not set "
                f"it: use the daemon's environment here, or set engine.{setting} = {default} to go back"
            )
    if _says(own, OUTPUT):
        block.pop(OUTPUT, None)
    for key in block:
        if _says(own, key):
            raise ConfigurationError(
                f"{file}: `{key}` is set there and by the settings of `engine`: remove one of the two"
            )
    if engine.max_concurrent_runs is not None:
        own, found = _MAX_RUNS.subn(rf"\1 {engine.max_concurrent_runs}", own, count=1)
        if not found:
            raise ConfigurationError(
                f"{file} has no line `max_concurrent_runs:` for engine.max_concurrent_runs: add it, or delete the file "
                "to get the package's"
            )
    lines = [f"{key}: {json.dumps(value)}\n" for key, value in block.items()]
    new = f"{own}\n{_BEGIN}\n{''.join(lines)}{_END}\n" if block else own
    return None if new == text else new


def _says(text: str, key: str) -> bool:
    return re.search(rf"(?m)^{key}:", text) is not None


def engine_block(engine: EngineSettings) -> dict[str, Any]:
    """The keys of `dagster.yaml` that the settings decide; nothing if they are Dagster's own defaults."""
    found: dict[str, Any] = {}
    if engine.storage == "postgres":
        place = {"module": "codesum_pipeline.builds.dagster.postgres", "class": "PostgresRecords"}
        found["storage"] = {"custom": {**place, "config": {"postgres_url": {"env": POSTGRES_VARIABLE}}}}
    if engine.launcher == "celery":
        found["run_launcher"] = {
            "module": "codesum_pipeline.builds.dagster.celery_runs",
            "class": "CeleryRuns",
            "config": {"broker": {"env": BROKER_VARIABLE}, "lost_after_s": engine.worker_lost_after_s},
        }
        # The pages of Dagster cannot show files of another machine: what a run prints is the output of its worker.
        found[OUTPUT] = NO_LOGS
    if engine.launcher == "k8s":
        jobs = engine.k8s
        config = {
            "job_namespace": jobs.namespace,
            "job_image": jobs.image,
            "service_account_name": jobs.service_account,
            "instance_config_map": jobs.instance_config_map,
            "load_incluster_config": jobs.kubeconfig is None,
            "kubeconfig_file": str(jobs.kubeconfig) if jobs.kubeconfig else None,
            "env_secrets": list(jobs.secrets),
            "env_config_maps": list(jobs.config_maps),
        }
        found["run_launcher"] = {"module": "dagster_k8s", "class": "K8sRunLauncher", "config": config}
    return found
