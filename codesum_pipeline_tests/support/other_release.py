"""Another release of codesum beside this one: a copy of the package under a version of its own.

Its files are those of this one, but for what a release changes: the versions of its tables, its index and a writer.
"""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import codesum_pipeline

_PACKAGE = Path(codesum_pipeline.__file__).parent


def install_release(folder: Path, version: str, changed: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Put a release into `folder`; what its processes need in their environment. `changed` has, by file of the package,
    a pattern and what stands in its place."""
    target = folder / "codesum_pipeline"
    shutil.copytree(_PACKAGE, target, copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dagster.yaml", "workspace.yaml", "prompts"):
        (folder / name).symlink_to(_PACKAGE.parent / name)
    for name, (pattern, other) in changed.items():
        file = target / name
        text, count = re.subn(pattern, other, file.read_text(), count=1)
        assert count == 1, f"{name} has no {pattern}"
        # It leads to the file of this release.
        file.unlink()
        file.write_text(text)
    info = folder / f"codesum_pipeline-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: codesum-pipeline\nVersion: {version}\n")
    return {"PYTHONPATH": str(folder)}
