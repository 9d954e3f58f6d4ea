"""What a model is shown of a document, and the hashes of that.

It is a function of the document's hash, with no path below the module level. Everything is masked first and put
between markers: material is data.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from codesum_pipeline.evidence.inputs import (
    ChildText,
    ClassInput,
    FileInput,
    ModuleInput,
    TextFileInput,
    UpperInput,
    metadata_of,
)
from codesum_pipeline.foundation.data_model.document import ChildPair, Level
from codesum_pipeline.foundation.data_model.hashing import canonical_json, hash_of, sha1_hex, summary_hash
from codesum_pipeline.foundation.store.rows import tuples_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.masking.secrets import mask_secrets, masks_in
from codesum_pipeline.texts.llm.budgets import Entry, body_budget, cut_to_fit, fill_entries
from codesum_pipeline.texts.llm.checking import AnswerBounds
from codesum_pipeline.texts.llm.marking import enclose, number_lines
from codesum_pipeline.texts.llm.plain_text import markup_of, to_plain_text
from codesum_pipeline.texts.llm.templates import ResolvedTemplate
from codesum_pipeline.texts.summaries.by_model.shown_contexts import ShownContext
from codesum_pipeline.texts.summaries.decide import RequiredDocument
from codesum_pipeline.texts.summaries.outline import DocumentTree

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
# Metadata that the field `name` of a prompt already has.
_IN_NAME = ("name", "qualified_name")
# The length of markers, labels and line ends; a prompt has several.
_MARKERS_CHARS = 600


class Prompt(Struct, frozen=True):
    """The user's turn for one document, and what its answer is checked against. `material` is what it is about, as it
    stands in the turn."""

    text: str
    bounds: AnswerBounds
    material: str


class Prompter(Struct):
    """Makes the prompts of one level; `masked` counts the secrets that were taken out, by kind."""

    template: ResolvedTemplate
    max_prompt_chars: int
    masked: Counter[str] = field(default_factory=Counter)

    def of_function(self, qualified_name: str, language: str, source: str, context: ShownContext) -> Prompt:
        """The prompt about a function or method: its canonical source in numbered lines, and its context."""
        callers = [f"called by: {', '.join(context.called_by)}"] if context.called_by else []
        name = self._masked(qualified_name)
        around = self._masked("\n".join((*context.holders, *callers, *context.callees)))
        about = self._bounded(around, name)
        lines = number_lines(self._masked(source))
        body = cut_to_fit(lines, self._room(name, about))
        fields = {"name": enclose(name, "name"), "body": enclose(body, "source"), "context": enclose(about, "context")}
        names = frozenset(_IDENTIFIER.findall(context.code)) - set(_IDENTIFIER.findall(f"{qualified_name} {source}"))
        bounds = AnswerBounds(Level.FUNCTION, line_count=_shown_lines(body), context_names=tuple(sorted(names)))
        return Prompt(self._render(language, fields), bounds, body)

    def of_upper(self, level: Level, document: UpperInput) -> Prompt:
        """The prompt about a class, file or folder: its metadata and its children's texts."""
        name = self._masked(document.qualified_name if isinstance(document, ClassInput) else document.name)
        shown_metadata = {key: value for key, value in model_metadata(document).items() if key not in _IN_NAME}
        lines = (f"{key}: {_joined(value)}" for key, value in shown_metadata.items() if value)
        about = self._bounded(self._masked("\n".join(lines)), name)
        fields = {"name": enclose(name, "name"), "metadata": enclose(about, "metadata")}
        if isinstance(document, TextFileInput):
            body = cut_to_fit(self._masked(shown_words(document)), self._room(name, about))
            fields["body"] = enclose(body, "text")
            return Prompt(self._render(document.language, fields), AnswerBounds(level, line_count=None), body)
        entries = [
            Entry(self._masked(f"- {child.name} ({child.level}): "), self._masked(child.summary))
            for child in document.children
        ]
        filled, left_out = fill_entries(entries, self._room(name, about), about=document.id)
        listed = "\n".join(f"{entry.head}{entry.body}" for entry in filled)
        if left_out:
            listed += f"\n({left_out} more are not shown)"
        fields["children"] = enclose(listed, "children")
        language = "" if isinstance(document, ModuleInput) else document.language
        names = tuple(child.name for child in document.children[: len(filled)])
        bounds = AnswerBounds(level, line_count=None, child_names=names)
        return Prompt(self._render(language, fields), bounds, listed)

    def _bounded(self, about: str, name: str) -> str:
        """The context or metadata, cut to at most half of the room that it shares with the body."""
        return cut_to_fit(about, self._room(name) // 2)

    def _room(self, *always: str) -> int:
        return body_budget(
            self.max_prompt_chars,
            system=self.template.system,
            wrapper_chars=self.template.wrapper_chars,
            boilerplate_chars=_MARKERS_CHARS + sum(map(len, always)),
        )

    def _render(self, language: str, fields: Mapping[str, str]) -> str:
        empty = dict.fromkeys(("name", "metadata", "body", "children", "context"), "")
        return self.template.render(
            **{**empty, **fields, "level": self.template.level.value, "code_language": language}
        )

    def _masked(self, text: str) -> str:
        masked = mask_secrets(text).text
        # Most were masked when the file was parsed.
        self.masked.update(masks_in(masked))
        return masked


def model_metadata(document: UpperInput) -> dict[str, Any]:
    """What a model is shown of a document besides its children, as JSON-able values.

    Of a file it is the name and not the path: a move to another folder changes nothing.
    """
    match document:
        case ClassInput() | FileInput():
            unseen = ("literals", "holder", "own_source")
            fields = {name: value for name, value in metadata_of(document).items() if name not in unseen}
        case TextFileInput():
            fields = {"name": document.name, "language": document.language}
        case ModuleInput():
            markup = markup_of(document.readme_name or "")
            fields = {
                "name": document.name,
                "readme": to_plain_text(document.readme, markup) if document.readme else None,
            }
    return fields


def shown_words(file: TextFileInput) -> str:
    """What a model is shown of a text file."""
    return to_plain_text(file.text, markup_of(file.name))


def _joined(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, Iterable) and not isinstance(value, str) else str(value)


def _shown_lines(body: str) -> int:
    """How many numbered lines are shown: a cut body ends in a mark."""
    lines: Sequence[str] = body.split("\n")
    return sum(line.partition("|")[0].isdecimal() for line in lines)


class TextSource(Struct, frozen=True):
    """What a document's text is made from; with a writer's name it gives the hashes of the wanted text."""

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


def upper_source(document: UpperInput, children: Sequence[ChildText]) -> TextSource:
    """The source of a class's, file's or folder's text: its metadata and its children's texts, in this order."""
    own = model_metadata(document)
    if isinstance(document, TextFileInput):
        own["text"] = shown_words(document)
    pairs = [[child.name, child.level, child.text_hash] for child in children]
    return TextSource(
        document.id,
        hash_of(own),
        tuple(ChildPair(child.id, child.name, child.text_hash) for child in children),
        canonical_json([pairs, own]),
    )


def rank_sibling(is_public: bool, complexity: int, line_count: int, source_order: int) -> tuple[bool, int, int, int]:
    """Public ones first, then the more complex, the longer, the earlier: a new edge or name elsewhere moves none.

    Neither the alphabet, which says nothing, nor statistics of the whole repository.
    """
    return (not is_public, -complexity, -line_count, source_order)


class ChildOrder:
    """The order in which a model is shown a document's children: what a budget cuts off is at its end."""

    def __init__(self, workspace: Workspace, outline: DocumentTree) -> None:
        names = ["id", "is_public", "complexity", "line_count", "start_line"]
        table = workspace.tables.read("symbols", workspace.key, columns=names)
        self._ranks = {id_: rank_sibling(*found) for id_, *found in tuples_of(table, names)}
        self._outline = outline
        self._places: dict[str, int] = {}

    def __call__(self, children: Sequence[ChildText]) -> list[ChildText]:
        return sorted(children, key=lambda child: (*self._rank(child), child.id))

    def _rank(self, child: ChildText) -> tuple[bool, int, int, int]:
        """A file or folder is ranked by how much is directly in it, which an edit of a body does not change."""
        if child.level in (Level.FUNCTION, Level.CLASS):
            return self._ranks[child.id]
        return rank_sibling(True, 0, len(self._outline.children.get(child.id, ())), 0)
