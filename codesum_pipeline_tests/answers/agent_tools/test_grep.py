"""`grep`: lines below what holds them, the most telling first, within bounds."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from codesum_pipeline.answers.agent_tools import grep_tool
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.source_lines import line_groups
from codesum_pipeline_tests.support.homes import build, built_once, copy_built, open_home, workspace_of

FILES = {
    "shop/till.py": '"""The till."""\n\nMOST_COINS = 9\n\n\nclass Till:\n    """Holds coins."""\n\n'
    "    def count_coins(self, coins):\n        # count_coins is slow\n        if not coins:\n"
    '            raise ValueError("count_coins of nothing")\n        return sum(coins)\n\n'
    "    def close(self):\n        return self.count_coins([1, MOST_COINS])\n",
    "shop/old.py": '"""Before\n\ncount_coins there was none.\n"""\n\n\n'
    'def money():\n    """Count.\n\n    As count_coins did.\n    """\n    return "count_coins"\n',
    "web/shop.ts": "export async function countCoins(coins: number[]): Promise<number> {\n"
    "  /* count_coins of\n     count_coins */\n  return fetch(`/count_coins`).then((r) => r.json());\n}\n",
    "tests/test_till.py": "from shop.till import Till\n\n\ndef test_count_coins():\n"
    "    assert Till().count_coins([1]) == 1\n",
    "vendor/till/count.py": "def count_coins():\n    return 1\n",
    "src/lib.rs": "pub fn pay() -> u32 {\n    7 // coppers\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
    '    #[test]\n    fn pays_seven_coppers() {\n        assert_eq!(pay(), 7, "coppers");\n    }\n}\n',
    "README.md": "# Shop\n\nIt can count_coins.\n",
    "coins.json": '{"count_coins": 1}\n',
    "long.py": f"WIDE = '{'x' * 300} count_coins {'y' * 300}'\n",
    "logo.bin": b"\0count_coins",
}


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    return built_once(tmp_path_factory.mktemp("grep"), FILES, filter={"min_lines": 0})


@pytest.fixture
def shop(once, tmp_path):
    return copy_built(once, tmp_path)


@pytest.fixture
def ask(shop, tmp_path):
    """`ask(pattern, …)` from the folder of the repository."""
    catalogue = IndexCatalogue.of(load_settings({"home": tmp_path / "home"}, environ={}))

    def call(pattern, **arguments):
        return tools_by_name()["grep"].ask(ToolContext(catalogue, shop.path), {"pattern": pattern, **arguments})

    return call


def told(page):
    return [(place.id, place.match, [line.number for line in place.lines]) for place in page.places]


def test_places_hold_their_lines_and_the_most_telling_come_first(ask):
    page = ask("count_coins", limit=100)

    assert told(page)[:2] == [
        ("shop/till.py::Till::count_coins", "definitions", [9, 10, 12]),
        ("shop/till.py::Till::close", "code", [16]),
    ]
    assert {(id_, match, *lines) for id_, match, lines in told(page)[2:]} == {
        ("shop/old.py", "comments", 3),
        ("shop/old.py::money", "comments", 10, 12),
        ("web/shop.ts::countCoins", "comments", 2, 3, 4),
        ("README.md", "comments", 3),
        ("coins.json", "texts", 1),
        ("long.py", "texts", 1),
        ("tests/test_till.py::test_count_coins", "tests", 4, 5),
        ("vendor/till/count.py::count_coins", "code of others", 1),
    }
    order = ["definitions", "code", "comments", "texts", "tests", "code of others"]
    assert [order.index(place.match) for place in page.places] == sorted(order.index(p.match) for p in page.places)
    assert page.told == (
        "16 lines in 10 places: 1 in definitions, 1 in code, 4 in comments, 2 in texts, 1 in tests, 1 in code of others"
    )


def test_an_agent_reads_places_with_their_lines_below(ask):
    text = ask("count_coins", limit=2, lines=2).text()

    assert "shop/till.py:9-13  function  Till.count_coins: " in text
    assert (
        "\n    9\t    def count_coins(self, coins):\n    10\t        # count_coins is slow\n    1 more line\n" in text
    )
    assert "\nshown 2 of 10 places; more with cursor=grep.2." in text


def test_what_defines_a_constant_or_class_comes_before_what_uses_it(ask):
    assert told(ask("MOST_COINS"))[0] == ("shop/till.py", "definitions", [3])
    assert told(ask("Till", flags="w"))[0] == ("shop/till.py::Till", "definitions", [6])
    # Its parameter is not what a function defines.
    assert told(ask(r"\bcoins\b", paths=["shop/till.py"]))[0][1] == "code"


def test_pages_go_on_where_the_last_ended(ask):
    first = ask("count_coins", limit=4)
    second = ask("count_coins", limit=100, cursor=first.next)

    assert told(first) + told(second) == told(ask("count_coins", limit=100))
    assert (first.total, second.total, second.next) == (10, 10, None)


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        ({"tests": "only"}, ["tests/test_till.py"]),
        ({"languages": ["ts"]}, ["web/shop.ts"]),
        ({"paths": ["shop/", "!old.py"]}, ["shop/till.py"]),
        ({"paths": ["*.md", "*.json"]}, ["README.md", "coins.json"]),
    ],
    ids=str,
)
def test_filters_say_which_files_are_searched(ask, filters, paths):
    assert sorted({place.path for place in ask("count_coins", limit=100, **filters).places}) == paths


def test_tests_in_a_file_of_code_are_tests(ask):
    found = {tests: told(ask("coppers", tests=tests)) for tests in ("in", "out", "only")}

    assert [(id_.rpartition("::")[2], match) for id_, match, _ in found["in"]] == [
        ("pay", "comments"), ("pays_seven_coppers", "tests"),
    ]  # fmt: skip
    assert (found["out"], found["only"]) == (found["in"][:1], found["in"][1:])


def test_flags_are_those_of_grep(ask):
    assert ask("COUNT_COINS").total == 0 and ask("COUNT_COINS", flags="-i").total == 10
    assert {place.id for place in ask("countcoins", flags="i, w").places} == {"web/shop.ts::countCoins"}
    assert {place.id for place in ask("(self, c", flags="F").places} == {"shop/till.py::Till::count_coins"}
    with pytest.raises(ConfigurationError, match=r"flags 'ix': 'x' is unknown; flags are i \(ignore case\), w"):
        ask("x", flags="ix")


def test_a_long_line_is_shown_around_its_first_match(ask):
    (place,) = ask("count_coins", paths=["long.py"]).places
    (line,) = place.lines

    assert len(line.text) < 250 and line.text.startswith("…x") and line.text.endswith("y…")
    assert [line.text[start:end] for start, end in line.marks] == ["count_coins"]


def test_marks_are_where_the_matches_are_also_behind_other_letters(ask, shop):
    shop.write({"shop/new.py": "def née(): return 'é count_coins \x1b[31m count_coins'\n"})
    (place,) = ask("count_coins", paths=["new.py"]).places
    (line,) = place.lines

    assert [line.text[start:end] for start, end in line.marks] == ["count_coins"] * 2
    assert "\x1b" not in line.text and "".join(piece for piece, _ in line.pieces) == line.text


def test_uncommitted_edits_are_searched_as_they_are(ask, shop):
    shop.write({
        "shop/till.py": FILES["shop/till.py"].replace("count_coins", "count_notes"),
        "shop/new.py": "def more():\n    return count_coins()\n",
    })  # fmt: skip
    shop.git("rm", "-q", "shop/old.py")
    page = ask("count_coins", limit=100)

    assert "shop/new.py::more" in {place.id for place in page.places}
    assert not {"shop/till.py", "shop/old.py"} & {place.path for place in page.places}
    assert told(ask("count_notes"))[0] == (
        "shop/till.py::Till::count_coins".replace("coins", "notes"),
        "definitions",
        [9, 10, 12],
    )
    assert f"with the work tree {shop.path}: 3 files differ" in str(page.as_of[0])


def test_where_nothing_matches_it_says_what_was_not_searched(ask):
    text = ask("no such text").text()

    assert "no line matches" in text
    assert "note: 1 file of shop not indexed and not searched: 1 binary" in text


@pytest.mark.parametrize("pattern", [".*", "^", "", "x*"], ids=repr)
def test_a_pattern_that_matches_everything_is_answered_within_bounds(ask, pattern, monkeypatch):
    monkeypatch.setattr(line_groups, "MOST_LINES", 20)
    if not pattern:
        with pytest.raises(ConfigurationError, match="the pattern is empty"):
            ask(pattern)
        return
    page = ask(pattern, limit=2)

    assert page.matching_lines == 20 and page.next
    assert page.notes[0] == (
        "more than 20 lines match; only the first ones were looked at, those of code before those of prose, data and "
        "tests: narrow the pattern, or what is searched (repos, paths, languages, tests)"
    )
    assert len(page.text()) < 2500


@pytest.mark.parametrize(
    ("most", "left"),
    [(16, None), (15, "vendor/till/count.py"), (13, "tests/test_till.py"), (14, "vendor/till/count.py")],
)
def test_what_a_limit_leaves_out_would_have_been_the_last(ask, monkeypatch, most, left):
    monkeypatch.setattr(line_groups, "MOST_LINES", most)
    page = ask("count_coins", limit=100)

    paths = {place.path for place in page.places}
    assert page.matching_lines == most
    assert any("more than" in note for note in page.notes) is (left is not None)
    assert left not in paths and {"web/shop.ts", "README.md", "coins.json"} <= paths


def test_repositories_whose_mirror_is_gone_are_named(ask, tmp_path):
    (tmp_path / "home/mirrors/shop.git/HEAD").unlink()

    with pytest.raises(
        RepositoryUnavailable, match="shop was not searched: .*`codesum index shop --force` fetches it anew"
    ):
        ask("count_coins")


def test_texts_that_cannot_be_kept_are_searched_and_it_says_so(ask, tmp_path):
    (tmp_path / "home/texts").write_text("a file where the folder should be")
    page = ask("count_coins")

    assert page.total == 10
    assert "the texts of shop cannot be kept and are read anew by each process" in page.notes[0]


def test_many_at_once_get_the_same_answer(shop, tmp_path):
    catalogue = IndexCatalogue.of(load_settings({"home": tmp_path / "home"}, environ={}))

    def call(number):
        arguments = {"pattern": "count_coins", "limit": 100, "tests": ("in", "out")[number % 2]}
        return tools_by_name()["grep"].ask(ToolContext(catalogue, tmp_path), arguments).text()

    with ThreadPoolExecutor(32) as pool:
        answers = [*pool.map(call, range(32))]

    assert len({*answers[::2]}) == len({*answers[1::2]}) == 1 and answers[0] != answers[1]


def test_of_many_repositories_a_cursor_stays_short_and_an_answer_without_places_names_none(shop, tmp_path, monkeypatch):
    monkeypatch.setattr(grep_tool, "_MOST_NAMED", 1)
    monkeypatch.setattr(grep_tool, "_SKIPPED_COUNTED", 2)
    home = open_home(tmp_path / "home")
    for key in ("one", "two"):
        build(workspace_of(home, RepositoryEntry(key, str(shop.path))))
    catalogue = IndexCatalogue.of(home.settings)

    def call(**arguments):
        return tools_by_name()["grep"].ask(ToolContext(catalogue, tmp_path), arguments)

    first = call(pattern="count_coins", limit=12)
    assert len(first.next.split(".")) == 5
    assert call(pattern="count_coins", limit=100, cursor=first.next).total == first.total == 30
    monkeypatch.setattr(line_groups, "MOST_LINES", 1)
    (told, *_) = call(pattern="count_coins").notes
    assert told.startswith("more than 1 line match; only the first ones in 1 of 3 repositories were looked at")
    none = call(pattern="nothing like it")
    assert none.as_of == []
    assert [note for note in none.notes if "not indexed" in note] == [
        f"1 file of {key} not indexed and not searched: 1 binary" for key in ("one", "shop")
    ]
    assert [each.repo for each in call(pattern="nothing like it", repos=["two"]).as_of] == ["two"]
