"""Whose a bundle is: an allowed signer signed its header, or the caller pinned the header's sha256, its digest.

Without either a bundle is only taken where the caller says that nobody answers for it.
"""

from pathlib import Path

from msgspec import Struct

from codesum_pipeline.builds.bundles.bundle_file import OpenedBundle
from codesum_pipeline.builds.bundles.exporting import NAMESPACE
from codesum_pipeline.builds.compaction.ssh_signatures import SignatureRefused, find_signer
from codesum_pipeline.foundation.data_model.errors import BundleRefused, ConfigurationError
from codesum_pipeline.foundation.data_model.printable import one_line

_DIGEST_LETTERS = frozenset("0123456789abcdef")


class BundleTrust(Struct, frozen=True):
    """What the caller relies on; `signers` is an allowed-signers file."""

    signers: Path
    pinned: str | None
    is_unsigned_allowed: bool

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
        bundle.refuse(
            "it is not signed: pin the digest that `codesum export` printed (--sha256), have it exported with --sign "
            f"by one of {self.signers}, or, for a file of this machine that you trust, say --unsigned"
        )

    def _check_signature(self, bundle: OpenedBundle, text: str) -> str:
        if not self.signers.is_file():
            bundle.refuse(
                f"it is signed, and there is no {self.signers} that says by whom it may be (bundles.allowed_signers, "
                "--signers): write `NAME KEYTYPE KEY` lines into it, or pin its digest with --sha256"
            )
        try:
            signer = find_signer(bundle.header_bytes, text, self.signers, namespace=NAMESPACE)
        except SignatureRefused as error:
            raise BundleRefused(
                f"{bundle.called}: it is signed, but {self.signers} allows no signer of its present content for the "
                f"namespace {NAMESPACE} ({error}): add a line for the signer if you trust them, have it exported "
                "again with --sign, or pin its digest with --sha256"
            ) from error
        return f"it is signed by {one_line(signer)}"


def read_pin(text: str) -> str:
    """A digest as a person gives it; raises `ConfigurationError`."""
    pinned = text.strip().lower().removeprefix("sha256:")
    if len(pinned) != 64 or not _DIGEST_LETTERS.issuperset(pinned):
        raise ConfigurationError(f"--sha256 {text[:100]!r}: give the 64 hex digits that `codesum export` printed")
    return pinned
