"""A client that listens hears of edits in the work tree."""

from contextlib import closing

import anyio
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry, RepositoryScope
from codesum_pipeline.ways_in.mcp.mcp_server import make_server
from codesum_pipeline.ways_in.worktree_indexes.follower import Follower
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.mcp_client import catalogue_of, with_client
from codesum_pipeline_tests.support.repositories import GitRepo

DOOR = 'def open_door(door):\n    """Unlock the door of the shop."""\n    door.unlock()\n    return door\n'
FILE = "codesum://shop/src/door.py"
WHOLE = "codesum://shop/."
ANOTHER = "codesum://shop/src/other.py"


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path
    repo = GitRepo.create(folder / "shop", {"src/door.py": DOOR, "src/other.py": "OTHER = 1\n"})
    build(workspace_of(open_home(folder / "home"), RepositoryEntry("shop", str(repo.path))))
    return repo


@pytest.fixture
def catalogue(shop):
    home = shop.path.parent / "home"
    with closing(Follower(home)) as follower:
        yield replace(catalogue_of(home), follower=follower)


def heard(catalogue, shop, *uris, wanted):
    """What a client hears of these after an edit that was prepared."""
    prepared = []
    catalogue.follower.follow(shop.path, "prepared", lambda: prepared.append(1))

    async def talk(client):
        found = set()
        async with client.listen(resource_subscriptions=uris) as listening:
            while catalogue.follower.generation(shop.path) is None:
                await anyio.sleep(0.02)
            shop.write({"src/door.py": f"{DOOR}\nNUMBER = 1\n"})
            with anyio.move_on_after(60):
                while wanted and not found >= wanted:
                    found.add((await anext(listening)).uri)
            while not prepared:
                await anyio.sleep(0.02)
            # What else was told is there by then.
            with anyio.move_on_after(0.5):
                async for event in listening:
                    found.add(event.uri)
        return found

    return with_client(make_server(catalogue, folder=shop.path), talk)


@pytest.mark.slow
def test_of_the_file_and_of_the_repository_and_of_no_other_file(catalogue, shop):
    assert heard(catalogue, shop, FILE, WHOLE, ANOTHER, wanted={FILE, WHOLE}) == {FILE, WHOLE}


@pytest.mark.slow
def test_who_has_but_other_repositories_hears_nothing(catalogue, shop):
    limited = replace(catalogue, scopes=(RepositoryScope(("zoo",)),))
    # Followed because of somebody else.
    catalogue.follower.follow(shop.path, "shop", lambda: None)

    assert heard(limited, shop, FILE, WHOLE, wanted=set()) == set()
