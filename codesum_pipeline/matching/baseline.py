"""The version of a repository's index that was last compared: its documents, and what they stood for.

A version folder goes when newer ones came, so its documents are kept under a hard link of ours. A small file names the
link; replacing that file is what moves the baseline, all at once.
"""

import json
import logging
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from codesum_pipeline.indexes.version_folder import DOCUMENTS, Version
from codesum_pipeline.store.atomic import temporary_beside, write_text_atomically
from codesum_pipeline.store.refusals import writing

_log = logging.getLogger(__name__)

_NAMED = "compared.json"


class Baseline(Struct, frozen=True):
    """One version: the sha256 of its manifest, its commit and tree, and the rules by which content was hashed."""

    digest: str
    commit: str
    tree: str
    hash_policy: Any

    @classmethod
    def of(cls, version: Version) -> "Baseline":
        manifest = version.manifest
        return cls(version.digest, manifest["commit"], manifest["tree"], manifest["hash_policy"])

    def documents(self, folder: Path) -> Path:
        """The lines of its documents."""
        return folder / f"{self.digest}.jsonl"


def read_baseline(folder: Path) -> Baseline | None:
    """What was last compared; None where nothing was, or where it cannot be read any more."""
    path = folder / _NAMED
    try:
        found = Baseline(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        _log.warning("%s cannot be read (%s): changes count from this build on", path, error)
        return None
    if not found.documents(folder).exists():
        _log.warning("%s is gone: changes count from this build on", found.documents(folder))
        return None
    return found


def hold_documents(folder: Path, version: Version) -> Path:
    """Keep a version's documents in `folder`, whatever becomes of the version; it is no baseline yet."""
    path = Baseline.of(version).documents(folder)
    source = version.folder / DOCUMENTS
    if path.exists():
        return path
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        temporary = temporary_beside(path)
        try:
            try:
                os.link(source, temporary)
            except FileNotFoundError:
                raise
            except OSError:
                # Not all file systems have hard links.
                shutil.copyfile(source, temporary)
            os.replace(temporary, path)
        finally:
            # Of two links to one file a rename leaves both.
            temporary.unlink(missing_ok=True)
    return path


def move_baseline(folder: Path, version: Version) -> None:
    """Make a version whose documents are held the one that was last compared, and drop what was held before."""
    baseline = Baseline.of(version)
    write_text_atomically(folder / _NAMED, json.dumps(to_builtins(baseline), sort_keys=True))
    kept = {folder / _NAMED, baseline.documents(folder)}
    for path in folder.iterdir():
        if path not in kept:
            with suppress(OSError):
                path.unlink()
