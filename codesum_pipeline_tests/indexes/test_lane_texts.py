from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.hashing import HashPolicy, sha1_hex
from codesum_pipeline.foundation.data_model.ids import module_path_of
from codesum_pipeline.foundation.store.made_from import MadeFrom, changed_paths
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.indexes.lanes.dense import embed_documents
from codesum_pipeline.indexes.lanes.lane_texts import (
    BODY_CHARACTERS,
    DENSE_VERSION,
    dense_texts,
    lane_sources,
    read_heads,
    term_texts,
    with_name,
)
from codesum_pipeline.indexes.lanes.sparse import index_terms
from codesum_pipeline.indexes.lanes.text_origins import lane_origins, with_children
from codesum_pipeline.indexes.lanes.tokens import tokenize
from codesum_pipeline_tests.support.synthetic_indexes import (
    SHOP,
    Definition,
    Files,
    make_index_workspace,
    write_tables,
)


def sources_of(home: Path, files: Files = SHOP) -> dict[str, pa.Table]:
    workspace = make_index_workspace(home, files)
    sources = pa.concat_tables(lane_sources(workspace, read_heads(workspace)))
    return {id_: sources.slice(row, 1) for row, id_ in enumerate(sources["id"].to_pylist())}


def dense_of(source: pa.Table) -> dict[Lane, str]:
    return {texts.lane: texts.texts[0].as_py() for texts in dense_texts(source, max_tokens=512) if len(texts)}


def terms_of(source: pa.Table) -> dict[Lane, str]:
    return {texts.lane: texts.texts[0].as_py() for texts in term_texts(source) if len(texts)}


def test_each_lane_reads_its_own_part_of_a_function(tmp_path: Path) -> None:
    source = sources_of(tmp_path)["shop/cart.py::add_item"]
    body = SHOP["shop/cart.py"][0].source

    assert dense_of(source) == {
        Lane.FUSED: f"def add_item(...)\nadd item. Put an article into the shopping cart.\n{body}",
        Lane.SUMMARY: "add_item\nServes add_item.\nadd item. Put an article into the shopping cart.",
    }
    assert terms_of(source) == {
        Lane.CODE: f"add_item\n{body}",
        Lane.KEYWORDS: "an article cart into put shopping the add_item shop/cart.py",
        Lane.SUMMARY: "add_item\nadd item. Put an article into the shopping cart.\nServes add_item.",
    }


@pytest.mark.parametrize(
    ("name", "summary", "read"),
    [
        pytest.param("parseReq", "Returns the head.", "parse request. Returns the head.", id="clipped and in one word"),
        pytest.param("parseReq", "To parse request by request.", "To parse request by request.", id="said already"),
        pytest.param("http_server.go", "Serves.", "HTTP server. Serves.", id="a file"),
        pytest.param(".env", "Settings.", "environment. Settings.", id="a file without a stem"),
    ],
)
def test_lanes_read_the_words_of_a_name_that_a_summary_does_not_say(name: str, summary: str, read: str) -> None:
    assert with_name(name, summary) == read


def test_above_functions_the_fused_lane_reads_the_names_below(tmp_path: Path) -> None:
    sources = sources_of(tmp_path)

    assert dense_of(sources["shop/cart.py"])[Lane.FUSED] == (
        "shop/cart.py\nHolds what belongs to shop/cart.py.\nadd_item, total_price"
    )
    assert dense_of(sources["shop/auth.py::LoginHandler"])[Lane.FUSED].endswith("\nauthenticate")
    assert dense_of(sources["."])[Lane.FUSED].endswith("\nREADME.md, shop, tests")


def test_a_module_is_looked_at_by_its_files_and_their_names_and_no_summary(tmp_path: Path) -> None:
    text = terms_of(sources_of(tmp_path)["shop"])[Lane.CODE]

    assert text == "shop\nauth.py LoginHandler get_user\ncart.py add_item total_price"


def test_the_summary_lane_of_a_file_starts_with_its_path(tmp_path: Path) -> None:
    text = dense_of(sources_of(tmp_path)["shop/cart.py"])[Lane.SUMMARY]

    assert text == "shop/cart.py\nKeeps shop/cart.py together.\nHolds what belongs to shop/cart.py."


def test_vectors_see_the_first_characters_of_a_body_and_words_all_of_it(tmp_path: Path) -> None:
    long = Definition("crunch", "Crunches.", "def crunch():\n" + "work()\n" * 1000 + "finally_done()")
    source = sources_of(tmp_path, {"a.py": (long,)})["a.py::crunch"]

    assert len(dense_of(source)[Lane.FUSED]) == len("def crunch(...)\nCrunches.\n") + BODY_CHARACTERS
    assert "finally_done" in terms_of(source)[Lane.CODE]


def test_a_placeholder_has_words_and_no_vectors(tmp_path: Path) -> None:
    source = sources_of(tmp_path)["shop/auth.py::get_user"]

    assert dense_of(source) == {}
    assert set(terms_of(source)) == {Lane.CODE, Lane.KEYWORDS, Lane.SUMMARY}


def test_an_edit_changes_the_texts_of_what_holds_it_and_no_others(tmp_path: Path) -> None:
    edited = {
        **SHOP,
        "shop/cart.py": (Definition("add_item", "Adds.", "def add_item(): pass"), SHOP["shop/cart.py"][1]),
    }
    before, after = sources_of(tmp_path / "a"), sources_of(tmp_path / "b", edited)

    changed = [
        {id_ for id_ in before if texts_of(before[id_]) != texts_of(after[id_])} for texts_of in (dense_of, terms_of)
    ]

    assert changed == [{"shop/cart.py::add_item"}, {"shop/cart.py::add_item", "shop/cart.py"}]


def test_the_limit_of_the_summary_lane_is_part_of_that_lanes_hash_alone(tmp_path: Path) -> None:
    source = sources_of(tmp_path)["shop/cart.py"]
    hashes = [
        {texts.lane: texts.hash_all().to_pylist() for texts in dense_texts(source, max_tokens=n)} for n in (100, 200)
    ]

    assert {lane for lane in hashes[0] if hashes[0][lane] != hashes[1][lane]} == {Lane.SUMMARY}


def test_keywords_are_split_like_queries(tmp_path: Path) -> None:
    source = sources_of(tmp_path)["shop/auth.py::LoginHandler::authenticate"]

    assert {"login", "handler", "authent", "auth", "shop"} <= set(tokenize(terms_of(source)[Lane.KEYWORDS]))


def test_without_keywords_the_names_stand_alone_and_a_path_once(tmp_path: Path) -> None:
    source = sources_of(tmp_path)["shop/cart.py"]
    bare = source.set_column(
        source.schema.get_field_index("keywords"), "keywords", pa.array([[]], source.schema.field("keywords").type)
    )

    assert terms_of(bare)[Lane.KEYWORDS] == "shop/cart.py"
    assert terms_of(source)[Lane.KEYWORDS] == "holds shop/cart.py"


def test_a_text_is_known_by_the_hash_of_version_setting_and_text(tmp_path: Path) -> None:
    fused, summary = dense_texts(sources_of(tmp_path)["shop/cart.py::add_item"], max_tokens=77)

    (fused_text,), (summary_text,) = fused.texts.to_pylist(), summary.texts.to_pylist()
    assert fused.hash_all().to_pylist() == [sha1_hex(f"{DENSE_VERSION} \n{fused_text}")]
    assert summary.hash_all().to_pylist() == [sha1_hex(f"{DENSE_VERSION} 77\n{summary_text}")]
    assert summary_text[: summary.keep_characters[0].as_py()] == "add_item\nServes add_item.\n"


@pytest.mark.parametrize("table", ["terms", "vectors"])
def test_an_edit_makes_as_many_texts_however_many_documents_there_are(tmp_path: Path, table: str) -> None:
    counts = []
    for others in (3, 60):
        files = {**SHOP, **{f"others/{n}.py": (Definition(f"f{n}", "Does it.", "def f(): 1"),) for n in range(others)}}
        workspace = make_index_workspace(tmp_path / str(others), files)
        (index_terms if table == "terms" else embed_documents)(workspace)
        write_tables(workspace, {**files, "shop/cart.py": (Definition("add_item", "Adds.", "def add_item(): 1"),)})
        changed = changed_paths(workspace, table, partial(lane_origins, workspace))
        counts.append(changed)

    # The file of the function, and its folder.
    assert counts == [{"shop/cart.py", "shop"}] * 2


def test_a_models_text_and_another_policy_of_hashes_are_not_told_by_hashes(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    documents = workspace.tables.read("documents", workspace.key)
    is_one = pc.equal(documents["file_path"], "shop/cart.py")
    of_raw = replace(workspace, settings=workspace.settings.model_copy(update={"hash_policy": HashPolicy.RAW}))

    assert lane_origins(workspace).rows["hash"].null_count == 0
    assert lane_origins(of_raw).rows["hash"].null_count == len(lane_origins(of_raw).rows)
    writers = pc.if_else(is_one, "llm", documents["written_by"])
    place = documents.column_names.index("written_by")
    workspace.tables.write("documents", workspace.key, documents.set_column(place, "written_by", writers))
    found = lane_origins(workspace).rows
    assert found["id"].filter(found["hash"].is_null()).to_pylist() == ["shop/cart.py"]


def test_a_folder_is_looked_at_with_what_is_directly_in_it() -> None:
    paths = [".", "a", "a/b", "a/b/c.py", "a/b.py", "c.py", "a/b/d e\n.py"]
    known = MadeFrom(pa.table([pa.array(paths), pa.array(paths)], names=["id", "hash"]))

    for folder in (".", "a", "a/b"):
        within = {path for path in paths if path != "." and module_path_of(path) == folder}
        assert with_children({folder}, lambda: known) == {folder, *within}
