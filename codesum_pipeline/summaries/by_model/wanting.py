"""What a model's text of a document is made from, and the hashes of that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codesum_pipeline.llm.budgets import SiblingRank, local_order
from codesum_pipeline.model.documents import ChildPair, Level
from codesum_pipeline.model.hashing import canonical_json, hash_of, sha1_hex, summary_hash
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.shown_to_model import model_metadata, shown_words
from codesum_pipeline.summaries.decide import RequiredDocument
from codesum_pipeline.summaries.inputs import ChildHead, TextFileInput
from codesum_pipeline.summaries.outline import DocumentTree
from codesum_pipeline.summaries.placeholder import UpperInput


@dataclass(frozen=True, slots=True)
class TextSource:
    """What a document's text is made from: under any writer's name it gives the hashes of what is wanted."""

    id: str
    own_hash: str
    children: tuple[ChildPair, ...]
    shown: str

    def wanted(self, writer: str) -> RequiredDocument:
        return RequiredDocument(self.id, writer, self.own_hash, self.children, summary_hash(writer, self.shown))


def function_source(id_: str, qualified_name: str, language: str, canonical_source: str) -> TextSource:
    """A function: its name and language, and of the code the canonical source and nothing else."""
    shown = canonical_json([qualified_name, language, canonical_source])
    return TextSource(id_, sha1_hex(canonical_source), (), shown)


def upper_source(given: UpperInput, children: Sequence[ChildHead]) -> TextSource:
    """A class, file or folder: what it says of itself and its children's texts, in their order there."""
    own = model_metadata(given)
    if isinstance(given, TextFileInput):
        own["text"] = shown_words(given)
    pairs = [[child.name, child.level, child.text_hash] for child in children]
    return TextSource(
        given.id,
        hash_of(own),
        tuple(ChildPair(child.id, child.name, child.text_hash) for child in children),
        canonical_json([pairs, own]),
    )


class ChildOrder:
    """The order in which a model is shown a document's children: what a budget cuts off is at its end."""

    def __init__(self, workspace: Workspace, outline: DocumentTree) -> None:
        names = ["id", "is_public", "complexity", "line_count", "start_line"]
        table = workspace.tables.read("symbols", workspace.key, columns=names)
        columns = (table.column(name).to_pylist() for name in names)
        self._standings = {row[0]: SiblingRank(*row) for row in zip(*columns, strict=True)}
        self._outline = outline
        self._places: dict[str, int] = {}

    def __call__(self, children: Sequence[ChildHead]) -> list[ChildHead]:
        by_id: Mapping[str, ChildHead] = {child.id: child for child in children}
        return [by_id[found.id] for found in local_order(self._standing(child) for child in children)]

    def _standing(self, child: ChildHead) -> SiblingRank:
        """Of a file or folder counts how much is directly in it, which an edit of a body does not change."""
        if child.level in (Level.FUNCTION, Level.CLASS):
            return self._standings[child.id]
        return SiblingRank(child.id, True, 0, len(self._outline.children.get(child.id, ())), 0)
