"""What a person sees of an evaluation: its figures as Markdown, and nDCG over time."""

import dagster as dg

from codesum_pipeline.defs.markdown import table
from codesum_pipeline.defs.plots import lines
from codesum_pipeline.defs.shows import PLOT, PREVIEW, Shown
from codesum_pipeline.evaluation.evaluate import ALL, EACH_LANE
from codesum_pipeline.evaluation.scores import NDCG
from codesum_pipeline.store.workspace import Workspace

_EVALUATIONS_SHOWN = 30
_NOT_MEASURED = "Not measured: `evaluation.enabled` is false."


def show_evaluation(ws: Workspace) -> Shown:
    """The figures of the last evaluation, and nDCG@10 of all lanes and of each alone over the last ones."""
    if not ws.options.evaluation.enabled:
        return {PREVIEW: dg.MetadataValue.md(_NOT_MEASURED)}
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
            for setup in (ALL, *EACH_LANE)
        }
    figures = dg.MetadataValue.md(table(["asked", "category", "measure", "questions", "mean", "from", "to"], rows))
    drawn = {name: values for name, values in series.items() if values}
    return {PREVIEW: figures} | ({PLOT: dg.MetadataValue.md(lines("nDCG@10 over evaluations", drawn))} if drawn else {})
