"""What is written down of those who ask with a token."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from codesum_pipeline.ways_in.http_serving.audit_log import FILE, AuditLog, Auditor, read_audit
from codesum_pipeline_tests.ways_in.access.asking import HEADERS, Session, mcp, pages
from codesum_pipeline_tests.ways_in.access.homes import KEY_OF_B, Homes

EVIL = 'charge\r\n{"token": "boss"}\u2028\x1b[31m"'


def log_in(folder: Path, *, max_bytes: int = 1_000_000, files: int = 3) -> AuditLog:
    return AuditLog(folder / "audit", max_bytes, files)


def test_each_request_is_a_line_without_its_question(homes: Homes, tmp_path: Path) -> None:
    auditor = Auditor(log_in(tmp_path), "web")
    with pages(homes.both, audit=auditor) as site:
        site.get("/hits", params={"q": "charge a card"}, headers=HEADERS)
        site.get("/repository", params={"repo": KEY_OF_B}, headers=HEADERS)
        site.get("/charge-a-card", headers=HEADERS)
        site.get("/static/page.css", headers=HEADERS)
        site.get("/", headers={"Authorization": "Bearer nobody"})
    lines = list(read_audit(tmp_path / "audit"))

    shown = [(each["token"], each["asked"], each["outcome"], each.get("repos")) for each in lines]
    assert shown == [
        ("cashier", "GET /hits", "answered", ["till"]),
        ("cashier", "GET /repository", "refused", []),
        ("cashier", "GET no page", "refused", []),
        ("", "a wrong token", "refused", None),
    ]
    assert lines[0]["hits"] > 0 and lines[0]["duration_ms"] >= 0 and lines[0]["entrance"] == "web"
    assert lines[3]["address"] == "testclient"
    assert not [each for each in lines if "question" in each or "charge" in json.dumps(each)]


def test_calls_of_tools_are_lines_with_their_questions_where_they_are_wanted(homes: Homes, tmp_path: Path) -> None:
    auditor = Auditor(log_in(tmp_path), "mcp", has_questions=True)
    with mcp(homes.both, audit=auditor) as client:
        session = Session(client)
        session.ask("tools/call", {"name": "search", "arguments": {"query": EVIL}})
        session.ask("tools/call", {"name": "read", "arguments": {"ids": ["x"], "repo": KEY_OF_B}})
        session.ask("resources/read", {"uri": "codesum://till/till/pay.py"})
    text = (tmp_path / "audit" / FILE).read_bytes()
    lines = list(read_audit(tmp_path / "audit"))

    assert [(each["asked"], each["outcome"], each["repos"]) for each in lines] == [
        ("search", "answered", ["till"]),
        ("read", "refused", []),
        ("document", "answered", ["till"]),
    ]
    assert json.loads(lines[0]["question"]) == {"query": EVIL}
    assert text.isascii() and len(text.splitlines()) == 3


def test_nobody_else_may_read_the_lines(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.write({"n": 1})
    log.close()

    modes = [stat.S_IMODE(path.stat().st_mode) for path in (log.folder, log.folder / FILE, log.folder / ".lock")]
    assert modes == [0o700, 0o600, 0o600]


def test_files_are_bounded_in_size_and_number(tmp_path: Path) -> None:
    log = log_in(tmp_path, max_bytes=100, files=3)
    for number in range(100):
        log.write({"n": number})
    log.close()

    files = sorted(path.name for path in log.folder.glob("*.jsonl"))
    assert files == ["audit.1.jsonl", "audit.2.jsonl", "audit.jsonl"]
    assert max(path.stat().st_size for path in log.folder.glob("*.jsonl")) <= 100
    kept = [each["n"] for each in read_audit(log.folder)]
    assert kept == list(range(kept[0], 100))


def test_several_processes_write_whole_lines(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from codesum_pipeline.ways_in.http_serving.audit_log import AuditLog\n"
        "log = AuditLog(Path(sys.argv[1]), 20_000, 100)\n"
        "for number in range(300): log.write({'who': sys.argv[2], 'n': number, 'text': 'x' * 200})\n"
        "log.close()\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "audit"), str(who)]) for who in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]

    lines = list(read_audit(tmp_path / "audit"))
    assert sorted((each["who"], each["n"]) for each in lines) == sorted(
        (str(who), number) for who in range(3) for number in range(300)
    )


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = log_in(tmp_path)
    log.folder.mkdir()
    (tmp_path / "other").write_text("kept")
    (log.folder / FILE).symlink_to(tmp_path / "other")
    log.write({"n": 1})
    log.close()

    assert (tmp_path / "other").read_text() == "kept"
    assert "1 lines of the audit log are lost" in caplog.text
