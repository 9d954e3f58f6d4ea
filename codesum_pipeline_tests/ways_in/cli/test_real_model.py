"""What no scripted server can prove: the commands with a small model that writes, on a llama.cpp server.

It writes nonsense, so no text is asserted, nor whether one can be used: only what is sent, counted, kept and shown.
"""

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import CallFailure
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.settings.llm_settings import BackendName
from codesum_pipeline.texts.llm.backend import AnotherModel
from codesum_pipeline.texts.llm.pins import AnswerForm
from codesum_pipeline_tests.support.commands import COMMAND, environment, run_codesum
from codesum_pipeline_tests.support.dagster_dev import wait_for
from codesum_pipeline_tests.support.real_model import CONTEXT_TOKENS, CountedTokens, RealModel
from codesum_pipeline_tests.support.shapes import (
    ANSWER_TOKENS,
    DOCUMENTS,
    ENDLESS_TEMPLATES,
    KEY_ENV,
    MODEL,
    STORIES,
    Shapes,
)
from codesum_pipeline_tests.ways_in.cli.terminal import Shown, watch

pytestmark = pytest.mark.model

# A server on one's own machine wants no key, LiteLLM wants some word.
KEY = {KEY_ENV: "none"}
ANSWERED = {AttemptOutcome.GOOD, AttemptOutcome.INVALID}
PATIENCE_S = 240.0
STORY = "Tell the story of a garden."
# Of the packaged templates the short ones fit the context, the long ones do not.
PROMPT_CHARS = 13_000
# Per million tokens, where it matters what is booked.
USD = 1.0
# An answer of so many tokens takes longer than so many seconds.
LONG_TOKENS = 1024
SHORT_S = 4.0


@pytest.fixture(scope="module")
def model() -> Iterator[RealModel]:
    with RealModel() as running:
        yield running


@pytest.fixture
def shapes(model: RealModel, tmp_path: Path) -> Shapes:
    """A home in which the model may write everything."""
    found = Shapes(tmp_path)
    found.set(echoed=model.name, api_base=model.base)
    return found


@pytest.fixture
def endless(model: RealModel, tmp_path: Path) -> Shapes:
    """A home in which the model writes about a function until it may write no more, at a price."""
    found = Shapes(tmp_path, templates=ENDLESS_TEMPLATES)
    set_endless(found, model)
    return found


def set_endless(shapes: Shapes, model: RealModel, **llm: object) -> None:
    shapes.set(
        echoed=model.name, usd=USD, **{"api_base": model.base, "max_summaries_per_run": 1, "max_tokens": 512, **llm}
    )


def index(shapes: Shapes) -> str:
    """Index, and what that says. Where a model gave nothing for a level the build fails, and its index is complete."""
    done = run_codesum("--home", shapes.home, "index", shapes.repo.path, cwd=shapes.home, env=KEY)
    assert done.returncode == 0 or "the index is up to date" in done.stderr, done.stderr
    return done.stderr


def tokens_of(rows: list[LedgerRow]) -> CountedTokens:
    return CountedTokens(
        sum(row.prompt_tokens for row in rows),
        sum(row.cached_tokens for row in rows),
        sum(row.completion_tokens for row in rows),
    )


def only_of(rows: list[LedgerRow]) -> LedgerRow:
    (row,) = rows
    return row


def is_booked_in_full(row: LedgerRow) -> bool:
    """Whether the most that the call can cost was booked, since nobody says how much it was."""
    return row.is_estimated and row.cost_usd == row.reserved_usd > 0


def test_a_build_books_what_the_server_counted_and_what_its_cache_held(model: RealModel, shapes: Shapes) -> None:
    before = model.counted()
    index(shapes)

    rows = shapes.attempts()
    assert len(rows) == DOCUMENTS
    assert {row.outcome for row in rows} <= ANSWERED
    assert tokens_of(rows) == model.counted() - before
    assert all(row.completion_tokens > 0 for row in rows)
    # All prompts begin alike.
    assert all(0 < row.cached_tokens < row.prompt_tokens for row in rows[1:])
    assert {row.model_echoed for row in rows} == {model.name}
    assert {(row.cost_usd, row.is_estimated) for row in rows} == {(0.0, False)}


def test_the_packaged_short_prompt_fits_a_small_context(model: RealModel, tmp_path: Path) -> None:
    shapes = Shapes(tmp_path, templates={})
    shapes.set(
        echoed=model.name, api_base=model.base, max_prompt_chars=PROMPT_CHARS, max_summaries_per_run=1, max_tokens=256
    )
    index(shapes)

    row = only_of(shapes.attempts())
    assert row.outcome in ANSWERED
    assert row.prompt_tokens + row.completion_tokens < CONTEXT_TOKENS


def test_a_server_that_ignores_tools_is_asked_in_the_form_of_a_schema_which_it_follows(
    model: RealModel, tmp_path: Path
) -> None:
    shapes = Shapes(tmp_path, templates=ENDLESS_TEMPLATES)
    shapes.set(
        echoed=model.name,
        api_base=model.base,
        form="tool",
        max_summaries_per_run=2,
        max_tokens=256,
        backend=BackendName.RECORD,
        recording="answers",
    )
    index(shapes)

    recorded = [json.loads(file.read_text()) for file in (shapes.home / "answers").iterdir()]
    forms = Counter(entry["request"]["parameters"]["form"] for entry in recorded)
    # Found out with the first text, for all others.
    assert forms == {AnswerForm.TOOL: 1, AnswerForm.REQUIRED: 1, AnswerForm.JSON_SCHEMA: 2}
    for entry in recorded:
        if entry["request"]["parameters"]["form"] == AnswerForm.JSON_SCHEMA:
            assert "".join(entry["response"]["claim"].split()).startswith('{"purpose":"')
    assert len(shapes.attempts()) == len(recorded)


def test_the_path_of_the_models_file_is_refused_and_the_message_names_the_setting(
    model: RealModel, shapes: Shapes
) -> None:
    shapes.set(echoed=None, api_base=model.base)
    said = index(shapes)
    # The first call shows it, and no other is made.
    row = only_of(shapes.attempts())
    assert (row.outcome, row.failure, row.model_echoed) == (AttemptOutcome.INVALID, AnotherModel.kind, model.name)
    assert row.prompt_tokens > 0
    assert f"llm.echoed_names = {{ {json.dumps(model.name)} = {json.dumps(MODEL)} }}" in " ".join(said.split())

    shapes.set(echoed=model.name, api_base=model.base, max_summaries_per_run=1)
    index(shapes)

    assert shapes.attempts()[1].failure != AnotherModel.kind


def test_a_call_that_takes_too_long_is_booked_in_full(model: RealModel, endless: Shapes) -> None:
    # Its prompt is in the server's cache afterwards: the next answer begins at once.
    set_endless(endless, model, max_tokens=256)
    index(endless)
    set_endless(endless, model, max_tokens=LONG_TOKENS, timeout_s=SHORT_S)
    process = start(endless)
    wait_until_it_writes(model, process)
    said = end(process)
    model.wait_until_free()

    first, row = endless.attempts()
    assert first.id == row.id
    assert (row.outcome, row.failure) == (AttemptOutcome.FAILED, CallFailure.TIMEOUT)
    assert f"{SHORT_S:g} s (llm.timeout_s)" in said
    assert is_booked_in_full(row)
    assert not first.is_estimated


def start(shapes: Shapes) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "--home", str(shapes.home), "index", str(shapes.repo.path)],
        env=environment(KEY), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip


def end(process: subprocess.Popen[str]) -> str:
    """Wait for its end; what it said."""
    said, _ = process.communicate(timeout=PATIENCE_S)
    return said


def wait_until_it_writes(model: RealModel, process: subprocess.Popen[str]) -> None:
    wait_for(
        lambda: model.written() or process.poll() is not None,
        timeout_s=PATIENCE_S,
        what="the first words of an answer",
    )
    assert process.poll() is None, end(process)


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
def test_a_build_that_is_ended_while_the_model_writes_closes_its_books_and_the_next_goes_on(
    model: RealModel, endless: Shapes, by: signal.Signals
) -> None:
    process = start(endless)
    wait_until_it_writes(model, process)
    process.send_signal(by)
    end(process)
    model.wait_until_free()

    assert process.returncode != 0
    cut = only_of(endless.attempts())
    assert cut.outcome is AttemptOutcome.INTERRUPTED
    assert is_booked_in_full(cut)

    set_endless(endless, model, max_tokens=256)
    before = model.counted()
    index(endless)
    index(endless)

    rows = endless.attempts()[1:]
    assert rows[0].id == cut.id
    assert len({row.request_hash for row in rows}) == len(rows) == 2
    assert tokens_of(rows) == model.counted() - before


def test_builds_of_one_text_each_go_on_where_the_last_one_ended_and_pay_nothing_twice(
    model: RealModel, shapes: Shapes
) -> None:
    shapes.set(echoed=model.name, api_base=model.base, max_summaries_per_run=1)
    before = model.counted()
    counts = []
    for _ in range(DOCUMENTS + 1):
        index(shapes)
        counts.append(len(shapes.attempts()))

    rows = shapes.attempts()
    assert counts == [*range(1, DOCUMENTS + 1), DOCUMENTS]
    assert len({row.request_hash for row in rows}) == DOCUMENTS
    assert len({row.id for row in rows}) == DOCUMENTS
    assert tokens_of(rows) == model.counted() - before


def ask(shapes: Shapes, model: RealModel, question: str) -> tuple[Shown, list[bytes]]:
    """A question on a terminal: what it shows, and what was shown while the server still wrote."""
    meanwhile: list[bytes] = []

    def look(shown: Shown) -> bool:
        if model.written():
            meanwhile.append(shown.raw)
        return False

    shown = watch(["--home", shapes.home, "ask", question], cwd=shapes.home, width=80, env=KEY, until=look)
    return shown, meanwhile


def screen_of(raw: bytes) -> tuple[str, ...]:
    return tuple(Shown(80, [(0.0, raw)]).lines())


@pytest.fixture
def stories(model: RealModel, tmp_path: Path) -> Shapes:
    """An indexed home whose model tells stories, at a price."""
    found = Shapes(tmp_path, templates=STORIES)
    found.set(echoed=model.name, api_base=model.base, enabled=False)
    index(found)
    found.set(echoed=model.name, api_base=model.base, usd=USD)
    return found


def test_an_answer_to_a_question_is_shown_while_the_model_writes_it(model: RealModel, stories: Shapes) -> None:
    before = model.counted()
    shown, meanwhile = ask(stories, model, STORY)

    assert len({screen_of(raw) for raw in meanwhile}) > 3, shown.raw
    row = only_of(stories.questions())
    assert row.outcome in ANSWERED
    assert tokens_of([row]) == model.counted() - before
    assert row.model_echoed == model.name
    assert not row.is_estimated
    assert row.cost_usd == pytest.approx((row.prompt_tokens + row.completion_tokens) * USD / 1e6)


def test_a_question_that_is_ended_while_the_model_writes_is_booked_and_frees_the_server(
    model: RealModel, stories: Shapes
) -> None:
    shown = watch(
        ["--home", stories.home, "ask", STORY],
        cwd=stories.home,
        width=80,
        env=KEY,
        until=lambda _shown: bool(model.written()),
    )
    before = model.counted()
    model.wait_until_free()

    assert shown.exit_code != 0
    # It did not write on until it may write no more.
    assert (model.counted() - before).completion < ANSWER_TOKENS
    row = only_of(stories.questions())
    assert row.outcome is AttemptOutcome.INTERRUPTED
    assert is_booked_in_full(row)


def test_a_prompt_beyond_the_context_is_refused_by_the_server_and_costs_nothing(
    model: RealModel, tmp_path: Path
) -> None:
    shapes = Shapes(tmp_path, templates={"system/default.md": "word " * (CONTEXT_TOKENS + 1)})
    shapes.set(echoed=model.name, usd=USD, api_base=model.base, max_summaries_per_run=1)
    before = model.counted()
    said = index(shapes)

    row = only_of(shapes.attempts())
    assert (row.outcome, row.failure, row.cost_usd) == (AttemptOutcome.FAILED, CallFailure.REFUSED, 0.0)
    assert f"exceeds the available context size ({CONTEXT_TOKENS} tokens)" in " ".join(said.split())
    assert model.counted() == before
