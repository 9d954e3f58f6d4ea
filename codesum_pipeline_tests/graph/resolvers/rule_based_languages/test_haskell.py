"""Haskell's modules, from references as a parser gives them."""

import json
from typing import Any

from codesum_pipeline.foundation.data_model.file import FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.foundation.settings.stage_settings import ContextSettings
from codesum_pipeline.graph.contexts import SymbolPlace
from codesum_pipeline.graph.resolvers.families import load_files
from codesum_pipeline_tests.graph.sources import make_graph


def facts(path: str, package: str, functions: list[str], imports: list[Any], calls: list[Any]) -> dict[str, Any]:
    references = {
        "language": "haskell",
        "package": package,
        "exports": [],
        "symbols": [[name, "function", [name], [], None] for name in functions],
        "heads": [[[], [], 0, 0] for _ in functions],
        "extensions": [],
        "imports": imports,
        "typed": [],
        "bound": [],
        "blocks": [],
        "around": [],
        "results": [],
        "uses": [],
        "constants": [],
        "receivers": [[], ["P"], ["M"]],
        "calls": calls,
        "counts": [-1 for _ in calls],
    }
    as_json = json.dumps(references)
    return {"file_path": path, "language": "haskell", "exports": None, "reexports": None, "references": as_json}


def test_modules_are_found_by_their_names() -> None:
    imports = [
        [-1, "Data.Shop", "*", None, 0],
        [-1, "Data.Price", None, "P", 0],
        [-1, "Data.Tax", "rate", None, 0],
        [-1, "Data.Map", None, "M", 0],
    ]
    calls = [
        [0, 0, "open", 0],
        [0, 1, "total", 0],
        [0, 0, "rate", 0],
        [0, 2, "insert", 0],
        [0, 0, "hidden", 0],
    ]
    rows = [
        facts("app/Main.hs", "Main", ["main"], imports, calls),
        facts("src/Data/Shop.hs", "Data.Shop", ["open"], [], []),
        facts("src/Data/Price.hs", "Data.Price", ["total"], [], []),
        facts("src/Data/Tax.hs", "Data.Tax", ["rate", "hidden"], [], []),
    ]
    files = [SourceFile(row["file_path"], "", 0, "", "haskell", FileStatus.INDEXED, None, False, False) for row in rows]
    symbols = [
        SymbolPlace(f"{row['file_path']}::{symbol[0]}", SymbolType.FUNCTION, None)
        for row in rows
        for symbol in json.loads(row["references"])["symbols"]
    ]

    edges = make_graph(files, symbols, load_files(rows), root=".", settings=ContextSettings()).edges

    assert {(edge.kind.value, edge.src_id, edge.dst, edge.is_external) for edge in edges} == {
        ("import", "app/Main.hs", "src/Data/Shop.hs", False),
        ("import", "app/Main.hs", "src/Data/Price.hs", False),
        ("import", "app/Main.hs", "src/Data/Tax.hs", False),
        ("import", "app/Main.hs", "Data.Map", True),
        ("call", "app/Main.hs::main", "src/Data/Shop.hs::open", False),
        ("call", "app/Main.hs::main", "src/Data/Price.hs::total", False),
        ("call", "app/Main.hs::main", "src/Data/Tax.hs::rate", False),
        ("call", "app/Main.hs::main", "Data.Map.insert", True),
    }
