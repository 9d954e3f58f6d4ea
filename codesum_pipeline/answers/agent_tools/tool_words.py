"""What is said of each tool, read without importing the tools."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.decoding import convert


class ToolWords(Struct, frozen=True):
    """`description` says first when the tool is better than what an agent has anyway. A tool with `when`, a line for an
    agent's own instructions, is offered by default."""

    description: str
    when: str = ""


@cache
def words_of_tools() -> Mapping[str, ToolWords]:
    """The words by the name of the tool, in the order in which agents get the tools."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text), dict[str, ToolWords])
