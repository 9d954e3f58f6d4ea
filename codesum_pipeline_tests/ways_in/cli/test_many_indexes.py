"""A home with many repositories: `search` and `show` hold no file of an index open."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.indexes.file_formats.stored_zip import map_bytes
from codesum_pipeline.indexes.file_formats.version_folder import MANIFEST, manifest_bytes, read_version
from codesum_pipeline_tests.support.commands import COMMAND, environment

FEW_DESCRIPTORS = 64


def multiply(shop: Path, home: Path, count: int) -> None:
    """Publish the shop's index under `count` keys, each with a manifest of its own; the large files are shared."""
    source = read_version(HomeLayout(shop).published("shop").resolve())
    layout = HomeLayout(home)
    keys = [f"shop-{number:04}" for number in range(count)]
    for key in keys:
        data = manifest_bytes({**source.manifest, "repo": key})
        folder = layout.versions(key) / sha256_hex(data)
        shutil.copytree(source.folder, folder, copy_function=os.link)
        (folder / MANIFEST).unlink()
        (folder / MANIFEST).write_bytes(data)
        layout.published(key).symlink_to(folder.relative_to(layout.summary_index))
    lines = "".join(f"  {key}: {{path: {shop.parent / 'repository'}}}\n" for key in keys)
    layout.repos_file.write_text(f"repositories:\n{lines}", encoding="utf-8")


def call_with_few_descriptors(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`codesum` in a shell that allows a process few open files."""
    command = f'ulimit -n {FEW_DESCRIPTORS} && exec "$0" "$@"'
    return subprocess.run(
        ["sh", "-c", command, *COMMAND, "--home", str(home), *arguments],
        cwd=home,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


@pytest.fixture(scope="module")
def thousand(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of 1,000 repositories."""
    home = tmp_path_factory.mktemp("thousand")
    multiply(shop, home, 1000)
    return home


@pytest.mark.slow
def test_a_search_through_a_thousand_indexes_needs_few_descriptors(thousand: Path) -> None:
    done = call_with_few_descriptors(thousand, "search", "total_price", "--top", "1000", "--json")

    assert done.returncode == 0, done.stderr
    hits = json.loads(done.stdout)["hits"]
    assert {hit["repo"] for hit in hits if hit["id"] == "shop/orders.py::total_price"} == {
        f"shop-{number:04}" for number in range(1000)
    }


@pytest.mark.slow
def test_showing_a_document_among_a_thousand_indexes_needs_few_descriptors(thousand: Path) -> None:
    done = call_with_few_descriptors(thousand, "show", "shop/orders.py::total_price")

    assert done.returncode == 2, done.stderr
    assert "is in 1000 repositories" in done.stderr


def test_an_open_file_is_not_held_and_its_pages_are_given_back(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(bytes(range(256)) * 1024)

    held = len(list(Path("/proc/self/fd").iterdir()))
    content = map_bytes(path)
    assert len(list(Path("/proc/self/fd").iterdir())) == held
    assert str(path) in Path("/proc/self/maps").read_text(encoding="utf-8")

    path.unlink()
    part = content[256:512]
    del content
    assert part.tobytes() == bytes(range(256))
    del part
    assert str(path) not in Path("/proc/self/maps").read_text(encoding="utf-8")


def test_beyond_the_bound_files_are_read_and_not_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codesum_pipeline.indexes.file_formats.stored_zip._MOST_MAPS", 1)
    # A search in this process leaves a map in use: what words are related is kept.
    monkeypatch.setattr("codesum_pipeline.indexes.file_formats.stored_zip._maps", set())
    paths = [tmp_path / "first", tmp_path / "second"]
    for path in paths:
        path.write_bytes(path.name.encode() * 10_000)

    contents = [map_bytes(path) for path in paths]

    assert [content.tobytes() for content in contents] == [path.name.encode() * 10_000 for path in paths]
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    assert [str(path) in maps for path in paths] == [True, False]
