"""Which items the steps of a repository's last build failed on, for whoever asks after it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import json

from codesum_pipeline.model.guard import Failure
from codesum_pipeline.store.atomic import write_text_atomically

_END = ".failures.json"


def keep_failures(folder: Path, step: str, failures: Sequence[Failure]) -> None:
    """Those of a step that just ran, in place of those of its run before; `folder` holds the memos."""
    path = folder / f"{step}{_END}"
    if failures:
        write_text_atomically(path, json.format(json.encode(failures), indent=1).decode())
    else:
        path.unlink(missing_ok=True)


def read_failures(folder: Path) -> Mapping[str, Sequence[Failure]]:
    """Those of each step that has some, by its name."""
    found = {path.name.removesuffix(_END): _read(path) for path in sorted(folder.glob(f"*{_END}"))}
    return {step: failures for step, failures in found.items() if failures}


def _read(path: Path) -> tuple[Failure, ...]:
    try:
        return json.decode(path.read_bytes(), type=tuple[Failure, ...])
    except (OSError, ValueError):
        return ()
