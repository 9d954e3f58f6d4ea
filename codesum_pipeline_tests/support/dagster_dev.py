"""A real `dagster dev`, webserver and daemon, driven over HTTP as the UI drives it."""

import contextlib
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil
import requests

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import JOB
from codesum_pipeline.builds.dagster.runs import MODULE
from codesum_pipeline_tests.support.commands import COMMAND, environment

T = TypeVar("T")
START_S = 240.0
REPOSITORY = {"repositoryLocationName": MODULE, "repositoryName": "__repository__"}

RUNS = """query($filter: RunsFilter) { runsOrError(filter: $filter) { __typename ... on Runs { results {
    runId status tags { key value } repositoryOrigin { repositoryLocationName repositoryName } } } } }"""

SENSORS = """query($selector: RepositorySelector!) { sensorsOrError(repositorySelector: $selector) {
    __typename ... on Sensors { results { name sensorState { status } } } } }"""

RUN_TAGS = """query { runTagKeysOrError { __typename ... on RunTagKeys { keys } } }"""

TICKS = """query($selector: InstigationSelector!) { instigationStateOrError(instigationSelector: $selector) {
    __typename ... on InstigationState { ticks { status skipReason logEvents { events { message } } } } } }"""

BACKFILL = """mutation($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""

BACKFILL_STATUS = """query($id: String!) { partitionBackfillOrError(backfillId: $id) {
    __typename ... on PartitionBackfill { status } } }"""

CANCEL_BACKFILL = """mutation($id: String!) { cancelPartitionBackfill(backfillId: $id) {
    __typename ... on PythonError { message } } }"""

REPEAT_BACKFILL = """mutation($params: ReexecutionParams!) { reexecutePartitionBackfill(reexecutionParams: $params) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""

LAUNCH = """mutation($params: ExecutionParams!) { launchRun(executionParams: $params) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
    ... on RunConfigValidationInvalid { errors { message } } } }"""


def launch_params(partition: str = "shop", config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What starts a run of one repository."""
    return {
        "selector": {**REPOSITORY, "jobName": JOB},
        "runConfigData": {"resources": {"codesum": {"config": dict(config or {})}}},
        "executionMetadata": {"tags": [{"key": "dagster/partition", "value": partition}]},
    }


@dataclass(frozen=True)
class DagsterDev:
    """The webserver at `url`, and the process that has started all others."""

    url: str
    log: Path
    process: "subprocess.Popen[bytes]"

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """The data that GraphQL answers; fails on an error."""
        answer = requests.post(f"{self.url}/graphql", json={"query": query, "variables": variables}, timeout=60).json()
        assert "errors" not in answer, answer["errors"]
        (found,) = answer["data"].values()
        return dict(found)

    def runs(self, **tags: str) -> list[dict[str, Any]]:
        """The runs with these tags, newest first; a tag's `__` stands for `/`."""
        wanted = [{"key": key.replace("__", "/"), "value": value} for key, value in tags.items()]
        return list(self.ask(RUNS, filter={"tags": wanted})["results"])

    def finished(self, count: int, *, timeout_s: float, **tags: str) -> list[dict[str, Any]]:
        """Wait until so many runs with these tags have ended."""

        def ended() -> list[dict[str, Any]] | None:
            runs = self.runs(**tags)
            done = [run for run in runs if run["status"] in ("SUCCESS", "FAILURE", "CANCELED")]
            return done if len(done) >= count else None

        return wait_for(
            ended, timeout_s=timeout_s, what=f"{count} finished runs with {tags}; the log ends\n{self.tail()}"
        )

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-3000:]


@contextmanager
def dagster_dev(home: Home, log: Path, *, env: Mapping[str, str] | None = None) -> Iterator[DagsterDev]:
    """Start the UI on a free port, as users do; its whole process tree is gone afterwards."""
    port = _free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*COMMAND, "--home", str(home.layout.home), "dev", "--port", str(port)],
            cwd=log.parent,
            env=environment(env),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    dev = DagsterDev(f"http://127.0.0.1:{port}", log, process)
    try:
        wait_for(lambda: _is_up(dev), timeout_s=START_S, what="dagster dev to start")
        yield dev
    finally:
        _end_tree(process)


def wait_for(look: Callable[[], T | None], *, timeout_s: float, what: str) -> T:
    """Look again and again until there is something."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"waited {timeout_s:.0f} s for {what}")


def _is_up(dev: DagsterDev) -> bool | None:
    assert dev.process.poll() is None, dev.tail()
    with contextlib.suppress(requests.RequestException):
        if requests.get(f"{dev.url}/server_info", timeout=5).ok:
            return bool(dev.ask(SENSORS, selector=REPOSITORY)["__typename"] == "Sensors")
    return None


def _end_tree(process: "subprocess.Popen[bytes]") -> None:
    """Kill all that a test has left."""
    tree = []
    if process.poll() is None:
        tree = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    for each in tree:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
