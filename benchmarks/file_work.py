"""How much counted work the largest honest files of many repositories are, against the limit of one file, and how many
files a small build leaves to a worker because they look as if they might take a parser gigabytes.

    python -m benchmarks.file_work REPOSITORY … > benchmarks/results/file_work.md

Each REPOSITORY is a git directory or a clone. Of each language of each, the largest files are read, those beside them
that are long for the language, and a sample of the others.
"""

import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.settings.stage_settings import STEPS_PER_BYTE, ScanSettings
from codesum_pipeline.source.files.content import judge_content
from codesum_pipeline.source.files.encodings import read_text
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline.symbols.parsing.bounded import FREE_STEPS, TooCostly, WorkBudget, may_take_gigabytes
from codesum_pipeline.symbols.parsing.parsers import PARSERS, NothingParsed

# Of each language of each repository.
LARGEST = 25
SAMPLED = 60
NO_LIMIT = 1 << 60


@dataclass(frozen=True, slots=True)
class FileWork:
    """What reading one file took."""

    language: str
    name: str
    size: int
    steps: int
    is_left: bool

    @property
    def per_byte(self) -> float:
        """Above what any file may take."""
        return max(self.steps - FREE_STEPS, 0) / max(self.size, 1)

    @property
    def share(self) -> float:
        """Of what it may take."""
        return self.steps / (FREE_STEPS + STEPS_PER_BYTE * self.size)


def chosen_files(git_dir: Path) -> Iterator[tuple[str, str, str]]:
    """Language, path and blob of the files that are read."""
    largest = int(ScanSettings().max_file_size_mb * 1_000_000)
    listed = subprocess.run(
        ["git", "--git-dir", git_dir, "ls-tree", "-rlz", "HEAD"], capture_output=True, check=True
    ).stdout.decode("utf-8", "replace")
    by_language: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for line in filter(None, listed.split("\0")):
        (_, kind, blob, size), path = line.partition("\t")[0].split(), line.partition("\t")[2]
        language = language_of_path(path)
        if kind == "blob" and language and language in PARSERS and int(size) <= largest:
            by_language[language].append((int(size), path, blob))
    choose = random.Random(git_dir.name)
    for language, files in sorted(by_language.items()):
        files.sort(reverse=True)
        rest = files[LARGEST:]
        for _, path, blob in [*files[:LARGEST], *choose.sample(rest, min(SAMPLED, len(rest)))]:
            yield language, path, blob


def work_of(git_dir: Path, name: str) -> Iterator[FileWork]:
    """The work of the chosen files of one repository."""
    with BlobReader(git_dir) as blobs:
        for language, path, blob in chosen_files(git_dir):
            data = blobs.read(blob)
            try:
                if judge_content(path, data).reason:
                    continue
                source = read_text(data, language).text.encode()
                budget = WorkBudget(NO_LIMIT)
                PARSERS[language].reading(source, path, hash_policy=HashPolicy.CANONICAL, budget=budget)
            except (SkippedFile, NothingParsed, TooCostly):
                continue
            is_left = may_take_gigabytes(source, language)
            yield FileWork(language, f"{name}:{path}", len(source), budget.spent, is_left)


def main(repositories: Sequence[str]) -> None:
    """Print the table of all languages."""
    found: dict[str, list[FileWork]] = defaultdict(list)
    for number, repository in enumerate(repositories, 1):
        folder = Path(repository)
        git_dir = folder / ".git" if (folder / ".git").exists() else folder
        name = folder.parent.name if folder.name == "repo" else folder.name
        for file in work_of(git_dir, name):
            found[file.language].append(file)
        print(f"{number} of {len(repositories)}: {name}", file=sys.stderr, flush=True)
    print(f"{sum(map(len, found.values())):,} files of {len(repositories)} repositories; the limit of a file is")
    print(f"{FREE_STEPS:,} steps and {STEPS_PER_BYTE} for each byte.\n")
    print(
        "| language | files | left to a worker | largest (bytes) | most steps | most steps per byte | 99.9 % "
        "| most of its limit | by |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for language, files in sorted(found.items()):
        rates = sorted(file.per_byte for file in files)
        worst = max(files, key=lambda file: file.share)
        left, largest, steps = sum(f.is_left for f in files), max(f.size for f in files), max(f.steps for f in files)
        print(
            f"| {language} | {len(files):,} | {left:,} | {largest:,} | {steps:,} | {rates[-1]:.1f} "
            f"| {rates[int(0.999 * (len(rates) - 1))]:.1f} | {worst.share:.0%} | `{worst.name}` |"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
