"""`codesum web` started in a checkout: its work tree is shown, and one that nobody indexed is indexed."""

import shutil
import time

import pytest
from msgspec.structs import replace
from starlette.requests import Request

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import BeingIndexed
from codesum_pipeline.ways_in.web.pages import Pages
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.zoo import FILES as ZOO
from codesum_pipeline_tests.ways_in.web.asking import serve_ask_site
from codesum_pipeline_tests.ways_in.web.reading import get, hits, page
from codesum_pipeline_tests.ways_in.web.serving import serving

IN_WORK = "is being indexed for the first time"


@pytest.fixture
def own_zoo(zoo_home, tmp_path):
    """A home of two repositories, and a clone of one of them that may be edited."""
    home = tmp_path / "home"
    shutil.copytree(zoo_home, home, symlinks=True)
    zoo = shutil.copytree(zoo_home.parent / "zoo", tmp_path / "zoo", symlinks=True)
    registry = home / "repos.yaml"
    registry.write_text(registry.read_text().replace(str(zoo_home.parent / "zoo"), str(zoo)))
    return home, GitRepo(zoo)


@pytest.mark.slow
def test_all_repositories_are_searched_and_that_of_the_folder_with_its_uncommitted_edits(own_zoo):
    home, zoo = own_zoo
    zoo.write(
        {"zoo/scales.py": 'def weigh_lion(lion):\n    """Weigh a lion on the brass scales."""\n    return lion.kg\n'}
    )

    with serving(home, zoo.path) as site:
        assert "zoo zoo/scales.py:1-3" in hits(site, q="weigh a lion on the brass scales")
        assert any(place.startswith("shop ") for place in hits(site, q="charge a card"))
        assert "with the work tree" in page(site, "/", q="weigh a lion").text
        assert IN_WORK not in page(site, "/").text


@pytest.mark.slow
def test_a_checkout_that_nobody_indexed_is_and_the_page_says_so_and_asks_again_until_it_is_there(tmp_path, zoo_home):
    zoo = GitRepo.create(tmp_path / "new", ZOO)
    home = tmp_path / "home"

    with serving(home, zoo.path) as site:
        start, found = get(site, "/"), get(site, "/", q="turn food into energy")
        assert (start.status_code, start.headers["refresh"]) == (200, "3")
        assert IN_WORK in start.text and "codesum index PATH" not in start.text
        assert (found.status_code, found.headers["refresh"]) == (503, "3")
        assert IN_WORK in found.text
        while "refresh" in (start := get(site, "/")).headers:
            time.sleep(0.3)
        assert IN_WORK not in start.text
        assert any("zoo/animals.py:" in place for place in hits(site, q="turn food into energy"))


def test_a_page_made_while_an_index_comes_to_be_is_loaded_again(zoo_home, tmp_path):
    new = GitRepo.create(tmp_path / "new", {})
    states = iter([BeingIndexed(f"new {IN_WORK}"), None])
    catalogue = replace(
        IndexCatalogue.of(load_settings({"home": zoo_home}, environ={})), first_index=lambda _: next(states)
    )

    start = Pages(catalogue, new.path).start(Request({"type": "http", "query_string": b""}))

    assert IN_WORK not in bytes(start.body).decode()
    assert start.headers["refresh"] == "3"


@pytest.mark.slow
def test_other_repositories_are_searched_while_that_of_the_folder_is_indexed(own_zoo, tmp_path):
    home, _ = own_zoo
    new = GitRepo.create(tmp_path / "new", {"a.py": "def ring():\n    bell()\n"})

    with serving(home, new.path) as site:
        found = page(site, "/", q="turn food into energy")
        assert "zoo/animals.py:" in found.text
        assert f"new {IN_WORK}" in found.text


@pytest.mark.slow
def test_a_question_is_about_all_repositories_and_that_of_the_folder_with_its_uncommitted_edits(own_zoo, tmp_path):
    home, zoo = own_zoo
    zoo.write({"zoo/scales.py": 'def weigh_lion(lion):\n    """Weigh a lion."""\n    return lion.kg\n'})
    asking = Streams("", [Calls("search", {"query": "weigh a lion", "excerpt": 3})])
    answering = Streams("See `zoo/scales.py:1-3` and `shop/orders.py:1`.")
    (tmp_path / "served").mkdir()

    with serve_ask_site(home, tmp_path / "served", cwd=zoo.path) as ask_site:
        ask_site.model.script = lambda request: answering if request.number > 1 else asking
        found = ask_site.page("how is a lion weighed?", repo="")

    results = [message for message in ask_site.model.seen[-1].body["messages"] if message["role"] == "tool"]
    assert "return lion.kg" in results[0]["content"]
    assert "/document?repo=zoo&id=zoo%2Fscales.py%3A1-3#L1" in found.links
    assert "/document?repo=shop&id=shop%2Forders.py%3A1#L1" in found.links
    assert "with the work tree" in found.text


@pytest.mark.slow
def test_from_elsewhere_hits_whose_files_were_edited_say_that_their_lines_may_be_others(own_zoo, tmp_path):
    home, zoo = own_zoo
    zoo.write({"zoo/keeper.py": "# moved\n" + (zoo.path / "zoo/keeper.py").read_text()})

    with serving(home, tmp_path) as site:
        edited = page(site, "/document", repo="zoo", id="zoo/keeper.py::feed").text
        search = page(site, "/", q="give food to an animal", repo="zoo").text
        other = page(site, "/document", repo="zoo", id="zoo/tickets.py::sell_ticket").text

    assert "changed since: its lines may be others" in edited and "changed since: its lines may be others" in search
    assert "zoo/tickets.py:19-22 changed" not in " ".join(other.split())
