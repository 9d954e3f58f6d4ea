"""What compilers' indexes were worth to a step, as values; nothing where a repository has none."""

from collections.abc import Iterable

from codesum_pipeline.defs.building.plots import bars
from codesum_pipeline.defs.building.values import Markdown, Value
from codesum_pipeline.graph.compiled.edges import Disagreement
from codesum_pipeline.graph.compiled.merging import Agreement
from codesum_pipeline.model.markdown import table
from codesum_pipeline.model.scip import IndexFile
from codesum_pipeline.parsing.symbols import CompiledReport

_MOST_CAUSES = 20
_MOST_EXAMPLES = 10
# What the graph does not know the language of is in one that no parser reads.
_NO_LANGUAGE = "other"


def index_values(indexes: Iterable[IndexFile]) -> dict[str, Value]:
    """The indexes that were found, in their order."""
    rows = [(one.origin, one.root or ".", f"{one.size:,}", one.problem or "taken in") for one in indexes]
    return {"scip_files": Markdown(table(["index", "of folder", "bytes", "state"], rows))} if rows else {}


def compiled_values(found: CompiledReport) -> dict[str, Value]:
    """Of how many files indexes tell, and what of them does not count."""
    if not (found.counting or found.stale or found.problems):
        return {}
    values: dict[str, Value] = {
        "index_files": found.counting,
        "index_files_stale": found.stale,
        "index_files_misspelled": found.misnamed,
    }
    tables = {
        "index_tools": (["written by", "files"], found.by_tool.items()),
        "index_stale_examples": (["file of another text", "why its document does not count"], found.ignored),
        "index_problems": (["index", "problem"], found.problems),
    }
    for name, (heads, rows) in tables.items():
        if rows:
            values[name] = Markdown(table(heads, [*rows][:_MOST_EXAMPLES]))
    return values


def disagreement_values(found: Disagreement, *, edges: int) -> dict[str, Value]:
    """How many of all `edges` are trusted, and where an index and the syntax say different things."""
    if not found.files:
        return {}
    by_index = found.trusted_edges + found.doubtful_edges
    languages = found.by_language()
    rows = [
        (
            language or _NO_LANGUAGE,
            *(f"{counts[verdict]:,}" for verdict in Agreement),
            _share(counts[Agreement.AGREE], counts),
        )
        for language, counts in languages.items()
    ]
    causes = [line for line in found.lines if line[1] != Agreement.AGREE][:_MOST_CAUSES]
    every = {str(verdict): sum(counts[verdict] for counts in languages.values()) for verdict in Agreement}
    return {
        "index_files": found.files,
        "edges_trusted": found.trusted_edges,
        "edges_doubtful": found.doubtful_edges,
        "edges_of_syntax": edges - by_index,
        "index_and_syntax": Markdown(table(["language", *Agreement, "of all, agree"], rows)),
        "index_and_syntax_plot": Markdown(bars("calls, imports and bases", every)),
        "index_disagreements": Markdown(
            table(
                ["language", "verdict", "cause", "count"],
                [
                    (language or _NO_LANGUAGE, verdict, cause, f"{count:,}")
                    for language, verdict, cause, count in causes
                ],
            )
        ),
    }


def _share(agreeing: int, counts: dict[str, int]) -> str:
    total = sum(counts.values())
    return f"{agreeing / total:.1%}" if total else ""
