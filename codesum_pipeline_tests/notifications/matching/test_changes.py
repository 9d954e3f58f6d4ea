"""One repository whose second commit changes a document in each way that there is; later builds change it further."""

import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.standing_question import ChangeKind, DocumentChange
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.publishing.publish import published_version, sweep_versions
from codesum_pipeline.notifications.matching.changed_documents import VersionComparison, compare_published
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

_PAY = '''"""Payments."""

LIMIT = 10


def charge(card, amount):
    """Charge a card once."""
    for attempt in range(3):
        if card.try_charge(amount):
            return attempt
    raise RuntimeError("declined")


def refund(card, amount):
    """Give money back."""
    for attempt in range(3):
        if card.try_refund(amount):
            return attempt
    raise RuntimeError("declined")
'''
_CART = '''class Cart:
    """What a customer wants."""

    def total(self, prices):
        """The price of all."""
        found = 0
        for item in self.items:
            found += prices[item]
        return found

    def add(self, item, count):
        """Put something in."""
        if count < 1:
            raise ValueError(count)
        self.items.extend([item] * count)
'''
_OLD = '''def checksum(text):
    """Add all characters up."""
    total = 0
    for character in text:
        total = (total + ord(character)) % 97
    return total
'''
BEFORE = {
    "README.md": "# Shop\n\nSells things.\n",
    "Dockerfile": "FROM python:3.11\n",
    "migrations/1.sql": "CREATE TABLE orders (id INTEGER);\n",
    "shop/pay.py": _PAY,
    "shop/cart.py": _CART,
    "shop/checks.py": _OLD,
    "shop/limits.py": "LIMIT = 10\n",
    "shop/leaving.py": "def leave(room):\n    for door in room.doors:\n        door.open()\n    return room\n",
    "tools/one.py": "def one(x):\n    for y in x:\n        print(y)\n    return x\n",
    "tools/two.py": "def two(x):\n    while x:\n        x.pop()\n    return x\n",
}
AFTER = {
    **BEFORE,
    "README.md": "# Shop\n\nSells things to people.\n",
    "Dockerfile": "FROM python:3.12\n",
    "migrations/1.sql": "CREATE TABLE orders (id INTEGER, paid BOOLEAN);\n",
    # `charge` changes, a comment moves `refund` down, and comments change nothing.
    "shop/pay.py": "# Money.\n" + _PAY.replace("range(3)", "range(5)", 1),
    "shop/cart.py": _CART.replace("class Cart", "class Basket"),
    "shop/sums/checks.py": _OLD,
    "shop/limits.py": "LIMIT = 20\n",
    "shop/coming.py": "def come(room):\n    for door in room.doors:\n        door.close()\n    return room\n",
    "helpers/one.py": BEFORE["tools/one.py"],
    "helpers/two.py": BEFORE["tools/two.py"],
}
for _path in ("shop/checks.py", "shop/leaving.py", "tools/one.py", "tools/two.py"):
    del AFTER[_path]


class Shop:
    """A repository, its home, and what is built of it."""

    def __init__(self, folder: Path) -> None:
        repo = folder / "shop"
        self.repo = GitRepo(repo) if repo.exists() else GitRepo.create(repo, BEFORE)
        self.folder = folder
        self.settings: dict[str, object] = {}

    @property
    def workspace(self) -> Workspace:
        home = open_home(self.folder / "home", **self.settings)
        return workspace_of(home, RepositoryEntry("shop", str(self.repo.path)))

    def build(self, files: Mapping[str, str | bytes] | None = None) -> Workspace:
        if files is not None:
            self.repo.commit_exactly(files)
        build(self.workspace)
        return self.workspace


def _compare(workspace: Workspace) -> VersionComparison:
    compared = compare_published(workspace)
    assert compared is not None
    return compared


def _kinds_of_changes(compared: VersionComparison) -> dict[str, ChangeKind]:
    return {change.document_id: change.kind for change in compared.changes}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Built and compared at its first commit, built at the second."""
    shop = Shop(tmp_path_factory.mktemp("changes"))
    first = _compare(shop.build())
    assert first.since is None and first.changes == ()
    first.keep()
    shop.build(AFTER)
    return shop


@pytest.fixture(scope="module")
def changes(shop: Shop) -> Mapping[str, DocumentChange]:
    return {change.document_id: change for change in _compare(shop.workspace).changes}


def test_nothing_is_told_before_something_is_published(tmp_path: Path) -> None:
    assert compare_published(Shop(tmp_path).workspace) is None


def test_each_change_is_told_once_and_by_the_innermost_document_that_says_it(
    changes: Mapping[str, DocumentChange],
) -> None:
    assert {id_: (change.kind, change.renamed_from) for id_, change in changes.items()} == {
        "README.md": (ChangeKind.CHANGED, None),
        "Dockerfile": (ChangeKind.CHANGED, None),
        "migrations/1.sql::orders": (ChangeKind.CHANGED, None),
        "shop/pay.py::charge": (ChangeKind.CHANGED, None),
        "shop/limits.py": (ChangeKind.CHANGED, None),
        "shop/coming.py": (ChangeKind.ADDED, None),
        "shop/coming.py::come": (ChangeKind.ADDED, None),
        "shop/leaving.py": (ChangeKind.REMOVED, None),
        "shop/leaving.py::leave": (ChangeKind.REMOVED, None),
        "shop/sums": (ChangeKind.ADDED, None),
        "shop/sums/checks.py": (ChangeKind.CHANGED, "shop/checks.py"),
        "shop/cart.py::Basket": (ChangeKind.CHANGED, "shop/cart.py::Cart"),
        "helpers": (ChangeKind.CHANGED, "tools"),
    }


def test_a_change_has_the_text_the_lines_and_the_blob_of_before_and_after(
    shop: Shop, changes: Mapping[str, DocumentChange]
) -> None:
    change = changes["shop/pay.py::charge"]
    before, after = change.before, change.after
    assert before is not None and after is not None
    assert (before.start_line, after.start_line) == (6, 7)
    assert (before.commit, after.commit) == (shop.repo.git("rev-parse", "HEAD~").strip(), _head(shop))
    assert before.blob == shop.repo.git("rev-parse", "HEAD~:shop/pay.py").strip()
    assert after.blob == shop.repo.git("rev-parse", "HEAD:shop/pay.py").strip()
    assert before.name == after.name == "charge" and after.summary.startswith("Charge a card once")
    assert before.content_hash != after.content_hash
    assert change.date == "2026-01-01T00:00:00Z"
    assert changes["shop/leaving.py::leave"].state.blob == shop.repo.git("rev-parse", "HEAD~:shop/leaving.py").strip()
    assert changes["helpers"].state.blob is None


def _head(shop: Shop) -> str:
    return shop.repo.git("rev-parse", "HEAD").strip()


@pytest.fixture(scope="module")
def first_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first")
    _compare(Shop(folder).build()).keep()
    return folder


@pytest.fixture
def later(first_build: Path) -> Iterator[Shop]:
    """Built at its first commit, and compared; as it was again afterwards, for the registry names its path."""
    kept = first_build.with_name(f"{first_build.name}-kept")
    if not kept.exists():
        shutil.copytree(first_build, kept, symlinks=True)
    yield Shop(first_build)
    shutil.rmtree(first_build)
    shutil.copytree(kept, first_build, symlinks=True)


def test_until_a_comparison_is_kept_the_same_changes_are_told_again(later: Shop) -> None:
    workspace = later.build({**BEFORE, "shop/limits.py": "LIMIT = 20\n"})
    first = _compare(workspace)
    assert _kinds_of_changes(first) == {"shop/limits.py": ChangeKind.CHANGED}
    # A build was killed before it kept its matches, and another commit came.
    both = _compare(later.build({**BEFORE, "shop/limits.py": "LIMIT = 30\n", "Dockerfile": "FROM scratch\n"}))
    assert _kinds_of_changes(both) == {"shop/limits.py": ChangeKind.CHANGED, "Dockerfile": ChangeKind.CHANGED}
    assert both.changes[1].before == first.changes[0].before
    both.keep()
    assert _kinds_of_changes(_compare(later.workspace)) == {}
    # Another branch, or a history that was rewritten, is a difference as any other.
    assert _kinds_of_changes(_compare(later.build(BEFORE))) == _kinds_of_changes(both)


def test_a_candidate_that_is_held_back_changed_nothing(later: Shop) -> None:
    later.repo.commit_exactly({**BEFORE, "shop/limits.py": "LIMIT = 20\n"})
    workspace = later.workspace
    build(workspace, until="index_candidate")
    present = published_version(workspace.layout, "shop")
    assert present is not None
    sweep_versions(workspace, present)
    assert _compare(workspace).changes == ()


def test_settings_that_show_or_hash_files_otherwise_change_no_document(later: Shop) -> None:
    later.settings = {"hash_policy": "raw", "skip_patterns": ["tools/*"]}
    assert _compare(later.build()).changes == ()


@pytest.mark.parametrize("spoil", ["{", '{"digest": 3}'], ids=["not-json", "other-fields"])
def test_a_baseline_that_cannot_be_read_is_told_and_begins_anew(
    later: Shop, caplog: pytest.LogCaptureFixture, spoil: str
) -> None:
    (later.workspace.layout.compared("shop") / "compared.json").write_text(spoil)
    assert _compare(later.workspace).since is None
    assert "changes count from this build on" in caplog.text


def test_a_purge_takes_the_baseline_along(later: Shop) -> None:
    home = open_home(later.folder / "home")
    home.purge("shop")
    assert not home.layout.compared("shop").exists()


@pytest.mark.parametrize(
    ("calls", "is_before", "has_moved"),
    [
        pytest.param(1, True, False, id="while-documents-are-held", marks=pytest.mark.slow),
        pytest.param(1, False, False, id="once-they-are-held", marks=pytest.mark.slow),
        pytest.param(2, True, False, id="before-the-baseline-moves"),
        pytest.param(2, False, True, id="once-it-has-moved", marks=pytest.mark.slow),
    ],
)
def test_a_kill_loses_no_change_and_leaves_nothing_behind(
    later: Shop, calls: int, is_before: bool, has_moved: bool
) -> None:
    workspace = later.build({**BEFORE, "shop/limits.py": "LIMIT = 20\n"})
    child = os.fork()
    if child == 0:
        _die_at_rename(calls, is_before=is_before)
        _compare(workspace).keep()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

    again = _compare(workspace)
    assert _kinds_of_changes(again) == ({} if has_moved else {"shop/limits.py": ChangeKind.CHANGED})
    again.keep()
    assert _kinds_of_changes(_compare(workspace)) == {}
    after = _compare(later.build({**BEFORE, "Dockerfile": "FROM scratch\n"}))
    assert _kinds_of_changes(after) == {"shop/limits.py": ChangeKind.CHANGED, "Dockerfile": ChangeKind.CHANGED}
    after.keep()
    folder = workspace.layout.compared("shop")
    assert sorted(path.name for path in folder.iterdir()) == sorted(["compared.json", f"{after.version.digest}.jsonl"])


def _die_at_rename(calls: int, *, is_before: bool) -> None:
    """This process is killed at its so manieth rename."""
    rename, left = os.replace, [calls]

    def replace(*arguments: str) -> None:
        left[0] -= 1
        if not left[0] and is_before:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(*arguments)
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = replace  # type: ignore[assignment]
