"""Whose a bundle is: an allowed signer signed its header, or the caller pinned the header's sha256, its digest.

Without either a bundle is only taken from this machine, and only where the caller says that nobody answers for it.
"""

from datetime import datetime
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.builds.bundles.bundle_file import OpenedBundle
from codesum_pipeline.builds.bundles.exporting import NAMESPACE
from codesum_pipeline.builds.compaction.signatures import check_signer, fingerprint_of, read_signature
from codesum_pipeline.foundation.data_model.errors import (
    BundleRefused,
    ConfigurationError,
    SignatureInvalid,
    SignerExpired,
    SignerNotAllowed,
)

_DIGEST_LETTERS = frozenset("0123456789abcdef")


class BundleTrust(Struct, frozen=True):
    """What the caller relies on; `signers` is an allowed-signers file. `is_local`: the bundle was no download."""

    signers: Path
    pinned: str | None
    is_unsigned_allowed: bool
    is_local: bool
    at: datetime

    def check(self, bundle: OpenedBundle) -> str:
        """Why the bundle is taken, in words; raises `BundleRefused` where nobody answers for it."""
        if self.pinned is not None:
            if self.pinned != bundle.digest:
                bundle.refuse(
                    f"its digest is {bundle.digest}, not the one of --sha256 {self.pinned}: name the one that "
                    "`codesum export` printed for this bundle (it is not the sha256 of the file)"
                )
            return "its digest is the pinned one"
        if bundle.signature is not None and not self.is_unsigned_allowed:
            return self._check_signature(bundle, bundle.signature)
        if self.is_unsigned_allowed:
            return "nobody answers for it (--unsigned)"
        trust = ", or, if you trust this very file, say --unsigned" if self.is_local else ""
        bundle.refuse(
            "it is not signed: pin the digest that `codesum export` printed (--sha256), have it exported with --sign "
            f"by one of {self.signers}{trust}"
        )

    def _check_signature(self, bundle: OpenedBundle, text: str) -> str:
        if not self.signers.is_file():
            bundle.refuse(
                f"it is signed, and there is no {self.signers} that says by whom it may be (bundles.allowed_signers, "
                "--signers): write `NAME ssh-ed25519 KEY` lines into it, or pin its digest with --sha256"
            )
        try:
            signature = read_signature(text)
            signature.check(bundle.header_bytes, namespace=NAMESPACE)
        except SignatureInvalid as error:
            raise BundleRefused(
                f"{bundle.called}: its signature is not one of this bundle: it was changed after it was signed, or "
                "signed for something else: export it again with --sign"
            ) from error
        by = fingerprint_of(signature.public_key)
        try:
            check_signer(self.signers, principal=None, public_key=signature.public_key, namespace=NAMESPACE, at=self.at)
        except SignerNotAllowed as error:
            raise BundleRefused(
                f"{bundle.called}: it is signed with the key {by}, which {self.signers} does not allow to sign "
                f"bundles (namespace {NAMESPACE}): add a line for it if you trust its owner"
            ) from error
        except SignerExpired as error:
            raise BundleRefused(
                f"{bundle.called}: it is signed with the key {by}, which {self.signers} allows at another time only: "
                "have it signed with one that may now"
            ) from error
        return f"it is signed with {by}"


def read_pin(text: str) -> str:
    """A digest as a person gives it; raises `ConfigurationError`."""
    pinned = text.strip().lower().removeprefix("sha256:")
    if len(pinned) != 64 or not _DIGEST_LETTERS.issuperset(pinned):
        raise ConfigurationError(f"--sha256 {text[:100]!r}: give the 64 hex digits that `codesum export` printed")
    return pinned
