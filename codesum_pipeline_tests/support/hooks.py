"""Packages with hooks for digests that are really installed: each in a folder of its own on the path."""

from collections.abc import Callable
from pathlib import Path

import pytest

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a package whose module has one function `hook`."""

    def put(name: str, group: str, body: str) -> None:
        monkeypatch.syspath_prepend(str(install_hook(tmp_path / name, name, group, body)))

    return put


def install_hook(folder: Path, name: str, group: str, body: str) -> Path:
    """Put the package into a folder, which then belongs on the path."""
    (folder / f"{name}-1.0.dist-info").mkdir(parents=True)
    (folder / f"{name}.py").write_text(body)
    (folder / f"{name}-1.0.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / f"{name}-1.0.dist-info" / "entry_points.txt").write_text(f"[codesum.{group}]\n{name} = {name}:hook\n")
    return folder
