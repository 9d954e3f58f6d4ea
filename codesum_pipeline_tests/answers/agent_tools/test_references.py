"""Who uses what nobody calls: what is handed over as a value, types and constants; and what an answer leaves out."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.start_names import lines_beside
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.homes import built_once, copy_built

FILES = {
    "pkg/__init__.py": "",
    "pkg/rules.py": '''"""Rules."""

MOST_TRIES = 3
UNUSED_LIMIT = 4
DIGEST = "sha1"
SETTINGS = {
    "a": 1,
}


class Rule:
    """One rule."""

    GRACE = 2

    def check(self, value):
        """Check a value."""
        return bool(value)


class RuleBroken(Exception):
    """A rule is broken."""


def digest(value):
    """The digest of a value."""
    return DIGEST + str(value)


def by_weight(row):
    return row[0] + row[1]


def parse(line):
    return line.strip()


def on_save(record):
    if record:
        return record
    return None


def on_close():
    return on_save(None)


def traced(function):
    """Trace a function."""
    return function


def nobody_at_all(value):
    if value:
        return value
    return 0


def prepared(value):
    return value


def loads(text):
    """Read a text."""
    return text
''',
    "pkg/app.py": '''"""The application."""

import json

from pkg.rules import (
    MOST_TRIES, SETTINGS, Rule, RuleBroken, by_weight, digest, on_close, on_save, parse, prepared, traced,
)
from pkg import rules

HANDLERS = {"save": on_save, "close": on_close}


def order(rows):
    """Order the rows."""
    return sorted(rows, key=by_weight)


def read(lines, pool, rule: Rule):
    """Read all lines."""
    pool.submit(rule.check, 1)
    return list(map(parse, lines))


def retry(work):
    """Try again."""
    for _ in range(MOST_TRIES):
        try:
            return work()
        except RuleBroken:
            continue


def last(values):
    return values[: rules.MOST_TRIES], SETTINGS["a"]


@traced
def decorated(value):
    return digest(value)


def shadowed(parse, by_weight=None):
    return parse, by_weight


def guess(thing):
    return thing.nobody_at_all(1)


def another_guess(thing):
    """Call nobody_at_all(x)."""
    return thing


def outside(text):
    # Not nobody_at_all(text).
    return json.loads(text)


def starts(clock):
    clock.later(prepared)
''',
    "tests/test_app.py": """from pkg.app import order
from pkg.rules import nobody_else, on_save, prepared


def helper(value):
    return value


def test_order(runner):
    assert runner.invoke(order, [1])
    assert list(map(helper, [1]))


def test_prepared(runner):
    assert runner.invoke(prepared)
""",
    "scripts/old.tcl": "proc parse {x} { return 1 }\nparse(1)\n",
    "README.md": "Call nobody_at_all(1) to see.\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory.mktemp("references"), FILES)


Ask = Callable[..., AnswerPage]


def asking(home: Path, here: Path) -> Ask:
    catalogue = IndexCatalogue.of(load_settings({"home": home}, environ={}))

    def ask(tool: str, /, **arguments: object) -> AnswerPage:
        return tools_by_name()[tool].ask(ToolContext(catalogue, here), arguments)

    return ask


@pytest.fixture(scope="module")
def ask(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return asking(folder / "home", tmp_path_factory.mktemp("elsewhere"))


def ids(page: AnswerPage, relation: str) -> list[str]:
    return sorted(row.id for group in page.groups if group.relation == relation for row in group.rows)


@pytest.mark.parametrize(
    ("used", "users"),
    [
        pytest.param("by_weight", ["pkg/app.py::order"], id="a function as a keyword argument"),
        pytest.param("pkg/rules.py::parse", ["pkg/app.py::read"], id="a function as an argument"),
        pytest.param("Rule.check", ["pkg/app.py::read"], id="a method of an object, handed over"),
        pytest.param("on_save", ["pkg/app.py"], id="a function in a table of handlers"),
        pytest.param("Rule", ["pkg/app.py::read"], id="a class as the type of a parameter"),
        pytest.param("RuleBroken", ["pkg/app.py::retry"], id="an exception that is caught"),
        pytest.param("nobody_at_all", [], id="a function whose name alone is used on an unknown object"),
        pytest.param("digest", [], id="a function that is called"),
        pytest.param("MOST_TRIES", ["pkg/app.py::last", "pkg/app.py::retry"], id="a constant of another file"),
        pytest.param("pkg/rules.py::MOST_TRIES", ["pkg/app.py::last", "pkg/app.py::retry"], id="a constant by its id"),
        pytest.param("SETTINGS", ["pkg/app.py::last"], id="a constant of several lines"),
        pytest.param("DIGEST", ["pkg/rules.py::digest"], id="a constant, where a function differs in case alone"),
    ],
)  # fmt: skip
def test_who_uses_something_without_a_call_is_told_apart_from_callers(ask: Ask, used: str, users: list[str]) -> None:
    page = ask("graph", id=used)

    assert ids(page, "referenced_by") == users
    assert not set(users).intersection(ids(page, "callers"))


def test_a_decorator_is_called_where_it_decorates(ask: Ask) -> None:
    assert ids(ask("graph", id="traced"), "callers") == ["pkg/app.py"]


def test_what_a_function_refers_to_has_its_constants_last(ask: Ask) -> None:
    (group,) = ask("graph", id="retry", relations=["references"]).groups

    assert [(row.kind, row.id, row.place) for row in group.rows] == [
        ("class", "pkg/rules.py::RuleBroken", "pkg/rules.py:21-22"),
        ("constant", "pkg/rules.py::MOST_TRIES", "pkg/rules.py:3"),
    ]


@pytest.mark.parametrize(
    ("id_", "relation", "expected"),
    [
        pytest.param(
            "pkg/rules.py", "referenced_by",
            ["pkg/app.py", "pkg/app.py::last", "pkg/app.py::order", "pkg/app.py::read", "pkg/app.py::retry"],
            id="of a file: who refers to what it defines, its constants too",
        ),
        pytest.param("tests", "references", ["pkg/app.py::order", "pkg/rules.py::prepared"], id="of a folder"),
    ],
)  # fmt: skip
def test_a_file_or_folder_has_what_refers_to_it_from_elsewhere(
    ask: Ask, id_: str, relation: str, expected: Sequence[str]
) -> None:
    found = ids(ask("graph", id=id_, relations=[relation], limit=100), relation)

    assert set(expected) <= set(found)
    assert not any(one.startswith(id_) for one in found)


def test_a_constant_is_shown_with_its_line_and_read_from_there(ask: Ask) -> None:
    page = ask("graph", id="SETTINGS")
    (item,) = ask("read", ids=["SETTINGS"]).items

    assert (page.document.kind, page.document.place) == ("constant", "pkg/rules.py:6")
    assert ids(page, "part_of") == [".", "pkg", "pkg/rules.py"]
    assert (item.first_line, item.lines[:3]) == (6, ["SETTINGS = {", '    "a": 1,', "}"])


@pytest.mark.parametrize(
    "id_", ["NOT_THERE", "pkg/app.py::MOST_TRIES", "Rule.MOST_TRIES", "UNUSED_LIMIT.x", "most_tries", "pkg/app.py::"]
)
def test_a_constant_that_is_not_there_is_named_in_the_error(ask: Ask, id_: str) -> None:
    with pytest.raises(ConfigurationError, match="no document '"):
        ask("graph", id=id_)


def test_users_go_on_with_a_cursor(ask: Ask) -> None:
    first = ask("graph", id="MOST_TRIES", relations=["referenced_by"], limit=1)
    second = ask("graph", id="MOST_TRIES", relations=["referenced_by"], limit=1, cursor=first.next)

    assert (first.total, second.total) == (2, 2)
    assert ids(first, "referenced_by") != ids(second, "referenced_by")


def test_callers_of_callers_are_followed_and_what_is_handed_over_is_named_instead(ask: Ask) -> None:
    page = ask("graph", id="on_save", relations=["callers"], depth=3)

    assert ids(page, "callers") == ["pkg/rules.py::on_close"]
    (said,) = (each for each in page.not_counted if each.startswith("calls of what is handed over"))
    assert said.endswith(": pkg/rules.py::on_save, pkg/rules.py::on_close")


def test_calls_of_that_name_whose_target_is_unknown_are_counted_and_placed(ask: Ask) -> None:
    (said, *_) = ask("graph", id="nobody_at_all").not_counted

    assert said == (
        "2 other functions or files with `nobody_at_all(` whose target is not known: pkg/app.py:47, pkg/app.py:51"
    )


@pytest.mark.parametrize(
    ("id_", "why"),
    [
        pytest.param("pkg/rules.py::loads", "the same name outside the repository", id="a name known to be another's"),
        pytest.param("digest", "its caller is counted", id="a caller that is known"),
        pytest.param("pkg/rules.py::parse", "a parameter shadows it, and Tcl is no Python", id="no call of the name"),
    ],
)  # fmt: skip
def test_a_call_whose_target_is_known_is_not_said_to_be_unknown(ask: Ask, id_: str, why: str) -> None:
    assert not any("whose target is not known" in each for each in ask("graph", id=id_).not_counted), why


def test_what_is_never_counted_is_said_once_at_the_end(ask: Ask) -> None:
    text = ask("graph", id="by_weight").text()

    assert text.split("\n")[-1] == (
        "not counted: code in Tcl, which is not resolved; uses by reflection or by a name in a text, and code outside "
        "this repository"
    )
    assert ask("graph", id="by_weight", relations=["callees"]).not_counted == []
    assert ask("graph", id="pkg").not_counted == []


def test_read_and_the_line_beside_a_hit_say_who_uses_what_nobody_calls(ask: Ask, folder: Path, tmp_path: Path) -> None:
    facts = ask("read", ids=["by_weight"], parts="summary").items[0].facts
    call = ToolContext(IndexCatalogue.of(load_settings({"home": folder / "home"}, environ={})), tmp_path)
    key = ("shop", "pkg/rules.py::prepared")

    assert facts["used by"].startswith("order: Order the rows")
    assert ask("read", ids=["order"]).items[0].facts["tested by"] == "test_order"
    assert lines_beside(call, [key])[key] == "Referenced by starts, test_prepared"


def test_a_definition_that_is_only_handed_over_is_used_by_another_file(ask: Ask) -> None:
    used = ids(ask("get_file_analysis", path="pkg/rules.py"), "used by other files")

    assert "pkg/rules.py::by_weight" in used
    assert "pkg/rules.py::nobody_at_all" not in used


def test_files_that_were_not_looked_through_are_counted(tmp_path: Path) -> None:
    """Of many files that have a name, some are read: an answer without unknown calls says that there may be more."""
    texts = {f"m{number:02}.py": f"VALUE = {{'sift': {number}}}\n" for number in range(60)}
    folder = built_once(tmp_path, {"sift.py": "def sift(rows):\n    return rows[0] + rows[1]\n", **texts})

    (said, *_) = asking(folder / "home", tmp_path)("graph", id="sift.py::sift").not_counted
    assert said == "`sift(` in 11 files with this name that were not looked through"


def test_without_sources_it_is_said_that_nothing_was_looked_through(folder: Path, tmp_path: Path) -> None:
    copy_built(folder, tmp_path)
    shutil.rmtree(tmp_path / "home" / "mirrors")

    (said, *_) = asking(tmp_path / "home", tmp_path)("graph", id="nobody_at_all").not_counted
    assert said == "`nobody_at_all(` in 2 files with this name that were not looked through"


def test_show_lists_who_refers_to_a_document_for_people_and_programs(folder: Path, tmp_path: Path) -> None:
    shown = fork_codesum("--home", folder / "home", "show", "pkg/rules.py::by_weight", cwd=tmp_path)
    as_json = fork_codesum("--home", folder / "home", "show", "pkg/rules.py::by_weight", "--json", cwd=tmp_path)

    assert "referenced by" in shown.stdout
    assert [each["id"] for each in json.loads(as_json.stdout)["referenced_by"]] == ["pkg/app.py::order"]


def test_show_of_a_constant_lists_who_refers_to_it(folder: Path, tmp_path: Path) -> None:
    shown = fork_codesum("--home", folder / "home", "show", "MOST_TRIES", cwd=tmp_path)
    as_json = fork_codesum("--home", folder / "home", "show", "pkg/rules.py::MOST_TRIES", "--json", cwd=tmp_path)
    unknown = fork_codesum("--home", folder / "home", "show", "LEAST_TRIES", cwd=tmp_path)

    assert shown.stdout.startswith("pkg/rules.py::MOST_TRIES  line 3\nconstant · shop\n")
    found = json.loads(as_json.stdout)
    assert (found["type"], found["start_line"]) == ("constant", 3)
    assert {each["id"] for each in found["referenced_by"]} == {"pkg/app.py::last", "pkg/app.py::retry"}
    assert (unknown.returncode, "no document 'LEAST_TRIES' in shop" in unknown.stderr) == (2, True)
