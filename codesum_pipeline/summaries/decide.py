"""Which texts are written again, and why: one query, the same for every level.

A text is a function of its id, its writer and what that writer is shown. The
`summary_hash` covers the last two, so a text is kept exactly where id and
`summary_hash` stand as they did; the rest of the query only names the cause.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codesum_pipeline.model.documents import Cause, ChildPair, Level
from codesum_pipeline.store.rows import to_table
from codesum_pipeline.store.schemas import texts_table

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document that must exist, and the hashes of what its writer is shown."""

    id: str
    writer: str
    own_hash: str
    children: tuple[ChildPair, ...]
    summary_hash: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One text that is written, why, and the ids that caused it."""

    id: str
    cause: Cause
    cause_ids: tuple[str, ...]


# A text that had been removed and returns unchanged is "restored". What a document itself shows
# outranks its children as a cause, since it would have caused the rewrite alone.
_QUERY = """
SELECT
    w.id AS id,
    p.summary_hash IS NOT DISTINCT FROM w.summary_hash AS is_kept,
    CASE
        WHEN p.id IS NULL AND h.id IS NOT NULL THEN 'restored'
        WHEN p.id IS NULL THEN 'new'
        WHEN p.own_hash <> w.own_hash THEN 'content'
        WHEN p.children <> w.children THEN 'child'
        ELSE 'settings'
    END AS cause,
    CASE WHEN is_kept OR p.id IS NULL THEN NULL ELSE w.children END AS children,
    CASE WHEN is_kept OR p.id IS NULL THEN NULL ELSE p.children END AS previous
FROM wanted AS w
LEFT JOIN {texts} AS p ON p.id = w.id
LEFT JOIN (
    SELECT DISTINCT id, summary_hash FROM document_history WHERE level = ? AND event = 'written'
) AS h ON h.id = w.id AND h.summary_hash = w.summary_hash
ORDER BY w.id
"""


def decide(
    connection: "duckdb.DuckDBPyConnection", level: Level, wanted: Sequence[Wanted], *, force: bool
) -> list[Rewrite]:
    """What to write of `wanted`, sorted by id, given the views of the last build; the rest is kept."""
    connection.register("wanted", to_table(wanted, Wanted))
    found = connection.sql(_QUERY.format(texts=texts_table(level)), params=[level.value]).to_arrow_table()
    rewrites = []
    for row in found.to_pylist():
        if not row["is_kept"]:
            rewrites.append(Rewrite(row["id"], Cause(row["cause"]), _cause_ids(row)))
        elif force:
            rewrites.append(Rewrite(row["id"], Cause.FORCED, (row["id"],)))
    return rewrites


def removed(connection: "duckdb.DuckDBPyConnection", level: Level, wanted_ids: Collection[str]) -> list[str]:
    """The ids that have a text from the last build and must not exist any more."""
    rows = connection.execute(f"SELECT id FROM {texts_table(level)} ORDER BY id").fetchall()
    return [id_ for (id_,) in rows if id_ not in wanted_ids]


def _cause_ids(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The document itself, unless only its children changed: then those that came, went or read otherwise."""
    if row["cause"] != Cause.CHILD:
        return (row["id"],)
    now = {(child["id"], child["text_hash"]) for child in row["children"]}
    before = {(child["id"], child["text_hash"]) for child in row["previous"]}
    return tuple(sorted({id_ for id_, _ in now ^ before}))
