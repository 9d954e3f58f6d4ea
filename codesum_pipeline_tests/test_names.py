"""One name for one thing."""

import ast
from collections import defaultdict
from pathlib import Path

import codesum_pipeline

PACKAGE = Path(codesum_pipeline.__file__).parent


def test_a_class_name_stands_once_in_the_package() -> None:
    places = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(PACKAGE)))

    assert {name: found for name, found in places.items() if len(found) > 1} == {}
