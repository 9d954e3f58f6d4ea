"""The encodings that others declare for files: the setting `encodings`, and a tree's `.gitattributes` and
`.editorconfig`.

Of `.gitattributes` both attributes count: `encoding`, which names that of what is committed, and
`working-tree-encoding`, which git turns into UTF-8 when it commits: it holds in a folder that is read as it is.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.file import EncodingEvidence
from codesum_pipeline.foundation.data_model.patterns import LONGEST_PATTERN, read_patterns
from codesum_pipeline.source.files.encodings import DeclaredEncoding, known_encoding

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

DECLARING_FILES = frozenset({EncodingEvidence.ATTRIBUTES.value, EncodingEvidence.EDITOR.value})

# More in one file, or around one path, is no list that a person keeps.
_MOST_PATTERNS = 100
_MOST_BYTES = 100_000
_MOST_FILES = 1_000

_BLOB, _WORK_TREE = "encoding", "working-tree-encoding"
_ATTRIBUTE = re.compile(rf"(?P<not>[-!])?(?P<name>{_WORK_TREE}|{_BLOB})(?:=(?P<value>\S+))?")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t]+(.*)')
_SECTION = re.compile(r"\[(.*)\]\s*(?:[;#].*)?$")
_NAMES_OF_EDITORS = {"latin1": "iso-8859-1", "utf-8-bom": "utf-8", "utf-16be": "utf-16-be", "utf-16le": "utf-16-le"}


class EncodingRules(Struct, frozen=True):
    """Patterns, and what each of them says: None for one that takes an earlier answer back."""

    patterns: "GitIgnoreSpec"
    values: tuple[str | None, ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str | None]], where: str) -> Self | None:
        """The rules without those that are no patterns; None where there are none."""
        kept = list(islice(pairs, _MOST_PATTERNS))
        try:
            patterns = read_patterns([pattern for pattern, _ in kept], where)
        except ConfigurationError:
            kept = [(pattern, value) for pattern, value in kept if _is_pattern(pattern, where)]
            patterns = read_patterns([pattern for pattern, _ in kept], where)
        return cls(patterns, tuple(value for _, value in kept)) if kept else None

    def find(self, path: str) -> tuple[bool, str | None]:
        """Whether a pattern fits, and what the last one says that does."""
        index = self.patterns.check_file(path).index
        return index is not None, None if index is None else self.values[index]


def _is_pattern(pattern: str, where: str) -> bool:
    try:
        read_patterns([pattern], where)
    except ConfigurationError:
        return False
    return True


class _FolderRules(Struct, frozen=True):
    """What the declaring files of one folder say; with `is_root`, no `.editorconfig` above it counts."""

    attributes: Mapping[str, EncodingRules]
    editor: EncodingRules | None
    is_root: bool


class DeclaredEncodings(Struct, frozen=True):
    """What is declared for the files of one tree, by folders; `settings` are of the entry, else of all."""

    settings: Sequence[EncodingRules] = ()
    folders: Mapping[str, _FolderRules] = {}

    def of(self, path: str) -> tuple[DeclaredEncoding, ...]:
        """The declarations for a file, the most trusted first."""
        if not self.settings and not self.folders:
            return ()
        return tuple(self._find(path))

    def _find(self, path: str) -> Iterator[DeclaredEncoding]:
        for rules in self.settings:
            if value := rules.find(path)[1]:
                yield DeclaredEncoding(value, EncodingEvidence.SETTING)
        around = list(self._around(path))
        for name in (_BLOB, _WORK_TREE):
            found = ((each.attributes.get(name), below) for each, below in around)
            if value := _nearest(found):
                yield DeclaredEncoding(value, EncodingEvidence.ATTRIBUTES)
        editors = []
        for each, below in around:
            editors.append((each.editor, below))
            if each.is_root:
                break
        if value := _nearest(editors):
            yield DeclaredEncoding(value, EncodingEvidence.EDITOR)

    def _around(self, path: str) -> Iterator[tuple[_FolderRules, str]]:
        """The folders with rules around a file, the nearest first, and its path below each."""
        left = _MOST_PATTERNS
        folder = path
        while folder and left > 0:
            folder = folder.rpartition("/")[0]
            if found := self.folders.get(folder):
                yield found, path[len(folder) :].lstrip("/")
                rules = (*found.attributes.values(), found.editor)
                left -= sum(len(each.values) for each in rules if each)


def _nearest(rules: Iterable[tuple[EncodingRules | None, str]]) -> str | None:
    """What the nearest rule that fits says."""
    for each, below in rules:
        if each is not None:
            fits, value = each.find(below)
            if fits:
                return value
    return None


def encoding_rules(lines: Sequence[str], where: str) -> tuple[EncodingRules, ...]:
    """The rules of a setting `encodings`: each line is `PATTERN = ENCODING`, and the last that fits counts. Raises
    `ConfigurationError` for a line that is none, and for an unknown encoding."""
    pairs = []
    for line in lines:
        pattern, equals, name = (part.strip() for part in line.rpartition("="))
        if not (pattern and equals and name):
            raise ConfigurationError(f'{where}: {line!r} is not written as "PATTERN = ENCODING", as in "*.c = cp1250"')
        if known_encoding(name) is None:
            raise ConfigurationError(
                f"{where}: {line!r}: unknown encoding {name!r}: give a name as Python has it, such as gb18030, "
                "shift_jis, cp1250 or latin-1"
            )
        pairs.append((pattern, name))
    if not pairs:
        return ()
    return (EncodingRules(read_patterns([pattern for pattern, _ in pairs], where), tuple(name for _, name in pairs)),)


def read_declared(
    settings: Sequence[EncodingRules], blobs: Mapping[str, str], read: Callable[[str], bytes | None]
) -> DeclaredEncodings:
    """What settings, and the declaring files of a tree, say; `blobs` are its files by path."""
    folders: dict[str, _FolderRules] = {}
    declaring = sorted(path for path in blobs if path.rpartition("/")[2] in DECLARING_FILES)
    for path in declaring[:_MOST_FILES]:
        folder, _, name = path.rpartition("/")
        text = (read(blobs[path]) or b"")[:_MOST_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
        before = folders.get(folder, _FolderRules({}, None, is_root=False))
        if name == EncodingEvidence.EDITOR:
            sections, is_root = _editor_sections(text)
            found = _FolderRules(before.attributes, EncodingRules.of(sections, path), is_root)
        else:
            found = _FolderRules(_attributes_in(text, path), before.editor, before.is_root)
        if found.attributes or found.editor or found.is_root:
            folders[folder] = found
    return DeclaredEncodings(settings, folders)


def _attributes_in(text: str, where: str) -> dict[str, EncodingRules]:
    pairs: dict[str, list[tuple[str, str | None]]] = {_BLOB: [], _WORK_TREE: []}
    for line in text.splitlines():
        if _BLOB not in line or line.lstrip().startswith(("#", "[attr]", "!")):
            continue
        quoted = _QUOTED.match(line.strip())
        pattern, rest = quoted.groups() if quoted else ((*line.split(None, 1), "")[:2])
        for word in rest.split():
            if match := _ATTRIBUTE.fullmatch(word):
                pairs[match["name"]].append((_of_files_alone(pattern), None if match["not"] else match["value"]))
    rules = ((name, EncodingRules.of(found, where)) for name, found in pairs.items())
    return {name: each for name, each in rules if each}


def _editor_sections(text: str) -> tuple[list[tuple[str, str | None]], bool]:
    """The patterns of the sections with a charset, in order, and whether files above do not count."""
    pairs: list[tuple[str, str | None]] = []
    section, is_root = None, False
    for line in map(str.strip, text.splitlines()):
        if match := _SECTION.match(line):
            section = match[1]
            continue
        name, equals, value = (part.strip().lower() for part in line.partition("="))
        value = re.split(r"\s[;#]", value, maxsplit=1)[0].strip()
        if equals and section is None and name == "root":
            is_root = value == "true"
        elif equals and section is not None and name == "charset":
            said = None if value == "unset" else _NAMES_OF_EDITORS.get(value, value)
            pairs += [(pattern, said) for pattern in _patterns_of_glob(section)]
    return pairs, is_root


_BRACES = re.compile(r"\{([^{}]*)\}")
_NUMBERS = re.compile(r"([+-]?\d{1,6})\.\.([+-]?\d{1,6})")


def _patterns_of_glob(glob: str) -> list[str]:
    """The patterns as in `.gitignore` of a section's name; none for one that stands for too many."""
    done: list[str] = []
    open_globs = [glob] if len(glob) <= LONGEST_PATTERN else []
    while open_globs:
        if len(done) + len(open_globs) > _MOST_PATTERNS:
            return []
        each = open_globs.pop(0)
        match = _BRACES.search(each)
        if match is None:
            # Two stars stand for folders wherever they are, in `.gitignore` only as a name of their own.
            done.append(_of_files_alone(re.sub(r"(?<!\*)\*\*++(?=[^/])", "**/*", each)))
            continue
        numbers = _NUMBERS.fullmatch(match[1])
        if numbers:
            low, high = sorted((int(numbers[1]), int(numbers[2])))
            if high - low > _MOST_PATTERNS:
                return []
            choices = [str(number) for number in range(low, high + 1)]
        else:
            choices = match[1].split(",") if "," in match[1] else [f"?{match[1]}?"]
        open_globs += [f"{each[: match.start()]}{choice}{each[match.end() :]}" for choice in choices]
    return done


def _of_files_alone(pattern: str) -> str:
    """A pattern whose first character has no meaning of its own in `.gitignore`."""
    return f"\\{pattern}" if pattern.startswith(("!", "#")) else pattern
