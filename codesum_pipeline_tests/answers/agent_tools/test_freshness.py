"""What answers say of the commit that they stand for, and of what changed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, MissingTable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, built_once, copy_built, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

FIRST = {
    "a.py": 'def one(x):\n    """Count up."""\n    y = x + 1\n    return y\n',
    "b.py": 'def two(x):\n    """Count down."""\n    y = x - 1\n    return y\n',
}
SECOND = {
    "a.py": 'def one(x):\n    """Count up by two."""\n    y = x + 2\n    return y\n',
    "c.py": 'def three(x):\n    """Halve it."""\n    y = x / 2\n    return y\n',
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory.mktemp("built"), FIRST, key="sums")


@pytest.fixture
def place(built: Path, tmp_path: Path):
    """A repository that is indexed, and ways to ask of it and to index it again."""

    class Place:
        repository = copy_built(built, tmp_path)
        home = open_home(tmp_path / "home")
        entry = RepositoryEntry(key="sums", location=str(repository.path))
        catalogue = IndexCatalogue.of(load_settings({"home": tmp_path / "home"}, environ={}))

        def index(self, run_id="run", until=None):
            build(workspace_of(self.home, self.entry, run_id=run_id), until=until)

        def ask(self, tool, /, *, folder=tmp_path, **arguments):
            return tools_by_name()[tool].ask(ToolContext(self.catalogue, folder), arguments)

    return Place()


def standing(page):
    (as_of,) = page.as_of
    return as_of


def test_every_answer_counts_the_commits_that_it_lacks(place):
    indexed = place.repository.git("rev-parse", "HEAD").strip()
    assert (standing(place.ask("search", query="count")).commit, standing(place.ask("status")).behind) == (indexed, 0)
    place.repository.commit(SECOND)
    place.repository.commit({"d.py": "x = 1\n"})

    calls = {
        "search": {"query": "count"},
        "grep": {"pattern": "one"},
        "read": {"ids": ["a.py"]},
        "graph": {"id": "one"},
        "overview": {},
        "status": {},
        "search_symbols": {"name": "one"},
        "get_symbol_info": {"id": "one"},
        "get_dependencies": {"path": "a.py"},
        "get_file_analysis": {"path": "a.py"},
        "watch_changes": {},
    }
    assert {name: standing(place.ask(name, **arguments)).behind for name, arguments in calls.items()} == dict.fromkeys(
        calls, 2
    )
    assert standing(place.ask("search", query="count")).commit == indexed
    assert str(standing(place.ask("status"))) == f"sums @ {indexed[:12]}, 2 commits behind HEAD"


def test_another_branch_is_told(place):
    place.repository.git("checkout", "-q", "-b", "other", "HEAD~1")
    place.repository.commit({"z.py": "z = 1\n"})

    assert str(standing(place.ask("status"))).endswith(
        "1 commit behind HEAD (HEAD lacks 1 of its commits: another branch)"
    )


def test_what_cannot_be_told_has_a_reason(place, tmp_path):
    place.repository.path.rename(tmp_path / "gone")

    as_of = standing(place.ask("search", query="count"))
    assert as_of.behind is None
    assert "does not exist" in as_of.note


def test_an_answer_after_a_publication_is_of_the_new_version(place):
    cursor = place.ask("search", query="count", limit=1).next
    commit = place.repository.commit(SECOND)
    place.index("second")

    assert standing(place.ask("read", ids=["c.py::three"])).commit == commit
    notes = place.ask("search", query="count", limit=1, cursor=cursor).notes
    assert any("sums was published anew, or its work tree changed, since the last part" in note for note in notes)


def changes(page):
    return {change.id: str(change.change) for change in page.changes}


def test_changes_since_a_cursor_are_those_of_later_publications(place):
    first = place.ask("watch_changes", limit=200)
    assert changes(first)["a.py::one"] == "new"
    assert changes(place.ask("watch_changes", cursor=first.next)) == {}
    place.repository.commit_exactly(SECOND)
    place.index("second")

    page = place.ask("watch_changes", cursor=first.next)
    found = changes(page)
    assert (found["a.py::one"], found["c.py::three"], found["b.py::two"]) == ("rewritten", "new", "removed")
    assert changes(place.ask("watch_changes", cursor=page.next)) == {}
    assert changes(place.ask("watch_changes")) == found
    assert changes(place.ask("status", changes=100)) == found


def test_changes_since_a_commit(place):
    before = place.repository.git("rev-parse", "HEAD").strip()
    place.repository.commit(SECOND)
    place.index("second")

    assert "c.py::three" in changes(place.ask("watch_changes", since=before[:10]))
    with pytest.raises(ConfigurationError, match=f"since 'abcdef': .* the last ones are: .*{before[:12]}"):
        place.ask("watch_changes", since="abcdef")


def test_what_a_build_wrote_and_did_not_publish_is_left_for_later(place):
    cursor = place.ask("watch_changes", limit=200).next
    place.repository.commit(SECOND)
    place.index("second", until="index_candidate")

    held = place.ask("watch_changes", cursor=cursor)
    assert changes(held) == {}
    place.index("third")
    assert changes(place.ask("watch_changes", cursor=held.next))["c.py::three"] == "new"


def test_a_home_without_an_index_names_the_command(tmp_path):
    repository = GitRepo.create(tmp_path / "checkout", FIRST)
    catalogue = IndexCatalogue.of(load_settings({"home": tmp_path / "empty"}, environ={}))

    for name, arguments in (("search", {"query": "count"}), ("read", {"ids": ["a.py"]}), ("overview", {})):
        with pytest.raises(MissingTable, match=f"run `codesum index {repository.path}`"):
            tools_by_name()[name].ask(ToolContext(catalogue, repository.path), arguments)
    page = tools_by_name()["status"].ask(ToolContext(catalogue, repository.path), {})
    assert "run `codesum index PATH|URL`" in page.text()


def test_a_damaged_index_is_named_and_the_others_answer(zoo_home, tmp_path):
    home = Path(shutil.copytree(zoo_home, tmp_path / "damaged", symlinks=True))
    catalogue = IndexCatalogue.of(load_settings({"home": home}, environ={}))
    link = home / "index_root/summary_index_function_level/zoo"
    manifest = (link.parent / link.readlink()) / "manifest.json"
    manifest.write_text("{")

    page = tools_by_name()["search"].ask(ToolContext(catalogue, tmp_path), {"query": "card"})
    assert {hit.repo for hit in page.hits} == {"shop"}
    assert any("left out: " in note and "manifest.json" in note for note in page.notes)
    states = {
        each.repo: each.state
        for each in tools_by_name()["status"].ask(ToolContext(catalogue, tmp_path), {}).repositories
    }
    assert states["zoo"].startswith("broken: ")
    assert states["shop"].startswith("at HEAD")


def test_in_a_checkout_its_own_repository_answers(zoo_home, catalogue):
    checkout = zoo_home.parent / "zoo"

    page = tools_by_name()["search"].ask(ToolContext(catalogue, checkout), {"query": "card food", "limit": 50})
    assert {hit.repo for hit in page.hits} == {"zoo"}
    assert tools_by_name()["overview"].ask(ToolContext(catalogue, checkout), {}).repo == "zoo"


_PROGRAM = """
import json, sys
from pathlib import Path
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
catalogue = IndexCatalogue.of(load_settings({"home": Path(sys.argv[1])}, environ={}))
for name, arguments in (("search", {"query": "feed"}), ("read", {"ids": ["digest"]}), ("graph", {"id": "digest"})):
    tools_by_name()[name].ask(ToolContext(catalogue, Path("/")), arguments)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_the_tools_import_nothing_heavy(zoo_home):
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(zoo_home)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )

    heavy = {"dagster", "duckdb", "litellm", "mcp", "networkx", "pandas", "pyarrow", "scipy", "torch", "tree_sitter"}
    assert heavy.intersection(json.loads(done.stdout)) == set()
