"""Who may sign: an allowed-signers file, read as `ssh-keygen -Y verify` reads it.

A line is `PRINCIPALS [OPTIONS] KEYTYPE KEY [COMMENT]`. A line that cannot be
read allows nobody and is told; the others count. Lines with `cert-authority`
are for certificates, which are not taken here.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.compaction.ssh_signatures import KEY_TYPE, fingerprint
from codesum_pipeline.model.errors import CompactionRefused, SignerExpired, SignerNotAllowed

_KEY_TYPES = re.compile(r"(ssh-|ecdsa-|sk-)[A-Za-z0-9@.-]+$")
_PRINCIPALS = re.compile(r'(?:"([^"]*)"|([^\s"]\S*))[ \t]*')
_OPTIONS = re.compile(r'((?:\\"|"(?:\\"|[^"])*"|[^\s"])+)[ \t]+')
_OPTION = re.compile(r'([A-Za-z-]+)(?:="((?:\\"|[^"])*)")?(?:,(?=.)|$)')
_TIMES = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_MAX_BYTES = 1 << 20


class SignerLine(Struct, frozen=True):
    """One line: who it is for, which key, for what and when; None where a line does not say."""

    number: int
    principals: str
    key: bytes
    is_authority: bool = False
    namespaces: str | None = None
    valid_after: datetime | None = None
    valid_before: datetime | None = None


class _Unreadable(ValueError):
    """What is wrong with a line."""


def check_signer(path: Path, *, principal: str, public_key: bytes, namespace: str, at: datetime) -> None:
    """Return where a line allows this key to sign for the principal; raises `SignerNotAllowed`, `SignerExpired`."""
    refusal: CompactionRefused | None = None
    unreadable = []
    for number, text in _lines(path):
        try:
            line = _read(number, text)
        except _Unreadable as error:
            unreadable.append(f"line {number}: {error}")
            continue
        if line.is_authority or line.key != public_key or not matches(principal, line.principals):
            continue
        found = _refusal(line, path, namespace, at)
        if found is None:
            return
        refusal = refusal or found
    if refusal:
        raise refusal
    told = f" (not read: {'; '.join(unreadable)})" if unreadable else ""
    raise SignerNotAllowed(
        f"{path} has no line for {principal!r} with the key {fingerprint(public_key)}{told}: "
        "add one if they may attest, or have it signed by who may"
    )


def matches(text: str, patterns: str) -> bool:
    """Whether OpenSSH's list of patterns holds a text: `*` and `?`, and none of those that begin with `!`."""
    is_found = False
    for pattern in patterns.split(","):
        is_negated = pattern.startswith("!")
        if _pattern(pattern.removeprefix("!")).fullmatch(text):
            if is_negated:
                return False
            is_found = True
    return is_found


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


def _read(number: int, text: str) -> SignerLine:
    found = _PRINCIPALS.match(text)
    if not found:
        raise _Unreadable("its principals are not closed by a quotation mark")
    principals, rest = found[1] if found[1] is not None else found[2], text[found.end() :]
    if not rest:
        raise _Unreadable("it has no key")
    if _KEY_TYPES.match(rest.split()[0]):
        return SignerLine(number, principals, _key(rest))
    options = _OPTIONS.match(rest)
    if not options:
        raise _Unreadable("its options are not followed by a key")
    return _with_options(SignerLine(number, principals, _key(rest[options.end() :])), options[1])


def _key(text: str) -> bytes:
    """The blob of a key, whose own type is the one that is told."""
    kind, _, rest = text.partition(" ")
    if not _KEY_TYPES.match(kind) or not rest.split():
        raise _Unreadable("it has no key")
    try:
        blob = base64.b64decode(rest.split()[0], validate=True)
    except binascii.Error:
        raise _Unreadable("its key is no base64") from None
    if not blob.startswith(len(kind).to_bytes(4) + kind.encode()):
        raise _Unreadable(f"its key is none of the type {kind}")
    if kind.encode() == KEY_TYPE and len(blob) != 4 + len(kind) + 4 + 32:
        raise _Unreadable("its key has another length than Ed25519's")
    return blob


def _with_options(line: SignerLine, text: str) -> SignerLine:
    values: dict[str, str | None] = {}
    place = 0
    while place < len(text):
        found = _OPTION.match(text, place)
        name = found[1].lower() if found else ""
        if not found or name not in _KNOWN or (found[2] is None) != (name == "cert-authority"):
            raise _Unreadable(f"its option {text[place:]!r} is not known")
        if name in values:
            raise _Unreadable(f"it has {name!r} twice")
        values[name] = found[2] and found[2].replace('\\"', '"')
        place = found.end()
    after, before = _moment(values.get("valid-after")), _moment(values.get("valid-before"))
    if after and before and before <= after:
        raise _Unreadable("its valid-before is not after its valid-after")
    return SignerLine(
        line.number,
        line.principals,
        line.key,
        is_authority="cert-authority" in values,
        namespaces=values.get("namespaces"),
        valid_after=after,
        valid_before=before,
    )


_KNOWN = ("cert-authority", "namespaces", "valid-after", "valid-before")


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


def _refusal(line: SignerLine, path: Path, namespace: str, at: datetime) -> CompactionRefused | None:
    """Why the line of a key does not allow this signature."""
    place = f"{path}, line {line.number}"
    if line.namespaces is not None and not matches(namespace, line.namespaces):
        return SignerNotAllowed(f"{place}: the key may sign for {line.namespaces!r} and not for {namespace!r}")
    if line.valid_after and at < line.valid_after:
        return SignerExpired(f"{place}: the key may not sign before {line.valid_after.isoformat()}")
    if line.valid_before and at > line.valid_before:
        return SignerExpired(
            f"{place}: the key may not sign after {line.valid_before.isoformat()}: have it signed with one that may"
        )
    return None


def _pattern(text: str) -> re.Pattern[str]:
    parts = (".*" if char == "*" else "." if char == "?" else re.escape(char) for char in text)
    return re.compile("".join(parts), re.DOTALL)
