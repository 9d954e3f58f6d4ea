"""What a plan says about embedding before anything is paid."""

from pathlib import Path

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Level, PlanAction, PlanRow
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.lanes.dense import EmbeddingPlan, embed_documents, plan_embedding
from codesum_pipeline_tests.support.settings import DEFAULTS, changed
from codesum_pipeline_tests.support.synthetic_indexes import make_index_workspace

STATIC = load_embedder("static").model_id
ROWS = tuple(
    PlanRow(
        id=id_,
        level=Level.FUNCTION,
        action=action,
        cause=None,
        cause_ids=(),
        writer=None,
        summary_hash=None,
        context_changed=False,
    )
    for id_, action in (
        ("shop/cart.py::add_item", PlanAction.KEEP),
        ("shop/cart.py::total_price", PlanAction.WRITE),
        ("shop/gone.py::f", PlanAction.REMOVE),
    )
)


def test_what_is_rewritten_is_embedded_and_costs_nothing_here(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    embed_documents(workspace)

    planned = plan_embedding(workspace, ROWS)

    # 93 characters of source in one lane, about 300 of words in two, at three characters a token.
    assert planned == EmbeddingPlan(STATIC, replaces=None, texts=2, tokens=(93 + 2 * 300) // 3, expected_usd=0.0)


def test_another_model_embeds_everything_and_says_which_one_it_replaces(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path)
    embed_documents(workspace)
    settings = changed(DEFAULTS, embedder="text-embedding-3-small")

    planned = plan_embedding(replace(workspace, settings=settings), ROWS)

    # The two functions that stay, in the two lanes that are made where no other is asked for.
    assert (planned.replaces, planned.texts) == (STATIC, 4)
    assert planned.model.startswith("litellm/text-embedding-3-small@")
    assert planned.expected_usd == planned.tokens * 2e-08


def test_the_cost_of_a_model_without_a_listed_price_is_unknown(tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path, settings=changed(DEFAULTS, embedder="litellm/openai/own"))

    assert plan_embedding(workspace, ROWS).expected_usd is None
