"""What of a model's answer becomes the digest: claims with quotes that hold, and citations that are there."""

import json
from typing import Any

import pytest
from markdown_it import MarkdownIt

from codesum_pipeline.foundation.data_model.digest_record import DigestClaim, PostId, SummaryResult
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.foundation.store.sqlite_tables import read_json, to_json
from codesum_pipeline.notifications.delivery.dialects import CHAT, PLAIN, html_mail, write_body
from codesum_pipeline.notifications.delivery.posts import digest_post
from codesum_pipeline.notifications.digests.articles import QUOTE_RULE, fill_articles
from codesum_pipeline.notifications.digests.claims import CheckedClaims, digest_tool, read_claims, result_of
from codesum_pipeline.texts.llm.checking import AnswerProblem
from codesum_pipeline.texts.llm.pins import AnswerForm, SummaryResponse
from codesum_pipeline_tests.support.digest_items import GOOD_QUOTE, answer, claim, item

ITEMS = [
    item(1),
    item(2, name="close_session", after="Closes the session of a user.", lines=(None, None)),
    item(3, name="count_sessions", after="Counts the sessions that are open.", lines=(None, None)),
]
SHOWN = fill_articles(ITEMS, 100_000, LlmSettings(), about="a digest").shown
CLOSES, COUNTS = "Closes the session of a user.", "Counts the sessions that are open."


def read(*claims: dict[str, Any]) -> CheckedClaims:
    return read_text(answer(*claims))


def read_text(text: str, form: AnswerForm = AnswerForm.JSON_TEXT) -> CheckedClaims:
    return read_claims(SummaryResponse(text, False, None, "model"), form, SHOWN)


def digest_of(*claims: dict[str, Any]) -> SummaryResult:
    return result_of("sign-in", read(*claims), {n: each.citation for n, each in enumerate(ITEMS, 1)}, items=len(ITEMS))


def test_citations_are_in_the_order_of_their_first_use_and_unused_ones_are_dropped() -> None:
    result = digest_of(
        claim("Open sessions are counted.", 3, quote=COUNTS),
        claim("Sessions end sooner.", 1, 3, quote=GOOD_QUOTE),
    )

    assert result.summary == (
        "- Open sessions are counted [1].\n- Sessions end sooner [2][1].\n\n(Not in this digest: 1 of 3 changes.)"
    )
    assert result.citations == (ITEMS[2].citation, ITEMS[0].citation)
    assert result.primary == ITEMS[2].citation
    assert result.claims == (
        DigestClaim("Open sessions are counted.", (1,), COUNTS),
        DigestClaim("Sessions end sooner.", (2, 1), GOOD_QUOTE),
    )


def test_a_claim_whose_quote_stands_nowhere_is_dropped_and_counted_in_the_last_line() -> None:
    checked = read(
        claim("Sessions end sooner.", 1, quote=GOOD_QUOTE),
        claim("Passwords are kept in plain text.", 2, quote="store(password) in plain text"),
        claim("Users can sign in twice.", 3, quote="allow_twice = True"),
    )

    assert (len(checked.claims), checked.dropped) == (1, 2)
    result = result_of("sign-in", checked, {1: ITEMS[0].citation}, items=1)
    assert result.summary.splitlines()[-1] == (
        "(Not in this digest: 2 statements of the model without a quote from a change that it names.)"
    )


def test_a_quote_from_a_change_that_its_claim_does_not_cite_proves_nothing() -> None:
    checked = read(claim("Sessions end sooner.", 1, quote=GOOD_QUOTE), claim("They are counted.", 2, quote=COUNTS))

    assert checked.dropped == 1


def test_a_number_that_no_change_has_is_removed_and_reported() -> None:
    checked = read(claim("Sessions end sooner [99].", 1, 77, quote=GOOD_QUOTE))

    assert checked.claims == (DigestClaim("Sessions end sooner.", (1,), GOOD_QUOTE),)
    assert checked.removed_numbers == (77, 99)
    assert checked.dropped == 0


def test_a_claim_that_cites_only_changes_that_there_are_not_is_mended_where_its_quote_says_which_is_meant() -> None:
    checked = read(claim("Open sessions are counted.", 99, quote=COUNTS))

    assert checked.claims == (DigestClaim("Open sessions are counted.", (3,), COUNTS),)
    assert checked.removed_numbers == (99,)


def test_a_quote_that_stands_in_several_changes_does_not_say_which_is_meant() -> None:
    in_all = "Let sessions end on the same day"

    with pytest.raises(AnswerProblem, match="no quote stands"):
        read(claim("Sessions end sooner.", 99, quote=in_all))


def test_no_claim_left_is_a_problem_of_the_answer_and_no_empty_digest() -> None:
    with pytest.raises(AnswerProblem, match="no quote stands, letter by letter"):
        read(claim("Nothing of this is true.", 1, quote="words that stand nowhere at all"))


def test_a_model_is_told_the_rule_for_quotes_in_its_schema_and_of_those_that_are_too_short() -> None:
    quote = digest_tool().schema["properties"]["claims"]["items"]["properties"]["quote"]
    with pytest.raises(AnswerProblem) as problem:
        read(claim("They are counted.", 3, quote="of nobody at all"), claim("They are open.", 3, quote="are open."))

    assert quote["description"].endswith(f", {QUOTE_RULE}.")
    assert f", {QUOTE_RULE}. Too short, unless it is all of a text: `are open.` has 8" in str(problem.value)


def test_a_quote_is_as_long_as_the_rule_says_on_both_sides_of_it() -> None:
    assert read(claim("They are open.", 3, quote="that are open.")).claims
    with pytest.raises(AnswerProblem):
        read(claim("They are open.", 3, quote="that are open"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("", "empty", id="nothing"),
        pytest.param("Here is your digest: sessions end sooner.", "not valid JSON", id="words"),
        pytest.param("[1, 2]", "not valid JSON|not a JSON object", id="a list"),
        pytest.param('{"claims": []}', "at least 1 item", id="no claims"),
        pytest.param(answer()[:-20], "not valid JSON", id="cut off"),
        pytest.param(json.dumps({"claims": [{"text": "Sessions end."}]}), "citations", id="fields are missing"),
        pytest.param(answer(claim("Sessions end sooner. " * 50, 1, quote=GOOD_QUOTE)), "at most 500", id="too long"),
        pytest.param(answer(*[claim("Sessions end.", 1, quote=GOOD_QUOTE)] * 21), "at most 20", id="too many"),
    ],
)
def test_an_answer_of_another_form_goes_back_with_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(AnswerProblem, match=problem):
        read_text(text)


def test_words_and_fences_around_json_are_no_problem_where_json_is_asked_for_in_text() -> None:
    assert read_text(f"Here it is:\n```json\n{answer()}\n```\nGood luck!").dropped == 0


def test_a_tool_that_must_be_called_is_named_where_it_was_not() -> None:
    with pytest.raises(AnswerProblem, match="Call the tool emit_digest"):
        read_text("Sessions end sooner.", AnswerForm.TOOL)


def test_the_order_of_a_claims_fields_is_what_is_said_what_it_rests_on_and_its_proof() -> None:
    fields = digest_tool().schema["properties"]["claims"]["items"]["properties"]

    assert list(fields) == ["text", "citations", "quote"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("Sessions end sooner", "- Sessions end sooner [1]", id="without a period"),
        pytest.param("They end after 8 hours [1].", "- They end after 8 hours [1].", id="a citation in the words"),
        pytest.param("They end [1, 1] after [1][1] 8 h.", "- They end after 8 h [1].", id="several"),
        pytest.param("`argv[1]` is read, row[1] too.", r"- `argv[1]` is read, row\[1\] too [1].", id="an index"),
        pytest.param("**Sessions** end *now*.", r"- Sessions end \*now\* [1].", id="emphasis"),
        pytest.param("# Sessions end sooner.", "- Sessions end sooner [1].", id="a heading"),
        pytest.param("- Sessions end sooner.", "- Sessions end sooner [1].", id="an item of a list"),
        pytest.param("1. Sessions end sooner.", r"- 1\. Sessions end sooner [1].", id="an ordered item"),
        pytest.param("Sessions\n\n# end\n\nsooner.", "- Sessions # end sooner [1].", id="lines"),
        pytest.param("Sitzungen enden früher。", "- Sitzungen enden früher。 [1]", id="another period"),
    ],
)  # fmt: skip
def test_a_claim_becomes_one_line_with_its_citations_before_the_last_period(text: str, line: str) -> None:
    assert digest_of(claim(text, 1, quote=GOOD_QUOTE)).summary.splitlines()[0] == line


HOSTILE = [
    "<img src=x onerror=alert(1)> Sessions end sooner",
    "[Sessions](https://evil.example/a) end sooner",
    "![Sessions](https://evil.example/a.png) end sooner",
    "Look at https://evil.example/a or www.evil.example",
    "[x]: https://evil.example/a",
    "Sessions end sooner `</code><script>alert(1)</script>`",
    "Sessions \x1b[31mend\u202e sooner @everyone",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_html_links_and_images_of_a_model_are_letters_in_the_digest_and_in_each_channel(text: str) -> None:
    result = digest_of(claim(text, 1, quote=GOOD_QUOTE))
    post = digest_post(PostId("1"), result, links=[None], created_at="2026-03-01T00:00:00Z")

    tokens = MarkdownIt("commonmark", {"html": True, "linkify": False}).parse(result.summary)
    inner = {each.type for token in tokens for each in (token, *(token.children or ()))}

    assert not inner & {"link_open", "image", "html_inline", "html_block", "heading_open"}
    assert "https://evil" not in result.summary
    shown = [write_body(post, PLAIN), write_body(post, CHAT), html_mail(post)]
    assert not any(sign in part for part in shown for sign in ("\x1b", "\u202e"))
    assert not any(tag in html_mail(post) for tag in ("<img", "<script", 'evil.example/a"'))


def test_claims_in_another_language_are_taken_with_quotes_as_they_stand_in_the_code() -> None:
    result = digest_of(claim("Сеансы теперь заканчиваются через 8 часов.", 1, quote=GOOD_QUOTE))

    assert result.summary.splitlines()[0] == "- Сеансы теперь заканчиваются через 8 часов [1]."


def test_a_digest_is_kept_as_json_and_read_again_with_its_claims() -> None:
    result = digest_of(claim("Sessions end sooner.", 1, quote=GOOD_QUOTE))

    assert read_json(to_json(result), SummaryResult) == result
