import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.search.retrieval.weights import FusedRanking, Ranking, fuse_rankings

LANES = ("words", "meaning", "names")
WEIGHTS = {"words": 1.0, "meaning": 0.5, "names": 2.0}
rankings_of_documents = st.dictionaries(st.sampled_from(LANES), st.lists(st.integers(0, 9), unique=True))


def ranking_of(places: list[int], scores: list[float] | None = None) -> Ranking:
    """A ranking, with scores that fall by half where none are given."""
    falling = [0.5**place for place in range(len(places))] if scores is None else scores
    return Ranking(np.array(places, dtype=np.int64), np.array(falling))


def fused_of(rankings: dict[str, list[int]]) -> FusedRanking[str]:
    return fuse_rankings(
        {lane: ranking_of(places) for lane, places in rankings.items()}, WEIGHTS, offset=60, limit=100, count=100
    )


def scores_of(rankings: dict[str, list[int]]) -> dict[int, float]:
    fused = fused_of(rankings)
    return dict(zip(fused.ranked.tolist(), fused.scores[fused.ranked].tolist(), strict=True))


def test_a_document_that_leads_every_ranking_scores_one() -> None:
    assert scores_of({"words": [7, 1], "meaning": [7], "names": [7, 2]})[7] == pytest.approx(1.0)


def test_a_ranking_that_has_nothing_to_say_takes_nothing_away() -> None:
    assert scores_of({"words": [7], "meaning": [], "names": []}) == {7: pytest.approx(1.0)}


def test_a_score_is_half_by_rank_and_half_by_score() -> None:
    scores = scores_of({"words": [1, 2], "meaning": [2]})

    by_rank = {1: 1.0, 2: 61 / 62 + 0.5}
    by_score = {1: 1.0, 2: 0.5 + 0.5}
    assert scores == {place: pytest.approx((by_rank[place] + by_score[place]) / 2 / 1.5) for place in (1, 2)}


def test_who_leads_far_is_ahead_of_who_leads_narrowly() -> None:
    far, narrowly = ranking_of([1, 2], [9.0, 3.0]), ranking_of([2, 1], [3.1, 3.0])

    fused = fuse_rankings(
        {"words": far, "other words": narrowly}, {"words": 1, "other words": 1}, offset=60, limit=9, count=3
    )

    assert fused.scores[1] > fused.scores[2]


def test_the_last_of_a_ranking_that_was_cut_off_has_no_score() -> None:
    def last(limit: int) -> float:
        return float(
            fuse_rankings({"words": ranking_of([0, 1], [3.0, 2.0])}, WEIGHTS, offset=60, limit=limit, count=2).scores[1]
        )

    assert last(2) == pytest.approx(61 / 62 / 2)
    assert last(3) == pytest.approx((61 / 62 + 2 / 3) / 2)


def test_agreement_of_two_lanes_beats_the_lead_in_one() -> None:
    scores = scores_of({"words": [1, 2], "meaning": [3, 2]})

    assert max(scores, key=scores.__getitem__) == 2


def test_ranks_and_scores_can_be_asked_for_any_document() -> None:
    fused = fused_of({"words": [4, 9], "meaning": [9]})

    assert fused.ranks_of([9, 5]) == {9: {"words": 2, "meaning": 1}, 5: {}}
    assert fused.scores.tolist() == [0.0] * 4 + [fused.scores[4]] + [0.0] * 4 + [fused.scores[9]] + [0.0] * 90
    assert fused_of({}).scores.tolist() == [0.0] * 100
    assert fused_of({}).ranks_of([1]) == {1: {}}
    assert fused.ranks_of([]) == {}


@given(rankings_of_documents)
def test_every_ranked_document_is_there_once(rankings: dict[str, list[int]]) -> None:
    fused = fused_of(rankings)

    assert fused.ranked.tolist() == sorted({document for ranking in rankings.values() for document in ranking})
    assert all(0 < score <= 1 + 1e-12 for score in fused.scores[fused.ranked])


@given(rankings_of_documents)
def test_ranks_are_the_places_in_the_rankings(rankings: dict[str, list[int]]) -> None:
    fused = fused_of(rankings)

    for document in range(10):
        expected = {lane: ranking.index(document) + 1 for lane, ranking in rankings.items() if document in ranking}
        assert fused.ranks_of(range(10))[document] == expected


@given(rankings_of_documents)
def test_the_order_of_the_lanes_does_not_matter(rankings: dict[str, list[int]]) -> None:
    backwards = scores_of(dict(reversed(rankings.items())))

    assert scores_of(rankings) == {document: pytest.approx(score) for document, score in backwards.items()}


@given(st.lists(st.integers(0, 99), unique=True))
def test_a_single_lane_keeps_its_order(ranking: list[int]) -> None:
    scores = scores_of({"words": ranking})

    assert sorted(scores, key=lambda document: -scores[document]) == ranking


@given(rankings_of_documents, st.sampled_from(LANES))
def test_to_be_ranked_first_by_one_more_lane_never_hurts(rankings: dict[str, list[int]], lane: str) -> None:
    rest = {name: ranking for name, ranking in rankings.items() if name != lane}
    before, after = scores_of(rest), scores_of({**rest, lane: [3]})

    assert after[3] >= before.get(3, 0.0) or math.isclose(after[3], before.get(3, 0.0))
