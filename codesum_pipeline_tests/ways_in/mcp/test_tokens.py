"""A token opens the repositories that it names, and nothing of any other can be learned with it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.http_serving.access_tokens import read_tokens
from codesum_pipeline_tests.support.mcp_client import CALLS, ask_everything, text_of, with_client
from codesum_pipeline_tests.ways_in.access.asking import access_token
from codesum_pipeline_tests.ways_in.mcp.test_http import HEADERS, INITIALIZE, serving

KEEPER, SELLER, BOSS = (f"the-token-of-the-{who}" for who in ("keeper", "seller", "boss"))
TABLE = f"""
[keeper]
token = "{KEEPER}"
repos = ["zoo"]

[seller]
token = "{SELLER}"
repos = ["shop"]

[boss]
token = "{BOSS}"
repos = ["*"]
"""
# What stands in documents and names of the zoo, and in no call of these tests.
OF_THE_ZOO = ("Make a noise", "Lion", "animals.py", "keeper.py", "feed_all", "zoo/")


def write(file: Path, content: str) -> Path:
    file.write_text(content)
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def address(zoo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that is started in the zoo's checkout, which is none of the seller's business."""
    file = write(tmp_path_factory.mktemp("tokens") / "tokens.toml", TABLE)
    with serving(
        zoo_home, zoo_home.parent / "zoo", "0", "--tools", "all", "--structured", "--token-file", str(file)
    ) as found:
        yield found


def as_holder(address: str, token: str, talk: Any, *, mode: str = "auto") -> Any:
    client = httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
    return with_client(streamable_http_client(address, http_client=client), talk, mode=mode)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_holder_of_a_token_asks_about_its_repositories(address: str, mode: str) -> None:
    assert len(as_holder(address, KEEPER, ask_everything, mode=mode)) == len(CALLS)


def test_no_tool_says_anything_of_a_repository_that_a_token_does_not_open(address: str) -> None:
    questions = [(name, arguments) for name, arguments in CALLS.items()]
    questions += [
        (name, {key: value for key, value in arguments.items() if key != "repo"}) for name, arguments in CALLS.items()
    ]
    questions += [("search", {"query": "make a noise", "repos": ["zoo", "shop"]}), ("status", {"repos": ["zoo"]})]

    async def ask_all(client: Any) -> list[tuple[Any, str, Any]]:
        answers = []
        for name, arguments in questions:
            result = await client.call_tool(name, arguments)
            answers.append((arguments, text_of(result), result.structured_content or {}))
        return answers

    for arguments, text, structured in as_holder(address, SELLER, ask_all):
        answer = text + json.dumps(structured)
        sent = json.dumps(arguments)
        assert not [word for word in OF_THE_ZOO if word in answer and word not in sent], text
        assert {each["repo"] for each in structured.get("as_of", ())} <= {"shop"}
        if arguments.get("repo") == "zoo":
            assert text == "no repository 'zoo' is served here; those are: shop"


def test_no_resource_of_a_repository_that_a_token_does_not_open_is_given(address: str) -> None:
    async def read(client: Any) -> tuple[str, str]:
        with pytest.raises(MCPError) as refused:
            await client.read_resource("codesum://zoo/zoo/animals.py::Lion::roar")
        own = await client.read_resource("codesum://shop/shop/payment.py::charge_card")
        return str(refused.value), own.contents[0].text

    refused, own = as_holder(address, SELLER, read)
    assert "no repository 'zoo' is served here; those are: shop" in refused
    assert "charge_card" in own


def test_a_token_for_all_opens_all(address: str) -> None:
    async def status(client: Any) -> list[str]:
        result = await client.call_tool("search", {"query": "charge a card or feed a lion", "repos": ["zoo", "shop"]})
        return [each["repo"] for each in result.structured_content["as_of"]]

    assert {*as_holder(address, BOSS, status)} == {"zoo", "shop"}


def test_a_session_of_one_token_is_none_of_another(address: str) -> None:
    def posted(token: str, message: dict[str, Any], **headers: str) -> httpx.Response:
        headers = {**HEADERS, "Authorization": f"Bearer {token}", **headers}
        return httpx.post(address, json=message, headers=headers, timeout=60)

    session = posted(KEEPER, INITIALIZE).headers["mcp-session-id"]
    listed = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}

    assert posted(KEEPER, listed, **{"mcp-session-id": session}).status_code == 200
    assert posted(SELLER, listed, **{"mcp-session-id": session}).status_code == 404
    assert posted("no-token-of-anybody", listed, **{"mcp-session-id": session}).status_code == 401


def test_a_table_names_tokens_and_their_repositories(tmp_path: Path) -> None:
    found = read_tokens(write(tmp_path / "tokens", TABLE), {}, variable="X")

    assert found == [
        access_token(KEEPER, "zoo", name="keeper"),
        access_token(SELLER, "shop", name="seller"),
        access_token(BOSS, "*", name="boss"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("[a]\ntoken = 'x y'\nrepos = 3\n", "a.repos: Input should be a valid list", id="another type"),
        pytest.param(f"[a]\ntoken = '{KEEPER}'\n", "a.repos: Field required", id="no repositories"),
        pytest.param(f"[a]\ntoken = '{KEEPER}'\nrepos = []\n", "a.repos: List should have at least 1", id="none"),
        pytest.param(f"[a]\ntoken = '{KEEPER}'\nrepo = ['z']\nrepos = ['z']\n", "a.repo: Extra", id="an unknown name"),
        pytest.param(f"token = '{KEEPER}'\n", "token: Input should be", id="no table"),
        pytest.param(f"[a]\ntoken = {KEEPER}\nrepos = 3\n", "it is no TOML (at line 2", id="no TOML"),
        pytest.param("[a]\ntoken = 'secret'\nrepos = ['zoo']\n", "[a]: a token has at least 16", id="a short token"),
        pytest.param(f"[a]\ntoken = '{KEEPER}'\nrepos = ['*', 'zoo']\n", '"*" beside keys', id="all and some"),
        pytest.param(
            "".join(f"[{name}]\ntoken = '{KEEPER}'\nrepos = ['zoo']\n" for name in "ab"),
            "[a] and [b] have the same token",
            id="one token twice",
        ),
    ],
)
def test_a_table_that_is_none_is_refused_without_a_token_in_the_message(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_tokens(write(tmp_path / "tokens", content), {}, variable="X")

    assert message in str(refused.value)
    assert KEEPER not in str(refused.value) and "secret" not in str(refused.value)
