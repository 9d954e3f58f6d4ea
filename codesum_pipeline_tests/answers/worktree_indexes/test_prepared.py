"""While a server runs, an edit is indexed before the next call asks for it."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.answers.worktree_indexes import tree_builds
from codesum_pipeline.answers.worktree_indexes.follower import Follower
from codesum_pipeline.answers.worktree_indexes.settler import Settler
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

DOOR = 'def open_door(door):\n    """Unlock the door of the shop."""\n    door.unlock()\n    return door\n'
SCALES = 'def weigh(parcel):\n    """Weigh a parcel on the brass scales."""\n    return parcel.weigh()\n'


@pytest.fixture
def shop(tmp_path):
    repo = GitRepo.create(tmp_path / "shop", {"door.py": DOOR})
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path))))
    return repo


@pytest.fixture
def catalogue(tmp_path, shop):
    home = open_home(tmp_path / "home")
    with closing(Follower(home.layout.home)) as follower:
        yield IndexCatalogue(
            home.settings, home.layout, home.registry, settler=Settler(quiet_s=0.05), follower=follower
        )


def search(catalogue, shop):
    return tools_by_name()["search"].ask(ToolContext(catalogue, shop.path), {"query": "weigh a parcel"})


def wait_for(folder, ending):
    deadline = time.monotonic() + 60
    while not (found := list(folder.glob(f"[!.]*{ending}")) if folder.is_dir() else []):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


@pytest.mark.slow
def test_of_many_that_ask_at_once_and_the_one_that_prepares_one_indexes_the_edit(shop, catalogue, monkeypatch):
    built, build_overlay = [], tree_builds.build_overlay

    def counted(*arguments, **named):
        built.append(1)
        build_overlay(*arguments, **named)

    monkeypatch.setattr(tree_builds, "build_overlay", counted)
    search(catalogue, shop)
    while catalogue.follower.generation(shop.path) is None:
        time.sleep(0.01)
    shop.write({"scales.py": SCALES})
    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(lambda _: search(catalogue, shop), range(8)))

    assert {page.hits[0].id for page in pages} == {"scales.py::weigh"}
    assert built == [1]


def test_the_overlay_of_an_edit_and_then_the_settled_index_are_there_before_anybody_asks(shop, catalogue):
    overlays = catalogue.layout.overlays("shop")
    assert search(catalogue, shop).as_of[0].differ == 0
    while catalogue.follower.generation(shop.path) is None:
        time.sleep(0.01)

    shop.write({"scales.py": SCALES})

    (overlay,) = {path for path in wait_for(overlays, "") if not path.name.endswith("-settled")}
    (settled,) = wait_for(overlays, "-settled")
    assert settled.name == f"{overlay.name}-settled"
    page = search(catalogue, shop)
    assert page.hits[0].id == "scales.py::weigh"
    assert (page.as_of[0].differ, page.as_of[0].lags) == (1, "")
