"""Repositories with an index beside their mirrors."""

from collections.abc import Mapping
from pathlib import Path

from codesum_pipeline_tests.support.python_indexer import index_python


def put_index(home: Path, sources: Mapping[str, str], *, key: str = "shop") -> None:
    """Have the next build take in an index of some sources; of no others it says anything."""
    put_content(home, index_python(sources), key=key)


def put_content(home: Path, content: bytes, *, key: str = "shop") -> None:
    mirrors = home / "mirrors"
    mirrors.mkdir(parents=True, exist_ok=True)
    (mirrors / f"{key}.scip").write_bytes(content)
