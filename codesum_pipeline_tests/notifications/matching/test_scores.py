"""The changes of one commit, held against intents."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.standing_question import DEFAULT_THRESHOLD, DocumentChange, Intent
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.notifications.matching import scores as matching_scores
from codesum_pipeline.notifications.matching.changed_documents import compare_published
from codesum_pipeline.notifications.matching.scores import ReadBlob, make_blob_reader, match_changes, score_changes
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

_README = """# Shop

Customers log in with a password. Passwords are hashed.

The shop sells things. Invoices are sent by post.
"""
_BODY = """    found = []
    for item in values:
        if item:
            found.append(item)
    return found
"""
_NAMES = "paint_wall render_page parse_date open_socket read_csv sort_rows draw_chart resize_image"
_BEFORE = {
    "README.md": _README,
    "CHANGELOG.md": "# Changes\n\n- First release.\n",
    "shop/old_login.py": f'def login_user(values):\n    """Log a user in with a password."""\n{_BODY}',
    "shop/misc.py": "\n\n".join(f"def {name}(values):\n{_BODY}" for name in _NAMES.split()),
}
_AFTER = {
    "README.md": _README.replace("by post", "by mail"),
    "CHANGELOG.md": "# Changes\n\n- Refunds of payments.\n- First release.\n",
    "shop/misc.py": _BEFORE["shop/misc.py"].replace("if item:", "if item is not None:", 1),
    "shop/refunds.py": (
        f'"""Refunds of payments."""\n\n\ndef refund_payment(values):\n    """Refund a payment."""\n{_BODY}\n\n'
        f'def refund_all_payments(values):\n    """Refund all payments of an order."""\n{_BODY}'
    ),
    "tests/test_refunds.py": f'def test_refund_payment(values):\n    """Refund a payment."""\n{_BODY}',
    "db/2_billing.sql": "ALTER TABLE billing ADD COLUMN refunded boolean;\n",
}


class Seen:
    """What changed, and all that matching needs."""

    def __init__(self, changes: tuple[DocumentChange, ...], index: PublishedIndex, embedder: Embedder, read: ReadBlob):
        self.changes, self.index, self.embedder, self.read = changes, index, embedder, read

    def matched(self, text: str, *, words_alone: bool = False, **fields: float | int | None) -> list[str]:
        intent = replace(Intent("asked", text, threshold=DEFAULT_THRESHOLD), **fields)  # type: ignore[arg-type]
        found = match_changes(self.changes, [intent], self.index, None if words_alone else self.embedder, self.read)
        return [each.change.document_id for each in found]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder = Path(tmp_path_factory.mktemp("scores"))
    repo = GitRepo.create(folder / "shop", _BEFORE)
    workspace = workspace_of(open_home(folder / "home"), RepositoryEntry("shop", str(repo.path)))
    build(workspace)
    first = compare_published(workspace)
    assert first is not None
    first.keep()
    repo.commit_exactly(_AFTER)
    build(workspace)
    compared = compare_published(workspace)
    assert compared is not None
    index = PublishedIndex.open(workspace.layout.published("shop"))
    with BlobReader(workspace.layout.mirror("shop")) as blobs:
        yield Seen(compared.changes, index, load_embedder("static"), make_blob_reader(blobs))


def test_what_an_intent_asks_about_is_matched_and_nothing_else(seen: Seen) -> None:
    assert seen.matched("anything that touches refunds of payments") == [
        "shop/refunds.py::refund_all_payments",
        "shop/refunds.py::refund_payment",
        "shop/refunds.py",
    ]
    assert seen.matched("kubernetes clusters") == []


def test_what_is_gone_is_matched_by_what_it_was(seen: Seen) -> None:
    assert seen.matched("login of users") == ["shop/old_login.py::login_user", "shop/old_login.py"]


def test_files_that_are_no_code_count(seen: Seen) -> None:
    assert seen.matched("billing") == ["db/2_billing.sql"]


def test_of_a_file_that_was_there_counts_what_changed(seen: Seen) -> None:
    scores = {text: _score(seen, text, "README.md") for text in ("password hashing", "mail")}
    assert scores["password hashing"] < 0.2 < scores["mail"]


def test_test_code_and_lists_of_changes_are_lowered_unless_they_are_asked_for(seen: Seen) -> None:
    assert _score(seen, "refunds of payments", "tests/test_refunds.py") < DEFAULT_THRESHOLD
    assert "tests/test_refunds.py" in seen.matched("tests of refunds")
    assert _score(seen, "refunds of payments", "CHANGELOG.md") < DEFAULT_THRESHOLD


def test_the_best_few_are_told_where_an_intent_has_no_threshold(seen: Seen) -> None:
    assert seen.matched("billing of payments", threshold=None, top_k=2) == [
        "db/2_billing.sql",
        "shop/refunds.py::refund_all_payments",
    ]


def test_without_vectors_words_are_compared(seen: Seen) -> None:
    assert seen.matched("billing", words_alone=True) == ["db/2_billing.sql"]
    assert seen.matched("kubernetes clusters", words_alone=True) == []


def test_a_score_depends_on_nothing_but_its_change_and_its_intent(seen: Seen) -> None:
    intents = [Intent(name, text, threshold=0.5) for name, text in (("a", "billing"), ("b", "how do we log in?"))]
    together = score_changes(seen.changes, intents, seen.index, seen.embedder, seen.read)
    for intent, of_intent in zip(intents, together, strict=True):
        for change, found in zip(seen.changes, of_intent, strict=True):
            assert score_changes([change], [intent], seen.index, seen.embedder, seen.read) == [[found]]
            assert found.score is not None and 0 <= found.score <= 1


def test_an_intent_that_says_nothing_matches_nothing(seen: Seen) -> None:
    assert seen.matched("what is new?") == []


def test_vectors_of_another_model_are_not_compared(seen: Seen) -> None:
    class Other:
        model_id, query_prompt = "another@000000000000", ""

    with pytest.raises(ConfigurationError, match="set embedder to 'static'"):
        match_changes(seen.changes, [Intent("a", "billing")], seen.index, Other(), seen.read)  # type: ignore[arg-type]


def _score(seen: Seen, text: str, id_: str) -> float:
    (found,) = score_changes(seen.changes, [Intent("a", text)], seen.index, seen.embedder, seen.read)
    return {each.change.document_id: each.score or 0.0 for each in found}[id_]


@pytest.mark.parametrize("at_once", [1, 2, 10_000])
def test_matches_are_the_same_however_many_changes_are_weighed_at_one_time(
    seen: Seen, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    usual = seen.matched("anything that touches refunds of payments")
    monkeypatch.setattr(matching_scores, "_AT_ONCE", at_once)

    assert seen.matched("anything that touches refunds of payments") == usual
