"""The model of an agent by which `benchmarks/agent_cost.py` counts what an agent reads."""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.agent_cost import Cost, _program, make_askers, print_tables, ratio_of_medians
from benchmarks.agent_peers import Grep, Semble, grep_and_read, read_whole_files, semble_and_read, words_of
from benchmarks.agent_sessions import (
    CAP,
    Outcome,
    Shown,
    Sight,
    Step,
    follow,
    read_file,
    read_rows,
    read_sources,
    search_and_read,
    tokens_of,
)
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question

RG = shutil.which("rg")
needs_ripgrep = pytest.mark.skipif(RG is None, reason="needs ripgrep")


def question(*relevant: AnswerPlace, symbols: tuple[AnswerPlace, ...] = ()) -> Question:
    return Question("q", "who feeds the lion", relevant, symbols)


def test_an_agent_pays_for_what_it_writes_and_all_that_it_gets_until_the_target_is_in_sight():
    steps = [
        Step("search lion", "a.py:1  function  roar"),
        Step("read", "b.py", (Shown("b.py", 3, 4),)),
        Step("read", "never reached " * 100, (Shown("c.py"),)),
    ]

    outcome = follow(steps, question(AnswerPlace("b.py")))

    texts = ("search lion", "a.py:1  function  roar", "read", "b.py")
    assert outcome == Outcome(named=[sum(map(tokens_of, texts))], read=[])


def test_what_comes_beyond_the_cap_is_not_seen():
    steps = [Step("read", "word " * CAP), Step("read", "b.py", (Shown("b.py"),))]

    assert follow(steps, question(AnswerPlace("b.py"))).named == [None]


@pytest.mark.parametrize(
    ("shown", "target", "is_named"),
    [
        pytest.param(Shown("a.py", is_source=False), AnswerPlace("a.py"), True, id="a row is enough for a file"),
        pytest.param(Shown("a.py", 5, 9), AnswerPlace("a.py", 9, 12), True, id="lines that overlap"),
        pytest.param(Shown("a.py", 5, 8), AnswerPlace("a.py", 9, 12), False, id="lines before"),
        pytest.param(Shown("b/a.py"), AnswerPlace("a.py"), False, id="another file"),
    ],
)
def test_a_target_is_named_by_its_file_and_where_it_has_lines_by_some_of_them(shown, target, is_named):
    sight = Sight()
    sight.add([shown])

    assert sight.names(target) is is_named


@pytest.mark.parametrize(
    ("shown", "target", "is_read"),
    [
        pytest.param([Shown("a.py", 1, 3)], AnswerPlace("a.py", 1, 4), True, id="three quarters"),
        pytest.param([Shown("a.py", 1, 2)], AnswerPlace("a.py", 1, 4), False, id="a half"),
        pytest.param([Shown("a.py", 1, 2), Shown("a.py", 3, 4)], AnswerPlace("a.py", 1, 4), True, id="in two parts"),
        pytest.param([Shown("a.py", 1, 45)], AnswerPlace("a.py", 1, 500), True, id="the beginning of a long one"),
        pytest.param(
            [Shown("a.py", 1, 4, is_source=False)], AnswerPlace("a.py", 1, 4), False, id="spoken of, not shown"
        ),
    ],
)
def test_a_target_is_read_when_most_of_its_lines_were_shown(shown, target, is_read):
    sight = Sight()
    sight.add(shown)

    assert sight.has_read(target) is is_read


def test_with_an_index_the_hits_are_read_in_order_until_the_function_is_seen(catalogue, tmp_path):
    feed = AnswerPlace("zoo/keeper.py", 6, 8)
    as_text, as_structured = make_askers(catalogue, tmp_path)

    steps = list(search_and_read(as_text, "give food to an animal"))
    outcome = follow(iter(steps), question(AnswerPlace("zoo/keeper.py"), symbols=(feed,)))

    assert [step.call.partition(" ")[0] for step in steps[:2]] == ["search", "read"]
    assert outcome.named == [tokens_of(steps[0].call) + tokens_of(steps[0].answered)]
    assert outcome.read[0] > outcome.named[0]
    assert any("zoo/keeper.py:6-8" in step.call and "digest(food)" in step.answered for step in steps)
    (structured, *_) = search_and_read(as_structured, "give food to an animal")
    assert json.loads(structured.answered)["hits"]


def test_counted_alone_there_are_rows_or_sources_and_no_calls(catalogue):
    tree = catalogue.layout.home.parent / "zoo"
    ask, _ = make_askers(catalogue, tree)

    (row, *_) = read_rows(ask, "lion roars")
    (source, *_) = read_sources(ask, tree, "lion roars")

    assert (row.call, source.call) == ("", "")
    assert row.answered.startswith("zoo/animals.py:")
    assert "\n" not in row.answered
    assert "class Lion" in source.answered or "def roar" in source.answered


def test_an_agent_greps_for_the_words_that_say_something():
    assert words_of("How does the Lion feed its feed_all?") == ["Lion", "feed", "feed_all"]
    assert words_of("how to?") == ["how to?"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "both.py").write_text("lion = 1\nfood = 2\n")
    (folder / "one.py").write_text("lion = 1\n" * 30)
    (folder / "notes.md").write_text("lion food\n")
    return folder


@needs_ripgrep
def test_files_with_more_of_the_words_come_first_and_prose_is_left_out(tree):
    grep = Grep(Path(str(RG)), tree)

    assert grep.ranked(["lion", "food"], by_rarity=False) == ["both.py", "one.py"]
    assert [step.shown[0] for step in read_whole_files(grep, "lion food")] == [
        Shown("both.py", 1, 2),
        Shown("one.py", 1, 30),
    ]


@needs_ripgrep
def test_with_ripgrep_the_ranked_files_are_listed_and_then_read(tree):
    listed, first, second = grep_and_read(Grep(Path(str(RG)), tree), "lion food", in_context=False)

    assert listed.answered == "both.py\none.py"
    assert listed.shown == ()
    assert (first.answered, first.shown) == ("1\tlion = 1\n2\tfood = 2", (Shown("both.py", 1, 2),))
    assert second.shown == (Shown("one.py", 1, 30),)


@needs_ripgrep
def test_in_context_the_matches_come_before_whole_files(tree):
    _, matches, *_ = grep_and_read(Grep(Path(str(RG)), tree), "food", in_context=True)

    assert matches.answered == "1-lion = 1\n2:food = 2"
    assert matches.shown == (Shown("both.py", 1, 1), Shown("both.py", 2, 2))


def test_with_semble_five_hits_come_first_then_lines_around_them_then_more_hits(tree):
    chunk = ["one.py", 10, 12, "lion = 1\n" * 3]
    answer = {"texts": ["ten lines", "whole"], "chunks": [chunk]}
    semble = Semble({"lion": [answer] * 4}, [])

    first, around, *more = semble_and_read(semble, tree, "lion", snippet=10, window=9)

    assert (first.answered, first.shown) == ("ten lines", (Shown("one.py", 10, 12),))
    assert around.shown == (Shown("one.py", 7, 15),)
    assert [step.call for step in more] == [
        f'search {{"query": "lion", "repo": ".", "top_k": {top}}}' for top in (10, 20, 50)
    ]


def test_without_lines_semble_tells_places_alone(tree):
    text = json.dumps({"query": "lion", "results": [{"file_path": "one.py", "score": 0.5, "content": "lion = 1"}]})
    answer = {"texts": [text, text], "chunks": [["one.py", 10, 12, "lion = 1\n" * 3]]}

    first, *_ = semble_and_read(Semble({"lion": [answer] * 4}, []), tree, "lion", snippet=0)

    assert json.loads(first.answered)["results"] == [{"file_path": "one.py", "score": 0.5}]
    assert first.shown == ()


def test_a_file_is_read_with_numbers_and_no_further_than_it_goes(tree):
    step = read_file(tree, "both.py", first=2, last=9)

    assert (step.answered, step.shown) == ("2\tfood = 2", (Shown("both.py", 2, 2),))


def test_the_ratio_of_medians_has_an_interval_over_the_same_questions():
    paid = np.array([100.0, 200.0, 400.0, 800.0])

    assert ratio_of_medians(paid, 2 * paid) == (0.5, 0.5, 0.5)


def test_what_was_never_found_costs_the_cap_and_is_counted(capsys):
    found, missed = Outcome([300], []), Outcome([None], [])
    costs = [Cost(f"{n}", "python", "search + read", each) for n, each in enumerate([found, found, missed])]

    print_tables(costs)

    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| search + read | 3 |"))
    assert row.split(" | ")[2:7] == ["300", "300 to 16,150", "10,867", "1", "0.67"]


def test_a_program_that_is_missing_is_named():
    with pytest.raises(argparse.ArgumentTypeError, match="nowhere/rg is no program: name one that is installed"):
        _program("nowhere/rg")
