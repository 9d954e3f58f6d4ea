"""A server of the search page."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from codesum_pipeline_tests.support.serving import served


def serving(
    home: Path, folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> AbstractContextManager[str]:
    """Its address, at any free port."""
    return served(home, folder, "web", "--port", "0", *arguments, env=env)
