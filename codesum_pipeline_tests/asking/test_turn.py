"""A turn: tools, the synthesis and the answer, played by a scripted model over real HTTP."""

from codesum_pipeline_tests.asking.conftest import Shop
from codesum_pipeline_tests.asking.shop import ENDINGS
from codesum_pipeline_tests.llm.server import Asked, Behaviour
from codesum_pipeline_tests.llm.server.streaming import Calls, Streams

OVERVIEW = Calls("get_codebase_overview", {"repo": "shop"})
SYNTHESIS = Streams(ENDINGS["overview"])


def is_synthesis(asked: Asked) -> bool:
    return "tools" not in asked.body


def overview_then(*behaviours: Behaviour):
    """The model asks for the overview; the synthesis and what follows behave so, in this order."""
    given = [Streams("Let me look.", [OVERVIEW]), *behaviours]
    return lambda asked: given[asked.number - 1]


def test_a_question_about_the_codebase_is_answered_by_a_synthesis_of_its_overview(shop: Shop) -> None:
    shop.server.script = overview_then(SYNTHESIS)

    answer = shop.ask()

    assert (answer.text, answer.failed, answer.is_synthesis) == (ENDINGS["overview"], None, True)
    assert shop.states() == [
        ("user", "complete", None),
        ("assistant", "complete", None),
        ("tool", "complete", None),
        ("assistant", "complete", None),
        ("turn", "complete", None),
    ]
    assert shop.kinds() == ["text", "step_start", "text", "tool_call", "tool_result", "synthesis"]
    passed = shop.parts("synthesis")[0]
    assert passed["tool"] == "get_codebase_overview"
    assert set(passed["files"]) >= {"shop/orders.py", "shop/payment.py"}
    assert passed["documents"] == ["README.md", "AGENTS.md", "shop_roadmap.md", "CONTEXT.md"]
    assert passed["characters"] == len(ENDINGS["overview"])
    assert passed["prompt_tokens"] > 0
    assert [is_synthesis(asked) for asked in shop.server.seen] == [False, True]
