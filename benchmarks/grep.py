"""`grep` beside ripgrep: the same lines in clones, and how long one waits for them.

    python -m benchmarks.grep equality FOLDER CLONE…     # git directories or work trees
    python -m benchmarks.grep scan FOLDER CLONE…
    python -m benchmarks.grep tool FOLDER CLONE… [--repositories 1000]

Clones are unpacked and indexed in FOLDER, where that was not done yet. `equality` compares every line of every pattern,
number and text, over the indexed files. It leaves out, and counts, files that are on the disk otherwise than git has
their text: in other encodings, with line ends by .gitattributes, with carriage returns alone.
`scan` searches all texts of the clones as one, as `rg` does their files; nothing is indexed for it. `tool` asks the
tool, as a server answers it, about each clone, about all, and about so many repositories, most of which are copies of
the first. A time is the least of some repeats, with the median in brackets.
"""

import argparse
import codecs
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from codesum_pipeline.answers.agent_tools.answering_sources import open_texts
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import is_repository_key
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.search.source_lines.line_groups import SearchedTexts, find_lines
from codesum_pipeline.search.source_lines.matching import LinePattern, _program, find_matches

PATTERNS = (
    LinePattern("TODO|FIXME"), LinePattern(r"\bnull\b"), LinePattern(r"^\s*(?:def|func|fn|function|class)\s+\w+"),
    LinePattern(r"[A-Z]{3,}_[A-Z]+"), LinePattern(r"\d{4}-\d{2}-\d{2}"), LinePattern(r"https?://[^\s\"')]+"),
    LinePattern(r"\w+Error\b"), LinePattern(r";$"), LinePattern(r"^$"), LinePattern(r"^.{121,}$"),
    LinePattern("retry.*(?:count|max)", ignores_case=True), LinePattern("license", ignores_case=True),
    LinePattern("i", is_word=True), LinePattern("test", is_word=True, ignores_case=True),
    LinePattern("foo(", is_fixed=True), LinePattern("->", is_fixed=True), LinePattern("[0]", is_fixed=True),
    LinePattern(r"[^\x00-\x7f]"), LinePattern(r"(?:\w+\.){3}\w+\("), LinePattern(r"\s+$"), LinePattern(r"é|ü|ß|中|я"),
    LinePattern("zzqqzz"),
)  # fmt: skip
# For times: a name, a rare and a usual word, an expression, one without a literal part.
TIMED = (
    LinePattern("getUserById"), LinePattern("zzqqzz"), LinePattern("user", ignores_case=True),
    LinePattern(r"retry.*(?:count|max)"), LinePattern(r"\w+Exception\("), LinePattern(r"[A-Z]{3,}_[A-Z]+"),
)  # fmt: skip
WORDS = 12
REPEATS = 9
_WORD = re.compile(r"\w{3,}")
_ALL = 10_000_000
_LARGEST = 1_000_000
_COPY = "-copy-"


def prepare(folder: Path, clones: Sequence[Path]) -> list[str]:
    """The keys of the clones, unpacked in `trees` and indexed in `home`."""
    keys = []
    for clone in clones:
        tree, home = unpack(folder, clone), folder / "home"
        key = tree.name
        if not HomeLayout(home).published(key).exists():
            command = [sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home)]
            subprocess.run([*command, "index", str(tree), "--key", key], check=True, stdout=subprocess.DEVNULL)
        keys.append(key)
    return keys


def unpack(folder: Path, clone: Path) -> Path:
    """The work tree of a clone, named by its key."""
    name = clone.parent.name if clone.name in (".git", "repo") else clone.name
    key = re.sub(r"[^\w.-]", "-", name.removesuffix(".git").rpartition("+")[2])
    assert is_repository_key(key), key
    tree = folder / "trees" / key
    if not tree.exists():
        subprocess.run(["git", "clone", "-q", str(clone), str(tree)], check=True)
    return tree


def catalogue_in(folder: Path) -> IndexCatalogue:
    return IndexCatalogue.of(load_settings({"home": folder / "home"}, environ={}))


def searched_in(catalogue: IndexCatalogue, key: str) -> SearchedTexts:
    index = catalogue.open(key)
    texts = open_texts(catalogue, index, tell=print)
    assert texts is not None
    return SearchedTexts(index, texts, None)


Line = tuple[str, int, bytes]


def lines_of_ripgrep(tree: Path, pattern: LinePattern) -> Iterator[Line]:
    command = [_program(), "--no-config", "--no-ignore", "--hidden", "--line-number", "--null", "--no-heading"]
    command += ["--with-filename", "--color=never", *pattern.switches(), f"--regexp={pattern.text}", "."]
    for line in subprocess.run(command, cwd=tree, capture_output=True).stdout.split(b"\n")[:-1]:
        path, _, rest = line.partition(b"\0")
        number, _, text = rest.partition(b":")
        if number.isdigit():
            yield path.decode("utf-8", "replace").removeprefix("./"), int(number), text.removesuffix(b"\r")


def compare(folder: Path, keys: Sequence[str]) -> None:
    catalogue, totals = catalogue_in(folder), [0, 0, 0, 0, 0]
    for key in keys:
        searched, tree = searched_in(catalogue, key), folder / "trees" / key
        paths = [searched.index.ids[row] for row in searched.index.rows_at(Level.FILE)]
        texts = [searched.texts.of_file(number).tobytes() for number in range(len(paths))]
        same = {path for path, text in zip(paths, texts, strict=True) if _ended((tree / path).read_bytes()) == text}
        differing = 0
        patterns = [*PATTERNS, *_words(searched, key)]
        compared = 0
        for pattern in patterns:
            found = find_lines(pattern, [searched], timeout_s=600, most_lines=_ALL)
            assert not found.stopped, (pattern, found.stopped)
            ours = {(g.document.path, line.number, line.text) for g in found.groups for line in g.lines}
            ours = {line for line in ours if line[0] in same}
            theirs = {line for line in lines_of_ripgrep(tree, pattern) if line[0] in same}
            compared += len(theirs)
            if ours != theirs:
                differing += len(ours ^ theirs)
                print("differs:", key, pattern, sorted(ours ^ theirs)[:3])
        row = [len(paths), len(paths) - len(same), len(patterns), compared, differing]
        totals = [total + each for total, each in zip(totals, row, strict=True)]
        print(f"| {key} | {' | '.join(f'{each:,}' for each in row)} |", flush=True)
    print(f"| all {len(keys)} | {' | '.join(f'{each:,}' for each in totals)} |")


def _ended(data: bytes) -> bytes:
    """Without the mark of UTF-8, which ripgrep passes over, too."""
    data = data.removeprefix(codecs.BOM_UTF8)
    return data if data.endswith(b"\n") or not data else data + b"\n"


def _words(searched: SearchedTexts, key: str) -> list[LinePattern]:
    """Words of a repository, each with other switches."""
    words = sorted(set(_WORD.findall(searched.texts.text[:2_000_000].tobytes().decode("utf-8", "replace"))))
    chance = random.Random(key)
    some = chance.sample(words, min(WORDS, len(words)))
    return [LinePattern(word, n % 2 == 0, n % 3 == 0, n % 4 == 0) for n, word in enumerate(some)]


def best_ms(work: Callable[[], object]) -> str:
    """The least time of some repeats, and the median, in milliseconds."""
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) * 1000)
    return f"{min(times):.0f} ({statistics.median(times):.0f})"


def time_scans(folder: Path, clones: Sequence[Path]) -> None:
    files, texts = [], []
    for clone in clones:
        tree = unpack(folder, clone)
        for name in subprocess.run(["git", "ls-files", "-z"], cwd=tree, capture_output=True).stdout.split(b"\0")[:-1]:
            file = tree / os.fsdecode(name)
            data = b"\0" if file.is_symlink() or not file.is_file() else file.read_bytes()
            if b"\0" not in data and len(data) <= _LARGEST:
                files.append(str(file))
                texts.append(_ended(data))
    text = memoryview(b"".join(texts))
    lines = sum(each.count(b"\n") for each in texts)
    print(f"{lines:,} lines of {len(files):,} files, {len(text) / 1e6:.1f} MB")
    for pattern in TIMED:
        ours = best_ms(lambda p=pattern: find_matches(p, [text], most_lines=10_000, timeout_s=60))  # type: ignore[misc]
        theirs = best_ms(lambda p=pattern: _run_ripgrep(p, files))  # type: ignore[misc]
        flags = " -i" if pattern.ignores_case else ""
        print(f"| `{pattern.text}{flags}` | {ours} | {theirs} |", flush=True)


def time_tools(folder: Path, keys: Sequence[str], repositories: int) -> None:
    catalogue = catalogue_in(folder)
    for key in keys:
        shutil.rmtree(catalogue.layout.texts(key), ignore_errors=True)
    begun = time.perf_counter()
    packed = [searched_in(catalogue, key).texts.text for key in keys]
    lines = sum(int((text == ord("\n")).sum()) for text in packed)
    print(f"packing the texts of {len(keys)}, {lines:,} lines: {time.perf_counter() - begun:.2f} s")
    for names in ([*keys], *[[key] for key in keys]):
        time_tool(catalogue, names)
    copies = copy_under_keys(folder, keys[0], repositories - len(keys))
    catalogue = catalogue_in(folder)
    begun = time.perf_counter()
    count = sum(int((searched_in(catalogue, key).texts.text == ord("\n")).sum()) for key in copies)
    print(f"packing the texts of {len(copies):,} copies, {count:,} lines: {time.perf_counter() - begun:.1f} s")
    catalogue = catalogue_in(folder)
    time_tool(catalogue, [*keys, *copies])


def _run_ripgrep(pattern: LinePattern, files: Sequence[str]) -> None:
    command = [_program(), "--no-config", "--line-number", *pattern.switches(), f"--regexp={pattern.text}"]
    subprocess.run(["xargs", "-0", *command], input="\0".join(files).encode(), capture_output=True)


def time_tool(catalogue: IndexCatalogue, names: Sequence[str]) -> None:
    """How long the tool takes, with all that it says of the places."""
    for pattern in TIMED[:3]:
        arguments = {"pattern": pattern.text, "flags": "i" if pattern.ignores_case else ""}
        repos = {} if len(names) > 50 else {"repos": [*names]}

        def ask(arguments: dict[str, str] = arguments, repos: dict[str, list[str]] = repos) -> object:
            call = ToolContext(catalogue, Path("/"), is_everywhere=True)
            return tools_by_name()["grep"].ask(call, {**arguments, **repos})

        begun = time.perf_counter()
        ask()
        first = (time.perf_counter() - begun) * 1000
        shown = names[0] if len(names) == 1 else f"{len(names):,} repositories"
        print(f"| {shown} | `{pattern.text}` | {first:.0f} | {best_ms(ask)} |", flush=True)


def copy_under_keys(folder: Path, key: str, repositories: int) -> list[str]:
    """So many copies of a published index, each with a mirror and texts of its own by links."""
    from benchmarks.many_indexes import copy_index

    layout, registry = HomeLayout(folder / "home"), folder / "home" / "repos.yaml"
    catalogue = catalogue_in(folder)
    entry = catalogue.registry.get(key)
    copies = [f"{key}{_COPY}{number:04}" for number in range(repositories)]
    for copy in copies:
        if not layout.published(copy).is_symlink():
            copy_index(layout, key, copy)
            layout.mirror(copy).symlink_to(layout.mirror(key))
    entries = {each.key: {"path": each.location} for each in catalogue.entries(print) if _COPY not in each.key}
    entries |= {copy: {"path": entry.location} for copy in copies}
    registry.write_text(json.dumps({"repositories": entries}))
    return copies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["equality", "scan", "tool"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("clones", type=Path, nargs="+")
    parser.add_argument("--repositories", type=int, default=1000)
    arguments = parser.parse_args()
    if arguments.what == "scan":
        time_scans(arguments.folder, arguments.clones)
        return
    keys = prepare(arguments.folder, arguments.clones)
    if arguments.what == "equality":
        compare(arguments.folder, keys)
    else:
        time_tools(arguments.folder, keys, arguments.repositories)


if __name__ == "__main__":
    main()
