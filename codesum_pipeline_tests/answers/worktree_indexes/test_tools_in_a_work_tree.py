"""The tools of agents answer for the work tree that they are started in, call after call."""

import time

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.answers.worktree_indexes.settler import Settler
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, NotIndexedFile
from codesum_pipeline_tests.support.homes import built_once, copy_built, open_home
from codesum_pipeline_tests.support.shop import SHOP

LAGS = "texts of folders are those of the commit"
EDIT = '\n\ndef weigh_parcel(parcel):\n    """Weigh a parcel on the brass scales."""\n    return parcel.weigh()\n'


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return built_once(tmp_path_factory.mktemp("built"), SHOP)


@pytest.fixture
def shop(built, tmp_path):
    return copy_built(built, tmp_path, repository="shop")


@pytest.fixture
def ask(shop, tmp_path):
    home = open_home(tmp_path / "home")
    catalogue = IndexCatalogue(home.settings, home.layout, home.registry, settler=Settler(quiet_s=0.01))

    def call(tool, /, **arguments):
        return tools_by_name(every=True)[tool].ask(ToolContext(catalogue, shop.path), arguments)

    return call


def test_each_call_answers_for_the_tree_as_it_is_then(shop, ask):
    as_of = ask("search", query="weigh a parcel").as_of[0]
    assert (as_of.tree, as_of.differ, as_of.of_tree) == (str(shop.path), 0, "")

    shop.write({"shop/money.py": SHOP["shop/money.py"] + EDIT})
    page = ask("search", query="weigh a parcel on the brass scales", excerpt=3)

    assert page.hits[0].id == "shop/money.py::weigh_parcel"
    first = SHOP["shop/money.py"].count("\n") + 3
    assert page.hits[0].start_line == first
    assert "def weigh_parcel(parcel):" in page.hits[0].excerpt
    assert f"with the work tree {shop.path}: 1 file differs" in str(page.as_of[0])
    assert ask("search_symbols", name="weigh_parcel").hits[0].start_line == first
    assert "def weigh_parcel(parcel):" in ask("read", ids=["weigh_parcel"]).items[0].lines

    shop.git("checkout", "-q", "--", ".")
    assert "weigh_parcel" not in str(ask("search", query="weigh a parcel on the brass scales"))
    assert not ask("search_symbols", name="weigh_parcel", levels=["function"]).hits


def test_a_tree_is_settled_while_calls_go_on_and_the_answer_says_so(shop, ask):
    shop.write({"shop/money.py": SHOP["shop/money.py"] + EDIT})
    assert LAGS in ask("search", query="weigh a parcel").as_of[0].lags

    deadline = time.monotonic() + 60
    while LAGS in (page := ask("search", query="weigh a parcel")).as_of[0].lags:
        assert time.monotonic() < deadline
        time.sleep(0.2)

    assert page.as_of[0].is_settled
    assert str(page.as_of[0]).endswith(f"with the work tree {shop.path}: 1 file differs; settled")
    assert "shop/money.py::weigh_parcel" in {hit.id for hit in page.hits}


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("logo.png", b"\x89PNG\r\n\x1a\n\0\0", "binary"),
        ("noise.c", bytes(range(0x80, 0x100)) * 3, "not_text"),
        ("yarn.lock", b"x", "skip_pattern"),
        ("shop/made.py", b"# @generated\nx = 1\n", "generated"),
    ],
)
def test_a_file_that_is_not_committed_yet_and_will_be_skipped_is_told_to_be(shop, ask, path, content, reason):
    shop.write({path: content})

    with pytest.raises(NotIndexedFile, match=f"^skipped: {path} is in shop and not in its index, {reason}"):
        ask("read", ids=[path])


@pytest.mark.parametrize(
    ("declaring", "path", "content", "reason"),
    [
        pytest.param({".gitignore": "*.mine.py\n"}, "shop/a.mine.py", b"x = 1\n", "ignored", id="what git ignores"),
        pytest.param({"shop/.gitignore": "out/\n"}, "shop/out/x.py", b"x = 1\n", "ignored", id="in an ignored folder"),
        pytest.param({".codesumignore": "left/\n"}, "left/x.py", b"x = 1\n", ".codesumignore", id="by our patterns"),
        pytest.param(
            {"shop/.gitattributes": "*.py encoding=utf-16le\n"},
            "shop/made.py",
            "# @generated\nx = 'ü'\n".encode("utf-16-le"),
            "generated",
            id="in the encoding that is declared",
        ),
    ],
)
def test_a_file_is_told_to_be_skipped_by_what_stands_above_it(shop, ask, declaring, path, content, reason):
    shop.write(declaring | {path: content})

    with pytest.raises(NotIndexedFile, match=f"^skipped: {path} is in shop and not in its index, {reason}"):
        ask("read", ids=[path])


def test_nothing_outside_of_the_tree_is_looked_at(shop, ask, tmp_path):
    (tmp_path / "secret.bin").write_bytes(b"\0")
    (shop.path / "link").symlink_to(tmp_path)

    for path in ("../secret.bin", str(tmp_path / "secret.bin"), "link/secret.bin", "a\0b"):
        with pytest.raises(ConfigurationError, match="no document"):
            ask("read", ids=[path])


@pytest.mark.parametrize("name", ["a" * 255, "a" * 256, "\N{WHITE SQUARE}" * 100], ids=["fits", "too long", "bytes"])
def test_a_name_that_no_file_can_have_is_no_file(shop, ask, name):
    with pytest.raises(ConfigurationError, match="no document"):
        ask("read", ids=[name])


def test_a_tree_that_cannot_be_settled_stops_nobody(shop, ask, caplog):
    settler = Settler(quiet_s=0.01)
    done = []

    def fail():
        raise ValueError("no")

    settler.ask("a", shop.path, fail)
    while not caplog.records:
        time.sleep(0.01)
    settler.ask("b", shop.path, lambda: done.append("b"))
    while not done:
        time.sleep(0.01)

    assert "was not settled" in caplog.text
