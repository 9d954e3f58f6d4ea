"""Booleans as words are made booleans wherever the schema has one, and nowhere else."""

import pytest
from pydantic import BaseModel, ConfigDict, StrictBool

from codesum_pipeline.asking.calls import InvalidArguments, read_arguments


class MessagePart(BaseModel):
    is_deep: StrictBool = False


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    stats: StrictBool = False
    maybe: StrictBool | None = None
    name: str = ""
    either: StrictBool | str = ""
    part: MessagePart = MessagePart()
    parts: list[MessagePart] = []


def test_words_become_booleans_at_any_depth() -> None:
    written = (
        '{"stats": "True", "maybe": "False", "name": "True", "either": "True", '
        '"part": {"is_deep": "true"}, "parts": [{"is_deep": "False"}, {"is_deep": " TRUE"}]}'
    )

    assert read_arguments(Arguments, written) == Arguments(
        stats=True,
        maybe=False,
        name="True",
        either="True",
        part=MessagePart(is_deep=True),
        parts=[MessagePart(is_deep=False), MessagePart(is_deep=True)],
    )


def test_no_arguments_are_the_defaults() -> None:
    assert read_arguments(Arguments, "") == Arguments()


@pytest.mark.parametrize("written", ['{"stats": "yes"}', '{"stats": 3}', '{"part": "True"}', '{"other": true}'])
def test_what_is_no_boolean_stays_wrong(written: str) -> None:
    with pytest.raises(InvalidArguments, match="Arguments: stats, maybe, name, either, part, parts"):
        read_arguments(Arguments, written)
