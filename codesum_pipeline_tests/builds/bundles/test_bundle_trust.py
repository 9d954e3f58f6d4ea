"""A bundle is taken of an allowed signer, or by its digest; else only a file of this machine, where that is said."""

import subprocess
import tempfile
from pathlib import Path

import pytest

from codesum_pipeline.builds.bundles.bundle_file import HEADER, SIGNATURE, opened_bundle
from codesum_pipeline.builds.bundles.bundle_trust import BundleTrust, read_pin
from codesum_pipeline.builds.bundles.exporting import NAMESPACE
from codesum_pipeline.foundation.data_model.errors import BundleRefused, ConfigurationError
from codesum_pipeline_tests.support.bundles import Members, change_header, members_of, write_members
from codesum_pipeline_tests.support.ssh_keys import key_in, needs_ssh_keygen, recorded

pytestmark = needs_ssh_keygen
KEY = " ".join(recorded("plain_key.pub").split()[:2])
OTHER = " ".join(recorded("another_key.pub").split()[:2])


def signed(members: Members, *, namespace: str = NAMESPACE) -> Members:
    """Signed by another program of OpenSSH than ours calls, for whichever purpose."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["ssh-keygen", "-Y", "sign", "-n", namespace, "-f", key_in(Path(folder))],
            input=members[HEADER], capture_output=True, check=True, timeout=30,
        )  # fmt: skip
    return {**members, SIGNATURE: done.stdout}


class Bundle:
    """A bundle as it may arrive, and who may sign."""

    def __init__(self, once: Path, folder: Path) -> None:
        self.members = members_of(once / "shop.codesum")
        self.file, self.signers = folder / "shop.codesum", folder / "signers"

    def check(
        self, members: Members, *, signers: str | None = None, pinned: str | None = None, unsigned: bool = False
    ) -> str:
        write_members(self.file, members)
        if signers is not None:
            self.signers.write_text(signers)
        trust = BundleTrust(self.signers, pinned, is_unsigned_allowed=unsigned)
        with opened_bundle(self.file, called="shop.codesum", max_mb=100) as bundle:
            return trust.check(bundle)

    def digest(self) -> str:
        with opened_bundle(self.file, called="", max_mb=100) as bundle:
            return bundle.digest


@pytest.fixture
def bundle(exported_once: Path, tmp_path: Path) -> Bundle:
    return Bundle(exported_once, tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(f"ci@example.org {KEY}", id="for anything"),
        pytest.param(f'ci@example.org namespaces="codesum-bundle" {KEY}', id="for bundles"),
        pytest.param(f"ci@example.org {OTHER}\nsomebody {KEY}", id="whoever they are"),
    ],
)
def test_a_bundle_of_an_allowed_signer_is_taken(bundle: Bundle, line: str) -> None:
    assert bundle.check(signed(bundle.members), signers=line) in (
        "it is signed by ci@example.org",
        "it is signed by somebody",
    )


NOT_SIGNED_BY = {
    "another key": (f"ci@example.org {OTHER}", "No principal matched"),
    "a key for something else": (
        f'ci@example.org namespaces="git" {KEY}',
        "not permitted for use in signature namespace .codesum-bundle.",
    ),
    "a key of last year": (f'ci@example.org valid-before="20260101Z" {KEY}', "key has expired"),
    "no file of signers": (None, r"there is no .*signers .*\(bundles.allowed_signers, --signers\)"),
}


@pytest.mark.parametrize(("line", "message"), NOT_SIGNED_BY.values(), ids=NOT_SIGNED_BY)
def test_a_bundle_of_another_signer_is_refused(bundle: Bundle, line: str | None, message: str) -> None:
    with pytest.raises(BundleRefused, match=rf"^shop.codesum: it is signed.*{message}"):
        bundle.check(signed(bundle.members), signers=line)


def test_a_header_that_was_changed_after_it_was_signed_is_refused(bundle: Bundle) -> None:
    members = signed(bundle.members)
    signature = members[SIGNATURE]
    change_header(members, lambda header: header.update(key="other"))

    with pytest.raises(BundleRefused, match="incorrect signature"):
        bundle.check({**members, SIGNATURE: signature}, signers=f"ci {KEY}")


def test_a_signature_for_another_purpose_is_refused(bundle: Bundle) -> None:
    with pytest.raises(BundleRefused, match="allows no signer of its present content for the namespace codesum-bundle"):
        bundle.check(signed(bundle.members, namespace="codesum-attestation"), signers=f"ci {KEY}")


def test_what_is_no_signature_is_refused(bundle: Bundle) -> None:
    with pytest.raises(BundleRefused, match="allows no signer of its present content"):
        bundle.check({**bundle.members, SIGNATURE: b"\xff" * 100}, signers=f"ci {KEY}")


def test_a_pinned_digest_is_enough_and_another_one_is_refused(bundle: Bundle) -> None:
    bundle.check(bundle.members, unsigned=True)
    digest = bundle.digest()

    assert bundle.check(bundle.members, pinned=digest) == "its digest is the pinned one"
    with pytest.raises(BundleRefused, match=f"its digest is {digest}, not the one of --sha256 0000"):
        bundle.check(bundle.members, pinned="0" * 64)


def test_a_pin_is_not_the_sha256_of_a_signed_header_alone(bundle: Bundle) -> None:
    bundle.check(signed(bundle.members), signers=f"ci {KEY}")
    digest = bundle.digest()
    changed = dict(bundle.members)
    change_header(changed, lambda header: header.update(documents=1))

    with pytest.raises(BundleRefused, match="--sha256"):
        bundle.check(changed, pinned=digest)


def test_an_unsigned_bundle_is_taken_from_this_machine_where_that_is_said(bundle: Bundle) -> None:
    assert bundle.check(bundle.members, unsigned=True) == "nobody answers for it (--unsigned)"
    with pytest.raises(
        BundleRefused, match="it is not signed: .*, or, for a file of this machine that you trust, say --unsigned$"
    ):
        bundle.check(bundle.members, signers=f"ci {KEY}")


@pytest.mark.parametrize("text", ["", "abc", "g" * 64, "0" * 63, "0" * 65])
def test_a_pin_that_is_no_digest_is_named(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--sha256 .*64 hex digits"):
        read_pin(text)


def test_a_pin_may_be_written_as_other_programs_do() -> None:
    assert read_pin(f"sha256:{'AB' * 32}\n") == "ab" * 32
