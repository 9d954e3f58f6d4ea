"""The tables of a repository's graph, with what compilers' indexes say."""

from collections import Counter, defaultdict
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.graph.compiled.merging import merge
from codesum_pipeline.graph.compiled.targets import IndexedFacts, load_facts
from codesum_pipeline.graph.trust import is_of_index, is_trusted
from codesum_pipeline.model.graph import CallRow, CompilerFile, Edge, EdgeKind
from codesum_pipeline.model.ids import SEPARATOR
from codesum_pipeline.store.rows import from_table, to_table
from codesum_pipeline.store.tables import TableStore


class Disagreement(Struct, frozen=True):
    """Where the index and the syntax say different things.

    Each line: language, verdict, cause, and how many calls, imports and bases. `files` are those compared.
    """

    files: int = 0
    trusted_edges: int = 0
    doubtful_edges: int = 0
    lines: tuple[tuple[str, str, str, int], ...] = ()

    def by_language(self) -> dict[str, Counter[str]]:
        """How often each verdict was given, by language."""
        found: dict[str, Counter[str]] = {}
        for language, verdict, _, count in sorted(self.lines):
            found.setdefault(language, Counter())[verdict] += count
        return found


def read_compiled(tables: TableStore, key: str) -> dict[str, IndexedFacts]:
    """By path, what the indexes say about the files for which they count."""
    rows = from_table(tables.read_or_empty("compiler_files", key), CompilerFile)
    return {facts.path: facts for facts in load_facts(rows)}


def with_compiled(
    own: pa.Table, sites: pa.Table, compiled: Mapping[str, IndexedFacts], languages: Mapping[str, str]
) -> tuple[pa.Table, Disagreement]:
    """All edges: those of the files for which an index counts are put together with it, the others stand."""
    paths = pa.array(sorted(compiled), pa.string())
    sources = pc.list_element(pc.split_pattern(own.column("src_id"), SEPARATOR, max_splits=1), 0)
    is_compiled = pc.is_in(sources, value_set=paths)
    merged = merge(
        [compiled[path] for path in sorted(compiled)],
        _calls(sites),
        _others(own.filter(is_compiled)),
        languages,
        languages.keys() - compiled.keys(),
    )
    edges = to_table(merged.edges, Edge)
    trusted, by_index = (pc.sum(found(edges)).as_py() or 0 for found in (is_trusted, is_of_index))
    lines = sorted(((*key, count) for key, count in merged.verdicts.items()), key=lambda line: (-line[3], line[:3]))
    disagreement = Disagreement(len(compiled), trusted, by_index - trusted, tuple(lines))
    return pa.concat_tables([own.filter(pc.invert(is_compiled)), edges]), disagreement


def _calls(sites: pa.Table) -> dict[str, list[CallRow]]:
    found: defaultdict[str, list[CallRow]] = defaultdict(list)
    for row in from_table(sites, CallRow):
        found[row.file_path].append(row)
    return found


def _others(edges: pa.Table) -> dict[str, list[Edge]]:
    """Imports and bases, by the file that has them."""
    found: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in from_table(edges.filter(pc.not_equal(edges["kind"], str(EdgeKind.CALL))), Edge):
        found[edge.src_id.partition(SEPARATOR)[0]].append(edge)
    return found
