"""The hashes that decide what is rewritten.

All are lowercase hex sha1, full length, unless a name says otherwise. JSON is
canonical (sorted keys, no spaces, UTF-8), so equal values give equal bytes.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import _Hash


class HashPolicy(StrEnum):
    """What `content_hash` covers: the canonical source (sha1), or the raw span (sha256)."""

    CANONICAL = "canonical"
    RAW = "raw"


# `json.dumps` would make one for each value.
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def sha1_hex(text: str) -> str:
    """sha1 of the UTF-8 bytes; lone surrogates, as undecodable file names give them, are kept apart."""
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def sha256_hex(data: bytes) -> str:
    """sha256 of raw bytes."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: Path) -> str:
    """sha256 of what a file holds."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: the same value gives the same text."""
    return _ENCODER.encode(value)


def hash_of(value: Any) -> str:
    """sha1 over the canonical JSON of a value."""
    return sha1_hex(canonical_json(value))


def graph_hash(called_by: Iterable[str], calls: Iterable[str]) -> str:
    """sha1 over the sampled context, de-duplicated and sorted."""
    return hash_of_neighbours("|".join(sorted(set(called_by))), "|".join(sorted(set(calls))))


def hash_of_neighbours(called_by: str, calls: str) -> str:
    """As `graph_hash`, of sorted and distinct names, joined by `|`."""
    return sha1_hex(f"called_by={called_by}\ncalls={calls}")


def summary_hash(writer: str, shown: str) -> str:
    """sha1 over the writer and everything it is shown.

    `writer` is `extractive/<version>`, `placeholder/<version>` or a template digest.
    """
    digest = _begun(writer).copy()
    digest.update(shown.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


@lru_cache(maxsize=64)
def _begun(writer: str) -> "_Hash":
    """What is the same for all that one writer is shown."""
    return hashlib.sha1(f"{writer}\n".encode(), usedforsecurity=False)


def module_content_hash(children: Mapping[str, str]) -> str:
    """sha1 over the sorted pairs of child name and child `content_hash`."""
    return hash_of(sorted(children.items()))


# These follow from settings too.
_OF_SETTINGS = ("embedder", "template_", "masking", "author_words", "prompt_chars")


def identify_algorithms(versions: Mapping[str, str]) -> str:
    """Identifies the versions of algorithms that only another version of codesum changes."""
    return sha1_hex(canonical_json({name: versions[name] for name in versions if not name.startswith(_OF_SETTINGS)}))
