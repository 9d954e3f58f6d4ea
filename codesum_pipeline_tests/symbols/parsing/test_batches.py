"""Files parsed in several processes give what they give in one, and none is lost with another."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.worker_processes.pool import Pool, Work
from codesum_pipeline.symbols.parsing.batches import (
    BATCH_BYTES,
    ParsedBatch,
    ParsedRows,
    ParseFiles,
    SourceText,
    in_batches,
)
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.symbols.parsing.deadly_files import Deadly

PARSE = ParseFiles(HashPolicy.CANONICAL)

FILES = [
    SourceText(f"m{number:04}.py", "python", f"b{number}", b"def f(a):\n    return a + %d\n" % number)
    for number in range(700)
]
ODD = [
    SourceText("gone.py", "python", "b", None),
    SourceText("text.md", "markdown", "b", b"# Title\n"),
    SourceText("broken.py", "python", "b", b"def (:\n"),
]


def parse(
    files: list[SourceText], *, workers: int, work: Work[Sequence[SourceText], ParsedBatch] = PARSE
) -> tuple[ParsedRows, list[Failure]]:
    with Pool(workers) as pool:
        parts = list(pool.map(work, in_batches(files)))
    return ParsedRows.joined(part.rows for part in parts), [failure for part in parts for failure in part.failures]


def test_any_number_of_workers_gives_the_same_rows_in_the_same_order() -> None:
    rows, failures = parse(FILES + ODD, workers=0)
    in_processes, failures_in_processes = parse(FILES + ODD, workers=2)

    assert rows.facts["file_path"].to_pylist() == [file.path for file in FILES + ODD if file.data is not None]
    assert in_processes.symbols.equals(rows.symbols)
    assert in_processes.facts.equals(rows.facts)
    assert failures_in_processes == failures == [Failure("gone.py", "unreadable: blob b is not in the mirror")]


@pytest.mark.slow
def test_a_file_that_kills_its_worker_is_a_failure_and_a_plain_text_and_no_other_file_is() -> None:
    deadly = [SourceText(f"deadly{number}.py", "python", "b", b"crash\n") for number in range(2)]
    files = [*FILES[:250], deadly[0], *FILES[250:500], deadly[1], *FILES[500:]]

    rows, failures = parse(files, workers=2, work=Deadly(PARSE))

    expected, _ = parse(FILES, workers=0)
    assert failures == [Failure(file.path, "the parser ended: by SIGSEGV") for file in deadly]
    languages = dict(zip(*(rows.facts[name].to_pylist() for name in ("file_path", "language")), strict=True))
    assert languages == {file.path: "text" if file in deadly else "python" for file in files}
    assert rows.symbols.equals(expected.symbols)


BUILD = """
import sys
from pathlib import Path
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.symbols.parsing import symbols_step as symbols
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.symbols.parsing.deadly_files import Deadly

parse_files = symbols.ParseFiles
symbols.ParseFiles = lambda *rules: Deadly(parse_files(*rules))
workspace = workspace_of(open_home(Path(sys.argv[1])), RepositoryEntry("deadly", sys.argv[2]))
report = build(workspace, may_fail=True)["symbols"]
print([(failure.item, failure.reason) for failure in report.failures], report.functions)
"""


@pytest.mark.slow
def test_a_file_that_kills_a_small_build_is_named_by_the_next_one_and_by_each_after_it(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo")
    repo.commit({"deadly.py": "crash\n", "good.py": "def f(a):\n    return a + 1\n"})
    command = [sys.executable, "-c", BUILD, str(tmp_path / "home"), str(repo.path)]

    runs = [subprocess.run(command, capture_output=True, text=True, check=False) for _ in range(3)]

    assert runs[0].returncode == -signal.SIGSEGV
    for run in runs[1:]:
        assert run.returncode == 0, run.stderr
        assert run.stdout == "[('deadly.py', 'the parser ended: by SIGSEGV')] 1\n"


def test_a_batch_is_bounded_in_files_and_in_bytes_and_a_large_file_is_alone_in_one() -> None:
    large = SourceText("large.py", "python", "b", b"x" * BATCH_BYTES)

    assert [len(batch) for batch in in_batches(FILES)] == [200, 200, 200, 100]
    assert [len(batch) for batch in in_batches([FILES[0], large, large, FILES[1]])] == [1, 1, 1, 1]
