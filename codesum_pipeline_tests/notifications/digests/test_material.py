"""What a digest is written from, of real files and commits, and what is missing where these cannot be had."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import CitedPlace, DigestCitation
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.standing_question import IntentMatch
from codesum_pipeline.notifications.digests.change_sources import RepositorySource
from codesum_pipeline.notifications.digests.digest_items import ChangeNature, Item, items_of
from codesum_pipeline.notifications.digests.hunks import Hunk
from codesum_pipeline_tests.notifications.digests.changed_files import History
from codesum_pipeline_tests.notifications.digests.test_hunks import GITHUB_TOKEN

OLD = "import hmac\n\n\ndef sign(session):\n    return hmac.new(session)\n\n\ndef verify(cookie):\n    return cookie\n"
NEW = OLD.replace(
    "def sign(session):\n    return hmac.new(session)", "def sign(session, key):\n    return key.sign(session)"
)


@pytest.fixture(name="history")
def _history(tmp_path: Path) -> History:
    return History.create(tmp_path)


def one_change(history: History) -> tuple[IntentMatch, str, str]:
    """`sign` changed between two commits."""
    before, after = history.commit({"auth.py": OLD}, "start"), history.commit({"auth.py": NEW}, "Sign with a key (#7)")
    states = (history.state(commit, "auth.py", "sign", (4, 5)) for commit in (before, after))
    return history.match(*states), before, after


def test_an_item_has_its_citation_texts_lines_and_the_subjects_of_its_commits(history: History) -> None:
    match, _, after = one_change(history)

    assert items_of([[match]], history.sources) == [
        Item(
            citation=DigestCitation(
                document_id="auth.py::sign",
                name="sign",
                place=f"auth.py#L4-5@{after}",
                repository="shop",
                date="2026-11-20T09:00:00Z",
                source_name="acme/shop",
                score=0.8,
            ),
            change=match.change,
            before="Signs a session.",
            after="Signs a session.",
            hunk=Hunk(
                "-def sign(session):\n-    return hmac.new(session)\n"
                "+def sign(session, key):\n+    return key.sign(session)",
                added=2,
                removed=2,
            ),
            subjects=("Sign with a key (#7)",),
        )
    ]


def test_a_place_is_read_again_as_it_was_written(history: History) -> None:
    match, _, after = one_change(history)
    citation = items_of([[match]], history.sources)[0].citation

    assert CitedPlace.parse(citation.place) == CitedPlace("auth.py", after, 4, 5)


def test_what_is_gone_is_cited_where_it_last_was(history: History) -> None:
    before = history.commit({"auth.py": OLD})
    history.commit({"other.py": "x = 1\n"})
    item = items_of([[history.match(history.state(before, "auth.py", "sign", (4, 5)), None)]], history.sources)[0]

    assert item.citation.place == f"auth.py#L4-5@{before}"
    assert (item.happening, item.before, item.after) == (ChangeNature.REMOVED, "Signs a session.", None)


@pytest.mark.parametrize("how", ["no mirror", "no blob", "unknown repository", "an empty mirror", "no text"])
def test_an_item_goes_on_without_lines_where_they_cannot_be_read(history: History, tmp_path: Path, how: str) -> None:
    match, _, _ = one_change(history)
    change, sources = match.change, history.sources
    assert change.before and change.after
    if how == "no mirror":
        sources = {"shop": RepositorySource("acme/shop", tmp_path / "nothing.git")}
    elif how == "unknown repository":
        sources = {}
    elif how == "an empty mirror":
        empty = History.create(tmp_path, "empty")
        sources = {"shop": RepositorySource("acme/shop", empty.repo.path / ".git")}
    elif how == "no blob":
        change = replace(
            change, before=replace(change.before, blob="f" * 40), after=replace(change.after, commit="f" * 40)
        )
    else:
        commit = history.commit({"auth.py": b"\x00\xff\x00"}, "No text")
        change = replace(change, after=history.state(commit, "auth.py", "sign", (4, 5), blob=None))
    item = items_of([[replace(match, change=change)]], sources)[0]

    assert (item.hunk, item.before, item.after) == (None, "Signs a session.", "Signs a session.")
    assert item.citation.source_name == (None if how == "unknown repository" else "acme/shop")
    assert item.subjects == (("No text", "Sign with a key (#7)") if how == "no text" else ())


def test_the_lines_tell_which_of_a_files_commits_changed_a_function(history: History) -> None:
    before = history.commit({"auth.py": OLD}, "start")
    history.commit({"auth.py": NEW}, "Sign with a key")
    after = history.commit({"auth.py": NEW.replace("return cookie", "return bool(cookie)")}, "Verify says yes or no")
    sign = [history.state(commit, "auth.py", "sign", (4, 5)) for commit in (before, after)]
    verify = [history.state(commit, "auth.py", "verify", (8, 9)) for commit in (before, after)]
    file = [history.state(commit, "auth.py") for commit in (before, after)]
    groups = [[history.match(*sign)], [history.match(*verify)]]

    assert [item.subjects for item in items_of(groups, history.sources)] == [
        ("Sign with a key",),
        ("Verify says yes or no",),
    ]
    assert items_of([[history.match(*file)]], history.sources)[0].subjects == (
        "Verify says yes or no",
        "Sign with a key",
    )


def test_something_new_alone_has_the_subject_of_its_own_commit(history: History) -> None:
    history.commit({"auth.py": OLD}, "start")
    after = history.commit({"auth.py": OLD, "keys.py": "def load():\n    pass\n"}, "Load keys")
    item = items_of([[history.match(None, history.state(after, "keys.py", "load", (1, 2)))]], history.sources)[0]

    assert (item.happening, item.subjects) == (ChangeNature.ADDED, ("Load keys",))


def test_a_commit_without_its_parents_tells_nothing_of_files(history: History, tmp_path: Path) -> None:
    match, *_ = one_change(history)
    shallow = tmp_path / "shallow.git"
    history.repo.git("clone", "-q", "--bare", "--depth=1", f"file://{history.repo.path}", str(shallow))
    new = replace(match.change, before=None)
    sources = {"shop": RepositorySource("acme/shop", shallow)}
    found = items_of([[match]], sources) + items_of([[replace(match, change=new)]], sources)

    assert [item.subjects for item in found] == [(), ()]


def test_secrets_and_what_cannot_be_seen_are_nowhere_in_an_item(history: History) -> None:
    summary = f"Signs with {GITHUB_TOKEN}.\u202e\x1b[2J"
    before = history.commit({"auth.py": OLD})
    after = history.commit(
        {"auth.py": NEW.replace("import hmac", f'KEY = "{GITHUB_TOKEN}"')}, f"Use \u202e{GITHUB_TOKEN}"
    )
    match = history.match(history.state(before, "auth.py"), history.state(after, "auth.py", summary=summary))
    item = items_of([[match]], history.sources)[0]

    assert item.hunk is not None
    texts = "\n".join((item.after or "", item.hunk.text, *item.subjects))
    assert texts.count("«masked github-token»") == 3
    assert not {"\u202e", "\x1b"} & set(texts)
    assert GITHUB_TOKEN not in texts


def test_near_duplicates_are_one_item_with_the_best_first(history: History) -> None:
    match, *_ = one_change(history)
    change = match.change
    copies = [
        replace(match, change=replace(change, document_id=f"copy{n}.py::sign"), score=0.5 + n / 10) for n in range(5)
    ]
    item = items_of([[match, *copies]], history.sources)[0]

    assert item.citation.document_id == "copy4.py::sign"
    assert [each.document_id for each in item.alike] == [
        "auth.py::sign", "copy3.py::sign", "copy2.py::sign", "copy1.py::sign", "copy0.py::sign"
    ]  # fmt: skip
    assert item.documents == 6


def test_what_contains_a_changed_document_is_told_with_it(history: History) -> None:
    match, before, after = one_change(history)
    file = history.match(history.state(before, "auth.py"), history.state(after, "auth.py"), score=0.9)
    items = items_of([[file], [match]], history.sources)

    assert [(item.citation.document_id, item.parts) for item in items] == [("auth.py::sign", (file.change,))]


def test_what_is_in_something_new_is_told_with_it(history: History) -> None:
    history.commit({"auth.py": OLD})
    after = history.commit({"auth.py": OLD, "keys/load.py": "class Keys:\n    def load(self):\n        pass\n"})
    cls = history.match(None, history.state(after, "keys/load.py", "Keys", (1, 3)), level=Level.CLASS, score=0.4)
    method = history.match(None, history.state(after, "keys/load.py", "Keys.load", (2, 3)), score=0.9)
    file = history.match(None, history.state(after, "keys/load.py"), score=0.5)
    items = items_of([[method], [cls], [file]], history.sources)

    assert [(item.citation.document_id, set(item.parts)) for item in items] == [
        ("keys/load.py", {method.change, cls.change})
    ]


def test_a_moved_file_takes_what_did_not_change_in_it_along(history: History) -> None:
    before, after = history.commit({"auth.py": OLD}), history.commit({"lib/auth.py": NEW})
    file = history.match(history.state(before, "auth.py"), history.state(after, "lib/auth.py"))
    kept = history.match(
        history.state(before, "auth.py", "verify", (8, 9)), history.state(after, "lib/auth.py", "verify", (8, 9))
    )
    edited = history.match(
        history.state(before, "auth.py", "sign", (4, 5)), history.state(after, "lib/auth.py", "sign", (4, 5))
    )
    items = items_of([[file], [kept], [edited]], history.sources)

    assert [(item.citation.document_id, item.happening, item.parts) for item in items] == [
        ("lib/auth.py", ChangeNature.MOVED, (kept.change,)),
        ("lib/auth.py::sign", ChangeNature.MOVED, ()),
    ]


def test_a_text_that_alone_is_another_is_told_apart_from_changed_code(history: History) -> None:
    commit = history.commit({"auth.py": OLD})
    states = [history.state(commit, "auth.py", "sign", (4, 5), summary=text) for text in ("One.", "Two.")]
    item = items_of([[history.match(*states)]], history.sources)[0]

    assert (item.happening, item.hunk) == (ChangeNature.REWORDED, None)
