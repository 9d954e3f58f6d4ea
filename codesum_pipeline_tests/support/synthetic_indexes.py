"""The tables of a small repository, written without reading one: what the index stages start from."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import (
    Cause,
    HistoryEvent,
    HistoryRow,
    Level,
    SummaryDocument,
    WrittenBy,
)
from codesum_pipeline.foundation.data_model.edge import Edge, EdgeKind, GraphStats
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.hashing import graph_hash, sha1_hex
from codesum_pipeline.foundation.data_model.ids import module_path_of, parent_modules, symbol_id
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol, SymbolFacts, SymbolType
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.lanes.dense import embed_documents
from codesum_pipeline.indexes.lanes.sparse import index_terms
from codesum_pipeline.indexes.publishing.candidate import write_candidate
from codesum_pipeline.indexes.publishing.publish import PublishReport, publish_candidate
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.settings import DEFAULTS

VERSIONS = {"parser": "1", "graph": "1", "extractive": "1", "placeholder": "1"}


class Definition(Struct, frozen=True):
    """One function, or a class where the name starts with a capital; `name` is qualified, and it
    `calls` ids."""

    name: str
    summary: str
    source: str = ""
    is_placeholder: bool = False
    pagerank: float = 0.0
    calls: tuple[str, ...] = ()

    @property
    def level(self) -> Level:
        return Level.CLASS if self.name.rpartition(".")[2][:1].isupper() else Level.FUNCTION


Files = Mapping[str, Sequence[Definition]]

SHOP: Files = {
    "shop/auth.py": (
        Definition("LoginHandler", "Checks who a customer is.", "class LoginHandler:\n def authenticate(self): ..."),
        Definition(
            "LoginHandler.authenticate",
            "Compare the password hash and open a session.",
            "def authenticate(self, user, password):\n return open_session(hash_password(password))",
            pagerank=0.2,
        ),
        Definition("get_user", "Trivial.", "def get_user(self): return self.user", is_placeholder=True),
    ),
    "shop/cart.py": (
        Definition(
            "add_item",
            "Put an article into the shopping cart.",
            "def add_item(cart, article):\n cart.articles.append(article)\n return cart",
        ),
        Definition(
            "total_price",
            "Sum the prices of all articles with tax.",
            "def total_price(cart, tax_rate):\n return sum(a.price for a in cart.articles) * (1 + tax_rate)",
        ),
    ),
    "tests/test_cart.py": (
        Definition(
            "test_total_price",
            "Check the sum of prices of articles.",
            "def test_total_price():\n assert total_price(cart, 0.2) == 12",
        ),
    ),
    "README.md": (),
}


def make_index_workspace(
    home: Path,
    files: Files = SHOP,
    *,
    key: str = "shop",
    slug: str | None = "acme/shop",
    run_id: str = "run-1",
    commit: str = "c" * 40,
    settings: Settings | None = None,
    force: bool = False,
) -> Workspace:
    """A workspace whose tables say what `files` says."""
    layout = HomeLayout(home)
    workspace = Workspace(
        entry=RepositoryEntry(key=key, location="/repositories/shop"),
        layout=layout,
        tables=TableStore(layout.warehouse),
        settings=settings or DEFAULTS,
        versions=VERSIONS,
        run_id=run_id,
        now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        slug=slug,
        force=force,
    )
    write_tables(workspace, files, commit=commit)
    return workspace


def write_tables(workspace: Workspace, files: Files, *, commit: str = "c" * 40) -> None:
    """Replace what the stages before the index would have written."""
    tables, key = workspace.tables, workspace.key
    symbols = [symbol for path, definitions in files.items() for symbol in symbols_of(path, definitions)]
    documents = documents_of(files)
    snapshot = Snapshot(
        repo=key, commit=commit, tree="d" * 40, ref="main", subject="change", committed_at="2026-01-01T00:00:00Z"
    )
    pageranks = {
        symbol_id(path, definition.name.split(".")): definition.pagerank
        for path, definitions in files.items()
        for definition in definitions
    }
    stats = [
        GraphStats(id=id_, in_degree=0, out_degree=0, pagerank=rank, component=0, community=0)
        for id_, rank in sorted(pageranks.items())
    ]
    tables.write_rows("snapshot", key, [snapshot], Snapshot)
    tables.write_rows("symbols", key, symbols, Symbol)
    tables.write_rows("file_facts", key, [facts_of(path, files[path]) for path in sorted(files)], FileFacts)
    tables.write_rows("graph_stats", key, stats, GraphStats)
    tables.write_rows("edges", key, edges_of(files), Edge)
    tables.write_rows("documents", key, documents, SummaryDocument)
    history = [history_of(document, n, workspace.run_id, commit) for n, document in enumerate(documents, start=1)]
    tables.write_rows("document_history", key, history, HistoryRow)


def publish(workspace: Workspace) -> PublishReport:
    """Run the four index stages."""
    embed_documents(workspace)
    index_terms(workspace)
    write_candidate(workspace)
    return publish_candidate(workspace)


def documents_of(files: Files) -> list[SummaryDocument]:
    """The documents of all levels in id order."""
    found = [document_of(path, definition) for path, definitions in files.items() for definition in definitions]
    found += [
        replace(
            _plain_document(path, Level.FILE, parent=module_path_of(path)),
            content_hash=facts_of(path, definitions).content_hash,
        )
        for path, definitions in files.items()
    ]
    for folder in sorted({folder for path in files for folder in parent_modules(path)}):
        parent = None if folder == "." else module_path_of(folder)
        found.append(replace(_plain_document(folder, Level.MODULE, parent=parent), module_path=folder))
    return sorted(found, key=lambda document: document.id)


def document_of(path: str, definition: Definition) -> SummaryDocument:
    """The document of one definition."""
    parts = definition.name.split(".")
    parent = symbol_id(path, parts[:-1]) if len(parts) > 1 else path
    return replace(
        _plain_document(symbol_id(path, parts), definition.level, parent=parent, path=path),
        qualified_name=definition.name,
        summary=definition.summary,
        business_intent=f"Serves {parts[-1]}.",
        keywords=tuple(sorted(set(definition.summary.lower().rstrip(".").split()))),
        is_placeholder=definition.is_placeholder,
        written_by=WrittenBy.PLACEHOLDER if definition.is_placeholder else WrittenBy.EXTRACTIVE,
        start_line=1,
        end_line=1 + definition.source.count("\n"),
        signature=f"def {parts[-1]}(...)",
        signature_summary=f"def {parts[-1]}(...)",
        content_hash=sha1_hex(definition.source),
        text_hash=sha1_hex(definition.summary),
    )


def symbols_of(path: str, definitions: Sequence[Definition]) -> list[Symbol]:
    """The symbols of one file."""
    return [
        Symbol(
            id=symbol_id(path, definition.name.split(".")),
            type=SymbolType(definition.level),
            qualified_name=definition.name,
            name=definition.name.rpartition(".")[2],
            file_path=path,
            language="python",
            start_line=1,
            end_line=1 + definition.source.count("\n"),
            signature=f"def {definition.name}(...)",
            docstring=None,
            modifiers=(),
            bases=(),
            parent_id=None,
            complexity=1,
            line_count=1 + definition.source.count("\n"),
            is_public=True,
            content_hash=sha1_hex(definition.source),
            canonical_source=definition.source,
            line_map=tuple(range(1, 2 + definition.source.count("\n"))),
            facts=SymbolFacts(),
        )
        for definition in definitions
    ]


def edges_of(files: Files) -> list[Edge]:
    """The calls of all definitions."""
    return [
        call_edge(symbol_id(path, definition.name.split(".")), called)
        for path, definitions in files.items()
        for definition in definitions
        for called in definition.calls
    ]


def call_edge(caller: str, called: str) -> Edge:
    """A call of a document."""
    return Edge(caller, called, False, EdgeKind.CALL, count=1, confidence=1.0, reason="name", is_cross_module=False)


def facts_of(path: str, definitions: Sequence[Definition]) -> FileFacts:
    """The facts of one file, whose source is that of its definitions."""
    source = "\n".join(definition.source for definition in definitions) or f"About {path}"
    return FileFacts(
        file_path=path,
        blob=sha1_hex(source),
        language="python",
        parser="python/1",
        content_hash=sha1_hex(source),
        source=source,
        lines=1 + source.count("\n"),
        docstring=None,
        imports=(),
        globals=(),
        exports=None,
        references="{}",
        syntax_errors=0,
    )


def history_of(document: SummaryDocument, sequence: int, run_id: str, commit: str) -> HistoryRow:
    """The row that says that a document's text is new."""
    return HistoryRow(
        sequence=sequence,
        id=document.id,
        level=document.type,
        event=HistoryEvent.WRITTEN,
        cause=Cause.NEW,
        cause_ids=(),
        writer="extractive/1",
        written_by=document.written_by,
        summary_hash=document.summary_hash,
        text_hash=document.text_hash,
        run_id=run_id,
        commit=commit,
        written_at="2026-01-01T00:00:00Z",
        cost_usd=0.0,
    )


def _plain_document(id_: str, level: Level, *, parent: str | None, path: str | None = None) -> SummaryDocument:
    file_path = path or id_
    return SummaryDocument(
        id=id_,
        type=level,
        file_path=file_path,
        module_path=module_path_of(file_path),
        qualified_name=None,
        summary=f"Holds what belongs to {file_path}.",
        business_intent=f"Keeps {file_path} together.",
        keywords=("holds",),
        dependencies=(),
        called_by=(),
        calls=(),
        content_hash=sha1_hex(id_),
        graph_hash=graph_hash((), ()),
        summary_hash=sha1_hex(f"extractive/1\n{id_}"),
        text_hash=sha1_hex(f"Holds what belongs to {file_path}."),
        language="python",
        is_placeholder=False,
        start_line=None,
        end_line=None,
        signature=None,
        signature_summary=None,
        returns=None,
        inputs=(),
        side_effects=(),
        invariants=(),
        responsibilities=(),
        citations=(),
        written_by=WrittenBy.EXTRACTIVE,
        model=None,
        prompt_version=None,
        gate=None,
        parent_id=parent,
        is_test="test" in file_path,
        is_vendored="vendor" in file_path,
    )


def documents_bytes(index: PublishedIndex) -> bytes:
    """The whole of `summary.jsonl`, as the index reads it."""
    return b"".join(map(index.line, range(len(index))))
