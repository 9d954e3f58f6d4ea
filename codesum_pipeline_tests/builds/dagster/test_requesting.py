"""`codesum retry`: runs that a person puts into the queue."""

import json
from collections.abc import Callable

import dagster as dg
import pytest
from typer.testing import CliRunner, Result

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import FINGERPRINT_TAG, JOB
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG
from codesum_pipeline.builds.dagster.runs import job_origin
from codesum_pipeline.ways_in.cli.cli_app import app
from codesum_pipeline_tests.support.repositories import GitRepo

Register = Callable[[str], GitRepo]


def retry(home: Home, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["--home", str(home.layout.home), "retry", *arguments], prog_name="codesum")


def ended(home: Home, key: str, status: dg.DagsterRunStatus, *, number: int = 1) -> None:
    """A run of a repository that the planner asked for."""
    with open_instance(home.layout) as instance:
        tags = {PARTITION_TAG: key, FINGERPRINT_TAG: "f1"}
        run_id = f"00000000-0000-0000-0000-{number:012d}"
        instance.add_run(
            dg.DagsterRun(job_name=JOB, run_id=run_id, tags=tags, status=status, remote_job_origin=job_origin())
        )


def queued(home: Home) -> list[str]:
    """The repositories whose runs wait in the queue."""
    with open_instance(home.layout) as instance:
        waiting = instance.get_runs(filters=dg.RunsFilter(statuses=[dg.DagsterRunStatus.QUEUED]))
        assert all(run.job_code_origin and FINGERPRINT_TAG not in run.tags for run in waiting)
        return sorted(run.tags[PARTITION_TAG] for run in waiting)


def test_a_repository_is_put_into_the_queue_and_built_by_nobody_here(register: Register, home: Home) -> None:
    register("shop")

    first, second = retry(home, "shop"), retry(home, "shop")

    assert first.exit_code == second.exit_code == 0
    assert first.stdout.startswith("shop: in the queue, as run ")
    assert "the queue waits for `codesum dev`" in first.stderr
    assert "shop: a run is in the queue or under way already" in second.stderr
    assert queued(home) == ["shop"]
    assert not home.layout.published("shop").is_symlink()


def test_what_was_put_into_the_queue_of_a_daemon_that_never_ran_is_in_the_status(
    register: Register, home: Home
) -> None:
    register("shop")
    retry(home, "shop")

    done = CliRunner().invoke(app, ["--home", str(home.layout.home), "status", "--json"], prog_name="codesum")

    run = json.loads(done.stdout.splitlines()[0])["run"]
    assert (run["is_queued"], run["started_by"]) == (True, "codesum retry")


def test_all_are_those_whose_last_run_failed_or_was_cancelled(register: Register, home: Home) -> None:
    ends = {
        "failed": dg.DagsterRunStatus.FAILURE,
        "stopped": dg.DagsterRunStatus.CANCELED,
        "fine": dg.DagsterRunStatus.SUCCESS,
        "runs": dg.DagsterRunStatus.STARTED,
        "off": dg.DagsterRunStatus.FAILURE,
    }
    for number, (key, status) in enumerate(ends.items()):
        register(key)
        ended(home, key, status, number=number)
    ended(home, "fine", dg.DagsterRunStatus.SUCCESS, number=10)
    home.registry.remove("off")

    done = retry(home, "--all", "--json")

    assert done.exit_code == 0
    assert queued(home) == ["failed", "stopped"]
    assert done.stdout.count('"run"') == 2


def test_where_nothing_failed_nothing_is_asked_for(register: Register, home: Home) -> None:
    register("shop")

    assert "no repository's last run failed or was cancelled" in retry(home, "--all").stderr
    assert queued(home) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param((), "name one repository, or --all", id="nothing named"),
        pytest.param(("shop", "--all"), "name one repository, or --all", id="both named"),
        pytest.param(("nope",), "nope", id="an unknown repository"),
        pytest.param(("off",), "`codesum add off` enables it", id="a disabled repository"),
    ],
)
def test_what_cannot_be_retried_is_said(register: Register, home: Home, arguments: tuple[str, ...], says: str) -> None:
    register("off")
    home.registry.remove("off")

    done = retry(home, *arguments)

    assert done.exit_code != 0
    assert says in " ".join(done.stderr.split())
