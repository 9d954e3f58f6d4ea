"""A home that is named by the URL of a bucket, and the folder of this worker's copy."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from codesum_pipeline.model.errors import ConfigurationError

_HASH_CHARS = 16


def bucket_of(address: str) -> str | None:
    """The URL of the bucket that a home's address names, without a slash at its end; None for a path."""
    return address.rstrip("/") if "://" in address else None


def cache_folder(bucket: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Where this worker keeps what it uses of a bucket: `codesum/homes/<hash of the URL>` in the user's cache folder.

    Raises `ConfigurationError` where the user has no folder for it.
    """
    chosen = Path(environ.get("XDG_CACHE_HOME", ""))
    name = hashlib.sha256(bucket.encode()).hexdigest()[:_HASH_CHARS]
    if chosen.is_absolute():
        return chosen / "codesum" / "homes" / name
    try:
        return Path.home() / ".cache" / "codesum" / "homes" / name
    except RuntimeError as error:
        raise ConfigurationError(
            f"there is no folder for this worker's copy of {bucket}: set HOME or XDG_CACHE_HOME"
        ) from error
