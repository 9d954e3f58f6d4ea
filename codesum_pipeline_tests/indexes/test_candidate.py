import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import LONG_LINES
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.store import table_files, table_parts
from codesum_pipeline.foundation.store.rows import RowReader
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.file_formats.version_folder import PROVENANCE_FIELDS, Version, read_version
from codesum_pipeline.indexes.lanes.dense import embed_documents
from codesum_pipeline.indexes.lanes.lane_texts import with_name
from codesum_pipeline.indexes.lanes.sparse import index_terms
from codesum_pipeline.indexes.publishing.candidate import write_candidate
from codesum_pipeline.indexes.publishing.candidate_tables import read_candidate_tables
from codesum_pipeline_tests.support.sizes import LOW
from codesum_pipeline_tests.support.synthetic_indexes import SHOP, Definition, Files, make_index_workspace, write_tables

SEED_FILES = {
    "summary.jsonl", "dense/embeddings.pt", "dense/index_map.json", "bm25/index.npz", "bm25/vocab.json",
    "bm25/metadata.jsonl", "manifest.json",
}  # fmt: skip


def candidate_of(workspace: Workspace) -> Version:
    embed_documents(workspace)
    index_terms(workspace)
    return read_version(Path(write_candidate(workspace).folder))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Version:
    """A version of the shop, to look at."""
    return candidate_of(make_index_workspace(tmp_path_factory.mktemp("shop")))


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def documents_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "summary.jsonl").read_text().splitlines()]


def test_a_version_holds_the_known_layout_and_lanes_beside_it(shop: Version) -> None:
    names = set(files_in(shop.folder))

    assert names >= SEED_FILES
    assert names == {*shop.manifest["files"], "manifest.json"}
    assert shop.damaged_files(read_content=True) == []
    assert [path.name for path in shop.folder.parent.iterdir()] == [shop.digest]


def test_a_document_is_published_with_nested_context_and_provenance(shop: Version) -> None:
    documents = documents_in(shop.folder)

    document = next(document for document in documents if document["id"] == "shop/cart.py::add_item")
    shown = ("context", "type", "qualified_name", "is_placeholder", *PROVENANCE_FIELDS)
    assert document["hash"] == document["summary_hash"]
    assert {name: document[name] for name in shown} == {
        "context": {"called_by": [], "calls": []},
        "type": "function",
        "qualified_name": "add_item",
        "is_placeholder": False,
        "last_updated": "2026-01-01T00:00:00Z",
        "cause": "new",
        "cause_ids": [],
        "commit": "c" * 40,
        "run_id": "run-1",
    }
    assert len(documents) == 13


def cut_tables(monkeypatch: pytest.MonkeyPatch, modulus: int) -> None:
    """Cut even small tables into parts."""
    monkeypatch.setattr(table_parts, "_cuts", cache(table_parts._cuts.__wrapped__))
    for name, number in {"MODULUS": modulus, "LEAST_ROWS": 0, "LEAST_SOURCES": 0, "LEAST_PART_ROWS": 0}.items():
        monkeypatch.setattr(table_parts, name, number)


@pytest.mark.parametrize("modulus", [1, 3, table_parts.MODULUS, 0], ids="modulus {}".format)
def test_tables_that_are_read_in_many_parts_give_the_same_bytes(
    shop: Version, tmp_path: Path, modulus: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_GROUP_ROWS", "_GROUP_VECTORS"):
        monkeypatch.setattr(table_files, name, 2)
    cut_tables(monkeypatch, modulus)

    in_parts = candidate_of(make_index_workspace(tmp_path / "in parts"))

    assert files_in(in_parts.folder) == files_in(shop.folder)


def test_documents_are_ordered_by_level_then_id(shop: Version) -> None:
    documents = documents_in(shop.folder)

    levels = ["function", "class", "file", "module"]
    keys = [(levels.index(document["type"]), document["id"]) for document in documents]
    assert keys == sorted(keys)


@pytest.mark.slow
def test_row_k_of_the_embeddings_is_the_document_that_the_index_map_says(shop: Version) -> None:
    import torch

    folder = shop.folder
    embeddings = torch.load(folder / "dense/embeddings.pt", weights_only=True).numpy()
    index_map = json.loads((folder / "dense/index_map.json").read_text())
    documents = {document["id"]: document for document in documents_in(folder)}

    texts = []
    for document in (documents[id_] for id_ in index_map):
        summary = with_name(document["id"].replace("::", "/").rpartition("/")[2], document["summary"])
        texts.append(f"{document['qualified_name'] or document['file_path']}\n{document['business_intent']}\n{summary}")
    assert np.array_equal(embeddings, load_embedder("static").embed(texts))
    assert {id_ for id_ in documents if id_ not in index_map} == {"shop/auth.py::get_user"}


def test_the_manifest_has_every_field_and_null_where_no_llm_wrote(shop: Version) -> None:
    manifest = shop.manifest

    assert {name: manifest[name] for name in manifest if name.startswith(("summary_", "prompt_"))} == {
        "summary_levels": ["function", "class", "file", "module"],
        "summary_llm_provider": None,
        "summary_llm_model": None,
        "summary_llm_temperature": None,
        "summary_llm_seed": None,
        "prompt_template_hash": None,
    }
    wanted = {"schema_version", "base_strategy", "graph_version", "hash_policy", "lang_allowlist", "skip_patterns",
              "max_file_size_mb", "repo", "slug", "commit", "tree", "fingerprint", "embedder", "versions", "counts",
              "files", "content_digest"}  # fmt: skip
    assert manifest.keys() >= wanted
    assert manifest["base_strategy"] == "function_level"
    assert manifest["embedder"]["model_id"] == load_embedder("static").model_id
    assert manifest["counts"] == {
        "documents": 13,
        "levels": {"function": 5, "class": 1, "file": 4, "module": 3},
        "placeholders": 1,
        "vectors": 12,
    }


def test_two_homes_give_the_same_bytes(shop: Version, tmp_path: Path) -> None:
    there = candidate_of(make_index_workspace(tmp_path / "there"))

    assert there.digest == shop.digest
    assert files_in(there.folder) == files_in(shop.folder)


def test_an_incremental_build_gives_the_bytes_of_a_clean_one(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path / "a")
    candidate_of(workspace)
    edited: Files = {**SHOP, "shop/cart.py": (Definition("add_item", "Adds it.", "def add_item(): 1"),)}
    write_tables(workspace, edited)

    clean = candidate_of(make_index_workspace(tmp_path / "b", edited))

    assert files_in(candidate_of(workspace).folder) == files_in(clean.folder)


def test_files_that_an_edit_leaves_alone_are_the_last_versions_under_a_second_name(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path / "a")
    before = candidate_of(workspace)
    add_item, total_price = SHOP["shop/cart.py"]
    edited: Files = {**SHOP, "shop/cart.py": (replace(add_item, source="def add_item(): pass"), total_price)}
    write_tables(workspace, edited)

    after = candidate_of(workspace)

    clean = candidate_of(make_index_workspace(tmp_path / "b", edited))
    names = after.manifest["files"]
    assert {name for name in names if not (after.folder / name).samefile(before.folder / name)} == {
        "summary.jsonl", "documents/offsets.npy", "documents/shown.npz", "code/bm25.npz", "code/owners.npy",
        "code/passages.npy", "dense/fused.npy",
    }  # fmt: skip
    assert files_in(after.folder) == files_in(clean.folder)


def test_a_new_call_writes_the_callers_alone(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    before = candidate_of(workspace)
    add_item, total_price = SHOP["shop/cart.py"]
    calling = replace(total_price, calls=("shop/cart.py::add_item",))
    write_tables(workspace, {**SHOP, "shop/cart.py": (add_item, calling)})

    after = candidate_of(workspace)

    names = after.manifest["files"]
    assert {name for name in names if not (after.folder / name).samefile(before.folder / name)} == {
        "summary.jsonl", "documents/offsets.npy", "documents/callers.npz", "documents/constants.npz",
        "documents/uses.npz",
    }  # fmt: skip
    assert after.manifest["content_digest"] != before.manifest["content_digest"]


def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[frozenset[str], int]]:
    """The columns of each later look into rows of a table, and how many rows it was for."""
    found: list[tuple[frozenset[str], int]] = []
    read = RowReader.at

    def count(reader: RowReader, rows: npt.NDArray[np.int64]) -> pa.Table:
        found.append((frozenset(reader.empty.column_names), len(rows)))
        return read(reader, rows)

    monkeypatch.setattr(RowReader, "at", count)
    return found


@pytest.mark.parametrize("is_known", [True, False], ids=["last version known", "table parts unknown"])
def test_only_parts_of_tables_that_changed_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    cut_tables(monkeypatch, 1)
    workspace = make_index_workspace(tmp_path / "a")
    candidate_of(workspace)
    if not is_known:
        # As a version before this one left it.
        path = workspace.layout.memos("shop") / "index_candidate.parts.json"
        said = json.loads(path.read_bytes())
        assert said.pop("tables").keys() == {"documents", "terms", "vectors"}
        path.write_text(json.dumps(said))
    add_item, total_price = SHOP["shop/cart.py"]
    edited: Files = {**SHOP, "shop/cart.py": (replace(add_item, source="def add_item(): pass"), total_price)}
    write_tables(workspace, edited)
    embed_documents(workspace)
    index_terms(workspace)
    read = rows_read(monkeypatch)

    found = files_in(Path(write_candidate(workspace).folder))

    of_texts = [rows for columns, rows in read if {"tokens", "vector", "summary"} & columns]
    # The definitions of the edited file, once as documents, and in the lanes of code.
    assert max(of_texts) < 5 if is_known else max(of_texts) == 13
    assert found == files_in(candidate_of(make_index_workspace(tmp_path / "b", edited)).folder)


@pytest.mark.parametrize("modulus", [0, 1], ids="modulus {}".format)
@pytest.mark.parametrize("damaged", ["*.np?", "summary.jsonl", "*.pt"])
def test_nothing_of_a_damaged_file_is_in_the_next_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: str, modulus: int
) -> None:
    cut_tables(monkeypatch, modulus)
    workspace = make_index_workspace(tmp_path)
    paths = [*candidate_of(workspace).folder.rglob(damaged)]
    for path in paths:
        path.write_bytes(path.read_bytes()[:-4] + b"oops")
    edited: Files = {**SHOP, "shop/cart.py": (Definition("add_item", "Adds it.", "def add_item(): 1"),)}
    write_tables(workspace, edited)

    clean = candidate_of(make_index_workspace(tmp_path / "clean", edited))

    assert paths
    assert files_in(candidate_of(workspace).folder) == files_in(clean.folder)


def test_nothing_is_taken_over_where_what_rows_were_made_from_is_damaged(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    candidate_of(workspace)
    path = workspace.layout.memos("shop") / "index_candidate.rows.arrow"
    data = path.read_bytes()
    # Zeros in its middle, with which it could still be read.
    path.write_bytes(data[:1000] + bytes(len(data) - 2000) + data[-1000:])
    edited: Files = {**SHOP, "shop/cart.py": (Definition("add_item", "Adds it.", "def add_item(): 1"),)}
    write_tables(workspace, edited)

    clean = candidate_of(make_index_workspace(tmp_path / "clean", edited))

    assert files_in(candidate_of(workspace).folder) == files_in(clean.folder)


def test_an_edit_gives_the_same_bytes_where_everything_is_worked_on_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(f"    total += price * {number}\n" for number in range(LONG_LINES))
    long = Definition("pay", "Pays it.", f"def pay(price):\n    total = 0\n{lines}")
    before: Files = {**SHOP, "shop/till.py": (long,), "shop/other_till.py": (long,)}
    edited: Files = {**before, "shop/till.py": (replace(long, source=f"{long.source}    return total\n"),)}
    usual = candidate_of(make_index_workspace(tmp_path / "usual", edited))
    names = [name for name in LOW if name.startswith("indexes.")]
    for module, _, name in (each.partition(":") for each in names):
        monkeypatch.setattr(f"codesum_pipeline.{module}.{name}", LOW[f"{module}:{name}"])
    workspace = make_index_workspace(tmp_path / "one by one", before)
    candidate_of(workspace)
    write_tables(workspace, edited)

    found = files_in(candidate_of(workspace).folder)

    assert len(np.load(usual.folder / "code/owners.npy"))
    assert found == files_in(usual.folder)


def test_lists_of_documents_hold_no_nulls_which_are_hashed_as_nothing() -> None:
    lists = [one for one in TABLES["documents"].schema if pa.types.is_list(one.type)]

    assert {one.name for one in lists} > {"keywords", "calls", "citations"}
    assert not [one.name for one in lists if one.nullable or one.type.value_field.nullable]


def test_what_moves_from_the_end_of_a_list_to_the_next_list_is_another_line(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    rows = pa.table({"keywords": [["cart"], ["cart", "tax"]], "dependencies": [["tax"], []]})
    tables = read_candidate_tables(workspace, load_embedder("static"), None)

    one, other = tables.hash_rows(rows).to_pylist()

    assert one != other


NAMES = ["add_item", "get_user", "LoginHandler", "LoginHandler.authenticate", "total_price", "sum_up"]
DEFINITIONS = st.builds(
    Definition, st.sampled_from(NAMES), st.sampled_from(["Adds it.", "Sums up.", "Says who."]),
    st.sampled_from(["def f(): return 1", "def f(price, tax):\n return price * tax", "class A: ..."]), st.booleans(),
)  # fmt: skip
FILES = st.dictionaries(
    st.sampled_from(["a.py", "b/c.py", "b", "b.py", "z/y/x.py"]),
    st.lists(DEFINITIONS, max_size=4, unique_by=lambda one: one.name),
    max_size=4,
).filter(lambda files: not {"b", "b/c.py"} <= files.keys())


@pytest.mark.parametrize("modulus", [0, 1, 2], ids="modulus {}".format)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FILES, min_size=2, max_size=4))
def test_after_any_edits_a_version_has_the_bytes_of_one_that_is_made_anew(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, modulus: int, edits: list[Files]
) -> None:
    cut_tables(monkeypatch, modulus)
    folder = tmp_path_factory.mktemp("edited")
    workspace = make_index_workspace(folder / "a", edits[0])
    for files in edits:
        write_tables(workspace, files)
        version = candidate_of(workspace)

    clean = candidate_of(make_index_workspace(folder / "b", edits[-1]))

    assert files_in(version.folder) == files_in(clean.folder)


def test_provenance_changes_the_digest_and_not_the_content_digest(shop: Version, tmp_path: Path) -> None:
    other = candidate_of(make_index_workspace(tmp_path, run_id="run-2-longer"))

    assert other.digest != shop.digest
    assert other.manifest["content_digest"] == shop.manifest["content_digest"]


def test_another_text_changes_the_content_digest(shop: Version, tmp_path: Path) -> None:
    edited: Files = {**SHOP, "README.md": (Definition("note", "A note.", "x"),)}
    other = candidate_of(make_index_workspace(tmp_path, edited))

    assert other.manifest["content_digest"] != shop.manifest["content_digest"]


def test_importance_is_a_documents_pagerank_and_that_of_all_below_it(shop: Version) -> None:
    folder = shop.folder
    with np.load(folder / "documents/arrays.npz") as arrays:
        importance = dict(zip((d["id"] for d in documents_in(folder)), arrays["importance"].tolist(), strict=True))

    assert {id_: value for id_, value in importance.items() if value} == {
        "shop/auth.py::LoginHandler::authenticate": 0.2,
        "shop/auth.py::LoginHandler": 0.2,
        "shop/auth.py": 0.2,
        "shop": 0.2,
        ".": 0.2,
    }


ONLY_PLACEHOLDERS: Files = {"a.py": (Definition("get_x", "", "", is_placeholder=True),)}


@pytest.mark.parametrize("files", [{}, {"a.py": ()}, ONLY_PLACEHOLDERS], ids=["no files", "no symbols", "placeholders"])
def test_small_repositories_give_a_whole_version(tmp_path: Path, files: Files) -> None:
    import torch

    version = candidate_of(make_index_workspace(tmp_path, files))

    embeddings = torch.load(version.folder / "dense/embeddings.pt", weights_only=True)
    assert embeddings.shape == (version.manifest["counts"]["vectors"], 256)
    assert version.damaged_files(read_content=True) == []


def test_a_document_without_a_vector_is_an_error_and_leaves_nothing_behind(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    embed_documents(workspace)
    index_terms(workspace)
    write_tables(workspace, {**SHOP, "new.py": ()})

    with pytest.raises(BrokenStore, match="lane 'fused' has 12 rows for 13 documents"):
        write_candidate(workspace)
    assert not workspace.layout.versions("shop").exists() or not list(workspace.layout.versions("shop").iterdir())


def test_a_damaged_version_is_replaced_by_a_build_that_gives_the_same(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    version = candidate_of(workspace)
    path = version.folder / "dense/fused.npy"
    path.write_bytes(path.read_bytes()[:-4] + b"oops")

    assert candidate_of(workspace).damaged_files(read_content=True) == ["dense/fused.npy"]
    assert candidate_of(replace(workspace, force=True)).damaged_files(read_content=True) == []
