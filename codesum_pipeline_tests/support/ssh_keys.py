"""Keys of OpenSSH that guard nothing, and what ssh-keygen 9.2 made of them and of a message."""

import shutil
from pathlib import Path

import pytest

KEYS = Path(__file__).with_name("openssh")
needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


def recorded(name: str) -> str:
    """A key, a signature, or the message."""
    return (KEYS / name).read_text()


def key_in(folder: Path, name: str = "plain_key") -> Path:
    """A copy of a private key as ssh-keygen wants it: nobody else may read it. Without it the test is skipped."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("needs ssh-keygen")
    key = Path(shutil.copy(KEYS / name, folder))
    key.chmod(0o600)
    return key
