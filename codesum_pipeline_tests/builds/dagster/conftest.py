"""Homes that Dagster runs work in: one built once for reading, and new ones for changing."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {
    "README.md": "# Shop\n\nSells <b>things</b>.\n",
    "shop/__init__.py": '"""The shop."""\n',
    "shop/cart.py": (
        '"""Carts."""\n\nfrom shop.prices import total\n\n\n'
        'class Cart:\n    """What a customer wants to buy."""\n\n'
        "    def __init__(self):\n        self.items = []\n\n"
        "    def checkout(self, discount):\n"
        '        """Return the sum to pay, or raise for an empty cart."""\n'
        "        if not self.items:\n            raise ValueError('empty')\n"
        "        return total(self.items) * (1 - discount)\n"
    ),
    "shop/prices.py": (
        '"""Prices."""\n\n\ndef total(items):\n    """Add up the prices of items."""\n'
        "    result = 0\n    for item in items:\n        result += item.price\n    return result\n"
    ),
    "logo.png": b"\x89PNG\r\n\x1a\n\x00\x00",
}


@pytest.fixture(scope="session")
def built_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home whose one repository, `shop`, was built once: for reading."""
    folder = tmp_path_factory.mktemp("built")
    home = open_home(folder / "home")
    _register(home, "shop", GitRepo.create(folder / "shop", FILES).path)
    (outcome,) = index_repositories(home, ["shop"])
    assert outcome.succeeded, outcome.message
    return home


@pytest.fixture
def copied_home(built_home: Home, tmp_path: Path) -> Home:
    """A copy of the built home: for breaking."""
    shutil.copytree(built_home.layout.home, tmp_path / "home", symlinks=True)
    return open_home(tmp_path / "home")


@pytest.fixture(scope="session")
def job_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository, `shop`, and with `home` and `instance` as the job leaves them that built it."""
    folder = tmp_path_factory.mktemp("job")
    home = open_home(folder / "home", lease_wait_s=0)
    _register(home, "shop", GitRepo.create(folder / "shop", FILES).path)
    (folder / "instance").mkdir()
    with dg.DagsterInstance.local_temp(str(folder / "instance")) as instance:
        assert _run_job(home, instance, "shop").success
    shutil.copytree(folder / "shop", folder / "shop as it was")
    return folder


@pytest.fixture
def built_shop(job_template: Path) -> GitRepo:
    """The repository of the template, as it was when it was built."""
    shutil.rmtree(job_template / "shop")
    return GitRepo(Path(shutil.copytree(job_template / "shop as it was", job_template / "shop")))


@pytest.fixture
def begin_with() -> Path | None:
    """The folder whose `home` and `instance` a test begins with copies of; None: with empty ones."""
    return None


@pytest.fixture
def home(tmp_path: Path, begin_with: Path | None) -> Home:
    """A home of this test, where a build does not wait for another."""
    if begin_with:
        shutil.copytree(begin_with / "home", tmp_path / "home", symlinks=True)
    return open_home(tmp_path / "home", lease_wait_s=0)


@pytest.fixture
def register(home: Home, git_repo: Callable[..., GitRepo]) -> Callable[..., GitRepo]:
    """`register("shop")`: a new repository in the registry of `home`."""

    def create(key: str) -> GitRepo:
        repo = git_repo(FILES, name=key)
        _register(home, key, repo.path)
        return repo

    return create


@pytest.fixture
def instance(tmp_path: Path, begin_with: Path | None) -> Iterator[dg.DagsterInstance]:
    """A Dagster instance of this test."""
    folder = tmp_path / "instance"
    if begin_with:
        shutil.copytree(begin_with / "instance", folder)
    else:
        folder.mkdir()
    with dg.DagsterInstance.local_temp(str(folder)) as temporary:
        yield temporary


@pytest.fixture
def run_job(home: Home, instance: dg.DagsterInstance) -> Callable[..., dg.ExecuteInProcessResult]:
    """`run_job("shop")`: the job on one partition, as Dagster runs it."""
    return lambda key, **options: _run_job(home, instance, key, **options)


@pytest.fixture
def look(home: Home, instance: dg.DagsterInstance) -> Callable[..., dg.SensorResult]:
    """`look(cursor=…)`: one evaluation of the sensor."""
    definitions = build_defs({"home": home.settings.home})
    repository = definitions.get_repository_def()

    def evaluate(*, cursor: str | None = None) -> dg.SensorResult:
        with dg.build_sensor_context(
            instance=instance, cursor=cursor, repository_def=repository, resources=definitions.resources
        ) as context:
            result = repository.get_sensor_def("repository_changes")(context)
        assert isinstance(result, dg.SensorResult)
        return result

    return evaluate


def with_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The config of a run that says these settings itself."""
    return {"resources": {"codesum": {"config": {"settings": settings}}}}


def _run_job(home: Home, instance: dg.DagsterInstance, key: str, **options: Any) -> dg.ExecuteInProcessResult:
    definitions = build_defs({"home": home.settings.home, "lease_wait_s": home.settings.lease_wait_s})
    instance.add_dynamic_partitions("codesum_repos", [key])
    job = definitions.resolve_job_def("index_repository")
    return job.execute_in_process(partition_key=key, instance=instance, raise_on_error=False, **options)


def _register(home: Home, key: str, path: Path) -> None:
    home.registry.add(RepositoryEntry(key=key, location=str(path)))
