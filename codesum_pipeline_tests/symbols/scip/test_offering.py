"""Which documents of which indexes are about which files."""

import hashlib
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.edge import IndexFile
from codesum_pipeline.symbols.scip.offering import Offers, find_offers, message_class

_PATHS = {"web/src/a.ts", "web/src/b.ts", "api/main.py", "README.md"}


def _index(folder: Path, *paths: str, tool: str = "scip-typescript") -> str:
    """Write an index with a document for each path; its sha256."""
    index = message_class("Index")()
    index.metadata.tool_info.name = tool
    for path in paths:
        index.documents.add(relative_path=path, language="x")
    content = index.SerializeToString()
    sha256 = hashlib.sha256(content).hexdigest()
    (folder / sha256).write_bytes(content)
    return sha256


def _offers(folder: Path, *indexes: tuple[str, str]) -> Offers:
    """Of indexes by root and sha256."""
    files = [
        IndexFile(number, f"index {number}", root, "", sha256, 1, "") for number, (root, sha256) in enumerate(indexes)
    ]
    return find_offers(files, folder, _PATHS)


def _found(offers: Offers) -> dict[str, list[str]]:
    return {path: [offer.origin for offer in found] for path, found in offers.by_path.items()}


def test_paths_are_relative_to_the_root_of_the_index(tmp_path: Path) -> None:
    offers = _offers(tmp_path, ("web", _index(tmp_path, "src/a.ts", "src/./b.ts", "src/gone.ts")))

    assert (_found(offers), offers.problems) == ({"web/src/a.ts": ["index 0"], "web/src/b.ts": ["index 0"]}, ())


@pytest.mark.parametrize("path", ["lib/other.ts", "src/a.ts"], ids=["another repository", "another folder"])
def test_an_index_of_another_place_is_named(tmp_path: Path, path: str) -> None:
    offers = _offers(tmp_path, ("", _index(tmp_path, path)))

    assert not offers.by_path
    ((origin, problem),) = offers.problems
    assert (origin, problem.startswith("none of its 1 documents is about a file")) == ("index 0", True)


@pytest.mark.parametrize("path", ["../web/src/a.ts", "/web/src/a.ts", "web/../web/src/a.ts", "C:\\web\\src\\a.ts"])
def test_paths_out_of_the_repository_are_no_files_of_it(tmp_path: Path, path: str) -> None:
    offers = _offers(tmp_path, ("", _index(tmp_path, path, "api/main.py")))

    assert _found(offers) == {"api/main.py": ["index 0"]}
    assert "lead out of the repository" in offers.problems[0][1]


def test_of_two_indexes_for_one_file_the_first_comes_first_and_both_are_told(tmp_path: Path) -> None:
    one, two = _index(tmp_path, "api/main.py"), _index(tmp_path, "api/main.py", "web/src/a.ts", tool="other")

    offers = _offers(tmp_path, ("", one), ("", two))

    assert _found(offers) == {"api/main.py": ["index 0", "index 1"], "web/src/a.ts": ["index 1"]}
    assert offers.problems == (
        (
            "index 1",
            "1 of its files are in another index, too (api/main.py in that of index 0): "
            "of each file the first document counts that fits its text",
        ),
    )


def test_a_broken_index_does_not_keep_another_out(tmp_path: Path) -> None:
    broken = hashlib.sha256(b"broken").hexdigest()
    (tmp_path / broken).write_bytes(b"\x12\x7fbroken")

    offers = _offers(tmp_path, ("", broken), ("", "f" * 64), ("", _index(tmp_path, "api/main.py")))

    assert _found(offers) == {"api/main.py": ["index 2"]}
    assert [origin for origin, _ in offers.problems] == ["index 0", "index 1"]


def test_what_could_not_be_taken_in_is_told(tmp_path: Path) -> None:
    offers = find_offers([IndexFile(0, "setting x", "", "", "", 0, "it is empty")], tmp_path, _PATHS)

    assert offers.problems == (("setting x", "it is empty"),)
