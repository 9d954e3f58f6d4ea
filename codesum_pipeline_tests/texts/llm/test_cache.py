"""The cache of texts: found by document or by body, shared by processes, pruned by age of use and prompt version."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import WrittenText
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.texts.llm.text_cache import AnswerCache, CacheStats, KeptText
from codesum_pipeline_tests.support.commands import environment
from codesum_pipeline_tests.texts.llm.making import NOON, cache_in, noon
from codesum_pipeline_tests.texts.llm.test_ledger import CONTEXT, KEPT

OTHER_CONTEXT = replace(CONTEXT, calls=())


def kept(exact: str, body: str | None = "body", **changed) -> KeptText:
    return replace(KEPT, exact_key=exact, body_key=body, **changed)


def test_a_text_is_found_as_it_was_kept(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    bare = kept("bare", None, text=WrittenText("It does.", "For sums.", ("a",)), context=None)

    cache.put_many([KEPT, bare])

    assert cache.find_many([("exact", "body"), ("bare", None), ("missing", "missing")]) == {
        "exact": (KEPT,),
        "bare": (bare,),
    }


def test_the_same_body_elsewhere_is_found_once_per_context_after_the_documents_own(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    own = kept("moved", created_at="2026-03-09")
    old = kept("old", created_at="2026-03-01", context=OTHER_CONTEXT)
    young = kept("young", created_at="2026-03-05", context=OTHER_CONTEXT)
    same = kept("same", created_at="2026-03-02")

    cache.put_many([young, own, old, same])

    assert cache.find_many([("moved", "body"), ("new", "body")]) == {"moved": (own, old), "new": (old, same)}


def test_more_keys_than_one_statement_takes_are_found(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    many = [kept(f"k{number}", f"b{number}") for number in range(2_500)]

    cache.put_many(many)

    assert cache.find_many((each.exact_key, each.body_key) for each in many) == {
        each.exact_key: (each,) for each in many
    }


def test_keeping_the_same_again_changes_nothing(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)

    cache.put_many([KEPT])
    cache.put_many([KEPT])

    assert [each.texts for each in cache.stats()] == [1]


def test_a_cache_that_was_never_written_is_empty_and_stays_so(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)

    assert (cache.find_many([("exact", "body")]), cache.stats()) == ({}, [])
    assert not cache.path.exists()


def test_prompt_versions_and_models_stand_side_by_side(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    cache.put_many([kept("a"), kept("b", created_at="2026-03-05"), kept("c", model="n"), kept("d", prompt_version="q")])
    size = len(KEPT.row()[2].encode())

    assert cache.stats() == [
        CacheStats("blake3:p", "m", 2, 2 * size, 0.04, "2026-03-01T12:00:00.000Z", "2026-03-01"),
        CacheStats("blake3:p", "n", 1, size, 0.02, "2026-03-01T12:00:00.000Z", "2026-03-01"),
        CacheStats("q", "m", 1, size, 0.02, "2026-03-01T12:00:00.000Z", "2026-03-01"),
    ]


def test_what_is_in_use_is_not_pruned_for_its_age(tmp_path: Path) -> None:
    cache_in(tmp_path).put_many([kept("a", "a"), kept("b", "b")])
    later = cache_in(tmp_path, lambda: NOON + timedelta(days=40))
    later.touch([kept("b", "b")])

    assert later.prune(unused_for=timedelta(days=30)) == 1
    assert set(later.find_many([("a", "a"), ("b", "b")])) == {"b"}


def test_pruning_by_prompt_version_keeps_the_named_ones(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    cache.put_many([kept("a", prompt_version="1"), kept("b", prompt_version="2"), kept("c", prompt_version="3")])

    assert cache.prune(keep_prompt_versions=["1", "3"]) == 1
    assert [each.prompt_version for each in cache.stats()] == ["1", "3"]


def test_pruning_gives_the_space_back(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    long = replace(KEPT.text, summary="x" * 4_000)
    cache.put_many([kept(f"k{number}", text=long) for number in range(500)])

    before = cache.path.stat().st_size
    cache.prune(keep_prompt_versions=[])

    assert cache.path.stat().st_size < before / 10


def test_a_file_that_is_no_cache_is_named_with_a_way_out(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    cache.path.parent.mkdir()
    cache.path.write_bytes(b"no database" * 100)

    with pytest.raises(BrokenStore, match="answers.sqlite cannot be read .*: restore it, or delete the file"):
        cache.stats()


WRITE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from codesum_pipeline.texts.llm.text_cache import AnswerCache
from codesum_pipeline_tests.texts.llm.test_cache import kept
cache = AnswerCache(Path(sys.argv[1]), now=lambda: datetime(2026, 3, 1, tzinfo=UTC))
for number in range(30):
    cache.put_many([kept(f"{sys.argv[2]}-{number}"), kept(f"shared-{number}")])
"""


def test_processes_write_at_the_same_time_and_nothing_is_lost(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE, str(tmp_path)]
    writers = [subprocess.Popen([*command, name], env=environment()) for name in ("one", "two")]

    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    assert [each.texts for each in AnswerCache(tmp_path, now=noon).stats()] == [90]
