"""Answers of the last days that are paid for and cannot be used, as the ledger keeps them, for readers."""

from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.sqlite_tables import open_for_reading
from codesum_pipeline.texts.llm.ledger import KEEP_DAYS
from codesum_pipeline.texts.llm.pins import FAILURES_BY_END, AnswerEnd


class KeptAnswer(Struct, frozen=True):
    """An answer that is paid for and cannot be used, what it is about, and what is wrong with it. Rows of earlier
    versions have no `model_echoed`."""

    about: str
    answer: str
    has_tool_call: bool
    model_echoed: str | None
    failure: str
    error: str
    started_at: str

    @property
    def kept_until(self) -> str:
        """The moment from which on its request is sent again."""
        return iso_moment(datetime.fromisoformat(self.started_at) + timedelta(days=KEEP_DAYS))


def unusable_answers(state: Path, *, now: datetime) -> dict[str, KeptAnswer]:
    """By the hash of the request, the last unusable answer of the last days, empty ones and those of another model
    included; not one that an error of the server ended. For readers."""
    with open_for_reading(state, "llm_attempts") as connection:
        if connection is None:
            return {}
        rows = connection.execute(
            "SELECT request_hash, id, coalesce(answer, ''), has_tool_call, model_echoed, coalesce(failure, ''), "
            "coalesce(error, ''), started_at FROM llm_attempts WHERE outcome = 'invalid' AND started_at > ? "
            "AND failure IS NOT ? ORDER BY sequence",
            (iso_moment(now - timedelta(days=KEEP_DAYS)), FAILURES_BY_END[AnswerEnd.ERROR]),
        )
        return {key: KeptAnswer(about, answer, bool(called), *rest) for key, about, answer, called, *rest in rows}
