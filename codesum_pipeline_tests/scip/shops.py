"""Repositories with an index beside their mirrors."""

from collections.abc import Mapping
from pathlib import Path

from codesum_pipeline_tests.scip.python_indexer import index_python


def put_index(home: Path, sources: Mapping[str, str]) -> None:
    """Have the next build of `shop` take in an index of some sources; of no others it says anything."""
    put_content(home, index_python(sources))


def put_content(home: Path, content: bytes) -> None:
    mirrors = home / "mirrors"
    mirrors.mkdir(parents=True, exist_ok=True)
    (mirrors / "shop.scip").write_bytes(content)
