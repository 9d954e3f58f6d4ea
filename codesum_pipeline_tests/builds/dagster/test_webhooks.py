"""From a push that a host tells of to the run that is asked for, with polling once a day: all parts are real."""

import os
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.poll_state import marked_keys
from codesum_pipeline_tests.builds.dagster.test_dagster_dev import REFUND, RUN_S, found_by_search
from codesum_pipeline_tests.support.dagster_dev import dagster_dev
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.serving import served
from codesum_pipeline_tests.support.webhook_payloads import (
    SECRET,
    encoded,
    gitea_headers,
    gitea_push,
    github_headers,
    github_push,
    gitlab_headers,
    gitlab_push,
)

# Whoever asks a server by ssh gets it from a folder of this machine.
SSH = """#!/bin/sh
for last; do :; done
test "$1" = -G && exit 1
cd '{root}' && exec sh -c "$last"
"""
HOSTS = {
    "github": ("git@github.com:acme/shop.git", "acme/shop.git", github_push, github_headers),
    "gitlab": (
        "git@gitlab.example.org:acme/backend/shop.git",
        "acme/backend/shop.git",
        gitlab_push,
        lambda _: gitlab_headers(),
    ),
    "gitea": ("git@git.example.org:acme/shop.git", "acme/shop.git", gitea_push, gitea_headers),
}


@pytest.fixture
def push(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`push("acme/shop.git")`: a new commit of that repository at the host; its id."""
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH.format(root=tmp_path / "host"))
    ssh.chmod(0o700)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    work = GitRepo.create(tmp_path / "work", {"shop.py": "def sell():\n    return 1\n"})

    def commit(path: str, files: Mapping[str, str] | None = None) -> str:
        made = work.commit(files or {"shop.py": f"def sell():\n    return {time.monotonic_ns()}\n"})
        bare = tmp_path / "host" / path
        if not bare.exists():
            bare.mkdir(parents=True)
            work.git("init", "-q", "--bare", "-b", "main", str(bare))
        work.git("push", "-q", str(bare), "main")
        return made

    return commit


@pytest.fixture
def tick(home: Home, instance: dg.DagsterInstance) -> Callable[[str], list[str | None]]:
    """`tick("pushed_repositories")`: the keys that a sensor asks to be built."""
    definitions = build_defs({"home": home.settings.home})
    repository = definitions.get_repository_def()

    def evaluate(name: str) -> list[str | None]:
        with dg.build_sensor_context(
            instance=instance, repository_def=repository, resources=definitions.resources
        ) as context:
            result = repository.get_sensor_def(name)(context)
        assert isinstance(result, dg.SensorResult)
        return [request.partition_key for request in result.run_requests or []]

    return evaluate


@pytest.fixture
def address(home: Home, tmp_path: Path) -> Iterator[str]:
    """Where the server listens that hosts are told of."""
    home.layout.home.mkdir(parents=True, exist_ok=True)
    secrets = tmp_path / "secrets"
    secrets.touch(0o600)
    secrets.write_text(f"{SECRET}\n")
    with served(home.layout.home, tmp_path, "webhooks", "--port", "0", "--secret-file", str(secrets)) as found:
        yield found


def tell(address: str, body: bytes, headers: dict[str, str]) -> int:
    with urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=20) as answer:
        return int(answer.status)


def marks_of(home: Home) -> list[str]:
    """What is marked once something is."""
    for _ in range(200):
        if found := marked_keys(home.layout):
            return found
        time.sleep(0.05)
    return []


@pytest.mark.parametrize("kind", HOSTS)
@pytest.mark.slow
def test_a_push_that_a_host_tells_of_has_its_repository_built_and_no_other_looked_at(
    kind: str,
    home: Home,
    address: str,
    push: Callable[..., str],
    tick: Callable[[str], list[str | None]],
    tmp_path: Path,
) -> None:
    location, path, payload, headers = HOSTS[kind]
    make: Callable[..., dict[str, Any]] = payload
    commit = push(path)
    home.registry.add(RepositoryEntry("shop", location))
    home.registry.add(RepositoryEntry("other", f"git@other.example.org:{os.getpid()}.git"))
    assert tick("pushed_repositories") == []

    body = encoded(make(after=commit))
    assert tell(address, body, headers(body)) == 202

    assert marks_of(home) == ["shop"]
    assert tick("pushed_repositories") == ["shop"]
    assert marked_keys(home.layout) == []
    assert tick("pushed_repositories") == []


@pytest.mark.timeout(900)
@pytest.mark.slow
def test_what_was_pushed_is_found_by_search_though_polling_is_once_a_day(
    home: Home, address: str, push: Callable[..., str], tmp_path: Path, interruptible: None
) -> None:
    location, path, payload, headers = HOSTS["github"]
    (home.layout.home / "codesum.toml").write_text("[planner]\nsensor_interval_s = 5\npoll_interval_s = 86400\n")
    push(path)
    home.registry.add(RepositoryEntry("shop", location))
    with dagster_dev(home, tmp_path / "dagster.log") as dev:
        (first,) = dev.finished(1, timeout_s=RUN_S, dagster__partition="shop")
        assert first["status"] == "SUCCESS", dev.tail()

        body = encoded(payload(after=push(path, {"refunds.py": REFUND})))
        tell(address, body, headers(body))

        second, _ = dev.finished(2, timeout_s=RUN_S, dagster__partition="shop")
        assert second["status"] == "SUCCESS", dev.tail()

    assert "refunds.py::refund" in found_by_search(home, "give a customer the money back")
