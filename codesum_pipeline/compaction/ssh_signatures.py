"""Signatures of files in OpenSSH's format, as `ssh-keygen -Y sign` makes them, with Ed25519 keys.

The format is that of OpenSSH's PROTOCOL.sshsig: the namespace is signed with
the file, so that a signature for one purpose says nothing about another.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_private_key
from msgspec import Struct

from codesum_pipeline.model.errors import ConfigurationError, SignatureInvalid

KEY_TYPE = b"ssh-ed25519"
_MAGIC = b"SSHSIG"
_VERSION = 1
_HASHES = {b"sha512": hashlib.sha512, b"sha256": hashlib.sha256}
_ARMOR = re.compile(r"-----BEGIN SSH SIGNATURE-----\s+([A-Za-z0-9+/=\s]+?)\s*-----END SSH SIGNATURE-----\s*")
_LINE_CHARS = 70
_MAX_CHARS = 64 * 1024


class SshSignature(Struct, frozen=True):
    """The content of a signature file. `public_key` is OpenSSH's blob of the key; `raw` are Ed25519's 64 bytes."""

    public_key: bytes
    namespace: bytes
    hash_name: bytes
    raw: bytes

    def check(self, message: bytes, *, namespace: str) -> None:
        """Raise `SignatureInvalid` unless this message was signed for this purpose."""
        if self.namespace != namespace.encode():
            raise SignatureInvalid(
                f"it was made for {self.namespace.decode('utf-8', 'replace')!r}, not for {namespace!r}: sign it anew"
            )
        key = Ed25519PublicKey.from_public_bytes(_key_bytes(self.public_key))
        try:
            key.verify(self.raw, _signed(message, self.namespace, self.hash_name))
        except InvalidSignature as error:
            raise SignatureInvalid("the file is not the one that was signed: attest and sign it anew") from error


def sign(message: bytes, key: Ed25519PrivateKey, *, namespace: str) -> str:
    """The signature file's text, the bytes that `ssh-keygen -Y sign -n NAMESPACE` gives with the same key."""
    hash_name = b"sha512"
    raw = key.sign(_signed(message, namespace.encode(), hash_name))
    parts = (public_blob(key), namespace.encode(), b"", hash_name, _packed(KEY_TYPE, raw))
    blob = base64.b64encode(_MAGIC + _VERSION.to_bytes(4) + _packed(*parts)).decode()
    lines = [blob[start : start + _LINE_CHARS] for start in range(0, len(blob), _LINE_CHARS)]
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""])


def read_signature(text: str) -> SshSignature:
    """Read a signature file; raises `SignatureInvalid`."""
    found = _ARMOR.fullmatch(text.strip()) if len(text) <= _MAX_CHARS else None
    if found is None:
        raise SignatureInvalid("there is no SSH signature in it: sign with `codesum attest sign`")
    try:
        blob = base64.b64decode("".join(found[1].split()), validate=True)
    except binascii.Error as error:
        raise SignatureInvalid(f"it is no base64: {error}: sign anew") from error
    if not blob.startswith(_MAGIC + _VERSION.to_bytes(4)):
        raise SignatureInvalid(f"it is not one of OpenSSH's format {_VERSION}: sign anew")
    public_key, namespace, _reserved, hash_name, signature = _unpacked(blob[len(_MAGIC) + 4 :], 5)
    if hash_name not in _HASHES:
        raise SignatureInvalid(f"its hash {hash_name.decode('utf-8', 'replace')!r} is not known: sign with sha512")
    _key_bytes(public_key)
    kind, raw = _unpacked(signature, 2)
    if kind != KEY_TYPE:
        raise SignatureInvalid(f"it is of the type {kind.decode('utf-8', 'replace')!r}: sign with an Ed25519 key")
    return SshSignature(public_key, namespace, hash_name, raw)


def load_key(path: Path, ask_passphrase: Callable[[], str]) -> Ed25519PrivateKey:
    """An OpenSSH private key; `ask_passphrase` is called where it is encrypted. Raises `ConfigurationError`."""
    data = path.read_bytes()
    try:
        key = _load(data, ask_passphrase)
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise ConfigurationError(
            f"key {path}: it is no OpenSSH private key, or has another passphrase ({str(error).rstrip('.')})"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigurationError(f"key {path} is no Ed25519 key: make one with `ssh-keygen -t ed25519`")
    return key


def public_blob(key: Ed25519PrivateKey) -> bytes:
    """OpenSSH's blob of the public key."""
    return _packed(KEY_TYPE, key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))


def fingerprint(public_key: bytes) -> str:
    """The fingerprint of a key, as `ssh-keygen -l` shows it."""
    return f"SHA256:{base64.b64encode(hashlib.sha256(public_key).digest()).decode().rstrip('=')}"


def _load(data: bytes, ask_passphrase: Callable[[], str]) -> object:
    try:
        return load_ssh_private_key(data, None)
    except TypeError:
        # The library's word for a key that has a passphrase.
        return load_ssh_private_key(data, ask_passphrase().encode())


def _signed(message: bytes, namespace: bytes, hash_name: bytes) -> bytes:
    return _MAGIC + _packed(namespace, b"", hash_name, _HASHES[hash_name](message).digest())


def _key_bytes(public_key: bytes) -> bytes:
    """The 32 bytes of an Ed25519 key."""
    kind, *_ = _unpacked(public_key, 1, may_have_more=True)
    if kind != KEY_TYPE:
        named = kind.decode("utf-8", "replace")
        raise SignatureInvalid(f"its key is of the type {named!r}: sign with an Ed25519 key")
    _, raw = _unpacked(public_key, 2)
    if len(raw) != 32:
        raise SignatureInvalid(f"its Ed25519 key has {len(raw)} bytes instead of 32: sign anew")
    return raw


def _packed(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4) + part for part in parts)


def _unpacked(data: bytes, count: int, *, may_have_more: bool = False) -> list[bytes]:
    """Read `count` strings, each with its length before it."""
    parts = []
    for _ in range(count):
        length = int.from_bytes(data[:4])
        if len(data) < 4 + length:
            raise SignatureInvalid("it is cut off: sign anew")
        parts.append(data[4 : 4 + length])
        data = data[4 + length :]
    if data and not may_have_more:
        raise SignatureInvalid("more stands in it than belongs to a signature: sign anew")
    return parts
