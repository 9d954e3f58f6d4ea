"""Long functions in the answers of `search` and `read`, of the command line and of the page."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from codesum_pipeline.answers.agent_tools.block_outline import MOST_BLOCKS, outline_of
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.read_tool import WHOLE_LINES
from codesum_pipeline.answers.agent_tools.tool_answers import tokens_of
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.document import LONG_LINES
from codesum_pipeline.ways_in.cli.cli_app import app
from codesum_pipeline_tests.support.homes import built_once
from codesum_pipeline_tests.support.long_function import FILES, LINES

QUERY = "ring the police about a window and start the siren"
PATHS = {name: source for name, source in FILES.items() if name != "station.py"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory.mktemp("long"), PATHS, key="long") / "home"


@pytest.fixture
def ask(home: Path, tmp_path: Path) -> Callable:
    catalogue = IndexCatalogue.of(load_settings({"home": home}, environ={}))

    def call(tool: str, **arguments: object):
        return tools_by_name()[tool].ask(ToolContext(catalogue, tmp_path), arguments)

    return call


def test_a_hit_in_a_long_function_names_the_passage_and_what_it_is_in(ask):
    page = ask("search", query=QUERY, paths=["loop.py"], levels=["function"])
    (hit,) = page.hits

    assert hit.passage_start <= LINES["burglary"] + 2 <= hit.passage_end
    row = f"loop.py:{hit.passage_start}-{hit.passage_end}  in run (1-{hit.end_line})  "
    (line,) = (line for line in page.text().splitlines() if line.startswith("loop.py"))
    assert line.startswith(row)
    assert not line.removeprefix(row).startswith("run")


def test_the_passage_of_a_hit_can_be_read_as_it_is_named(ask):
    (hit,) = ask("search", query=QUERY, paths=["loop.py"], levels=["function"]).hits

    (item,) = ask("read", ids=[hit.passage]).items
    assert (item.first_line, item.last_line) == (hit.passage_start, hit.passage_end)
    assert any("siren.start()" in line for line in item.lines)


def test_an_excerpt_of_a_long_hit_is_of_its_passage(ask):
    (hit,) = ask("search", query=QUERY, paths=["loop.py"], levels=["function"], excerpt=3).hits

    assert len(hit.excerpt) == 3
    assert hit.passage_start <= hit.excerpt_start <= hit.passage_end


def test_a_hit_that_is_short_has_no_passage(ask):
    hits = ask("search", query="close the shop", levels=["function"], paths=["small.py"]).hits

    assert [(hit.passage_start, hit.passage) for hit in hits] == [(None, "")]


def test_a_long_file_without_definitions_names_its_passage_too(tmp_path: Path):
    words = [f"Paragraph {number} says nothing." for number in range(200)]
    words[150] = "Refunds are paid on the last Friday of a month."
    once = built_once(tmp_path, {"guide.md": "\n\n".join(words), "x.py": "def f():\n    return 1\n"}, key="guide")
    catalogue = IndexCatalogue.of(load_settings({"home": once / "home"}, environ={}))
    call = ToolContext(catalogue, tmp_path)

    page = tools_by_name()["search"].ask(call, {"query": "on which day are refunds paid", "levels": ["file"]})

    assert page.hits[0].path == "guide.md"
    assert page.hits[0].passage_start <= 301 <= page.hits[0].passage_end
    assert f"{page.hits[0].passage}  in file  " in page.text()


def test_the_command_names_the_passage_and_json_has_its_lines(home: Path):
    def run(*arguments: str) -> str:
        return CliRunner().invoke(app, ["--home", str(home), "search", QUERY, "--path", "loop.py", *arguments]).stdout

    hit = next(hit for hit in json.loads(run("--json"))["hits"] if hit["id"] == "loop.py::run")
    lines = hit["passage"]
    assert lines["start_line"] <= LINES["burglary"] + 2 <= lines["end_line"]
    assert f"lines {lines['start_line']}-{lines['end_line']} of 1-{hit['end_line']}" in run()


def test_a_long_function_is_read_as_its_outline_with_the_lines_that_fit(ask):
    page = ask("read", ids=["worker.py::work"], query=QUERY)
    (item,) = page.items

    assert item.outline[0].startswith("1-") and item.outline[0].endswith("def work(events):")
    assert any("if event.kind == 'burglary':" in block for block in item.outline)
    assert any("siren.start()" in line for line in item.lines) and len(item.lines) <= 12
    assert "its blocks, to read as worker.py:first-last" in page.text()
    assert "what fits the query:" in page.text()


def test_without_a_query_it_is_the_outline_alone_and_its_source_can_be_asked_for(ask):
    (outline,) = ask("read", ids=["work"]).items
    (source,) = ask("read", ids=["work"], parts="source").items

    assert outline.outline and not outline.lines
    assert not source.outline and len(source.lines) > WHOLE_LINES


@pytest.mark.parametrize(("lines", "is_outlined"), [(WHOLE_LINES, False), (WHOLE_LINES + 1, True)])
def test_what_is_short_enough_is_read_whole(tmp_path: Path, lines: int, is_outlined: bool):
    body = "".join(f"    value += {number}\n" for number in range(lines - 3))
    once = built_once(tmp_path, {"a.py": f"def add(value):\n    '''Add up.'''\n{body}    return value\n"}, key="add")
    call = ToolContext(IndexCatalogue.of(load_settings({"home": once / "home"}, environ={})), tmp_path)

    (item,) = tools_by_name()["read"].ask(call, {"ids": ["add"]}).items

    assert (bool(item.outline), len(item.lines)) == (is_outlined, 0 if is_outlined else lines)


@pytest.mark.parametrize(("branches", "shown"), [(MOST_BLOCKS - 1, MOST_BLOCKS), (MOST_BLOCKS, MOST_BLOCKS)])
def test_an_outline_has_so_many_blocks_at_most(tmp_path: Path, branches: int, shown: int):
    lines = [f"    if n == {number}:\n        n += 1\n        n += 2\n        n += 3\n" for number in range(branches)]
    source = "def step(n):\n    'Step on.'\n" + "".join(lines) + "    return n\n"
    once = built_once(tmp_path, {"a.py": source}, key="step")
    call = ToolContext(IndexCatalogue.of(load_settings({"home": once / "home"}, environ={})), tmp_path)

    (item,) = tools_by_name()["read"].ask(call, {"ids": ["step"], "tokens": 10_000}).items

    assert len(item.outline) == shown


@pytest.mark.parametrize(("lines", "blocks"), [(3, []), (4, ["1-4\tif n:"])])
def test_a_block_of_few_lines_is_no_part_of_an_outline(lines: int, blocks: list[str]):
    assert [*map(str, outline_of(["if n:", *["    n += 1"] * (lines - 1)], first=1, most=9))] == blocks


@pytest.mark.parametrize(
    ("lines", "query", "is_outlined"),
    [(LONG_LINES, "add", False), (LONG_LINES + 1, "add", True), (LONG_LINES + 1, "", False)],
)
def test_with_a_query_what_has_a_passage_is_read_as_its_outline(
    tmp_path: Path, lines: int, query: str, is_outlined: bool
):
    body = "".join(f"    value += {number}\n" for number in range(lines - 3))
    once = built_once(tmp_path, {"a.py": f"def add(value):\n    '''Add up.'''\n{body}    return value\n"}, key="add")
    call = ToolContext(IndexCatalogue.of(load_settings({"home": once / "home"}, environ={})), tmp_path)

    (item,) = tools_by_name()["read"].ask(call, {"ids": ["add"], "query": query}).items

    assert (bool(item.outline), len(item.lines)) == (is_outlined, 12 if is_outlined else lines)


@pytest.mark.parametrize("tokens", [100, 300, 1000])
def test_an_outline_has_as_many_blocks_as_fit(ask, tokens: int):
    (item,) = ask("read", ids=["work"], tokens=tokens).items

    assert 1 <= len(item.outline) <= 40
    assert tokens_of("\n".join(item.outline)) <= tokens


def test_who_calls_it_is_told_in_a_line(ask):
    text = ask("read", ids=["loop.py::run", "work", "main.py::again"]).text()

    called = [line.strip() for line in text.splitlines() if line.strip().startswith("called by: ")]
    assert called == ["called by: main", "called by: again, main", "called by: nobody known"]


def test_several_are_read_by_name_across_files_and_an_unknown_one_stops_none(ask):
    page = ask("read", ids=["close_shop", "main.py::again", "nosuchthing", "MOST_TRIES"])

    assert [item.id for item in page.items] == ["small.py::close_shop", "main.py::again", "main.py"]
    assert any("no document 'nosuchthing'" in note for note in page.notes)


def test_a_method_is_meant_by_the_end_of_its_path_and_its_own_name(tmp_path: Path):
    files = {
        "shop/till.py": "class Till:\n    def close(self):\n        '''Close the till.'''\n        return self.sum()\n",
        "zoo/till.py": "class Gate:\n    def close(self):\n        '''Close the gate.'''\n        return self.sum()\n",
    }
    once = built_once(tmp_path, files, key="ends")
    catalogue = IndexCatalogue.of(load_settings({"home": once / "home"}, environ={}))

    def read(text: str):
        return tools_by_name()["read"].ask(ToolContext(catalogue, tmp_path), {"ids": [text]})

    assert read("zoo/till.py::close").items[0].id == "zoo/till.py::Gate::close"
    assert read("till.py::Till.close").items[0].id == "shop/till.py::Till::close"
    ambiguous = read("till.py::close")
    assert any("2 documents are meant by 'till.py::close'; also: " in note for note in ambiguous.notes)
    assert any("till.py:2-4 in ends" in note for note in ambiguous.notes)


def test_an_outline_shows_the_outermost_blocks_and_where_they_end():
    lines = [
        "void run(int n)", "{", "  if (n)", "  {", "    a();", "    b();", "  }", "", "  for (;;) {",
        "    switch (n) {", "    case 1:", "      a();", "      b();", "      c();", "    }", "  }", "}",
    ]  # fmt: skip

    assert [*map(str, outline_of(lines, first=11, most=9))] == [
        "11-27\tvoid run(int n)",
        "13-17\t  if (n)",
        "19-26\t  for (;;) {",
        "21-25\t    case 1:",
    ]
    assert [block.first for block in outline_of(lines, first=11, most=2)] == [11, 19]
    assert outline_of(["x = 1"] * 9, first=1, most=9) == []
