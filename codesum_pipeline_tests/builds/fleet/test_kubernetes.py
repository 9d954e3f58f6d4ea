"""Runs as Kubernetes jobs, against an API server on loopback."""

from pathlib import Path

import pytest
from dagster._core.launcher import WorkerStatus

from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.dagster.instance_file import apply_engine
from codesum_pipeline_tests.builds.fleet.kubernetes_api import kubernetes_api
from codesum_pipeline_tests.builds.fleet.starting import launched, new_run, started
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.services import Postgres

pytestmark = pytest.mark.distributed

PASSWORD = "correct-horse"


def test_a_run_is_one_job_that_is_watched_and_deleted_and_knows_no_password(
    tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESUM_POSTGRES_URL", postgres.url.replace("postgres:@", f"postgres:{PASSWORD}@"))
    with kubernetes_api() as api:
        kubernetes = {"image": "codesum:1", "namespace": "fleet", "secrets": ["codesum"]}
        where = {"kubeconfig": str(api.kubeconfig(tmp_path / "kubeconfig"))}
        engine = {"launcher": "k8s", "storage": "postgres", "k8s": {**kubernetes, **where}}
        home = open_home(tmp_path / "home", engine=engine)
        apply_engine(home.layout, home.settings.engine)

        with open_instance(home.layout) as instance:
            run = launched(instance, new_run(instance, "shop"))
            ((namespace, name),) = api.jobs
            (container,) = api.jobs[namespace, name]["spec"]["template"]["spec"]["containers"]
            running = instance.run_launcher.check_run_worker_health(started(instance, run))
            api.status = {"failed": 1}
            ended = instance.run_launcher.check_run_worker_health(started(instance, run))
            instance.run_launcher.terminate(run.run_id)

    assert namespace == "fleet"
    assert name == f"dagster-run-{run.run_id}"
    assert container["image"] == "codesum:1"
    assert container["args"][:3] == ["dagster", "api", "execute_run"]
    assert {"secretRef": {"name": "codesum"}} in container["envFrom"]
    assert PASSWORD not in str(container)
    assert PASSWORD not in (home.layout.dagster_home / "dagster.yaml").read_text()
    assert (running.status, ended.status) == (WorkerStatus.RUNNING, WorkerStatus.FAILED)
    assert api.jobs == {}
