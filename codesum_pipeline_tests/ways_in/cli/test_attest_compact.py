"""`codesum attest` and `codesum compact` as an operator calls them."""

import json
import re
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.compaction.compacting import LEDGER_FILE
from codesum_pipeline.foundation.data_model.document import HistoryRow
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.texts.llm.text_cache import AnswerCache
from codesum_pipeline_tests.builds.law.test_law import workspace_at
from codesum_pipeline_tests.support.commands import COMMAND, environment
from codesum_pipeline_tests.support.compaction_home import CLAIM, MODEL, OPS, kept_text
from codesum_pipeline_tests.support.homes import build, open_home
from codesum_pipeline_tests.support.llm_server import Says, ScriptedServer, ServerProcess
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.ssh_keys import KEYS, key_in, recorded
from codesum_pipeline_tests.ways_in.cli.conftest import Call

PAY = '''"""Payments."""


def pay(card, amount):
    """{0}"""
    return card.charge(amount, card.owner)
'''
BEFORE = ("--before", "2026-06-01", "--by", OPS, "--policy", "tombstoned")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with the history of two commits, a cache, an operator, and a model server."""
    folder = tmp_path_factory.mktemp("compacted")
    repo = GitRepo.create(folder / "shop")
    home = folder / "home"
    with ScriptedServer(lambda _request: Says(CLAIM)) as server:
        for words in ("Bill a card.", "Charge a card once."):
            repo.commit_exactly({"pay.py": PAY.format(words)})
            build(workspace_at(home, repo))
        (home / "codesum.toml").write_text(
            f"[llm]\nenabled = true\nmodel = {json.dumps(MODEL)}\napi_base = {json.dumps(server.base)}\n"
            f'api_key_env = "ARCHIVE_KEY"\nprices = [{{model = {json.dumps(MODEL)}, input = 1.0, output = 2.0}}]\n'
        )
        (home / "allowed_signers").write_text(f"{OPS} {recorded('plain_key.pub')}")
        yield home


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCHIVE_KEY", "any word will do")


def history(home: Path) -> list[HistoryRow]:
    return open_home(home).tables.read_rows("document_history", "shop", HistoryRow)


def cache(home: Path) -> AnswerCache:
    return AnswerCache(home / "cache", now=utc_now)


def must(result: Any) -> str:
    assert result.exit_code == 0, result.stderr
    return str(result.stdout + result.stderr)


def test_an_operator_attests_signs_verifies_compacts_and_lists(codesum: Call, built: Path, tmp_path: Path) -> None:
    job, before = tmp_path / "job.json", history(built)

    made = must(codesum(built, "attest", "new", "--repo", "shop", *BEFORE, "-o", job))
    must(codesum(built, "attest", "sign", job, "--key", key_in(tmp_path)))
    verified = must(codesum(built, "attest", "verify", job))
    done = must(codesum(built, "compact", "--attest", job))
    again = must(codesum(built, "compact", "--attest", job))
    (listed,) = [json.loads(line) for line in must(codesum(built, "compact", "--list", "--json")).splitlines()]
    table = must(codesum(built, "compact", "--list", "--repo", "shop"))
    after = history(built)

    rows = len(listed["sources"])
    assert f"{rows} rows of document_history" in made
    assert "it holds" in verified
    assert CLAIM in done
    assert "nothing was asked or changed" in again
    assert listed["text"] == CLAIM
    assert listed["attestation"] == job.read_text()
    assert listed["signature"] == (tmp_path / "job.json.sig").read_text()
    assert OPS in table
    assert len(after) == len(before) + 1 - rows
    assert {f"{row.sequence}:{row.id}" for row in before} - {f"{row.sequence}:{row.id}" for row in after} == {
        source["id"] for source in listed["sources"]
    }
    explained = json.loads(must(codesum(built, "explain", "pay.py::pay", "--json")))
    assert explained["compactions"] == [
        {"job_id": listed["job_id"], "rows": 1, "policy": "tombstoned", "compacted_at": listed["compacted_at"]}
    ]
    assert re.search(r"1 earlier row \(tombstoned\)", must(codesum(built, "explain", "pay.py::pay")))
    assert "`codesum compact`, which is not among these: 1 call" in must(codesum(built, "cost"))
    claims = must(codesum(built, "sql", "SELECT compaction.claim FROM document_history WHERE event = 'compacted'"))
    assert "shop/old.py" in claims


def test_texts_of_an_old_prompt_version_are_compacted(codesum: Call, built: Path, tmp_path: Path) -> None:
    cache(built).put_many([kept_text(1), kept_text(2)])
    job = tmp_path / "texts.json"
    of_version = ("--kind", "prompt_texts", "--prompt-version", "blake3:old", "--by", OPS, "--policy", "tombstoned")

    must(codesum(built, "attest", "new", *of_version, "-o", job))
    must(codesum(built, "attest", "sign", job, "--key", key_in(tmp_path)))
    must(codesum(built, "compact", "--attest", job))

    assert cache(built).texts_of("blake3:old") == []
    assert [record.claim for record in cache(built).compactions()] == [CLAIM]


WRONG = {
    "no repository": (("attest", "new", *BEFORE), 2, "say --repo KEY"),
    "a repository that is not registered": (("attest", "new", "--repo", "shpo", *BEFORE), 2, "shpo"),
    "a kind that there is not": (
        ("attest", "new", "--kind", "rows", *BEFORE), 2, "kind 'rows': .*document_history, prompt_texts"
    ),
    "texts of one repository": (
        ("attest", "new", "--kind", "prompt_texts", "--repo", "shop", *BEFORE), 2, "leave --repo out"
    ),
    "nothing to compact": (
        ("attest", "new", "--repo", "shop", "--ids", "nothing*", *BEFORE), 2, "no old rows of document_history"
    ),
    "a model off the allowlist": (
        ("attest", "new", "--repo", "shop", "--model", "openai/other", *BEFORE), 1, "summary_model_not_in_allowlist"
    ),
    "no day": (("attest", "new", "--repo", "shop", *BEFORE[2:]), 2, "--before DATE"),
    "neither a job nor a list": (("compact",), 2, "--attest FILE, or --list"),
    "both": (("compact", "--attest", KEYS / "message", "--list"), 2, "--attest FILE, or --list"),
    "a repository beside a job": (("compact", "--attest", KEYS / "message", "--repo", "shop"), 2, "goes with --list"),
    "no attestation": (("compact", "--attest", KEYS / "message"), 1, "attestation_invalid: "),
    "signing what is no attestation": (
        ("attest", "sign", KEYS / "message", "--key", KEYS / "plain_key"), 1, "attestation_invalid: "
    ),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "status", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named(
    codesum: Call, built: Path, arguments: tuple[object, ...], status: int, message: str
) -> None:
    result = codesum(built, *arguments)

    assert result.exit_code == status
    assert re.search(message, result.stderr), result.stderr


def test_a_job_without_a_signature_or_with_a_key_of_nobody_is_refused(
    codesum: Call, built: Path, tmp_path: Path
) -> None:
    job = tmp_path / "job.json"
    before = history(built)
    cache(built).put_many([kept_text(3, prompt_version="blake3:older")])
    of_version = ("--kind", "prompt_texts", "--prompt-version", "blake3:older", "--by", OPS, "--policy", "kept")
    must(codesum(built, "attest", "new", *of_version, "-o", job))

    unsigned = codesum(built, "compact", "--attest", job)
    must(codesum(built, "attest", "sign", job, "--key", key_in(tmp_path, "another_key")))
    refused = codesum(built, "attest", "verify", job)

    assert (unsigned.exit_code, refused.exit_code) == (1, 1)
    assert "attestation_signature_invalid: there is no " in unsigned.stderr
    assert "attestation_signer_not_allowed: " in refused.stderr
    assert history(built) == before


@pytest.mark.slow
def test_a_command_that_is_killed_while_the_model_writes_changes_nothing_and_can_be_repeated(
    codesum: Call, built: Path, tmp_path: Path
) -> None:
    job, log = tmp_path / "job.json", tmp_path / "asked.jsonl"
    cache(built).put_many([kept_text(5, prompt_version="blake3:oldest")])
    of_version = ("--kind", "prompt_texts", "--prompt-version", "blake3:oldest", "--by", OPS, "--policy", "tombstoned")
    must(codesum(built, "attest", "new", *of_version, "-o", job))
    must(codesum(built, "attest", "sign", job, "--key", key_in(tmp_path)))
    with ServerProcess(log=log, delay_s=30) as slow:
        process = subprocess.Popen(
            [*COMMAND, "--home", str(built), "compact", "--attest", str(job)],
            env=environment({"CODESUM_LLM__API_BASE": slow.base}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_for(log, process)
        process.kill()
        process.wait(timeout=60)

    assert len(cache(built).texts_of("blake3:oldest")) == 1
    done = json.loads(must(codesum(built, "compact", "--attest", job, "--json")))

    assert cache(built).texts_of("blake3:oldest") == []
    with closing(sqlite3.connect(built / LEDGER_FILE)) as connection:
        outcomes = connection.execute("SELECT outcome FROM llm_attempts WHERE run_id = ?", (done["job_id"],)).fetchall()
    assert outcomes == [("interrupted",), ("good",)]


def wait_for(log: Path, process: subprocess.Popen[bytes]) -> None:
    """Until the server was asked."""
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None and not (log.exists() and log.read_bytes()):
        time.sleep(0.01)
    assert process.poll() is None
