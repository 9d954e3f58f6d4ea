"""Whole builds by the command line, through the Dagster job, that are killed while a model writes."""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import WrittenBy
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.commands import COMMAND, environment
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.llm_server import ServerProcess, read_log
from codesum_pipeline_tests.support.model_builds import MODEL
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.till import TILL

# No setting of codesum, whose names begin with its own.
KEY_ENV = "TILL_PROVIDER_KEY"
FILES = 12
CONCURRENCY = 8
# All of the model's documents: those of the till, and of each other file two functions and itself, and their folder.
LINES = 2 * (14 + 3 * FILES + 1)


def till_and_more(folder: Path) -> GitRepo:
    body = "def grow_{0}_{1}(amount):\n    while amount % {0}{1}:\n        amount += {1}\n    return amount\n"
    more = {
        f"more/part{number}.py": "\n\n".join(body.format(number, which) for which in (1, 2))
        for number in range(1, FILES + 1)
    }
    return GitRepo.create(folder, {**TILL, **more})


def write_settings(home: Path, base: str) -> None:
    home.mkdir()
    (home / "codesum.toml").write_text(
        f"[llm]\nenabled = true\nmodel = {json.dumps(MODEL)}\napi_base = {json.dumps(base)}\n"
        f"api_key_env = {json.dumps(KEY_ENV)}\nmax_summaries_per_run = 1000\n"
        f"documented = true\nconcurrency = {CONCURRENCY}\n"
    )


def start(home: Path, repo: GitRepo) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "--home", str(home), "index", str(repo.path)],
        env=environment({KEY_ENV: "any word will do"}), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip


def end(process: subprocess.Popen[str]) -> None:
    output, _ = process.communicate(timeout=280)
    assert process.returncode == 0, output


def kill_at(log: Path, lines: int, process: subprocess.Popen[str]) -> bool:
    """Kill it with all its workers when the server has written so many lines; whether it still ran."""
    while process.poll() is None and (not log.exists() or log.read_bytes().count(b"\n") < lines):
        time.sleep(0.005)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    return process.returncode == -signal.SIGKILL


def workspace_of(home: Path) -> Workspace:
    return open_home(home).workspace("till", run_id="reader")


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_a_build_by_the_job_that_is_killed_is_gone_on_with_and_pays_for_nothing_twice(
    tmp_path: Path, number: int
) -> None:
    home, undisturbed, log = tmp_path / "home", tmp_path / "undisturbed", tmp_path / "log.jsonl"
    repo = till_and_more(tmp_path / "till")
    moments = sorted(random.Random(number).sample(range(1, LINES), 4))
    with ServerProcess(log=log, delay_s=0.1) as server:
        for each in (home, undisturbed):
            write_settings(each, server.base)
        kills = sum([kill_at(log, moment, start(home, repo)) for moment in moments])
        end(start(home, repo))
        seen = read_log(log)
        end(start(undisturbed, repo))

    assert kills == len(moments)
    built, clean = workspace_of(home), workspace_of(undisturbed)
    assert first_difference(table_rows(built), table_rows(clean)) is None
    assert first_difference(published_files(built), published_files(clean)) is None
    by_model = [row["id"] for row in table_rows(built)["documents"] if row["written_by"] == WrittenBy.LLM]
    rows = built.tables.read_rows("ledger", "till", LedgerRow)
    good = [row for row in rows if row.outcome is AttemptOutcome.GOOD]
    cut_off = [row for row in rows if row.outcome is AttemptOutcome.INTERRUPTED]
    assert len(by_model) * 2 == LINES
    assert sorted(row.id for row in good) == sorted(by_model)
    assert len(rows) == len(good) + len(cut_off)
    assert len(cut_off) <= kills * CONCURRENCY
    # Of those that a kill cut off, some had not reached the server; it had answered some.
    assert len(good) <= len(seen) <= len(rows)
    answered = [request.answer["usage"] for request in seen if request.answer]
    paid = Counter((usage["prompt_tokens"], usage["completion_tokens"]) for usage in answered)
    assert Counter((row.prompt_tokens, row.completion_tokens) for row in good) <= paid
    assert all(row.cost_usd == row.reserved_usd > 0 for row in cut_off)
