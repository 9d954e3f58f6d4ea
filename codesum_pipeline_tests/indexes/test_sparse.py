from pathlib import Path

from msgspec.structs import replace

from codesum_pipeline.indexes.lanes.sparse import index_terms
from codesum_pipeline_tests.support.synthetic_indexes import SHOP, Definition, make_index_workspace, write_tables


def test_every_document_gets_words_in_all_lanes_placeholders_too(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)

    report = index_terms(workspace)

    assert (report.rows, report.tokenized, report.lanes) == (39, 39, {"code": 13, "keywords": 13, "summary": 13})
    rows = {(row["id"], row["lane"]): row["tokens"] for row in workspace.tables.read("terms", "shop").to_pylist()}
    assert rows["shop/auth.py::get_user", "keywords"] == "trivial get user getuser shop auth py"


def test_unchanged_texts_keep_their_words(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    first = index_terms(workspace)

    assert index_terms(workspace) == replace(first, tokenized=0, carried=39)


def test_an_edit_gives_what_a_clean_build_gives(tmp_path: Path) -> None:
    edited = {**SHOP, "shop/cart.py": (Definition("add_item", "Adds it.", "def add_item(): 1"),)}
    workspace = make_index_workspace(tmp_path / "a")
    index_terms(workspace)
    write_tables(workspace, edited)

    report = index_terms(workspace)
    clean = index_terms(make_index_workspace(tmp_path / "b", edited))

    assert report.table_hash == clean.table_hash
    # The function in all lanes, its file's source, and the names in its folder.
    assert report.tokenized == 5


def test_a_repository_without_documents_has_no_words(tmp_path: Path) -> None:
    assert index_terms(make_index_workspace(tmp_path, {})).rows == 0
