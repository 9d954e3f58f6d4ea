"""Signatures of files as `ssh-keygen -Y sign` makes them, with Ed25519 keys, and who may sign: an allowed-signers file.

The format of a signature is that of OpenSSH's PROTOCOL.sshsig: the namespace is signed with the file, so that a
signature for one purpose says nothing about another.

A line of an allowed-signers file is `PRINCIPALS [OPTIONS] KEYTYPE KEY [COMMENT]`, read as `ssh-keygen -Y verify` reads
it. A line that cannot be read allows nobody and is named in the error; the others count. Lines with `cert-authority`
are for certificates, which are not accepted here.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_private_key
from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import (
    CompactionRefused,
    ConfigurationError,
    SignatureInvalid,
    SignerExpired,
    SignerNotAllowed,
)

KEY_TYPE = b"ssh-ed25519"
_MAGIC = b"SSHSIG"
_VERSION = 1
_HASHES = {b"sha512": hashlib.sha512, b"sha256": hashlib.sha256}
_ARMOR = re.compile(r"-----BEGIN SSH SIGNATURE-----(?=\s)([A-Za-z0-9+/=\s]++)-----END SSH SIGNATURE-----\s*")
_LINE_CHARS = 70
_MAX_CHARS = 64 * 1024
_MAX_BYTES = 1 << 20

_KEY_TYPES = re.compile(r"(ssh-|ecdsa-|sk-)[A-Za-z0-9@.-]+$")
_PRINCIPALS = re.compile(r'(?:"([^"]*)"|([^\s"]\S*))[ \t]*')
_OPTIONS = re.compile(r'((?:\\"|"(?:\\"|[^"])*+"|[^\s"])++)[ \t]+')
_OPTION = re.compile(r'([A-Za-z-]+)(?:="((?:\\"|[^"])*)")?(?:,(?=.)|$)')
_KNOWN_OPTIONS = ("cert-authority", "namespaces", "valid-after", "valid-before")
_TIMES = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


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


def sign_message(message: bytes, key: Ed25519PrivateKey, *, namespace: str) -> str:
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
        try:
            key = load_ssh_private_key(data, None)
        except TypeError:
            # The library's word for a key that has a passphrase.
            key = load_ssh_private_key(data, ask_passphrase().encode())
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


def fingerprint_of(public_key: bytes) -> str:
    """The fingerprint of a key, as `ssh-keygen -l` shows it."""
    return f"SHA256:{base64.b64encode(hashlib.sha256(public_key).digest()).decode().rstrip('=')}"


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
        raise SignatureInvalid("it holds more than a signature: sign anew")
    return parts


class SignerLine(Struct, frozen=True):
    """Who may sign with which key, for what and when; None if a line does not say."""

    principals: str
    key: bytes
    is_authority: bool
    namespaces: str | None
    valid_after: datetime | None
    valid_before: datetime | None


class _Unreadable(ValueError):
    """A line cannot be parsed, with the reason."""


def check_signer(path: Path, *, principal: str | None, public_key: bytes, namespace: str, at: datetime) -> None:
    """Return where a line allows this key to sign for the principal (None: for anybody); raises `SignerNotAllowed`,
    `SignerExpired`."""
    refusal: CompactionRefused | None = None
    unreadable = []
    for number, text in _lines(path):
        try:
            line = _signer_line(text)
        except _Unreadable as error:
            unreadable.append(f"line {number}: {error}")
            continue
        is_theirs = principal is None or matches_patterns(principal, line.principals)
        if not line.is_authority and line.key == public_key and is_theirs:
            found = _refusal(line, f"{path}, line {number}", namespace, at)
            if found is None:
                return
            refusal = refusal or found
    if refusal:
        raise refusal
    unread = f" (not read: {'; '.join(unreadable)})" if unreadable else ""
    whose = f" for {principal!r}" if principal else ""
    raise SignerNotAllowed(
        f"{path} has no line{whose} with the key {fingerprint_of(public_key)}{unread}: "
        "add one if they may attest, or have an allowed person sign it"
    )


def matches_patterns(text: str, patterns: str) -> bool:
    """Whether OpenSSH's list of patterns holds a text: `*` and `?`, and none of those that begin with `!`."""
    # Brackets are letters there.
    found = [
        pattern for pattern in patterns.split(",") if fnmatchcase(text, pattern.removeprefix("!").replace("[", "[[]"))
    ]
    return bool(found) and not any(pattern.startswith("!") for pattern in found)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise SignerNotAllowed(
            f"there is no {path} (compaction.allowed_signers): write `PRINCIPAL ssh-ed25519 KEY` lines into it, "
            "one for each who may attest"
        ) from error
    if len(data) > _MAX_BYTES:
        raise SignerNotAllowed(f"{path} is larger than the {_MAX_BYTES:,} bytes that are read: shorten it")
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        text = line.strip(" \t\r")
        if text and not text.startswith("#"):
            yield number, text


def _signer_line(text: str) -> SignerLine:
    found = _PRINCIPALS.match(text)
    if not found:
        raise _Unreadable("its principals are not closed by a quotation mark")
    rest = text[found.end() :]
    if not rest:
        raise _Unreadable("it has no key")
    options = None
    if not _KEY_TYPES.match(rest.split()[0]):
        options = _OPTIONS.match(rest)
        if not options:
            raise _Unreadable("its options are not followed by a key")
    key = _key(rest[options.end() :] if options else rest)
    values = _options(options[1]) if options else {}
    after, before = _moment(values.get("valid-after")), _moment(values.get("valid-before"))
    if after and before and before <= after:
        raise _Unreadable("its valid-before is not after its valid-after")
    principals = found[2] if found[1] is None else found[1]
    return SignerLine(principals, key, "cert-authority" in values, values.get("namespaces"), after, before)


def _key(text: str) -> bytes:
    """The blob of a key, which must be of the type named before it."""
    kind, _, rest = text.partition(" ")
    if not _KEY_TYPES.match(kind) or not rest.split():
        raise _Unreadable("it has no key")
    try:
        blob = base64.b64decode(rest.split()[0], validate=True)
    except binascii.Error:
        raise _Unreadable("its key is no base64") from None
    if not blob.startswith(_packed(kind.encode())):
        raise _Unreadable(f"its key is none of the type {kind}")
    if kind.encode() == KEY_TYPE and len(blob) != 4 + len(kind) + 4 + 32:
        raise _Unreadable("its key has another length than Ed25519's")
    return blob


def _options(text: str) -> dict[str, str | None]:
    values: dict[str, str | None] = {}
    place = 0
    while place < len(text):
        found = _OPTION.match(text, place)
        name = found[1].lower() if found else ""
        if not found or name not in _KNOWN_OPTIONS or (found[2] is None) != (name == "cert-authority"):
            raise _Unreadable(f"its option {text[place:]!r} is not known")
        if name in values:
            raise _Unreadable(f"it has {name!r} twice")
        values[name] = found[2] and found[2].replace('\\"', '"')
        place = found.end()
    return values


def _moment(text: str | None) -> datetime | None:
    """`YYYYMMDD[HHMM[SS]]`, in UTC with a `Z` behind it, else in the time zone of this machine."""
    if text is None:
        return None
    digits = text.removesuffix("Z")
    try:
        moment = datetime.strptime(digits, _TIMES[len(digits)])
    except (KeyError, ValueError):
        raise _Unreadable(f"its time {text!r} is not YYYYMMDD[HHMM[SS]][Z]") from None
    return moment.replace(tzinfo=UTC) if text.endswith("Z") else moment.astimezone()


def _refusal(line: SignerLine, place: str, namespace: str, at: datetime) -> CompactionRefused | None:
    """Why the line of a key does not allow this signature."""
    if line.namespaces is not None and not matches_patterns(namespace, line.namespaces):
        return SignerNotAllowed(f"{place}: the key may sign for {line.namespaces!r} and not for {namespace!r}")
    if line.valid_after and at < line.valid_after:
        return SignerExpired(f"{place}: the key may not sign before {line.valid_after.isoformat()}")
    if line.valid_before and at > line.valid_before:
        return SignerExpired(
            f"{place}: the key may not sign after {line.valid_before.isoformat()}: have it signed with one that may"
        )
    return None
