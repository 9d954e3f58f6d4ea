"""The worked examples of the packaged system prompt are what is sent of a real repository, and what is taken."""

import json
from collections.abc import Iterator

import pytest

from codesum_pipeline.foundation.data_model.document import Level, TextRow
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import KEY_ENV, Shop, shop
from codesum_pipeline_tests.texts.summaries.by_model.examples import (
    EXAMPLES,
    SHOWN,
    answers_of_the_prompt,
    examples,
    material_in,
    name_in,
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The examples' repository, its functions and classes written by a model that answers as the prompt says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
        with shop(tmp_path_factory.mktemp("examples"), EXAMPLES, answers_of_the_prompt) as made:
            build(made.workspace(), until="class_summaries")
            yield made


@pytest.mark.parametrize("name", SHOWN)
def test_an_examples_material_is_what_is_sent(written: Shop, name: str) -> None:
    (sent,) = {call.prompt for call in written.server.seen if name_in(call.prompt) == name}

    assert examples()[name][0] == material_in(sent)


@pytest.mark.parametrize("name", SHOWN)
def test_an_examples_answer_is_taken_at_once(written: Shop, name: str) -> None:
    table = texts_table(Level.CLASS if name == "LRUCache" else Level.FUNCTION)
    rows = written.workspace().tables.read_rows(table, "shop", TextRow)
    (text,) = [row.text for row in rows if row.id.endswith(f"::{name.replace('.', '::')}")]
    answer = json.loads(examples()[name][1])

    assert text.summary == answer.get("purpose", answer.get("summary"))
    assert [call.attempt for call in written.server.seen if name_in(call.prompt) == name] == [1]
