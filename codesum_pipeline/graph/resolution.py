"""Which files must be resolved, and what is known of the others from the last build.

A file's edges stand while its own facts stand and nothing that its family's
names are found by has changed: no interface of any of its files, no project
file, no module that came or went. Otherwise every file of the family is
resolved. Nothing is carried over that was made under other settings or
versions, or that is not what the tables hold: a build that was killed between
two tables leaves none of it valid.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from codesum_pipeline.graph.call_sites import Outcome
from codesum_pipeline.graph.edge_table import EdgeTable
from codesum_pipeline.graph.families import LanguageFamily
from codesum_pipeline.graph.loading import Row
from codesum_pipeline.model.hashing import canonical_json, hash_of, sha1_hex
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.workspace import Workspace

TABLES = ("edges", "graph_stats", "contexts")
PROGRESS_EVERY = 200


class ResolvedFile(BaseModel):
    """What is known of one file.

    The hashes of its facts and interface, how many of its calls came to which
    end, for which reason, and the names by which a method of it may be known.
    """

    model_config = ConfigDict(frozen=True)

    facts: str
    interface: str
    outcomes: dict[str, int]
    reasons: dict[str, int]
    telling: dict[str, int]


class Resolution(BaseModel):
    """What the graph of a repository was made from, kept beside the memos of its steps.

    `families` holds for each family the hash of all that its files have in
    common; `documents` is the hash of what statistics and contexts are made
    from besides the edges.
    """

    model_config = ConfigDict(frozen=True)

    settings: str
    families: dict[str, str]
    files: dict[str, ResolvedFile]
    documents: str = ""
    tables: dict[str, str | None] = {}

    @classmethod
    def standing(cls, ws: Workspace) -> Self | None:
        """That of the last build; None where it says nothing about the tables of now, or must not be used."""
        try:
            found = None if ws.force else cls.model_validate_json(_path(ws).read_bytes())
        except (OSError, ValidationError):
            return None
        tables = {table: ws.tables.content_hash(table, ws.key) for table in TABLES}
        stands = found is not None and found.settings == ws.fingerprint("") and found.tables == tables
        return found if stands and None not in tables.values() else None

    def write(self, ws: Workspace) -> None:
        """Keep it, once all tables are in place."""
        write_text_atomically(_path(ws), self.model_dump_json())


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many call sites came to which end; `external` includes builtins."""

    call_sites: int
    resolved: int
    external: int
    builtin: int
    ambiguous: int
    unknown: int
    by_reason: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, files: Mapping[str, ResolvedFile]) -> Self:
        """The sum over all files."""
        outcomes: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        for file in files.values():
            outcomes.update(file.outcomes)
            reasons.update(file.reasons)
        return cls(
            call_sites=outcomes.total(),
            resolved=outcomes[Outcome.RESOLVED],
            external=outcomes[Outcome.EXTERNAL] + outcomes[Outcome.BUILTIN],
            builtin=outcomes[Outcome.BUILTIN],
            ambiguous=outcomes[Outcome.AMBIGUOUS],
            unknown=outcomes[Outcome.UNKNOWN],
            by_reason=tuple(sorted(reasons.items())),
        )


def resolve(
    families: Sequence[LanguageFamily],
    last: Resolution | None,
    *,
    settings: str,
    progress: Progress = no_progress,
) -> tuple[Resolution, dict[str, EdgeTable]]:
    """What is known of each file now, and the edges of those that had to be resolved."""
    bases: dict[str, str] = {}
    files: dict[str, ResolvedFile] = {}
    tables: dict[str, EdgeTable] = {}
    total = sum(len(family.rows) for family in families)
    for family in families:
        facts = {path: _facts_hash(row) for path, row in family.rows.items()}
        known = {path: last.files[path] for path in facts if last and _stands(last, path, facts[path])}
        interfaces = {path: known[path].interface if path in known else family.interface(path) for path in facts}
        told = {path: file.telling for path, file in known.items()}
        bases[family.name] = hash_of([family.surroundings(), interfaces])
        if last is None or last.families.get(family.name) != bases[family.name]:
            known = {}
        changed = [path for path in facts if path not in known]
        telling = {path: told[path] if path in told else family.telling_names(path) for path in facts}
        for path, table in zip(changed, family.resolve(changed, telling), strict=True):
            if len(tables) % PROGRESS_EVERY == 0:
                progress("resolving references", len(tables), total)
            tables[path] = table
            known[path] = ResolvedFile(
                facts=facts[path],
                interface=interfaces[path],
                outcomes=dict(table.outcomes),
                reasons=dict(table.reasons),
                telling=telling[path],
            )
        files.update(known)
    return Resolution(settings=settings, families=bases, files=files), tables


def _stands(last: Resolution, path: str, facts: str) -> bool:
    return path in last.files and last.files[path].facts == facts


def _facts_hash(row: Row) -> str:
    return sha1_hex(f"{row['language']} {canonical_json(row['exports'])}\n{row['references']}")


def _path(ws: Workspace) -> Path:
    return ws.layout.memos(ws.key) / "call_graph.files.json"
