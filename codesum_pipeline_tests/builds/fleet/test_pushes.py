"""From a push that a host tells of to what a search on another machine finds, in a fleet that polls once a day."""

import re
import subprocess
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.webhooks.push_events import VARIABLE
from codesum_pipeline_tests.builds.dagster.test_dagster_dev import REFUND
from codesum_pipeline_tests.builds.dagster.test_webhooks import SSH
from codesum_pipeline_tests.support.dagster_dev import wait_for
from codesum_pipeline_tests.support.fleet_workers import Fleet
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.webhook_payloads import SECRET, encoded, github_headers, github_push

pytestmark = pytest.mark.distributed

ONCE_A_DAY = {"CODESUM_PLANNER__POLL_INTERVAL_S": "86400"}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    """A clone whose `origin` is a host that is asked by ssh, as every process of the fleet asks it."""
    host = tmp_path / "host"
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH.format(root=host))
    ssh.chmod(0o700)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(host / "acme" / "shop.git")], check=True)
    repo = GitRepo.create(tmp_path / "work", {"shop.py": "def sell():\n    return 1\n"})
    repo.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    repo.git("push", "-q", "origin", "main")
    return repo


def test_what_was_pushed_is_built_by_a_worker_and_found_by_a_search_on_a_third_machine(
    bucket_fleet: Fleet, work: GitRepo, tmp_path: Path
) -> None:
    fleet = bucket_fleet
    fleet.extra = {**fleet.extra, **ONCE_A_DAY}
    Home(fleet.settings).registry.add(RepositoryEntry("shop", "git@github.com:acme/shop.git"))
    fleet.make_quick()
    fleet.start("daemon", "dev", "--only", "daemon")
    fleet.start("worker", "worker", extra={"XDG_CACHE_HOME": str(fleet.folder / "worker")})
    address = receiver(fleet)
    fleet.wait_until_built(["shop"], timeout_s=180)

    pushed = work.commit({"refunds.py": REFUND})
    work.git("push", "-q", "origin", "main")
    body = encoded(github_push(after=pushed))
    with urllib.request.urlopen(urllib.request.Request(address, body, github_headers(body)), timeout=20) as answer:
        assert answer.status == 202

    wait_for(lambda: len(fleet.runs()) == 2, timeout_s=120, what="a run of what was pushed")
    fleet.wait_until_built(["shop"], timeout_s=180)
    reader = replace(fleet, extra={**fleet.extra, "XDG_CACHE_HOME": str(tmp_path / "reader")})
    found = reader.call("search", "give a customer the money back")
    assert "refunds.py" in found
    assert [run.tags[PARTITION_TAG] for run in fleet.runs()] == ["shop", "shop"]


def receiver(fleet: Fleet) -> str:
    """The address of `codesum webhooks`, on the machine of the daemon."""
    log = fleet.start("webhooks", "webhooks", "--port", "0", extra={VARIABLE: SECRET}).log
    address = wait_for(lambda: re.search(r"http://\S+", log.read_text()), timeout_s=60, what="the address of webhooks")
    return address[0]
