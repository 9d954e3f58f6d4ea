"""The texts of a version are packed once, whole or not at all, and kept within a limit."""

import ast
import multiprocessing
import os
import shutil
import subprocess
import sys

import pytest

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.source_lines.packed_texts import KeptTexts, PackedTexts, drop_least_used
from codesum_pipeline_tests.support.commands import environment
from codesum_pipeline_tests.support.homes import build, built_once, copy_built, open_home, workspace_of
from codesum_pipeline_tests.support.killing import killed_at
from codesum_pipeline_tests.support.programs import as_who_may_not_open_all
from codesum_pipeline_tests.support.small_disk import files_of_at_most

FILES = {"a.py": "def a():\r\n    return 1\r\n", "b.py": "def b():\n    return 2", "c.py": "", "d.md": "# Ünï\n"}
WHOLE = b"def a():\r\n    return 1\r\ndef b():\n    return 2\n# \xc3\x9cn\xc3\xaf\n"
PACKED = "search/source_lines/packed_texts.py"


def take_blob(mirror, blob):
    """Take one blob out of a mirror."""
    for pack in (mirror / "objects" / "pack").glob("*.pack"):
        data = pack.read_bytes()
        pack.with_suffix(".idx").unlink()
        pack.unlink()
        subprocess.run(["git", "-C", mirror, "unpack-objects", "-q"], input=data, check=True)
    (mirror / "objects" / blob[:2] / blob[2:]).unlink()


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    return built_once(tmp_path_factory.mktemp("packed"), FILES)


@pytest.fixture
def shop(once, tmp_path):
    return copy_built(once, tmp_path)


def index_of(folder):
    return PublishedIndex.open(open_home(folder / "home").layout.published("shop"))


def texts_of(folder, *, most_bytes=1 << 30, kept="texts"):
    """The bytes of all texts, and why they could not be kept."""
    index, mirror = index_of(folder), open_home(folder / "home").layout.mirror("shop")
    found, problem = KeptTexts(folder / "home" / kept / "shop", most_bytes).open(index, mirror, timeout_s=60)
    return found.text.tobytes(), problem


def test_texts_are_as_the_repository_has_them_in_utf_8(shop, tmp_path):
    assert texts_of(tmp_path) == (WHOLE, "")


def test_a_new_version_takes_over_what_did_not_change(shop, tmp_path):
    texts_of(tmp_path)
    shop.commit({"b.py": "def b():\n    return 3\n"})
    build(workspace_of(open_home(tmp_path / "home"), open_home(tmp_path / "home").registry.get("shop")))
    mirror = open_home(tmp_path / "home").layout.mirror("shop")
    take_blob(mirror, shop.git("rev-parse", "HEAD:a.py").strip())

    # The blob of the unchanged file is not there any more.
    assert texts_of(tmp_path) == (WHOLE.replace(b"2\n# ", b"3\n# "), "")
    assert [path.name for path in (tmp_path / "home/texts/shop").iterdir()] == [index_of(tmp_path).version.digest]


def test_a_process_that_is_killed_anywhere_leaves_nothing_that_is_taken_for_whole(shop, tmp_path):
    counted, number, kills = tmp_path / "counted", 1, 0
    while killed_at(number, lambda: texts_of(tmp_path), watched=[PACKED], counted=counted):
        assert texts_of(tmp_path) == (WHOLE, "")
        shutil.rmtree(tmp_path / "home/texts")
        kills, number = kills + 1, number + 9

    assert kills > 5 and texts_of(tmp_path) == (WHOLE, "")


def test_processes_that_begin_at_once_make_them_once(shop, tmp_path):
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert pool.map(texts_of, [tmp_path] * 8) == [(WHOLE, "")] * 8

    assert len([*(tmp_path / "home/texts/shop").iterdir()]) == 1


def test_on_a_full_disk_texts_are_searched_and_not_kept(shop, tmp_path, monkeypatch):
    make = KeptTexts._make

    def make_on_a_small_disk(*arguments):
        with files_of_at_most(20):
            return make(*arguments)

    monkeypatch.setattr(KeptTexts, "_make", make_on_a_small_disk)
    text, problem = texts_of(tmp_path)

    assert text == WHOLE
    assert problem.startswith(f"{tmp_path / 'home/texts/shop'}: ") and not [*(tmp_path / "home/texts/shop").iterdir()]


ASKED = """
import sys
from pathlib import Path
from codesum_pipeline_tests.search.source_lines.test_packed_texts import texts_of
print(texts_of(Path(sys.argv[1])))
"""


def test_in_a_home_that_may_only_be_read_texts_are_searched_and_not_kept(shop, tmp_path):
    (tmp_path / "home").chmod(0o500)
    done = subprocess.run(
        [*as_who_may_not_open_all(), sys.executable, "-c", ASKED, tmp_path],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    (tmp_path / "home").chmod(0o700)

    assert done.returncode == 0, done.stderr
    text, problem = ast.literal_eval(done.stdout)
    assert text == WHOLE and "Permission denied" in problem


def test_damaged_texts_are_made_anew(shop, tmp_path):
    texts_of(tmp_path)
    (text,) = (tmp_path / "home/texts/shop").glob("*/text")
    text.write_bytes(text.read_bytes()[:-3])

    assert texts_of(tmp_path) == (WHOLE, "")


def test_a_mirror_that_lacks_a_file_gives_the_others_and_nothing_is_kept(shop, tmp_path):
    mirror = open_home(tmp_path / "home").layout.mirror("shop")
    blob = shop.git("rev-parse", "HEAD:b.py").strip()
    take_blob(mirror, blob)

    assert texts_of(tmp_path) == (WHOLE.replace(b"def b():\n    return 2\n", b""), "")
    assert not [*(tmp_path / "home/texts/shop").iterdir()]


def test_without_a_mirror_there_is_an_error(shop, tmp_path):
    shutil.rmtree(open_home(tmp_path / "home").layout.mirror("shop"))

    with pytest.raises(RepositoryUnavailable):
        texts_of(tmp_path)


def test_the_texts_that_were_searched_longest_ago_are_deleted_first(tmp_path):
    for age, name in enumerate(("new", "older", "oldest")):
        folder = tmp_path / name / "digest"
        folder.mkdir(parents=True)
        (folder / "text").write_bytes(b"x" * 100)
        os.utime(folder, (1000 - age, 1000 - age))
    drop_least_used(tmp_path, 250)

    assert sorted(path.parent.name for path in tmp_path.glob("*/digest")) == ["new", "older"]


def test_texts_beyond_the_limit_are_searched_and_not_kept(shop, tmp_path):
    assert texts_of(tmp_path, most_bytes=len(WHOLE) - 1) == (WHOLE, "")
    assert not [*(tmp_path / "home/texts/shop").iterdir()]
    assert texts_of(tmp_path, most_bytes=len(WHOLE)) == (WHOLE, "")
    assert [*(tmp_path / "home/texts/shop").iterdir()]


def test_no_texts_raise_what_open_expects(tmp_path):
    with pytest.raises(OSError):
        PackedTexts.map_folder(tmp_path)


def test_with_the_repository_its_texts_are_deleted(shop, tmp_path):
    texts_of(tmp_path)
    open_home(tmp_path / "home").purge("shop")

    assert not (tmp_path / "home/texts/shop").exists()
