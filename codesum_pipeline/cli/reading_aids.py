"""What helps to judge a document without opening its file: what stands around it, and the lines that answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.text import Text

from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.render import note
from codesum_pipeline.cli.safe_text import clean, one_line
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import RepositoryUnavailable, SkippedFile
from codesum_pipeline.retrieval.excerpts import Excerpt, best_lines
from codesum_pipeline.retrieval.hits import Hit
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.surroundings import Neighbour, Surroundings
from codesum_pipeline.source.file_text import read_file, read_files

_TAB = 4
# Fewer characters of a summary say nothing.
_SHORTEST_SUMMARY = 20


@dataclass(frozen=True, slots=True)
class Sources:
    """The files that hits stand in, read from the repositories' mirrors at the commits that are published."""

    called: Invocation
    commits: Mapping[str, str]
    _texts: dict[tuple[str, str], str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, called: Invocation, indexes: Sequence[PublishedIndex]) -> "Sources":
        """The sources of some indexes."""
        return cls(called, {index.repo: index.version.manifest["commit"] for index in indexes})

    def excerpt(self, hit: Hit, query: str, *, size: int) -> Excerpt | None:
        """The lines of a hit that fit best; None for a folder, and for what the mirror does not have any more."""
        if hit.type == Level.MODULE:
            return None
        text = self._text(hit.repo, hit.file_path)
        if text is None:
            return None
        return best_lines(text, query, size=size, start_line=hit.start_line, end_line=hit.end_line)

    def read(self, index: PublishedIndex, paths: Sequence[str]) -> Mapping[str, str]:
        """The texts of some files of an index, as far as its mirror has them."""
        mirror, timeout_s = self.called.layout.mirror(index.repo), self.called.settings.options.scan.git_timeout_s
        if not mirror.exists():
            return {}
        try:
            texts = read_files(mirror, paths, commit=self.commits[index.repo], timeout_s=timeout_s)
        except RepositoryUnavailable as error:
            note(f"the words of the query were not looked up in the sources of {index.repo}: {error}")
            return {}
        self._texts.update(((index.repo, path), text) for path, text in texts.items())
        return texts

    def _text(self, repo: str, path: str) -> str | None:
        """Read once; what cannot be read is told."""
        if (repo, path) not in self._texts:
            mirror = self.called.layout.mirror(repo)
            timeout_s = self.called.settings.options.scan.git_timeout_s
            text: str | None = None
            try:
                text = read_file(mirror, commit=self.commits[repo], path=path, timeout_s=timeout_s)
            except (RepositoryUnavailable, SkippedFile) as error:
                note(f"no excerpt of {path} in {repo}: {error}; `codesum index {repo} --force` fetches it anew")
            self._texts[repo, path] = text
        return self._texts[repo, path]


def described(around: Surroundings) -> dict[str, list[RenderableType]]:
    """What stands around a document, a line each."""
    return {
        "part of": _lines(around.parents),
        "contains": _lines(around.children),
        "called by": _lines(around.called_by),
        "calls": _lines(around.calls),
        "depends on": [Text(one_line(name)) for name in around.dependencies],
    }


def numbered(excerpt: Excerpt) -> Text:
    """Lines behind their numbers, cut at the edge of a terminal."""
    width = len(str(excerpt.start_line + len(excerpt.lines) - 1))
    shown = Text(no_wrap=True, overflow="ellipsis")
    for number, line in enumerate(excerpt.lines, start=excerpt.start_line):
        shown.append(f"{number:>{width}} ", "dim")
        shown.append(_as_it_stands(line))
        shown.append("\n")
    shown.rstrip()
    return shown


def excerpt_json(excerpt: Excerpt | None) -> dict[str, Any] | None:
    """For programs."""
    return None if excerpt is None else {"start_line": excerpt.start_line, "lines": excerpt.lines}


@dataclass(frozen=True, slots=True)
class _Line:
    """An id, whole, and what it is for as far as its line has room."""

    neighbour: Neighbour

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        if cell_len(self._id) + _SHORTEST_SUMMARY <= options.max_width:
            line = self._whole
            line.truncate(options.max_width, overflow="ellipsis")
            yield line
        else:
            yield Text(self._id, overflow="fold")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, min(cell_len(self._whole.plain), options.max_width))

    @property
    def _id(self) -> str:
        return one_line(self.neighbour.id)

    @property
    def _whole(self) -> Text:
        return Text.assemble(self._id, (f"  {one_line(self.neighbour.summary)}", "dim"))


def _lines(neighbours: Sequence[Neighbour]) -> list[RenderableType]:
    return [_Line(neighbour) for neighbour in neighbours]


def _as_it_stands(line: str) -> str:
    """Safe for a terminal, with the indentation that it has, on one line."""
    return clean(line).replace("\n", " ").expandtabs(_TAB)
