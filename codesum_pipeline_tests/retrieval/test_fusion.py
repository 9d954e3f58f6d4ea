import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.retrieval.fusion import RANK_OFFSET, fuse_ranks

RANKINGS = st.dictionaries(
    st.sampled_from(["code", "summary", "keywords"]), st.lists(st.integers(0, 20), unique=True), min_size=1
)
WEIGHTS = {"code": 1.0, "summary": 0.5, "keywords": 2.0}


def test_a_document_that_leads_every_ranking_scores_one() -> None:
    fused = fuse_ranks({"code": ["a", "b"], "summary": ["a"]}, WEIGHTS)

    assert (fused[0].document, fused[0].ranks) == ("a", {"code": 1, "summary": 1})
    assert fused[0].score == pytest.approx(1.0)


def test_a_score_is_the_weighted_sum_of_reciprocal_ranks() -> None:
    fused = fuse_ranks({"code": ["a", "b"], "summary": ["b"]}, WEIGHTS)

    best = 1.5 / (RANK_OFFSET + 1)
    expected = (1.0 / (RANK_OFFSET + 2) + 0.5 / (RANK_OFFSET + 1)) / best
    assert {item.document: item.score for item in fused}["b"] == pytest.approx(expected)


def test_agreement_of_two_lanes_beats_the_lead_in_one() -> None:
    fused = fuse_ranks({"code": ["a", "b"], "keywords": ["c", "b"]}, {"code": 1.0, "keywords": 1.0})

    assert [item.document for item in fused] == ["b", "a", "c"]


def test_ties_break_by_document() -> None:
    fused = fuse_ranks({"code": ["b"], "keywords": ["a"]}, {"code": 1.0, "keywords": 1.0})

    assert [item.document for item in fused] == ["a", "b"]


@given(RANKINGS)
def test_every_ranked_document_is_there_once_best_first(rankings: dict[str, list[int]]) -> None:
    fused = fuse_ranks(rankings, WEIGHTS)

    assert sorted(item.document for item in fused) == sorted({d for ranking in rankings.values() for d in ranking})
    assert [(-item.score, item.document) for item in fused] == sorted((-item.score, item.document) for item in fused)
    assert all(0 < item.score <= 1 + 1e-9 for item in fused)


@given(RANKINGS)
def test_the_order_of_the_lanes_does_not_matter(rankings: dict[str, list[int]]) -> None:
    forward, backward = fuse_ranks(rankings, WEIGHTS), fuse_ranks(dict(reversed(rankings.items())), WEIGHTS)

    assert [(item.document, item.score) for item in forward] == [(item.document, item.score) for item in backward]


@given(st.lists(st.integers(0, 50), unique=True))
def test_a_single_lane_keeps_its_order(ranking: list[int]) -> None:
    assert [item.document for item in fuse_ranks({"code": ranking}, WEIGHTS)] == ranking


@given(RANKINGS, st.sampled_from(["code", "summary", "keywords"]))
def test_to_be_ranked_first_by_one_more_lane_never_hurts(rankings: dict[str, list[int]], lane: str) -> None:
    document = 99
    before = {"code": [document], **{name: [d for d in r if d != document] for name, r in rankings.items()}}
    before["code"] = [document, *before["code"]] if document not in before["code"] else before["code"]
    after = {**before, lane: [document, *(d for d in before.get(lane, []) if d != document)]}

    def place(rankings: dict[str, list[int]]) -> int:
        weights = dict.fromkeys(rankings, 1.0)
        return [item.document for item in fuse_ranks(rankings, weights)].index(document)

    assert place(after) <= place(before)
