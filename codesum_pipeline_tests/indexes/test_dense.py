from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders import static
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of, load_embedder
from codesum_pipeline.indexes.embedders.static import StaticEmbedder
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors
from codesum_pipeline.indexes.lanes.dense import embed_documents, matrix_of
from codesum_pipeline_tests.support.settings import DEFAULTS, changed
from codesum_pipeline_tests.support.synthetic_indexes import SHOP, Definition, make_index_workspace, write_tables


def vector_of(workspace: Workspace, id_: str, lane: str) -> list[float]:
    table = workspace.tables.read("vectors", workspace.key)
    rows = table.filter(pc.and_(pc.equal(table["id"], id_), pc.equal(table["lane"], lane)))
    vector: list[float] = rows["vector"].to_pylist()[0]
    return vector


def test_every_document_that_is_no_placeholder_gets_a_vector_per_lane(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)

    report = embed_documents(workspace)

    assert (report.rows, report.lanes) == (24, {"fused": 12, "summary": 12})
    assert "shop/auth.py::get_user" not in set(workspace.tables.read("vectors", "shop")["id"].to_pylist())


def test_a_vector_is_the_embedding_of_its_lanes_text(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    embed_documents(workspace)

    text = "add_item\nServes add_item.\nadd item. Put an article into the shopping cart."
    assert (
        vector_of(workspace, "shop/cart.py::add_item", "summary") == load_embedder("static").embed([text])[0].tolist()
    )


def test_an_unchanged_repository_embeds_nothing(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    first = embed_documents(workspace)

    again = embed_documents(workspace)

    assert again == replace(first, embedded=0, carried=24)


def test_where_every_text_stands_the_table_stands_and_a_forced_build_writes_it(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    first = embed_documents(workspace)
    file = workspace.tables.path("vectors", "shop")
    inode = file.stat().st_ino

    assert embed_documents(workspace).table_hash == first.table_hash
    assert file.stat().st_ino == inode
    assert embed_documents(replace(workspace, force=True)).embedded == first.embedded
    assert file.stat().st_ino != inode


def test_an_edit_embeds_the_texts_that_changed_and_gives_what_a_clean_build_gives(tmp_path: Path) -> None:
    edited = {
        **SHOP,
        "shop/cart.py": (SHOP["shop/cart.py"][0], Definition("total_price", "Sums.", "def total_price(): 1")),
    }
    workspace = make_index_workspace(tmp_path / "a")
    embed_documents(workspace)
    write_tables(workspace, edited)

    report = embed_documents(workspace)
    clean = make_index_workspace(tmp_path / "b", edited)

    # Both lanes of the function.
    assert (report.embedded, report.carried) == (2, 22)
    assert report.table_hash == embed_documents(clean).table_hash


def test_a_moved_function_keeps_the_vectors_whose_text_names_no_path(tmp_path: Path) -> None:
    moved = {**SHOP, "shop/basket.py": SHOP["shop/cart.py"]}
    workspace = make_index_workspace(tmp_path)
    embed_documents(workspace)
    before = vector_of(workspace, "shop/cart.py::add_item", "fused")
    write_tables(workspace, {path: definitions for path, definitions in moved.items() if path != "shop/cart.py"})

    report = embed_documents(workspace)

    assert vector_of(workspace, "shop/basket.py::add_item", "fused") == before
    # The file in both lanes; in its folder the names of its files changed.
    assert report.embedded == 3


def test_equal_texts_are_embedded_once(tmp_path: Path) -> None:
    twin = Definition("run", "Runs.", "def run(): go()")

    report = embed_documents(make_index_workspace(tmp_path, {"a.py": (twin,), "b.py": (twin,)}))

    assert (report.embedded, report.carried, report.rows) == (8, 2, 10)


def test_another_limit_of_the_summary_lane_embeds_that_lane_again(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    embed_documents(workspace)
    shorter = replace(workspace, settings=changed(DEFAULTS, summary_embed_max_tokens=8))

    assert embed_documents(shorter).embedded == 12


def test_a_long_summary_is_cut_and_name_and_intent_never(tmp_path: Path) -> None:
    wordy = Definition("calculate_everything_at_once", "Counts beans. " * 50, "def calculate_everything_at_once(): 1")
    head = "calculate_everything_at_once\nServes calculate_everything_at_once.\n"
    embedder = load_embedder("static")
    vectors = {}
    for limit in (1, 30):
        settings = changed(DEFAULTS, summary_embed_max_tokens=limit)
        workspace = make_index_workspace(tmp_path / str(limit), {"a.py": (wordy,)}, settings=settings)
        embed_documents(workspace)
        vectors[limit] = vector_of(workspace, "a.py::calculate_everything_at_once", "summary")

    assert vectors[1] == embedder.embed([head])[0].tolist()
    text = f"{head}calculate everything at once. {wordy.summary}"
    assert vectors[30] == embedder.embed([embedder.truncate(text, 30)])[0].tolist()


def test_a_repository_without_documents_has_no_vectors(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path, {})

    assert embed_documents(workspace).rows == 0
    assert matrix_of(workspace.tables.read("vectors", "shop"), 256).shape == (0, 256)


def test_progress_ends_at_the_number_of_embedded_texts(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    workspace = make_index_workspace(tmp_path)

    report = embed_documents(workspace, progress=lambda doing, done, total: seen.append((doing, done, total)))

    assert seen[0] == ("embedding texts", 0, report.embedded)
    assert seen[-1] == ("embedding texts", report.embedded, report.embedded)


def test_vectors_have_length_one(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    report = embed_documents(workspace)
    matrix = matrix_of(workspace.tables.read("vectors", "shop"), report.dimensions)

    assert np.linalg.norm(matrix, axis=1) == pytest.approx(np.ones(report.rows))


def test_a_text_that_cannot_be_cut_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No text is known that fails so: the model's method is replaced by one that raises for it, as a bug would."""
    settings = changed(DEFAULTS, summary_embed_max_tokens=8)
    count = StaticEmbedder.count_tokens

    def fails(embedder: StaticEmbedder, texts: Sequence[str]) -> list[int]:
        if any("Put an article" in text for text in texts):
            raise IndexError("injected")
        return count(embedder, texts)

    with monkeypatch.context() as patch:
        patch.setattr(StaticEmbedder, "count_tokens", fails)
        workspace = make_index_workspace(tmp_path / "home", settings=settings)
        report = embed_documents(workspace)
    healed = embed_documents(workspace)

    assert [failure.item for failure in report.failures] == ["shop/cart.py::add_item"]
    # Twelve texts in each of the two lanes; only those of `summary` are cut to a number of tokens.
    assert (report.embedded, healed.embedded) == (23, 1)
    assert healed.table_hash == embed_documents(make_index_workspace(tmp_path / "clean", settings=settings)).table_hash


def test_documents_that_share_a_text_fail_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = Definition("run", "Runs.", "def run(): go()")
    embed = StaticEmbedder.embed

    def fails(embedder: StaticEmbedder, texts: Sequence[str], **named: Any) -> Vectors:
        if any("go()" in text for text in texts):
            raise IndexError("injected")
        return embed(embedder, texts, **named)

    monkeypatch.setattr(StaticEmbedder, "embed", fails)
    report = embed_documents(make_index_workspace(tmp_path, {"a.py": (twin,), "b.py": (twin,)}))

    assert [failure.item for failure in report.failures] == ["a.py::run", "b.py::run"]


def test_where_every_text_fails_there_is_a_vector_of_zeros_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = StaticEmbedder.embed

    def fails(embedder: StaticEmbedder, texts: Sequence[str], **named: Any) -> Vectors:
        if [*texts] != ["text"]:
            raise IndexError("injected")
        return embed(embedder, texts, **named)

    monkeypatch.setattr(StaticEmbedder, "embed", fails)
    workspace = make_index_workspace(tmp_path)
    report = embed_documents(workspace)

    assert (report.failed, report.embedded, report.rows) == (12, 0, 24)
    assert not matrix_of(workspace.tables.read("vectors", "shop"), 256).any()


def test_progress_counts_no_text_twice_where_one_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    sums = static.unit_rows
    monkeypatch.setattr(static, "BATCH_SIZE", 4)
    calls = iter(range(1000))

    def fails(rows: Any) -> Vectors:
        if next(calls) == 5:
            raise IndexError("injected")
        return sums(rows)

    monkeypatch.setattr(static, "unit_rows", fails)
    report = embed_documents(make_index_workspace(tmp_path), progress=lambda _, done, __: seen.append(done))

    assert (report.failed, report.embedded, seen[-1], max(seen)) == (0, 24, 24, 24)


def test_a_text_on_which_the_tokenizer_panics_fails_alone(tmp_path: Path) -> None:
    """A real panic: a stride as long as the text is kept, which only words that the tokenizer is given meet."""
    long_word = Definition("odd", "Holds qwertyuiopasdfghjklzxcvbnmqwertyuiopasdfg.", "def odd(): 1")
    embedder = embedder_of(DEFAULTS)
    assert isinstance(embedder, StaticEmbedder)
    tokenizer = embedder._token_sums.tokenizer
    tokenizer.enable_truncation(max_length=1, stride=1)
    try:
        report = embed_documents(make_index_workspace(tmp_path, {**SHOP, "odd.py": (long_word,)}))
    finally:
        tokenizer.no_truncation()

    assert [failure.item for failure in report.failures] == ["odd.py::odd"]
    assert report.failures[0].reason.startswith("PanicException: `stride` must be strictly less")
    assert report.embedded == report.rows - 2
