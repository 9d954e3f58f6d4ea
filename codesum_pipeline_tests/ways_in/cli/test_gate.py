"""What `codesum index` and `codesum status` say of an index that the promotion gate holds back."""

import json

import pytest

from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question, write_questions

QUERIES = (
    "charge the card and remember the order", "add up the prices of a basket", "prices with tax", "ask the bank",
    "keeps the orders of one day", "money three times at most", "payment by card", "from basket to invoice",
    "the bank does not answer", "an order needs a price",
)  # fmt: skip
GATED = '[evaluation]\nenabled = true\ngate = true\nquestions = "questions.jsonl"\n'


@pytest.mark.slow
def test_a_held_index_is_said_once_built_and_not_built_again_until_forced(codesum, own_shop):
    targets = (AnswerPlace("shop/orders.py"), AnswerPlace("shop/payment.py"))
    write_questions(own_shop / "questions.jsonl", [Question(query, query, targets) for query in QUERIES])
    settings = own_shop / "codesum.toml"
    settings.write_text('skip_patterns = ["shop/"]\n' + GATED)

    held = codesum(own_shop, "index", "shop")
    again = codesum(own_shop, "index", "shop")
    as_json = json.loads(codesum(own_shop, "index", "shop", "--json").stdout)
    status = json.loads(codesum(own_shop, "status", "shop", "--json").stdout)
    forced = json.loads(codesum(own_shop, "index", "shop", "--force", "--json").stdout)

    why = "the new index answers 10 questions worse than the published one: 0.000 against "
    assert (held.exit_code, again.exit_code) == (0, 0)
    assert "held back, the last version stays published" in held.stdout
    assert why in " ".join(held.stderr.split())
    assert again.stdout.startswith(f"shop: held back at {as_json['commit'][:10]}: {why}")
    assert (as_json["run_id"], as_json["up_to_date"], as_json["message"][: len(why)]) == (None, False, why)
    assert (status["state"], status["why"]) == ("held back", as_json["message"])
    assert (forced["run_id"] is not None, forced["held"], forced["message"]) == (True, True, as_json["message"])
    assert json.loads(codesum(own_shop, "search", "charge the card", "--json").stdout.splitlines()[0])
