"""Executors that give each step a process, or a machine, of its own are refused before they build anything."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.dagster.instance_file import ensure_dagster_home
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.builds.fleet.kubernetes_api import kubernetes_api
from codesum_pipeline_tests.support.commands import environment
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.services import Redis
from codesum_pipeline_tests.support.shop_home import FILES

pytestmark = pytest.mark.distributed


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home that processes of steps find, with one repository."""
    home = open_home(tmp_path / "home")
    home.registry.add(RepositoryEntry("shop", str(GitRepo.create(tmp_path / "shop", FILES).path)))
    monkeypatch.setenv("CODESUM_HOME", str(home.layout.home))
    monkeypatch.setenv("DAGSTER_HOME", str(home.layout.dagster_home))
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return home


def refusals(home: Home, job: Any, config: dict[str, Any]) -> list[str]:
    """What a run says that failed and materialised nothing."""
    with open_instance(home.layout) as instance:
        instance.add_dynamic_partitions("codesum_repos", ["shop"])
        done = dg.execute_job(
            dg.reconstructable(job),
            instance,
            run_config={"execution": {"config": config}},
            tags={"dagster/partition": "shop"},
        )
        kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
        events = [entry.get_dagster_event() for entry in instance.all_logs(done.run_id, of_type=kinds)]
        assert not instance.all_logs(done.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)
        return [str(event.event_specific_data) for event in events]


def job_with(executor: Any) -> dg.JobDefinition:
    """The assets under this executor."""
    from codesum_pipeline.builds.dagster.assets import ASSETS
    from codesum_pipeline.builds.dagster.resource import IN_MEMORY, BuildRequest, CodesumResource, RunHost

    definitions = dg.Definitions(
        assets=ASSETS,
        jobs=[dg.define_asset_job("steps_apart", executor_def=executor)],
        resources={
            "codesum": CodesumResource(host=RunHost(), duckdb=IN_MEMORY),
            "request": BuildRequest(),
            "io_manager": dg.FilesystemIOManager(),
        },
    )
    return definitions.resolve_job_def("steps_apart")


def celery_job() -> dg.JobDefinition:
    from dagster_celery import celery_executor

    return job_with(celery_executor)


def kubernetes_job() -> dg.JobDefinition:
    from dagster_k8s import k8s_job_executor

    return job_with(k8s_job_executor)


@pytest.fixture
def celery_worker(home: Home, redis: Redis, tmp_path: Path) -> Iterator[Path]:
    """Dagster's own worker, which carries out single steps; its log."""
    (tmp_path / "dagster_celery_config.py").write_text(f"broker_url = result_backend = {redis.url!r}\n")
    command = [sys.executable, "-m", "celery", "-A", "dagster_celery.app", "worker", "-Q", "dagster", "-c", "1"]
    path = f"{environment()['PYTHONPATH']}{os.pathsep}{tmp_path}"
    log = tmp_path / "worker.log"
    with log.open("wb") as output:
        worker = subprocess.Popen(
            command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, stderr=output, start_new_session=True
        )
    yield log
    worker.terminate()
    worker.wait()


def test_celerys_executor_is_refused(home: Home, redis: Redis, celery_worker: Path) -> None:
    found = refusals(home, celery_job, {"broker": redis.url, "backend": redis.url})

    # Dagster tells of the cause where the step was to be carried out.
    assert "Error executing resource_fn" in str(found)
    assert "use dagster.in_process_executor" in celery_worker.read_text()


def test_the_executor_of_kubernetes_is_refused(home: Home, tmp_path: Path) -> None:
    with kubernetes_api() as api:
        api.carry_out = True
        kubeconfig = str(api.kubeconfig(tmp_path / "kubeconfig"))
        where = {"load_incluster_config": False, "kubeconfig_file": kubeconfig}
        jobs = {"job_image": "codesum:1", "service_account_name": "codesum", "instance_config_map": "instance"}
        launcher = {"module": "dagster_k8s", "class": "K8sRunLauncher", "config": {**jobs, **where}}
        with (ensure_dagster_home(home.layout) / "dagster.yaml").open("a") as file:
            file.write(f"\nrun_launcher: {json.dumps(launcher)}\n")
        found = refusals(home, kubernetes_job, {"job_namespace": "fleet", **where})

    assert "use dagster.in_process_executor" in str(found)
