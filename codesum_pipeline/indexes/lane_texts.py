"""What each lane reads of a document.

A text depends on that document and the names below it, on nothing else: an edit
elsewhere leaves it, its vector and its terms as they are. A text is known by
its hash, which is all that carrying over looks at.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata

from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.indexes.tokens import TOKENS_VERSION
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.hashing import sha1_hex
from codesum_pipeline.model.ids import SEPARATOR
from codesum_pipeline.store.workspace import Workspace

# Part of every text's hash: a change embeds and indexes everything again.
LANES_VERSION = f"1/{TOKENS_VERSION}/{metadata.version('PyStemmer')}"

# How much of a body a vector sees: about what 512 tokens hold,
# and beyond it one vector says less and less about each line.
BODY_CHARACTERS = 1200

_COLUMNS = [
    "id", "type", "file_path", "qualified_name", "summary", "business_intent", "keywords", "signature",
    "is_placeholder", "parent_id",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class LaneSource:
    """What the lanes need of one document.

    `name` is the qualified name, or above classes the path. `body` is the
    canonical source of a symbol, the source of a file, and of a module the
    names of its files and folders with the names defined in them.
    """

    id: str
    level: Level
    name: str
    file_path: str
    summary: str
    business_intent: str
    keywords: tuple[str, ...]
    signature: str
    body: str
    child_names: tuple[str, ...]
    is_placeholder: bool


@dataclass(frozen=True, slots=True)
class LaneText:
    """One document's text in one lane.

    A dense text longer than the model's limit is cut, but its first
    `keep_characters` are not.
    """

    id: str
    lane: Lane
    text: str
    text_hash: str
    keep_characters: int = 0


def read_lane_sources(ws: Workspace) -> list[LaneSource]:
    """Every document of the repository with its body, in id order."""
    documents = ws.tables.read("documents", ws.key, columns=_COLUMNS)
    rows = list(zip(*(documents.column(name).to_pylist() for name in _COLUMNS), strict=True))
    bodies = _bodies(ws)
    names = {row[0]: _short_name(row[1], row[2], row[3]) for row in rows}
    children = _children(rows)
    sources = []
    for id_, type_, path, qualified, summary, intent, keywords, signature, is_placeholder, _ in rows:
        level = Level(type_)
        below = children.get(id_, [])
        sources.append(
            LaneSource(
                id=id_,
                level=level,
                name=qualified or path,
                file_path=path,
                summary=summary,
                business_intent=intent,
                keywords=tuple(keywords),
                signature=signature or "",
                body=_module_body(below, names, children) if level is Level.MODULE else bodies.get(id_, ""),
                child_names=() if level is Level.FUNCTION else tuple(names[child] for child in below),
                is_placeholder=is_placeholder,
            )
        )
    return sources


def dense_texts(source: LaneSource, *, max_tokens: int) -> Iterator[LaneText]:
    """The texts of the dense lanes; none for a placeholder. `max_tokens` bounds the summary lane."""
    if source.is_placeholder:
        return
    head = f"{source.name}\n{source.business_intent}\n"
    yield _lane_text(source, Lane.CODE, f"{source.name}\n{source.body[:BODY_CHARACTERS]}")
    yield _lane_text(source, Lane.FUSED, fused_text(source))
    yield _lane_text(source, Lane.SUMMARY, head + source.summary, setting=str(max_tokens), keep_characters=len(head))


def term_texts(source: LaneSource) -> Iterator[LaneText]:
    """The texts of the BM25 lanes, for placeholders too."""
    yield _lane_text(source, Lane.CODE, f"{source.name}\n{source.body}")
    names = dict.fromkeys((source.name, source.file_path))
    yield _lane_text(source, Lane.KEYWORDS, " ".join((*source.keywords, *names)))


def fused_text(source: LaneSource) -> str:
    """Signature, summary and body of a function; above functions, head, summary and the children's names."""
    head = source.signature or source.name
    if source.level is Level.FUNCTION:
        return f"{head}\n{source.summary}\n{source.body[:BODY_CHARACTERS]}"
    return f"{head}\n{source.summary}\n{', '.join(source.child_names)[:BODY_CHARACTERS]}"


def _lane_text(source: LaneSource, lane: Lane, text: str, *, setting: str = "", keep_characters: int = 0) -> LaneText:
    text_hash = sha1_hex(f"{LANES_VERSION} {setting}\n{text}")
    return LaneText(source.id, lane, text, text_hash, keep_characters)


def _bodies(ws: Workspace) -> dict[str, str]:
    """The canonical source of each symbol and the source of each file, by document id."""
    symbols = ws.tables.read("symbols", ws.key, columns=["id", "canonical_source"])
    files = ws.tables.read("file_facts", ws.key, columns=["file_path", "source"])
    bodies = dict(zip(files.column("file_path").to_pylist(), files.column("source").to_pylist(), strict=True))
    bodies.update(zip(symbols.column("id").to_pylist(), symbols.column("canonical_source").to_pylist(), strict=True))
    return bodies


def _children(rows: Iterable[tuple[str, ...]]) -> dict[str, list[str]]:
    """The ids below each document, in id order."""
    children: dict[str, list[str]] = {}
    for row in rows:
        parent = row[-1]
        if parent is not None:
            children.setdefault(parent, []).append(row[0])
    return children


def _short_name(level: str, path: str, qualified_name: str | None) -> str:
    """The last part of a qualified name or path."""
    return (qualified_name or path).rpartition("." if level in (Level.FUNCTION, Level.CLASS) else "/")[2]


def _module_body(below: Iterable[str], names: Mapping[str, str], children: Mapping[str, list[str]]) -> str:
    """One line per file or folder of a module: its name, and for a file the names it defines."""
    return "\n".join(
        " ".join((names[child], *(names[symbol] for symbol in children.get(child, ()) if SEPARATOR in symbol)))
        for child in below
    )
