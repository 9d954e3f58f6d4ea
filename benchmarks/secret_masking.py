"""How many planted secrets are masked, and what is masked in repositories that should hold none.

    python benchmarks/secret_masking.py [FOLDER …] [--each 50] [--seed 1] [--show] [--detect-secrets PROGRAM]

Plants `--each` made-up secrets of every kind into lines of code and settings,
one a file, and counts those that are gone; then reads the text files below each
FOLDER and counts masks by kind. `--show` prints each line of a FOLDER that was
changed: whether it held a secret is for a person to say. With
`--detect-secrets` that program (`pip install detect-secrets`) is run over the
same files; of it a planted file counts as found with any report.
"""

import argparse
import json
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline_tests.support.planted_secrets import TOKENS, Planted, planted

MAX_BYTES = 1_000_000
console = Console(highlight=False, width=160)


@dataclass
class Reading:
    """What was masked below one folder."""

    lines: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    changed: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--detect-secrets", metavar="PROGRAM")
    arguments = parser.parse_args()
    secrets = list(planted(seed=arguments.seed, each=arguments.each))
    report_recall(secrets, arguments.detect_secrets)
    for folder in arguments.folders:
        report_folder(folder, arguments.detect_secrets, show=arguments.show)


def report_recall(secrets: Sequence[Planted], program: str | None) -> None:
    """Shares of masked secrets: tokens of known formats, and values that only their names betray."""
    missed = [place for place, one in enumerate(secrets) if secret_part(one) in mask_secrets(one.text).text]
    columns = {"masked": set(missed)}
    if program:
        columns["detect-secrets"] = set(range(len(secrets))) - found_by(program, secrets)
    table = Table("planted", "kinds", "secrets", *columns)
    for name, are_tokens in (("tokens of known formats", True), ("assigned values", False)):
        places = [place for place, one in enumerate(secrets) if (one.kind in TOKENS) is are_tokens]
        kinds = {secrets[place].kind for place in places}
        shares = (f"{1 - len(lost.intersection(places)) / len(places):.2%}" for lost in columns.values())
        table.add_row(name, str(len(kinds)), str(len(places)), *shares)
    console.print(table)
    by_kind = {name: Counter(secrets[place].kind for place in lost) for name, lost in columns.items()}
    for name, kinds_missed in by_kind.items():
        console.print(f"{name}, missed: {dict(kinds_missed.most_common())}")


def secret_part(one: Planted) -> str:
    """Of a web hook's address the path's end; else all of it."""
    return one.secret.rpartition("/")[2] if one.secret.startswith("https://") else one.secret


def found_by(program: str, secrets: Sequence[Planted]) -> set[int]:
    """The places of the secrets in whose files the program reports anything."""
    with tempfile.TemporaryDirectory() as folder:
        for place, one in enumerate(secrets):
            (Path(folder) / f"{place}.txt").write_text(one.text, encoding="utf-8")
        return {int(Path(name).stem) for name in scan(program, Path(folder))}


def scan(program: str, folder: Path) -> dict[str, list[dict[str, object]]]:
    """The program's reports by file."""
    done = subprocess.run([program, "scan", "--all-files", "."], cwd=folder, check=True, capture_output=True, text=True)
    found: dict[str, list[dict[str, object]]] = json.loads(done.stdout)["results"]
    return found


def report_folder(folder: Path, program: str | None, *, show: bool) -> None:
    """What was masked, by kind."""
    reading = Reading()
    for path, text in texts_below(folder):
        before = time.process_time()
        masked = mask_secrets(text)
        reading.seconds += time.process_time() - before
        reading.lines += text.count("\n") + 1
        reading.counts.update(masked.counts)
        pairs = zip(text.split("\n"), masked.text.split("\n"), strict=True)
        name = path.relative_to(folder)
        reading.changed += [f"{name}: {new.strip()[:110]}" for old, new in pairs if old != new and "«" in new]
    total = sum(reading.counts.values())
    console.print(
        f"{folder.name}: {reading.lines:,} lines, {total} masks ({total / reading.lines * 10_000:.1f} per 10,000 "
        f"lines), {reading.lines / reading.seconds:,.0f} lines/s: {dict(sorted(reading.counts.items()))}"
    )
    if program:
        before = time.perf_counter()
        by_kind: defaultdict[str, int] = defaultdict(int)
        for reports in scan(program, folder).values():
            for report in reports:
                by_kind[str(report["type"])] += 1
        seconds = time.perf_counter() - before
        console.print(f"  detect-secrets: {sum(by_kind.values())} reports in {seconds:.0f} s: {dict(by_kind)}")
    if show:
        console.print("\n".join(f"  {line}" for line in reading.changed), markup=False)


def texts_below(folder: Path) -> Iterator[tuple[Path, str]]:
    """The text files of a work tree."""
    for path in sorted(folder.rglob("*")):
        if ".git" in path.parts or not path.is_file() or path.is_symlink() or path.stat().st_size > MAX_BYTES:
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            yield path, data.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
