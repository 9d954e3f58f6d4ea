"""Which files must be resolved, and what is known of the others from the last build.

A file's edges stay valid while its own facts are unchanged, and all that it asked for of others has the same answers.

Nothing is carried over that was made under other settings or versions, or that is not what the tables hold: a
build that was killed between two tables invalidates all of it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Self, TypeVar

from msgspec import MsgspecError, Struct, json

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.hashing import canonical_json, hash_of, sha1_hex, sha256_hex
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.data_model.scopes import Row
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.resolvers.cells import NO_ANSWERS
from codesum_pipeline.graph.resolvers.families import FamilyChanges, LanguageFamily
from codesum_pipeline.graph.resolvers.file_edges import CallOutcome, EdgeTable
from codesum_pipeline.graph.resolvers.late_facts import hash_of_references
from codesum_pipeline.graph.resolvers.lookup_table import LookupTable
from codesum_pipeline.graph.resolvers.python.python_lookups import Telling

Found = TypeVar("Found")

TABLES = ("edges", "aliases", "graph_stats", "contexts", "syntax_edges", "call_sites")
PROGRESS_EVERY = 200


class ResolvedFile(Struct, frozen=True):
    """The resolved facts of one file.

    The hash of its facts, how many of its calls had which outcome, the names by which a method of it may be
    known, and whether its calls are kept one by one, for a compiler's index to be put beside.
    """

    facts: str
    outcomes: dict[str, int]
    telling: dict[str, str]
    has_sites: bool = False


class Resolution(Struct, frozen=True):
    """What the graph of a repository was made from, kept beside the memos of its steps.

    `families` holds for each family the hash of what is around its files; `documents` is the hash of what statistics
    and contexts are made from besides the edges. `own_edges` is the table with the edges that were read off the syntax,
    where a compiler's index has others; `lookups` are what files asked of others.
    """

    settings: str
    families: dict[str, str]
    files: dict[str, ResolvedFile]
    documents: str = ""
    tables: dict[str, str | None] = {}
    own_edges: str = "edges"
    lookups: LookupTable = LookupTable()

    @classmethod
    def of_last_build(cls, ws: Workspace) -> Self | None:
        """None if it does not describe the current tables, or must not be used."""
        if (last := ws.last_build) is None:
            return None
        try:
            digest, _, content = _path(last).read_bytes().partition(b"\n")
            # A damaged cell would be no error, and hide that an answer changed.
            found = decode(content, cls) if digest.decode() == sha256_hex(content) else None
        except (OSError, UnicodeError, MsgspecError):
            return None
        if found is None or found.settings != last.fingerprint("") or not found.lookups.is_whole:
            return None
        tables = {table: last.tables.content_hash(table, ws.key) for table in TABLES}
        return found if found.tables == tables and None not in tables.values() else None

    def write(self, ws: Workspace) -> None:
        """Keep it behind its hash, once all tables are in place."""
        content = json.encode(self)
        write_bytes_atomically(_path(ws), b"\n".join([sha256_hex(content).encode(), content]))


class Coverage(Struct, frozen=True):
    """How many call sites had which outcome; `external` includes builtins."""

    call_sites: int
    resolved: int
    external: int
    builtin: int
    ambiguous: int
    unknown: int

    @classmethod
    def of(cls, files: Mapping[str, ResolvedFile]) -> Self:
        """The sum over all files."""
        outcomes = Counter[str]()
        for file in files.values():
            outcomes.update(file.outcomes)
        return cls(
            call_sites=outcomes.total(),
            resolved=outcomes[CallOutcome.RESOLVED],
            external=outcomes[CallOutcome.EXTERNAL] + outcomes[CallOutcome.BUILTIN],
            builtin=outcomes[CallOutcome.BUILTIN],
            ambiguous=outcomes[CallOutcome.AMBIGUOUS],
            unknown=outcomes[CallOutcome.UNKNOWN],
        )


def resolve_files(
    families: Sequence[LanguageFamily],
    last: Resolution | None,
    guard: FailureGuard,
    *,
    settings: str,
    compiled: Collection[str] = (),
    progress: Progress = no_progress,
) -> tuple[Resolution, dict[str, EdgeTable]]:
    """What is known of each file now, and the edges of those that had to be resolved.

    Of the `compiled` files the calls are kept as well.

    A file that fails has no edges and is not known; as long as one does, all of its family are resolved each time,
    since what they have in common was made without it.
    """
    bases: dict[str, str] = {}
    files: dict[str, ResolvedFile] = {}
    tables: dict[str, EdgeTable] = {}
    total = sum(len(family.rows) for family in families)
    facts = {path: _hash_facts(row) for family in families for path, row in family.rows.items()}
    same = {path for path, file in (last.files if last else {}).items() if facts.get(path) == file.facts}

    def tell(done: int) -> None:
        if done % PROGRESS_EVERY == 0:
            progress("resolving references", len(tables) + done, total)

    for family in families:
        before = len(guard.failures)
        with guard.item(f"every file of {family.name}"):
            base, known, found = _resolve_family(family, facts, same, last, guard, tell, compiled)
            files.update(known)
            tables.update(found)
            if len(guard.failures) == before:
                bases[family.name] = base
    lookups = last.lookups if last else LookupTable()
    records = {path: table.lookups for path, table in tables.items() if table.lookups is not None}
    lookups = lookups.updated([path for path in files if path not in tables], records)
    return Resolution(settings=settings, families=bases, files=files, lookups=lookups), tables


def _hash_facts(row: Row) -> str:
    exported = canonical_json([row["exports"], row["reexports"]])
    return sha1_hex(f"{row['language']} {exported}\n{hash_of_references(row)}")


def _read_files(
    read: Callable[[str], Found], paths: Iterable[str], guard: FailureGuard, nothing: Callable[[], Found]
) -> dict[str, Found]:
    """What is read of each file; `nothing` of one that cannot be read."""
    found = {}
    for path in paths:
        found[path] = nothing()
        with guard.item(path):
            found[path] = read(path)
    return found


def _resolve_family(
    family: LanguageFamily,
    facts: Mapping[str, str],
    unchanged: Set[str],
    last: Resolution | None,
    guard: FailureGuard,
    tell: Callable[[int], None],
    compiled: Collection[str],
) -> tuple[str, dict[str, ResolvedFile], dict[str, EdgeTable]]:
    """The hash of what the files have in common, what is known of each, and the edges of those resolved."""
    last_files = last.files if last else {}
    same = {path: last_files[path] for path in family.rows if path in unchanged}
    others = [path for path in family.rows if path not in same]
    telling = {path: file.telling for path, file in same.items()}
    telling |= _read_files(family.telling_names, others, guard, dict)
    base = hash_of([family.surroundings()])
    known: dict[str, ResolvedFile] = {}
    if last and family.name in last.families:
        # Those of other families are gone from the one that they were of.
        gone = last_files.keys() - unchanged - family.rows.keys()
        changes = FamilyChanges(
            same=same,
            lookups=last.lookups,
            answers=dict.fromkeys(gone, NO_ANSWERS) | _read_files(family.answers, others, guard, dict),
            telling=telling,
            last_telling={path: last_files[path].telling if path in last_files else {} for path in (*others, *gone)},
            is_elsewhere=last.families[family.name] != base,
        )
        outdated = family.find_outdated(changes)
        kept = {path: file for path, file in same.items() if path not in outdated}
        known = {path: file for path, file in kept.items() if file.has_sites == (path in compiled)}
    tables = _resolve([path for path in family.rows if path not in known], family, telling, guard, tell, compiled)
    for path, table in tables.items():
        known[path] = ResolvedFile(
            facts=facts[path],
            outcomes=dict(table.outcomes),
            telling=telling[path],
            has_sites=path in compiled,
        )
    # Also files that failed while another file was resolved.
    for path in guard.failed & family.rows.keys():
        known.pop(path, None)
        tables.pop(path, None)
    return base, known, tables


def _resolve(
    paths: Sequence[str],
    family: LanguageFamily,
    telling: Mapping[str, Telling],
    guard: FailureGuard,
    tell: Callable[[int], None],
    compiled: Collection[str],
) -> dict[str, EdgeTable]:
    """The edges of the files at these paths that can be resolved."""
    tables: dict[str, EdgeTable] = {}
    if not paths:
        return tables
    edges_of = family.resolver(telling)
    for path in paths:
        tell(len(tables))
        with guard.item(path):
            tables[path] = edges_of(path)
            if path not in compiled:
                tables[path].calls.clear()
    return tables


def _path(ws: Workspace) -> Path:
    return ws.layout.memos(ws.key) / "call_graph.files.json"
