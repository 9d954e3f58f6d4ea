"""A model's files, read only if they are the ones that were measured."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline.model.errors import ConfigurationError

_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class CheckedFolder:
    """A folder whose files must have the sha256 that `digests` gives by name; anything else is refused."""

    embedder: str
    folder: Path
    digests: Mapping[str, str]
    way_out: str

    def read(self, name: str) -> bytes:
        """The file's content; raises `ConfigurationError` when it is missing or another one."""
        path = self.folder / name
        content = read_or_explain(path, embedder=self.embedder, way_out=self.way_out)
        self._compare(path, name, hashlib.sha256(content).hexdigest())
        return content

    def check_all(self) -> None:
        """Raise `ConfigurationError` for the first file that is missing or another one."""
        for name in self.digests:
            path = self.folder / name
            try:
                digest = file_sha256(path)
            except OSError as error:
                raise ConfigurationError(
                    f"embedder {self.embedder!r}: {path} cannot be read; {self.way_out}"
                ) from error
            self._compare(path, name, digest)

    def _compare(self, path: Path, name: str, digest: str) -> None:
        expected = self.digests.get(name, "not listed")
        if digest != expected:
            raise ConfigurationError(
                f"embedder {self.embedder!r}: {path} was changed (sha256 {digest}, expected {expected}); {self.way_out}"
            )


def read_checksums(file: Path, *, embedder: str, way_out: str) -> dict[str, str]:
    """Return sha256 by file name, as a SHA256SUMS file lists them."""
    lines = read_or_explain(file, embedder=embedder, way_out=way_out).decode("utf-8").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def read_or_explain(path: Path, *, embedder: str, way_out: str) -> bytes:
    """The file's content, or a `ConfigurationError` with the way out."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"embedder {embedder!r}: {path} cannot be read; {way_out}") from error


def file_sha256(path: Path) -> str:
    """sha256 of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
