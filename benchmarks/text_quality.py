"""How good the extractive texts of sources are, in figures, and a sample of them to be read.

    python -m benchmarks.text_quality FOLDER [--show 50]
    python -m benchmarks.text_quality CLONES --clones [--json FIGURES.json]
    python -m benchmarks.text_quality CLONES --draw 60 --seed 7 [--language go]...

Counts what texts are made of (`benchmarks/text_figures.py`) in one folder, or in every clone of a folder of git
clones: those are read one after the other, each in a process of its own with bounds of time and memory. A clone that
meets one is named and left out. `--show` prints an even sample of the documents of every level.

`--draw` draws so many documents of each language by chance, each with the
source beside it, out of a folder of git clones: half of them functions, and
classes, files and folders. Placeholders are not drawn. Equal seeds draw equal
documents of equal clones, whatever is written of them. Clones are equally likely, large or small.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from rich.console import Console

from benchmarks.text_figures import Counts, all_figures, count_texts, tables_of
from benchmarks.text_library import Document, Library, clone_in, main_language, read_clone, read_folder, write_library
from codesum_pipeline.evidence.inputs import ModuleInput
from codesum_pipeline.foundation.data_model.document import LEVELS, Level

# Of a language's clones so many are drawn from: what is drawn has to come from several.
MAX_CLONES = 6
# What one clone may take.
CLONE_SECONDS, CLONE_BYTES = 300, 6 << 30
# Of sixty documents.
SHARES = {Level.FUNCTION: 32, Level.CLASS: 12, Level.FILE: 11, Level.MODULE: 5}
SOURCE_LINES = 24
PER_CLONE = 8
LANGUAGES = ("python", "javascript", "typescript", "java", "go", "rust", "c", "cpp", "ruby", "php", "c-sharp",
             "kotlin", "swift", "scala", "elixir", "haskell", "lua", "bash", "zig")  # fmt: skip


def count_clone(clone: Path) -> Counts | None:
    """The counts of a clone, made by a process of its own; None of one that is too large or lacks objects."""
    command = [sys.executable, "-m", "benchmarks.text_quality", str(clone), "--counts"]
    limit = (CLONE_BYTES, CLONE_BYTES)
    try:
        done = subprocess.run(
            command,
            check=True,
            capture_output=True,
            timeout=CLONE_SECONDS,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return Counter({tuple(key): number for key, number in json.loads(done.stdout)})


def count_clones(clones: Path) -> Counts:
    """The counts of all clones of a folder; those left out are named."""
    counts: Counts = Counter()
    folders = [one for one in sorted(clones.iterdir()) if one.is_dir()]
    for number, folder in enumerate(folders, start=1):
        found = count_clone(folder)
        print(f"{number} of {len(folders)}: {folder.name}{'' if found else ' is left out'}", file=sys.stderr)
        counts.update(found or {})
    return counts


def print_counts(folder: Path) -> None:
    """The counts of one clone as JSON; exits 1 where it cannot be read."""
    clone = clone_in(folder)
    read = read_clone(clone, folder.name) if main_language(clone) else None
    if read is None:
        sys.exit(1)
    print(json.dumps([[key, number] for key, number in sorted(count_texts(read[1]).items())]))


def sample_documents(library: Library, count: int) -> Iterator[Document]:
    """An even sample over every level, in the order of ids."""
    for level in LEVELS:
        documents = [
            library.documents[id_] for id_ in sorted(library.documents) if library.documents[id_].child.level is level
        ]
        step = max(1, len(documents) // max(1, count))
        yield from documents[::step][:count]


def format_document(document: Document) -> str:
    """One document as a reader sees it."""
    text = document.text
    lines = [
        f"[{document.child.level}, {document.source}] {document.writer_input.id}",
        f"  {text.summary}",
        f"  why: {text.business_intent}",
        f"  words: {', '.join(text.keywords)}",
    ]
    lines.extend(f"  in: {one.name} ({one.type}): {one.description}" for one in text.inputs)
    if text.returns:
        lines.append(f"  out: {text.returns.type} | {text.returns.type_summary} | {text.returns.details}")
    lines.extend(f"  effect: {one}" for one in text.side_effects)
    lines.extend(f"  must: {one}" for one in text.invariants)
    lines.extend(f"  part: {one}" for one in text.responsibilities)
    return "\n".join(lines)


def draw_documents(clones: Path, language: str, *, count: int, seed: int) -> Iterator[str]:
    """Documents of one language as a reader is shown them, in the order in which chance gave them."""
    chance = random.Random(f"{seed} {language}")
    found = [one for one in sorted(clones.iterdir()) if one.is_dir() and main_language(clone_in(one)) == language]
    chance.shuffle(found)
    read = (read_clone(clone_in(one), one.name) for one in found)
    libraries = [*islice(filter(None, read), MAX_CLONES)]
    for level, share in SHARES.items():
        drawn = [
            (name, library.documents[id_], sources)
            for name, library, sources in libraries
            for id_ in _draw_level(library, level, language, chance)
        ]
        chance.shuffle(drawn)
        for name, document, sources in drawn[: max(1, round(share * count / sum(SHARES.values())))]:
            text = document.text
            text_lines = f"### {name}: {document.writer_input.id}\n{text.summary}\nwhy: {text.business_intent}"
            yield f"{text_lines}\n{source_beside(document, sources)}"


def _draw_level(library: Library, level: Level, language: str, chance: random.Random) -> list[str]:
    """Some documents of a level, of each clone as many: a large one is not drawn from more often."""
    found = [id_ for id_ in sorted(library.documents) if _is_drawn(library.documents[id_], level, language)]
    return chance.sample(found, min(len(found), PER_CLONE))


def _is_drawn(document: Document, level: Level, language: str) -> bool:
    child = document.child
    is_in_language = getattr(document.writer_input, "language", language) == language
    return child.level is level and is_in_language and not child.is_placeholder


def source_beside(document: Document, sources: Mapping[str, list[str]]) -> str:
    """The first lines of what a document is about, from a few before it; of a folder what it holds."""
    writer_input = document.writer_input
    lines = sources.get(writer_input.id, [])
    if isinstance(writer_input, ModuleInput):
        lines = [*(writer_input.readme or "").splitlines()[:8], *(child.name for child in writer_input.children)]
    return "\n".join(f"    | {line[:150]}" for line in lines[:SOURCE_LINES])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of sources, or of git clones with --clones and --draw")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N documents of each level")
    parser.add_argument("--clones", action="store_true", help="count the texts of all clones in the folder")
    parser.add_argument("--counts", action="store_true", help="print the counts of this one clone as JSON")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--draw", type=int, default=0, metavar="N", help="print N documents of each language")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--language", action="append", choices=LANGUAGES, help="these languages alone")
    arguments = parser.parse_args()
    if arguments.counts:
        print_counts(arguments.folder)
    elif arguments.draw:
        for language in arguments.language or LANGUAGES:
            print(f"## {language}\n")
            print(*draw_documents(arguments.folder, language, count=arguments.draw, seed=arguments.seed), sep="\n\n")
    else:
        counts = count_clones(arguments.folder) if arguments.clones else _shown_counts(arguments.folder, arguments.show)
        _print_figures(arguments.folder.name, all_figures(counts), arguments.json)


def _shown_counts(folder: Path, show: int) -> Counts:
    """The counts of a folder of sources, after a sample of its texts."""
    parsed, texts = read_folder(folder)
    library = write_library(parsed, texts, key=folder.name)
    for document in sample_documents(library, show) if show else ():
        print(format_document(document), end="\n\n")
    print(f"{len(library.bodies) / max(library.write_s, 1e-9):,.0f} functions written per second")
    return count_texts(library)


def _print_figures(name: str, figures: Mapping[str, object], kept: Path | None) -> None:
    console = Console(width=200)
    for table in tables_of(name, figures):
        console.print(table)
    if kept:
        kept.write_text(f"{json.dumps(figures, indent=1)}\n", "utf-8")


if __name__ == "__main__":
    main()
