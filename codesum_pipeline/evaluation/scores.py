"""One number per answered question: what evaluations of the same questions are compared by."""

from codesum_pipeline.evaluation.evaluate import QuestionResult
from codesum_pipeline.model.documents import Level

NDCG = "ndcg@10"
FUNCTION_MRR = "function_mrr@10"
_OF_SYMBOLS = (Level.FUNCTION, Level.CLASS)


def score(answer: QuestionResult) -> float:
    """Where the very function or class is asked for, how early it comes; else nDCG@10 of the files."""
    if answer.question.level in _OF_SYMBOLS and FUNCTION_MRR in answer.measures:
        return answer.measures[FUNCTION_MRR]
    return answer.measures[NDCG]
