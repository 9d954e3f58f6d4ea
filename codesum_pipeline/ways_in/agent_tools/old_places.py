"""Who still imports a file from where it was before it was moved: what its imports name is read from the sources.

A graph cannot say so: of the version before, it does not know what the change made of the importers; in the version
after, such an import means nothing of the repository.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from msgspec import Struct

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.language_facts.language_profiles import profile_of
from codesum_pipeline.ways_in.agent_tools.answering_sources import SourceReader
from codesum_pipeline.ways_in.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.ways_in.agent_tools.joined_uses import ENTRIES
from codesum_pipeline.ways_in.agent_tools.uncounted import files_with

# Files with the name of a moved file that are read for it.
_MOST_FILES = 2_000
_LONGEST_IMPORT = 60
_WORD = re.compile(r"\w+")
_IMPORT = re.compile(
    r"^(?:import|from|export|(?:pub )?(?:use|mod)|using|require\w*|include\w*|#include|[}\]] from)\b"
    r"|\b(?:require|import|import_module|patch|mock)\(|\bfrom ['\"]"
)
_ALIAS = re.compile(r"\bas (\w+)")
_FROM = re.compile(r"from +([.\w]+) +import\b")
_QUOTED = re.compile(r"['\"]([^'\"]*)['\"]")
# What stands for the folder of the sources in front of a path: `@/money`.
_TOP = ("@/", "~/")


class ModuleName(Struct, frozen=True):
    """The name by which files import another one, and that of the folder above it, which is empty at the top."""

    name: str
    above: str
    folder: str

    @classmethod
    def of(cls, path: str) -> "ModuleName":
        plain = PurePosixPath(path)
        stem = plain.name.partition(".")[0]
        own = plain.parent if stem in ENTRIES and plain.parent.name else plain.parent / stem
        return cls(own.name, own.parent.name, str(own.parent))

    def is_imported(self, statement: str, path: str) -> bool:
        """Whether an import of a file at `path` names this module."""
        folder = str(PurePosixPath(path).parent)
        statement = _ALIAS.sub("", statement)
        if match := _FROM.match(statement):
            is_named = self.name in _WORD.findall(statement[match.end() :])
            written = (match[1], *[f"{match[1]}.{self.name}"] * is_named)
            return any(self._is_meant(one, folder) for one in written)
        if quoted := _QUOTED.findall(statement):
            return any(self._is_meant(one, folder) for one in quoted)
        words = _WORD.findall(statement)
        return self.name in words and (self.above in ("", *words) or folder == self.folder)

    def _is_meant(self, written: str, folder: str) -> bool:
        """Whether a path, as a file in a folder writes it, has this module."""
        words = _WORD.findall(written)
        if words[:1] == [self.name] and written.startswith("."):
            return self.folder == "." or f"{folder}/".startswith(f"{self.folder}/")
        if words[:1] == [self.name] and (written.startswith(_TOP) or folder == self.folder or not self.above):
            return True
        return (self.above, self.name) in pairwise(words)


def imports_in(text: str, comment: str) -> Iterator[str]:
    """The statements of a source that import something."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        start, statement = at, _code(lines[at], comment)
        at += 1
        if _IMPORT.search(statement) is None:
            continue
        last = min(len(lines), start + _LONGEST_IMPORT)
        if statement.endswith(("(", "{")):
            while at < last and not statement.endswith((")", "}")) and not statement.startswith("}"):
                statement += f" {_code(lines[at], comment)}"
                at += 1
        yield statement


def _code(line: str, comment: str) -> str:
    return (line.partition(comment)[0] if comment else line).strip()


class OldPlace(Struct, frozen=True):
    """A file that is at `after` now, and was at `before`."""

    documents: JoinedDocuments
    sources: SourceReader
    before: str
    after: str

    @property
    def is_kept(self) -> bool:
        """Whether files import it as before: its ending is another, or it became a folder with an entry."""
        return ModuleName.of(self.before) == ModuleName.of(self.after)

    def users(self) -> list[int]:
        """The files that import it from there, and the definitions in them that have its name or one of its own,
        ascending; none where another file is imported by that name."""
        own = {ModuleName.of(self.before).name, *self._definitions()}
        found: list[int] = []
        for file, text, statements in self._importers():
            aliases = {word for each in statements for word in _ALIAS.findall(each)}
            found += [file, *(one for one, words in self._words_in(file, text) if not words.isdisjoint(own | aliases))]
        return sorted({*found})

    def users_of(self, name: str) -> list[int]:
        """The definitions that use something of a name which their files import from there, ascending."""
        module = ModuleName.of(self.before).name
        found: list[int] = []
        for file, text, statements in self._importers():
            is_imported = any(name in _WORD.findall(each) for each in statements)
            wanted = {name} if is_imported else {module, name}
            found += [one for one, words in self._words_in(file, text) if wanted <= words]
        return sorted({*found})

    def _importers(self) -> Iterator[tuple[int, str, list[str]]]:
        """The files that import it from there, with their texts and those imports."""
        if self.is_kept:
            return
        module, documents = ModuleName.of(self.before), self.documents
        profile, others = profile_of(language_of_path(self.before) or ""), self._importers_of_others(module)
        for index in documents.parts:
            rows = files_with(index, module.name, profile.family)[:_MOST_FILES]
            for path, text in self.sources.texts(index, [index.ids[row] for row in rows]).items():
                stop_if_cancelled()
                file = documents.number(path)
                if file is None or file in others or path in (self.before, self.after):
                    continue
                statements = imports_in(text, profile.line_comment or "")
                if named := [each for each in statements if module.is_imported(each, path)]:
                    yield file, text, named

    def _words_in(self, file: int, text: str) -> Iterator[tuple[int, set[str]]]:
        """The definitions of a file, each with the words in its lines."""
        lines = text.split("\n")
        for one in self.documents.inside_file(file):
            row = self.documents.row(one)
            if one != file and row.start_line:
                yield one, {*_WORD.findall("\n".join(lines[row.start_line - 1 : row.end_line]))}

    def _definitions(self) -> set[str]:
        """The names of the outermost definitions of the file."""
        documents = self.documents
        files = map(documents.number, (self.before, self.after))
        inside = (one for file in files if file is not None for one in documents.inside_file(file))
        return {own_name(documents[one].id) for one in inside if documents[one].id.count("::") == 1}

    def _importers_of_others(self, module: ModuleName) -> frozenset[int]:
        """What imports another file of that name, which no more is at the old place."""
        documents, found = self.documents, set[int]()
        for one in documents.numbers(Level.FILE):
            path = documents[one].id
            if path != self.before and one < len(documents.uses) and ModuleName.of(path).name == module.name:
                found.update(documents.uses.users_of(one, EdgeKind.IMPORT))
        return frozenset(found)
