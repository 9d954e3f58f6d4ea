"""`codesum ask` on a terminal, through a pipe, for programs, without a model, and interrupted."""

import asyncio
import io
import json
import re
import sqlite3
import subprocess
import time
from contextlib import closing

import pyte
import pytest
from rich.console import Console

from codesum_pipeline.answers.question_answering.question_store import STORE_FILE
from codesum_pipeline.answers.question_answering.turn_events import BlockWritten, TextAdded
from codesum_pipeline.ways_in.cli.commands.ask import WrittenAnswer
from codesum_pipeline_tests.answers.question_answering.conftest import Shop, indexed_shop, shop
from codesum_pipeline_tests.support.asking_shop import ENDINGS
from codesum_pipeline_tests.support.commands import COMMAND, environment, fork_codesum
from codesum_pipeline_tests.support.llm_requests import MODEL
from codesum_pipeline_tests.support.llm_server import Fails
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams
from codesum_pipeline_tests.support.played_turns import OVERVIEW, SYNTHESIS, in_order, overview_then
from codesum_pipeline_tests.ways_in.cli.terminal import fork_on_a_terminal, watch

__all__ = ["indexed_shop", "shop"]
QUESTION = "What is in this codebase?"
LONG = (
    "# The shop\n\nIt takes orders (`shop/orders.py:8`) and " + "charges cards again and again, " * 12 + "always.\n\n"
    "- one\n- two, see `shop/nowhere.py:3`\n\n```python\nfor item in basket:\n\n    pay(item)\n```\n\nThat is all."
)


@pytest.fixture
def cli(shop: Shop) -> Shop:
    """The shop with its settings in a file."""
    shop.write_settings()
    return shop


def ask(cli: Shop, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return fork_codesum("--home", cli.home, "ask", *arguments, cwd=cli.home.parent, env=env)


def test_a_pipe_gets_the_answer_alone_and_stderr_what_it_cost(cli: Shop) -> None:
    cli.server.script = overview_then(SYNTHESIS)

    done = ask(cli, *QUESTION.split())

    assert (done.returncode, done.stdout) == (0, f"{ENDINGS['overview']}\n")
    as_of, cost = done.stderr.splitlines()
    assert re.fullmatch(r"as of shop @ [0-9a-f]{12}, at HEAD", as_of)
    assert re.fullmatch(rf"{MODEL}: \$0\.0\d+, 1 step, [\d,]+ tokens read, \d+ written", cost)


@pytest.mark.slow
def test_a_program_gets_one_json_object(cli: Shop) -> None:
    cli.server.script = in_order(Streams("In `shop/orders.py:8` and `shop/coins.py:1`."))

    done = ask(cli, QUESTION, "--json")
    values = json.loads(done.stdout)

    assert {
        name: values[name] for name in ("question", "model", "text", "failed", "citations", "citations_dropped")
    } == {
        "question": QUESTION,
        "model": MODEL,
        "text": "In `shop/orders.py:8` and.",
        "failed": None,
        "citations": 1,
        "citations_dropped": 1,
    }
    assert values["usd"] > 0
    assert [(each["repo"], each["behind"]) for each in values["as_of"]] == [("shop", 0)]
    assert "1 citation taken out: it names lines that the sources do not have" in done.stderr


@pytest.mark.slow
def test_a_conversation_goes_on_with_continue_or_by_its_id(cli: Shop) -> None:
    cli.server.script = lambda _request: Streams("It sells.")
    first = json.loads(ask(cli, QUESTION, "--json").stdout)

    going_on = json.loads(ask(cli, "--continue", "And what else?", "--json").stdout)
    by_id = ask(cli, "--conversation", first["conversation"], "And then?")
    both = ask(cli, "--continue", "--conversation", first["conversation"], "And then?")

    assert going_on["conversation"] == first["conversation"]
    assert [turn["role"] for turn in cli.server.seen[1].turns] == ["user", "assistant", "user"]
    assert len(cli.server.seen[2].turns) == 5
    assert (by_id.returncode, both.returncode) == (0, 2)
    assert "--continue and --conversation: choose one of them" in both.stderr


@pytest.mark.parametrize(
    "width", [40, pytest.param(80, marks=pytest.mark.slow), pytest.param(140, marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_on_a_terminal_it_is_written_block_by_block_at_any_width(cli: Shop, width: int) -> None:
    cli.server.script = in_order(Streams("", [Calls("search", {"query": "card"})]), Streams(LONG, pause_s=0.002))

    shown = fork_on_a_terminal("--home", cli.home, "ask", QUESTION, cwd=cli.home.parent, width=width)

    lines = shown.lines()
    text = " ".join(" ".join(lines).split())
    assert shown.exit_code == 0
    assert max(map(len, lines)) <= width
    assert lines[0] == "· search card"
    assert text.count("The shop") == 1
    assert text.count("always.") == 1
    assert "pay(item)" in text
    assert text.count("That is all.") == 1
    assert "nowhere" not in text
    assert f"{MODEL}: $0.0" in text


def test_a_block_that_takes_long_to_draw_wipes_nothing_of_the_blocks_before() -> None:
    output = io.StringIO()
    written = WrittenAnswer(Console(file=output, force_terminal=True, force_interactive=True, width=80, height=50))

    async def hear_all() -> None:
        written.hear(BlockWritten("the first block"))
        written.hear(TextAdded("one\n\ntwo\n\nthree\n\nfour"))
        await asyncio.sleep(0.3)
        assert "four" in output.getvalue()
        written.hear(BlockWritten("```python\n" + "feed(animal, food=[hay, 1.5])\n" * 2000 + "```"))

    with written.drawn():
        asyncio.run(hear_all())

    screen = pyte.HistoryScreen(80, 50, history=5000)
    pyte.Stream(screen).feed(output.getvalue().replace("\n", "\r\n"))
    top = "".join(character.data for character in screen.history.top[0].values())
    assert top.rstrip() == "the first block"


@pytest.mark.slow
def test_a_synthesis_that_breaks_off_is_said_to_count_for_nothing(cli: Shop) -> None:
    cli.server.script = overview_then(Streams("Half of it is here.\n\nAnd then", breaks_after=5), Streams("The whole."))

    shown = fork_on_a_terminal("--home", cli.home, "ask", QUESTION, cwd=cli.home.parent, width=100)

    lines = shown.lines()
    assert any("the overview was not written up: connection" in line for line in lines)
    assert "The whole." in [line.strip() for line in lines]


@pytest.mark.slow
def test_text_of_a_model_cannot_act_on_the_terminal(cli: Shop) -> None:
    cli.server.script = in_order(Streams("Red \x1b[31mor\x1b]0;title\x07 [bold]not[/] \u202eever."))

    shown = fork_on_a_terminal("--home", cli.home, "ask", QUESTION, cwd=cli.home.parent, width=100)

    assert b"title" not in shown.raw
    assert "Red or [bold]not[/] ever." in " ".join(shown.lines())


def test_without_a_model_it_says_so_in_a_line_and_shows_what_the_index_has(cli: Shop) -> None:
    done = ask(cli, "charge_card", env={"CODESUM_LLM__ENABLED": "false"})

    assert done.returncode == 0
    assert "shop/payment.py:4" in done.stdout
    why, as_of = done.stderr.splitlines()
    assert why == "no answer by a model: no model is set up (llm.enabled is false); above is what the index has"
    assert as_of.startswith("as of shop @ ")


@pytest.mark.slow
def test_a_model_that_fails_is_told_and_the_exit_code_says_so(cli: Shop) -> None:
    cli.server.script = lambda _request: Fails(500)

    done = ask(cli, "charge_card")

    assert done.returncode == 1
    assert "shop/payment.py:4" in done.stdout
    assert "no answer by a model: " in done.stderr


CUT = Streams("Orders are placed in `shop/orders.py:8`, and then the card is", ends="length")
LIMIT = (
    "an answer has at most ask.max_tokens = 4096 tokens; raise it, or the limit of the model's server if that is lower"
)


def test_a_cut_answer_says_so_at_its_end_and_names_the_setting(cli: Shop) -> None:
    cli.server.script = in_order(CUT)

    done = ask(cli, QUESTION)

    assert (done.returncode, done.stdout) == (0, f"{CUT.text}\n\n(The answer was cut here: {LIMIT}.)\n")


@pytest.mark.slow
def test_a_program_is_told_that_an_answer_was_cut(cli: Shop) -> None:
    cli.server.script = in_order(CUT)

    values = json.loads(ask(cli, QUESTION, "--json").stdout)

    assert (values["ended"], values["failed"], values["citations"]) == ("length", None, 1)
    assert "ask.max_tokens = 4096" in values["text"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "reason", "said"),
    [
        pytest.param(Streams("It sells, and", ends="length"), "length", f"cites no line of the sources: {LIMIT}"),
        pytest.param(Streams(reasoning="Let me", ends="length"), "length", f"its reasoning and no answer: {LIMIT}"),
        pytest.param(Streams("It", ends="content_filter"), "content-filter", "a content filter of the provider"),
        pytest.param(Streams(refusal="I will not."), "refusal", "the model refuses to answer; it wrote: I will not."),
        pytest.param(Streams("It", error={"message": "died"}), "error-in-answer", "instead of the answer: died"),
    ],
    ids=["cut without a citation", "nothing but reasoning", "a filter", "a refusal", "an error inside"],
)
def test_an_answer_that_ended_too_early_fails_and_says_why(
    cli: Shop, behaviour: Streams, reason: str, said: str
) -> None:
    cli.server.script = lambda _request: behaviour

    done = ask(cli, "charge_card", "--json")

    assert (done.returncode, json.loads(done.stdout)["failed"]) == (1, reason)
    assert f"no answer by a model: {json.loads(done.stdout)['detail']}; above is what the index has" in done.stderr
    assert said in done.stderr
    assert len(cli.server.seen) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "said", "exit_code"),
    [
        pytest.param(CUT, f"(The answer was cut here: {LIMIT}.)", 0, id="cut"),
        pytest.param(Streams("It sells, and", ends="length"), LIMIT, 1, id="cut without a citation"),
    ],
)
def test_on_a_narrow_terminal_a_cut_answer_says_so(cli: Shop, behaviour: Streams, said: str, exit_code: int) -> None:
    cli.server.script = in_order(behaviour)

    shown = fork_on_a_terminal("--home", cli.home, "ask", QUESTION, cwd=cli.home.parent, width=40)

    lines = shown.lines()
    assert shown.exit_code == exit_code
    assert max(map(len, lines)) <= 40
    # What goes to stderr is broken by the terminal, within words, too.
    assert "".join(said.split()) in "".join("".join(lines).split())


def test_an_unknown_repository_is_named_and_nobody_is_asked(cli: Shop) -> None:
    done = ask(cli, QUESTION, "--repo", "nowhere")

    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert cli.server.seen == []


def test_a_question_of_a_hundred_kilobytes_is_refused_in_a_line(cli: Shop) -> None:
    done = ask(cli, "why " * 25_000)

    assert done.returncode == 2
    assert "the question has 100,000 characters, at most 16,000 are taken" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_ctrl_c_ends_clean_and_leaves_nothing_open(cli: Shop) -> None:
    cli.server.script = overview_then(Streams(ENDINGS["overview"], hangs_after=8))

    shown = watch(
        ["--home", cli.home, "ask", QUESTION],
        cwd=cli.home.parent,
        width=100,
        until=lambda shown: b"writing up" in shown.raw and b"The shop" in shown.raw,
    )

    assert shown.exit_code == 130
    assert b"Traceback" not in shown.raw
    assert cli.rows("SELECT status, reason FROM turns") == [("failed", "cancelled")]
    assert cli.rows("SELECT count(*) FROM messages WHERE status = 'streaming'") == [(0,)]


@pytest.mark.slow
def test_two_questions_at_once_are_both_answered_and_both_on_the_books(cli: Shop) -> None:
    cli.server.script = lambda request: (
        SYNTHESIS if "tools" not in request.body else Streams("", [OVERVIEW], pause_s=0.02)
    )
    command = [*COMMAND, "--home", str(cli.home), "ask", QUESTION]
    processes = [
        subprocess.Popen(
            command, cwd=cli.home.parent, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]

    ends = [process.communicate(timeout=200) for process in processes]

    assert [(process.returncode, out) for process, (out, _) in zip(processes, ends, strict=True)] == [
        (0, f"{ENDINGS['overview']}\n")
    ] * 2
    assert cli.rows("SELECT status, count(*) FROM turns GROUP BY status") == [("complete", 2)]
    assert cli.rows("SELECT outcome, count(*) FROM llm_attempts GROUP BY outcome") == [("good", 4)]


@pytest.mark.slow
def test_a_killed_question_is_closed_by_a_later_one(cli: Shop) -> None:
    cli.server.script = lambda request: Streams(
        "It is a shop, and more.", hangs_after=3 if request.number == 1 else None
    )
    process = subprocess.Popen(
        [*COMMAND, "--home", str(cli.home), "ask", QUESTION], cwd=cli.home.parent, env=environment()
    )
    wait_until_asked(cli)
    process.kill()
    process.wait()
    age(cli)

    done = ask(cli, QUESTION)

    assert done.stdout == "It is a shop, and more.\n"
    assert cli.rows("SELECT status, reason FROM turns ORDER BY started_at") == [
        ("failed", "abandoned"),
        ("complete", None),
    ]
    assert cli.rows("SELECT count(*) FROM messages WHERE status = 'streaming'") == [(0,)]


def wait_until_asked(cli: Shop) -> None:
    end = time.monotonic() + 120
    while not cli.server.seen and time.monotonic() < end:
        time.sleep(0.05)
    assert cli.server.seen


def age(cli: Shop) -> None:
    """Make what is open as old as if ten minutes had gone by."""
    with closing(sqlite3.connect(cli.home / STORE_FILE)) as connection:
        for table in ("turns", "messages"):
            connection.execute(
                f"UPDATE {table} SET touched_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-10 minutes') "
                "WHERE status = 'streaming'"
            )
        connection.commit()
