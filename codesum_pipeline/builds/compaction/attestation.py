"""What an operator attests: which rows are compressed into one, by which model, under which words, within which bounds.

An attestation is a file of canonical JSON, so that the same attestation is the
same bytes; `FILE.sig` beside it is its signature.
"""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from msgspec import Meta, Struct, to_builtins

from codesum_pipeline.builds.compaction.ssh_signatures import SignatureRefused, check_signature, check_signer, sign_data
from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.document import CompactionRecord
from codesum_pipeline.foundation.data_model.errors import (
    AttestationInvalid,
    SignatureInvalid,
    SignerExpired,
    SignerNotAllowed,
)
from codesum_pipeline.foundation.data_model.hashing import canonical_json

FORMAT = "codesum.attestation.v1"
# What the signature is for; `ssh-keygen -Y sign -n codesum-attestation FILE` signs for the same.
NAMESPACE = "codesum-attestation"
SIGNATURE_SUFFIX = ".sig"
_MAX_BYTES = 64 << 20
# Letters of a signature; one has less than three thousand. What is longer is cut, and then is none.
_MOST_SIGNATURE = 64 << 10
# As ssh-keygen names it.
_KEY_TYPE = "ED25519"
_NOT_NOW = re.compile("key (has expired|is not yet valid)")

_Text = Annotated[str, Meta(min_length=1)]
_Number = Annotated[int, Meta(ge=1)]


class Policy(StrEnum):
    """What happens to the rows: they are kept beside their compaction, or only their id and hash remain."""

    KEPT = "kept"
    TOMBSTONED = "tombstoned"


class Selection(Struct, frozen=True):
    """Which rows are meant; what a kind of rows has no use for is None.

    `before` is a moment in UTC that the rows are older than, `ids` a pattern
    of their documents' ids, `prompt_version` the digest of a template, `limit`
    how many at most, oldest first.
    """

    before: str | None = None
    ids: str | None = None
    prompt_version: str | None = None
    limit: _Number | None = None


class AttestedSource(Struct, frozen=True):
    """One row: its id, and the BLAKE3 of all that it says."""

    id: _Text
    blake3: _Text


class Attestation(Struct, frozen=True):
    """The file's content. `repository` is None for rows of none; the model is shown the sources in order."""

    job_id: _Text
    attested_by: _Text
    attested_at: _Text
    kind: _Text
    repository: str | None
    selection: Selection
    sources: Annotated[tuple[AttestedSource, ...], Meta(min_length=1)]
    policy: Policy
    model: _Text
    prompt_template_blake3: _Text
    max_output_bytes: _Number
    max_tokens: _Number
    format: str = FORMAT

    def to_bytes(self) -> bytes:
        """The file."""
        return f"{canonical_json(to_builtins(self))}\n".encode("utf-8", "surrogatepass")

    @classmethod
    def of(cls, data: bytes) -> Self:
        """The inverse of `to_bytes`; raises `AttestationInvalid`."""
        try:
            found = decode(data, cls)
        except (ValueError, RecursionError) as error:
            raise AttestationInvalid(f"{error}: make it with `codesum attest new`") from error
        if found.format != FORMAT:
            raise AttestationInvalid(f"its format is {found.format!r}, known is {FORMAT!r}: attest anew")
        ids = [source.id for source in found.sources]
        if len(set(ids)) < len(ids):
            twice = next(id_ for id_ in ids if ids.count(id_) > 1)
            raise AttestationInvalid(f"the source {twice!r} occurs in it twice: attest anew")
        if found.to_bytes() != data:
            raise AttestationInvalid("it is not in canonical form, or has unknown fields: attest anew")
        return found

    @classmethod
    def of_record(cls, record: CompactionRecord) -> Self:
        """The attestation that a compaction was made by."""
        return cls.of(record.attestation.encode())


class SignedAttestation(Struct, frozen=True):
    """An attestation with its file's bytes and its signature's text, which nobody has checked yet."""

    attestation: Attestation
    data: bytes
    signature: str

    def check_signature(self) -> str:
        """The fingerprint of the key that signed the file as it is; raises `SignatureInvalid`."""
        try:
            kind, fingerprint = check_signature(self.data, self.signature, namespace=NAMESPACE)
        except SignatureRefused as error:
            raise SignatureInvalid(f"it is none of this file ({error}): attest and sign it anew") from error
        if kind != _KEY_TYPE:
            raise SignatureInvalid(f"it was made with a key of type {kind}: sign with an Ed25519 key")
        return fingerprint

    def check_signer(self, signers: Path) -> None:
        """Raise `SignatureInvalid`, `SignerNotAllowed` or `SignerExpired` unless its operator signed it and may now."""
        by, principal = self.check_signature(), self.attestation.attested_by
        if not signers.is_file():
            raise SignerNotAllowed(
                f"there is no {signers} (compaction.allowed_signers): write `PRINCIPAL ssh-ed25519 KEY` lines into it, "
                "one for each who may attest"
            )
        try:
            check_signer(self.data, self.signature, signers, principal, namespace=NAMESPACE)
        except SignatureRefused as error:
            refusal = SignerExpired if _NOT_NOW.search(str(error)) else SignerNotAllowed
            raise refusal(
                f"{signers} does not allow {principal!r} to sign this with the key {by} ({error}): add a line if they "
                "may attest, or have an allowed person sign it"
            ) from error


def read_attestation(path: Path) -> tuple[Attestation, bytes]:
    """An attestation and its bytes; raises `AttestationInvalid`, and `OSError` if there is no such file."""
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise AttestationInvalid(f"{path} is larger than the {_MAX_BYTES:,} bytes that are read: attest fewer rows")
    return Attestation.of(data), data


def read_signed(path: Path) -> SignedAttestation:
    """An attestation with the signature beside it."""
    attestation, data = read_attestation(path)
    signature = signature_path(path)
    try:
        with signature.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_SIGNATURE)
    except FileNotFoundError as error:
        raise SignatureInvalid(f"there is no {signature}: sign with `codesum attest sign {path}`") from error
    return SignedAttestation(attestation, data, text)


def sign_attestation(attestation: Attestation, data: bytes, key: Path) -> SignedAttestation:
    """Sign the bytes of an attestation's file; raises `ConfigurationError`, `SignatureInvalid`."""
    signed = SignedAttestation(attestation, data, sign_data(data, key, namespace=NAMESPACE))
    signed.check_signature()
    return signed


def signature_path(path: Path) -> Path:
    """Where the signature of a file lies."""
    return path.with_name(path.name + SIGNATURE_SUFFIX)
