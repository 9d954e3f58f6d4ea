"""Files that are in a repository and not in its index: which, why, and what would bring them in.

An index has no document of them, so the table of the build is asked.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import CodesumError, NotIndexedFile
from codesum_pipeline.foundation.data_model.file import NOTEBOOK, EncodingEvidence, SkipReason
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, SEPARATOR
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, shorten_text, some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.source.files.content import judge_content
from codesum_pipeline.source.files.declared_encodings import DECLARING_FILES, DeclaredEncodings, read_declared
from codesum_pipeline.source.files.ignore_files import rules_of_tree
from codesum_pipeline.source.files.origins import is_below
from codesum_pipeline.source.files.path_rules import PathRules, readable_path
from codesum_pipeline.source.files.work_trees import is_ignored
from codesum_pipeline.source.git.folder_commits import LeftOut, read_stored

_LINES = re.compile(r":\d{1,9}(?:-\d{0,9})?$")
_FILES_NAMED = 5
# No file system has files with longer names, in bytes.
_LONGEST_NAME = 255

_WHY: Mapping[SkipReason, str] = convert(
    tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")), dict[SkipReason, str]
)


class SkippedFiles(Struct, frozen=True):
    """The files of a build that gave no document, by path, and how those were read that are not in UTF-8."""

    repo: str
    reasons: Mapping[str, tuple[SkipReason, str]]
    read_as: Mapping[str, int]
    in_doubt: Sequence[str]

    def below(self, folder: str) -> list[str]:
        """The paths in a folder and its subfolders."""
        return [path for path in self.reasons if folder == ROOT_MODULE or path.startswith(f"{folder}/")]

    def counts(self, folder: str = ROOT_MODULE) -> dict[str, int]:
        """How many were skipped for each reason, most first."""
        found = Counter(str(self.reasons[path][0]) for path in self.below(folder))
        return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))

    def named(self, folder: str) -> str:
        """Those below a folder in words; empty without any."""
        paths = self.below(folder)
        shown = some_of([f"{one_line(path)} ({self.reasons[path][0]})" for path in paths], _FILES_NAMED)
        return f"{count_noun(len(paths), 'file')}: {shown}" if paths else ""

    def meant_by(self, text: str) -> str | None:
        """Why the file that a text names is not in the index; None if it names none of these."""
        path = _path_in(text)
        ends = [path] if path in self.reasons else [each for each in self.reasons if each.endswith(f"/{path}")]
        # As those of documents are, it is known without its capitals.
        ends = ends or [each for each in self.reasons if f"/{each}".lower().endswith(f"/{path}".lower())]
        if len(ends) != 1 or not path:
            folder = path.rstrip("/")
            files = self.named(folder) if folder else ""
            return f"skipped: of {one_line(folder)} nothing is in the index of {self.repo}: {files}" if files else None
        return _told(self.repo, ends[0], *self.reasons[ends[0]])


def _path_in(text: str) -> str:
    """The path in an id or a place: without names and lines."""
    return _LINES.sub("", text.strip().partition(SEPARATOR)[0]).removeprefix("./")


def _told(repo: str, path: str, reason: SkipReason, problem: str) -> str:
    more = f" ({one_line(problem)})" if problem else ""
    return f"skipped: {shorten_text(one_line(path))} is in {repo} and not in its index, {reason}{more}: {_WHY[reason]}"


def skipped_on_disk(root: Path, entry: RepositoryEntry, settings: ScanSettings, text: str) -> str | None:
    """Why the file of a work tree that a text names would not be in an index of it; None if it names no such file."""
    path = _path_in(text)
    # Nothing outside of the tree is looked at.
    name = path.encode("utf-8", "replace")
    is_inside = b"\0" not in name and readable_path(name)[1]
    is_name = is_inside and all(len(part) <= _LONGEST_NAME for part in name.split(b"/"))
    stored = read_stored(root, name) if is_name else None
    if stored is None:
        return None
    if isinstance(stored, LeftOut):
        return _told(entry.key, path, stored.reason, "")
    if is_ignored(root, path):
        return _told(entry.key, path, SkipReason.IGNORED, "")
    mode, data = stored
    rules = replace(PathRules.of(entry, settings), ignored=rules_of_tree(root))
    if reason := rules.why_skipped(path, mode=mode, size=len(data)):
        return _told(entry.key, path, reason, "")
    said = _declared_on_disk(root, rules, path).of(path)
    found = judge_content(path, data, said, most_of_notebook=rules.largest_bytes)
    return _told(entry.key, path, found.reason, found.problem) if found.reason else None


def _declared_on_disk(root: Path, rules: PathRules, path: str) -> DeclaredEncodings:
    """What the files of a work tree that stand above a path declare."""
    folders = ["", *(f"{folder}/" for folder in map(str, PurePosixPath(path).parents) if folder != ".")]
    names = [f"{folder}{name}" for folder in folders for name in sorted(DECLARING_FILES)]

    def read(name: str) -> bytes | None:
        stored = read_stored(root, name.encode())
        return stored[1] if isinstance(stored, tuple) else None

    return read_declared(rules.encodings, dict(zip(names, names, strict=True)), read)


def told_skipped(counts: Mapping[str, int]) -> str:
    """The counts in words: `2 binary, 1 not_text`."""
    return ", ".join(f"{number:,} {reason}" for reason, number in counts.items())


def read_skipped(layout: HomeLayout, key: str, *, hidden: Collection[str] = ()) -> SkippedFiles:
    """The skipped files of a repository's last build, without those below some folders; none where its table cannot be
    read."""
    # Importing takes a third of a second, for which answers that find what they seek do not wait.
    from codesum_pipeline.foundation.store.tables import tables_of

    columns = ["path", "reason", "encoding", "encoding_evidence", "encoding_problem"]
    try:
        rows: list[dict[str, Any]] = tables_of(layout).read_or_empty("files", key, columns=columns).to_pylist()
    except CodesumError:
        rows = []
    if hidden:
        rows = [row for row in rows if not is_below(row["path"], hidden)]
    return SkippedFiles(
        repo=key,
        reasons={
            row["path"]: (SkipReason(row["reason"]), row["encoding_problem"] or "") for row in rows if row["reason"]
        },
        read_as=dict(sorted(Counter(_encodings_of(rows)).items())),
        in_doubt=[
            f"{row['path']}: {row['encoding_problem']}" for row in rows if row["encoding"] and row["encoding_problem"]
        ],
    )


def _encodings_of(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The encoding of each indexed file that is not simply in UTF-8, and what tells it."""
    for row in rows:
        name, evidence = row["encoding"], row["encoding_evidence"]
        if (
            not row["reason"]
            and name not in (None, NOTEBOOK)
            and (name != "utf-8" or evidence == EncodingEvidence.GUESS)
        ):
            is_unknown = evidence == EncodingEvidence.UNKNOWN
            yield "ASCII alone, the rest is unknown" if is_unknown else f"{name} by {evidence}"


def check_skipped(
    layout: HomeLayout, keys: Sequence[str], text: str, *, hidden_in: Callable[[str], Collection[str]] = lambda _: ()
) -> None:
    """Raise `NotIndexedFile` for a text that names a skipped file of one of some repositories; `hidden_in` are the
    folders of one that the caller may not read."""
    for key in dict.fromkeys(keys):
        if why := read_skipped(layout, key, hidden=hidden_in(key)).meant_by(text):
            raise NotIndexedFile(why)
