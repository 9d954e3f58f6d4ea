"""What intents would have matched in the last commits of a history with a merge, a move and a deletion."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.standing_question import Intent
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.notifications.matching.past_matches import PastMatches, past_matches
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

_CHARGE = '''def charge_card(cards):
    """Charge a card."""
    for card in cards:
        card.charge()
    return cards
'''
_PAINT = '''def paint_wall(walls):
    """Paint a wall."""
    for wall in walls:
        wall.paint()
    return walls
'''
_FIRST = {"pay.py": f"{_CHARGE}\n\n{_PAINT}", "pay_pb2.py": _CHARGE}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = Path(tmp_path_factory.mktemp("past"))
    repo = GitRepo.create(folder / "shop", _FIRST)
    repo.commit({"pay.py": _FIRST["pay.py"].replace("card.charge()", "card.charge(twice=False)")}, "Charge once")
    repo.commit({"pay.py": f"# All of it.\n{_CHARGE}\n\n{_PAINT}".replace("paint()", "paint(red=True)")}, "Red walls")
    repo.git("checkout", "-q", "-b", "side", "HEAD")
    repo.commit({"billing.sql": "ALTER TABLE bills ADD paid boolean;\n"}, "One")
    repo.commit({"billing.sql": "ALTER TABLE bills ADD paid boolean NOT NULL;\n"}, "Two")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge billing", "side")
    repo.git("mv", "pay.py", "money.py")
    repo.commit({}, "Move")
    repo.git("rm", "-q", "-r", "billing.sql", "pay_pb2.py")
    repo.commit({"money.py": _PAINT}, "No more money")
    workspace = workspace_of(open_home(folder / "home"), RepositoryEntry("shop", str(repo.path)))
    build(workspace)
    return workspace


def _look_back(workspace: Workspace, text: str, *, commits: int = 10) -> Sequence[PastMatches]:
    index = PublishedIndex.open(workspace.layout.published("shop"))
    intent = Intent("asked", text, threshold=0.75)
    return list(past_matches(workspace, intent, index, load_embedder("static"), commits=commits))


def _matched(found: Sequence[PastMatches]) -> Mapping[str, list[str]]:
    return {past.commit.subject: [match.change.document_id for match in past.matched] for past in found}


def test_each_commit_has_the_documents_that_it_changed_and_that_fit(workspace: Workspace) -> None:
    assert _matched(_look_back(workspace, "charging of cards")) == {
        "No more money": ["money.py::charge_card"],
        "Move": [],
        "Merge billing": [],
        "Red walls": ["pay.py::charge_card"],
        "Charge once": ["pay.py::charge_card"],
        "change": ["pay.py::charge_card"],
    }


def test_a_merge_is_what_it_brought(workspace: Workspace) -> None:
    assert _matched(_look_back(workspace, "billing"))["Merge billing"] == ["billing.sql"]


def test_a_moved_file_is_told_once_with_what_it_was_called(workspace: Workspace) -> None:
    (moved,) = (past for past in _look_back(workspace, "money") if past.commit.subject == "Move")
    (match, *_) = (*moved.matched, *moved.others)
    assert (match.change.document_id, match.change.renamed_from) == ("money.py", "pay.py")
    assert len(moved.matched) + len(moved.others) == 1


def test_as_many_commits_are_looked_at_as_are_asked_for_newest_first(workspace: Workspace) -> None:
    assert [*_matched(_look_back(workspace, "billing", commits=2))] == ["No more money", "Move"]


def test_what_is_not_indexed_is_not_matched(workspace: Workspace) -> None:
    matches = [match for past in _look_back(workspace, "charge") for match in (*past.matched, *past.others)]
    assert not any("pb2" in match.change.document_id for match in matches)


def test_looking_back_changes_nothing(workspace: Workspace) -> None:
    def files() -> dict[Path, int]:
        home = workspace.layout.home
        return {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}

    before = files()
    _look_back(workspace, "billing")
    assert files() == before
