"""Hits and questions written by hand."""

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.search.retrieval.hits import Hit


def file_hit(path: str) -> Hit:
    """A hit that is a whole file."""
    return _hit(path, Level.FILE)


def module_hit(path: str) -> Hit:
    """A hit that is a folder."""
    return _hit(path, Level.MODULE)


def function_hit(path: str, start: int, end: int, name: str | None = None) -> Hit:
    """A hit that is a function."""
    return _hit(path, Level.FUNCTION, start, end, name)


def question(*relevant: str | AnswerPlace, **fields: object) -> Question:
    """A question about files, or about targets as they are."""
    targets = tuple(each if isinstance(each, AnswerPlace) else AnswerPlace(each) for each in relevant)
    return Question(id="q", query="where", relevant=targets, **fields)  # type: ignore[arg-type]


def _hit(path: str, level: Level, start: int | None = None, end: int | None = None, name: str | None = None) -> Hit:
    return Hit(
        id=f"{path}::{name}" if name else path,
        type=level,
        repo="shop",
        file_path=path,
        start_line=start,
        end_line=end,
        qualified_name=name,
        score=1.0,
        summary="",
        signature_summary=None,
        why="",
    )
