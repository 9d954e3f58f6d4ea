"""Make the table of word frequencies that the extractive writer chooses keywords by.

    python benchmarks/make_word_frequencies.py --exclude-list repositories.txt

Counts, over the Python sources of the installed packages, in how many files
each word of an identifier or a docstring stands. Packages named in the
exclude list (`owner/name` a line) are left out, vendored copies too. Only
counts are kept, in buckets of powers of two; the same packages give the same
bytes.
"""

import argparse
import gzip
import re
import sysconfig
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

from codesum_pipeline.evidence.extractive.words import split_identifier

TABLE = Path(__file__).parents[1] / "codesum_pipeline/evidence/author_texts/word_frequencies.txt.gz"
MIN_FILES = 3
MAX_WORDS = 40_000
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")
# Repositories whose package is installed under another name.
_IMPORT_NAMES = {
    "scikit-learn": ["sklearn"],
    "pytest": ["_pytest"],
    "mypy": ["mypyc"],
    "matplotlib": ["mpl_toolkits", "pylab"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exclude-list", type=Path, required=True, help="repositories to leave out, owner/name a line")
    parser.add_argument(
        "--sources", type=Path, default=Path(sysconfig.get_paths()["purelib"]), help="folder of packages"
    )
    parser.add_argument("--out", type=Path, default=TABLE)
    arguments = parser.parse_args()
    excluded = excluded_packages(arguments.exclude_list.read_text(encoding="utf-8"))
    counts, files = count_words(arguments.sources, excluded)
    arguments.out.write_bytes(gzip.compress(render(counts, files).encode(), mtime=0))
    print(f"{files} files, {len(counts)} words, {arguments.out.stat().st_size} bytes")
    print("left out:", *sorted(excluded))


def excluded_packages(listing: str) -> set[str]:
    """Import names of what the list names, in every spelling, as far as they are known here."""
    names = {
        _normal_name(line.rpartition("/")[2])
        for line in listing.splitlines()
        if line.strip() and not line.startswith("#")
    }
    packages = {name.replace("-", "_") for name in names}
    for distribution in distributions():
        if _normal_name(distribution.metadata["Name"]) in names:
            packages.update(
                file.parts[0].removesuffix(".py") for file in distribution.files or () if file.suffix == ".py"
            )
    return {package.lower() for package in packages.union(*(_IMPORT_NAMES.get(name, []) for name in names))} - {
        "..",
        ".",
    }


def count_words(root: Path, excluded: set[str]) -> tuple[Counter[str], int]:
    """In how many files each word stands, and the number of files."""
    counts: Counter[str] = Counter()
    files = 0
    for path in _source_files(root, excluded):
        identifiers = set(_IDENTIFIER.findall(path.read_text(encoding="utf-8", errors="replace")))
        counts.update(
            {
                word
                for one in identifiers
                for word in split_identifier(one)
                if word.isascii() and len(word) > 1 and word[0].isalpha()
            }
        )
        files += 1
    kept = sorted(
        ((word, count) for word, count in counts.items() if count >= MIN_FILES), key=lambda pair: (-pair[1], pair[0])
    )
    return Counter(dict(kept[:MAX_WORDS])), files


def _source_files(root: Path, excluded: set[str]) -> Iterator[Path]:
    for path in sorted(root.rglob("*.py")):
        parts = {part.lower().removesuffix(".py") for part in path.relative_to(root).parts}
        if not parts & excluded:
            yield path


def _normal_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def render(counts: Counter[str], files: int) -> str:
    """One line a bucket: the number k, then the words that stand in about one of 2**k files."""
    buckets: defaultdict[int, list[str]] = defaultdict(list)
    for word, count in counts.items():
        buckets[(files // count).bit_length()].append(word)
    return "".join(f"{bucket} {' '.join(sorted(words))}\n" for bucket, words in sorted(buckets.items()))


if __name__ == "__main__":
    main()
