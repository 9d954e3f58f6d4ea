"""What a person sees of an evaluation: its figures and lift ledger as Markdown, and nDCG over time."""

from codesum_pipeline.defs.building.plots import lines
from codesum_pipeline.defs.building.values import PLOT, PREVIEW, Markdown, Value, Values
from codesum_pipeline.evaluation.evaluate import ALL, CODE_ONLY, EACH_LANE, NDCG
from codesum_pipeline.evaluation.lift import lift_markdown
from codesum_pipeline.evaluation.records import last_lift
from codesum_pipeline.model.markdown import table
from codesum_pipeline.store.workspace import Workspace

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
