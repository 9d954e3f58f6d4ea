"""A home with standing questions, a repository whose history tests write, and a receiver that is told."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.notifications.digests.digest_rows import DigestRow, TickRow
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {
    "README.md": "# Shop\n\nSells things.\n",
    "shop/auth.py": (
        '"""Sessions."""\n\nfrom datetime import timedelta\n\n\n'
        "def sign_in(user, password, now):\n"
        '    """Let a user sign in with a password, and begin a session."""\n'
        "    if not user.check(password):\n        raise PermissionError('wrong password')\n"
        "    return user.session(expires=now + timedelta(days=30))\n"
    ),
    "shop/billing.py": (
        '"""Invoices."""\n\n\ndef charge(customer, items):\n    """Charge a customer for what was bought."""\n'
        "    total = sum(item.price for item in items)\n    customer.card.pay(total)\n    return total\n"
    ),
}
SHORTER = {"shop/auth.py": FILES["shop/auth.py"].replace("days=30", "hours=8")}
CHEAPER = {"shop/billing.py": FILES["shop/billing.py"].replace("pay(total)", "pay(total * 0.9)")}
HOSTILE = (
    'def sign_in(user, password):\n    """<script>alert(1)</script> [click](javascript:alert(1)) '
    '![x](http://evil.example/x.png) sign in with a password\n\n    # Heading\n    """\n'
    "    if not user.check(password):\n        raise PermissionError\n    return user.session()\n"
)
SIGN_IN: Mapping[str, Any] = {"text": "How do users sign in with a password?", "threshold": 0.2, "channels": ["hook"]}


@dataclass(frozen=True)
class DigestHome:
    """The folder of the home, and its one repository, `shop`."""

    folder: Path
    repo: GitRepo

    @classmethod
    def at(cls, home: Home, repo: GitRepo, *, hook: str) -> "DigestHome":
        """A home whose channel `hook` is this address; nothing is asked so far."""
        found = cls(home.layout.home, repo)
        found.folder.mkdir(parents=True, exist_ok=True)
        found._write_settings(hook)
        home.registry.add(RepositoryEntry(key="shop", location=str(repo.path)))
        return found

    @classmethod
    def copied(cls, built: Path, to: Path, *, hook: str) -> "DigestHome":
        """Copies of `home` and `shop` below `built`: the copied home builds the copied repository."""
        shutil.copytree(built / "home", to / "home", symlinks=True)
        found = cls(to / "home", GitRepo(Path(shutil.copytree(built / "shop", to / "shop"))))
        repos = found.folder / "repos.yaml"
        repos.write_text(repos.read_text().replace(str(built / "shop"), str(to / "shop")))
        found._write_settings(hook)
        return found

    @property
    def home(self) -> Home:
        """As a process opens it now."""
        return open_home(self.folder)

    def configure(self, more: str) -> None:
        """More settings of the channel, in TOML."""
        with (self.folder / "codesum.toml").open("a") as file:
            file.write(more)

    def _write_settings(self, hook: str) -> None:
        channel = f'[delivery.channels.hook]\nkind = "webhook"\nurl = "{hook}"\nallow_private = true\n'
        (self.folder / "codesum.toml").write_text(f"lease_wait_s = 0\n{channel}")

    def ask(self, **intents: Mapping[str, Any]) -> None:
        """Let these be the standing questions."""
        (self.folder / "intents.yaml").write_text(yaml.safe_dump({"intents": dict(intents)}))

    @property
    def digests(self) -> list[DigestRow]:
        with open_digests(self.folder / "digests.sqlite", now=utc_now) as store:
            return store.digests()

    @property
    def ticks(self) -> list[TickRow]:
        """Newest first."""
        with open_digests(self.folder / "digests.sqlite", now=utc_now) as store:
            return store.ticks()

    @property
    def waiting(self) -> dict[str, int]:
        with open_digests(self.folder / "digests.sqlite", now=utc_now) as store:
            return store.count_pending()
