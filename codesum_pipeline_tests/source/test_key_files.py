"""Files that hold nothing but keys are known by what they hold."""

import random
from base64 import b64encode, encodebytes

import pytest

from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.source.files.content import judge_content
from codesum_pipeline_tests.support.planted_secrets import TOKENS

RNG = random.Random(1)
PEM = TOKENS["private-key"](RNG)
LINES = PEM.split("\n")
BODY = "\n".join(LINES[1:-1])
CERTIFICATE = PEM.replace("PRIVATE KEY", "CERTIFICATE")
TOKEN = TOKENS["github-token"](RNG)
WORD = f"{RNG.getrandbits(128):032x}"

ONLY_KEYS = {
    "id_rsa": PEM,
    "a/server.pem": f"{PEM}\n{CERTIFICATE}\n",
    "chain.crt": f"{CERTIFICATE}\n{CERTIFICATE}\n",
    "crlf.pem": PEM.replace("\n", "\r\n"),
    "indented.pem": "\n".join(f"  {line}" for line in LINES),
    "cut.pem": "\n".join(LINES[:3]),
    "ec.pem": f"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n{PEM}\n",
    "encrypted.pem": f"{LINES[0]}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,AABB\n\n{BODY}\n{LINES[-1]}\n",
    "bag.pem": f"Bag Attributes\n    localKeyID: 01 02\nKey Attributes: <No Attributes>\n{PEM}\nissuer=CN = a\n",
    "key.asc": PEM.replace("PRIVATE KEY", "PGP PRIVATE KEY BLOCK").replace("\n-----END", "\n=Ab1d\n-----END"),
    "key.md": PEM,
    "key.ppk": f"PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: me\nPrivate-Lines: 9\n{BODY}\n",
    "vpn.key": f"#\n# 2048 bit OpenVPN static key\n#\n{PEM.replace('PRIVATE KEY', 'OpenVPN Static key V1')}\n",
    "age.txt": f"# created: today\n# public key: age1xyz\n{TOKENS['age-secret-key'](RNG)}\n",
    "id_ed25519.pub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJb me@host\n",
    "known_hosts": "a.invalid ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQCj7ndNxQowgcQnjshc\n",
    "key.b64": b64encode(PEM.encode()).decode(),
    "wrapped.b64": encodebytes(PEM.encode()).decode(),
    "config/master.key": f"{WORD}\n",
    "token.txt": f"{TOKEN}\n",
}
MORE_THAN_KEYS = {
    "README.md": f"# Keys\n\nUse this one in tests:\n\n{PEM}\n",
    "key.py": f'KEY = """{PEM}"""\n',
    ".env": f"GITHUB_TOKEN={TOKEN}\n",
    "account.json": '{"private_key": "' + PEM.replace("\n", "\\n") + '", "client_email": "a@b.c"}',
    "values.yaml": f"key: {TOKEN}\n",
    "notes.txt": "Note: keys are in the vault\n",
    "REVISION": "9fceb02d0ae598e95dc970b74767f19372d61af8\n",
    "monkey": f"{WORD}\n",
    "keys.url": "https://keys.invalid/abcdef0123456789\n",
    "only_comments.conf": "# nothing here\n",
    "empty.txt": "",
}


@pytest.mark.parametrize("path", ONLY_KEYS)
def test_a_file_of_keys_is_skipped(path: str) -> None:
    assert judge_content(path, ONLY_KEYS[path].encode()).reason is SkipReason.KEYS


@pytest.mark.parametrize("path", MORE_THAN_KEYS)
def test_a_file_with_more_than_keys_is_indexed(path: str) -> None:
    assert judge_content(path, MORE_THAN_KEYS[path].encode()).reason is None


@pytest.mark.parametrize(
    "text",
    [f"{PEM}\n" * 2_000, PEM.replace("\n", "") * 1_000, "-----BEGIN A-----" * 100_000, "a ssh-rsa AAAA" * 100_000,
     "a: b\n" * 300_000, "A" * 3_000_000, f"{LINES[0]}\n" + "ab\n" * 500_000],
    ids=["keys", "keys on a line", "beginnings", "public keys", "attributes", "a line", "short lines"],
)  # fmt: skip
def test_a_long_file_is_judged(text: str) -> None:
    """A pattern that tries too much takes minutes here."""
    assert judge_content("a.pem", text.encode()).reason in (SkipReason.KEYS, SkipReason.MINIFIED, None)
