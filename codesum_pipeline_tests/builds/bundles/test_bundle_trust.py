"""A bundle is taken of an allowed signer, or by its digest; else only a file of this machine, where that is said."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codesum_pipeline.builds.bundles.bundle_file import HEADER, SIGNATURE, opened_bundle
from codesum_pipeline.builds.bundles.bundle_trust import BundleTrust, read_pin
from codesum_pipeline.builds.bundles.exporting import NAMESPACE
from codesum_pipeline.builds.compaction.signatures import load_key, sign_message
from codesum_pipeline.foundation.data_model.errors import BundleRefused, ConfigurationError
from codesum_pipeline_tests.builds.compaction.test_ssh_signatures import needs_ssh_keygen
from codesum_pipeline_tests.support.bundles import Members, change_header, members_of, write_members
from codesum_pipeline_tests.support.compaction_home import KEYS

AT = datetime(2026, 6, 15, 12, tzinfo=UTC)
KEY = " ".join((KEYS / "plain_key.pub").read_text().split()[:2])
OTHER = " ".join((KEYS / "another_key.pub").read_text().split()[:2])


def signed(members: Members, *, namespace: str = NAMESPACE) -> Members:
    key = load_key(KEYS / "plain_key", lambda: "")
    return {**members, SIGNATURE: sign_message(members[HEADER], key, namespace=namespace).encode()}


class Bundle:
    """A bundle as it may arrive, and who may sign."""

    def __init__(self, once: Path, folder: Path) -> None:
        self.members = members_of(once / "shop.codesum")
        self.file, self.signers = folder / "shop.codesum", folder / "signers"

    def check(
        self, members: Members, *, signers: str | None = None, pinned: str | None = None, unsigned: bool = False,
        is_local: bool = True,
    ) -> str:  # fmt: skip
        write_members(self.file, members)
        if signers is not None:
            self.signers.write_text(signers)
        trust = BundleTrust(self.signers, pinned, is_unsigned_allowed=unsigned, is_local=is_local, at=AT)
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
    assert bundle.check(signed(bundle.members), signers=line).startswith("it is signed with SHA256:")


NOT_SIGNED_BY = {
    "another key": (f"ci@example.org {OTHER}", "which .*signers does not allow to sign bundles"),
    "a key for something else": (f'ci@example.org namespaces="git" {KEY}', r"namespace codesum-bundle\): add a line"),
    "a key of last year": (f'ci@example.org valid-before="20260101Z" {KEY}', "allows at another time only"),
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

    with pytest.raises(BundleRefused, match="its signature is not one of this bundle: it was changed"):
        bundle.check({**members, SIGNATURE: signature}, signers=f"ci {KEY}")


def test_a_signature_for_another_purpose_is_refused(bundle: Bundle) -> None:
    with pytest.raises(BundleRefused, match="or signed for something else"):
        bundle.check(signed(bundle.members, namespace="codesum-attestation"), signers=f"ci {KEY}")


def test_what_is_no_signature_is_refused(bundle: Bundle) -> None:
    with pytest.raises(BundleRefused, match="its signature is not one of this bundle"):
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
    with pytest.raises(BundleRefused, match="it is not signed: .*, or, if you trust this very file, say --unsigned$"):
        bundle.check(bundle.members, signers=f"ci {KEY}")
    with pytest.raises(BundleRefused, match="it is not signed: ((?!--unsigned).)*$"):
        bundle.check(bundle.members, is_local=False)


@pytest.mark.parametrize("text", ["", "abc", "g" * 64, "0" * 63, "0" * 65])
def test_a_pin_that_is_no_digest_is_named(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--sha256 .*64 hex digits"):
        read_pin(text)


def test_a_pin_may_be_written_as_other_programs_do() -> None:
    assert read_pin(f"sha256:{'AB' * 32}\n") == "ab" * 32


@needs_ssh_keygen
def test_ssh_keygen_verifies_the_same_signature(bundle: Bundle, tmp_path: Path) -> None:
    members = signed(bundle.members)
    (tmp_path / "sig").write_bytes(members[SIGNATURE])
    (tmp_path / "signers").write_text(f"ci {KEY}\n")

    done = subprocess.run(
        ["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "ci", "-n", NAMESPACE, "-s", "sig"],
        cwd=tmp_path, input=members[HEADER], capture_output=True, timeout=30,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
