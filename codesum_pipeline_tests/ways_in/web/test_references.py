"""The page of a document says who refers to it; a constant has the page of its users."""

from collections.abc import Iterator

import pytest

from codesum_pipeline_tests.support.homes import built_once
from codesum_pipeline_tests.ways_in.web.reading import Shown, page
from codesum_pipeline_tests.ways_in.web.serving import serving

FILES = {
    "a.py": "MOST = 3\n\n\ndef weigh(row):\n    return row[0] + row[1]\n",
    "b.py": "from a import MOST, weigh\n\n\ndef order(rows):\n    return sorted(rows, key=weigh)[:MOST]\n\n\n"
    "def guess(thing):\n    return thing.weigh(1)\n",
}
CONSTANT = "/related?repo=shop&id=a.py%3A%3AMOST&relation=referenced_by"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = built_once(tmp_path_factory.mktemp("references"), FILES)
    with serving(folder / "home", folder) as address:
        yield address


def words_of(shown: Shown) -> str:
    return " ".join(shown.text.split())


def test_a_function_has_who_refers_to_it_and_what_is_not_counted(site: str) -> None:
    found = page(site, "/document", repo="shop", id="a.py::weigh")

    assert "Referenced by 1 order b.py:4-5" in words_of(found)
    assert (
        "Not counted: 1 other function or file with `weigh(` whose target is not known: b.py:9; uses by reflection"
        in words_of(found)
    )


def test_what_a_function_refers_to_has_a_link_of_a_constant_to_its_users(site: str) -> None:
    found = page(site, "/document", repo="shop", id="b.py::order")
    users = page(site, "/related", repo="shop", id="a.py::MOST", relation="referenced_by")

    assert "Refers to 2 weigh a.py:4-5" in words_of(found)
    assert "MOST a.py:1" in words_of(found)
    assert CONSTANT in found.links
    assert "Referenced by 1 order b.py:4-5" in words_of(users)
    assert "/document?repo=shop&id=a.py%3A1" in users.links


def test_a_file_has_no_remark_on_what_is_not_counted(site: str) -> None:
    assert "Not counted" not in page(site, "/document", repo="shop", id="a.py").text
