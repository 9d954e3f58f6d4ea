"""What an overview keeps is looked up while it follows from the same, and changes nothing on the page."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.overviews import kept_neighbourhoods
from codesum_pipeline.search.overviews.overview import facts_of, make_overview
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

TILL = "def take(row):\n    return row[0] * 2\n" + "".join(
    f"\n\ndef {name}_till(row):\n    return take(row) + {number}\n"
    for number, name in enumerate(("open", "shut", "count", "sum"))
)


def test_neighbourhoods_are_found_again_only_where_code_or_links_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"till.py": TILL})
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path)))
    calls: list[int] = []
    find = kept_neighbourhoods.find_neighbourhoods

    def recorded(places: list[object]) -> list[object]:
        calls.append(len(places))
        return find(places)

    monkeypatch.setattr(kept_neighbourhoods, "find_neighbourhoods", recorded)
    build(ws)
    assert len(calls) == 1

    repo.commit({"till.py": "# A till.\n" + TILL.replace("+ 1", "+ 7")})
    build(ws)
    assert len(calls) == 1
    kept = facts_of(make_overview(ws, ()))
    for path in ws.layout.memos("shop").glob("repo_overview.*.arrow"):
        path.unlink()
    assert facts_of(make_overview(ws, ())) == kept
    assert kept["neighbourhoods"][0]["members"][0]["place"] == "till.py:2"

    repo.commit({"till.py": f"{TILL}\n\ndef empty_till(row):\n    return take(row)\n"})
    build(ws)
    assert len(calls) == 3


def test_what_was_found_in_parts_is_found_anew_where_it_is_damaged(tmp_path: Path) -> None:
    files = {"a.py": "import flask\n\nfrom b import price\n\n\ndef main():\n    return price(1)\n",
             "b.py": "def price(row):\n    return row + 2\n\n\nif __name__ == '__main__':\n    price(1)\n"}  # fmt: skip
    repo = GitRepo.create(tmp_path / "repo", files)
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path)))
    build(ws)
    found = facts_of(make_overview(ws, ()))
    kept = [path for name in ("edges.links", "file_facts.imports", "file_facts.guards", "symbols.mains")
            for path in ws.layout.memos("shop").glob(f"{name}.arrow")]  # fmt: skip

    assert len(kept) == 4
    for path in kept:
        content = path.read_bytes()
        path.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
    assert facts_of(make_overview(ws, ())) == found
    assert found["frameworks"][0]["name"] == "Flask"
