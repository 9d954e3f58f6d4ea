"""Organisations are registered, followed and forgotten from the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.store.object_storage.objects import open_objects
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline.ways_in.cli.commands.webhooks import registered_entries
from codesum_pipeline_tests.support.code_host import TOKEN, CodeHost, Repo, code_host


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[CodeHost]:
    """A host with five repositories that are wanted, and one that is archived."""
    monkeypatch.setenv("ACME_TOKEN", TOKEN)
    services = [Repo(number, f"acme/svc-{number}") for number in range(1, 6)]
    with code_host(*services, Repo(6, "acme/old", archived=True)) as found:
        yield found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def add(codesum, home, host, *more):
    return codesum(home, "org", "add", "gitea:acme", "--url", host.address, "--token-env", "ACME_TOKEN", *more)


def test_an_organisation_is_registered_and_its_repositories_come_and_are_retired(codesum, home, host):
    added = add(codesum, home, host)
    first = codesum(home, "org", "sync")
    del host.repos[1]
    second = codesum(home, "org", "sync")

    assert added.stdout == f"gitea:acme: registered, acme at {host.address}\nnext: codesum org sync gitea:acme\n"
    assert first.stdout.splitlines()[:2] == [
        "gitea:acme: 5 new, left out: 1 archived",
        "  new svc-1: https://git.example.org/acme/svc-1.git",
    ]
    assert second.stdout.splitlines() == [
        "gitea:acme: 1 retired, 4 as before, left out: 1 archived",
        "  retired svc-2: no longer listed by gitea:acme",
    ]
    row = next(line for line in codesum(home, "status").stdout.splitlines() if "svc-2" in line)
    assert "retired" in row
    listed = json.loads(codesum(home, "org", "list", "--json").stdout)
    assert (listed["name"], listed["enabled"], listed["retired"]) == ("gitea:acme", 4, 1)


def test_many_that_are_gone_are_named_and_held_until_that_is_confirmed(codesum, home, host):
    add(codesum, home, host)
    codesum(home, "org", "sync")
    del host.repos[:3]

    held = codesum(home, "org", "sync")
    sure = codesum(home, "org", "sync", "--yes")

    assert held.exit_code == 2
    assert "  held svc-1: no longer listed by gitea:acme" in held.stdout
    assert "nothing is retired: 3 of 5 would be retired, more than 20%" in held.stderr
    assert (sure.exit_code, sure.stdout.splitlines()[0]) == (
        0, "gitea:acme: 3 retired, 2 as before, left out: 1 archived",
    )  # fmt: skip


def test_a_preview_names_what_would_change(codesum, home, host):
    add(codesum, home, host, "--include", "svc-1")

    shown = codesum(home, "org", "sync", "--preview")

    assert "gitea:acme: 1 would be new, left out: 1 archived, 4 not included" in shown.stdout
    assert Registry(home / "repos.yaml").entries() == []


@pytest.mark.slow
def test_an_organisation_that_cannot_be_asked_keeps_no_other_from_it(codesum, home, host):
    add(codesum, home, host)
    codesum(home, "org", "add", "gitea:another", "--url", host.address, "--token-env", "ACME_TOKEN", "--name", "a")

    result = codesum(home, "org", "sync")

    assert result.exit_code == 2
    assert "a: http" in result.stderr
    assert "gitea:acme: 5 new" in result.stdout


@pytest.mark.slow
def test_a_forgotten_organisation_leaves_its_repositories(codesum, home, host):
    add(codesum, home, host)
    codesum(home, "org", "sync")

    assert codesum(home, "org", "remove", "gitea:acme").stdout == (
        "gitea:acme: forgotten; 5 repositories of it stay registered\n"
    )
    assert codesum(home, "org", "sync").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "acme"], "give HOST:OWNER, as github:acme"),
        (["add", "gitea:acme"], "gitea has no public server"),
        (["add", "github:acme", "--token-env", "ghp-x"], "the name of an environment variable"),
        (["sync"], "no organisation is registered"),
        (["remove", "github:acme"], "no organisation 'github:acme'; registered: there is none"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out(codesum, home, arguments, message):
    result = codesum(home, "org", *arguments)

    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_webhooks_are_not_received_without_a_secret(codesum, home, monkeypatch):
    monkeypatch.delenv("CODESUM_WEBHOOK_SECRET", raising=False)

    result = codesum(home, "webhooks")

    assert (result.exit_code, "no webhook secret" in result.stderr) == (2, True)


@pytest.mark.slow
def test_in_a_bucket_the_registry_is_followed_and_read_as_the_bucket_has_it(codesum, tmp_path, host, monkeypatch):
    url = f"memory://{tmp_path.name}/home"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
    add(codesum, url, host)
    assert codesum(url, "org", "sync").stdout.startswith("gitea:acme: 5 new")
    elsewhere = Home(load_settings({"home": url}, environ={"XDG_CACHE_HOME": str(tmp_path / "other")}))
    seen = [entry.key for entry in registered_entries(elsewhere)]

    del host.repos[0]
    assert codesum(url, "org", "sync").stdout.startswith("gitea:acme: 1 retired, 4 as before")

    assert seen == [f"svc-{number}" for number in range(1, 6)]
    assert b"no longer listed by gitea:acme" in open_objects(url).get("home/repos.yaml").data
