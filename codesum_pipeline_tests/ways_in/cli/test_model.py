"""A model on the command line: first the price, then the cap, a run, a confirmation, and the account of it."""

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pyarrow.parquet as pq
import pytest

from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline_tests.support.llm_server import (
    Answers,
    Behaviour,
    Fails,
    ModelRequest,
    Says,
    ScriptedServer,
    always_well,
)
from codesum_pipeline_tests.support.llm_server.answers import answer_of
from codesum_pipeline_tests.support.model_builds import MODEL
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.scip_shops import put_index
from codesum_pipeline_tests.support.till import BY_MODEL, FUNCTIONS, TAX, TILL
from codesum_pipeline_tests.ways_in.cli.test_plan_status_doctor import fingerprint

# No setting of codesum, whose names begin with its own.
KEY_ENV = "TILL_PROVIDER_KEY"
KEY = "sk-loopback-0123456789abcdef"


class Till:
    """A repository, a home with its settings, and the provider."""

    def __init__(self, folder: Path, server: ScriptedServer) -> None:
        self.folder = folder
        self.server = server
        self.home = folder / "home"
        self.repo = GitRepo(folder / "till")

    def settings(self, *lines: str) -> None:
        """Write codesum.toml: a model that may ask for everything, and what `lines` add or change."""
        settings = {
            "enabled": "true",
            "model": json.dumps(MODEL),
            "api_base": json.dumps(self.server.base),
            "api_key_env": json.dumps(KEY_ENV),
            "max_summaries_per_run": "1000",
            "documented": "true",
            "tests": "true",
        } | dict(line.split(" = ") for line in lines)
        self.home.mkdir(exist_ok=True)
        text = "".join(f"{name} = {value}\n" for name, value in settings.items())
        (self.home / "codesum.toml").write_text(f"[llm]\n{text}")

    def copy(self, folder: Path) -> "Till":
        copied = Till(folder, self.server)
        for name in ("home", "till"):
            shutil.copytree(self.folder / name, folder / name, symlinks=True)
        registry = folder / "home/repos.yaml"
        registry.write_text(registry.read_text().replace(str(self.folder), str(folder)))
        return copied


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(always_well) as running:
        patch.setenv(KEY_ENV, KEY)
        yield running


@pytest.fixture(scope="module")
def built(server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Till:
    """A home that was indexed with a model; `said` is what that printed."""
    from typer.testing import CliRunner

    from codesum_pipeline.ways_in.cli.cli_app import app

    till = Till(tmp_path_factory.mktemp("till"), server)
    GitRepo.create(till.folder / "till", TILL)
    till.settings()
    result = CliRunner().invoke(app, ["--home", str(till.home), "index", str(till.repo.path), "--json"])
    assert result.exit_code == 0, result.stderr
    till.report = json.loads(result.stdout.splitlines()[-1])["llm"]  # type: ignore[attr-defined]
    return till


@pytest.fixture
def till(built: Till, tmp_path: Path) -> Till:
    """A copy of it, with nothing asked so far."""
    built.server.seen.clear()
    return built.copy(tmp_path)


@pytest.fixture
def new(server: ScriptedServer, tmp_path: Path) -> Till:
    """A repository that was never built, and a home with settings alone."""
    server.seen.clear()
    made = Till(tmp_path, server)
    GitRepo.create(tmp_path / "till", TILL)
    made.settings()
    return made


def lift(codesum: Any, till: Till) -> list[dict[str, Any]]:
    """The lines of the lift ledger over all levels."""
    questions = till.folder / "questions.jsonl"
    relevant = {name: [{"file_path": "till/tax.py", "symbol": name}] for name in ("add_tax", "round_up")}
    queries = {"add_tax": "the amount with tax", "round_up": "converts the given orders up to the next ten"}
    lines = [json.dumps({"id": name, "query": queries[name], "relevant": relevant[name]}) for name in queries]
    questions.write_text("\n".join(lines) + "\n")
    found = codesum(till.home, "eval", questions, "--lift", "--json")
    rows: list[dict[str, Any]] = json.loads(found.stdout)["lift"]["till"]
    return [row for row in rows if row["level"] == "all"]


def words(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_plan_prices_a_repository_that_was_never_built_and_asks_nobody(codesum: Any, new: Till) -> None:
    new.settings("enabled = false", "max_summaries_per_run = 0")
    before = fingerprint(new.home)

    planned = codesum(new.home, "plan", new.repo.path, "--llm", "--json")

    lines = codesum(new.home, "plan", new.repo.path, "--llm").stdout.splitlines()
    found = json.loads(planned.stdout)["llm"]
    stopped = found["all"]["stopped"]["cap"]
    assert lines[0] == (
        f"expected ${stopped['expected_usd']:,.4f}, at most ${stopped['at_most_usd']:,.4f}: all {BY_MODEL} texts that "
        f"{MODEL} would write"
    )
    assert lines[1] == "the next build: $0.0000, since llm.enabled is false"
    assert found["next_build"] == {
        "texts": 0, "expected_usd": 0.0, "at_most_usd": 0.0, "bound_by": "llm.enabled = false",
    }  # fmt: skip
    assert (found["model"], found["enabled"], found["all"]["asked"]["calls"]) == (MODEL, False, 0)
    assert found["levels"]["function"]["stopped"]["cap"]["calls"] == FUNCTIONS
    assert stopped["calls"] == BY_MODEL
    assert 5_000 * BY_MODEL < stopped["input_tokens"] < 8_000 * BY_MODEL
    assert 0 < stopped["predicted_usd"] < stopped["expected_usd"] < 0.1 < stopped["at_most_usd"]
    with_cache = {"asked": 0.0, "stopped": stopped["predicted_usd"]}
    assert found["predicted_usd_with_cache"] == with_cache, "eight at once find nothing kept"
    assert (fingerprint(new.home), new.server.seen) == (before, [])


def test_a_plan_says_what_the_caps_allow_and_how_to_go_on(codesum: Any, new: Till) -> None:
    new.settings("max_summaries_per_run = 5", "concurrency = 1")

    with_table = words(codesum(new.home, "plan", new.repo.path, "--llm", "--limit", 0).stdout)
    one_line = codesum(new.home, "plan", new.repo.path, "--limit", 0).stdout.splitlines()[-1]

    heads = next(line for line in with_table if line.startswith("level asked for"))
    assert heads == (
        "level asked for there already tokens read written expected $ at most $ stopped their expected $ by"
    )
    whole = next(line for line in with_table if line.startswith("all "))
    assert whole.split()[1] == "5"
    assert whole.endswith(f"{BY_MODEL - 5} cap")
    assert any(line.startswith("the caps (5 texts a run) leave 9 texts (about ") for line in with_table)
    assert "`codesum index till` asks for them" in with_table
    kept = next(line for line in with_table if line.startswith("where the provider keeps"))
    assert 0 < float(kept.partition("$")[2].split()[0]) < float(whole.split()[5])
    assert one_line.startswith(f"{MODEL}: 5 texts in the next build, expected $0.00")
    assert " (llm.max_summaries_per_run = 5), 9 stopped: `codesum plan till --llm` says more" in one_line


@pytest.mark.slow
def test_under_trust_a_plan_and_a_run_say_what_passes_and_what_waits(codesum: Any, new: Till) -> None:
    """The index knows calls of all but two methods and the README."""
    new.settings('trust = "scip"')
    put_index(new.home, TILL, key="till")

    planned = words(codesum(new.home, "plan", new.repo.path, "--llm", "--limit", 0).stdout)
    built = codesum(new.home, "index", new.repo.path).stdout
    again = json.loads(codesum(new.home, "index", "till", "--force", "--json").stdout.splitlines()[-1])["llm"]

    assert any(
        line.startswith("llm.trust = 'scip' lets 11 texts (about ") and " pass, and 3 texts (about " in line
        for line in planned
    )
    assert "llm.trust = 'scip': 11 documents pass ($0.0" in built
    assert " predicted), 3 wait (expected $0.0" in built
    assert len({request.prompt for request in new.server.seen}) == 11
    assert (again["trust"]["passing"], again["trust"]["waiting"]["calls"], again["gates"]["trust"]) == (11, 3, 3)


@pytest.mark.slow
def test_under_trust_without_an_index_a_run_says_that_nothing_passes(codesum: Any, new: Till) -> None:
    new.settings('trust = "scip"')

    done = codesum(new.home, "index", new.repo.path)

    assert f"0 documents pass ($0.0000 predicted), {BY_MODEL} wait (expected $0.0" in done.stdout
    assert "llm.trust = 'scip' lets no document pass: no edge is confirmed by a compiler's index" in done.stderr
    assert new.server.seen == []


def test_a_plan_for_a_model_begins_with_what_it_would_cost(codesum: Any, new: Till) -> None:
    new.settings("max_summaries_per_run = 5")

    lines = codesum(new.home, "plan", new.repo.path, "--llm").stdout.splitlines()
    found = json.loads(codesum(new.home, "plan", new.repo.path, "--llm", "--json").stdout)

    llm, following = found["llm"], found["llm"]["next_build"]
    assert lines[0] == (
        f"expected ${llm['expected_usd']:,.4f}, at most ${llm['at_most_usd']:,.4f}: all {BY_MODEL} texts that {MODEL} "
        "would write"
    )
    assert lines[1] == (
        f"the next build: expected ${following['expected_usd']:,.4f}, at most ${following['at_most_usd']:,.4f} "
        "(llm.max_summaries_per_run = 5), for 5 texts"
    )
    assert next(iter(found)) == "llm"
    assert [*llm][:5] == ["expected_usd", "at_most_usd", "calls", "input_tokens", "output_tokens"]
    assert llm["expected_usd"] > following["expected_usd"] > 0
    assert llm["at_most_usd"] > following["at_most_usd"] > following["expected_usd"]


def test_a_plan_without_a_call_begins_with_no_dollars(codesum: Any, till: Till) -> None:
    lines = codesum(till.home, "plan", "till", "--llm").stdout.splitlines()
    found = json.loads(codesum(till.home, "plan", "till", "--llm", "--json").stdout)["llm"]

    assert lines[0] == f"expected $0.0000, at most $0.0000: no call to {MODEL}, nothing to write"
    assert (found["expected_usd"], found["at_most_usd"], found["calls"]) == (0.0, 0.0, 0)


def test_a_plan_for_a_model_whose_price_nobody_knows_names_the_setting(codesum: Any, new: Till) -> None:
    new.settings('model = "openai/a-model-of-our-own"')

    planned = codesum(new.home, "plan", new.repo.path, "--llm")

    assert planned.exit_code == 2
    assert "llm.model 'openai/a-model-of-our-own': its price is not known: add it to llm.prices" in " ".join(
        planned.stderr.split()
    )


def test_a_plan_needs_a_model_to_price(codesum: Any, new: Till) -> None:
    (new.home / "codesum.toml").write_text("")

    planned = codesum(new.home, "plan", new.repo.path, "--llm")

    assert planned.exit_code == 2
    assert "--llm needs a model: set llm.model" in planned.stderr


def test_a_run_says_what_was_asked_and_spent_and_avoided(built: Till) -> None:
    report = built.report  # type: ignore[attr-defined]

    assert {name: report[name] for name in ("model", "texts", "calls", "found", "pending", "gates", "failures")} == {
        "model": MODEL, "texts": BY_MODEL, "calls": BY_MODEL, "found": 0, "pending": 0, "gates": {"placeholder": 1},
        "failures": {},
    }  # fmt: skip
    assert report["avoided"] == {"asked": BY_MODEL, "placeholder": 1}
    assert 0 < report["cost_usd"] < report["predicted_usd_with_cache"] <= report["predicted_usd"]
    assert (report["skipped_reason"], report["warnings"]) == (None, [])


def test_the_lift_ledger_sets_what_a_run_bought_beside_its_price(codesum: Any, built: Till) -> None:
    spent = built.report["cost_usd"]  # type: ignore[attr-defined]
    built.server.seen.clear()

    costs = {row["texts"]: row["cost_usd"] for row in lift(codesum, built)}

    assert costs == {"code only": 0.0, "extractive texts": 0.0, "texts by a model": pytest.approx(spent)}
    assert built.server.seen == []


@pytest.mark.slow
def test_a_run_says_which_setting_saves_what_gained_nothing(codesum: Any, new: Till) -> None:
    place = {"file_path": "till/tax.py", "symbol": "add_tax", "kind": "function", "start_line": 6, "end_line": 10}
    question = {"id": "tax", "query": "the amount with tax", "level": "function", "cited_symbols": [place]}
    (new.home / "questions.jsonl").write_text(json.dumps(question | {"relevant": [{"file_path": "till/tax.py"}]}))
    with (new.home / "codesum.toml").open("a") as settings:
        settings.write('[evaluation]\nenabled = true\nquestions = "questions.jsonl"\n')

    done = codesum(new.home, "index", new.repo.path)

    (line,) = (line for line in done.stderr.splitlines() if "would save" in line)
    assert line.startswith("till: What its author documented gained nothing by the model's texts")
    assert line.endswith("which `llm.documented = false` would save.")


@pytest.mark.slow
def test_texts_that_came_from_the_cache_have_the_price_that_was_paid_for_them(codesum: Any, till: Till) -> None:
    before = lift(codesum, till)
    till.settings("enabled = false")
    codesum(till.home, "index", "till")
    without = lift(codesum, till)
    till.settings()
    codesum(till.home, "index", "till")

    assert till.server.seen == []
    assert lift(codesum, till) == before
    assert without == before[:2], "what is set beside the model's texts is what stands where there is no model"


@pytest.mark.slow
def test_a_prompt_edit_is_held_with_its_price_until_it_is_confirmed(codesum: Any, till: Till) -> None:
    template = till.home / "prompts/instruction/default.md"
    template.parent.mkdir(parents=True)
    for name in ("default", "function", "class", "file", "module"):
        text = "Write the entry. {name} {code_language}\n\n{metadata}\n\n{body}\n\n{children}\n\n{context}\n"
        template.with_name(f"{name}.md").write_text(text if name != "function" else text.replace("{children}", ""))

    held = codesum(till.home, "index", "till")
    calls_while_held = len(till.server.seen)
    again = codesum(till.home, "index", "till")
    confirmed = codesum(till.home, "index", "till", "--yes", "--json")

    assert held.exit_code == 0, held.stderr
    assert f"till: held: {BY_MODEL} texts (about" in held.stderr
    assert " in one call each, expected $0.0" in held.stderr
    assert "`codesum index till --yes` confirms" in held.stderr
    assert calls_while_held == 0
    assert "nothing to do" in again.stdout
    found = json.loads(confirmed.stdout)["llm"]
    assert (found["texts"], found["warnings"], len(till.server.seen)) == (BY_MODEL, [], BY_MODEL)


def test_without_credentials_the_index_is_built_and_says_what_is_missing(
    codesum: Any, new: Till, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY_ENV)

    built = codesum(new.home, "index", new.repo.path)

    assert built.exit_code == 0, built.stderr
    assert f"{BY_MODEL} no-credentials" in built.stdout
    assert "till: skipped_reason: no-credentials" in built.stderr
    assert KEY_ENV in built.stderr
    assert new.server.seen == []


@pytest.mark.parametrize("status", [401, pytest.param(500, marks=pytest.mark.slow)])
def test_a_key_that_a_proxy_repeats_is_in_no_file_and_no_message(codesum: Any, new: Till, status: int) -> None:
    new.settings('backend = "record"', 'recording = "answers"', "max_retries = 0", "concurrency = 1")
    new.server.script = lambda request: (
        Answers() if len(new.server.seen) < 5 else Fails(status, "you sent", echoes_key=True)
    )
    try:
        built = codesum(new.home, "index", new.repo.path)
    finally:
        new.server.script = always_well

    assert len(new.server.seen) >= 5
    assert any(KEY in request.headers["authorization"] for request in new.server.seen)
    assert KEY not in built.stdout + built.stderr
    files = [path for path in new.home.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert [path for path in files if b"you sent" in path.read_bytes()], "the rest of the message is kept"


@pytest.mark.slow
def test_a_missing_key_is_said_once_however_many_repositories_lack_it(
    codesum: Any, new: Till, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv(KEY_ENV)
    other = GitRepo.create(new.folder / "other", {"a.py": TAX})

    built = codesum(new.home, "index", new.repo.path, other.path)

    assert built.exit_code == 0, built.stderr
    everything = built.stdout + built.stderr + caplog.text
    assert everything.count(KEY_ENV) == 1
    (line,) = [line for line in built.stderr.splitlines() if "skipped_reason" in line]
    assert line.startswith("till, other: skipped_reason: no-credentials: openai/gpt-4o-mini: the variable")
    assert line.endswith("`codesum index till other` then goes on")


def everything_in(home: Path) -> Iterator[tuple[Path, str]]:
    """Each file of a home as it is, and each table and database decoded."""
    for path in sorted(home.rglob("*")):
        if not path.is_file():
            continue
        yield path, path.read_bytes().decode("utf-8", "replace")
        if path.suffix == ".parquet":
            yield path, repr(pq.read_table(path).to_pylist())
        elif path.read_bytes().startswith(b"SQLite format 3"):
            with closing(sqlite3.connect(path)) as connection:
                yield path, "\n".join(connection.iterdump())


@pytest.mark.parametrize(
    "write",
    [pytest.param(str, id="as it is", marks=pytest.mark.slow), pytest.param(quote_plus, id="in an address")],
)
def test_a_key_that_stands_in_good_answers_is_published_nowhere_and_kept_nowhere(
    codesum: Any, new: Till, write: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = "sk-loop/back+0123456789=abcdef"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    new.settings(
        'model = "anthropic/claude-haiku-4-5"', f"api_base = {json.dumps(new.server.root)}", 'backend = "record"',
        'recording = "answers"', "max_retries = 0",
    )  # fmt: skip
    text = (new.home / "codesum.toml").read_text()
    (new.home / "codesum.toml").write_text(text.replace(f"api_key_env = {json.dumps(KEY_ENV)}\n", ""))
    echo = Answers(model="claude-haiku-4-5-20251001", echoes_key=True, written=write)
    new.server.script = lambda request: (
        Says(f"I will not: {write(key)}") if "1| def round_up" in request.prompt
        else Fails(400, f"you sent {write(key)}", echoes_key=True, headers={"x-echo": key})
        if "class Basket" in request.prompt else echo
    )  # fmt: skip
    try:
        built = codesum(new.home, "index", new.repo.path)
    finally:
        new.server.script = always_well

    assert any(request.headers.get("x-api-key") == key for request in new.server.seen)
    found = [*everything_in(new.home), (Path("output"), built.stdout + built.stderr + caplog.text)]
    for form in {key, write(key), json.dumps(key)[1:-1]}:
        assert [str(path) for path, text in found if form in text] == []
    assert [path for path, text in found if path.suffix == ".jsonl" and "(…)" in text], "the texts are published"
    echoed = set(pq.read_table(next((new.home / "warehouse/ledger").rglob("*.parquet")))["model_echoed"].to_pylist())
    assert "claude-haiku-4-5-20251001" in echoed


@pytest.mark.slow
def test_where_a_level_fails_whole_the_index_is_published_and_the_command_fails_and_a_person_may_ask_again(
    codesum: Any, new: Till
) -> None:
    new.settings("max_retries = 0")
    new.server.script = lambda request: (
        Fails(500, "no classes") if "the summary of the class" in json.dumps(request.body["tools"]) else Answers()
    )
    try:
        first = codesum(new.home, "index", new.repo.path)
        calls = len(new.server.seen)
        second = codesum(new.home, "index", "till")
    finally:
        new.server.script = always_well
    third = codesum(new.home, "index", "till")

    assert (first.exit_code, second.exit_code, third.exit_code) == (1, 1, 0)
    assert "the index is up to date with extractive texts instead: none of 1 class texts" in first.stderr
    assert "`codesum index till` asks again" in " ".join(first.stderr.split())
    assert "· published ·" in " ".join(first.stdout.split())
    assert codesum(new.home, "search", "add tax", "--json").exit_code == 0
    assert calls == BY_MODEL
    assert "nothing to do" in codesum(new.home, "index", "till").stdout


@pytest.mark.slow
def test_a_plan_says_what_a_recording_holds(codesum: Any, new: Till) -> None:
    new.settings('backend = "record"', 'recording = "answers"')
    codesum(new.home, "index", new.repo.path)
    new.server.seen.clear()
    shutil.rmtree(new.home / "cache")
    new.settings('backend = "replay"', 'recording = "answers"', "max_summaries_per_run = 0")

    planned = words(codesum(new.home, "plan", new.repo.path, "--llm", "--force").stdout)

    assert planned[0] == f"expected $0.0000, at most $0.0000: no call to {MODEL}, llm.backend = 'replay'"
    line = next(line for line in planned if line.startswith("answers come from"))
    assert f"which holds {BY_MODEL}: nothing is sent and nothing is paid" in " ".join(planned[planned.index(line) :])
    assert new.server.seen == []


@pytest.mark.slow
def test_the_meter_and_the_writer_of_a_text_can_be_read_afterwards(codesum: Any, till: Till) -> None:
    till.repo.commit({"till/tax.py": TAX.replace("amount += 1", "amount += 2")})
    codesum(till.home, "index", "till")

    avoided = words(codesum(till.home, "cost", "--avoided").stdout)
    shown = words(codesum(till.home, "show", "till/tax.py::round_up").stdout)
    explained = codesum(till.home, "explain", "till/tax.py").stdout
    status = codesum(till.home, "status", "till").stdout

    assert avoided[0] == "cause calls tokens US dollars share"
    assert [line.rpartition(" ")[0].split(",")[0].rsplit(" ", 1)[0] for line in avoided[1:4]] == [
        f"asked {BY_MODEL + 4}", "placeholder 2", f"unchanged {BY_MODEL - 4}",
    ]  # fmt: skip
    assert {"written by llm", f"model {MODEL}"} <= set(shown)
    assert any(line.startswith("price $0.0") for line in shown)
    assert "llm/" in explained and "$0.0" in explained and "free" not in explained
    assert f"{BY_MODEL} by {MODEL}, 1 by placeholder" in " ".join(status.split())
    assert f"{BY_MODEL + 4} for $0.0" in status


@pytest.mark.slow
def test_a_document_names_the_templates_that_it_was_written_with(codesum: Any, new: Till) -> None:
    new.settings("max_prompt_chars = 30000")
    assert codesum(new.home, "index", new.repo.path).exit_code == 0

    shown = codesum(new.home, "show", "till/tax.py::add_tax").stdout
    found = json.loads(codesum(new.home, "show", "till/tax.py::add_tax", "--json").stdout)

    assert re.search(r"templates +system/short\n +instruction/function\n", shown)
    assert found["templates"] == ["system/short", "instruction/function"]
    assert codesum(new.home, "prompts", "save", "system", "short", "-", stdin="Briefly.").exit_code == 0
    assert json.loads(codesum(new.home, "show", "till/tax.py::add_tax", "--json").stdout)["templates"] is None


@pytest.mark.parametrize("broken", ["an unknown placeholder", "no text", "a link that leads out"])
@pytest.mark.parametrize("name", ["default", "short"])
def test_a_broken_template_keeps_no_document_from_being_shown(
    codesum: Any, till: Till, tmp_path: Path, name: str, broken: str
) -> None:
    template = till.home / f"prompts/system/{name}.md"
    template.parent.mkdir(parents=True, exist_ok=True)
    if broken == "a link that leads out":
        (tmp_path / "elsewhere.md").write_text("Briefly.")
        template.symlink_to(tmp_path / "elsewhere.md")
    else:
        template.write_bytes(b"\xff" if broken == "no text" else b"{oops}")

    shown = codesum(till.home, "show", "till/tax.py::add_tax", "--json")
    checked = codesum(till.home, "prompts", "check")

    assert (shown.exit_code, shown.stderr) == (0, "")
    # The full one of the package wrote it, and stands as long as only another one is broken.
    written_with = None if name == "default" else ["system/default", "instruction/function"]
    assert json.loads(shown.stdout)["templates"] == written_with
    page = codesum(till.home, "show", "till/tax.py::add_tax").stdout
    assert ("templates" in page) == (name == "short")
    assert checked.exit_code == 2 and name in checked.stderr


@pytest.mark.slow
def test_a_broken_short_template_that_no_level_needs_stops_no_build(codesum: Any, new: Till) -> None:
    template = new.home / "prompts/system/short.md"
    template.parent.mkdir(parents=True)
    template.write_text("{oops}")

    assert codesum(new.home, "index", new.repo.path).exit_code == 0
    assert "system/short: unknown placeholder {oops}" in codesum(new.home, "prompts", "check").stderr


@pytest.mark.slow
def test_a_rebuild_takes_texts_from_the_cache_and_keeps_the_books(codesum: Any, till: Till) -> None:
    before = codesum(till.home, "cost", "--by", "run").stdout

    rebuilt = json.loads(codesum(till.home, "index", "till", "--rebuild", "--json").stdout)["llm"]

    assert (rebuilt["found"], rebuilt["calls"], till.server.seen) == (BY_MODEL, 0, [])
    assert rebuilt["avoided"] == {"placeholder": 1, "cache": BY_MODEL}
    assert codesum(till.home, "cost", "--by", "run").stdout == before


def test_the_manifest_names_the_model_whose_texts_are_published(built: Till) -> None:
    manifest = json.loads((HomeLayout(built.home).published("till") / "manifest.json").read_text())

    template = manifest.pop("prompt_template_hash")
    assert template.startswith("blake3:")
    assert {name: value for name, value in manifest.items() if name.startswith("summary_llm_")} == {
        "summary_llm_provider": "openai", "summary_llm_model": MODEL, "summary_llm_temperature": 0.0,
        "summary_llm_seed": None,
    }  # fmt: skip


def test_the_doctor_says_for_free_whether_the_model_can_be_reached(
    codesum: Any, till: Till, monkeypatch: pytest.MonkeyPatch
) -> None:
    well = codesum(till.home, "doctor", "--llm")
    monkeypatch.setenv(KEY_ENV, "")
    keyless = codesum(till.home, "doctor", "--llm")
    till.settings("enabled = false")
    without = codesum(till.home, "doctor", "--llm")

    assert (keyless.exit_code, without.exit_code) == (1, 2)
    assert f"{MODEL} can be reached; whether a model has this name shows with the first call" in well.stderr
    assert f"{MODEL} gave its last text in the form 'tool', on " in well.stderr
    assert f"{MODEL} cannot be reached: its key is missing or nobody answers" in keyless.stdout
    assert f"put its key into {KEY_ENV}, and see that something listens at {till.server.base}" in keyless.stdout
    assert "no language model is set up (llm.enabled is false)" in without.stderr
    assert till.server.seen == []


@pytest.mark.slow
def test_a_build_that_nobody_answers_has_extractive_texts_and_is_done(codesum: Any, new: Till) -> None:
    new.settings('backend = "noop"')

    built = codesum(new.home, "index", new.repo.path)
    again = codesum(new.home, "index", "till")

    assert "0 left for the next run" in built.stdout
    assert "up to date" in again.stdout
    assert new.server.seen == []


@pytest.mark.slow
def test_a_refused_answer_can_be_read_with_why_and_without_the_key(codesum: Any, new: Till) -> None:
    def leaking(request: ModelRequest) -> Behaviour:
        answer = answer_of(request)
        if "1| def round_up" not in request.prompt:
            return Answers()
        return Answers(answer | {"purpose": f"This function asks {KEY} and charge() to round a sum up."})

    round_up = "till/tax.py::round_up"
    new.server.script = leaking
    codesum(new.home, "index", new.repo.path)
    new.server.script = always_well
    shown = codesum(new.home, "show", round_up, "--answer").stdout
    refused = json.loads(codesum(new.home, "show", round_up, "--answer", "--json").stdout)
    none = codesum(new.home, "show", "till/tax.py::add_tax", "--answer")

    assert "  - purpose: must not open with 'This function': start with a verb\n" in shown
    assert '    "purpose": "This function asks … and charge() to round a sum up."' in shown
    assert (refused["id"], refused["model"], refused["attempt"]) == (round_up, MODEL, 3)
    assert json.loads(refused["answer"])["purpose"].startswith("This function asks …")
    assert refused["a_later_answer_was_taken"] is False
    assert KEY not in shown + json.dumps(refused)
    assert "'till/tax.py::add_tax': no answer of a model was refused (of 1 attempts none has one)" in none.stderr


@pytest.mark.slow
def test_the_prompt_of_each_document_can_be_read_as_it_is_asked_and_asks_nobody(codesum: Any, new: Till) -> None:
    codesum(new.home, "index", new.repo.path)
    sent = {(one.system, one.prompt) for one in new.server.seen}
    new.server.seen.clear()
    rows = codesum(new.home, "sql", "SELECT id FROM documents WHERE NOT is_placeholder", "--json").stdout.splitlines()
    ids = [json.loads(row)["id"] for row in rows]

    shown = [json.loads(codesum(new.home, "show", id_, "--prompt", "--json").stdout) for id_ in ids]
    page = codesum(new.home, "show", "till/tax.py::round_up", "--prompt").stdout
    placeholder = codesum(new.home, "show", "till/__init__.py", "--prompt")

    assert {(one["system"], one["user"]) for one in shown} == sent
    assert len(shown) == len(sent) > 8
    assert "`codesum prompts show system default`" in page and "1| def round_up(amount):" in page
    assert placeholder.exit_code == 2 and "has nothing that a model could be asked about" in placeholder.stderr
    assert new.server.seen == []
