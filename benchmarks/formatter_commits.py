"""Formatter commits of real repositories: how many functions and classes have another hash after one than before.

    python -m benchmarks.formatter_commits CLONE=COMMIT ... [--out FILE]

Each `CLONE` is the directory of a git clone that has the commit and its parent. To compare two states of
this program, run it in a checkout of each.
"""

import argparse
import json
import subprocess
from collections import Counter
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.symbols.parsing.parsers import PARSERS, parse_file


def run_git(clone: str, *arguments: str) -> bytes:
    """What git says."""
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True).stdout


def symbols_of(clone: str, commit: str, path: str) -> dict[str, str]:
    """The content hash of each symbol of a file, by id."""
    language = language_of_path(path)
    if language is None or language not in PARSERS:
        return {}
    data = run_git(clone, "show", f"{commit}:{path}")
    try:
        parsed = parse_file(path, language, data, blob="", hash_policy=HashPolicy.CANONICAL)
    except SkippedFile:
        return {}
    return {symbol.id: symbol.content_hash for symbol in parsed.symbols}


def measure(clone: str, commit: str) -> dict[str, object]:
    """Symbols in the files that a commit changes, and those with another hash after it."""
    changed = run_git(clone, "diff", "--name-only", "--diff-filter=M", f"{commit}^", commit).decode().splitlines()
    counts: Counter[str] = Counter()
    examples = []
    for path in changed:
        before, after = symbols_of(clone, f"{commit}^", path), symbols_of(clone, commit, path)
        both = before.keys() & after.keys()
        rewritten = sorted(id_ for id_ in both if before[id_] != after[id_])
        counts.update(files=bool(both), symbols=len(both), rewritten=len(rewritten))
        counts.update(new_or_gone=len(before.keys() ^ after.keys()))
        examples += rewritten[:2]
    subject = run_git(clone, "log", "-1", "--format=%s", commit).decode().strip()
    return {"commit": commit, "subject": subject, **counts, "examples": examples[:10]}


def main() -> None:
    """Measure each commit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="+", metavar="CLONE=COMMIT")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    found = [measure(*commit.rsplit("=", 1)) for commit in arguments.commits]
    text = json.dumps(found, indent=2) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
