"""The official client and a server that is started in a work tree."""

from codesum_pipeline.ways_in.mcp.mcp_server import make_server
from codesum_pipeline_tests.support.mcp_client import text_of, with_client
from codesum_pipeline_tests.support.shop import SHOP

EDIT = "\n\ndef weigh_parcel(parcel):\n    grams = round_cents(parcel)\n    return grams\n"


def test_an_agent_asks_edits_and_asks_again(tree):
    async def play(client):
        first = await client.call_tool("watch_changes", {"limit": 200, "tokens": 9000})
        tree.repo.write({"shop/money.py": SHOP["shop/money.py"] + EDIT})
        seen = await client.call_tool("watch_changes", {"cursor": first.structured_content["next"]})
        callers = await client.call_tool("graph", {"id": "round_cents", "relations": ["callers"], "limit": 50})
        read = await client.call_tool("read", {"ids": ["weigh_parcel"]})
        return seen, callers, read

    server = make_server(tree.shop.catalogue, folder=tree.repo.path, every_tool=True)
    seen, callers, read = with_client(server, play)

    first = SHOP["shop/money.py"].count("\n") + 3
    place = f"shop/money.py:{first}-{first + 2}  function  weigh_parcel"
    assert f"new in the work tree: {place}" in text_of(seen)
    assert {each["id"]: each["change"] for each in seen.structured_content["changes"]} == {
        "shop/money.py": "changed",
        "shop/money.py::weigh_parcel": "new",
    }
    assert place in text_of(callers)
    assert f"{first}\tdef weigh_parcel(parcel):" in text_of(read)
    for answer in (seen, callers, read):
        (as_of,) = answer.structured_content["as_of"]
        assert (as_of["tree"], as_of["differ"], as_of["is_settled"]) == (str(tree.repo.path), 1, False)
        assert f"with the work tree {tree.repo.path}: 1 file differs; calls between" in text_of(answer)
