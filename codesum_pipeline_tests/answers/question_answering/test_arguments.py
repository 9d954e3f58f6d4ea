"""Arguments as models write them."""

import pytest
from pydantic import BaseModel, ConfigDict

from codesum_pipeline.answers.question_answering.calls import InvalidArguments, read_arguments


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    stats: bool = False
    name: str = ""


def test_words_are_booleans_where_a_boolean_is_asked_for() -> None:
    assert read_arguments(Arguments, '{"stats": "True", "name": "True"}') == Arguments(stats=True, name="True")


def test_no_arguments_are_the_defaults() -> None:
    assert read_arguments(Arguments, "") == Arguments()


@pytest.mark.parametrize("written", ['{"stats": "perhaps"}', '{"stats": 3}', '{"name": 3}', '{"other": true}'])
def test_what_is_wrong_is_named_with_all_arguments(written: str) -> None:
    with pytest.raises(InvalidArguments, match="Arguments: stats, name"):
        read_arguments(Arguments, written)
