from pathlib import Path

import numpy as np
import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import BrokenIndex, ConfigurationError, MissingTable
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.file_formats.version_folder import Lane, manifest_bytes
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.synthetic_indexes import (
    SHOP,
    documents_bytes,
    make_index_workspace,
    publish,
    write_tables,
)


@pytest.fixture
def name(tmp_path: Path) -> Path:
    workspace = make_index_workspace(tmp_path)
    publish(workspace)
    return workspace.layout.published("shop")


def sign_again(name: Path, **fields: object) -> None:
    """Publish the same files with a manifest that says something else."""
    version = PublishedIndex.open(name).version
    data = manifest_bytes({**version.manifest, **fields})
    (version.folder / "manifest.json").write_bytes(data)
    version.folder.rename(version.folder.with_name(sha256_hex(data)))
    name.unlink()
    name.symlink_to(f".versions/shop/{sha256_hex(data)}")


def test_every_document_is_found_by_its_id(name: Path) -> None:
    index = PublishedIndex.open(name)

    assert len(index) == 13
    assert [index.row(id_) for id_ in index.ids] == list(range(13))
    assert [index.document(row)["id"] for row in range(13)] == list(index.ids)
    assert index.row("shop/nowhere.py") is None


def test_a_level_is_one_range_of_rows_and_of_vectors(name: Path) -> None:
    index = PublishedIndex.open(name)

    assert [index.rows_of(level) for level in Level] == [slice(0, 5), slice(5, 6), slice(6, 10), slice(10, 13)]
    # One of the five functions is a placeholder.
    assert index.dense_starts == [0, 4, 5, 9, 12]
    assert {index.level_of(row) for row in range(5)} == {Level.FUNCTION}


def test_vectors_belong_to_the_documents_that_the_rows_say(name: Path) -> None:
    index = PublishedIndex.open(name)
    body = SHOP["shop/cart.py"][0].source
    row = index.row("shop/cart.py::add_item")
    position = index.dense_rows.tolist().index(row)

    text = f"def add_item(...)\nadd item. Put an article into the shopping cart.\n{body}"
    assert np.array_equal(index.vectors[Lane.FUSED][position], load_embedder("static").embed([text])[0])


def test_an_open_index_stays_the_version_that_it_was(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    publish(workspace)
    index = PublishedIndex.open(workspace.layout.published("shop"))
    for number in range(4):
        write_tables(workspace, {}, commit=f"{number:040x}")
        publish(workspace)

    assert not index.version.folder.exists()
    assert index.document(0)["id"] == "shop/auth.py::LoginHandler::authenticate"
    assert len(PublishedIndex.open(workspace.layout.published("shop"))) == 0


def test_an_index_without_documents_opens(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path, {})
    publish(workspace)

    index = PublishedIndex.open(workspace.layout.published("shop"))

    assert (len(index), index.row("."), documents_bytes(index)) == (0, None, b"")


def test_a_repository_without_an_index_is_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(MissingTable, match="repository 'shop' has no index yet: run `codesum index shop`"):
        PublishedIndex.open(tmp_path / "shop")


def test_a_dangling_link_is_broken(name: Path) -> None:
    name.unlink()
    name.symlink_to(".versions/shop/nowhere")

    with pytest.raises(BrokenIndex, match=r"manifest\.json is missing: run `codesum doctor`"):
        PublishedIndex.open(name)


def test_a_folder_that_is_no_link_is_broken(name: Path) -> None:
    name.unlink()
    name.mkdir()

    with pytest.raises(BrokenIndex, match="is no link to a version"):
        PublishedIndex.open(name)


def test_a_missing_file_is_broken(name: Path) -> None:
    (name / "dense/fused.npy").unlink()

    with pytest.raises(BrokenIndex, match=r"fused\.npy is missing"):
        PublishedIndex.open(name)


def test_a_changed_manifest_is_broken(name: Path) -> None:
    (name / "manifest.json").write_text("{}")

    with pytest.raises(BrokenIndex, match="not the name of its folder"):
        PublishedIndex.open(name)


def test_an_index_of_another_version_of_the_package_is_refused_with_the_way_out(name: Path) -> None:
    sign_again(name, schema_version=99)

    with pytest.raises(BrokenIndex, match=r"schema version 99.*upgrade codesum here"):
        PublishedIndex.open(name)


def test_a_query_by_another_model_is_refused(name: Path) -> None:
    index = PublishedIndex.open(name)
    index.check_embedder(load_embedder("static"))
    sign_again(
        name, embedder={**index.version.manifest["embedder"], "model_id": "minilm@53aa51172d14", "name": "minilm"}
    )

    with pytest.raises(ConfigurationError, match="by 'minilm@53aa51172d14', the query's would be by 'static@"):
        PublishedIndex.open(name).check_embedder(load_embedder("static"))
