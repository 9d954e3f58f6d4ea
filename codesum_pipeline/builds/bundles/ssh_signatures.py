"""A bundle's header is signed and checked by OpenSSH's own program, `ssh-keygen -Y`.

So any key of OpenSSH signs, also one in an agent or on a token, and a file of allowed signers means what it means to
git.
The namespace is signed with the header: a signature for another purpose does not count.
"""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import one_line

NAMESPACE = "codesum-bundle"


class SignatureRefused(Exception):
    """No allowed signer signed this header, with the reason as ssh-keygen gives it."""


def sign_header(header: bytes, key: Path) -> str:
    """The text of the signature; ssh-keygen asks for a passphrase itself. Raises `ConfigurationError`."""
    done = _run(["sign", "-n", NAMESPACE, "-f", str(key)], header)
    if done.returncode:
        raise ConfigurationError(f"key {key}: ssh-keygen cannot sign with it: {_reason(done)}")
    return done.stdout.decode("ascii", "replace")


def find_signer(header: bytes, signature: str, signers: Path) -> str:
    """Who signed a header, as the file of allowed signers names them.

    Raises `SignatureRefused`, and `ConfigurationError` where there is no ssh-keygen.
    """
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".sig") as file:
        file.write(signature)
        file.flush()
        checked = ["-s", file.name, "-f", str(signers)]
        found = _run(["find-principals", *checked], b"")
        reason = _reason(found)
        for principal in found.stdout.decode("utf-8", "replace").split("\n") if not found.returncode else ():
            if principal:
                done = _run(["verify", "-n", NAMESPACE, "-I", principal, *checked], header)
                if not done.returncode:
                    return principal
                reason = _reason(done)
    raise SignatureRefused(reason)


def _run(arguments: Sequence[str], data: bytes) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(["ssh-keygen", "-Y", *arguments], input=data, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise ConfigurationError(
            "signatures need the program ssh-keygen of OpenSSH 8.9 or later: install it, or pin the digest by --sha256"
        ) from error


def _reason(done: "subprocess.CompletedProcess[bytes]") -> str:
    return one_line(done.stderr.decode("utf-8", "replace")) or f"it ended with {done.returncode}"
