"""Packages become pairs of a text that asks and a text that answers."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.static_embedder.archives import archive_members, is_allowed
from benchmarks.static_embedder.comments import LINE_MARKS, commented_code
from benchmarks.static_embedder.licences import Licences, is_permissive, licences_of
from benchmarks.static_embedder.packages import Package, fetch_archives

# What one package may say at most, so that no language is one project's: files by extension, and passages of all.
_FILES = {"md": 60, "rst": 60}
_MOST_FILES = 600
_MOST_IN_FILE = 60
_MOST_PASSAGES = 4_000
_HEADING = re.compile(r"^(?:#{1,4} +(.+?)|([^\n]{4,70})\n[=\-~^]{4,})\s*$", re.MULTILINE)
_SHELL = re.compile(rb"#![^\n]*\b(?:ba|z|da|k)?sh\b")
_NO_PROSE = re.compile(r"change|news|history|licen|copying", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Passage:
    """Words that say what something is about, the topic, and what it is: code with a name, or prose without code."""

    path: str
    topic: str
    rest: str
    name: str
    code: str


def passages_of(packages: Iterable[Package], *, downloads: Path, folder: Path, processes: int) -> list[list[Passage]]:
    """The passages of each package; kept in `folder`, one file a package."""
    downloads.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [(package, downloads, folder / f"{package.key}.jsonl") for package in packages]
    with ProcessPoolExecutor(processes) as pool:
        return [_read_passages(path) for path in pool.map(_write_passages, jobs)]


def _write_passages(job: tuple[Package, Path, Path]) -> Path:
    package, downloads, path = job
    if not path.exists():
        archives, licences = fetch_archives(package, downloads), licences_of(package, downloads)
        found = sorted(_find_passages(archives, licences), key=_rank)[:_MOST_PASSAGES]
        lines = "".join(_to_line(passage) + "\n" for passage in found)
        partial = path.with_suffix(".partial")
        partial.write_text(lines, encoding="utf-8")
        partial.rename(path)
    return path


def _to_line(passage: Passage) -> str:
    """A line of a file that is kept; such files call the topic `said`."""
    return json.dumps(
        {
            "path": passage.path,
            "said": passage.topic,
            "rest": passage.rest,
            "name": passage.name,
            "code": passage.code,
        }
    )


def _read_passages(path: Path) -> list[Passage]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [Passage(row["path"], row["said"], row["rest"], row["name"], row["code"]) for row in rows]


def _rank(passage: Passage) -> bytes:
    """An order that has nothing to do with the topics: its beginning is a fair sample."""
    return hashlib.sha256(f"{passage.path}\n{passage.topic}".encode()).digest()


def _find_passages(archives: Iterable[Path], licences: Licences | None) -> Iterator[Passage]:
    topics: set[str] = set()
    for path, extension, text in _sample_texts(archives, licences):
        found = list(_section_passages(path, text) if extension in _FILES else _comment_passages(path, extension, text))
        new = [passage for passage in found if passage.topic not in topics][:_MOST_IN_FILE]
        topics.update(passage.topic for passage in new)
        yield from new


def _sample_texts(archives: Iterable[Path], licences: Licences | None) -> Iterator[tuple[str, str, str]]:
    """Path, extension and text of a fair sample of files of each kind."""
    files: dict[str, list[tuple[bytes, str, bytes]]] = {}
    for archive in archives:
        for path, read in archive_members(archive):
            extension = _extension(path, read)
            if not (extension in LINE_MARKS or extension in _FILES) or not is_allowed(path):
                continue
            if not licences or is_permissive(licences.of_file(path)):
                files.setdefault(extension, []).append((hashlib.sha256(path.encode()).digest(), path, read()))
    for extension, those in sorted(files.items()):
        for _, path, content in sorted(those)[: _FILES.get(extension, _MOST_FILES)]:
            text = content.decode(errors="replace").replace("\r\n", "\n").expandtabs(4)
            if max(map(len, text.split("\n")[:300])) <= 1500:
                yield path, extension, text


def _extension(path: str, read: Callable[[], bytes]) -> str:
    """What the name ends with; commands written for a shell have no such end, but say so in their first line."""
    name = path.rpartition("/")[2]
    if "." in name:
        return name.rpartition(".")[2].lower()
    return "sh" if _SHELL.match(read()[:60]) else ""


def _comment_passages(path: str, extension: str, text: str) -> Iterator[Passage]:
    for found in commented_code(text, extension):
        yield Passage(path, found.sentence, found.rest, found.name, found.code)


def _section_passages(path: str, text: str) -> Iterator[Passage]:
    if _NO_PROSE.search(path):
        return
    parts = _HEADING.split(text)
    for hashed, underlined, section in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        heading, prose = (hashed or underlined).strip(), " ".join(section.split())[:900]
        if len(heading.split()) >= 2 and len(prose) > 120:
            yield Passage(path, heading, prose, "", "")
