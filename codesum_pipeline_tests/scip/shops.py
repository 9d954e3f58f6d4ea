"""Repositories with an index beside their mirrors."""

from collections.abc import Mapping
from pathlib import Path

from codesum_pipeline_tests.scip.python_indexer import index_python


def put_index(home: Path, sources: Mapping[str, str], *, key: str = "shop") -> None:
    """Have the next build take in an index of some sources; of no others it says anything."""
    mirrors = home / "mirrors"
    mirrors.mkdir(parents=True, exist_ok=True)
    (mirrors / f"{key}.scip").write_bytes(index_python(sources))
