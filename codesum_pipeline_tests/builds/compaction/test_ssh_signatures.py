"""An attestation is signed by ssh-keygen: which signatures and which lines of allowed signers count."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.compaction import ssh_signatures
from codesum_pipeline.builds.compaction.attestation import (
    NAMESPACE,
    SignedAttestation,
    read_signed,
    sign_attestation,
    signature_path,
)
from codesum_pipeline.builds.compaction.ssh_signatures import sign_data
from codesum_pipeline.foundation.data_model.errors import (
    ConfigurationError,
    SignatureInvalid,
    SignerExpired,
    SignerNotAllowed,
)
from codesum_pipeline_tests.builds.compaction.test_attestation import JOB
from codesum_pipeline_tests.support.ssh_keys import key_in, needs_ssh_keygen, recorded

pytestmark = needs_ssh_keygen
PASSPHRASE = "a test passphrase"
MESSAGE = recorded("message").encode()
OPS = "ops@example.org"
KEY = " ".join(recorded("plain_key.pub").split()[:2])
OTHER = " ".join(recorded("ecdsa_key.pub").split()[:2])
# The checks do not read what was attested, only by whom.
RECORDED = SignedAttestation(replace(JOB, attested_by=OPS), MESSAGE, recorded("plain.sig"))


@pytest.fixture
def passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program that ssh-keygen asks for one where there is no terminal."""
    program = tmp_path / "ask"
    program.write_text(f"#!/bin/sh\necho '{PASSPHRASE}'\n")
    program.chmod(0o700)
    monkeypatch.setenv("SSH_ASKPASS", str(program))
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    return program


@pytest.mark.parametrize("name", ["plain_key", "encrypted_key"])
def test_a_signature_is_the_one_that_was_recorded(tmp_path: Path, passphrase: Path, name: str) -> None:
    assert sign_data(MESSAGE, key_in(tmp_path, name), namespace=NAMESPACE) == recorded("plain.sig")


@pytest.mark.parametrize("name", ["plain.sig", "sha256.sig"])
def test_a_signature_that_holds_names_its_key(name: str) -> None:
    found = replace(RECORDED, signature=recorded(name)).check_signature()

    assert found == "SHA256:pmJtk482whXh5MS4DO7afiRrSE22hHCrhnzWb0GMeng"


@pytest.mark.parametrize(
    ("text", "message", "reason"),
    [
        pytest.param(recorded("plain.sig"), MESSAGE + b" ", "incorrect signature", id="a changed byte"),
        pytest.param(recorded("other_namespace.sig"), MESSAGE, "namespace does not match", id="for another purpose"),
        pytest.param(recorded("ecdsa.sig"), MESSAGE, "type ECDSA: sign with an Ed25519", id="an ECDSA key"),
        pytest.param(recorded("rsa.sig"), MESSAGE, "type RSA: sign with an Ed25519", id="an RSA key"),
        pytest.param("", MESSAGE, "none of this file", id="an empty file"),
        pytest.param(recorded("plain.sig").replace("U1NIU0lH", "U1NIU0lI"), MESSAGE, "none of this file", id="magic"),
        pytest.param(recorded("plain.sig")[:150] + "\n-----END SSH SIGNATURE-----", MESSAGE, "none of", id="cut off"),
    ],
)
def test_what_is_no_signature_of_the_message_is_refused(text: str, message: bytes, reason: str) -> None:
    with pytest.raises(SignatureInvalid, match=f"^attestation_signature_invalid: .*{reason}"):
        replace(RECORDED, data=message, signature=text).check_signature()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("encrypted_key", "incorrect passphrase", id="a wrong passphrase"),
        pytest.param("message", "", id="no key"),
        pytest.param("plain_key.pub", "", id="a public key that is in no agent"),
    ],
)
def test_a_key_that_cannot_sign_is_named(tmp_path: Path, passphrase: Path, name: str, reason: str) -> None:
    passphrase.write_text("#!/bin/sh\necho another\n")

    with pytest.raises(ConfigurationError, match=f"{name}: ssh-keygen cannot sign with it: .*{reason}"):
        sign_data(MESSAGE, key_in(tmp_path, name), namespace=NAMESPACE)


def test_a_key_of_another_type_does_not_sign_an_attestation(tmp_path: Path) -> None:
    with pytest.raises(SignatureInvalid, match="a key of type ECDSA: sign with an Ed25519 key"):
        sign_attestation(JOB, JOB.to_bytes(), key_in(tmp_path, "ecdsa_key"))


def test_without_ssh_keygen_the_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ConfigurationError, match=r"signatures need the program ssh-keygen of OpenSSH .*: install it"):
        RECORDED.check_signature()


def test_a_program_that_does_not_answer_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ssh-keygen"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(ssh_signatures, "_CHECKED_WITHIN_S", 0.2)

    with pytest.raises(SignatureInvalid, match=r"did not answer within 0\.2 s"):
        RECORDED.check_signature()


def test_a_name_that_no_program_can_be_given_is_refused(tmp_path: Path) -> None:
    (tmp_path / "signers").write_text(f"{OPS} {KEY}")
    named = replace(RECORDED, attestation=replace(RECORDED.attestation, attested_by=f"{OPS}\0"))

    with pytest.raises(SignerNotAllowed, match="NUL"):
        named.check_signer(tmp_path / "signers")


def test_a_signature_in_letters_that_are_none_is_refused() -> None:
    with pytest.raises(SignatureInvalid):
        replace(RECORDED, signature="\ud800").check_signature()


def test_a_signature_longer_than_any_is_cut_and_refused(tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_bytes(JOB.to_bytes())
    signature_path(file).write_text(" " * (1 << 20) + recorded("plain.sig"))

    with pytest.raises(SignatureInvalid):
        read_signed(file).check_signature()


ALLOWED = {
    "a plain line": f"{OPS} {KEY}",
    "after comments, empty lines and other keys": f"# who may\n\n \t# attest\n{OPS} {OTHER}\n{OPS} {KEY}\n",
    "a pattern and a negated one": f"*@example.org,!root@example.org {KEY}",
    "our namespace among others": f'{OPS} namespaces="git,{NAMESPACE}" {KEY}',
    "within its time": f'{OPS} valid-after="20260101Z",valid-before="20990101Z" {KEY}',
    "an expired line before a good one": f'{OPS} valid-before="20200101Z" {KEY}\n{OPS} {KEY}',
    "a broken line before a good one": f"{OPS} nonsense=\n{OPS} {KEY}",
}
NOT_ALLOWED = {
    "an empty file": ("", ""),
    "another key": (f"{OPS} {OTHER}", ""),
    "another principal": (f"root@example.org {KEY}", ""),
    "a negated principal": (f"*@example.org,!{OPS} {KEY}", ""),
    "an authority of certificates": (f"{OPS} cert-authority {KEY}", ""),
    "another namespace": (f'{OPS} namespaces="git,file" {KEY}', r"signers:1: .*namespace"),
    "a negated namespace": (f'{OPS} namespaces="*,!{NAMESPACE}" {KEY}', r"signers:1: .*namespace"),
    "an unknown option": (f"# who may\n{OPS} touch-required {KEY}", "signers:2: bad options"),
    "a time that is none": (f'{OPS} valid-before="soon" {KEY}', "signers:1: bad options"),
    "no key": (OPS, "signers:1: "),
}
OUTSIDE_ITS_TIME = {
    "expired": f'{OPS} valid-before="20260101Z" {KEY}',
    "not valid yet": f'{OPS} valid-after="20990101Z" {KEY}',
}


def check(folder: Path, text: str) -> None:
    (folder / "signers").write_text(text)
    RECORDED.check_signer(folder / "signers")


@pytest.mark.parametrize("text", ALLOWED.values(), ids=ALLOWED)
def test_a_line_that_allows_the_signer_is_found(tmp_path: Path, text: str) -> None:
    check(tmp_path, text)


@pytest.mark.parametrize(("text", "reason"), NOT_ALLOWED.values(), ids=NOT_ALLOWED)
def test_a_signer_without_a_line_of_their_own_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(SignerNotAllowed, match=f"^attestation_signer_not_allowed: .*{reason}"):
        check(tmp_path, text)


@pytest.mark.parametrize("text", OUTSIDE_ITS_TIME.values(), ids=OUTSIDE_ITS_TIME)
def test_a_signer_outside_their_time_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SignerExpired, match="^attestation_signer_expired: .*signers:1: "):
        check(tmp_path, text)


def test_a_file_that_is_not_there_allows_nobody(tmp_path: Path) -> None:
    with pytest.raises(SignerNotAllowed, match="compaction.allowed_signers"):
        RECORDED.check_signer(tmp_path / "none")
