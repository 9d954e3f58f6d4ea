"""`codesum explain`: why a document was last written, as the chain of causes."""

from collections.abc import Sequence

from rich.text import Text
from rich.tree import Tree

from codesum_pipeline.foundation.data_model.printable import count_noun, one_line
from codesum_pipeline.texts.summaries.text_history import ExplainStep
from codesum_pipeline.texts.summaries.text_history import explain_text as explain_document
from codesum_pipeline.ways_in.cli.compaction_views import compactions_of_document
from codesum_pipeline.ways_in.cli.document_views import failure_and_price, find_document, name_for_people
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import SHORT_COMMIT, make_fields, print_json, show_parts

_PUBLISHED = ("written_by", "model", "prompt_version", "gate")
_OF_STEP = ("depth", "more_causes", "is_edge", "is_unwritten")
_OF_ROW = (
    "id", "level", "event", "cause", "cause_ids", "commit", "run_id", "written_at", "cost_usd", "written_by", "writer",
)  # fmt: skip


def explain(invocation: Invocation, id: str, repo: str | None = None, as_json: bool = False) -> None:
    """Show why a document was last rewritten, as the chain of causes.

    Each line is one rewrite: the document, why it was written again, at which commit,
    in which run, when, by which writer and at what price. Below it stand the rewrites that caused it, five at most and
    the number of the others; and the neighbours in the graph whose new edges made a model's context another one.
    """
    found = find_document(invocation, id, repo=repo)
    document = found.document()
    writing = {name: document[name] for name in _PUBLISHED}
    writing |= failure_and_price(invocation.layout, found.repo, document)
    steps = explain_document(invocation.home.workspace(found.repo, run_id="explain"), found.id)
    compacted = compactions_of_document(invocation, found.repo, found.id)
    if as_json:
        values = [
            {name: getattr(step, name) for name in _OF_STEP} | {name: getattr(step.row, name) for name in _OF_ROW}
            for step in steps
        ]
        print_json({"repo": found.repo, "id": found.id, "steps": values, **writing, "compactions": compacted})
        return
    # Which earlier rows a text replaced.
    earlier = [
        f"{count_noun(each['rows'], 'earlier row')} ({each['policy']}), at {each['compacted_at']} by {each['job_id']}"
        for each in compacted
    ]
    show_parts(_tree(steps), make_fields(name_for_people(writing) | {"compacted": earlier}))


def _tree(steps: Sequence[ExplainStep]) -> Tree:
    """Steps come in order, each one level below the last step of a smaller depth."""
    root = Tree(_line(steps[0]))
    path = [root]
    for step in steps[1:]:
        del path[step.depth :]
        path.append(path[-1].add(_line(step)))
    return root


def _line(step: ExplainStep) -> Text:
    """One rewrite, or a cause that is none."""
    row, is_rewrite = step.row, not (step.is_edge or step.is_unwritten)
    cause = f": {row.cause}" if row.cause else ""
    what = f"{row.event}{cause}" if is_rewrite else "it came or changed; its own text was not written"
    what = "its edge to the text above is new" if step.is_edge else what
    price = f"${row.cost_usd:.4f}" if row.cost_usd else "free"
    details = [f"commit {row.commit[:SHORT_COMMIT]}", f"run {row.run_id[:SHORT_COMMIT]}"]
    details += [row.written_at, row.writer, price] if is_rewrite else []
    return Text.assemble(
        (one_line(row.id), "bold"),
        (f"  {row.level}" if is_rewrite else "", "dim"),
        (f"  {what}", "yellow"),
        (f"  {one_line(' · '.join(details))}", "dim"),
        (f"  and {step.more_causes:,} more causes" if is_rewrite and step.more_causes else "", "dim"),
    )
