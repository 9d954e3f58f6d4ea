"""A home whose second repository attacks whoever looks at it, and a server of its pages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.browsing import take_picture
from codesum_pipeline_tests.support.chromium import launch
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.zoo import FILES as ZOO
from codesum_pipeline_tests.ways_in.web.hostile import FILES as HOSTILE
from codesum_pipeline_tests.ways_in.web.serving import serving


@pytest.fixture(scope="session")
def web_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two indexed repositories, `evil` and `zoo`; of the second a commit is not indexed."""
    folder = tmp_path_factory.mktemp("web")
    home = open_home(folder / "home")
    for key, files in (("evil", HOSTILE), ("zoo", ZOO)):
        repository = GitRepo.create(folder / key, files)
        build(workspace_of(home, RepositoryEntry(key=key, location=str(repository.path))))
    repository.commit({"zoo/new.py": "NEW = 1\n"})
    return folder / "home"


@pytest.fixture(scope="session")
def site(web_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of that home."""
    with serving(web_home, tmp_path_factory.mktemp("standing")) as address:
        yield address


@pytest.fixture(scope="session")
def browser(playwright_driver: Any) -> Iterator[Any]:
    chromium = launch(playwright_driver)
    yield chromium
    chromium.close()


@pytest.fixture
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page of a new profile that reports no error of its scripts; a test may ask for another size or scheme."""
    context = browser.new_context(**getattr(request, "param", {}))
    context.set_default_timeout(60_000)
    found = context.new_page()
    errors: list[str] = []
    found.on("pageerror", lambda error: errors.append(str(error)))
    found.on("console", lambda message: errors.append(message.text) if "Content Security" in message.text else None)
    yield found
    take_picture(found, request.node.name)
    context.close()
    assert errors == []
