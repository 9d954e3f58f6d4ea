"""The levels put together: one document per function, class, file and module.

Only written fields come from the texts; ids, lines, signatures, context and
hashes are those of the snapshot at hand, so a moved or reformatted function
never keeps a stale line.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codesum_pipeline.model.documents import (
    Citation,
    Gate,
    Level,
    SummaryDocument,
    TextRow,
    WrittenBy,
    WrittenText,
)
from codesum_pipeline.model.files import SourceFile
from codesum_pipeline.model.graph import Context
from codesum_pipeline.model.hashing import graph_hash, module_content_hash
from codesum_pipeline.model.ids import module_path_of
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.history import append_history
from codesum_pipeline.summaries.outline import read_outline
from codesum_pipeline.summaries.shown import module_layers, read_texts


@dataclass(frozen=True, slots=True)
class PlacedSymbol:
    """What a document takes from its symbol: columns of `symbols`, the source left unread."""

    id: str
    qualified_name: str
    file_path: str
    language: str
    start_line: int
    end_line: int
    signature: str
    content_hash: str
    line_map: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DocumentsReport:
    """What the index holds now, and how many texts changed since the last build."""

    rows: int
    by_level: Mapping[Level, int]
    by_writer: Mapping[WrittenBy, int]
    texts_changed: int
    texts_removed: int
    table_hash: str


def assemble_documents(workspace: Workspace, *, progress: Progress = no_progress) -> DocumentsReport:
    """Write the `documents` table and append what changed to `document_history`."""
    texts = read_texts(workspace, *Level)
    documents = _Assembly(workspace, texts).documents()
    progress("assembling documents", len(documents), len(documents))
    written = workspace.tables.write_rows("documents", workspace.key, documents, SummaryDocument)
    changes = append_history(workspace, texts)
    return DocumentsReport(
        rows=written.rows,
        by_level={level: sum(document.type is level for document in documents) for level in Level},
        by_writer=dict(sorted(Counter(document.written_by for document in documents).items())),
        texts_changed=changes.written,
        texts_removed=changes.removed,
        table_hash=written.table_hash,
    )


class _Assembly:
    """The documents of one snapshot."""

    def __init__(self, workspace: Workspace, texts: Mapping[str, TextRow]) -> None:
        tables, key = workspace.tables, workspace.key
        self._texts = texts
        self._outline = read_outline(workspace)
        self._symbols = tables.read_rows("symbols", key, PlacedSymbol)
        self._files = {file.path: file for file in tables.read_rows("files", key, SourceFile)}
        self._contexts = {context.id: context for context in tables.read_rows("contexts", key, Context)}
        facts = tables.read("file_facts", key, columns=["file_path", "language", "content_hash"])
        self._facts = {row["file_path"]: row for row in facts.to_pylist()}
        self._gate = Gate.OFFLINE if workspace.options.scan.offline else Gate.DISABLED

    def documents(self) -> list[SummaryDocument]:
        documents = [self._symbol(symbol) for symbol in self._symbols]
        documents += [self._file(path) for path in self._outline.files]
        known = {document.id: document for document in documents}
        for layer in module_layers(self._outline):
            for path in layer:
                known[path] = self._module(path, known)
        return sorted(known.values(), key=lambda document: document.id)

    def _symbol(self, symbol: PlacedSymbol) -> SummaryDocument:
        row = self._texts[symbol.id]
        file = self._files[symbol.file_path]
        return self._document(
            row,
            file_path=symbol.file_path,
            module_path=module_path_of(symbol.file_path),
            content_hash=symbol.content_hash,
            language=symbol.language,
            is_test=file.is_test,
            is_vendored=file.is_vendored,
            qualified_name=symbol.qualified_name,
            start_line=symbol.start_line,
            end_line=symbol.end_line,
            signature=symbol.signature,
            signature_summary=signature_summary(symbol.signature, row.text),
            citations=_real_lines(row.text.citations, symbol.line_map),
        )

    def _file(self, path: str) -> SummaryDocument:
        facts, file = self._facts[path], self._files[path]
        return self._document(
            self._texts[path],
            file_path=path,
            module_path=module_path_of(path),
            content_hash=facts["content_hash"],
            language=facts["language"],
            is_test=file.is_test,
            is_vendored=file.is_vendored,
        )

    def _module(self, path: str, known: Mapping[str, SummaryDocument]) -> SummaryDocument:
        children = self._outline.children[path]
        documents = [known[child.id] for child in children]
        return self._document(
            self._texts[path],
            file_path=path,
            module_path=path,
            content_hash=module_content_hash({child.name: known[child.id].content_hash for child in children}),
            language=_main_language(documents),
            is_test=all(document.is_test for document in documents),
            is_vendored=all(document.is_vendored for document in documents),
        )

    def _document(
        self,
        row: TextRow,
        *,
        file_path: str,
        module_path: str,
        content_hash: str,
        language: str,
        is_test: bool,
        is_vendored: bool,
        qualified_name: str | None = None,
        start_line: int | None = None,
        end_line: int | None = None,
        signature: str | None = None,
        signature_summary: str | None = None,
        citations: tuple[Citation, ...] | None = None,
    ) -> SummaryDocument:
        context = self._contexts.get(row.id) or Context(row.id, (), (), graph_hash((), ()), ())
        is_placeholder = row.written_by is WrittenBy.PLACEHOLDER
        text = row.text
        return SummaryDocument(
            id=row.id,
            type=row.level,
            file_path=file_path,
            module_path=module_path,
            qualified_name=qualified_name,
            summary=text.summary,
            business_intent=text.business_intent,
            keywords=text.keywords,
            dependencies=context.dependencies,
            called_by=context.called_by,
            calls=context.calls,
            content_hash=content_hash,
            graph_hash=context.graph_hash,
            summary_hash=row.summary_hash,
            text_hash=row.text_hash,
            language=language,
            is_placeholder=is_placeholder,
            start_line=start_line,
            end_line=end_line,
            signature=signature,
            signature_summary=signature_summary,
            returns=text.returns,
            inputs=text.inputs,
            side_effects=text.side_effects,
            invariants=text.invariants,
            responsibilities=text.responsibilities,
            citations=text.citations if citations is None else citations,
            written_by=row.written_by,
            model=row.model,
            prompt_version=row.prompt_version,
            gate=Gate.PLACEHOLDER if is_placeholder else self._gate,
            parent_id=self._outline.parents.get(row.id),
            is_test=is_test,
            is_vendored=is_vendored,
        )


def signature_summary(signature: str, text: WrittenText) -> str:
    """The signature, and what comes back where the text says so."""
    returned = text.returns.type_summary if text.returns else ""
    return f"{signature}: {returned}" if returned else signature


def _real_lines(citations: Sequence[Citation], line_map: Sequence[int]) -> tuple[Citation, ...]:
    """Citations of canonical lines as citations of the file's lines."""
    return tuple(
        Citation(citation.field, line_map[citation.start_line - 1], line_map[citation.end_line - 1])
        for citation in citations
    )


def _main_language(children: Sequence[SummaryDocument]) -> str:
    """The language of most children; of those, the first by name."""
    counts = Counter(document.language for document in children)
    return min(counts, key=lambda language: (-counts[language], language))
