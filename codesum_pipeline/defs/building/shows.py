"""What a person sees of a table: a few rows as Markdown, and a picture where it says more.

Each is a function of the table's content alone, so that what an unchanged
table showed last time still holds.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codesum_pipeline.defs.building.plots import bars, histogram, lines
from codesum_pipeline.defs.building.report_values import index_values
from codesum_pipeline.defs.building.values import PLOT, PREVIEW, Markdown, Value, Values
from codesum_pipeline.evaluation.evaluate import ALL, CODE_ONLY, EACH_LANE, NDCG
from codesum_pipeline.evaluation.lift import lift_markdown
from codesum_pipeline.evaluation.records import last_lift
from codesum_pipeline.indexes.version_folder import read_version
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.markdown import table
from codesum_pipeline.model.scip import IndexFile
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace

if TYPE_CHECKING:
    import duckdb

_ROWS = 8
_LENGTH_STEP = 50


def show_files(ws: Workspace) -> Values:
    """Languages, how many files were skipped for which reason, and which indexes of compilers were found."""
    with ws.connect("files") as connection:
        languages = _rows(
            connection,
            """SELECT language, count(*) FILTER (status = 'indexed') AS indexed,
                      count(*) FILTER (status = 'skipped') AS skipped, sum(size) FILTER (status = 'indexed')
               FROM files GROUP BY language ORDER BY indexed DESC, language LIMIT ?""",
        )
        skipped = dict(
            connection.execute(
                "SELECT reason, count(*) FROM files WHERE status = 'skipped' GROUP BY reason ORDER BY reason"
            ).fetchall()
        )
    preview = Markdown(table(["language", "indexed", "skipped", "bytes"], languages))
    indexes = index_values(ws.tables.read_rows_or_empty("scip_indexes", ws.key, IndexFile))
    return {PREVIEW: preview, **indexes} | ({PLOT: Markdown(bars("skipped because", skipped))} if skipped else {})


def show_symbols(ws: Workspace) -> Values:
    """The most complex definitions."""
    with ws.connect("symbols") as connection:
        rows = _rows(
            connection,
            """SELECT id, type, complexity, line_count, coalesce(split_part(docstring, chr(10), 1), '')
               FROM symbols ORDER BY complexity DESC, id LIMIT ?""",
        )
    return {PREVIEW: Markdown(table(["most complex", "type", "complexity", "lines", "docstring"], rows))}


def show_edges(ws: Workspace) -> Values:
    """The most used definitions, and how targets were found."""
    with ws.connect("edges") as connection:
        rows = _rows(
            connection,
            """SELECT dst, sum(count) AS uses, count(DISTINCT src_id) FROM edges
               WHERE NOT is_external AND kind = 'call' GROUP BY dst ORDER BY uses DESC, dst LIMIT ?""",
        )
        reasons = dict(
            connection.execute("SELECT reason, count(*) FROM edges GROUP BY reason ORDER BY reason").fetchall()
        )
    preview = Markdown(table(["most called", "calls", "callers"], rows))
    return {PREVIEW: preview} | ({PLOT: Markdown(bars("edges found by", reasons))} if reasons else {})


def show_plan(ws: Workspace) -> Values:
    """The first documents to be written, and how many for which cause."""
    with ws.connect("plan") as connection:
        rows = _rows(
            connection,
            """SELECT id, level, action, cause, array_to_string(cause_ids[1:3], ', ') FROM plan
               WHERE action <> 'keep' ORDER BY level, id LIMIT ?""",
        )
        causes = dict(
            connection.execute(
                """SELECT level || ' · ' || action || coalesce(' · ' || cause, ''), count(*) FROM plan
                   GROUP BY ALL ORDER BY 1"""
            ).fetchall()
        )
    preview = Markdown(table(["document", "level", "action", "cause", "because of"], rows))
    return {PREVIEW: preview} | ({PLOT: Markdown(bars("level · action · cause", causes))} if causes else {})


def show_functions(ws: Workspace) -> Values:
    """Some functions' texts."""
    return _show_texts(ws, Level.FUNCTION)


def show_classes(ws: Workspace) -> Values:
    """Some classes' texts."""
    return _show_texts(ws, Level.CLASS)


def show_file_texts(ws: Workspace) -> Values:
    """Some files' texts."""
    return _show_texts(ws, Level.FILE)


def show_modules(ws: Workspace) -> Values:
    """Some modules' texts."""
    return _show_texts(ws, Level.MODULE)


def show_documents(ws: Workspace) -> Values:
    """The longest summary of each level, and how long summaries are."""
    with ws.connect("documents") as connection:
        rows = _rows(
            connection,
            """SELECT id, type, summary, business_intent, array_to_string(keywords, ', ') FROM documents
               WHERE NOT is_placeholder
               QUALIFY row_number() OVER (PARTITION BY type ORDER BY length(summary) DESC, id) <= 2
               ORDER BY type, id LIMIT ?""",
        )
        lengths = connection.execute(
            "SELECT length(summary) // ? AS step, count(*) FROM documents WHERE NOT is_placeholder GROUP BY step",
            [_LENGTH_STEP],
        ).fetchall()
    preview = Markdown(table(["document", "level", "summary", "intent", "keywords"], rows))
    return {PREVIEW: preview} | ({PLOT: Markdown(_lengths(dict(lengths)))} if lengths else {})


def show_vectors(ws: Workspace) -> Values:
    """How many vectors each lane and level has."""
    return _show_lanes(ws, "vectors")


def show_terms(ws: Workspace) -> Values:
    """How many texts each lane and level has."""
    return _show_lanes(ws, "terms")


def show_candidate(ws: Workspace) -> Values:
    """The files of the version folder."""
    digest = ws.tables.read("candidate", ws.key).column("digest")[0].as_py()
    files = read_version(ws.layout.versions(ws.key) / digest).manifest["files"]
    rows = [(name, entry["bytes"], entry["sha256"][:12]) for name, entry in sorted(files.items())]
    return {PREVIEW: Markdown(table(["file", "bytes", "sha256"], rows))}


def show_overview(ws: Workspace) -> Values:
    """The page."""
    pages = ws.tables.read("overviews", ws.key, columns=["page"]).column("page").to_pylist()
    return {PREVIEW: Markdown(pages[0])} if pages else {}


def _show_texts(ws: Workspace, level: Level) -> Values:
    with ws.connect(texts_table(level)) as connection:
        rows = _rows(
            connection,
            f"""SELECT id, text.summary, purpose_source, cause FROM {texts_table(level)}
                WHERE written_by <> 'placeholder' ORDER BY md5(id), id LIMIT ?""",
        )
    return {PREVIEW: Markdown(table(["document", "summary", "purpose from", "last written because"], rows))}


def _show_lanes(ws: Workspace, name: str) -> Values:
    with ws.connect(name, "documents") as connection:
        rows = _rows(
            connection,
            f"""SELECT lane, type, count(*), count(DISTINCT {name}.text_hash) FROM {name} JOIN documents USING (id)
                GROUP BY lane, type ORDER BY lane, type LIMIT ?""",
            limit=40,
        )
    return {PREVIEW: Markdown(table(["lane", "level", "documents", "different texts"], rows))}


def _lengths(counts: Mapping[int, int]) -> str:
    steps = range(max(counts) + 1)
    edges = [float(step * _LENGTH_STEP) for step in range(len(steps) + 1)]
    return histogram("characters of a summary", edges, [counts.get(step, 0) for step in steps])


def _rows(connection: "duckdb.DuckDBPyConnection", query: str, *, limit: int = _ROWS) -> list[tuple[Any, ...]]:
    return connection.execute(query, [limit]).fetchall()


LIFT = "lift"
_EVALUATIONS_SHOWN = 30
_NOT_MEASURED = "Not measured: `evaluation.enabled` is false."


def show_evaluation(ws: Workspace) -> Values:
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
