"""Attestations and shared builds are signed and checked by OpenSSH's own program, `ssh-keygen -Y`.

So a key may have a passphrase or be in an agent, and a file of allowed signers means what it means to git. The
namespace is signed with the data: a signature for another purpose does not count.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import one_line

# Checking takes milliseconds; nobody is asked for a passphrase then.
_CHECKED_WITHIN_S = 30.0
_SIGNED_BY = re.compile(r" signature with (?P<kind>\S+) key (?P<fingerprint>\S+)$")


class SignatureRefused(Exception):
    """A signature does not hold, or no allowed signer made it, with the reason as ssh-keygen gives it."""


def sign_data(data: bytes, key: Path, *, namespace: str) -> str:
    """The text of the signature; ssh-keygen asks for a passphrase itself. Raises `ConfigurationError`."""
    done = _run(["sign", "-n", namespace, "-f", str(key)], data)
    if done.returncode:
        raise ConfigurationError(f"key {key}: ssh-keygen cannot sign with it: {_reason(done)}")
    return done.stdout.decode("ascii", "replace")


def check_signature(data: bytes, signature: str, *, namespace: str) -> tuple[str, str]:
    """The type of the key that signed the data, as `ED25519`, and its fingerprint; whose it is, is not asked.

    Raises `SignatureRefused`, and `ConfigurationError` where there is no ssh-keygen, as the next two functions do.
    """
    with _file_of(signature) as file:
        done = _checked(["check-novalidate", "-n", namespace, "-s", file], data)
    found = _SIGNED_BY.search(done.strip())
    if found is None:
        raise SignatureRefused(f"the answer of ssh-keygen is not known: {one_line(done)}")
    return found["kind"], found["fingerprint"]


def check_signer(data: bytes, signature: str, signers: Path, principal: str, *, namespace: str) -> None:
    """Return where the file of allowed signers lets the principal sign for this purpose now, with the key used."""
    with _file_of(signature) as file:
        _checked(["verify", "-n", namespace, "-I", principal, "-s", file, "-f", str(signers)], data)


def find_signer(data: bytes, signature: str, signers: Path, *, namespace: str) -> str:
    """Who signed the data, as the file of allowed signers names them."""
    with _file_of(signature) as file:
        found = _checked(["find-principals", "-s", file, "-f", str(signers)], b"")
    refusal = SignatureRefused("no principal is named for the key")
    for principal in filter(None, found.split("\n")):
        try:
            check_signer(data, signature, signers, principal, namespace=namespace)
        except SignatureRefused as error:
            refusal = error
        else:
            return principal
    raise refusal


@contextmanager
def _file_of(signature: str) -> Iterator[str]:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="replace", suffix=".sig") as file:
        file.write(signature)
        file.flush()
        yield file.name


def _checked(arguments: Sequence[str], data: bytes) -> str:
    """What ssh-keygen says of a signature that it takes."""
    try:
        done = _run(arguments, data, within_s=_CHECKED_WITHIN_S)
    except subprocess.TimeoutExpired as error:
        raise SignatureRefused(f"ssh-keygen did not answer within {_CHECKED_WITHIN_S:g} s") from error
    except ValueError as error:
        raise SignatureRefused("a name has a letter that no program can be given (NUL)") from error
    if done.returncode:
        raise SignatureRefused(_reason(done))
    return done.stdout.decode("utf-8", "replace")


def _run(
    arguments: Sequence[str], data: bytes, *, within_s: float | None = None
) -> "subprocess.CompletedProcess[bytes]":
    command = ["ssh-keygen", "-Y", *arguments]
    try:
        return subprocess.run(command, input=data, capture_output=True, check=False, timeout=within_s)
    except FileNotFoundError as error:
        raise ConfigurationError(
            "signatures need the program ssh-keygen of OpenSSH 8.9 or later: install it"
        ) from error


def _reason(done: "subprocess.CompletedProcess[bytes]") -> str:
    return one_line(done.stderr.decode("utf-8", "replace")) or f"it ended with {done.returncode}"
