import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import Edge
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.file_formats.index_files import Callers, ConstantUses, ShownFields, StringTable, Uses
from codesum_pipeline.indexes.file_formats.stored_zip import map_npz, map_tensor, write_npy, write_npz, write_tensor
from codesum_pipeline.indexes.file_formats.version_folder import (
    CALLERS,
    CONSTANTS,
    PASSAGE_OWNERS,
    SHOWN_FIELDS,
    USES,
    Version,
    content_digest,
    manifest_bytes,
    read_version,
)
from codesum_pipeline.indexes.publishing.candidate import describe_files
from codesum_pipeline.indexes.publishing.verify import IndexFault, verify_index
from codesum_pipeline_tests.support.synthetic_indexes import (
    SHOP,
    Definition,
    call_edge,
    make_index_workspace,
    publish,
    write_tables,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = make_index_workspace(tmp_path)
    publish(workspace)
    return workspace


def findings_of(workspace: Workspace) -> list[IndexFault]:
    return verify_index(workspace.layout, workspace.key, tables=workspace.tables)


def checks_of(workspace: Workspace) -> set[tuple[str, str]]:
    return {(finding.check, finding.subject) for finding in findings_of(workspace)}


def version_of(workspace: Workspace) -> Version:
    return read_version(workspace.layout.published(workspace.key).resolve())


def sign_again(workspace: Workspace, change: Callable[[Path], None]) -> None:
    """Change files as a faulty build would: with a manifest that says that they are right."""
    version = version_of(workspace)
    change(version.folder)
    manifest = dict(version.manifest)
    contents = {name: entry["content_sha256"] for name, entry in manifest["files"].items() if "content_sha256" in entry}
    (version.folder / "manifest.json").unlink()
    manifest["files"] = describe_files(version.folder, contents)
    manifest["content_digest"] = content_digest(manifest)
    data = manifest_bytes(manifest)
    (version.folder / "manifest.json").write_bytes(data)
    renamed = version.folder.rename(version.folder.with_name(sha256_hex(data)))
    name = workspace.layout.published(workspace.key)
    name.unlink()
    name.symlink_to(f".versions/{workspace.key}/{renamed.name}")


def edit_documents(folder: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    path = folder / "summary.jsonl"
    documents = [json.loads(line) for line in path.read_text().splitlines()]
    change(documents)
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))


def edit_document(folder: Path, id_: str, **fields: object) -> None:
    edit_documents(folder, lambda documents: next(d for d in documents if d["id"] == id_).update(fields))


def edit_arrays(folder: Path, **arrays: object) -> None:
    path = folder / "documents/arrays.npz"
    kept = {name: np.array(array) for name, array in map_npz(path).items()}
    write_npz(path, {**kept, **{name: np.asarray(array) for name, array in arrays.items()}})


def test_a_sound_index_has_no_findings(workspace: Workspace) -> None:
    assert findings_of(workspace) == []


def test_nothing_published_is_found(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)

    assert [(f.check, f.detail) for f in findings_of(workspace)] == [("link", "nothing is published")]


def test_a_dangling_link_is_found(workspace: Workspace) -> None:
    name = workspace.layout.published("shop")
    name.unlink()
    name.symlink_to(".versions/shop/nowhere")

    assert [f.detail for f in findings_of(workspace)] == ["points at .versions/shop/nowhere, which is gone"]


def test_a_foreign_link_is_found(workspace: Workspace, tmp_path: Path) -> None:
    name = workspace.layout.published("shop")
    name.unlink()
    name.symlink_to(tmp_path)

    assert "which is no version of this repository" in findings_of(workspace)[0].detail


def test_a_folder_in_the_place_of_the_link_is_found(workspace: Workspace) -> None:
    name = workspace.layout.published("shop")
    name.unlink()
    name.mkdir()

    assert [f.detail for f in findings_of(workspace)] == ["is a folder or file, not a link"]


def test_a_changed_manifest_is_found(workspace: Workspace) -> None:
    path = version_of(workspace).folder / "manifest.json"
    path.write_text(path.read_text().replace("acme/shop", "acme/shed"))

    assert [f.check for f in findings_of(workspace)] == ["manifest"]


def test_a_wrong_content_digest_is_found(workspace: Workspace) -> None:
    version = version_of(workspace)
    data = manifest_bytes({**version.manifest, "content_digest": "0" * 64})
    (version.folder / "manifest.json").write_bytes(data)
    version.folder.rename(version.folder.with_name(sha256_hex(data)))
    workspace.layout.published("shop").unlink()
    workspace.layout.published("shop").symlink_to(f".versions/shop/{sha256_hex(data)}")

    assert [f.check for f in findings_of(workspace)] == ["manifest"]
    assert "content digest" in findings_of(workspace)[0].detail


@pytest.mark.parametrize("name", ["summary.jsonl", "dense/embeddings.pt", "dense/fused.npy", "bm25/index.npz"])
def test_a_changed_byte_is_found(workspace: Workspace, name: str) -> None:
    path = version_of(workspace).folder / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)

    assert checks_of(workspace) == {("files", name)}


def test_a_missing_and_an_extra_file_are_found(workspace: Workspace) -> None:
    folder = version_of(workspace).folder
    (folder / "dense/fused.npy").rename(folder / "dense/fused.bak")

    assert {(f.subject, f.detail) for f in findings_of(workspace)} == {
        ("dense/fused.npy", "is missing"),
        ("dense/fused.bak", "is not in the manifest"),
    }


def test_a_wrong_count_is_found(workspace: Workspace) -> None:
    sign_again(workspace, lambda folder: edit_documents(folder, lambda documents: documents.pop()))

    assert ("counts", "summary.jsonl") in checks_of(workspace)


def test_an_id_that_stands_twice_is_found(workspace: Workspace) -> None:
    def repeat_first(documents: list[dict[str, Any]]) -> None:
        documents.insert(0, documents[0])

    sign_again(workspace, lambda folder: edit_documents(folder, repeat_first))

    assert ("ids", "shop/auth.py::LoginHandler::authenticate") in checks_of(workspace)


def test_documents_out_of_order_are_found(workspace: Workspace) -> None:
    sign_again(workspace, lambda folder: edit_documents(folder, lambda documents: documents.reverse()))

    assert ("order", "summary.jsonl") in checks_of(workspace)


def test_an_orphan_is_found(workspace: Workspace) -> None:
    id_ = "shop/cart.py::add_item"
    sign_again(workspace, lambda folder: edit_document(folder, id_, parent_id="gone.py", file_path="gone.py"))

    details = {f.detail for f in findings_of(workspace) if (f.check, f.subject) == ("orphans", id_)}
    assert details == {
        "its parent gone.py has no document",
        "its file gone.py has no document",
        "its file gone.py is gone",
    }


def test_a_placeholder_with_a_vector_is_found(workspace: Workspace) -> None:
    id_ = "shop/cart.py::add_item"
    sign_again(workspace, lambda folder: edit_document(folder, id_, is_placeholder=True))

    assert ("placeholders", id_) in checks_of(workspace)


def test_a_document_without_a_vector_is_found(workspace: Workspace) -> None:
    id_ = "shop/auth.py::get_user"
    sign_again(workspace, lambda folder: edit_document(folder, id_, is_placeholder=False))

    assert ("vectors", id_) in checks_of(workspace)


def test_callers_of_other_documents_are_found(workspace: Workspace) -> None:
    def add_a_row(folder: Path) -> None:
        Callers(np.array([9], dtype=np.int32), np.array([0] * 7 + [1], dtype=np.int32)).write(folder / CALLERS)

    sign_again(workspace, add_a_row)

    assert [f.detail for f in findings_of(workspace) if f.subject == CALLERS] == [
        "has 7 rows, summary.jsonl has 6 functions and classes",
        "points at functions and classes that are not there",
        "names other callers than the warehouse's edges",
    ]


def test_users_of_other_documents_are_found(workspace: Workspace) -> None:
    def add_a_row(folder: Path) -> None:
        indptr = np.array([0] * 30 + [1], dtype=np.int32)
        Uses(np.array([99], dtype=np.int32), np.array([0], dtype=np.uint8), indptr, np.array([False])).write(
            folder / USES
        )

    sign_again(workspace, add_a_row)

    found = [finding.detail for finding in findings_of(workspace) if finding.subject == USES]
    assert found[0].startswith("has 30 rows")
    assert found[1:] == ["points at documents that are not there", "names other users than the warehouse's edges"]


def test_constants_with_users_that_are_not_there_are_found(workspace: Workspace) -> None:
    def add_a_user(folder: Path) -> None:
        table, one = StringTable.of(["shop/cart.py::MOST"]), np.array([0, 1])
        found = ConstantUses(
            ids=table.content, offsets=table.offsets, users=np.array([99]), indptr=one, names=np.array([0])
        )
        found.write(folder / CONSTANTS)

    sign_again(workspace, add_a_user)

    assert [finding.detail for finding in findings_of(workspace) if finding.subject == CONSTANTS] == [
        "points at documents that are not there", "names other users than the warehouse's edges",
    ]  # fmt: skip


def test_an_owner_of_a_passage_that_is_no_function_is_found(workspace: Workspace) -> None:
    sign_again(workspace, lambda folder: write_npy(folder / PASSAGE_OWNERS, np.array([[1, 0, 99]], dtype=np.int32)))

    assert [finding.detail for finding in findings_of(workspace) if finding.subject == PASSAGE_OWNERS] == [
        "names document 99, which is no function"
    ]


def test_a_call_that_the_warehouse_does_not_have_is_found(workspace: Workspace) -> None:
    called, caller = "shop/cart.py::total_price", "shop/cart.py::add_item"
    workspace.tables.write_rows("edges", workspace.key, [call_edge(caller, called)], Edge)

    assert checks_of(workspace) == {("warehouse", CALLERS), ("warehouse", USES)}


def test_an_index_map_that_is_too_short_is_found(workspace: Workspace) -> None:
    def shorten(folder: Path) -> None:
        path = folder / "dense/index_map.json"
        path.write_text(json.dumps(json.loads(path.read_text())[:-1]))

    sign_again(workspace, shorten)

    assert {("row map", "dense/index_map.json"), ("row map", "documents/arrays.npz")} <= checks_of(workspace)


def test_an_index_map_that_names_no_document_is_found(workspace: Workspace) -> None:
    def rename(folder: Path) -> None:
        path = folder / "dense/index_map.json"
        path.write_text(json.dumps(["nowhere.py", *json.loads(path.read_text())[1:]]))

    sign_again(workspace, rename)

    assert ("row map", "nowhere.py") in checks_of(workspace)


def test_rows_that_point_elsewhere_are_found(workspace: Workspace) -> None:
    sign_again(workspace, lambda folder: edit_arrays(folder, dense_rows=np.arange(12, dtype=np.int32)))

    assert ("row map", "documents/arrays.npz") in checks_of(workspace)


def test_a_vector_of_another_length_is_found(workspace: Workspace) -> None:
    def stretch(folder: Path) -> None:
        matrix = np.array(map_tensor(folder / "dense/embeddings.pt", 256))
        matrix[0] *= 2
        write_tensor(folder / "dense/embeddings.pt", matrix)

    sign_again(workspace, stretch)

    assert ("vectors", "shop/auth.py::LoginHandler::authenticate") in checks_of(workspace)


def test_a_hit_that_would_show_something_else_than_the_document_is_found(workspace: Workspace) -> None:
    def move(folder: Path) -> None:
        shown = ShownFields.map_file(folder / SHOWN_FIELDS)
        replace(shown, lines=shown.lines + 1).write(folder / SHOWN_FIELDS)

    sign_again(workspace, move)

    assert ("documents", "shop/cart.py::total_price") in checks_of(workspace)


def test_fields_of_other_documents_are_found(workspace: Workspace) -> None:
    def shorten(folder: Path) -> None:
        shown = ShownFields.map_file(folder / SHOWN_FIELDS)
        replace(shown, lines=shown.lines[:-1]).write(folder / SHOWN_FIELDS)

    sign_again(workspace, shorten)

    assert checks_of(workspace) == {("row map", SHOWN_FIELDS)}


def test_offsets_that_are_off_are_found(workspace: Workspace) -> None:
    def shift(folder: Path) -> None:
        path = folder / "documents/offsets.npy"
        np.save(path, np.load(path) + 1)

    sign_again(workspace, shift)

    assert ("offsets", "documents/offsets.npy") in checks_of(workspace)


@pytest.mark.parametrize("name", ["bm25/vocab.json", "bm25/metadata.jsonl"])
def test_word_files_that_disagree_are_found(workspace: Workspace, name: str) -> None:
    def empty(folder: Path) -> None:
        (folder / name).write_text("{}\n" if name.endswith(".json") else "")

    sign_again(workspace, empty)

    assert ("row map", name) in checks_of(workspace)


def test_an_index_that_disagrees_with_the_warehouse_is_found(workspace: Workspace) -> None:
    cart = (Definition("add_item", "Another text.", SHOP["shop/cart.py"][0].source), Definition("pay", "Pays."))
    write_tables(workspace, {**SHOP, "shop/cart.py": cart})

    assert {(f.subject, f.detail) for f in findings_of(workspace)} == {
        ("shop/cart.py", "differs from the warehouse"),
        ("shop/cart.py::add_item", "differs from the warehouse"),
        ("shop/cart.py::pay", "is in the warehouse and not published"),
        ("shop/cart.py::total_price", "is published and not in the warehouse"),
    }


def test_a_warehouse_at_another_commit_is_not_compared(workspace: Workspace) -> None:
    write_tables(workspace, {}, commit="e" * 40)

    assert findings_of(workspace) == []
