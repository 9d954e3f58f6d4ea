"""What tools tell a model of sources: parts of lines and of keys, in which nobody would see a secret, are masked."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.answers.question_answering.conftest import Shop
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.llm_server.streaming import Calls, Streams
from codesum_pipeline_tests.support.planted_secrets import TOKENS
from codesum_pipeline_tests.support.played_turns import in_order
from codesum_pipeline_tests.support.repositories import GitRepo

KEY = TOKENS["private-key"](random.Random(7)).split("\n")
TOKEN = TOKENS["github-token"](random.Random(8))
# The token begins before the part of the line that is shown, and the key has many lines.
SOURCE = (
    "def connect_to_the_ledger(host, port):\n"
    "    '''Connect.'''\n"
    "    client = open_ledger_of_the_bank(host=host, port=port, user='clerk of the ledger', token='"
    f"{TOKEN}')\n"
    "    pinned_key_of_the_ledger = '''\n" + "\n".join(KEY) + "\n'''\n"
    "    return client, pinned_key_of_the_ledger\n"
)
LINES = SOURCE.count("\n")


def pieces(secret: str) -> set[str]:
    return {secret[at : at + 12] for at in range(0, len(secret) - 11)}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "connect to the ledger of the bank token"}),
        ("search", {"query": "connect to the ledger of the bank token", "excerpt": 6}),
        ("grep", {"pattern": "open_ledger_of_the_bank"}),
        ("grep", {"pattern": TOKEN[:4]}),
        ("grep", {"pattern": "^[A-Za-z0-9+/]{60,}$"}),
        ("read", {"ids": [f"ledger.py:8-{LINES - 2}"]}),
        ("read", {"ids": ["ledger.py::connect_to_the_ledger"]}),
    ],
)
def test_no_part_of_a_secret_goes_to_a_model(shop: Shop, tmp_path: Path, tool: str, arguments: dict[str, Any]) -> None:
    repo = GitRepo.create(tmp_path / "bank", {"ledger.py": SOURCE})
    build(workspace_of(open_home(shop.home), RepositoryEntry("bank", str(repo.path))))
    shop.server.script = in_order(Streams(calls=[Calls(tool, arguments)]), Streams("It is in `ledger.py:3`."))

    asyncio.run(shop.question("Where is the ledger connected?", repos=("bank",)).answer(shop.heard.append))

    told = str(shop.server.seen[-1].body)
    assert "ledger.py" in told
    assert not [piece for secret in (TOKEN, *KEY[1:-1]) for piece in pieces(secret) if piece in told]
