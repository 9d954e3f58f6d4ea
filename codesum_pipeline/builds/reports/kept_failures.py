"""The items that each step of the last build failed on, kept beside its memos."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import json

from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.store.atomic import read_json, write_text_atomically

_FAILURES = ".failures.json"


def keep_failures(folder: Path, step: str, failures: Sequence[Failure]) -> None:
    """Replace the failures of a step that just ran; `folder` holds the memos."""
    path = folder / f"{step}{_FAILURES}"
    if failures:
        write_text_atomically(path, json.format(json.encode(failures), indent=1).decode())
    else:
        path.unlink(missing_ok=True)


def read_failures(folder: Path) -> Mapping[str, Sequence[Failure]]:
    """The failures of each step that has some, by its name."""
    found = {path.name.removesuffix(_FAILURES): path for path in sorted(folder.glob(f"*{_FAILURES}"))}
    kept = {step: read_json(path, tuple[Failure, ...]) for step, path in found.items()}
    return {step: failures for step, failures in kept.items() if failures}
