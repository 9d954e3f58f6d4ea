"""Texts of two versions of this project, mixed, for readers who do not know which is whose; and their verdicts.

    python -m benchmarks.blind_reading sheet BEFORE AFTER --folder SOURCES... --home HOME --out OUT [--seed 1]
    python -m benchmarks.blind_reading score OUT/key.json VERDICTS... [--worst 20]

BEFORE and AFTER are checkouts of this project. `sheet` indexes each folder with both, draws documents that both have
(of 30: 15 functions, 6 classes, 6 files, 3 folders; neither placeholders nor vendored ones), shuffles their texts and
writes them in parts, each with its source beside it. The same seed and folders give the same documents. Which text is
whose is in `key.json` alone. A version that shows a line of the graph beside a hit's text has it on the sheet, too.

A reader writes a file `NAME.PART.tsv`: `number<TAB>verdict` on each line, and behind a second tab what to say about it.
`score` prints the shares of each verdict by version and level, how two readers agree (Cohen's kappa: Cohen 1960), what
they judge differently, and the worst texts of AFTER.
"""

import argparse
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec import json as msgspec_json
from rich.console import Console
from rich.table import Table

from benchmarks.revision_tables import rows_of
from benchmarks.revisions import cost_of

# Of each folder; where a level has fewer, functions take their place.
QUOTAS = {"class": 6, "file": 6, "module": 3}
OF_EACH = 30
PART_ENTRIES = 75
SOURCE_LINES, LINES_ABOVE, NAMES_HELD, README_LINES, LINE_CHARS = 60, 20, 40, 15, 160
VERSIONS = ("before", "after")
VERDICTS = ("helps", "restates", "false", "unreadable")
# What makes a text one of the worst, by the verdict of a reader.
SEVERITY = {"helps": 0, "restates": 1, "unreadable": 3, "false": 3}
RULES = """# Texts about code

Each entry is a text about a function, class, file or folder, and below it its source. Judge the text (`says`, `beside`
and `for`) as somebody who searches an unknown repository. Write one line for each entry into a file of your own:
`number<TAB>verdict`, and behind a second tab the reason in some words.

- `helps`: it tells a developer who searches something about purpose or effect that name and signature do not say at a
  glance.
- `restates`: it says only what the name, the signature or the place says. A text of nothing but a name and a place
  restates; so does a list of names.
- `false`: it claims something that the source contradicts.
- `unreadable`: broken grammar or leftover markup, so that it is not understood at first reading.

The worse verdict wins: a text that helps and claims something false is false. Judge what is written, not what could be.
"""

# Prints the lines that a version shows beside its texts, by id; none of a version that shows none.
BESIDE = """
import json, sys
from pathlib import Path
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
try:
    from codesum_pipeline.answers.agent_tools.start_names import lines_beside
except ImportError:
    lines_beside = lambda call, documents: {}
home, repository, *ids = json.load(sys.stdin)
call = ToolContext(IndexCatalogue.of(load_settings({"home": home}, environ={})), Path("/"))
found = lines_beside(call, [(repository, id_) for id_ in ids])
print(json.dumps({id_: line for (_, id_), line in found.items()}))
"""

Row = Mapping[str, Any]


class Drawn(Struct, frozen=True):
    """One text on the sheet; the key has all of them."""

    number: int
    version: str
    repository: str
    id: str
    level: str
    summary: str
    intent: str
    beside: str = ""


class Verdict(Struct, frozen=True):
    """What one reader says of one entry."""

    reader: str
    number: int
    verdict: str
    reason: str


def draw_ids(before: Mapping[str, Row], after: Mapping[str, Row], *, seed: str) -> list[str]:
    """Ids of documents that both versions have, by chance, so many of each level."""
    chance = random.Random(seed)
    by_level: dict[str, list[str]] = defaultdict(list)
    for id_ in sorted(before.keys() & after.keys()):
        rows = before[id_], after[id_]
        if rows[0]["type"] == rows[1]["type"] and not any(row["is_placeholder"] or row["is_vendored"] for row in rows):
            by_level[rows[0]["type"]].append(id_)
    drawn: list[str] = []
    for level, quota in QUOTAS.items():
        drawn += chance.sample(by_level[level], min(quota, len(by_level[level])))
    functions = by_level["function"]
    return drawn + chance.sample(functions, min(OF_EACH - len(drawn), len(functions)))


def documents_of(home: Path, folder: Path) -> dict[str, Row]:
    """The documents of an indexed folder by id."""
    found = {str(row["id"]): row for row in rows_of(home, folder.name, "documents").values()}
    if not found:
        raise SystemExit(f"{home} has no documents of {folder.name!r}: name the folder as its repository's key")
    return found


def shown_source(row: Row, folder: Path, rows: Mapping[str, Row]) -> list[str]:
    """The lines that a text is judged by: of a definition with what stands right above it; of a folder its README and
    the names of what it holds."""
    if row["type"] == "module":
        return [*_readme_of(folder / row["file_path"]), *_held_names(row, rows)]
    lines = (folder / row["file_path"]).read_bytes().decode("utf-8", "replace").splitlines()
    if row["type"] == "file" or row["start_line"] is None:
        return _cut(lines)
    first = row["start_line"] - 1
    top = first
    while top and first - top < LINES_ABOVE and lines[top - 1].strip():
        top -= 1
    return _cut(lines[top : row["end_line"]])


def _cut(lines: Sequence[str]) -> list[str]:
    more = len(lines) - SOURCE_LINES
    return [*lines[:SOURCE_LINES], f"… {more} more lines"] if more > 0 else [*lines]


def _readme_of(folder: Path) -> list[str]:
    found = sorted(path for path in folder.iterdir() if path.name.lower().startswith("readme") and path.is_file())
    return found[0].read_bytes().decode("utf-8", "replace").splitlines()[:README_LINES] if found else []


def _held_names(row: Row, rows: Mapping[str, Row]) -> list[str]:
    names = sorted(one["id"] for one in rows.values() if one["parent_id"] == row["id"])
    return [f"holds {name}" for name in names[:NAMES_HELD]]


def draw_folder(
    folder: Path, trees: Sequence[Path], homes: Sequence[Path], seed: int
) -> Iterator[tuple[Drawn, Sequence[str]]]:
    """Each drawn document of a folder twice, numbered 0, with its source."""
    before, after = (documents_of(home, folder) for home in homes)
    ids = draw_ids(before, after, seed=f"{seed} {folder.name}")
    beside = [shown_beside(tree, home, folder.name, ids) for tree, home in zip(trees, homes, strict=True)]
    for id_ in ids:
        source = shown_source(after[id_], folder, after)
        for version, rows, lines in zip(VERSIONS, (before, after), beside, strict=True):
            row = rows[id_]
            text = row["summary"], row["business_intent"], lines.get(id_, "")
            yield Drawn(0, version, folder.name, id_, row["type"], *text), source


def shown_beside(tree: Path, home: Path, repository: str, ids: Sequence[str]) -> dict[str, str]:
    """The lines that the version in `tree` shows beside its texts, by id."""
    asked = msgspec_json.encode([str(home.resolve()), repository, *ids])
    environment = {**os.environ, "PYTHONPATH": str(tree.resolve())}
    done = subprocess.run(
        [sys.executable, "-c", BESIDE], cwd=tree, env=environment, input=asked, check=True, stdout=subprocess.PIPE
    )
    return msgspec_json.decode(done.stdout, type=dict[str, str])


def entry_text(drawn: Drawn, source: Sequence[str]) -> str:
    """One entry as a reader sees it."""
    path, _, name = drawn.id.partition("::")
    what = f"{drawn.level} `{name or path}`" + (f" in {path}" if name else "")
    lines = "\n".join(f"    {line[:LINE_CHARS]}" for line in source)
    beside = f"\n\nbeside: {drawn.beside}" if drawn.beside else ""
    text = f"says: {drawn.summary}{beside}\n\nfor: {drawn.intent}"
    return f"## {drawn.number}\n\n{drawn.repository}: {what}\n\n{text}\n\n{lines}\n"


def number_entries(entries: Sequence[tuple[Drawn, Sequence[str]]], seed: int) -> list[tuple[Drawn, Sequence[str]]]:
    """The entries in an order of chance, numbered from 1."""
    order = [*entries]
    random.Random(seed).shuffle(order)
    return [
        (Drawn(number, *[getattr(drawn, name) for name in drawn.__struct_fields__[1:]]), source)
        for number, (drawn, source) in enumerate(order, start=1)
    ]


def write_sheet(entries: Sequence[tuple[Drawn, Sequence[str]]], out: Path) -> None:
    """The parts of the sheet, and the key."""
    out.mkdir(parents=True, exist_ok=True)
    for part, at in enumerate(range(0, len(entries), PART_ENTRIES), start=1):
        texts = [entry_text(*entry) for entry in entries[at : at + PART_ENTRIES]]
        (out / f"part{part}.md").write_text("\n".join([RULES, *texts]), "utf-8")
    (out / "key.json").write_bytes(msgspec_json.format(msgspec_json.encode([drawn for drawn, _ in entries])) + b"\n")


def make_sheet(arguments: argparse.Namespace) -> None:
    """Index with both versions, draw, write."""
    homes = [arguments.home / version for version in VERSIONS]
    entries: list[tuple[Drawn, Sequence[str]]] = []
    for folder in sorted(one.resolve() for one in arguments.folder):
        for tree, home in zip((arguments.before, arguments.after), homes, strict=True):
            home.mkdir(parents=True, exist_ok=True)
            cost = cost_of(tree.resolve(), home.resolve(), "index", str(folder))
            print(f"{folder.name} {home.name}: {cost.clock_s:.0f} s", file=sys.stderr, flush=True)
        entries += draw_folder(folder, (arguments.before, arguments.after), homes, arguments.seed)
    write_sheet(number_entries(entries, arguments.seed), arguments.out)


def read_verdicts(path: Path) -> Iterator[Verdict]:
    """The verdicts of a file, whose name begins with the reader's; raises `SystemExit` at a line that is none."""
    for line in filter(str.strip, path.read_text("utf-8").splitlines()):
        number, _, rest = line.strip().partition("\t")
        verdict, _, reason = rest.partition("\t")
        if not number.isdigit() or verdict.strip() not in VERDICTS:
            raise SystemExit(f"{path}: {line!r} is no verdict; expected number<TAB>{'|'.join(VERDICTS)}")
        yield Verdict(path.name.partition(".")[0], int(number), verdict.strip(), reason.strip())


def shares(key: Mapping[int, Drawn], verdicts: Sequence[Verdict]) -> dict[tuple[str, str], dict[str, float]]:
    """How often each verdict is given, by version and level, all readers together."""
    counted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for each in verdicts:
        drawn = key[each.number]
        for level in (drawn.level, "all"):
            counted[drawn.version, level].update([each.verdict, "verdicts"])
    return {
        at: {"verdicts": one["verdicts"], **{name: one[name] / one["verdicts"] for name in VERDICTS}}
        for at, one in counted.items()
    }


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """The agreement of two readers beyond chance; 1 where both always give the same single verdict, nan without any."""
    if not pairs:
        return float("nan")
    total = len(pairs)
    observed = sum(one == other for one, other in pairs) / total
    sides = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    expected = sum(sides[0][name] * sides[1][name] for name in VERDICTS) / total**2
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


def by_number(verdicts: Sequence[Verdict]) -> dict[int, dict[str, Verdict]]:
    """Each entry's verdicts by reader; a later one of the same reader replaces the earlier."""
    found: dict[int, dict[str, Verdict]] = defaultdict(dict)
    for each in verdicts:
        found[each.number][each.reader] = each
    return dict(sorted(found.items()))


def worst_entries(judged: Mapping[int, Mapping[str, Verdict]], key: Mapping[int, Drawn], count: int) -> list[int]:
    """The entries of the later version that readers judge worst."""
    severity = {
        number: sum(SEVERITY[one.verdict] for one in each.values()) / len(each)
        for number, each in judged.items()
        if key[number].version == VERSIONS[1]
    }
    return sorted((one for one in severity if severity[one]), key=lambda one: (-severity[one], one))[:count]


def print_score(key: Mapping[int, Drawn], verdicts: Sequence[Verdict], worst: int) -> None:
    """All that is known of the verdicts."""
    unknown = sorted({each.number for each in verdicts} - key.keys())
    if unknown:
        raise SystemExit(f"no entry has the number {unknown[0]}")
    judged = by_number(verdicts)
    found = shares(key, [one for each in judged.values() for one in each.values()])
    table = Table("version", "level", "verdicts", *VERDICTS)
    for version in VERSIONS:
        for level in ("function", *QUOTAS, "all"):
            if one := found.get((version, level)):
                table.add_row(version, level, f"{one['verdicts']:.0f}", *(f"{one[name]:.1%}" for name in VERDICTS))
    Console(width=110).print(table)
    missing = len(key) - len(judged)
    print(f"{missing} entries were read by nobody" if missing else "every entry was read")
    for first, second in combinations(sorted({each.reader for each in verdicts}), 2):
        both = [each for each in judged.values() if {first, second} <= each.keys()]
        pairs = [(each[first].verdict, each[second].verdict) for each in both]
        print(f"{first} and {second}: {len(pairs)} entries both, Cohen's kappa {cohens_kappa(pairs):.2f}")
    print("\n## Judged differently\n")
    different = [number for number, each in judged.items() if len({one.verdict for one in each.values()}) > 1]
    print(*(_judged_line(key[number], judged[number]) for number in different), sep="\n")
    print("\n## The worst\n")
    print(*(_judged_line(key[number], judged[number]) for number in worst_entries(judged, key, worst)), sep="\n")


def _judged_line(drawn: Drawn, verdicts: Mapping[str, Verdict]) -> str:
    said = "; ".join(f"{name}: {one.verdict} {one.reason}".strip() for name, one in sorted(verdicts.items()))
    head = f"{drawn.number} {drawn.version} {drawn.repository} {drawn.id}"
    return f"{head}\n    {drawn.summary} | {drawn.beside} | {drawn.intent}\n    {said}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    sheet = commands.add_parser("sheet", help="index, draw and write a sheet")
    sheet.add_argument("before", type=Path)
    sheet.add_argument("after", type=Path)
    sheet.add_argument("--folder", type=Path, nargs="+", required=True, help="folders of sources")
    sheet.add_argument("--home", type=Path, required=True, help="where indexes are kept")
    sheet.add_argument("--out", type=Path, required=True)
    sheet.add_argument("--seed", type=int, default=1)
    score = commands.add_parser("score", help="count verdicts")
    score.add_argument("key", type=Path)
    score.add_argument("verdicts", type=Path, nargs="+")
    score.add_argument("--worst", type=int, default=20)
    arguments = parser.parse_args()
    if arguments.command == "sheet":
        make_sheet(arguments)
        return
    drawn = msgspec_json.decode(arguments.key.read_bytes(), type=list[Drawn])
    verdicts = [verdict for path in sorted(arguments.verdicts) for verdict in read_verdicts(path)]
    print_score({one.number: one for one in drawn}, verdicts, arguments.worst)


if __name__ == "__main__":
    main()
