"""Signatures are those of OpenSSH: its recorded ones, and where the program is there, it reads ours and we read its."""

import base64
import shutil
import subprocess
from pathlib import Path

import pytest

from codesum_pipeline.builds.compaction.attestation import NAMESPACE
from codesum_pipeline.builds.compaction.signatures import (
    fingerprint_of,
    load_key,
    public_blob,
    read_signature,
    sign_message,
)
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, SignatureInvalid
from codesum_pipeline_tests.support.compaction_home import KEYS

# Keys that guard nothing, a message, and what ssh-keygen 9.2 made of them.
PASSPHRASE = "a test passphrase"
MESSAGE = (KEYS / "message").read_bytes()
needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


def recorded(name: str) -> str:
    return (KEYS / name).read_text()


def never() -> str:
    raise AssertionError("nobody asks for the passphrase of a key that has none")


@pytest.fixture(scope="module")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As OpenSSH wants it: nobody else may read it."""
    path = tmp_path_factory.mktemp("keys") / "key"
    path.write_text(recorded("plain_key"))
    path.chmod(0o600)
    return path


def test_a_signature_is_byte_for_byte_the_one_that_openssh_makes() -> None:
    assert sign_message(MESSAGE, load_key(KEYS / "plain_key", never), namespace=NAMESPACE) == recorded("plain.sig")


def test_an_encrypted_key_signs_as_the_plain_one_does() -> None:
    assert sign_message(MESSAGE, load_key(KEYS / "encrypted_key", lambda: PASSPHRASE), namespace=NAMESPACE) == recorded(
        "plain.sig"
    )


@pytest.mark.parametrize("name", ["plain.sig", "sha256.sig"])
def test_a_signature_of_openssh_holds(name: str) -> None:
    found = read_signature(recorded(name))

    found.check(MESSAGE, namespace=NAMESPACE)
    assert found.public_key == base64.b64decode(recorded("plain_key.pub").split()[1])


@pytest.mark.parametrize(
    ("text", "message", "reason"),
    [
        pytest.param(recorded("plain.sig"), MESSAGE + b" ", "not the one that was signed", id="a changed byte"),
        pytest.param(recorded("other_namespace.sig"), MESSAGE, "'file', not for", id="for another purpose"),
        pytest.param(recorded("ecdsa.sig"), MESSAGE, "ecdsa-sha2-nistp256", id="an ECDSA key"),
        pytest.param(recorded("rsa.sig"), MESSAGE, "ssh-rsa", id="an RSA key"),
        pytest.param("", MESSAGE, "no SSH signature", id="an empty file"),
        pytest.param(recorded("plain.sig") * 2, MESSAGE, "no base64|no SSH", id="two signatures"),
        pytest.param(recorded("plain.sig").replace("U1NIU0lH", "U1NIU0lI"), MESSAGE, "OpenSSH's format", id="magic"),
        pytest.param(recorded("plain.sig")[:150] + "\n-----END SSH SIGNATURE-----", MESSAGE, ".", id="cut off"),
    ],
)
def test_what_is_no_signature_of_the_message_is_refused(text: str, message: bytes, reason: str) -> None:
    with pytest.raises(SignatureInvalid, match=f"^attestation_signature_invalid: .*({reason})"):
        read_signature(text).check(message, namespace=NAMESPACE)


@pytest.mark.parametrize(
    ("name", "passphrase", "reason"),
    [
        pytest.param("encrypted_key", "another", "another passphrase", id="a wrong passphrase"),
        pytest.param("encrypted_key", "", "another passphrase", id="no passphrase"),
        pytest.param("ecdsa_key", "", "no Ed25519 key", id="another type"),
        pytest.param("message", "", "no OpenSSH private key", id="no key"),
        pytest.param("plain_key.pub", "", "no OpenSSH private key", id="a public key"),
    ],
)
def test_a_key_that_cannot_sign_is_named(name: str, passphrase: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name}.*{reason}"):
        load_key(KEYS / name, lambda: passphrase)


@needs_ssh_keygen
def test_the_real_ssh_keygen_takes_our_signature(tmp_path: Path, key_file: Path) -> None:
    (tmp_path / "m.sig").write_text(sign_message(MESSAGE, load_key(key_file, never), namespace=NAMESPACE))
    (tmp_path / "signers").write_text(f"ops@example.org {recorded('plain_key.pub')}")

    command = ["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "ops@example.org", "-n", NAMESPACE, "-s", "m.sig"]
    done = subprocess.run(command, cwd=tmp_path, input=MESSAGE, capture_output=True, timeout=30)

    assert done.returncode == 0, done.stderr


@needs_ssh_keygen
def test_we_take_the_signature_of_the_real_ssh_keygen(tmp_path: Path, key_file: Path) -> None:
    message = tmp_path / "m"
    message.write_bytes(b"another message\n")

    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", key_file, "-n", NAMESPACE, message], check=True, timeout=30)

    found = read_signature(message.with_name("m.sig").read_text())
    found.check(b"another message\n", namespace=NAMESPACE)
    assert found.public_key == public_blob(load_key(key_file, never))


@needs_ssh_keygen
def test_a_fingerprint_is_the_one_that_ssh_keygen_shows(key_file: Path) -> None:
    shown = subprocess.run(["ssh-keygen", "-l", "-f", KEYS / "plain_key.pub"], capture_output=True, text=True)

    assert fingerprint_of(public_blob(load_key(key_file, never))) == shown.stdout.split()[1]
