"""What an agent reads, call by call, until it has what it looks for before its eyes.

An agent here is an iterator of steps: what it wrote to call a tool, what came back, and which lines of which files that
shows. It reads all that comes back, in order, and it never knows better than its tools: it goes on until the target is
in sight or `CAP` tokens are spent. There are two kinds of sight:

`named`: a target's file was named with something that it holds (a line on it, or lines of its source); where the target
has lines, what was named overlaps them. `read`: three quarters of the lines of a function or class that answers stood
in what was read, of a long one three quarters of its first 60.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from codesum_pipeline.answers.agent_tools.read_tool import DEFAULT_LINES, ReadPage
from codesum_pipeline.answers.agent_tools.search_tool import SearchHit, SearchPage
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage, DocumentRow
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question

CAP = 32_000
# Of a long function or class an agent reads on once it has its beginning; a target's lines are told by people,
# who draw its edges a line earlier or later than a parser.
_LONGEST_TARGET = 60
_ENOUGH = 0.75
# An agent's reading tool stops here.
MOST_LINES = 2000
# What an agent reads of a hit: with 50 lines its median is the lowest on `tune` (40 to 200 tried).
WINDOW = 50
_END = 1 << 30

# A call of one of our tools: its page, and its text as the agent gets it.
Ask = Callable[[str, Mapping[str, Any]], tuple[AnswerPage, str]]


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines of a file; `is_source` says whether they stood there or were only spoken of."""

    path: str
    first: int = 1
    last: int = _END
    is_source: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """One call: what an agent wrote, what it got, and what that shows."""

    call: str
    answered: str
    shown: tuple[Shown, ...] = ()


Steps = Iterator[Step]


@dataclass(frozen=True, slots=True)
class Outcome:
    """For each target the tokens that were read when it came in sight; None where it never did."""

    named: list[int | None]
    read: list[int | None]


@dataclass(slots=True)
class Sight:
    """What an agent has before it so far."""

    named: set[Shown] = field(default_factory=set)
    lines: dict[str, set[int]] = field(default_factory=dict)

    def add(self, shown: Iterable[Shown]) -> None:
        for each in shown:
            self.named.add(each)
            if each.is_source and each.last < _END:
                self.lines.setdefault(each.path, set()).update(range(each.first, each.last + 1))

    def names(self, target: AnswerPlace) -> bool:
        first, last = target.start_line or 1, target.end_line or _END
        return any(each.path == target.file_path and each.first <= last and first <= each.last for each in self.named)

    def has_read(self, target: AnswerPlace) -> bool:
        first, last = target.start_line or 1, target.end_line or 1
        wanted = range(first, min(last, first + _LONGEST_TARGET - 1) + 1)
        read = self.lines.get(target.file_path, set())
        return sum(line in read for line in wanted) >= _ENOUGH * len(wanted)

    def has(self, shown: Shown) -> bool:
        """Whether all of some lines were read before."""
        read = self.lines.get(shown.path, set())
        return shown.last < _END and all(line in read for line in range(shown.first, shown.last + 1))


def follow(steps: Iterable[Step], question: Question) -> Outcome:
    """What an agent pays for each target of a question; it stops when it has all, or has paid `CAP`."""
    targets, symbols = question.relevant, with_lines(question)
    outcome, sight, paid = Outcome([None] * len(targets), [None] * len(symbols)), Sight(), 0
    for step in steps:
        paid += tokens_of(step.call) + tokens_of(step.answered)
        if paid > CAP:
            break
        sight.add(step.shown)
        for place, target in enumerate(targets):
            if outcome.named[place] is None and sight.names(target):
                outcome.named[place] = paid
        for place, target in enumerate(symbols):
            if outcome.read[place] is None and sight.has_read(target):
                outcome.read[place] = paid
        if None not in (*outcome.named, *outcome.read):
            break
    return outcome


def with_lines(question: Question) -> list[AnswerPlace]:
    """The functions and classes that answer, as far as their lines are known."""
    return [target for target in question.symbols if target.start_line is not None]


def tokens_of(text: str) -> int:
    """By OpenAI's `cl100k_base`, in which semble's benchmark counts, too."""
    return len(_encoding().encode(text, disallowed_special=()))


@lru_cache
def _encoding() -> Any:
    import tiktoken

    # LiteLLM brings the file that tiktoken would fetch.
    spec = find_spec("litellm")
    if spec is not None and spec.origin:
        folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    return tiktoken.get_encoding("cl100k_base")


def call_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call as an agent writes it."""
    return f"{tool} {json.dumps(arguments, ensure_ascii=False)}"


def search_and_read(ask: Ask, query: str) -> Steps:
    """`search`, then `read` of each hit in order, then the next hits."""
    sight, cursor = Sight(), ""
    while True:
        arguments = {"query": query, **({"cursor": cursor} if cursor else {})}
        page, text = ask("search", arguments)
        assert isinstance(page, SearchPage)
        shown = tuple(each for hit in page.hits for each in _shown_of(hit))
        sight.add(shown)
        yield Step(call_of("search", arguments), text, shown)
        for hit in page.hits:
            if hit.kind != Level.MODULE and not sight.has(_window_of(hit)):
                step = _read_hit(ask, hit, query)
                sight.add(step.shown)
                yield step
        if page.next is None:
            return
        cursor = page.next


def _read_hit(ask: Ask, hit: SearchHit, query: str) -> Step:
    """The first lines of a function or class, whose row says how long it is; of a file those that fit best."""
    window = _window_of(hit)
    if window.last < _END:
        arguments: Mapping[str, Any] = {"ids": [f"{hit.path}:{window.first}-{window.last}"]}
    else:
        arguments = {"ids": [hit.path], "parts": "source", "query": query, "excerpt": WINDOW}
    page, text = ask("read", arguments)
    assert isinstance(page, ReadPage)
    shown = (Shown(item.path, item.first_line, item.last_line or 0) for item in page.items if item.first_line)
    return Step(call_of("read", arguments), text, tuple(shown))


def _window_of(hit: SearchHit) -> Shown:
    """What an agent reads of a hit; of a file it does not know which lines."""
    if hit.start_line is None or hit.end_line is None:
        return Shown(hit.path)
    return Shown(hit.path, hit.start_line, min(hit.end_line, hit.start_line + WINDOW - 1))


def _shown_of(hit: SearchHit) -> Iterator[Shown]:
    """A row speaks of its lines, an excerpt shows some."""
    if hit.kind == Level.MODULE:
        return
    yield Shown(hit.path, hit.start_line or 1, hit.end_line or _END, is_source=False)
    if hit.excerpt and hit.excerpt_start:
        yield Shown(hit.path, hit.excerpt_start, hit.excerpt_start + len(hit.excerpt) - 1)


def read_file(tree: Path, path: str, *, first: int = 1, last: int = MOST_LINES) -> Step:
    """Lines of a file as agents' own reading tools give them, numbered."""
    lines = source_lines(tree, path)[first - 1 : last]
    whole = first == 1 and last == MOST_LINES
    arguments = {"file_path": path} if whole else {"file_path": path, "offset": first, "limit": len(lines)}
    answered = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, start=first))
    return Step(call_of("Read", arguments), answered, (Shown(path, first, first + len(lines) - 1),))


def source_lines(tree: Path, path: str) -> Sequence[str]:
    return (tree / path).read_text(encoding="utf-8", errors="replace").removesuffix("\n").split("\n")


def read_rows(ask: Ask, query: str) -> Steps:
    """Nothing but the rows of 50 hits."""
    for hit in _search_fifty(ask, query):
        yield Step("", DocumentRow.line(hit), tuple(_shown_of(hit)))


def read_sources(ask: Ask, tree: Path, query: str) -> Steps:
    """Nothing but the sources of 50 hits, of each as many lines as `read` gives."""
    for hit in _search_fifty(ask, query):
        if hit.kind != Level.MODULE:
            first = hit.start_line or 1
            lines = source_lines(tree, hit.path)[first - 1 : hit.end_line][:DEFAULT_LINES]
            yield Step("", "\n".join(lines), (Shown(hit.path, first, first + len(lines) - 1),))


def _search_fifty(ask: Ask, query: str) -> Sequence[SearchHit]:
    page, _ = ask("search", {"query": query, "limit": 50, "tokens": 50_000})
    assert isinstance(page, SearchPage)
    return page.hits
