"""Which questions ask for what an author documented, and which for what nobody did."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codesum_pipeline.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.indexes.author_words import author_words
from codesum_pipeline.store.workspace import Workspace

DOCUMENTED = "documented"
UNDOCUMENTED = "undocumented"


@dataclass(frozen=True, slots=True)
class DocumentedCode:
    """The ids of documented documents, and of each file's symbols where they stand: id, qualified name, lines."""

    ids: frozenset[str]
    symbols: Mapping[str, Sequence[tuple[str, str, int, int]]]

    @classmethod
    def of(cls, ws: Workspace) -> "DocumentedCode":
        columns = ["id", "type", "file_path", "qualified_name", "start_line", "end_line"]
        documents = ws.tables.read("documents", ws.key, columns=columns)
        symbols: defaultdict[str, list[tuple[str, str, int, int]]] = defaultdict(list)
        rows = zip(*(documents.column(name).to_pylist() for name in columns if name != "type"), strict=True)
        for id_, path, name, start, end in rows:
            if name is not None:
                symbols[path].append((id_, name, start, end))
        return cls(frozenset(author_words(ws, documents)), dict(symbols))

    def group(self, id_: str) -> str:
        return DOCUMENTED if id_ in self.ids else UNDOCUMENTED

    def group_of(self, question: Question) -> str:
        """That of most documents that answer."""
        targets = question.symbols or question.relevant
        told = sum(self.group(self._id_of(target)) == DOCUMENTED for target in targets)
        return DOCUMENTED if 2 * told >= len(targets) else UNDOCUMENTED

    def _id_of(self, target: AnswerPlace) -> str:
        """The smallest symbol of that name or around those lines, else the file."""
        found = [
            (end - start, id_)
            for id_, name, start, end in self.symbols.get(target.file_path, ())
            if (
                name == target.symbol
                if target.symbol
                else target.start_line is not None and start <= target.start_line <= end
            )
        ]
        return min(found)[1] if found else target.file_path
