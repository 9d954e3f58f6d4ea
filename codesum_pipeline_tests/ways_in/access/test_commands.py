"""`codesum token` and `codesum audit`."""

import json
import stat
from pathlib import Path
from typing import Any

from codesum_pipeline.ways_in.http_serving.access_tokens import digest_of, read_tokens
from codesum_pipeline.ways_in.http_serving.audit_log import AuditLog
from codesum_pipeline_tests.ways_in.cli.conftest import codesum as codesum_call

__all__ = ["codesum_call"]


def test_a_new_token_is_shown_once_and_its_hash_added_to_a_file(tmp_path: Path, codesum_call: Any) -> None:
    file = tmp_path / "tokens"
    secrets = []
    for name in ("alice", "bob"):
        result = codesum_call(
            tmp_path / "home", "token", "new", name, "--repo", "pay-*", "--repo", "!pay-x", "--file", file,
            "--expires", "2100-01-01",
        )  # fmt: skip
        assert result.exit_code == 0, result.stderr
        secrets.append(result.stdout.strip())
    found = read_tokens(file, {}, variable="X")

    assert [(each.name, each.digest) for each in found] == [
        ("alice", digest_of(secrets[0])),
        ("bob", digest_of(secrets[1])),
    ]
    assert found[0].scope.patterns == ("pay-*", "!pay-x") and found[0].expires
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not [secret for secret in secrets if secret in file.read_text()]


def test_a_name_that_is_taken_changes_no_file(tmp_path: Path, codesum_call: Any) -> None:
    file = tmp_path / "tokens"
    arguments = ("token", "new", "alice", "--repo", "x", "--file", file)
    codesum_call(tmp_path / "home", *arguments)
    before = file.read_text()
    result = codesum_call(tmp_path / "home", *arguments)

    assert (result.exit_code, file.read_text()) == (2, before)
    assert "it is no TOML" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "home") == [".tokens.lock", "tokens"]


def test_requests_are_listed_and_filtered(tmp_path: Path, codesum_call: Any) -> None:
    home = tmp_path / "home"
    log = AuditLog(home / "audit", 1_000_000, 2)
    for number, token in enumerate(("alice", "bob", "alice")):
        log.write({"time": f"2027-01-0{number + 1}T00:00:00Z", "token": token, "repos": ["x"], "asked": "\x1b[31m"})
    log.close()

    listed = codesum_call(home, "audit")
    alices = codesum_call(home, "audit", "--token", "alice", "--since", "2027-01-02", "--json")

    assert listed.exit_code == 0 and "bob" in listed.stdout and "\x1b[31m" not in listed.stdout
    assert [json.loads(line)["time"] for line in alices.stdout.splitlines()] == ["2027-01-03T00:00:00Z"]
    assert "no such request" in codesum_call(home, "audit", "--repo", "y").stderr


def test_requests_of_a_person_are_found_by_name_or_subject(tmp_path: Path, codesum_call: Any) -> None:
    home = tmp_path / "home"
    log = AuditLog(home / "audit", 1_000_000, 2)
    for person, subject in (("Alice", "a1"), ("", "b2"), ("Alice", "c3")):
        log.write({"time": "2027-01-01T00:00:00Z", "token": "", "person": person, "subject": subject, "repos": []})
    log.close()

    def found(name: str) -> list[str]:
        answer = codesum_call(home, "audit", "--person", name, "--json")
        return [json.loads(line)["subject"] for line in answer.stdout.splitlines()]

    assert (found("Alice"), found("b2"), found("nobody")) == (["a1", "c3"], ["b2"], [])
    assert "b2" in codesum_call(home, "audit").stdout
