"""What a person sees of a step's table: a few rows as Markdown, and a picture where it says more.

Each is a function of the table's content alone, so that what an unchanged
table showed last time still holds.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from codesum_pipeline.defs.building.plots import bars, histogram, lines
from codesum_pipeline.defs.building.report_values import index_values
from codesum_pipeline.defs.building.values import PLOT, PREVIEW, Markdown, Value, Values
from codesum_pipeline.evaluation.evaluate import ALL, CODE_ONLY, EACH_LANE, NDCG
from codesum_pipeline.evaluation.lift import lift_markdown
from codesum_pipeline.evaluation.records import last_lift
from codesum_pipeline.indexes.version_folder import read_version
from codesum_pipeline.model.documents import LEVELS
from codesum_pipeline.model.markdown import table
from codesum_pipeline.model.scip import IndexFile
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace

_ROWS = 8
_LENGTH_STEP = 50


class TablePreview(Struct, frozen=True):
    """What is shown of some tables: rows that a query selects, below these heads, and a bar for each row of `bars`."""

    tables: Sequence[str]
    heads: Sequence[str]
    query: str
    limit: int = _ROWS
    counted: str = ""
    bars: str = ""

    def __call__(self, ws: Workspace) -> Values:
        with ws.connect(*self.tables) as connection:
            rows = connection.execute(f"{self.query} LIMIT {self.limit}").fetchall()
            counts = dict(connection.execute(self.bars).fetchall()) if self.bars else {}
        preview = Markdown(table(self.heads, rows))
        return {PREVIEW: preview} | ({PLOT: Markdown(bars(self.counted, counts))} if counts else {})


_FILES = TablePreview(
    ["files"],
    ["language", "indexed", "skipped", "bytes"],
    """SELECT language, count(*) FILTER (status = 'indexed') AS indexed,
              count(*) FILTER (status = 'skipped') AS skipped, sum(size) FILTER (status = 'indexed')
       FROM files GROUP BY language ORDER BY indexed DESC, language""",
    counted="skipped because",
    bars="SELECT reason, count(*) FROM files WHERE status = 'skipped' GROUP BY reason ORDER BY reason",
)
_DOCUMENTS = TablePreview(
    ["documents"],
    ["document", "level", "summary", "intent", "keywords"],
    """SELECT id, type, summary, business_intent, array_to_string(keywords, ', ') FROM documents
       WHERE NOT is_placeholder
       QUALIFY row_number() OVER (PARTITION BY type ORDER BY length(summary) DESC, id) <= 2 ORDER BY type, id""",
)


def _show_files(ws: Workspace) -> Values:
    """Languages, how many files were skipped for which reason, and which indexes of compilers were found."""
    return {**_FILES(ws), **index_values(ws.tables.read_rows_or_empty("scip_indexes", ws.key, IndexFile))}


def _show_documents(ws: Workspace) -> Values:
    """The longest summaries of each level, and how long summaries are."""
    with ws.connect("documents") as connection:
        lengths = connection.execute(
            "SELECT length(summary) // ? AS step, count(*) FROM documents WHERE NOT is_placeholder GROUP BY step",
            [_LENGTH_STEP],
        ).fetchall()
    return {**_DOCUMENTS(ws), **({PLOT: Markdown(_lengths(dict(lengths)))} if lengths else {})}


def _texts_of(name: str) -> TablePreview:
    """Some texts of a level."""
    return TablePreview(
        [name],
        ["document", "summary", "purpose from", "last written because"],
        f"""SELECT id, text.summary, purpose_source, cause FROM {name}
            WHERE written_by <> 'placeholder' ORDER BY md5(id), id""",
    )


def _lanes_of(name: str) -> TablePreview:
    """How much each lane and level has."""
    return TablePreview(
        [name, "documents"],
        ["lane", "level", "documents", "different texts"],
        f"""SELECT lane, type, count(*), count(DISTINCT {name}.text_hash) FROM {name} JOIN documents USING (id)
            GROUP BY lane, type ORDER BY lane, type""",
        limit=40,
    )


def _show_candidate(ws: Workspace) -> Values:
    """The files of the version folder."""
    digest = ws.tables.read("candidate", ws.key).column("digest")[0].as_py()
    files = read_version(ws.layout.versions(ws.key) / digest).manifest["files"]
    rows = [(name, entry["bytes"], entry["sha256"][:12]) for name, entry in sorted(files.items())]
    return {PREVIEW: Markdown(table(["file", "bytes", "sha256"], rows))}


def _show_overview(ws: Workspace) -> Values:
    """The page."""
    pages = ws.tables.read("overviews", ws.key, columns=["page"]).column("page").to_pylist()
    return {PREVIEW: Markdown(pages[0])} if pages else {}


def _lengths(counts: Mapping[int, int]) -> str:
    steps = range(max(counts) + 1)
    edges = [float(step * _LENGTH_STEP) for step in range(len(steps) + 1)]
    return histogram("characters of a summary", edges, [counts.get(step, 0) for step in steps])


LIFT = "lift"
_EVALUATIONS_SHOWN = 30
_NOT_MEASURED = "Not measured: `evaluation.enabled` is false."


def _show_evaluation(ws: Workspace) -> Values:
    """The figures and the lift ledger of the last evaluation, and nDCG@10 over the last ones: of all lanes, of each
    alone, and of code alone."""
    if not ws.settings.evaluation.enabled:
        return {PREVIEW: Markdown(_NOT_MEASURED)}
    with ws.connect("evaluations") as connection:
        rows = connection.execute(
            """SELECT setup, category, metric, questions, round(mean, 3), round(low, 3), round(high, 3) FROM evaluations
               WHERE sequence = (SELECT max(sequence) FROM evaluations) AND (setup = ? OR metric = ?)
               ORDER BY setup <> ?, setup, category <> 'all', category, metric""",
            [ALL.name, NDCG, ALL.name],
        ).fetchall()
        series = {
            setup.name: [
                mean
                for (mean,) in connection.execute(
                    """SELECT mean FROM evaluations WHERE setup = ? AND metric = ? AND category = 'all'
                       AND questions > 0 AND sequence > (SELECT max(sequence) FROM evaluations) - ?
                       ORDER BY sequence""",
                    [setup.name, NDCG, _EVALUATIONS_SHOWN],
                ).fetchall()
            ]
            for setup in (ALL, CODE_ONLY, *EACH_LANE)
        }
    figures = Markdown(table(["asked", "category", "measure", "questions", "mean", "from", "to"], rows))
    shown: dict[str, Value] = {PREVIEW: figures}
    if (lift := last_lift(ws)).rows:
        shown[LIFT] = Markdown(lift_markdown(lift))
    if drawn := {name: values for name, values in series.items() if values}:
        shown[PLOT] = Markdown(lines("nDCG@10", drawn))
    return shown


# By step.
SHOWS: Mapping[str, Callable[[Workspace], Values]] = {
    "repo_snapshot": _show_files,
    "symbols": TablePreview(
        ["symbols"],
        ["most complex", "type", "complexity", "lines", "docstring"],
        """SELECT id, type, complexity, line_count, coalesce(split_part(docstring, chr(10), 1), '')
           FROM symbols ORDER BY complexity DESC, id""",
    ),
    "call_graph": TablePreview(
        ["edges"],
        ["most called", "calls", "callers"],
        """SELECT dst, sum(count) AS uses, count(DISTINCT src_id) FROM edges
           WHERE NOT is_external AND kind = 'call' GROUP BY dst ORDER BY uses DESC, dst""",
        counted="edges found by",
        bars="SELECT reason, count(*) FROM edges GROUP BY reason ORDER BY reason",
    ),
    "summary_plan": TablePreview(
        ["plan"],
        ["document", "level", "action", "cause", "because of"],
        """SELECT id, level, action, cause, array_to_string(cause_ids[1:3], ', ') FROM plan
           WHERE action <> 'keep' ORDER BY level, id""",
        counted="level · action · cause",
        bars="""SELECT level || ' · ' || action || coalesce(' · ' || cause, ''), count(*) FROM plan
                GROUP BY ALL ORDER BY 1""",
    ),
    **{f"{level}_summaries": _texts_of(texts_table(level)) for level in LEVELS},
    "summary_documents": _show_documents,
    "dense_index": _lanes_of("vectors"),
    "sparse_index": _lanes_of("terms"),
    "index_candidate": _show_candidate,
    "retrieval_evaluation": _show_evaluation,
    "repo_overview": _show_overview,
}
