"""What is masked in a function follows from all of its file: an edit elsewhere in it may mask a text anew."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.comparing import first_difference
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

WORD = "tr0ub4dor9Zebra"
# So many words that those of the mask are no keywords: nothing that is written about the function changes.
WORDS = ["apple", "banana", "cherry", "damson", "elder", "fig", "grape", "hazel", "iris", "juniper", "kiwi", "lemon"]
CALLS = "".join(f"    known.append(server.{word}(1))\n    log('{word} {word} {word}')\n" for word in WORDS)
FUNCTION = f'''

def connect(server):
    """Connect to a server and greet it."""
    known = []
{CALLS}
    if known != "{WORD}":
        known.pop()
    return known
'''


@pytest.mark.parametrize("is_known_first", [False, True])
def test_a_secret_that_the_rest_of_a_file_tells_is_masked_everywhere(tmp_path: Path, is_known_first: bool) -> None:
    versions = [FUNCTION, f'PASSWORD = "{WORD}"\n{FUNCTION}']
    repo = GitRepo.create(tmp_path / "repository", {"server.py": versions[is_known_first], "other.py": "x = 1\n"})
    entry = RepositoryEntry("server", str(repo.path))
    built = workspace_of(open_home(tmp_path / "home"), entry)
    build(built, until="sparse_index")
    repo.commit({"server.py": versions[not is_known_first]})
    build(built, until="sparse_index")
    clean = workspace_of(open_home(tmp_path / "clean"), entry)
    build(clean, until="sparse_index")

    tables = [
        {table: each.tables.read(table, "server").to_pylist() for table in ("symbols", "terms", "vectors")}
        for each in (built, clean)
    ]
    assert first_difference(*tables) is None
    (code,) = [row["tokens"] for row in tables[0]["terms"] if row["id"].endswith("connect") and row["lane"] == "code"]
    assert (WORD.lower() in code) is is_known_first
