"""An allowed-signers file says the same to us as to `ssh-keygen -Y verify`."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codesum_pipeline.builds.compaction.attestation import NAMESPACE
from codesum_pipeline.builds.compaction.signatures import check_signer, read_signature
from codesum_pipeline.foundation.data_model.errors import CompactionRefused, SignerExpired, SignerNotAllowed
from codesum_pipeline_tests.builds.compaction.test_ssh_signatures import KEYS, MESSAGE, needs_ssh_keygen, recorded

OPS = "ops@example.org"
AT = datetime(2026, 6, 15, 12, tzinfo=UTC)
KEY = " ".join(recorded("plain_key.pub").split()[:2])
OTHER = " ".join(recorded("ecdsa_key.pub").split()[:2])

ALLOWED = {
    "a plain line": f"{OPS} {KEY}",
    "with a comment behind the key": f"{OPS} {KEY} of the operator",
    "after comments, empty lines and other keys": f"# who may\n\n \t# attest\n{OPS} {OTHER}\n{OPS} {KEY}\n",
    "one of several principals": f"root@example.org,{OPS} {KEY}",
    "a pattern": f"*@example.org {KEY}",
    "a pattern of one character": f"op?@example.org {KEY}",
    "principals in quotation marks": f'"{OPS}" {KEY}',
    "tabs between": f"\t{OPS}\t{KEY}",
    "a negated pattern of others": f"*@example.org,!root@example.org {KEY}",
    "our namespace": f'{OPS} namespaces="{NAMESPACE}" {KEY}',
    "our namespace among others": f'{OPS} namespaces="git,{NAMESPACE}" {KEY}',
    "a pattern of namespaces": f'{OPS} namespaces="codesum-*" {KEY}',
    "an option in capitals": f'{OPS} NAMESPACES="{NAMESPACE}" {KEY}',
    "within its time": f'{OPS} valid-after="20260101Z",valid-before="20270101Z" {KEY}',
    "at its last second": f'{OPS} valid-before="20260615120000Z" {KEY}',
    "at its first second": f'{OPS} valid-after="20260615120000Z" {KEY}',
    "minutes without seconds": f'{OPS} valid-after="202606151159Z" {KEY}',
    "all options": f'{OPS} valid-after="20260101Z",namespaces="a,codesum-*",valid-before="20270101Z" {KEY}',
    "an expired line before a good one": f'{OPS} valid-before="20200101Z" {KEY}\n{OPS} {KEY}',
    "a broken line before a good one": f"{OPS} nonsense=\n{OPS} {KEY}",
    "line ends of Windows": f"{OPS} {KEY} c\r\n",
}
NOT_ALLOWED = {
    "an empty file": "",
    "another key": f"{OPS} {OTHER}",
    "another principal": f"root@example.org {KEY}",
    "a principal in other letters": f"OPS@example.org {KEY}",
    "a part of the principal": f"ops {KEY}",
    "brackets are no pattern": f"[o]ps@example.org {KEY}",
    "a negated principal": f"*@example.org,!{OPS} {KEY}",
    "an authority of certificates": f"{OPS} cert-authority {KEY}",
    "another namespace": f'{OPS} namespaces="git,file" {KEY}',
    "a negated namespace": f'{OPS} namespaces="*,!{NAMESPACE}" {KEY}',
    "an unknown option": f"{OPS} touch-required {KEY}",
    "an option twice": f'{OPS} namespaces="*",namespaces="*" {KEY}',
    "an option without its value": f"{OPS} namespaces {KEY}",
    "a comma at the end": f'{OPS} namespaces="*", {KEY}',
    "an open quotation mark": f'{OPS} namespaces="* {KEY}',
    "a time that is none": f'{OPS} valid-before="soon" {KEY}',
    "times the wrong way round": f'{OPS} valid-after="20270101Z",valid-before="20260101Z" {KEY}',
    "no key": OPS,
    "a key that is no base64": f"{OPS} ssh-ed25519 ???",
    "a key of another type than told": f"{OPS} ssh-rsa {KEY.split()[1]}",
}
OUTSIDE_ITS_TIME = {
    "expired": f'{OPS} valid-before="20260615115959Z" {KEY}',
    "expired on a day": f'{OPS} valid-before="20260615Z" {KEY}',
    "not valid yet": f'{OPS} valid-after="20260615120001Z" {KEY}',
}
EVERY = {**ALLOWED, **NOT_ALLOWED, **OUTSIDE_ITS_TIME}


def check(folder: Path, text: str) -> None:
    path = folder / "signers"
    path.write_bytes(text.encode())
    key = read_signature(recorded("plain.sig")).public_key
    check_signer(path, principal=OPS, public_key=key, namespace=NAMESPACE, at=AT)


@pytest.mark.parametrize("text", ALLOWED.values(), ids=ALLOWED)
def test_a_line_that_allows_the_signer_is_found(tmp_path: Path, text: str) -> None:
    check(tmp_path, text)


@pytest.mark.parametrize("text", NOT_ALLOWED.values(), ids=NOT_ALLOWED)
def test_a_signer_without_a_line_of_their_own_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SignerNotAllowed, match="^attestation_signer_not_allowed: "):
        check(tmp_path, text)


@pytest.mark.parametrize("text", OUTSIDE_ITS_TIME.values(), ids=OUTSIDE_ITS_TIME)
def test_a_signer_outside_their_time_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SignerExpired, match="^attestation_signer_expired: .*line 1: "):
        check(tmp_path, text)


def test_a_day_that_is_none_allows_nobody_where_ssh_keygen_counts_on_into_march(tmp_path: Path) -> None:
    with pytest.raises(SignerNotAllowed, match="20270231Z"):
        check(tmp_path, f'{OPS} valid-before="20270231Z" {KEY}')


def test_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SignerNotAllowed, match=r"line 2: its option 'touch-required' is not known"):
        check(tmp_path, f"# who may\n{OPS} touch-required {KEY}")


def test_a_file_that_is_not_there_allows_nobody(tmp_path: Path) -> None:
    with pytest.raises(SignerNotAllowed, match="compaction.allowed_signers"):
        check_signer(tmp_path / "none", principal=OPS, public_key=b"", namespace=NAMESPACE, at=AT)


@needs_ssh_keygen
@pytest.mark.parametrize("text", EVERY.values(), ids=EVERY)
def test_ssh_keygen_decides_the_same(tmp_path: Path, text: str) -> None:
    (tmp_path / "signers").write_bytes(text.encode())
    command = ["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", OPS, "-n", NAMESPACE]
    at = AT.strftime("-Overify-time=%Y%m%d%H%M%SZ")

    done = subprocess.run(
        [*command, "-s", KEYS / "plain.sig", at], cwd=tmp_path, input=MESSAGE, capture_output=True, timeout=30
    )

    try:
        check(tmp_path, text)
        ours = True
    except CompactionRefused:
        ours = False
    assert ours == (done.returncode == 0), done.stderr
