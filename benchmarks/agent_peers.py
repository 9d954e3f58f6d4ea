"""How agents look for code without an index of ours: with ripgrep and their own reading tool, or with semble."""

import json
import math
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.agent_sessions import (
    MOST_LINES,
    Shown,
    Sight,
    Step,
    Steps,
    call_of,
    read_file,
    source_lines,
)
from codesum_pipeline.evidence.extractive.words import STOP_WORDS as MORE_STOP_WORDS
from codesum_pipeline.foundation.language_facts.file_languages import is_program, language_of_path
from codesum_pipeline.indexes.embedders.static import STATIC_MODEL_FOLDER
from codesum_pipeline.indexes.lanes.tokens import STOP_WORDS

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,}")
_NUMBERED = re.compile(r"(\d+)[:-]")
# `| head`: of the files that match, and of the lines of one file.
_FILES_AT_ONCE = 10
_MOST_MATCH_LINES = 100
_CONTEXT = 5
# What an agent reads around a hit of semble's, whose chunks begin and end within functions: with 75 lines its median is
# the lowest on `tune` (50, 75, 100, 150 and 200 tried).
_AROUND = 75
# Each time that an agent asks semble for more.
TOP = (5, 10, 20, 50)
SNIPPETS = (10, None)
SEMBLE = f"""
import asyncio, json, sys
from semble import SembleIndex
from semble.mcp import _IndexCache, create_server
from semble.utils import format_results
tools = asyncio.run(create_server(_IndexCache()).list_tools())
described = [{{"name": t.name, "description": t.description, "input_schema": t.input_schema}} for t in tools]
print(json.dumps(described))
index = SembleIndex.from_path(sys.argv[1], model_path=sys.argv[2])
for query in json.load(sys.stdin):
    answers = []
    for top in {TOP!r}:
        hits = index.search(query, top_k=top)
        texts = [json.dumps(format_results(query, hits, lines, index.sources)) for lines in {SNIPPETS!r}]
        chunks = [(h.chunk.file_path, h.chunk.start_line, h.chunk.end_line, h.chunk.content) for h in hits]
        answers.append({{"texts": texts, "chunks": chunks}})
    print(json.dumps(answers))
"""

Answers = Sequence[Mapping[str, Any]]


def words_of(query: str) -> list[str]:
    """The words of a question that an agent greps for, each once; the question itself where it has none."""
    found = {word.lower(): word for word in _WORD.findall(query)}
    wanted = [word for low, word in found.items() if low not in STOP_WORDS and low not in MORE_STOP_WORDS]
    return wanted or [query]


@dataclass(frozen=True, slots=True)
class Grep:
    """ripgrep in a tree, in files of programs; what is ignored or hidden it passes over."""

    rg: Path
    tree: Path
    _counted: dict[str, Mapping[str, int]] = field(default_factory=dict)

    def ranked(self, words: Sequence[str], *, by_rarity: bool) -> list[str]:
        """The files with any of the words: first those with most different ones, or with the rarest, then by matches.

        Counting costs the agent nothing here, since its shell can do it.
        """
        matches = {word: self.counts(word) for word in words}
        files = {path for counts in matches.values() for path in counts}
        worth = {
            word: math.log1p(len(files) / len(counts)) if by_rarity else 1.0
            for word, counts in matches.items()
            if counts
        }

        def key(path: str) -> tuple[float, int, str]:
            has = [word for word in worth if path in matches[word]]
            return -math.fsum(worth[word] for word in has), -sum(matches[word][path] for word in has), path

        return sorted(files, key=key)

    def counts(self, word: str) -> Mapping[str, int]:
        """How often a word stands in each file."""
        if word not in self._counted:
            self._counted[word] = self._count(word)
        return self._counted[word]

    def _count(self, word: str) -> Mapping[str, int]:
        found = [line.rpartition(":") for line in self._lines("--count-matches", "-e", word, ".")]
        counts = {path.removeprefix("./"): int(count) for path, _, count in found}
        return {path: count for path, count in counts.items() if is_program(language_of_path(path) or "text")}

    def matching(self, words: Sequence[str], path: str) -> list[str]:
        """The lines of one file with any of the words, numbered, with those around them."""
        patterns = [part for word in words for part in ("-e", word)]
        options = ("--line-number", "--no-heading", "--no-filename", f"--context={_CONTEXT}", "--max-columns=400")
        return self._lines(*options, *patterns, path)[:_MOST_MATCH_LINES]

    def _lines(self, *arguments: str) -> list[str]:
        """rg ends with 1 where nothing matches."""
        command = [str(self.rg), "--fixed-strings", "--ignore-case", *arguments]
        done = subprocess.run(command, cwd=self.tree, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode > 1:
            raise SystemExit(f"{' '.join(command)}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode("utf-8", "replace").splitlines()


def grep_and_read(grep: Grep, query: str, *, in_context: bool, by_rarity: bool = True) -> Steps:
    """Files by rank, ten at a time, each read whole; `in_context` first the matches of each with lines around them."""
    words = words_of(query)
    ranked = grep.ranked(words, by_rarity=by_rarity)
    patterns = " ".join(f"-e {word}" for word in words)
    for start in range(0, len(ranked), _FILES_AT_ONCE):
        some = ranked[start : start + _FILES_AT_ONCE]
        yield Step(call_of("Bash", {"command": f"rg -ciF {patterns} | sort | head"}), "\n".join(some))
        if in_context:
            yield from (_read_matches(grep, words, patterns, path) for path in some)
        yield from (read_file(grep.tree, path) for path in some)


def _read_matches(grep: Grep, words: Sequence[str], patterns: str, path: str) -> Step:
    lines = grep.matching(words, path)
    numbers = [int(found[1]) for line in lines if (found := _NUMBERED.match(line))]
    call = call_of("Bash", {"command": f"rg -niF -C {_CONTEXT} {patterns} {path} | head -{_MOST_MATCH_LINES}"})
    return Step(call, "\n".join(lines), tuple(Shown(path, number, number) for number in numbers))


def read_whole_files(grep: Grep, query: str) -> Steps:
    """Nothing but the files, as semble's benchmark counts them: by different words, then by path."""
    words = words_of(query)
    matches = [grep.counts(word) for word in words]
    files = {path for counts in matches for path in counts}
    for path in sorted(files, key=lambda path: (-sum(path in counts for counts in matches), path)):
        lines = source_lines(grep.tree, path)
        yield Step("", "\n".join(lines), (Shown(path, 1, len(lines)),))


@dataclass(frozen=True, slots=True)
class Semble:
    """What semble answers about one tree, and the tools that it describes to agents."""

    answers: Mapping[str, Answers]
    tools: Sequence[Mapping[str, Any]]

    @classmethod
    def ask(cls, python: Path, tree: Path, queries: Sequence[str], kept: Path) -> "Semble":
        """Asked once for the same questions; it is given this project's vectors."""
        known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {"answers": {}, "tools": []}
        if not set(queries) <= set(known["answers"]):
            command = [str(python), "-c", SEMBLE, str(tree), str(STATIC_MODEL_FOLDER)]
            done = subprocess.run(command, input=json.dumps(queries), capture_output=True, text=True, check=True)
            tools, *answers = map(json.loads, done.stdout.splitlines())
            known = {"answers": dict(zip(queries, answers, strict=True)), "tools": tools}
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(known), encoding="utf-8")
        return cls(known["answers"], known["tools"])


def semble_and_read(semble: Semble, tree: Path, query: str, *, snippet: int | None, window: int = _AROUND) -> Steps:
    """`search` for 5 hits, then `window` lines around each in order, then for 10, 20 and 50 hits.

    A `snippet` of 0 lines is a list of places, which says nothing of what they hold.
    """
    sight = Sight()
    for top, answer in zip(TOP, semble.answers[query], strict=True):
        shown = tuple(_shown_of_chunk(chunk, snippet) for chunk in answer["chunks"]) if snippet != 0 else ()
        sight.add(shown)
        more = {} if top == TOP[0] else {"top_k": top}
        cut = {} if snippet == SNIPPETS[0] else {"max_snippet_lines": snippet}
        call = call_of("search", {"query": query, "repo": ".", **more, **cut})
        text = answer["texts"][SNIPPETS.index(snippet)] if snippet != 0 else _places(answer["texts"][0])
        yield Step(call, text, shown)
        for path, first, last, _ in answer["chunks"]:
            begin = max(1, first - max(0, window - (last - first + 1)) // 2)
            end = min(len(source_lines(tree, path)), max(last, begin + window - 1), begin + MOST_LINES)
            if not sight.has(Shown(path, begin, end)):
                step = read_file(tree, path, first=begin, last=end)
                sight.add(step.shown)
                yield step


def _places(text: str) -> str:
    """What semble answers where no line is wanted."""
    found = json.loads(text)
    for hit in found.get("results", ()):
        hit.pop("content", None)
    return json.dumps(found)


def _shown_of_chunk(chunk: tuple[str, int, int, str], snippet: int | None) -> Shown:
    path, first, last, _ = chunk
    return Shown(path, first, last if snippet is None else min(last, first + snippet - 1))


def read_chunks(semble: Semble, query: str) -> Iterator[Step]:
    """Nothing but the chunks, as semble's benchmark counts them."""
    for path, first, last, content in semble.answers[query][-1]["chunks"]:
        yield Step("", content, (Shown(path, first, last),))
