"""What several threads of one process share gives each of them what it gives one alone."""

import json
import re
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import defstruct, to_builtins
from msgspec.structs import replace

import codesum_pipeline
from codesum_pipeline.answers.agent_tools.answering_sources import bring_mirror
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.worktree_indexes.follower import Follower
from codesum_pipeline.builds.steps.reuse import RecordingStore
from codesum_pipeline.evidence.author_texts import prose
from codesum_pipeline.foundation.data_model.decoding import convert, decode
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.operation_settings import ReadingSettings
from codesum_pipeline.foundation.store.object_storage.home_files import HomeFiles
from codesum_pipeline.foundation.store.object_storage.reading_copy import ReadingCopy
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.workspace import connect_in_memory
from codesum_pipeline.indexes.embedders import embedder_choice, static
from codesum_pipeline.languages.declarations.python.literals import literal_value
from codesum_pipeline.search.overviews.package_manifests.manifest import read_literals
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.git.git import find_object_id
from codesum_pipeline.ways_in.http_serving.audit_log import AuditLog, read_audit
from codesum_pipeline.ways_in.webhooks.push_events import RecentEntries
from codesum_pipeline_tests.support.homes import built_once, open_home
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.synthetic_indexes import make_index_workspace
from codesum_pipeline_tests.support.threads import at_once
from codesum_pipeline_tests.support.webhook_payloads import github_push
from codesum_pipeline_tests.ways_in.webhooks.test_matching import SHOP as SHOP_ENTRY
from codesum_pipeline_tests.ways_in.webhooks.test_matching import push_of

ROUNDS = 40
MARKDOWN = "# Tables\n\nA shop sells *things*.\n\n- one item of the list\n- another item\n\n> A quote.\n\n    code\n"


def test_connections_to_one_database_have_views_of_their_own(tmp_path: Path) -> None:
    """As the two threads of a build have them: one checks tables while the other shows them."""
    workspace = make_index_workspace(tmp_path)
    with connect_in_memory() as database:
        workspace = replace(workspace, new_connection=database.cursor)

        def count(_: int) -> list[int]:
            counts = []
            for _ in range(ROUNDS):
                with workspace.connect("documents", "symbols") as connection:
                    (row,) = connection.execute("SELECT count(*) FROM documents JOIN symbols USING (id)").fetchall()
                    counts.append(row[0])
            return counts

        assert {count for counts in at_once(count) for count in counts} == {count(0)[0]}
        assert database.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall() == []


def test_reads_of_several_threads_are_all_in_the_account_of_a_step(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    columns = TABLES["documents"].schema.names

    for _ in range(ROUNDS):
        tables = RecordingStore(workspace.tables.root)

        def read(number: int, tables: RecordingStore = tables) -> None:
            for name in columns[number::4]:
                tables.hash_read("documents", "shop", columns=[name])

        at_once(read)

        assert tables.reads() == {"documents": frozenset(columns)}


def test_a_type_is_learned_by_one_thread() -> None:
    """msgspec alone ends the process here."""
    for number in range(ROUNDS):
        part = defstruct(f"Part{number}", [("names", list[dict[str, int]]), ("other", list[str] | None)])
        whole = defstruct(f"Whole{number}", [("parts", list[part]), ("by_name", dict[str, part])])  # type: ignore[valid-type]
        value = {"parts": [{"names": [{"a": 1}], "other": None}], "by_name": {"b": {"names": [], "other": ["c"]}}}
        text = json.dumps(value)

        def read(thread: int, whole: type[Any] = whole, value: Any = value, text: str = text) -> Any:
            return to_builtins(decode(text, whole) if thread % 2 else convert(value, whole))

        assert at_once(read) == [value] * 4


def test_types_are_learned_in_one_place() -> None:
    package = Path(codesum_pipeline.__file__ or "").parent
    own = re.compile(
        r"from msgspec import .*\bconvert\b|msgspec\.convert|json\.decode\([^\n]*type=|json import .*decode"
    )
    places = {path.name for path in package.rglob("*.py") if own.search(path.read_text(encoding="utf-8"))}

    # The one that remains decodes no type of ours.
    assert places == {"decoding.py", "tables.py"}


def test_tokens_are_the_same_while_another_thread_begins_a_new_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "_CACHE_SIZE", 20)
    embedder = static.StaticEmbedder()
    texts = [" ".join(f"{letter}word{number}" for letter in "abcdefgh") * 5 for number in range(5 * ROUNDS)]
    alone = np.stack([embedder.embed_query(text) for text in texts])

    for vectors in at_once(lambda _: np.stack([embedder.embed_query(text) for text in texts])):
        assert np.array_equal(vectors, alone)


def test_an_embedder_is_made_once() -> None:
    embedder_choice.make_embedder.cache_clear()

    assert (
        len({id(embedder) for embedder in at_once(lambda _: embedder_choice.load_embedder("static"), threads=8)}) == 1
    )


def test_prose_that_is_read_first_by_several_threads_is_read_in_the_same_way() -> None:
    alone = list(prose.read_blocks(MARKDOWN))
    assert len(alone) > 3

    for _ in range(ROUNDS):
        prose._markdown.cache_clear()
        prose._markdown()
        assert at_once(lambda _: list(prose.read_blocks(MARKDOWN)), threads=8) == [alone] * 8


def test_literals_that_several_threads_read_are_those_of_their_texts() -> None:
    texts = [f'setup(name="{"x" * number}", packages=["a{number}", "b"])\n' * 50 for number in range(4)]

    def read(number: int) -> list[tuple[str, int, tuple[str, ...]]]:
        return [(found.text, found.line, found.under) for found in read_literals(texts[number], "python")]

    alone = [read(number) for number in range(4)]

    for _ in range(ROUNDS // 4):
        assert at_once(read) == alone


def test_warnings_are_shown_as_before_when_several_threads_have_read_literals() -> None:
    before = list(warnings.filters)

    for _ in range(ROUNDS):
        at_once(lambda number: [literal_value(f'"\\d{place} {number}"') for place in range(20)])

    assert list(warnings.filters) == before


def test_no_thread_goes_without_the_sources_that_another_one_fetches(tmp_path: Path) -> None:
    home = open_home(built_once(tmp_path, SHOP) / "home")
    home.layout.mirror("shop").rename(tmp_path / "mirror")
    index = PublishedIndex.open(home.layout.published("shop"))
    # The home as the copy of one in a bucket, for which each machine has mirrors of its own.
    folder = home.layout.home
    files = ReadingCopy(HomeFiles(f"memory://{tmp_path}", folder), folder, ReadingSettings(), is_offline=True)
    catalogue = IndexCatalogue(home.settings, replace(home.layout, files=files), home.registry)
    complaints: list[str] = []

    def commit_there(_: int) -> bool:
        bring_mirror(catalogue, index, tell=complaints.append)
        return bool(find_object_id(index.commit, git_dir=home.layout.mirror("shop"), timeout_s=60))

    assert at_once(commit_there) == [True] * 4
    assert complaints == []


def test_a_follower_is_closed_while_trees_come(tmp_path: Path) -> None:
    for number in range(ROUNDS):
        follower = Follower(tmp_path / "home")

        def follow_or_close(thread: int, follower: Follower = follower, number: int = number) -> None:
            if thread:
                for place in range(30):
                    follower.follow(tmp_path / f"{number}.{thread}.{place}", "shop", lambda: None)
            else:
                follower.close()

        at_once(follow_or_close)

        assert not [thread for thread in threading.enumerate() if thread.name == "follower"]


def test_lines_of_the_audit_log_are_written_when_it_is_closed_however_often_it_was(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, 10_000_000, 2)

    def write_or_close(thread: int) -> None:
        for number in range(10):
            if thread:
                log.write({"thread": thread, "number": number})
            else:
                log.close()

    for rounds in range(1, ROUNDS + 1):
        at_once(write_or_close)
        log.close()
        assert len(list(read_audit(tmp_path))) == 30 * rounds


def test_several_pushes_wait_for_one_reading_of_the_registry() -> None:
    reads: list[int] = []

    def read() -> list[RepositoryEntry]:
        reads.append(1)
        time.sleep(0.05)
        return [SHOP_ENTRY]

    recent = RecentEntries(read)

    assert at_once(lambda _: recent.of(push_of(github_push())), threads=8) == [[SHOP_ENTRY]] * 8
    assert len(reads) == 1
